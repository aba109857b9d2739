// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs proofs in turn, one solver at a time.

use crate::block::Designs;
use crate::memory::shown;
use crate::proofs::Proof;
use crate::sby::{Method, Outcome, Run, Sby, Task};
use crate::streams::{streams, Stream};
use crate::wrapper::{wrap, Wrapping};
use anyhow::{bail, Context, Result};
use serde::Serialize;
use verbena_hdl::verilog::Design;

/// What was proved of one claim.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    pub block: String,
    pub claim: &'static str,
    pub method: String,
    pub assertions: usize,
    pub outcome: Outcome,
    /// Cycles that hold, of a bounded run.
    pub cycles: Option<usize>,
    pub seconds: f64,
    pub failed: Vec<String>,
    /// The claim holds as far as the table promises.
    pub held: bool,
}

/// What a command may change of a proof.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    pub depth: Option<usize>,
    pub seconds: Option<u64>,
}

/// The text that a solver gets, and its number of assertions. `change` may alter the design first (a mutant).
pub fn text(proof: &Proof, designs: &mut Designs, change: &dyn Fn(&mut Design) -> Result<()>) -> Result<(String, usize)> {
    let mut design = designs.block(&proof.block).with_context(|| proof.name)?;
    change(&mut design)?;
    for (module, condition) in proof.loosened {
        edit(&mut design, module, condition, "any_time").with_context(|| proof.name)?;
        edit(&mut design, module, "\n);\n", "\n);\n\n  (* anyseq *) wire any_time;\n").with_context(|| proof.name)?;
    }
    for module in &mut design.modules {
        *module = shown(module, proof.memory);
    }
    let all = if proof.streams {
        streams(&design.ports, proof.extra)
    } else {
        vec![]
    };
    for (name, _) in proof.without {
        if !all.iter().any(|s| s.name() == *name) {
            bail!("{}: no stream '{name}' to leave out", proof.name);
        }
    }
    for (name, port) in proof.extra {
        if !all.iter().any(|s| s.name() == *name && s.payload.iter().any(|p| p == port)) {
            bail!("{}: no stream '{name}' with a port '{port}'", proof.name);
        }
    }
    let chosen: Vec<Stream> = all
        .into_iter()
        .filter(|s| !proof.without.iter().any(|(name, _)| *name == s.name()))
        .collect();
    let wrapping = Wrapping {
        streams: &chosen,
        added: proof.added,
        bound: proof.bound,
        any_state: matches!(proof.method, Method::AnyState(_)),
    };
    let text = wrap(&design, &wrapping).with_context(|| proof.name)?;
    let assertions = text.matches("assert (").count();
    if assertions == 0 {
        bail!("{}: claims nothing", proof.name);
    }
    Ok((text, assertions))
}

/// Replaces `find`, which must stand once in the module, by `put`.
pub fn edit(design: &mut Design, module: &str, find: &str, put: &str) -> Result<()> {
    let names = || design.modules.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(at) = design.modules.iter().position(|m| m.name == module) else {
        bail!("{} has no module '{module}'; it has {}", design.top, names());
    };
    let text = &mut design.modules[at].text;
    match text.matches(find).count() {
        1 => *text = text.replacen(find, put, 1),
        n => bail!("{module}: '{find}' stands there {n} times, not once"),
    }
    Ok(())
}

/// Proves one claim.
pub fn prove(proof: &Proof, designs: &mut Designs, sby: &Sby, settings: Settings) -> Result<Row> {
    let (text, assertions) = text(proof, designs, &|_| Ok(()))?;
    let method = settings.depth.map_or(proof.method, |d| proof.method.with_depth(d));
    let task = Task {
        name: proof.name,
        text: &text,
        method,
        limit_seconds: settings.seconds.unwrap_or(proof.limit),
    };
    let run = sby.run(&task)?;
    Ok(row(proof, method, assertions, run))
}

fn row(proof: &Proof, method: Method, assertions: usize, run: Run) -> Row {
    let block = &proof.block;
    let place = if block.module.is_empty() {
        block.station.to_string()
    } else {
        format!("{} in {}", block.module, block.station)
    };
    // Out of time, a bounded proof holds as far as it came; but it must have come somewhere.
    let bounded = matches!(method, Method::Bounded(_)) && run.cycles.is_some_and(|c| c > 1);
    Row {
        name: proof.name,
        block: format!("{place} ({})", block.preset),
        claim: proof.claim,
        method: method.text(),
        assertions,
        outcome: run.outcome,
        cycles: run.cycles,
        seconds: run.seconds,
        failed: run.failed,
        held: run.outcome == Outcome::Proved || (run.outcome == Outcome::OutOfTime && bounded),
    }
}
