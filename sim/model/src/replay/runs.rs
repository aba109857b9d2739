// SPDX-License-Identifier: MIT OR Apache-2.0
//! `runs.json`: how captures were made: commands, their output, injected faults.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use verbena_spec::layout::status;

/// One capture's entry.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Run {
    pub name: String,
    #[serde(default)]
    pub server: String,
    #[serde(default)]
    pub client: String,
    #[serde(default)]
    pub mtu: usize,
    /// The client's output.
    #[serde(default)]
    pub out: String,
    /// The server's output.
    #[serde(default)]
    pub sout: String,
    /// (action, direction, opcode in hex, PSN in hex); a is the server, b the client.
    #[serde(default)]
    pub faults: Vec<Vec<String>>,
}

/// One operation of `rxeprobe`'s list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeOperation {
    pub name: String,
    pub length: u32,
}

/// A receive that rxeprobe's server printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Its operation's number.
    pub operation: usize,
    pub name: String,
    /// `None`: it completed in error.
    pub length: Option<u32>,
    pub immediate: Option<u32>,
    pub invalidated: Option<u32>,
}

/// The entry of `capture` in the `runs.json` beside it, if there is one.
pub fn find(capture: &Path) -> Result<Option<Run>> {
    let file = capture.with_file_name("runs.json");
    if !file.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
    let runs: Vec<Run> = serde_json::from_str(&text).with_context(|| format!("{}: not a list of runs", file.display()))?;
    let stem = capture.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(runs.into_iter().find(|r| r.name == stem))
}

impl Run {
    /// The run as the side at `us` saw it: where that is the client (whose command names the server's address), the sides are swapped.
    pub fn seen_from(mut self, us: IpAddr) -> Self {
        if self.client.is_empty() || self.client.split_whitespace().any(|w| w == us.to_string()) {
            return self;
        }
        std::mem::swap(&mut self.server, &mut self.client);
        std::mem::swap(&mut self.sout, &mut self.out);
        for fault in &mut self.faults {
            if let Some(direction) = fault.get_mut(1) {
                *direction = if direction == "b>a" { "a>b" } else { "b>a" }.into();
            }
        }
        self
    }

    /// The value after an option of the server's command.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut words = self.server.split_whitespace();
        words.find(|w| *w == name)?;
        words.next()
    }

    /// `rxeprobe`'s operations, repeats unrolled; `None` for other tools.
    pub fn probe(&self) -> Option<Vec<ProbeOperation>> {
        if !self.server.starts_with("rxeprobe") {
            return None;
        }
        let mut operations = vec![];
        for item in self.option("-o")?.split(',') {
            let (item, repeat) = item.split_once('*').map_or((item, 1), |(i, n)| (i, n.parse().unwrap_or(1)));
            let (name, length) = item.split_once(':').map_or((item, 8), |(n, l)| (n, l.parse().unwrap_or(8)));
            operations.extend(std::iter::repeat_n(ProbeOperation { name: name.into(), length }, repeat));
        }
        Some(operations)
    }

    /// The server's QPNs as its tool printed them, lower case hex or not, in order; empty where it prints none.
    pub fn server_qpns(&self) -> Vec<u32> {
        let mut found = vec![];
        for line in self.sout.lines() {
            let line = line.trim().to_lowercase();
            if !line.starts_with("local") {
                continue;
            }
            // "local qpn 000051 psn ...", "local address: lid .. qpn 0x51 psn .."
            let words: Vec<&str> = line
                .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
                .filter(|w| !w.is_empty())
                .collect();
            if let Some(at) = words.iter().position(|w| *w == "qpn") {
                if let Some(qpn) = words
                    .get(at + 1)
                    .and_then(|w| u32::from_str_radix(w.trim_start_matches("0x"), 16).ok())
                {
                    found.push(qpn);
                }
            }
        }
        found
    }

    /// `rxeprobe`: the server's R_Key and address, which its client prints as the remote's.
    pub fn probe_region(&self) -> Option<(u32, u64)> {
        let after = |text: &str, what: &str| {
            let at = text.find(what)? + what.len();
            text[at..]
                .split(|c: char| !c.is_ascii_hexdigit())
                .next()
                .and_then(|w| u64::from_str_radix(w, 16).ok())
        };
        let key = after(self.sout.lines().find(|l| l.starts_with("local qpn"))?, "rkey ")?;
        let remote = self.out.split("; remote").nth(1)?;
        Some((key as u32, after(remote, "addr ")?))
    }

    /// `rxeprobe`: receives that its server counted as completed, and as failed.
    pub fn probe_receives(&self) -> Option<(usize, usize)> {
        let line = self
            .sout
            .lines()
            .find(|l| l.starts_with("server:") && l.contains("receives completed"))?;
        let number = |word: &str| line.split(word).next()?.split_whitespace().last()?.parse::<usize>().ok();
        Some((number(" of ")?, number(" errors")?))
    }

    /// `rxeprobe`: how the client's operations that failed ended, by number; seen from the client.
    pub fn failed_operations(&self) -> BTreeMap<usize, u32> {
        let parse = |line: &str| {
            let (number, rest) = line.strip_prefix("client: op ")?.split_once(' ')?;
            let (_, text) = rest.split_once("): ")?;
            let status = match text.trim() {
                "remote access error" => status::REMOTE_ACCESS_ERROR,
                "remote operation error" => status::REMOTE_OPERATION_ERROR,
                "remote invalid request error" => status::REMOTE_INVALID_REQUEST_ERROR,
                "transport retry counter exceeded" => status::RETRY_EXCEEDED,
                "RNR retry counter exceeded" => status::RNR_RETRY_EXCEEDED,
                "Work Request Flushed Error" => status::WR_FLUSH_ERROR,
                _ => return None,
            };
            Some((number.parse().ok()?, status))
        };
        self.sout.lines().filter_map(parse).collect()
    }

    /// `rxeprobe`: the receives that its server printed, in order; `None` for other tools.
    pub fn received(&self) -> Option<Vec<Received>> {
        self.probe_receives()?;
        Some(self.sout.lines().filter_map(received).collect())
    }

    /// `rxeprobe`: the WRITEs that must have been placed whole: number and length. None where the client saw an error.
    pub fn probe_writes(&self) -> Vec<(usize, u32)> {
        let clean = self.out.lines().any(|l| l.starts_with("client:") && l.contains(" 0 errors"));
        let operations = self.probe().filter(|_| clean).unwrap_or_default();
        let numbered = operations.into_iter().enumerate();
        numbered
            .filter(|(_, o)| o.name == "write" || o.name == "writeimm")
            .map(|(i, o)| (i, o.length))
            .collect()
    }

    /// `rxeprobe`: the payload of operation `number`.
    pub fn pattern(number: usize, length: u32) -> Vec<u8> {
        (0..length).map(|o| (o * 7 + (o >> 8) * 13 + number as u32 * 31) as u8).collect()
    }
}

/// `server: recv 3 (send): len 3077 flags 1 imm 00000000`, or `server: recv op 1 (long-send): local QP operation error`.
fn received(line: &str) -> Option<Received> {
    let rest = line.strip_prefix("server: recv ")?;
    let (rest, failed) = rest.strip_prefix("op ").map_or((rest, false), |r| (r, true));
    let (number, rest) = rest.split_once(' ')?;
    let (name, rest) = rest.strip_prefix('(')?.split_once("): ")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let hex = |at: usize| u32::from_str_radix(words.get(at)?, 16).ok();
    let (flags, value) = if failed { (0, 0) } else { (hex(3)?, hex(5)?) };
    Some(Received {
        operation: number.parse().ok()?,
        name: name.into(),
        length: if failed { None } else { Some(words.get(1)?.parse().ok()?) },
        immediate: (flags & 2 != 0).then_some(value),
        // It prints ntohl() of either, and the key was no network-order number.
        invalidated: (flags & 4 != 0).then_some(value.swap_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receives_of_rxeprobe() {
        let sout = "bind_mw: success\nserver: recv 1 (sendinv): len 2500 flags 5 imm e1020008\n\
                    server: recv 4 (sendimm): len 20 flags 3 imm abc00004\nserver: recv op 6 (long-send): local QP operation error\n\
                    server: 3 of 3 receives completed, 1 errors, 0 bad data\n";
        let run = Run {
            sout: sout.into(),
            ..Run::default()
        };
        let seen = run.received().unwrap_or_default();
        assert_eq!(seen.len(), 3);
        assert_eq!(
            (seen[0].length, seen[0].invalidated, seen[0].immediate),
            (Some(2500), Some(0x0800_02e1), None)
        );
        assert_eq!((seen[1].operation, seen[1].immediate), (4, Some(0xabc0_0004)));
        assert_eq!((seen[2].operation, seen[2].length), (6, None));
    }

    #[test]
    fn sides_swap() {
        let run = Run {
            server: "tool".into(),
            client: "tool 10.0.0.1".into(),
            sout: "s".into(),
            out: "c".into(),
            faults: vec![vec!["drop".into(), "b>a".into()]],
            ..Run::default()
        };
        assert_eq!(run.clone().seen_from("10.0.0.1".parse().unwrap()).sout, "s");
        let swapped = run.seen_from("10.0.0.2".parse().unwrap());
        assert_eq!((swapped.sout.as_str(), swapped.faults[0][1].as_str()), ("c", "a>b"));
    }
}
