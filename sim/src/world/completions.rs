// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each completion against the next one that must come.

use super::connect::End;
use crate::hold;
use anyhow::{Context, Result};
use std::fmt::Debug;
use verbena_verbs::{Completion, CompletionStatus, Transport};

fn same<T: PartialEq + Debug>(what: &str, want: T, got: T) -> Result<()> {
    hold!(want == got, "{what}: {got:?}, not {want:?}");
    Ok(())
}

/// A completion of `end`'s send queue.
pub fn check_send(end: &mut End, got: &Completion) -> Result<()> {
    let want = end.plan.completions.get(end.completed);
    let want = *want.with_context(|| format!("a completion more than there should be: {got:?}"))?;
    let what = format!("send {} ({:?})", want.step, end.plan.steps[want.step].operation);
    same(
        &what,
        (want.step as u64, CompletionStatus::Success, want.opcode, want.length),
        (got.wr_id, got.status, got.opcode, got.byte_length),
    )?;
    end.completed += 1;
    Ok(())
}

/// A completion of `end`'s receive queue.
pub fn check_receive(transport: Transport, end: &mut End, peer: &End, got: &Completion) -> Result<()> {
    let want = peer.plan.receives.get(end.received);
    let want = *want.with_context(|| format!("a receive more than there should be: {got:?}"))?;
    let what = format!("receive {}", end.received);
    same(
        &what,
        (end.received as u64, CompletionStatus::Success, want.opcode, want.length),
        (got.wr_id, got.status, got.opcode, got.byte_length),
    )?;
    let invalidated = want.invalidated.map(|key| end.windows[key].key());
    same(
        &what,
        (want.immediate, invalidated, want.solicited),
        (got.immediate, got.invalidated, got.solicited),
    )?;
    let datagram = transport == Transport::Ud;
    let source = if datagram { peer.qp.qpn } else { 0 };
    same(&what, (datagram, source), (got.grh, got.source_qpn))?;
    end.received += 1;
    Ok(())
}
