// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which frames of a capture reached us.
//!
//! `NAME.rx.pcap`, where there is one, holds what the receivers got; `NAME.pcap` holds each frame as it was sent, before faults.

use super::infer;
use super::runs::Run;
use crate::capture::{self, Frame};
use anyhow::Result;
use std::net::IpAddr;
use std::path::Path;

/// The frames that arrived, from both sides, in order.
pub fn arrived(path: &Path, sent: Vec<Frame>, run: Option<&Run>, us: IpAddr) -> Result<Vec<Frame>> {
    let received = path.with_extension("rx.pcap");
    if received.exists() {
        return Ok(capture::read(&received)?);
    }
    Ok(without_drops(sent, run, us))
}

/// Fault entries stand in the order in which the wire made them: each drops the first frame of its direction, opcode and PSN after the
/// one that the entry before it dropped.
fn without_drops(sent: Vec<Frame>, run: Option<&Run>, us: IpAddr) -> Vec<Frame> {
    let drops = run
        .iter()
        .flat_map(|r| &r.faults)
        .filter(|f| f.first().is_some_and(|a| a == "drop"));
    let drop = |f: &Vec<String>| {
        let from_us = f.get(1)? == "a>b";
        Some((
            from_us,
            u8::from_str_radix(f.get(2)?, 16).ok()?,
            u32::from_str_radix(f.get(3)?, 16).ok()?,
        ))
    };
    let mut drops = drops.filter_map(drop).peekable();
    let keep = |frame: &Frame| {
        let seen = infer::roce(std::slice::from_ref(frame), us);
        let Some(s) = seen.first() else { return true };
        let dropped = drops.peek() == Some(&(s.from_us, s.packet.opcode, s.packet.psn));
        if dropped {
            drops.next();
        }
        !dropped
    };
    sent.into_iter().filter(keep).collect()
}
