// SPDX-License-Identifier: MIT OR Apache-2.0
//! The send queue.

use crate::modify::udp_source;
use crate::qp::QpSlot;
use crate::ring::Ring;
use crate::{Bus, CompletionOpcode, Device, DmaMemory, Error, PathMtu, Peer, Qp, QpState, Sge, Transport};
use std::collections::VecDeque;
use verbena_spec::layout::{self, qp, send_opcode, sq_wqe as f, Field};
use verbena_spec::registers;

/// Doorbell page of an index: `+0` is the SQ's producer.
const DOORBELL_STRIDE: u32 = 16;
/// Bytes that fit inline.
pub const INLINE_BYTES: usize = 32;
/// Scatter/gather elements of a send WQE.
pub const SEND_ELEMENTS: usize = 2;
/// Longest message, bytes (R50).
const MAX_MESSAGE: u64 = 1 << 31;
/// Fewer PSNs than this may be outstanding (R75).
const PSN_WINDOW: u64 = 1 << 23;
/// Bytes of an ATOMIC's operand and result.
const ATOMIC_BYTES: u32 = 8;

/// Memory of the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remote {
    /// Virtual address there.
    pub address: u64,
    pub rkey: u32,
}

/// What to do. Immediates are the numbers on the wire (big-endian there).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Send,
    SendWithImm(u32),
    /// SEND that ends the peer's key (R62).
    SendWithInvalidate {
        rkey: u32,
    },
    Write(Remote),
    WriteWithImm(Remote, u32),
    Read(Remote),
    /// The 64-bit number at `remote` becomes `swap` if it is `compare`; what it was comes back. Address a multiple of 8 (R58).
    CompareSwap {
        remote: Remote,
        compare: u64,
        swap: u64,
    },
    /// `add` is added to the 64-bit number at `remote`; what it was comes back. Address a multiple of 8 (R58).
    FetchAdd {
        remote: Remote,
        add: u64,
    },
}

/// Where the bytes are: to be sent, or where a READ's or ATOMIC's go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data<'a> {
    /// At most [`SEND_ELEMENTS`]; UD and ATOMIC: one.
    Elements(&'a [Sge]),
    /// At most [`INLINE_BYTES`], copied into the WQE: the caller may change them at once. Not for UD, READ and ATOMIC.
    Inline(&'a [u8]),
}

/// Where a UD message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    pub peer: Peer,
    pub qpn: u32,
    /// With the upper bit set, our QP's Q_Key is used instead (IBTA volume 1, 10.2.5).
    pub qkey: u32,
}

/// A send work request (`ibv_send_wr`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkRequest<'a> {
    /// Comes back in the completion.
    pub wr_id: u64,
    pub verb: Verb,
    pub data: Data<'a>,
    /// A completion is wanted. Without one a good end is silent, a bad one isn't (R65); the queue's entry is free with the next completion.
    pub signaled: bool,
    /// The peer's CQ raises its event (R63).
    pub solicited: bool,
    /// Wait for earlier READs and ATOMICs.
    pub fence: bool,
    /// UD only.
    pub destination: Option<Destination>,
}

impl<'a> WorkRequest<'a> {
    /// Signalled, not solicited, not fenced.
    pub fn new(wr_id: u64, verb: Verb, elements: &'a [Sge]) -> Self {
        WorkRequest {
            wr_id,
            verb,
            data: Data::Elements(elements),
            signaled: true,
            solicited: false,
            fence: false,
            destination: None,
        }
    }

    /// The same with inline data.
    pub fn inline(wr_id: u64, verb: Verb, bytes: &'a [u8]) -> Self {
        WorkRequest {
            data: Data::Inline(bytes),
            ..Self::new(wr_id, verb, &[])
        }
    }
}

impl Verb {
    fn name(&self) -> &'static str {
        match self {
            Verb::Send | Verb::SendWithImm(_) => "SEND",
            Verb::SendWithInvalidate { .. } => "SEND with invalidate",
            Verb::Write(_) | Verb::WriteWithImm(..) => "WRITE",
            Verb::Read(_) => "READ",
            Verb::CompareSwap { .. } | Verb::FetchAdd { .. } => "ATOMIC",
        }
    }

    fn code(&self) -> u32 {
        match self {
            Verb::Send => send_opcode::SEND,
            Verb::SendWithImm(_) => send_opcode::SEND_WITH_IMM,
            Verb::SendWithInvalidate { .. } => send_opcode::SEND_WITH_INVALIDATE,
            Verb::Write(_) => send_opcode::WRITE,
            Verb::WriteWithImm(..) => send_opcode::WRITE_WITH_IMM,
            Verb::Read(_) => send_opcode::READ,
            Verb::CompareSwap { .. } => send_opcode::COMPARE_SWAP,
            Verb::FetchAdd { .. } => send_opcode::FETCH_ADD,
        }
    }

    fn completion(&self) -> CompletionOpcode {
        match self {
            Verb::Send | Verb::SendWithImm(_) | Verb::SendWithInvalidate { .. } => CompletionOpcode::Send,
            Verb::Write(_) | Verb::WriteWithImm(..) => CompletionOpcode::Write,
            Verb::Read(_) => CompletionOpcode::Read,
            Verb::CompareSwap { .. } => CompletionOpcode::CompareSwap,
            Verb::FetchAdd { .. } => CompletionOpcode::FetchAdd,
        }
    }

    fn is_atomic(&self) -> bool {
        matches!(self, Verb::CompareSwap { .. } | Verb::FetchAdd { .. })
    }

    fn is_answered(&self) -> bool {
        self.is_atomic() || matches!(self, Verb::Read(_))
    }

    fn of(&self, transport: Transport) -> bool {
        match transport {
            Transport::Rc => true,
            Transport::Uc => !self.is_answered() && !matches!(self, Verb::SendWithInvalidate { .. }),
            Transport::Ud => matches!(self, Verb::Send | Verb::SendWithImm(_)),
        }
    }
}

/// The library's side of a send ring: what is posted and not completed.
pub(crate) struct SendQueue {
    /// `None`: the engine has no requester.
    pub ring: Option<Ring>,
    producer: u16,
    /// Free-running index, the caller's id and what it was, oldest first.
    posted: VecDeque<(u16, u64, CompletionOpcode)>,
}

impl SendQueue {
    pub fn new(ring: Option<Ring>) -> Self {
        SendQueue {
            ring,
            producer: 0,
            posted: VecDeque::new(),
        }
    }

    /// The QP went back to RESET: indices start again.
    pub fn clear(&mut self) {
        self.producer = 0;
        self.posted.clear();
    }

    /// Takes the entry that a completion names, and the silent ones before it; `None` if it isn't posted.
    pub fn complete(&mut self, index: u16) -> Option<(u64, CompletionOpcode)> {
        let position = self.posted.iter().position(|(i, ..)| *i == index)?;
        self.posted.drain(..=position).next_back().map(|(_, id, opcode)| (id, opcode))
    }
}

type Wqe = [u32; layout::SQ_WQE_BYTES / 4];

impl<P: Bus + DmaMemory> Device<P> {
    /// Posts one send and rings the doorbell. What it points to must stay as it is until its completion, or one behind it, is polled.
    pub fn post_send(&mut self, qp: Qp, request: &WorkRequest) -> Result<(), Error> {
        self.post_send_list(qp, std::slice::from_ref(request))
    }

    /// Posts several sends with one doorbell; all or none.
    pub fn post_send_list(&mut self, qp: Qp, list: &[WorkRequest]) -> Result<(), Error> {
        let slot = self.qps.get(qp.id)?;
        let Some(ring) = slot.send.ring.clone() else {
            return Err(Error::Unsupported("requester, so it can't send"));
        };
        if !matches!(slot.state, QpState::Rts | QpState::Sqd | QpState::Err) {
            return Err(Error::NotSending(slot.state));
        }
        let entries = ring.entries();
        if slot.send.posted.len() + list.len() > entries {
            return Err(Error::QueueFull { entries });
        }
        let wqes = list.iter().map(|r| self.wqe(slot, r)).collect::<Result<Vec<Wqe>, Error>>()?;
        let first = slot.send.producer;
        for (i, wqe) in wqes.iter().enumerate() {
            ring.store(&mut self.platform, first.wrapping_add(i as u16), wqe)?;
        }
        let producer = first.wrapping_add(list.len() as u16);
        let doorbell = registers::DOORBELLS + DOORBELL_STRIDE * qp.id.index + 4 * registers::doorbell::SQ_PRODUCER;
        self.platform.write(doorbell, producer as u32)?;
        let send = &mut self.qps.get_mut(qp.id)?.send;
        let posted = list.iter().enumerate();
        send.posted
            .extend(posted.map(|(i, r)| (first.wrapping_add(i as u16), r.wr_id, r.verb.completion())));
        send.producer = producer;
        Ok(())
    }

    /// Sends posted on all QPs and not polled as completed yet: while there are any, timers may run.
    pub fn sends_outstanding(&self) -> usize {
        self.qps.iter().map(|slot| slot.send.posted.len()).sum()
    }

    /// The WQE of a request, checked.
    fn wqe(&self, slot: &QpSlot, request: &WorkRequest) -> Result<Wqe, Error> {
        let (transport, verb) = (slot.transport, request.verb);
        if !verb.of(transport) {
            return Err(Error::WrongVerb {
                transport,
                verb: verb.name(),
            });
        }
        if verb.is_answered() && !self.capabilities.read_atomic {
            return Err(Error::Unsupported("READ and ATOMIC"));
        }
        if verb.is_answered() && qp::MAX_RD_ATOMIC.get(&slot.row) == 0 {
            return Err(Error::OutOfRange {
                what: "max_rd_atomic",
                value: 0,
                want: "at least 1 for READ and ATOMIC".into(),
            });
        }
        if request.destination.is_some() != (transport == Transport::Ud) {
            return Err(Error::Destination);
        }
        let mut wqe: Wqe = [0; layout::SQ_WQE_BYTES / 4];
        let length = data(&mut wqe, transport, &verb, &request.data)?;
        check_length(slot, length)?;
        for (field, value) in [
            (f::OPCODE, verb.code()),
            (f::SIGNALED, request.signaled.into()),
            (f::SOLICITED, request.solicited.into()),
            (f::FENCE, request.fence.into()),
            (f::LENGTH, length as u32),
        ] {
            field.set(&mut wqe, value);
        }
        match verb {
            Verb::SendWithImm(value) | Verb::SendWithInvalidate { rkey: value } | Verb::WriteWithImm(_, value) => {
                f::IMMEDIATE.set(&mut wqe, value);
            }
            _ => {}
        }
        match verb {
            Verb::Write(remote) | Verb::WriteWithImm(remote, _) | Verb::Read(remote) => set_remote(&mut wqe, remote),
            Verb::CompareSwap { remote, compare, swap } => {
                set_remote(&mut wqe, remote);
                set64(&mut wqe, &f::ADDRESS_1_LOW, &f::ADDRESS_1_HIGH, swap);
                set64(&mut wqe, &f::LENGTH_1, &f::LKEY_1, compare);
            }
            Verb::FetchAdd { remote, add } => {
                set_remote(&mut wqe, remote);
                set64(&mut wqe, &f::ADDRESS_1_LOW, &f::ADDRESS_1_HIGH, add);
            }
            _ => {}
        }
        if let Some(destination) = &request.destination {
            self.set_destination(&mut wqe, slot, destination)?;
        }
        Ok(wqe)
    }

    fn set_destination(&self, wqe: &mut Wqe, slot: &QpSlot, to: &Destination) -> Result<(), Error> {
        self.check_peer(&to.peer)?;
        if to.qpn >> 24 != 0 {
            return Err(Error::OutOfRange {
                what: "destination QPN",
                value: to.qpn as u64,
                want: "24 bits".into(),
            });
        }
        let (peer, mac, ip) = (&to.peer, to.peer.mac, to.peer.gid.words());
        let qkey = if to.qkey >> 31 == 1 { qp::QKEY.get(&slot.row) } else { to.qkey };
        let way = peer.gid.is_ipv6() as u32
            | (peer.vlan.is_some() as u32) << 1
            | (peer.gid_index as u32 & 3) << 2
            | (peer.hop_limit as u32) << 8
            | udp_source(peer, slot.qpn, to.qpn) << 16;
        let tag = peer.vlan.map_or(0, |v| v.tag_control());
        for (field, value) in [
            (f::RKEY, qkey),
            (f::REMOTE_LOW, to.qpn | (peer.traffic_class as u32) << 24),
            (f::REMOTE_HIGH, way),
            (f::ADDRESS_1_LOW, u32::from_be_bytes([mac[2], mac[3], mac[4], mac[5]])),
            (f::ADDRESS_1_HIGH, u32::from_be_bytes([0, 0, mac[0], mac[1]]) | tag << 16),
            (f::LENGTH_1, ip[0]),
            (f::LKEY_1, ip[1]),
            (f::DEST_IP_2, ip[2]),
            (f::DEST_IP_3, ip[3]),
        ] {
            field.set(wqe, value);
        }
        Ok(())
    }
}

fn set64(wqe: &mut Wqe, low: &Field, high: &Field, value: u64) {
    low.set(wqe, value as u32);
    high.set(wqe, (value >> 32) as u32);
}

fn set_remote(wqe: &mut Wqe, remote: Remote) {
    set64(wqe, &f::REMOTE_LOW, &f::REMOTE_HIGH, remote.address);
    f::RKEY.set(wqe, remote.rkey);
}

/// Puts elements or inline data into the WQE; the message's length.
fn data(wqe: &mut Wqe, transport: Transport, verb: &Verb, data: &Data) -> Result<u64, Error> {
    let bad = |want| Err(Error::BadData { verb: verb.name(), want });
    match data {
        Data::Inline(_) if verb.is_answered() || transport == Transport::Ud => bad("not inline"),
        Data::Inline(bytes) if bytes.len() > INLINE_BYTES => bad("at most 32 bytes inline"),
        Data::Inline(bytes) => {
            f::INLINE.set(wqe, 1);
            for (at, byte) in bytes.iter().enumerate() {
                wqe[f::ADDRESS_0_LOW.word + at / 4] |= (*byte as u32) << (8 * (at % 4));
            }
            Ok(bytes.len() as u64)
        }
        Data::Elements([Sge { length, .. }]) if verb.is_atomic() && *length != ATOMIC_BYTES => bad("one element of 8 bytes"),
        Data::Elements(list) if verb.is_atomic() && list.len() != 1 => bad("one element of 8 bytes"),
        Data::Elements(list) if transport == Transport::Ud && list.len() > 1 => bad("one element on a UD QP"),
        Data::Elements(list) if list.len() > SEND_ELEMENTS => bad("two elements at most"),
        Data::Elements(list) => {
            f::ELEMENTS.set(wqe, list.len() as u32);
            let places = [
                [f::ADDRESS_0_LOW, f::ADDRESS_0_HIGH, f::LENGTH_0, f::LKEY_0],
                [f::ADDRESS_1_LOW, f::ADDRESS_1_HIGH, f::LENGTH_1, f::LKEY_1],
            ];
            for (sge, [low, high, length, lkey]) in list.iter().zip(places) {
                set64(wqe, &low, &high, sge.address);
                length.set(wqe, sge.length);
                lkey.set(wqe, sge.lkey);
            }
            Ok(list.iter().map(|s| s.length as u64).sum())
        }
    }
}

/// R50, R67, R75; UD: one packet.
fn check_length(slot: &QpSlot, length: u64) -> Result<(), Error> {
    let pmtu = [
        PathMtu::Mtu256,
        PathMtu::Mtu512,
        PathMtu::Mtu1024,
        PathMtu::Mtu2048,
        PathMtu::Mtu4096,
    ]
    .into_iter()
    .find(|m| *m as u32 == qp::PMTU.get(&slot.row))
    .map_or(256, |m| m.bytes() as u64);
    let most = if slot.transport == Transport::Ud {
        pmtu
    } else {
        MAX_MESSAGE.min((PSN_WINDOW - 1) * pmtu)
    };
    if length > most {
        return Err(Error::OutOfRange {
            what: "message length",
            value: length,
            want: format!("up to {most} bytes at this path MTU"),
        });
    }
    Ok(())
}
