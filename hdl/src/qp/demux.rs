// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does this packet belong to its QP? The QP row is read word by word, and each word is compared as it comes by.
//!
//! ```text
//! start ─► word 1 (P_Key, PD) ─► word 0 (tag, service, GID) ─┬─ RC, UC: words 12–15, IPv4 only 15 (the peer's IP) ─┬─► settle ─► done
//!                                                            └─ UD: word 4 (Q_Key) ─────────────────────────────────┘
//! ```
//!
//! The RAM's word is registered before it is compared; a serial engine registers the item instead. Latency from `start` to `done`: 7 cycles, IPv6 10. `done` and what is learnt hold until the next start. Several faults: the one with the
//! lowest counter code is reported. Drops are silent, never a NAK (R60, R61, R71, R72).

use crate::rx::PacketHead;
use crate::wire::OPCODE_CNP;
use rust_hdl::prelude::*;
use verbena_spec::{counters, layout::qp};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum DemuxState {
    Idle,
    First,
    Second,
    Word1,
    Word0,
    Address0,
    Address1,
    Address2,
    Address3,
    QueueKey,
    Settle,
}

#[derive(LogicBlock)]
pub struct Demux<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub head: Signal<In, PacketHead>,
    /// QP state is RTR, RTS or SQD; looked at in the settle cycle.
    pub live: Signal<In, Bit>,
    /// QP state is not RESET; looked at in the settle cycle.
    pub exists: Signal<In, Bit>,
    pub read: Signal<Out, Bit>,
    pub item: Signal<Out, Bits<5>>,
    pub word: Signal<In, Bits<32>>,
    pub done: Signal<Out, Bit>,
    pub fail: Signal<Out, Bit>,
    /// It fails only because it is a CNP: nothing is executed, the QP slows (R76).
    pub notice: Signal<Out, Bit>,
    /// Counter code of the fault.
    pub code: Signal<Out, Bits<6>>,
    pub pd: Signal<Out, Bits<16>>,
    pub pmtu: Signal<Out, Bits<3>>,
    pub remote_write: Signal<Out, Bit>,
    pub remote_read: Signal<Out, Bit>,
    pub remote_atomic: Signal<Out, Bit>,
    pub rnr_timer: Signal<Out, Bits<5>>,
    /// Early requests are held.
    pub reorder: Signal<Out, Bit>,
    state: DFF<DemuxState>,
    word_late: DFF<Bits<32>>,
    item_late: DFF<Bits<5>>,
    expected_late: DFF<Bits<32>>,
    /// This cycle chooses what the next one compares with: the Q_Key, or a word of an IPv6 address.
    awaits_qkey: DFF<Bit>,
    awaits_ip0: DFF<Bit>,
    awaits_ip1: DFF<Bit>,
    awaits_ip2: DFF<Bit>,
    finished: DFF<Bit>,
    unknown: DFF<Bit>,
    not_live: DFF<Bit>,
    foreign: DFF<Bit>,
    pkey_bad: DFF<Bit>,
    qkey_bad: DFF<Bit>,
    address_bad: DFF<Bit>,
    pd_kept: DFF<Bits<16>>,
    pmtu_kept: DFF<Bits<3>>,
    write_kept: DFF<Bit>,
    read_kept: DFF<Bit>,
    atomic_kept: DFF<Bit>,
    rnr_kept: DFF<Bits<5>>,
    reorder_kept: DFF<Bit>,
    is_cnp: DFF<Bit>,
    now: Signal<Local, Bits<32>>,
    ask: Signal<Local, Bits<5>>,
    expected: Signal<Local, Bits<32>>,
    equal: Signal<Local, Bit>,
    datagram: Signal<Local, Bit>,
    six: Signal<Local, Bit>,
    index: Signal<Local, Bits<12>>,
    service: Signal<Local, Bits<3>>,
    pkey_low: Signal<Local, Bits<15>>,
    full_member: Signal<Local, Bit>,
    beyond: Constant<Bits<12>>,
    /// What this engine is built with.
    has_uc: Constant<Bit>,
    has_ud: Constant<Bit>,
    has_ipv6: Constant<Bit>,
    serial: Constant<Bit>,
    service_uc: Constant<Bits<3>>,
    service_ud: Constant<Bits<3>>,
    word_service: Constant<Bits<5>>,
    word_pkey: Constant<Bits<5>>,
    word_qkey: Constant<Bits<5>>,
    word_ip0: Constant<Bits<5>>,
    word_ip1: Constant<Bits<5>>,
    word_ip2: Constant<Bits<5>>,
    word_ip3: Constant<Bits<5>>,
    opcode_cnp: Constant<Bits<8>>,
    faulty: Signal<Local, Bit>,
    code_unknown: Constant<Bits<6>>,
    code_state: Constant<Bits<6>>,
    code_transport: Constant<Bits<6>>,
    code_pkey: Constant<Bits<6>>,
    code_qkey: Constant<Bits<6>>,
    code_address: Constant<Bits<6>>,
    code_cnp: Constant<Bits<6>>,
}

impl<const QA: usize> Demux<QA> {
    /// An engine that knows these transports beside RC, and IPv6 or not. `serial`: no register behind the RAM.
    pub fn new(uc: bool, ud: bool, ipv6: bool, serial: bool) -> Self {
        let word = |field: verbena_spec::layout::Field| Constant::new((field.word as u64).to_bits());
        let code = |code: u8| Constant::new((code as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            head: Default::default(),
            live: Default::default(),
            exists: Default::default(),
            read: Default::default(),
            item: Default::default(),
            word: Default::default(),
            done: Default::default(),
            fail: Default::default(),
            notice: Default::default(),
            code: Default::default(),
            pd: Default::default(),
            pmtu: Default::default(),
            remote_write: Default::default(),
            remote_read: Default::default(),
            remote_atomic: Default::default(),
            rnr_timer: Default::default(),
            reorder: Default::default(),
            state: Default::default(),
            word_late: Default::default(),
            item_late: Default::default(),
            expected_late: Default::default(),
            awaits_qkey: Default::default(),
            awaits_ip0: Default::default(),
            awaits_ip1: Default::default(),
            awaits_ip2: Default::default(),
            finished: Default::default(),
            unknown: Default::default(),
            not_live: Default::default(),
            foreign: Default::default(),
            pkey_bad: Default::default(),
            qkey_bad: Default::default(),
            address_bad: Default::default(),
            pd_kept: Default::default(),
            pmtu_kept: Default::default(),
            write_kept: Default::default(),
            read_kept: Default::default(),
            atomic_kept: Default::default(),
            rnr_kept: Default::default(),
            reorder_kept: Default::default(),
            is_cnp: Default::default(),
            now: Default::default(),
            ask: Default::default(),
            expected: Default::default(),
            equal: Default::default(),
            datagram: Default::default(),
            six: Default::default(),
            index: Default::default(),
            service: Default::default(),
            pkey_low: Default::default(),
            full_member: Default::default(),
            beyond: Constant::new((0xfffu64 & !((1 << QA) - 1)).to_bits()),
            has_uc: Constant::new(uc),
            has_ud: Constant::new(ud),
            has_ipv6: Constant::new(ipv6),
            serial: Constant::new(serial),
            service_uc: Constant::new(1u64.to_bits()),
            service_ud: Constant::new(3u64.to_bits()),
            word_service: word(qp::SERVICE),
            word_pkey: word(qp::PKEY),
            word_qkey: word(qp::QKEY),
            word_ip0: word(qp::DEST_IP_0),
            word_ip1: word(qp::DEST_IP_1),
            word_ip2: word(qp::DEST_IP_2),
            word_ip3: word(qp::DEST_IP_3),
            opcode_cnp: Constant::new((OPCODE_CNP as u64).to_bits()),
            faulty: Default::default(),
            code_unknown: code(counters::UNKNOWN_QP),
            code_state: code(counters::QP_STATE),
            code_transport: code(counters::WRONG_TRANSPORT),
            code_pkey: code(counters::BAD_PKEY),
            code_qkey: code(counters::BAD_QKEY),
            code_address: code(counters::BAD_ADDRESS),
            code_cnp: code(counters::CNP),
        }
    }
}

impl<const QA: usize> Logic for Demux<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            finished,
            unknown,
            not_live,
            foreign,
            pkey_bad,
            qkey_bad,
            address_bad
        );
        dff_setup!(
            self,
            clock,
            word_late,
            item_late,
            expected_late,
            awaits_qkey,
            awaits_ip0,
            awaits_ip1,
            awaits_ip2,
            pd_kept,
            pmtu_kept,
            write_kept,
            read_kept,
            atomic_kept,
            rnr_kept,
            reorder_kept,
            is_cnp
        );

        self.word_late.d.next = self.word.val();
        self.now.next = self.word_late.q.val();
        if self.serial.val() {
            self.now.next = self.word.val();
        }
        self.index.next = self.head.val().qpn.get_bits::<12>(0);
        self.service.next = self.head.val().opcode.get_bits::<3>(5);
        self.datagram.next = (self.service.val() == self.service_ud.val()) & self.has_ud.val();
        self.six.next = self.head.val().ipv6 & self.has_ipv6.val();
        self.pkey_low.next = self.now.val().get_bits::<15>(16);
        self.full_member.next = self.now.val().get_bit(31) | self.head.val().pkey.get_bit(15);

        // One comparator serves the Q_Key and the address words. What a word must be is chosen a cycle ahead, where there is a choice, and
        // that it is to be chosen is known another cycle ahead.
        self.awaits_qkey.d.next = (self.state.q.val() == DemuxState::Word1) & self.datagram.val();
        self.awaits_ip0.d.next = (self.state.q.val() == DemuxState::Word1) & self.six.val() & !self.datagram.val();
        self.awaits_ip1.d.next = self.state.q.val() == DemuxState::Word0;
        self.awaits_ip2.d.next = self.state.q.val() == DemuxState::Address0;
        self.expected_late.d.next = self.head.val().source_ip3;
        if self.awaits_qkey.q.val() {
            self.expected_late.d.next = self.head.val().xth0;
        }
        if self.awaits_ip0.q.val() {
            self.expected_late.d.next = self.head.val().source_ip0;
        }
        if self.awaits_ip1.q.val() {
            self.expected_late.d.next = self.head.val().source_ip1;
        }
        if self.awaits_ip2.q.val() {
            self.expected_late.d.next = self.head.val().source_ip2;
        }
        self.expected.next = self.head.val().source_ip3;
        if self.has_ipv6.val() | self.has_ud.val() {
            self.expected.next = self.expected_late.q.val();
        }
        self.equal.next = self.now.val() == self.expected.val();

        self.read.next = true;
        self.ask.next = self.word_pkey.val();
        match self.state.q.val() {
            DemuxState::Idle => {
                self.read.next = self.start.val();
                if self.start.val() {
                    self.finished.d.next = false;
                    self.state.d.next = DemuxState::First;
                }
            }
            DemuxState::First => {
                self.ask.next = self.word_service.val();
                self.state.d.next = DemuxState::Second;
            }
            DemuxState::Second => {
                self.ask.next = self.word_ip3.val();
                if self.six.val() {
                    self.ask.next = self.word_ip0.val();
                }
                if self.datagram.val() {
                    self.ask.next = self.word_qkey.val();
                }
                self.state.d.next = DemuxState::Word1;
            }
            DemuxState::Word1 => {
                // R60: the low 15 bits, and at least one full member.
                self.pkey_bad.d.next = (self.pkey_low.val() != self.head.val().pkey.get_bits::<15>(0)) | !self.full_member.val();
                self.pd_kept.d.next = self.now.val().get_bits::<16>(0);
                self.ask.next = self.word_ip1.val();
                self.state.d.next = DemuxState::Word0;
            }
            DemuxState::Word0 => {
                // R61: index 0 is no QP, and a former life's tag differs.
                self.unknown.d.next = (self.now.val().get_bits::<12>(20) != self.head.val().qpn.get_bits::<12>(12))
                    | (self.index.val() & self.beyond.val()).any()
                    | !self.index.val().any();
                // R72; a transport that this engine hasn't is nobody's. A CNP is any QP's.
                self.foreign.d.next = !self.is_cnp.q.val()
                    & ((self.now.val().get_bits::<3>(0) != self.service.val())
                        | ((self.service.val() == self.service_uc.val()) & !self.has_uc.val())
                        | ((self.service.val() == self.service_ud.val()) & !self.has_ud.val()));
                self.qkey_bad.d.next = false;
                // R71: our side of the address pair is the GID entry.
                self.address_bad.d.next = !self.datagram.val()
                    & ((self.now.val().get_bits::<2>(11) != self.head.val().gid_index)
                        | (self.now.val().get_bit(9) != self.head.val().ipv6));
                self.pmtu_kept.d.next = self.now.val().get_bits::<3>(3);
                self.write_kept.d.next = self.now.val().get_bit(6);
                self.read_kept.d.next = self.now.val().get_bit(7);
                self.atomic_kept.d.next = self.now.val().get_bit(8);
                self.rnr_kept.d.next = self.now.val().get_bits::<5>(13);
                self.reorder_kept.d.next = self.now.val().get_bit(18);
                self.ask.next = self.word_ip2.val();
                self.state.d.next = DemuxState::Address3;
                if self.six.val() {
                    self.state.d.next = DemuxState::Address0;
                }
                if self.datagram.val() {
                    self.state.d.next = DemuxState::QueueKey;
                }
            }
            DemuxState::Address0 => {
                self.address_bad.d.next = self.address_bad.q.val() | !self.equal.val();
                self.ask.next = self.word_ip3.val();
                self.state.d.next = DemuxState::Address1;
            }
            DemuxState::Address1 => {
                self.address_bad.d.next = self.address_bad.q.val() | !self.equal.val();
                self.state.d.next = DemuxState::Address2;
            }
            DemuxState::Address2 => {
                self.address_bad.d.next = self.address_bad.q.val() | !self.equal.val();
                self.state.d.next = DemuxState::Address3;
            }
            DemuxState::Address3 => {
                // R71: the peer's address.
                self.address_bad.d.next = self.address_bad.q.val() | !self.equal.val();
                self.state.d.next = DemuxState::Settle;
            }
            DemuxState::QueueKey => {
                self.qkey_bad.d.next = !self.equal.val();
                self.state.d.next = DemuxState::Settle;
            }
            DemuxState::Settle => {
                self.read.next = false;
                self.not_live.d.next = !self.live.val();
                self.unknown.d.next = self.unknown.q.val() | !self.exists.val();
                self.finished.d.next = true;
                self.state.d.next = DemuxState::Idle;
            }
            _ => {
                self.state.d.next = DemuxState::Idle;
            }
        }

        self.item_late.d.next = self.ask.val();
        self.item.next = self.ask.val();
        if self.serial.val() {
            self.item.next = self.item_late.q.val();
        }
        self.done.next = self.finished.q.val();
        self.is_cnp.d.next = self.head.val().opcode == self.opcode_cnp.val();
        self.faulty.next = self.unknown.q.val()
            | self.not_live.q.val()
            | self.foreign.q.val()
            | self.pkey_bad.q.val()
            | self.qkey_bad.q.val()
            | self.address_bad.q.val();
        self.fail.next = self.faulty.val() | self.is_cnp.q.val();
        self.notice.next = !self.faulty.val() & self.is_cnp.q.val();
        self.code.next = self.code_cnp.val();
        if self.address_bad.q.val() {
            self.code.next = self.code_address.val();
        }
        if self.qkey_bad.q.val() {
            self.code.next = self.code_qkey.val();
        }
        if self.pkey_bad.q.val() {
            self.code.next = self.code_pkey.val();
        }
        if self.foreign.q.val() {
            self.code.next = self.code_transport.val();
        }
        if self.not_live.q.val() {
            self.code.next = self.code_state.val();
        }
        if self.unknown.q.val() {
            self.code.next = self.code_unknown.val();
        }
        self.pd.next = self.pd_kept.q.val();
        self.pmtu.next = self.pmtu_kept.q.val();
        self.remote_write.next = self.write_kept.q.val();
        self.remote_read.next = self.read_kept.q.val();
        self.remote_atomic.next = self.atomic_kept.q.val();
        self.rnr_timer.next = self.rnr_kept.q.val();
        self.reorder.next = self.reorder_kept.q.val();

        if self.reset.val() {
            self.state.d.next = DemuxState::Idle;
            self.finished.d.next = false;
        }
    }

    crate::block_name!();
}
