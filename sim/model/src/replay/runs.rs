// SPDX-License-Identifier: MIT OR Apache-2.0
//! `runs.json`: how captures were made: commands, their output, injected faults.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::Path;

/// One capture's entry.
#[derive(Debug, Clone, Deserialize)]
pub struct Run {
    pub name: String,
    #[serde(default)]
    pub server: String,
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
}
