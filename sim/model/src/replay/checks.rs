// SPDX-License-Identifier: MIT OR Apache-2.0
//! What rxeprobe's server printed of its receives, and the pattern of its payloads: a truth that doesn't come from the golden model.

use super::infer::{Inference, RECEIVE_KEY, RECEIVE_SLOT};
use super::report::Report;
use super::runs::{Received, Run};
use super::Responder;
use crate::golden::Completion;
use anyhow::Result;
use std::collections::BTreeMap;
use verbena_spec::layout::status;

/// Bytes of the GRH (R70).
const GRH: u32 = 40;

/// A receive that the replay posted.
#[derive(Debug, Clone, Copy)]
pub struct Posted {
    pub qpn: u32,
    pub address: u64,
}

/// Holds completions and memory to what the tool printed.
pub fn check(
    report: &mut Report,
    run: &Run,
    inference: &Inference,
    posted: &[Posted],
    completions: &[Completion],
    responder: &mut dyn Responder,
) -> Result<()> {
    let Some(printed) = run.received() else { return Ok(()) };
    // A flush tells when the tool had posted a receive, which the replay doesn't repeat.
    let done: Vec<&Completion> = completions.iter().filter(|c| c.status != status::WR_FLUSH_ERROR).collect();
    if printed.len() != done.len() {
        report.tool_disagrees.push(format!(
            "rxeprobe's server completed {} receives, here {} did",
            printed.len(),
            done.len()
        ));
        return Ok(());
    }
    let keys: BTreeMap<u32, u32> = inference.keys.iter().map(|(captured, ours)| (*ours, *captured)).collect();
    // Without losses, or where losses are repaired, a receive belongs to its own operation.
    let ordered = inference.setup.qps.iter().all(|q| q.service == 0) || run.faults.is_empty();
    for (want, ours) in printed.iter().zip(done) {
        let seen = Received {
            operation: want.operation,
            name: want.name.clone(),
            length: (ours.status == status::SUCCESS).then_some(ours.byte_length),
            immediate: ours.with_imm.then_some(ours.immediate),
            invalidated: ours
                .with_invalidate
                .then(|| keys.get(&ours.immediate).copied().unwrap_or(ours.immediate)),
        };
        if seen != *want {
            report.tool_disagrees.push(format!("rxeprobe printed {want:?}, here {seen:?}"));
            continue;
        }
        let receive = posted.iter().filter(|p| p.qpn == ours.qpn).nth(usize::from(ours.wqe_index));
        let (Some(receive), Some(length)) = (receive, want.length.filter(|_| ordered && want.name != "writeimm")) else {
            continue;
        };
        let head = if ours.grh { GRH } else { 0 };
        payload(
            report,
            want.operation,
            length - head.min(length),
            RECEIVE_KEY,
            receive.address + u64::from(head),
            responder,
        )?;
    }
    // Every WRITE of a clean run is in its slot.
    if let Some((key, address)) = run.probe_region().filter(|_| run.faults.is_empty() || ordered) {
        let region = inference.setup.regions.iter().any(|r| r.key == key);
        for (number, length) in run.probe_writes().into_iter().filter(|_| region) {
            payload(report, number, length, key, address + RECEIVE_SLOT * number as u64, responder)?;
        }
    }
    Ok(())
}

/// Holds one payload against the tool's pattern.
fn payload(report: &mut Report, number: usize, length: u32, key: u32, address: u64, responder: &mut dyn Responder) -> Result<()> {
    report.payloads += 1;
    if responder.read(key, address, length as usize)? != Run::pattern(number, length) {
        report
            .tool_disagrees
            .push(format!("the {length} bytes of operation {number} are not rxeprobe's pattern"));
    }
    Ok(())
}
