// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the guest's rping ended, and its own race.
//!
//! rping's connection manager thread may come back from the last event (the disconnection) when the main thread, done, has destroyed the
//! event channel already: its next `rdma_get_cm_event` then fails, and it ends the process with 255 though all went well. rdma-core's pull
//! request 1622 ("rping: Fix spurious failure return codes", 2025) mends it; Debian's is older. It is told from a failure by what it
//! printed: all pings validated, the disconnection, that one error, nothing else.

use anyhow::{bail, ensure, Result};

const BEGINS: &str = "rping begins";
const ENDED: &str = "rping ended with ";
const RACE: &str = "rdma_get_cm_event: Bad file descriptor";
const RACE_STATUS: &str = "255";
/// So many of a hundred may end by the race (1 to 3 on a busy machine); with more something else is wrong.
pub const MOST_RACES: usize = 20;

/// The shell's words for one rping whose end is told by [`ended`], and left in `$s`; it has to print its pings (`-v`).
pub fn command(arguments: &str) -> String {
    format!("echo {BEGINS}; rping {arguments} -v; s=$?; echo \"{ENDED}$s\"")
}

/// The part of a guest's words that begins with such, if there is one.
pub fn told(command: &str) -> Option<&str> {
    command.find(BEGINS).map(|at| &command[at..])
}

/// How many pings the client of these words makes (`-C`).
pub fn pings(command: &str) -> Option<usize> {
    command.split(" -C ").nth(1)?.split([' ', ';']).next()?.parse().ok()
}

/// Judges what a guest printed: `runs` rpings, each with that many pings, all well but for the race. Returns how many had the race.
pub fn ended(text: &str, runs: usize, pings: usize) -> Result<usize> {
    let (mut count, mut races) = (0, 0);
    let mut open: Option<String> = None;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == BEGINS {
            open = Some(String::new());
        } else if let Some(status) = line.trim_end().strip_prefix(ENDED) {
            let Some(said) = open.take() else {
                bail!("an rping ended that never began");
            };
            count += 1;
            if status != "0" {
                let last = || said.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("nothing");
                ensure!(
                    status == RACE_STATUS && is_race(&said, pings),
                    "rping: {} (status {status})",
                    last()
                );
                races += 1;
            }
        } else if let Some(said) = &mut open {
            said.push_str(line);
        }
    }
    ensure!(count == runs, "{count} of {runs} rpings ended");
    ensure!(races <= MOST_RACES, "{races} of {runs} rpings ended with '{RACE}'");
    Ok(races)
}

/// Whether a run that didn't end well had all its pings validated and then nothing but the race.
fn is_race(said: &str, pings: usize) -> bool {
    // What goes to stderr may stand in the middle of a long line of stdout.
    let mut rest = said.to_string();
    let mut take = |line: &str| {
        let line = format!("{line}\n");
        let found = rest.matches(&line).count();
        rest = rest.replace(&line, "");
        found
    };
    let race = take(RACE);
    let gone = (take("client DISCONNECT EVENT..."), take("server DISCONNECT EVENT..."));
    // A server waits for the next ping when its client goes: state 10 is disconnected.
    let waited = take("wait for RDMA_READ_ADV state 10");
    let data = match (gone, waited) {
        ((1, 0), 0) => "ping data: rdma-ping-",
        ((0, 1), 1) => "server ping data: rdma-ping-",
        _ => return false,
    };
    race == 1 && rest.lines().count() == pings && rest.lines().all(|line| line.starts_with(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(lines: &[&str], status: &str) -> String {
        format!("{BEGINS}\n{}\n{ENDED}{status}\n", lines.join("\n"))
    }

    const GONE: &str = "client DISCONNECT EVENT...";
    const PING: &str = "ping data: rdma-ping-0: ABC";

    #[test]
    fn the_race_is_known_and_counted() {
        let good = run(&[GONE, PING], "0");
        assert_eq!(ended(&good, 1, 1).unwrap(), 0);
        let race = run(&[GONE, RACE, PING], "255");
        assert_eq!(ended(&format!("{good}{race}{good}"), 3, 1).unwrap(), 1);
        let server = [
            "server DISCONNECT EVENT...",
            "wait for RDMA_READ_ADV state 10",
            RACE,
            "server ping data: rdma-ping-0: ABC",
        ];
        assert_eq!(ended(&run(&server, "255"), 1, 1).unwrap(), 1);
        let within = format!("{BEGINS}\nping data: rdma-p{GONE}\n{RACE}\ning-0: ABC\n{ENDED}255\n");
        assert_eq!(ended(&within, 1, 1).unwrap(), 1);
    }

    #[test]
    fn nothing_else_passes_for_it() {
        let wrong = [
            run(&[GONE, RACE], "255"),                                         // a ping is missing
            run(&[RACE, PING], "255"),                                         // before the disconnection
            run(&[GONE, RACE, PING], "1"),                                     // another status
            run(&[GONE, PING], "255"),                                         // without a reason
            run(&[GONE, RACE, PING, "data mismatch!"], "255"),                 // and something else
            run(&[GONE, RACE, PING, "cq completion failed status 12"], "255"), // and something else
            run(&[GONE, "rdma_get_cm_event: Invalid argument", PING], "255"),  // another error
            run(&[GONE, RACE, "server ping data: rdma-ping-0: ABC"], "255"),   // of the other side
            run(&["cma event RDMA_CM_EVENT_REJECTED, error 8"], "255"),        // refused
            run(&[GONE, RACE, PING], "255").replace(ENDED, "killed "),         // never ended
            run(&[GONE, RACE, PING], "255").repeat(2),                         // one too many
            format!("{GONE}\n{PING}\n{ENDED}0\n"),                             // never began
        ];
        for text in wrong {
            assert!(ended(&text, 1, 1).is_err(), "{text}");
        }
        let many = run(&[GONE, RACE, PING], "255");
        assert!(ended(&many.repeat(MOST_RACES), MOST_RACES, 1).is_ok());
        assert!(ended(&many.repeat(MOST_RACES + 1), MOST_RACES + 1, 1).is_err());
    }

    #[test]
    fn pings_stand_in_the_command() {
        assert_eq!(pings(&command("-c -a 10.0.0.2 -C 5 -V -S 1000")), Some(5));
        assert_eq!(pings(&command("-c -V -C 12")), Some(12));
        assert_eq!(pings("rping -s"), None);
        assert!(told(&command("-s")).is_some() && told("rping -s").is_none());
    }
}
