// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fpga netlist ecp5`: the system test of engine and MAC (`sim/tests/xgmii.rs`) on what synthesis made of them, and on the same with a wrong LUT, which it must notice.

use crate::{area, report};
use anyhow::{bail, Context, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use verbena_fpga::ecp5_cells::Fault;
use verbena_fpga::{ecp5_netlist, tools};

/// Where they are: test program of `verbena-sim`, module in it.
const PROGRAM: &str = "system";
const MODULE: &str = "xgmii";
/// Tests of `sim/tests/xgmii.rs`, the shortest first.
pub const TESTS: [&str; 4] = [
    "all_verbs_between_two_macs",
    "a_bad_wire_between_two_macs",
    "rdma_at_line_rate",
    "every_frame_length_through_both_macs",
];
/// What runs with a fault.
const WITH_FAULT: &str = TESTS[0];
/// A fault that makes the test take so many times as long as without it, and so many seconds more, has hung it.
const HANGS: (u32, u64) = (3, 60);
/// Longest time of a test without fault.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// One test on one netlist.
#[derive(Debug, Serialize)]
struct Run {
    test: String,
    fault: Option<Fault>,
    held: bool,
    /// Of a failed one: what it said.
    said: String,
    seconds: f64,
}

/// All of it.
#[derive(Debug, Serialize)]
struct Report {
    lut4: usize,
    flip_flops: usize,
    ram_blocks: usize,
    problems: Vec<String>,
    runs: Vec<Run>,
    held: bool,
}

/// Runs; true if all tests hold on the netlist, none of yosys' checks complains, and the test fails on at least one fault of those asked for.
pub fn run(tests: &[String], faults: usize, seed: u64, json: bool) -> Result<bool> {
    let begin = Instant::now();
    for test in tests {
        if !TESTS.contains(&test.as_str()) {
            bail!("no test '{test}': one of {}", TESTS.join(", "));
        }
    }
    let mut tests: Vec<&str> = TESTS
        .into_iter()
        .filter(|t| tests.is_empty() || tests.iter().any(|w| w == t))
        .collect();
    if faults > 0 && !tests.contains(&WITH_FAULT) {
        // Its time without a fault is what a hanging one is told by.
        tests.insert(0, WITH_FAULT);
    }
    // First, so that what is wrong with it shows before an hour of synthesis.
    let program = program()?;
    eprintln!("fpga: ecp5: printing engine and MAC");
    let netlist = ecp5_netlist::engine_and_mac()?;
    let from = if netlist.cached { "kept" } else { "made" };
    eprintln!("fpga: ecp5: netlist {from} after {} s; its model ...", begin.elapsed().as_secs());
    let (text, list) = netlist.simulated(faults, seed)?;
    let (library, built) = netlist.library(&text)?;
    let from = if built { "built" } else { "kept" };
    eprintln!("fpga: ecp5: model {from} after {} s", begin.elapsed().as_secs());
    let (lut4, flip_flops, ram_blocks) = area::ecp5_cells(&netlist.stat);
    let mut report = Report {
        lut4,
        flip_flops,
        ram_blocks,
        problems: netlist.problems.clone(),
        runs: vec![],
        held: netlist.problems.is_empty(),
    };
    let mut usual = LONGEST;
    for test in tests {
        let run = one(&program, test, &library, None, LONGEST)?;
        if test == WITH_FAULT {
            usual = Duration::from_secs_f64(run.seconds);
        }
        report.held &= run.held;
        report.runs.push(run);
    }
    if report.runs.iter().all(|r| r.held) {
        for fault in list {
            let limit = HANGS.0 * usual + Duration::from_secs(HANGS.1);
            report.runs.push(one(&program, WITH_FAULT, &library, Some(fault), limit)?);
        }
        let caught = report.runs.iter().filter(|r| r.fault.is_some() && !r.held).count();
        report.held &= faults == 0 || caught > 0;
    }
    show(&report, json, begin)?;
    Ok(report.held)
}

/// The test's program, built. It is run itself, not by cargo, so that one which hangs can be ended.
fn program() -> Result<PathBuf> {
    let arguments = [
        "test",
        "-q",
        "-p",
        "verbena-sim",
        "--test",
        PROGRAM,
        "--no-run",
        "--message-format",
        "json",
    ];
    let out = Command::new("cargo").args(arguments).output().context("cannot run cargo test")?;
    let text = String::from_utf8_lossy(&out.stdout);
    let messages = text.lines().filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok());
    let mut built = messages
        .filter(|m| m["target"]["name"] == PROGRAM)
        .filter_map(|m| Some(PathBuf::from(m["executable"].as_str()?)));
    built
        .next_back()
        .with_context(|| format!("cargo test built no system test: {}", String::from_utf8_lossy(&out.stderr)))
}

/// One test by its whole name.
fn one(program: &Path, test: &str, library: &Path, fault: Option<Fault>, limit: Duration) -> Result<Run> {
    let log = tools::folder("ecp5-netlist")?.join("test.log");
    let file = std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(program);
    command.args(["--nocapture", "--exact", &format!("{MODULE}::{test}")]);
    command.env("VERBENA_MODEL_XGMII", library);
    command.env_remove("VERBENA_FAULT");
    if let Some(fault) = &fault {
        command.env("VERBENA_FAULT", fault.number.to_string());
    }
    let what = fault.as_ref().map_or(test.to_string(), |f| format!("{test}, fault {}", f.number));
    eprintln!("fpga: ecp5: {what} ...");
    let mut child = command
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begin.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    if !text.contains("running 1 test") {
        bail!("{} ran no test '{test}': see {}", program.display(), log.display());
    }
    let held = status.is_some_and(|s| s.success());
    let said = match status {
        Some(_) if held => String::new(),
        Some(_) => {
            let mut lines = text.lines().skip_while(|l| !l.contains("panicked at")).skip(1);
            lines
                .find(|l| !l.trim().is_empty())
                .unwrap_or("fails")
                .trim()
                .chars()
                .take(160)
                .collect()
        }
        None => format!("hangs: {} s", limit.as_secs()),
    };
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!(
        "fpga: ecp5: {what}: {} after {seconds:.0} s {said}",
        if held { "holds" } else { "FAILS" }
    );
    Ok(Run {
        test: test.into(),
        fault,
        held,
        said,
        seconds,
    })
}

fn show(report: &Report, json: bool, begin: Instant) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(report)?);
        return Ok(());
    }
    println!(
        "Netlist of engine and MAC, by synth_ecp5: {} LUT4 (carry and distributed RAM included), {} flip-flops, {} RAM blocks.\n",
        report.lut4, report.flip_flops, report.ram_blocks
    );
    for problem in &report.problems {
        println!("yosys: {problem}");
    }
    let rows: Vec<Vec<String>> = report
        .runs
        .iter()
        .map(|r| {
            let fault = r
                .fault
                .as_ref()
                .map_or("none".into(), |f| format!("{}: {} of {} inverted", f.number, f.cell, f.init));
            let held = match (r.held, r.fault.is_some()) {
                (true, false) => "holds",
                (false, false) => "FAILS",
                (false, true) => "caught",
                (true, true) => "unseen",
            };
            vec![r.test.clone(), fault, held.into(), format!("{:.0}", r.seconds), r.said.clone()]
        })
        .collect();
    report::table(&["test", "fault", "", "s", "says"], &rows);
    println!(
        "\n{} after {} s",
        if report.held { "held" } else { "FAILED" },
        begin.elapsed().as_secs()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program and its tests are asked for by name, an hour into the command.
    #[test]
    fn the_tests_it_runs_are_there() {
        let sim = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/tests");
        let read = |name: &str| std::fs::read_to_string(sim.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (system, xgmii) = (read(&format!("{PROGRAM}.rs")), read(&format!("{MODULE}.rs")));
        assert!(system.contains(&format!("mod {MODULE};")));
        for test in TESTS {
            assert!(xgmii.contains(&format!("#[test]\nfn {test}()")), "{test}");
        }
    }
}
