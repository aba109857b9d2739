// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a send WQE gives: packets, their words and the bytes that they take. Plain Rust, without the engine.

use verbena_spec::headers::transport;
use verbena_spec::layout::{send_opcode, sq_wqe, status, Field};

pub type Wqe = [u32; 16];

/// A QP as the host set it up.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub index: u32,
    pub tag: u32,
    pub service: u8,
    /// 256 bytes are 1.
    pub pmtu: u32,
    pub pd: u32,
    pub sq_log: u32,
    pub base: u64,
    pub max_rd_atomic: u32,
    pub psn: u32,
    pub selective_repeat: bool,
    /// 0: 64.
    pub selective_window: u32,
}

impl Setup {
    pub fn pmtu_bytes(&self) -> u32 {
        128 << self.pmtu
    }
}

/// Bytes of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub va: u64,
    pub length: u32,
    pub key: u32,
}

/// One packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub words: Vec<u32>,
    pub pieces: Vec<Piece>,
    /// Bytes of the message sent after it; `None` at its end.
    pub offset: Option<u32>,
    /// PSNs that it takes.
    pub psns: u32,
    pub ack_request: bool,
}

pub fn get(wqe: &Wqe, field: Field) -> u32 {
    field.get(wqe)
}

pub fn is_read(wqe: &Wqe) -> bool {
    get(wqe, sq_wqe::OPCODE) == send_opcode::READ
}

pub fn is_atomic(wqe: &Wqe) -> bool {
    [send_opcode::COMPARE_SWAP, send_opcode::FETCH_ADD].contains(&get(wqe, sq_wqe::OPCODE))
}

/// READ or ATOMIC.
pub fn is_wide(wqe: &Wqe) -> bool {
    is_read(wqe) || is_atomic(wqe)
}

/// R22.
pub fn psns(setup: &Setup, wqe: &Wqe) -> u32 {
    get(wqe, sq_wqe::LENGTH).div_ceil(setup.pmtu_bytes()).max(1)
}

fn elements(wqe: &Wqe) -> Vec<Piece> {
    let word = |i: usize| wqe[i];
    (0..get(wqe, sq_wqe::ELEMENTS).min(2) as usize)
        .map(|e| Piece {
            va: word(6 + 4 * e) as u64 | (word(7 + 4 * e) as u64) << 32,
            length: word(8 + 4 * e),
            key: word(9 + 4 * e),
        })
        .collect()
}

/// The status that refuses it, keys apart.
pub fn refusal(setup: &Setup, wqe: &Wqe) -> Option<u32> {
    let opcode = get(wqe, sq_wqe::OPCODE);
    let length = get(wqe, sq_wqe::LENGTH) as u64;
    let inline = get(wqe, sq_wqe::INLINE) == 1;
    let count = get(wqe, sq_wqe::ELEMENTS);
    let allowed = match setup.service {
        transport::RC => opcode <= send_opcode::FETCH_ADD,
        transport::UC => [
            send_opcode::SEND,
            send_opcode::SEND_WITH_IMM,
            send_opcode::WRITE,
            send_opcode::WRITE_WITH_IMM,
        ]
        .contains(&opcode),
        transport::UD => [send_opcode::SEND, send_opcode::SEND_WITH_IMM].contains(&opcode) && count < 2,
        _ => false,
    };
    if !allowed || count > 2 || (inline && is_wide(wqe)) {
        return Some(status::LOCAL_QP_OPERATION_ERROR);
    }
    let datagram = setup.service == transport::UD;
    let sum: u64 = if is_atomic(wqe) {
        wqe[8] as u64
    } else {
        elements(wqe).iter().map(|e| e.length as u64).sum()
    };
    let bad = length > 1 << 31
        || (inline && length > if datagram { 16 } else { 32 })
        || (!inline && sum != length)
        || (datagram && length > setup.pmtu_bytes() as u64)
        || (is_atomic(wqe) && length != 8)
        // R75.
        || psns(setup, wqe) >= 1 << 23;
    bad.then_some(status::LOCAL_LENGTH_ERROR)
}

/// The packet of a good WQE from byte `offset` on, with that PSN.
pub fn packet(setup: &Setup, wqe: &Wqe, offset: u32, psn: u32) -> Packet {
    let opcode = get(wqe, sq_wqe::OPCODE);
    let length = get(wqe, sq_wqe::LENGTH);
    let inline = get(wqe, sq_wqe::INLINE) == 1;
    let datagram = setup.service == transport::UD;
    let pmtu = setup.pmtu_bytes();
    let rest = length - offset;
    let wide = is_wide(wqe);
    let bytes = if wide { 0 } else { rest.min(pmtu) };
    let first = offset == 0;
    let last = wide || rest <= pmtu;

    let name = match opcode {
        send_opcode::READ => "READ_REQUEST".to_string(),
        send_opcode::COMPARE_SWAP => "COMPARE_SWAP".to_string(),
        send_opcode::FETCH_ADD => "FETCH_ADD".to_string(),
        _ => {
            let kind = if [send_opcode::WRITE, send_opcode::WRITE_WITH_IMM].contains(&opcode) {
                "WRITE"
            } else {
                "SEND"
            };
            let place = match (first, last) {
                (true, true) => "ONLY",
                (true, false) => "FIRST",
                (false, true) => "LAST",
                (false, false) => "MIDDLE",
            };
            let end = match (last, opcode) {
                (true, send_opcode::SEND_WITH_IMM | send_opcode::WRITE_WITH_IMM) => "_IMM",
                (true, send_opcode::SEND_WITH_INVALIDATE) => "_INVALIDATE",
                _ => "",
            };
            format!("{kind}_{place}{end}")
        }
    };
    let service = match setup.service {
        transport::RC => "RC",
        transport::UC => "UC",
        _ => "UD",
    };
    let bth = verbena_spec::headers::OPCODES
        .iter()
        .find(|o| o.name == format!("{service} {name}"))
        .unwrap_or_else(|| panic!("no opcode {service} {name}"));

    let mut extension = vec![];
    if bth.deth {
        extension.extend([wqe[3], setup.tag << 12 | setup.index]);
    }
    let remote = (wqe[4] as u64 | (wqe[5] as u64) << 32).wrapping_add(offset as u64);
    if bth.reth {
        extension.extend([(remote >> 32) as u32, remote as u32, wqe[3], rest]);
    }
    if bth.atomic_eth {
        extension.extend([(remote >> 32) as u32, remote as u32, wqe[3], wqe[11], wqe[10], wqe[13], wqe[12]]);
    }
    if bth.immediate || bth.ieth {
        extension.push(wqe[2]);
    }
    assert_eq!(extension.len(), bth.extension_words());

    let from_memory = !inline && bytes > 0;
    let in_wqe = inline && bytes > 0;
    // R74.
    let spacing = match setup.pmtu {
        _ if setup.selective_repeat => 4,
        1 => 64,
        _ => 16,
    };
    let ack_request = setup.service == transport::RC && (last || psn % spacing == spacing - 1);
    // R63.
    let solicited = get(wqe, sq_wqe::SOLICITED) == 1 && last && !wide && opcode != send_opcode::WRITE;
    let mut words = vec![
        setup.index | (datagram as u32) << 12 | (from_memory as u32) << 13 | bytes << 14 | (extension.len() as u32) << 28,
        bth.value as u32 | (solicited as u32) << 8 | (ack_request as u32) << 9 | (in_wqe as u32) << 10,
        psn,
    ];
    if datagram {
        words.extend([4, 5, 10, 11, 12, 13, 14, 15].map(|i| wqe[i]));
    }
    words.extend(extension);
    if in_wqe {
        for i in 0..bytes.div_ceil(4) {
            let left = bytes - 4 * i;
            let mask = if left < 4 { (1u32 << (8 * left)) - 1 } else { u32::MAX };
            words.push(wqe[6 + i as usize] & mask);
        }
    }
    let mut pieces = vec![];
    if from_memory {
        let (mut at, mut want) = (offset, bytes);
        for e in elements(wqe) {
            let here = e.length.saturating_sub(at).min(want);
            if here > 0 {
                pieces.push(Piece {
                    va: e.va.wrapping_add(at as u64),
                    length: here,
                    key: e.key,
                });
            }
            at = at.saturating_sub(e.length);
            want -= here;
        }
        assert_eq!(want, 0);
    }
    Packet {
        words,
        pieces,
        offset: (!last).then(|| offset + bytes),
        psns: if is_read(wqe) { rest.div_ceil(pmtu).max(1) } else { 1 },
        ack_request,
    }
}

#[test]
fn cuts_across_elements() {
    let setup = Setup {
        index: 3,
        tag: 0,
        service: transport::RC,
        pmtu: 1,
        pd: 0,
        sq_log: 3,
        base: 0,
        max_rd_atomic: 1,
        psn: 0,
        selective_repeat: false,
        selective_window: 0,
    };
    let mut wqe = [0; 16];
    sq_wqe::OPCODE.set(&mut wqe, send_opcode::SEND);
    sq_wqe::ELEMENTS.set(&mut wqe, 2);
    (wqe[1], wqe[6], wqe[8], wqe[10], wqe[12]) = (600, 0x1000, 300, 0x2000, 300);
    let middle = packet(&setup, &wqe, 256, 7);
    let want = [(0x1100, 44), (0x2000, 212)];
    assert_eq!(middle.pieces.iter().map(|p| (p.va, p.length)).collect::<Vec<_>>(), want);
    assert_eq!((middle.words[1] & 0xff, middle.offset), (1, Some(512)));
    let end = packet(&setup, &wqe, 512, 8);
    assert_eq!((end.words[1], end.words[0] >> 14, end.pieces[0].va), (2 | 1 << 9, 88, 0x20d4));
    assert_eq!(psns(&setup, &wqe), 3);
}
