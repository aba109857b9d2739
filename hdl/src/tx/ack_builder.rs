// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds an ACKNOWLEDGE packet, one 32-bit word a cycle, with its Ethernet header before it.
//!
//! ```text
//! steps ─► row word address ─► row copy ─► (row register, W = 64) ─► words ─► word register ─► gearbox
//!   Look Sum | Eth0 Eth1 Eth2 Eth3 (Eth4) | words 0-9 (IPv6) or 5-9 (IPv4) | Udp0 Udp1 Bth0 Bth1 Bth2 Aeth
//!            two bytes of nothing, MACs,    aligned words 10-15 ─────────────►
//!            (tag), EtherType
//! ```
//!
//! The IPv4 checksum is summed on the way, before word 7 needs it: constants, destination low, source low, source high, TTL, destination high, ToS.
//!
//! W = 64 (`L` = 2): one pass; words go to frame and ICRC at once; no stall inside a frame (the store has room). 18 cycles an IPv4 packet, one more
//! tagged, five more IPv6. W = 32 (`L` = 1): two passes, the first for the ICRC, the second for the frame, which may stall: no store is needed. 33 cycles.
//! Only RC answers: a job for a QP of another service is taken and not sent. Limits: `V` 0 knows IPv4, untagged, GID 0 only.

use super::{AckChecksum, AckJob, AckSource, AckSteps, AckWords, BuildStep};
use rust_hdl::prelude::*;
use verbena_spec::counters;
use verbena_spec::layout::qp;

/// The builder; `L = W / 32` chooses the form, `V` 1 adds IPv6, 802.1Q and GIDs 1-3.
#[derive(LogicBlock)]
pub struct AckBuilder<const L: usize, const V: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ack: Signal<In, AckJob>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    /// A packet may begin: the store has room for it.
    pub room: Signal<In, Bit>,
    /// Words of the frame are taken (W = 32).
    pub advance: Signal<In, Bit>,
    pub local_mac: Signal<In, Bits<48>>,
    pub gid: Signal<In, Bits<512>>,
    /// Row copy; data a cycle later.
    pub read_enable: Signal<Out, Bit>,
    pub read_index: Signal<Out, Bits<12>>,
    pub read_word: Signal<Out, Bits<4>>,
    pub read_data: Signal<In, Bits<32>>,
    pub word: Signal<Out, Bits<32>>,
    /// Aligned number of the word where the mask must know it; else 15.
    pub number: Signal<Out, Bits<4>>,
    /// The word belongs to the frame; is covered by the ICRC.
    pub word_frame: Signal<Out, Bit>,
    pub word_covered: Signal<Out, Bit>,
    pub word_first: Signal<Out, Bit>,
    /// With the first word: its place is in lane 1.
    pub word_odd: Signal<Out, Bit>,
    pub word_covered_first: Signal<Out, Bit>,
    pub word_last: Signal<Out, Bit>,
    pub ipv6: Signal<Out, Bit>,
    /// A frame is begun; may leave the store, which will not run empty then.
    pub starting: Signal<Out, Bit>,
    pub permit: Signal<Out, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,

    steps: AckSteps<L, V>,
    source: AckSource<V>,
    checksum: AckChecksum,
    words: AckWords<V>,
    busy: DFF<Bit>,
    /// Step whose row word is in the RAM's output (W = 64); step whose word is formed now.
    middle: DFF<BuildStep>,
    now: DFF<BuildStep>,
    now_second: DFF<Bit>,
    middle_row: DFF<Bits<32>>,
    held: DFF<AckJob>,
    answers: DFF<Bit>,
    six: DFF<Bit>,
    vlan: DFF<Bit>,
    gid_index: DFF<Bits<2>>,
    word_reg: DFF<Bits<32>>,
    number_reg: DFF<Bits<4>>,
    frame_reg: DFF<Bit>,
    covered_reg: DFF<Bit>,
    first_reg: DFF<Bit>,
    odd_reg: DFF<Bit>,
    covered_first_reg: DFF<Bit>,
    last_reg: DFF<Bit>,
    event_due: DFF<Bit>,
    code: DFF<Bits<6>>,

    looking: Signal<Local, Bit>,
    start: Signal<Local, Bit>,
    soon: Signal<Local, BuildStep>,
    row: Signal<Local, Bits<32>>,
    job: Signal<Local, AckJob>,
    emit: Signal<Local, Bit>,
    covered: Signal<Local, Bit>,
    kind: Signal<Local, Bits<2>>,
    wide: Constant<Bit>,
    extended: Constant<Bit>,
    rc: Constant<Bits<3>>,
    kind_ack: Constant<Bits<2>>,
    kind_rnr: Constant<Bits<2>>,
    tx_ack: Constant<Bits<6>>,
    tx_rnr: Constant<Bits<6>>,
    tx_nak: Constant<Bits<6>>,
}

impl<const L: usize, const V: usize> Default for AckBuilder<L, V> {
    fn default() -> Self {
        // The kernel's offsets in row word 0 and its NAK codes.
        assert_eq!((qp::SERVICE.low, qp::IPV6.low, qp::VLAN.low, qp::GID_INDEX.low), (0, 9, 10, 11));
        assert_eq!(counters::TX_NAK_OPERATION, counters::TX_NAK_SEQUENCE + 3);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
            room: Default::default(),
            advance: Default::default(),
            local_mac: Default::default(),
            gid: Default::default(),
            read_enable: Default::default(),
            read_index: Default::default(),
            read_word: Default::default(),
            read_data: Default::default(),
            word: Default::default(),
            number: Default::default(),
            word_frame: Default::default(),
            word_covered: Default::default(),
            word_first: Default::default(),
            word_odd: Default::default(),
            word_covered_first: Default::default(),
            word_last: Default::default(),
            ipv6: Default::default(),
            starting: Default::default(),
            permit: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            steps: Default::default(),
            source: Default::default(),
            checksum: Default::default(),
            words: Default::default(),
            busy: Default::default(),
            middle: Default::default(),
            now: Default::default(),
            now_second: Default::default(),
            middle_row: Default::default(),
            held: Default::default(),
            answers: Default::default(),
            six: Default::default(),
            vlan: Default::default(),
            gid_index: Default::default(),
            word_reg: Default::default(),
            number_reg: Default::default(),
            frame_reg: Default::default(),
            covered_reg: Default::default(),
            first_reg: Default::default(),
            odd_reg: Default::default(),
            covered_first_reg: Default::default(),
            last_reg: Default::default(),
            event_due: Default::default(),
            code: Default::default(),
            looking: Default::default(),
            start: Default::default(),
            soon: Default::default(),
            row: Default::default(),
            job: Default::default(),
            emit: Default::default(),
            covered: Default::default(),
            kind: Default::default(),
            wide: Constant::new(L == 2),
            extended: Constant::new(V == 1),
            rc: Constant::new(0u64.to_bits()),
            kind_ack: Constant::new(0u64.to_bits()),
            kind_rnr: Constant::new(1u64.to_bits()),
            tx_ack: Constant::new((counters::TX_ACK as u64).to_bits()),
            tx_rnr: Constant::new((counters::TX_RNR as u64).to_bits()),
            tx_nak: Constant::new((counters::TX_NAK_SEQUENCE as u64).to_bits()),
        }
    }
}

impl<const L: usize, const V: usize> Logic for AckBuilder<L, V> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            busy,
            middle,
            now,
            now_second,
            middle_row,
            held,
            answers,
            six,
            vlan,
            gid_index,
            word_reg,
            number_reg,
            frame_reg,
            covered_reg,
            first_reg,
            odd_reg,
            covered_first_reg,
            last_reg,
            event_due,
            code
        );
        clock!(self, clock, steps, source, checksum, words);

        // W = 64 takes the job at the start, W = 32 leaves it with its source until the end.
        self.looking.next = self.steps.step.val() == BuildStep::Look;
        self.start.next =
            self.looking.val() & self.ack_valid.val() & self.room.val() & !self.busy.q.val() & !self.event_due.q.val() & self.advance.val();
        self.job.next = self.ack.val();
        self.ack_ready.next =
            (self.advance.val() & (self.now.q.val() == BuildStep::Aeth) & self.now_second.q.val()) | self.steps.refused.val();
        self.read_index.next = self.ack.val().qp_index;
        if self.wide.val() {
            self.job.next = self.held.q.val();
            self.ack_ready.next = self.start.val();
            if !self.looking.val() {
                self.read_index.next = self.held.q.val().qp_index;
            }
        }
        if self.start.val() {
            self.held.d.next = self.ack.val();
        }
        if self.advance.val() {
            self.busy.d.next = !self.looking.val();
        }

        // Stage A: the step and the row word that it needs.
        self.steps.reset.next = self.reset.val();
        self.steps.start.next = self.start.val();
        self.steps.advance.next = self.advance.val();
        self.steps.six.next = self.six.q.val();
        self.steps.vlan.next = self.vlan.q.val();
        self.steps.answers.next = self.answers.q.val();
        self.read_enable.next = self.advance.val();
        self.read_word.next = self.steps.read_word.val();
        self.starting.next = self.steps.sent.val();
        self.permit.next = self.steps.permit.val();

        // The way of the row word to the word former.
        self.soon.next = self.steps.step.val();
        self.row.next = self.read_data.val();
        if self.wide.val() {
            self.soon.next = self.middle.q.val();
            self.row.next = self.middle_row.q.val();
        }
        self.middle_row.d.next = self.read_data.val();
        if self.advance.val() {
            self.middle.d.next = self.steps.step.val();
            self.now.d.next = self.soon.val();
            self.now_second.d.next = self.steps.second.val();
        }
        if self.now.q.val() == BuildStep::Look {
            self.answers.d.next = self.row.val().get_bits::<3>(0) == self.rc.val();
            if self.extended.val() {
                self.six.d.next = self.row.val().get_bit(9);
                self.vlan.d.next = self.row.val().get_bit(10);
                self.gid_index.d.next = self.row.val().get_bits::<2>(11);
            }
        }

        // Stage B: the word and the checksum's next term.
        self.source.advance.next = self.advance.val();
        self.source.gid.next = self.gid.val();
        self.source.gid_index.next = self.gid_index.q.val();
        self.source.soon.next = self.soon.val();
        self.words.advance.next = self.advance.val();
        self.words.soon.next = self.soon.val();
        self.words.now.next = self.now.q.val();
        self.words.row.next = self.row.val();
        self.words.local_mac.next = self.local_mac.val();
        self.words.source_ip.next = self.source.source_ip.val();
        self.words.job.next = self.job.val();
        self.words.sum.next = self.checksum.sum.val();
        self.words.six.next = self.six.q.val();
        self.words.vlan.next = self.vlan.q.val();
        self.checksum.load.next = self.now.q.val() == BuildStep::Look;
        self.checksum.enable.next = self.advance.val() & !self.now_second.q.val();
        self.checksum.term.next = self.words.term.val();

        self.emit.next = true;
        self.covered.next = true;
        match self.now.q.val() {
            BuildStep::Look => {
                self.emit.next = false;
                self.covered.next = false;
            }
            BuildStep::Sum => {
                self.emit.next = false;
                self.covered.next = false;
            }
            BuildStep::Eth0 => {
                self.covered.next = false;
            }
            BuildStep::Eth1 => {
                self.covered.next = false;
            }
            BuildStep::Eth2 => {
                self.covered.next = false;
            }
            BuildStep::Eth3 => {
                self.covered.next = false;
            }
            BuildStep::Eth4 => {
                self.covered.next = false;
            }
            _ => {}
        }
        if self.advance.val() {
            self.word_reg.d.next = self.words.word.val();
            self.number_reg.d.next = self.words.number.val();
            self.frame_reg.d.next = self.emit.val() & self.answers.q.val() & (self.wide.val() | self.now_second.q.val());
            self.covered_reg.d.next = self.covered.val() & self.answers.q.val() & !self.now_second.q.val();
            self.first_reg.d.next = self.now.q.val() == BuildStep::Eth0;
            self.odd_reg.d.next = self.six.q.val() == self.vlan.q.val();
            self.covered_first_reg.d.next = (self.now.q.val() == BuildStep::Four5) | (self.now.q.val() == BuildStep::Six0);
            self.last_reg.d.next = self.now.q.val() == BuildStep::Aeth;
        }
        self.word.next = self.word_reg.q.val();
        self.number.next = self.number_reg.q.val();
        self.word_frame.next = self.frame_reg.q.val();
        self.word_covered.next = self.covered_reg.q.val();
        self.word_first.next = self.first_reg.q.val();
        self.word_odd.next = self.odd_reg.q.val();
        self.word_covered_first.next = self.covered_first_reg.q.val();
        self.word_last.next = self.last_reg.q.val();
        self.ipv6.next = self.six.q.val();

        // The event: one a frame, by the AETH syndrome.
        self.kind.next = self.job.val().syndrome.get_bits::<2>(5);
        if self.event_due.q.val() & self.event_ready.val() {
            self.event_due.d.next = false;
        }
        if self.steps.sent.val() {
            self.event_due.d.next = true;
            self.code.d.next = self.tx_nak.val() + bit_cast::<6, 2>(self.job.val().syndrome.get_bits::<2>(0));
            if self.kind.val() == self.kind_ack.val() {
                self.code.d.next = self.tx_ack.val();
            }
            if self.kind.val() == self.kind_rnr.val() {
                self.code.d.next = self.tx_rnr.val();
            }
        }
        self.event_valid.next = self.event_due.q.val();
        self.event_code.next = self.code.q.val();

        if self.reset.val() {
            self.middle.d.next = BuildStep::Look;
            self.now.d.next = BuildStep::Look;
            self.now_second.d.next = false;
            self.busy.d.next = false;
            self.frame_reg.d.next = false;
            self.covered_reg.d.next = false;
            self.event_due.d.next = false;
        }
    }

    crate::block_name!();
}
