// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which frames of a capture reached us.
//!
//! `NAME.rx.pcap`, where there is one, holds what the receivers got; `NAME.pcap` holds each frame as it was sent, before faults. Where a
//! frame that was lost had been sent more than once, the captured side's own answers say which of them it was: [`resolve`] looks for the
//! losses with which the golden model answers as the captured side did, and every responder is then played with those.

use super::infer;
use super::runs::Run;
use crate::capture::{self, Frame};
use anyhow::Result;
use std::net::IpAddr;
use std::path::Path;

/// Frames with the same opcode and PSN among which a drop may be.
const MOST_SKIPPED: usize = 6;
/// Rounds of the search.
const ROUNDS: usize = 3;
/// Possibilities of which all are tried.
const MOST_TRIED: usize = 500;

/// A fault entry that dropped a frame: from us, opcode, PSN.
type Drop = (bool, u8, u32);

/// Drops of a run, in the order in which the wire made them.
fn drops(run: Option<&Run>) -> Vec<Drop> {
    let faults = run.iter().flat_map(|r| &r.faults);
    let drop = |f: &Vec<String>| {
        let from_us = f.get(1)? == "a>b";
        Some((
            from_us,
            u8::from_str_radix(f.get(2)?, 16).ok()?,
            u32::from_str_radix(f.get(3)?, 16).ok()?,
        ))
    };
    faults.filter(|f| f.first().is_some_and(|a| a == "drop")).filter_map(drop).collect()
}

/// The frames that arrived, from both sides, in order. `None`: with these skips a drop finds no frame.
///
/// Each drop takes the first frame of its direction, opcode and PSN after the one that the drop before it took, and `skips[n]` more of
/// them are passed over for drop `n`: a frame that was sent again looks like the first one, and the record doesn't say which was lost.
pub fn arrived(path: &Path, sent: &[Frame], run: Option<&Run>, us: IpAddr, skips: &[usize]) -> Result<Option<Vec<Frame>>> {
    let received = path.with_extension("rx.pcap");
    if received.exists() {
        return Ok(Some(capture::read(&received)?));
    }
    let drops = drops(run);
    let (mut next, mut skipped) = (0, 0);
    let mut frames = vec![];
    for frame in sent {
        let seen = infer::roce(std::slice::from_ref(frame), us);
        let this = seen.first().map(|s| (s.from_us, s.packet.opcode, s.packet.psn));
        if this.is_some() && this == drops.get(next).copied() {
            if skipped == skips.get(next).copied().unwrap_or(0) {
                (next, skipped) = (next + 1, 0);
                continue;
            }
            skipped += 1;
        }
        frames.push(frame.clone());
    }
    Ok((next == drops.len() || skips.is_empty()).then_some(frames))
}

/// Which of equal frames were lost: the skips with which the fewest differences are left, none at best. `differences` is `None` for skips
/// that can't be. Where the first guess has no difference nothing is searched.
pub fn resolve(
    sent: &[Frame],
    us: IpAddr,
    run: Option<&Run>,
    mut differences: impl FnMut(&[usize]) -> Result<Option<usize>>,
) -> Result<Vec<usize>> {
    let mut best = vec![];
    let mut fewest = differences(&best)?.unwrap_or(usize::MAX);
    let count = drops(run).len();
    for _ in 0..ROUNDS {
        let before = fewest;
        for number in 0..count {
            for skip in 0..=MOST_SKIPPED {
                if fewest == 0 {
                    return Ok(best);
                }
                let mut candidate = best.clone();
                candidate.resize(count, 0);
                candidate[number] = skip;
                if let Some(left) = differences(&candidate)?.filter(|left| *left < fewest) {
                    (best, fewest) = (candidate, left);
                }
            }
        }
        if fewest == before {
            break;
        }
    }
    for candidate in possibilities(sent, us, run) {
        if let Some(left) = differences(&candidate)?.filter(|left| *left < fewest) {
            (best, fewest) = (candidate, left);
        }
        if fewest == 0 {
            break;
        }
    }
    Ok(best)
}

/// All skips that can be, if they are few.
fn possibilities(sent: &[Frame], us: IpAddr, run: Option<&Run>) -> Vec<Vec<usize>> {
    let seen = infer::roce(sent, us);
    let frames: Vec<Drop> = seen.iter().map(|s| (s.from_us, s.packet.opcode, s.packet.psn)).collect();
    // (next frame, skips so far)
    let mut partial: Vec<(usize, Vec<usize>)> = vec![(0, vec![])];
    for drop in drops(run) {
        let mut longer = vec![];
        for (from, skips) in &partial {
            let matching = (*from..frames.len()).filter(|i| frames[*i] == drop);
            longer.extend(matching.enumerate().map(|(skip, at)| {
                let mut skips = skips.clone();
                skips.push(skip);
                (at + 1, skips)
            }));
        }
        partial = longer;
        // Many of these find no frame for a later drop, so there may be more than what is left in the end.
        if partial.len() > 20 * MOST_TRIED {
            return vec![];
        }
    }
    let all: Vec<Vec<usize>> = partial.into_iter().map(|p| p.1).collect();
    if all.len() > MOST_TRIED {
        vec![]
    } else {
        all
    }
}
