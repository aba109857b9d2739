// SPDX-License-Identifier: MIT OR Apache-2.0
//! The responder's READs and ATOMICs in plain Rust, a QP at a time, written from the rules. Time is the order of what is seen at the ports.

use std::collections::VecDeque;

pub const ACCEPTED: u64 = 0;
pub const TAKEN: u64 = 1;
pub const DROPPED: u64 = 2;
pub const INVALID: u64 = 3;
pub const REFUSED: u64 = 4;

const PSN_MASK: u32 = 0xff_ffff;

/// What an ATOMIC does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Read,
    CompareSwap { swap: u64, compare: u64 },
    FetchAdd { add: u64 },
}

impl Op {
    pub fn atomic(self) -> bool {
        self != Op::Read
    }

    /// What is in memory afterwards, if it is written.
    pub fn apply(self, old: u64) -> Option<u64> {
        match self {
            Op::Read => None,
            Op::CompareSwap { swap, compare } => (old == compare).then_some(swap),
            Op::FetchAdd { add } => Some(old.wrapping_add(add)),
        }
    }

    fn same_kind(self, other: Op) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// A request as on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    pub psn: u32,
    pub va: u64,
    pub key: u32,
    pub length: u32,
    pub op: Op,
}

impl Request {
    pub fn bytes(&self) -> u32 {
        if self.op.atomic() {
            8
        } else {
            self.length
        }
    }
}

/// A memory region.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub key: u32,
    pub pd: u16,
    pub va: u64,
    pub length: u64,
    pub address: u64,
    pub paged: bool,
    pub read: bool,
    pub atomic: bool,
    pub valid: bool,
}

/// R51, R52. The place, if the access is good.
pub fn check(regions: &[Region], key: u32, pd: u16, va: u64, length: u32, atomic: bool) -> Option<(bool, u64)> {
    if length == 0 {
        return Some((false, 0));
    }
    let region = regions.iter().find(|r| r.key == key)?;
    let right = if atomic { region.atomic } else { region.read };
    let end = va as u128 + length as u128;
    let inside = va >= region.va && end <= region.va as u128 + region.length as u128;
    if !(region.valid && region.pd == pd && right && inside) {
        return None;
    }
    let offset = va - region.va;
    let address = if region.paged {
        // An MTT entry and the offset in its page.
        (((region.address >> 12) + ((va >> 12) - (region.va >> 12))) << 12) | (va & 0xfff)
    } else {
        region.address.wrapping_add(offset)
    };
    Some((region.paged, address))
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    request: Request,
    msn: u32,
    /// Its last response has gone out once.
    served: bool,
    released: bool,
    result: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    psn: u32,
    va: u64,
    left: u32,
    first: bool,
}

/// A packet as it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    pub words: Vec<u32>,
    /// paged, address, bytes.
    pub job: Option<(bool, u64, u32)>,
    /// PSN and MSN, for a payload that can't be read.
    pub psn: u32,
    pub msn: u32,
}

/// A QP.
#[derive(Clone, Debug)]
pub struct Qp {
    pub index: u32,
    pub pmtu: u32,
    pub pd: u16,
    pub places: usize,
    pub atomics: bool,
    stored: VecDeque<Stored>,
    /// Which of them is being served: a replay as far as `until`, then those that were never served.
    at: usize,
    until: usize,
    range: Option<Range>,
    /// AETH, PSN.
    pub held: Option<(u32, u32)>,
    pub shut: bool,
}

impl Qp {
    pub fn new(index: u32, pmtu: u32, pd: u16, places: usize, atomics: bool) -> Qp {
        Qp {
            index,
            pmtu,
            pd,
            places,
            atomics,
            stored: VecDeque::new(),
            at: 0,
            until: 0,
            range: None,
            held: None,
            shut: false,
        }
    }

    /// The QP has left its live states.
    pub fn forget(&mut self) {
        *self = Qp::new(self.index, self.pmtu, self.pd, self.places, self.atomics);
    }

    pub fn busy(&self) -> bool {
        self.stored.get(self.at).is_some_and(|s| s.released)
    }

    /// Responses or an ACK are still to be sent.
    pub fn waiting(&self) -> bool {
        self.busy() || self.held.is_some()
    }

    /// Of those stored, how many were never served.
    pub fn unserved(&self) -> usize {
        self.stored.iter().filter(|s| !s.served).count()
    }

    /// Verdict, and PSNs where it is 0.
    pub fn request(&mut self, regions: &[Region], request: Request, duplicate: bool, msn: u32) -> (u64, u32) {
        if self.shut {
            return (DROPPED, 0);
        }
        if duplicate {
            return (self.duplicate(regions, request, msn), 0);
        }
        let atomic = request.op.atomic();
        // R59, R50, R58.
        if self.unserved() == self.places || (atomic && !self.atomics) {
            return (INVALID, 0);
        }
        // The oldest makes room, even for one that is refused (which ends the QP); a replay of it ends.
        if self.stored.len() == self.places {
            self.stored.pop_front();
            if self.at == 0 {
                self.range = None;
            } else {
                self.at -= 1;
            }
            self.until = self.until.saturating_sub(1);
            self.next();
        }
        if (!atomic && request.length > 1 << 31) || (atomic && request.va & 7 != 0) {
            return (INVALID, 0);
        }
        // R52.
        if check(regions, request.key, self.pd, request.va, request.bytes(), atomic).is_none() {
            return (REFUSED, 0);
        }
        self.stored.push_back(Stored {
            request,
            msn,
            served: false,
            released: false,
            result: None,
        });
        // R22.
        (ACCEPTED, if atomic { 1 } else { request.length.div_ceil(self.pmtu).max(1) })
    }

    /// R28, R29.
    fn duplicate(&mut self, regions: &[Region], request: Request, msn: u32) -> u64 {
        let distance = |s: &Stored| request.psn.wrapping_sub(s.request.psn) & PSN_MASK;
        let Some(found) = self.stored.iter().rposition(|s| distance(s) >> 23 == 0) else {
            return DROPPED;
        };
        let stored = self.stored[found];
        // Behind the replay that runs, and not to be served as it is: the replay goes on to it.
        let extends = self.at < self.until && found >= self.until && stored.served;
        if found > self.at && !extends || !stored.released {
            return TAKEN;
        }
        if stored.request.op.atomic() != request.op.atomic() {
            return DROPPED;
        }
        let distance = distance(&stored);
        if request.op.atomic() {
            if distance != 0 || stored.result.is_none() || !stored.request.op.same_kind(request.op) {
                return DROPPED;
            }
            self.replay(found, msn, None);
            return TAKEN;
        }
        let offset = request.va.wrapping_sub(stored.request.va);
        if offset != distance as u64 * self.pmtu as u64
            || offset + request.length as u64 > stored.request.length as u64
            || request.key != stored.request.key
            || check(regions, request.key, self.pd, stored.request.va, stored.request.length, false).is_none()
        {
            return DROPPED;
        }
        let range = Range {
            psn: request.psn,
            va: request.va,
            left: request.length,
            first: true,
        };
        self.replay(found, msn, Some(range));
        TAKEN
    }

    /// R28: what was asked for, no more. R37: the MSN as it stands.
    fn replay(&mut self, found: usize, msn: u32, range: Option<Range>) {
        self.stored[found].msn = msn;
        if self.at < self.until && found >= self.until {
            self.until = found + 1;
            return;
        }
        if self.at >= self.until {
            self.until = found + self.stored[found].served as usize;
        }
        self.at = found;
        self.range = range;
    }

    /// Behind a replay come those that were never served.
    fn next(&mut self) {
        if self.at >= self.until {
            self.at = self.stored.iter().position(|s| !s.served).unwrap_or(self.stored.len());
        }
    }

    /// Retire: the oldest unreleased one may be served.
    pub fn release(&mut self) {
        if self.shut {
            return;
        }
        if let Some(stored) = self.stored.iter_mut().find(|s| !s.released) {
            stored.released = true;
            self.held = None;
        }
    }

    /// An ACK stays.
    pub fn hold(&mut self, syndrome: u32, psn: u32, msn: u32) {
        if self.shut {
            return;
        }
        assert!(self.waiting(), "QP {}: an ACK is held without need", self.index);
        self.held = Some((syndrome << 24 | msn, psn));
        self.shut = syndrome >> 5 == 3 && syndrome & 31 != 0;
    }

    /// A NAK of our own.
    pub fn fail(&mut self) {
        let index = self.index;
        self.forget();
        self.index = index;
        self.shut = true;
    }

    fn finish(&mut self) {
        self.stored[self.at].served = true;
        self.at += 1;
        self.range = None;
        self.next();
    }

    fn acknowledge(&self, aeth: u32, psn: u32) -> Packet {
        Packet {
            words: vec![self.index | 1 << 28, 0x11, psn, aeth],
            job: None,
            psn,
            msn: 0,
        }
    }

    /// The QP's next packet. `executed`: what the ATOMIC unit found, if it has run for this packet.
    pub fn packet(&mut self, regions: &[Region], executed: Option<u64>) -> Packet {
        while self.busy() {
            let stored = self.stored[self.at];
            let request = stored.request;
            let range = self.range.unwrap_or(Range {
                psn: request.psn,
                va: request.va,
                left: request.length,
                first: true,
            });
            let atomic = request.op.atomic();
            let bytes = if atomic { 8 } else { range.left.min(self.pmtu) };
            let last = atomic || range.left <= self.pmtu;
            let place = check(regions, request.key, self.pd, range.va, bytes, atomic);
            if place.is_none() && stored.result.is_none() {
                if stored.served {
                    self.finish();
                    continue;
                }
                let packet = self.acknowledge(0x62 << 24 | stored.msn, range.psn);
                self.fail();
                return packet;
            }
            let aeth = 0x1f << 24 | stored.msn;
            if atomic {
                let result = stored.result.or(executed).expect("the ATOMIC has run");
                self.stored[self.at].result = Some(result);
                let words = vec![
                    self.index | 3 << 28,
                    0x12 | 1 << 11,
                    range.psn,
                    aeth,
                    (result >> 32) as u32,
                    result as u32,
                ];
                self.finish();
                return Packet {
                    words,
                    job: None,
                    psn: range.psn,
                    msn: stored.msn,
                };
            }
            let opcode = match (range.first, last) {
                (true, true) => 0x10,
                (true, false) => 0x0d,
                (false, false) => 0x0e,
                (false, true) => 0x0f,
            };
            let payload = if bytes > 0 { 1 << 13 | bytes << 14 } else { 0 };
            let headers = if opcode == 0x0e { 0 } else { 1 << 28 };
            let mut words = vec![self.index | payload | headers, opcode | 1 << 11, range.psn];
            if headers != 0 {
                words.push(aeth);
            }
            let job = place.filter(|_| bytes > 0).map(|(paged, address)| (paged, address, bytes));
            let packet = Packet {
                words,
                job,
                psn: range.psn,
                msn: stored.msn,
            };
            if last {
                self.finish();
            } else {
                self.range = Some(Range {
                    psn: (range.psn + 1) & PSN_MASK,
                    va: range.va.wrapping_add(bytes as u64),
                    left: range.left - bytes,
                    first: false,
                });
            }
            return packet;
        }
        let (aeth, psn) = self
            .held
            .take()
            .unwrap_or_else(|| panic!("QP {}: a packet without reason", self.index));
        self.acknowledge(aeth, psn)
    }

    /// The ATOMIC whose turn it is: its request, if it has to be executed.
    pub fn atomic_due(&self) -> Option<Request> {
        let stored = self.stored.get(self.at).filter(|s| s.released && s.result.is_none())?;
        stored.request.op.atomic().then_some(stored.request)
    }
}

#[test]
fn r22_psns_of_a_request() {
    let region = Region {
        key: 0x107,
        pd: 1,
        va: 0,
        length: 1 << 40,
        address: 0,
        paged: false,
        read: true,
        atomic: true,
        valid: true,
    };
    for (length, psns) in [(0, 1), (1, 1), (256, 1), (257, 2), (1 << 31, 1 << 23)] {
        let mut qp = Qp::new(2, 256, 1, 16, true);
        let request = Request {
            psn: 0,
            va: 0,
            key: 0x107,
            length,
            op: Op::Read,
        };
        assert_eq!(qp.request(&[region], request, false, 1), (ACCEPTED, psns));
    }
}
