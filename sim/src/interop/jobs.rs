// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several guests at once. Each job has a guest, sockets and ports of its own, and takes the next run that nobody has; the networks don't
//! meet, so all guests have the same addresses.

use super::cases::Case;
use super::runner::{Line, Runner, Setting};
use anyhow::{ensure, Context, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// What a job does at a time.
pub enum Run {
    /// A case, and whether on the bad wire.
    Case(Box<Case>, bool),
    KilledClient,
    KilledServer,
}

impl Run {
    fn name(&self) -> String {
        match self {
            Run::Case(case, _) => format!("{} {}", case.tool, case.variant),
            Run::KilledClient | Run::KilledServer => "probe killed".into(),
        }
    }

    fn with(&self, runner: &mut Runner) -> Result<Line> {
        match self {
            Run::Case(case, bad_wire) => runner.run(case, *bad_wire),
            Run::KilledClient => runner.killed_client(),
            Run::KilledServer => runner.killed_server(),
        }
    }
}

/// Does all `runs` in `jobs` guests; the lines stand in the order of `runs`. `begun` is told the name of each that begins. Ends early, with an
/// error, once `stop` is set or a guest can't be had; what has begun ends first.
pub fn run_all(setting: &Setting, runs: &[Run], jobs: usize, stop: &AtomicBool, begun: impl Fn(&str) + Sync) -> Result<Vec<Line>> {
    ensure!(jobs > 0, "no jobs");
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let lines: Mutex<Vec<(usize, Line)>> = Mutex::new(vec![]);
    let work = |job: usize| -> Result<()> {
        let mut runner = Runner::new(Setting {
            folder: setting.folder.join(job.to_string()),
            ..setting.clone()
        })?;
        while !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(number) else { break };
            begun(&run.name());
            let line = run.with(&mut runner)?;
            lines.lock().expect("no job panics with the lines").push((number, line));
        }
        Ok(())
    };
    let work = |job: usize| {
        let done = work(job).with_context(|| format!("job {job}"));
        if done.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        done
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..jobs.min(runs.len())).map(|job| scope.spawn(move || work(job))).collect();
        started.into_iter().try_for_each(|job| job.join().expect("a job panicked"))
    })?;
    let mut lines = lines.into_inner().expect("no job panics with the lines");
    ensure!(lines.len() == runs.len(), "stopped by a signal after {} runs", lines.len());
    lines.sort_by_key(|(number, _)| *number);
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}
