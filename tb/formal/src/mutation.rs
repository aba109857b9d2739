// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs mutants: a line of the emitted Verilog is changed, and the named proof or test must fail.
//!
//! ```text
//! mutant ─┬─► text of the proof's block, changed ─► sby ─► a counterexample?
//!         └─► text of the whole engine, changed ─► Verilator ─► library ─► VERBENA_MODEL_PRESET ─► the test fails?
//! ```

use crate::block::Designs;
use crate::mutants::{Catcher, Mutant};
use crate::proofs::{Proof, PROOFS};
use crate::run::{edit, text};
use crate::sby::{root, Method, Outcome, Sby, Task};
use anyhow::{bail, Context, Result};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use verbena_hdl::verilog::build::{build, BuildOptions};
use verbena_hdl::verilog::Design;

/// What came of a mutant.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    pub module: &'static str,
    pub fault: &'static str,
    pub by: String,
    /// The assertions that fail, or what the test said.
    pub how: String,
    pub caught: bool,
    pub seconds: f64,
}

/// Cycles in which a mutant under a proof by induction must show.
const SEARCH: usize = 36;

/// Seconds after which a test that a mutant hangs is ended and counts as failed; without the mutant it takes far less.
const TEST_LIMIT: u64 = 900;

/// Runs mutants; tests that were seen to pass without a mutant aren't tried again.
pub struct Runner {
    pub designs: Designs,
    pub sby: Sby,
    passed: BTreeSet<String>,
}

impl Runner {
    pub fn new() -> Result<Runner> {
        Ok(Runner {
            designs: Designs::default(),
            sby: Sby::find()?,
            passed: BTreeSet::new(),
        })
    }

    /// One mutant. An error is a mutant that can't be made, or a test that fails without it.
    pub fn run(&mut self, mutant: &Mutant) -> Result<Row> {
        let begin = Instant::now();
        let (by, how, caught) = match mutant.by {
            Catcher::Proof(name) => {
                let (how, caught) = self.by_proof(mutant, proof(name)?)?;
                (format!("proof `{name}`"), how, caught)
            }
            Catcher::Test {
                preset,
                package,
                target,
                name,
            } => {
                let (how, caught) = self.by_test(mutant, preset, package, target, name)?;
                (format!("test `{target}::{name}` ({preset})"), how, caught)
            }
        };
        Ok(Row {
            name: mutant.name,
            module: mutant.module,
            fault: mutant.fault,
            by,
            how,
            caught,
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    fn by_proof(&mut self, mutant: &Mutant, proof: &Proof) -> Result<(String, bool)> {
        let (text, _) = text(proof, &mut self.designs, &|design| {
            edit(design, mutant.module, mutant.find, mutant.put)
        })
        .with_context(|| mutant.name)?;
        let run = self.sby.run(&Task {
            name: &format!("mutants/{}", mutant.name),
            text: &text,
            // Where an induction stops it may only be open: a counterexample is looked for from reset.
            method: match proof.method {
                Method::Induction(_) => Method::Bounded(SEARCH),
                other => other,
            },
            limit_seconds: proof.limit,
        })?;
        Ok(match run.outcome {
            Outcome::Failed => (run.failed.join(", "), true),
            Outcome::Proved => ("proved all the same".into(), false),
            Outcome::Open => (
                format!("no counterexample; the induction stops at {}", run.failed.join(", ")),
                false,
            ),
            Outcome::OutOfTime => ("out of time".into(), false),
        })
    }

    fn by_test(&mut self, mutant: &Mutant, preset: &str, package: &str, target: &str, name: &str) -> Result<(String, bool)> {
        let mut design = self.designs.station(preset, "whole")?.clone();
        let key = format!("{package} {target} {name} ({preset})");
        if !self.passed.contains(&key) {
            // By the same way as a mutant, so that a model that doesn't load isn't taken for one that is caught.
            let (ok, said) = cargo_test(package, target, name, preset, &model(&design)?)?;
            if !ok {
                bail!("{}: the test {key} fails without a mutant: {said}", mutant.name);
            }
            self.passed.insert(key);
        }
        edit(&mut design, mutant.module, mutant.find, mutant.put).with_context(|| mutant.name)?;
        let (ok, said) = cargo_test(package, target, name, preset, &model(&design).with_context(|| mutant.name)?)?;
        Ok((if ok { "passes all the same".into() } else { said }, !ok))
    }
}

/// The proof of that name.
pub fn proof(name: &str) -> Result<&'static Proof> {
    PROOFS
        .iter()
        .find(|p| p.name == name)
        .with_context(|| format!("no proof is called '{name}'"))
}

/// A design's library, of `target/formal/models`.
fn model(design: &Design) -> Result<PathBuf> {
    let options = BuildOptions {
        optimise: 1,
        lint: false,
        ..BuildOptions::default()
    };
    let built = build(
        &design.to_single_text(),
        &design.top,
        &design.ports,
        &root()?.join("models"),
        &options,
    )?;
    Ok(built.library)
}

/// Runs one test by its whole name: whether it passes, and what it says where it fails. None run is an error.
fn cargo_test(package: &str, target: &str, name: &str, preset: &str, library: &Path) -> Result<(bool, String)> {
    let mut command = Command::new("nice");
    command.args([
        "-n", "5", "cargo", "test", "-q", "-p", package, "--test", target, "--", "--exact", name,
    ]);
    command.env(format!("VERBENA_MODEL_{}", preset.to_uppercase()), library);
    let log = root()?.join("test.log");
    let file = std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut child = command
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .context("cannot run cargo test")?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > Duration::from_secs(TEST_LIMIT) {
            child.kill()?;
            child.wait()?;
            return Ok((false, format!("hangs: {TEST_LIMIT} s")));
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    if !text.contains("running 1 test") {
        bail!("cargo test ran no test '{name}' in {target}: see {}", log.display());
    }
    Ok((status.success(), said(&text)))
}

/// The line behind a test's `panicked at`, shortened.
fn said(text: &str) -> String {
    let mut lines = text.lines().skip_while(|l| !l.contains("panicked at")).skip(1);
    let line = lines.find(|l| !l.trim().is_empty()).unwrap_or("fails").trim();
    let short: String = line.chars().take(90).collect();
    short.replace('|', "/")
}
