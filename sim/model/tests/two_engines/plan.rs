// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one QP's sender does, and what must come of it: a sequential model of both memories, blind to packets.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use verbena_model::golden::send_wqe::SendWqe;
use verbena_spec::layout::{completion_opcode as done, send_opcode as op};

/// Bytes of each of a QP's regions.
pub const REGION: usize = 1 << 18;
/// The peer's target: what only READs touch, then what WRITEs fill once, then words for ATOMICs.
const WRITTEN: usize = 1 << 16;
const ATOMICS: usize = REGION - 1024;
/// Where regions begin: not at a page's start.
pub const VA: u64 = 0x7f12_3456_0077 & !7;
pub const RECEIVE_BYTES: usize = 8192;

/// A completion that must come, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub index: u16,
    pub opcode: u32,
    pub length: u32,
}

/// A receive completion that must come, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedReceive {
    pub opcode: u32,
    pub immediate: Option<u32>,
    pub invalidated: Option<u32>,
    pub solicited: bool,
    /// The length, and for a SEND the bytes.
    pub length: u32,
    pub bytes: Option<Vec<u8>>,
}

/// Keys that a plan uses.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    pub source: u32,
    pub sink: u32,
    pub target: u32,
    /// The first of the peer's keys that may be invalidated.
    pub invalidate: u32,
}

/// Work of one QP in one direction.
pub struct Plan {
    pub wqes: Vec<SendWqe>,
    pub completions: Vec<Expected>,
    pub receives: Vec<ExpectedReceive>,
    /// What lies in the regions before and after.
    pub source: Vec<u8>,
    pub target_before: Vec<u8>,
    pub target: Vec<u8>,
    pub sink: Vec<u8>,
    pub invalidated: Vec<u32>,
}

fn random(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = vec![0; REGION];
    rng.fill(&mut bytes[..]);
    bytes
}

/// Lengths that matter: nothing, a few bytes, around packet borders, anything.
fn length(rng: &mut ChaCha8Rng, pmtu: usize) -> usize {
    let packets = rng.gen_range(1..=4);
    let length = match rng.gen_range(0..6) {
        0 => 0,
        1 => rng.gen_range(1..=32),
        2 => packets * pmtu - 1,
        3 => packets * pmtu,
        4 => packets * pmtu + 1,
        _ => rng.gen_range(0..RECEIVE_BYTES),
    };
    length.min(RECEIVE_BYTES)
}

impl Plan {
    pub fn new(rng: &mut ChaCha8Rng, keys: Keys, pmtu: usize, count: usize) -> Plan {
        let target_before = random(rng);
        let mut plan = Plan {
            wqes: vec![],
            completions: vec![],
            receives: vec![],
            source: random(rng),
            target: target_before.clone(),
            target_before,
            sink: vec![0; REGION],
            invalidated: vec![],
        };
        // Everything written or placed once: a READ that is executed again must find what it found.
        let (mut written, mut sunk) = (WRITTEN, 0);
        for index in 0..count {
            let opcode = rng.gen_range(0..8);
            let opcode = if opcode == op::SEND_WITH_INVALIDATE && plan.invalidated.len() == 4 {
                op::SEND
            } else {
                opcode
            };
            let mut wqe = SendWqe::new(opcode);
            let signaled = rng.gen_ratio(3, 4) || index + 1 == count;
            let (fence, solicited) = (rng.gen_ratio(1, 5), rng.gen_ratio(1, 3));
            wqe = if signaled { wqe } else { wqe.unsignaled() };
            wqe = if fence { wqe.fenced() } else { wqe };
            wqe = if solicited { wqe.solicited() } else { wqe };
            let mut bytes = length(rng, pmtu);
            let completion = match opcode {
                op::READ => {
                    // Also what was written earlier in this plan.
                    let from = rng.gen_range(0..=written - bytes);
                    wqe = split(rng, wqe.remote(VA + from as u64, keys.target), VA + sunk as u64, bytes, keys.sink);
                    plan.sink[sunk..sunk + bytes].copy_from_slice(&plan.target[from..from + bytes]);
                    sunk += bytes + rng.gen_range(0..5);
                    done::READ
                }
                op::COMPARE_SWAP | op::FETCH_ADD => {
                    bytes = 8;
                    let at = ATOMICS + 8 * rng.gen_range(0..4);
                    let old = u64::from_le_bytes(plan.target[at..at + 8].try_into().unwrap());
                    let compare = if rng.gen() { old } else { rng.gen() };
                    let operand: u64 = rng.gen();
                    let new = match opcode {
                        op::FETCH_ADD => old.wrapping_add(operand),
                        _ if compare == old => operand,
                        _ => old,
                    };
                    plan.target[at..at + 8].copy_from_slice(&new.to_le_bytes());
                    wqe = wqe
                        .remote(VA + at as u64, keys.target)
                        .element(VA + sunk as u64, 8, keys.sink)
                        .operands(operand, compare);
                    plan.sink[sunk..sunk + 8].copy_from_slice(&old.to_le_bytes());
                    sunk += 8;
                    if opcode == op::FETCH_ADD {
                        done::FETCH_ADD
                    } else {
                        done::COMPARE_SWAP
                    }
                }
                _ => {
                    let from = rng.gen_range(0..REGION - bytes);
                    let payload = plan.source[from..from + bytes].to_vec();
                    wqe = if bytes <= 32 && rng.gen() {
                        wqe.inline(&payload)
                    } else {
                        split(rng, wqe, VA + from as u64, bytes, keys.source)
                    };
                    let immediate: u32 = rng.gen();
                    let write = matches!(opcode, op::WRITE | op::WRITE_WITH_IMM);
                    if write {
                        wqe = wqe.remote(VA + written as u64, keys.target);
                        plan.target[written..written + bytes].copy_from_slice(&payload);
                        written += bytes;
                    }
                    let with_immediate = matches!(opcode, op::SEND_WITH_IMM | op::WRITE_WITH_IMM);
                    let key = keys.invalidate + ((plan.invalidated.len() as u32) << 8);
                    let invalidate = opcode == op::SEND_WITH_INVALIDATE;
                    if invalidate {
                        plan.invalidated.push(key);
                    }
                    wqe = wqe.immediate(if invalidate { key } else { immediate });
                    if opcode != op::WRITE {
                        plan.receives.push(ExpectedReceive {
                            opcode: if write { done::RECV_RDMA_WITH_IMM } else { done::RECV },
                            immediate: with_immediate.then_some(immediate),
                            invalidated: invalidate.then_some(key),
                            solicited,
                            length: bytes as u32,
                            bytes: (!write).then_some(payload),
                        });
                    }
                    if write {
                        done::WRITE
                    } else {
                        done::SEND
                    }
                }
            };
            if signaled {
                plan.completions.push(Expected {
                    index: index as u16,
                    opcode: completion,
                    length: bytes as u32,
                });
            }
            plan.wqes.push(wqe);
        }
        plan
    }
}

/// One element or two.
fn split(rng: &mut ChaCha8Rng, wqe: SendWqe, address: u64, bytes: usize, key: u32) -> SendWqe {
    let first = if rng.gen() { bytes } else { rng.gen_range(0..=bytes) };
    let wqe = wqe.element(address, first as u32, key);
    if first == bytes {
        return wqe;
    }
    wqe.element(address + first as u64, (bytes - first) as u32, key)
}
