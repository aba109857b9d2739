// SPDX-License-Identifier: MIT OR Apache-2.0
//! The control path: what a received packet does, from its head to a write job, a retire entry and a counter.
//!
//! ```text
//! head ─► opcode ─► decide ◄─ psn_window ◄─┐
//!   │        │         ▼                   │ words
//!   ├─► demux ◄──── sequencer ─► message ◄─┼─ receive state RAM ◄─ write_back ◄─ answer
//!   │     ▲ words      │  ▲         ▼      │                                       │
//!   │  row RAM         │  └── mem::Keys    └─► receive_queue ◄─► DescriptorReader  │
//!   │     ▲ host       ▼                            ▲                              ▼
//!   └─────┴──────── leave ─► job, entry, event   house ◄─ commands, doorbells, errors
//! ```
//!
//! One packet or one housekeeping step at a time, so each RAM has one reader and one writer. Job, entry and event are wired from the head and few
//! registers. `head_valid` to `head_next`: WRITE ONLY 15 cycles, MIDDLE and LAST 18, WRITE FIRST 19; SEND 29 and the WQE's latency.
//!
//! `RA` must be `QA + 4`, `SA` `QA + 3`, `SC` one more than `SA`.

use super::answer::Answer;
use super::decide::Decide;
use super::features::Features;
use super::house::House;
use super::leave::Leave;
use super::message::Message;
use super::opcode::Opcode;
use super::psn_window::PsnWindow;
use super::receive_queue::ReceiveQueue;
use super::sequencer::Sequencer;
use super::verdict::Verdict;
use super::write_back::{WriteBack, WriteSelect};
use super::RetireEntry;
use crate::mem::WriteJob;
use crate::qp::{Demux, ReceiveState, RowRam};
use crate::rx::PacketHead;
use rust_hdl::prelude::*;
use verbena_spec::layout::{completion_opcode, event_type, state};

#[derive(LogicBlock)]
pub struct Control<const QA: usize, const RA: usize, const SA: usize, const SC: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub head: Signal<In, PacketHead>,
    pub head_valid: Signal<In, Bit>,
    pub head_next: Signal<Out, Bit>,
    /// Host writes of QP row words: index · 32 + word.
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    /// Receive queue doorbells; held until ready, which comes when the doorbell has acted.
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_index: Signal<In, Bits<12>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    pub doorbell_ready: Signal<Out, Bit>,
    /// Modify (1) and query (2) QP; held until done. `command_refused` counts in the done cycle, results stay until the next query.
    pub command_valid: Signal<In, Bit>,
    pub command_operation: Signal<In, Bits<4>>,
    pub command_index: Signal<In, Bits<12>>,
    pub command_state: Signal<In, Bits<4>>,
    pub command_done: Signal<Out, Bit>,
    pub command_refused: Signal<Out, Bit>,
    pub result0: Signal<Out, Bits<32>>,
    pub result1: Signal<Out, Bits<32>>,
    pub result2: Signal<Out, Bits<32>>,
    /// From retire: this QP goes to ERR.
    pub qp_error_valid: Signal<In, Bit>,
    pub qp_error_index: Signal<In, Bits<12>>,
    pub qp_error_ready: Signal<Out, Bit>,
    /// From the requester: this QP goes to ERR. (It raises its event itself.)
    pub requester_error_valid: Signal<In, Bit>,
    pub requester_error_index: Signal<In, Bits<12>>,
    pub requester_error_ready: Signal<Out, Bit>,
    /// From the READ responder: this QP goes to ERR. (It raises its event itself.)
    pub read_error_valid: Signal<In, Bit>,
    pub read_error_index: Signal<In, Bits<12>>,
    pub read_error_ready: Signal<Out, Bit>,
    /// Retire holds no entry: a QP's RESET waits for that once.
    pub retire_idle: Signal<In, Bit>,
    /// To the requester: this QP's state has changed, by command or error; before the command is done, and before the next packet.
    pub state_valid: Signal<Out, Bit>,
    pub state_index: Signal<Out, Bits<12>>,
    pub state: Signal<Out, Bits<3>>,
    pub state_ready: Signal<In, Bit>,
    /// To the requester: the head is a response for a QP in RTS or SQD. Held until done; with `response_placed` the frame is released by the requester.
    pub response_valid: Signal<Out, Bit>,
    pub response_done: Signal<In, Bit>,
    pub response_code: Signal<In, Bits<6>>,
    pub response_placed: Signal<In, Bit>,
    /// To the READ responder: the head is a READ or ATOMIC request, or a duplicate of one. Held until done.
    pub request_valid: Signal<Out, Bit>,
    pub request_index: Signal<Out, Bits<12>>,
    pub request_duplicate: Signal<Out, Bit>,
    pub request_msn: Signal<Out, Bits<24>>,
    pub request_done: Signal<In, Bit>,
    pub request_verdict: Signal<In, Bits<3>>,
    pub request_psns: Signal<In, Bits<24>>,
    /// To the reorder station: the head is a request beyond ePSN, of a QP that has the attribute. Held until done. PSN - ePSN, and whether a NAK stands.
    pub hold_valid: Signal<Out, Bit>,
    pub hold_distance: Signal<Out, Bits<24>>,
    pub hold_standing: Signal<Out, Bit>,
    pub nak_distance: Signal<Out, Bits<6>>,
    pub nak_delay: Signal<Out, Bits<12>>,
    pub hold_done: Signal<In, Bit>,
    pub hold_nak: Signal<In, Bit>,
    pub hold_code: Signal<In, Bits<6>>,
    /// The head is there only to answer a gap: nothing is executed or counted.
    pub probe: Signal<In, Bit>,
    /// A packet is under way. With `head_next`: ePSN of its QP, and whether it has moved; by more than one, perhaps, for a READ or ATOMIC.
    pub packet_busy: Signal<Out, Bit>,
    pub packet_psn: Signal<Out, Bits<24>>,
    pub packet_moved: Signal<Out, Bit>,
    pub packet_jumped: Signal<Out, Bit>,
    /// With `head_next`: the head is marked, and passed the checks of an RC or UC QP, the head's (R76).
    pub marked: Signal<Out, Bit>,
    /// With `head_next`: the head is a CNP for its QP.
    pub noticed: Signal<Out, Bit>,
    /// `mem::Keys`: one cycle of start; inputs hold until done; the outputs are looked at in the done cycle only. Op 0 check, 1 invalidate.
    /// With the start counts the key alone, a cycle later length, PD and access, two later the address's lower half, three later its upper half.
    /// Access one-hot: local write, remote write, remote read, remote atomic.
    pub key_start: Signal<Out, Bit>,
    pub key_op: Signal<Out, Bits<1>>,
    pub key: Signal<Out, Bits<32>>,
    pub key_va: Signal<Out, Bits<64>>,
    pub key_length: Signal<Out, Bits<32>>,
    pub key_pd: Signal<Out, Bits<16>>,
    pub key_access: Signal<Out, Bits<4>>,
    pub key_done: Signal<In, Bit>,
    pub key_ok: Signal<In, Bit>,
    pub key_paged: Signal<In, Bit>,
    pub key_address: Signal<In, Bits<64>>,
    /// `mem::DescriptorReader`: one cycle of start. Its first word is looked at, and `fetch_next` turns the next one to the front, four times
    /// for a round; the words hold until the next start.
    pub fetch_start: Signal<Out, Bit>,
    pub fetch_address: Signal<Out, Bits<64>>,
    pub fetch_done: Signal<In, Bit>,
    pub fetch_error: Signal<In, Bit>,
    pub fetch_word: Signal<In, Bits<32>>,
    pub fetch_next: Signal<Out, Bit>,
    /// To the DMA writer: exactly one with `release` a head.
    pub job: Signal<Out, WriteJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    /// To retire, after or with the jobs of its packet, where the packet has an effect or a job.
    pub entry: Signal<Out, RetireEntry>,
    pub entry_valid: Signal<Out, Bit>,
    pub entry_ready: Signal<In, Bit>,
    /// Exactly one counter event a head.
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    /// The tables are cleared.
    pub ready: Signal<Out, Bit>,
    rows: RowRam<QA, RA>,
    states: ReceiveState<QA, SA, SC>,
    demux: Demux<QA>,
    opcode: Opcode,
    window: PsnWindow,
    decide: Decide,
    message: Message,
    queue: ReceiveQueue,
    sequencer: Sequencer,
    house: House<QA>,
    answer: Answer,
    write_back: WriteBack,
    leave: Leave,
    place_low: DFF<Bits<32>>,
    place_high: DFF<Bits<32>>,
    place_paged: DFF<Bit>,
    /// The state word, one message or one receive WQE further: MSN, later the ring.
    raised: DFF<Bits<32>>,
    /// What is raised is the ring: housekeeping, or what leaves has left.
    late: DFF<Bit>,
    /// The state RAM's word; a serial engine raises it without.
    word_late: DFF<Bits<32>>,
    length_kept: DFF<Bits<14>>,
    response_code_kept: DFF<Bits<6>>,
    hold_code_kept: DFF<Bits<6>>,
    packet_go: Signal<Local, Bit>,
    at_home: Signal<Local, Bit>,
    /// A marked head has passed the demux; a cycle late.
    marked_passed: DFF<Bit>,
    notice_passed: DFF<Bit>,
    /// A request is with the READ responder; a cycle late, long before and after the MSN matters.
    asked: DFF<Bit>,
    /// The house works on a doorbell; a cycle late.
    posting: DFF<Bit>,
    index: Signal<Local, Bits<QA>>,
    state_read: Signal<Local, Bit>,
    state_item: Signal<Local, Bits<3>>,
    row_read: Signal<Local, Bit>,
    row_item: Signal<Local, Bits<5>>,
    first_pass: Signal<Local, Bit>,
    length: Signal<Local, Bits<14>>,
    completes: Signal<Local, Bit>,
    payload_job: Signal<Local, Bit>,
    jobs: Signal<Local, Bits<2>>,
    select: Signal<Local, WriteSelect>,
    producer: Signal<Local, Bits<16>>,
    message_ends: Signal<Local, Bit>,
    ringing: Signal<Local, Bit>,
    consumes: Signal<Local, Bit>,
    to_raise: Signal<Local, Bits<32>>,
    posted: Signal<Local, Bits<32>>,
    serial: Constant<Bit>,
    upper_half: Constant<Bits<32>>,
    answer_psn: Signal<Local, Bits<24>>,
    /// ePSN of the cycle before, less one.
    last_psn: DFF<Bits<24>>,
    immediate: Signal<Local, Bits<32>>,
    rc: Signal<Local, Bit>,
    behind: Signal<Local, Bit>,
    second: Signal<Local, Bit>,
    has_ud: Constant<Bit>,
    /// Every packet that is some QP's is RC.
    only_rc: Constant<Bit>,
    has_requester: Constant<Bit>,
    has_reads: Constant<Bit>,
    has_reorder: Constant<Bit>,
    code_later: Constant<Bits<6>>,
    address_low: Constant<Bits<32>>,
    address_high: Constant<Bits<32>>,
    grh_bytes: Constant<Bits<14>>,
    one: Constant<Bits<2>>,
    two: Constant<Bits<2>>,
    access_local: Constant<Bits<4>>,
    access_remote: Constant<Bits<4>>,
    opcode_receive: Constant<Bits<8>>,
    opcode_immediate: Constant<Bits<8>>,
    in_rtr: Constant<Bits<3>>,
    in_rts: Constant<Bits<3>>,
    in_sqd: Constant<Bits<3>>,
    in_err: Constant<Bits<3>>,
    fatal_event: Constant<Bits<8>>,
    doorbell_event: Constant<Bits<8>>,
}

impl<const QA: usize, const RA: usize, const SA: usize, const SC: usize> Control<QA, RA, SA, SC> {
    pub fn new(features: Features) -> Self {
        let address_mask = features.address_mask();
        Self {
            clock: Default::default(),
            reset: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            head_next: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            doorbell_valid: Default::default(),
            doorbell_index: Default::default(),
            doorbell_producer: Default::default(),
            doorbell_ready: Default::default(),
            command_valid: Default::default(),
            command_operation: Default::default(),
            command_index: Default::default(),
            command_state: Default::default(),
            command_done: Default::default(),
            command_refused: Default::default(),
            result0: Default::default(),
            result1: Default::default(),
            result2: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_index: Default::default(),
            qp_error_ready: Default::default(),
            requester_error_valid: Default::default(),
            requester_error_index: Default::default(),
            requester_error_ready: Default::default(),
            read_error_valid: Default::default(),
            read_error_index: Default::default(),
            read_error_ready: Default::default(),
            retire_idle: Default::default(),
            state_valid: Default::default(),
            state_index: Default::default(),
            state: Default::default(),
            state_ready: Default::default(),
            response_valid: Default::default(),
            response_done: Default::default(),
            response_code: Default::default(),
            response_placed: Default::default(),
            request_valid: Default::default(),
            request_index: Default::default(),
            request_duplicate: Default::default(),
            request_msn: Default::default(),
            request_done: Default::default(),
            request_verdict: Default::default(),
            request_psns: Default::default(),
            hold_valid: Default::default(),
            hold_distance: Default::default(),
            hold_standing: Default::default(),
            nak_distance: Default::default(),
            nak_delay: Default::default(),
            hold_done: Default::default(),
            hold_nak: Default::default(),
            hold_code: Default::default(),
            probe: Default::default(),
            packet_busy: Default::default(),
            packet_psn: Default::default(),
            packet_moved: Default::default(),
            packet_jumped: Default::default(),
            marked: Default::default(),
            noticed: Default::default(),
            key_start: Default::default(),
            key_op: Default::default(),
            key: Default::default(),
            key_va: Default::default(),
            key_length: Default::default(),
            key_pd: Default::default(),
            key_access: Default::default(),
            key_done: Default::default(),
            key_ok: Default::default(),
            key_paged: Default::default(),
            key_address: Default::default(),
            fetch_start: Default::default(),
            fetch_address: Default::default(),
            fetch_done: Default::default(),
            fetch_error: Default::default(),
            fetch_word: Default::default(),
            fetch_next: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            entry: Default::default(),
            entry_valid: Default::default(),
            entry_ready: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            ready: Default::default(),
            rows: Default::default(),
            states: Default::default(),
            demux: Demux::new(features.uc, features.ud, features.ipv6, features.serial),
            opcode: Default::default(),
            window: Default::default(),
            decide: Decide::new(features.reads),
            message: Message::new(features.serial),
            queue: ReceiveQueue::new(address_mask),
            sequencer: Sequencer::new(features.serial, features.requester, features.reads, features.reorder),
            house: House::new(features.requester, features.reads),
            answer: Default::default(),
            write_back: Default::default(),
            leave: Default::default(),
            place_low: Default::default(),
            place_high: Default::default(),
            place_paged: Default::default(),
            raised: Default::default(),
            late: Default::default(),
            word_late: Default::default(),
            length_kept: Default::default(),
            response_code_kept: Default::default(),
            hold_code_kept: Default::default(),
            packet_go: Default::default(),
            at_home: Default::default(),
            posting: Default::default(),
            marked_passed: Default::default(),
            notice_passed: Default::default(),
            asked: Default::default(),
            index: Default::default(),
            state_read: Default::default(),
            state_item: Default::default(),
            row_read: Default::default(),
            row_item: Default::default(),
            first_pass: Default::default(),
            length: Default::default(),
            completes: Default::default(),
            payload_job: Default::default(),
            jobs: Default::default(),
            select: Default::default(),
            producer: Default::default(),
            message_ends: Default::default(),
            ringing: Default::default(),
            consumes: Default::default(),
            to_raise: Default::default(),
            posted: Default::default(),
            serial: Constant::new(features.serial),
            upper_half: Constant::new(0xffff_0000u64.to_bits()),
            answer_psn: Default::default(),
            last_psn: Default::default(),
            immediate: Default::default(),
            rc: Default::default(),
            behind: Default::default(),
            second: Default::default(),
            has_ud: Constant::new(features.ud),
            only_rc: Constant::new(!features.uc && !features.ud),
            has_requester: Constant::new(features.requester),
            has_reads: Constant::new(features.reads),
            has_reorder: Constant::new(features.reorder),
            code_later: Constant::new((verbena_spec::counters::LATER as u64).to_bits()),
            address_low: Constant::new((address_mask & 0xffff_ffff).to_bits()),
            address_high: Constant::new((address_mask >> 32).to_bits()),
            grh_bytes: Constant::new(40u64.to_bits()),
            one: Constant::new(1u64.to_bits()),
            two: Constant::new(2u64.to_bits()),
            access_local: Constant::new(1u64.to_bits()),
            access_remote: Constant::new(2u64.to_bits()),
            opcode_receive: Constant::new((completion_opcode::RECV as u64).to_bits()),
            opcode_immediate: Constant::new((completion_opcode::RECV_RDMA_WITH_IMM as u64).to_bits()),
            in_rtr: Constant::new((state::RTR as u64).to_bits()),
            in_rts: Constant::new((state::RTS as u64).to_bits()),
            in_sqd: Constant::new((state::SQD as u64).to_bits()),
            in_err: Constant::new((state::ERR as u64).to_bits()),
            fatal_event: Constant::new((event_type::QP_FATAL as u64).to_bits()),
            doorbell_event: Constant::new((event_type::BAD_DOORBELL as u64).to_bits()),
        }
    }
}

impl<const QA: usize, const RA: usize, const SA: usize, const SC: usize> Logic for Control<QA, RA, SA, SC> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            place_low,
            place_high,
            place_paged,
            raised,
            late,
            word_late,
            length_kept,
            response_code_kept,
            hold_code_kept,
            last_psn,
            posting,
            marked_passed,
            notice_passed,
            asked
        );
        clock!(self, clock, rows, states, opcode, demux, window, decide, message, queue, sequencer, house, answer, write_back, leave);
        self.states.reset.next = self.reset.val();
        self.demux.reset.next = self.reset.val();
        self.queue.reset.next = self.reset.val();
        self.sequencer.reset.next = self.reset.val();
        self.house.reset.next = self.reset.val();
        self.leave.reset.next = self.reset.val();
        self.write_back.reset.next = self.reset.val();

        // Whose turn: a packet's, or housekeeping's.
        self.at_home.next = self.house.at_home.val();
        self.posting.d.next = self.house.at_home.val() & self.house.posting.val();
        self.sequencer.at_home.next = self.house.at_home.val();
        self.packet_go.next = self.states.ready.val()
            & self.head_valid.val()
            & self.house.idle.val()
            & self.sequencer.idle.val()
            & !(self.house.want.val() & self.house.turn.val());
        self.house.go.next =
            self.states.ready.val() & self.sequencer.idle.val() & self.house.want.val() & (self.house.turn.val() | !self.head_valid.val());
        self.sequencer.go.next = self.packet_go.val();
        self.ready.next = self.states.ready.val();
        self.head_next.next = self.sequencer.head_next.val();
        self.house.packet_over.next = self.sequencer.head_next.val();
        self.house.flush_request.next = self.sequencer.flush_request.val();

        // The opcode, for all.
        self.opcode.opcode.next = self.head.val().opcode;
        self.completes.next = self.opcode.finish.val() & (self.opcode.send.val() | self.opcode.immediate.val());
        self.rc.next = self.opcode.rc.val() | self.only_rc.val();
        self.sequencer.rc.next = self.rc.val();
        self.sequencer.datagram.next = self.opcode.datagram.val() & self.has_ud.val();
        self.sequencer.send.next = self.opcode.send.val();
        self.sequencer.write.next = self.opcode.write.val();
        self.sequencer.start.next = self.opcode.start.val();
        self.sequencer.finish.next = self.opcode.finish.val();
        self.sequencer.immediate.next = self.opcode.immediate.val();
        self.sequencer.invalidate.next = self.opcode.invalidate.val();
        self.sequencer.response.next = self.opcode.response.val();
        self.decide.answered.next = self.opcode.answered.val();
        self.decide.atomic.next = self.head.val().opcode.get_bit(4);
        self.decide.rc.next = self.rc.val();
        self.decide.datagram.next = self.opcode.datagram.val() & self.has_ud.val();
        self.decide.send.next = self.opcode.send.val();
        self.decide.write.next = self.opcode.write.val();
        self.decide.start.next = self.opcode.start.val();
        self.decide.finish.next = self.opcode.finish.val();
        self.decide.response.next = self.opcode.response.val();

        // Rows.
        self.index.next = self.head.val().qpn.get_bits::<QA>(0);
        if self.at_home.val() {
            self.index.next = self.house.index.val();
        }
        self.row_read.next = self.demux.read.val() | self.sequencer.row_read.val() | self.house.row_read.val() | self.queue.row_read.val();
        self.row_item.next = self.demux.item.val();
        if self.sequencer.row_read.val() {
            self.row_item.next = self.sequencer.row_item.val();
        }
        if self.at_home.val() {
            self.row_item.next = self.house.row_item.val();
        }
        if self.queue.row_read.val() {
            self.row_item.next = self.queue.row_item.val();
        }
        self.rows.table_valid.next = self.table_valid.val();
        self.rows.table_address.next = self.table_address.val();
        self.rows.table_data.next = self.table_data.val();
        self.table_ready.next = self.rows.table_ready.val();
        self.rows.read.next = self.row_read.val();
        self.rows.index.next = self.index.val();
        self.rows.item.next = self.row_item.val();

        // Receive state.
        self.state_read.next = self.sequencer.state_read.val() | self.house.state_read.val() | self.queue.state_read.val();
        self.state_item.next = self.sequencer.state_item.val();
        if self.at_home.val() {
            self.state_item.next = self.house.state_item.val();
        }
        self.states.index.next = self.index.val();
        self.states.read.next = self.state_read.val();
        self.states.read_item.next = self.state_item.val();
        self.states.write.next = self.write_back.write.val();
        self.states.write_item.next = self.write_back.write_item.val();
        self.states.write_data.next = self.write_back.write_data.val();

        // Is it this QP's?
        self.demux.start.next = self.packet_go.val();
        self.demux.head.next = self.head.val();
        self.demux.live.next = (self.window.state.val() == self.in_rtr.val())
            | (self.window.state.val() == self.in_rts.val())
            | (self.window.state.val() == self.in_sqd.val());
        self.demux.exists.next = self.window.state.val().any();
        self.demux.word.next = self.rows.word.val();
        self.sequencer.demux_done.next = self.demux.done.val();
        self.sequencer.demux_fail.next = self.demux.fail.val();

        // R76: whatever becomes of the packet.
        self.marked_passed.d.next =
            self.head.val().marked & self.demux.done.val() & !self.demux.fail.val() & !(self.opcode.datagram.val() & self.has_ud.val());
        self.marked.next = self.marked_passed.q.val() & self.sequencer.head_next.val();
        self.notice_passed.d.next = self.demux.done.val() & self.demux.notice.val();
        self.noticed.next = self.notice_passed.q.val() & self.sequencer.head_next.val();

        // Is it in order, and may it do that?
        self.window.load.next = self.sequencer.window_load.val() | self.house.window_load.val();
        self.house.window_state.next = self.window.state.val();
        self.house.window_message.next = self.window.message.val();
        self.house.window_nak.next = self.window.nak.val();
        self.house.window_read_behind.next = self.window.read_behind.val();
        self.house.window_pivot.next = self.window.pivot.val();
        self.window.adopt.next = self.sequencer.window_adopt.val() & !self.only_rc.val();
        self.window.renew.next = self.house.window_renew.val();
        self.window.jump.next = self.sequencer.jump.val() & self.has_reads.val();
        self.window.psns.next = self.request_psns.val();
        self.window.word.next = self.states.word.val();
        self.window.row_word.next = self.rows.word.val();
        self.window.psn.next = self.head.val().psn;
        self.decide.payload_length.next = self.head.val().payload_length;
        self.decide.pad_count.next = self.head.val().pad_count;
        self.decide.dma_length.next = self.head.val().xth3;
        self.decide.pmtu.next = self.demux.pmtu.val();
        self.decide.remote_write.next = self.demux.remote_write.val();
        self.decide.remote_read.next = self.demux.remote_read.val();
        self.decide.remote_atomic.next = self.demux.remote_atomic.val();
        self.decide.equal.next = self.window.equal.val();
        self.decide.earlier.next = self.window.earlier.val();
        self.decide.nak.next = self.window.nak.val();
        self.decide.message.next = self.window.message.val();
        self.sequencer.execute.next = self.decide.execute.val();
        self.sequencer.hands.next = self.decide.hands.val();
        self.sequencer.judgement.next = self.decide.verdict.val();
        self.sequencer.requesting.next = (self.window.state.val() == self.in_rts.val()) | (self.window.state.val() == self.in_sqd.val());

        // Where does it go?
        self.first_pass.next = self.opcode.datagram.val() & self.has_ud.val() & !self.sequencer.second.val();
        self.length_kept.d.next = self.head.val().payload_length;
        if self.first_pass.val() {
            self.length_kept.d.next = self.head.val().payload_length + self.grh_bytes.val();
        }
        self.length.next = self.head.val().payload_length;
        if self.has_ud.val() {
            self.length.next = self.length_kept.q.val();
        }
        self.message.source.next = self.sequencer.source.val();
        self.message.item.next = self.sequencer.item.val();
        self.message.state_word.next = self.states.word.val();
        self.message.xth0.next = self.head.val().xth0;
        self.message.xth1.next = self.head.val().xth1;
        self.message.xth2.next = self.head.val().xth2;
        self.message.xth3.next = self.head.val().xth3;
        self.message.fetch_word.next = self.fetch_word.val();
        self.fetch_next.next = self.sequencer.fetch_next.val();
        self.message.length.next = self.length.val();
        self.message.take_key.next = self.sequencer.take_key.val();
        self.message.clear.next = self.sequencer.clear.val();
        self.message.load_grh.next = self.sequencer.load_grh.val() & self.has_ud.val();
        self.message.load_base.next = self.sequencer.load_base.val();
        self.message.load_low.next = self.sequencer.load_low.val();
        self.message.load_high.next = self.sequencer.load_high.val();
        self.message.compare.next = self.sequencer.compare.val();
        self.message.compare_again.next = self.sequencer.compare_again.val();
        self.sequencer.long.next = self.message.long.val();
        self.sequencer.enough.next = self.message.enough.val();

        self.key_start.next = self.sequencer.key_start.val();
        self.key_op.next = 0.into();
        if self.sequencer.key_op.val() {
            self.key_op.next = 1.into();
        }
        self.key.next = self.message.key.val();
        self.key_va.next = bit_cast::<64, 32>(self.message.address_low.val()) | (bit_cast::<64, 32>(self.message.address_high.val()) << 32);
        self.key_length.next = bit_cast::<32, 14>(self.length.val());
        self.key_access.next = self.access_local.val();
        if self.opcode.write.val() {
            self.key_access.next = self.access_remote.val();
            // R52: the whole WRITE is checked at its first packet.
            if self.opcode.start.val() {
                self.key_length.next = self.head.val().xth3;
            }
        }
        self.key_pd.next = self.demux.pd.val();
        self.sequencer.key_done.next = self.key_done.val();
        self.sequencer.key_ok.next = self.key_ok.val();
        if self.key_done.val() {
            self.place_low.d.next = self.key_address.val().get_bits::<32>(0) & self.address_low.val();
            self.place_high.d.next = self.key_address.val().get_bits::<32>(32) & self.address_high.val();
            self.place_paged.d.next = self.key_paged.val();
        }

        // The receive queue. Its word is registered first where the clock is fast.
        self.word_late.d.next = self.states.word.val();
        self.to_raise.next = self.word_late.q.val();
        if self.serial.val() {
            self.to_raise.next = self.states.word.val();
        }
        self.queue.start.next = self.sequencer.queue_start.val() | self.house.queue_start.val();
        self.queue.fetch.next = self.sequencer.queue_fetch.val() & !self.at_home.val();
        self.producer.next = self.to_raise.val().get_bits::<16>(0);
        if self.posting.q.val() {
            self.producer.next = self.doorbell_producer.val();
        }
        self.queue.producer.next = self.producer.val();
        self.queue.state_word.next = self.to_raise.val();
        self.queue.row_word.next = self.rows.word.val();
        self.queue.fetch_done.next = self.fetch_done.val();
        self.queue.fetch_error.next = self.fetch_error.val();
        self.fetch_start.next = self.queue.fetch_start.val();
        self.fetch_address.next =
            bit_cast::<64, 32>(self.queue.fetch_address_low.val()) | (bit_cast::<64, 32>(self.queue.fetch_address_high.val()) << 32);
        self.sequencer.queue_done.next = self.queue.done.val();
        self.sequencer.queue_empty.next = self.queue.empty.val();
        self.sequencer.queue_error.next = self.queue.error.val();
        self.house.queue_done.next = self.queue.done.val();
        self.house.queue_empty.next = self.queue.empty.val();
        self.house.queue_beyond.next = self.queue.beyond.val();

        // Housekeeping.
        self.house.command_valid.next = self.command_valid.val();
        self.house.command_operation.next = self.command_operation.val();
        self.house.command_index.next = self.command_index.val();
        self.house.command_state.next = self.command_state.val();
        self.command_done.next = self.house.command_done.val();
        self.command_refused.next = self.house.command_refused.val();
        self.result0.next = self.house.result0.val();
        self.result1.next = self.house.result1.val();
        self.result2.next = self.house.result2.val();
        self.house.doorbell_valid.next = self.doorbell_valid.val();
        self.house.doorbell_index.next = self.doorbell_index.val();
        self.doorbell_ready.next = self.house.doorbell_ready.val();
        self.house.qp_error_valid.next = self.qp_error_valid.val();
        self.house.qp_error_index.next = self.qp_error_index.val();
        self.qp_error_ready.next = self.house.qp_error_ready.val();
        self.house.requester_error_valid.next = self.requester_error_valid.val();
        self.house.requester_error_index.next = self.requester_error_index.val();
        self.requester_error_ready.next = self.house.requester_error_ready.val();
        self.house.read_error_valid.next = self.read_error_valid.val();
        self.house.read_error_index.next = self.read_error_index.val();
        self.read_error_ready.next = self.house.read_error_ready.val();
        self.house.retire_idle.next = self.retire_idle.val();
        self.house.state_word.next = self.states.word.val();
        self.house.row_word.next = self.rows.word.val();
        self.house.leave_idle.next = self.leave.idle.val();

        // The requester.
        self.state_valid.next = self.sequencer.state_valid.val() | self.house.state_valid.val();
        self.state_index.next = self.head.val().qpn.get_bits::<12>(0);
        self.state.next = self.in_err.val();
        if self.at_home.val() {
            self.state_index.next = self.house.state_index.val();
            self.state.next = self.house.target.val();
        }
        self.sequencer.state_ready.next = self.state_ready.val();
        self.house.state_ready.next = self.state_ready.val();
        self.response_valid.next = self.sequencer.response_valid.val();
        self.sequencer.response_done.next = self.response_done.val();
        self.sequencer.response_placed.next = self.response_placed.val();
        if self.response_done.val() {
            self.response_code_kept.d.next = self.response_code.val();
        }

        // The READ responder.
        self.request_valid.next = self.sequencer.request_valid.val();
        self.request_index.next = self.head.val().qpn.get_bits::<12>(0);
        self.request_duplicate.next = !self.window.equal.val();
        self.request_msn.next = self.raised.q.val().get_bits::<24>(0);
        self.sequencer.again.next = !self.window.equal.val();
        self.sequencer.request_done.next = self.request_done.val();
        self.sequencer.request_verdict.next = self.request_verdict.val();
        self.behind.next = self.window.read_behind.val() & self.has_reads.val();
        self.sequencer.read_behind.next = self.behind.val();
        self.sequencer.repeats.next = self.answer.duplicate.val() & self.behind.val();
        self.sequencer.served.next = self.answer.served.val();

        // The reorder station.
        self.sequencer.holds.next = self.demux.reorder.val();
        self.sequencer.probe.next = self.probe.val();
        self.hold_valid.next = self.sequencer.hold_valid.val();
        self.hold_distance.next = self.window.ahead.val();
        self.hold_standing.next = self.window.nak.val();
        self.nak_distance.next = self.rows.word.val().get_bits::<6>(0);
        self.nak_delay.next = self.rows.word.val().get_bits::<12>(8);
        self.sequencer.hold_done.next = self.hold_done.val();
        self.sequencer.hold_nak.next = self.hold_nak.val();
        if self.hold_done.val() {
            self.hold_code_kept.d.next = self.hold_code.val();
        }
        self.packet_busy.next = !self.sequencer.idle.val();
        self.packet_psn.next = self.write_back.psn_after.val();
        self.packet_moved.next = self.answer.advance.val() | self.answer.served.val();
        self.packet_jumped.next = self.answer.served.val();

        // What it leads to.
        self.sequencer.home_verdict.next = self.house.verdict.val();
        self.select.next = self.sequencer.select.val();
        if self.at_home.val() {
            self.select.next = self.house.select.val();
        }
        self.answer.verdict.next = self.sequencer.verdict.val();
        self.answer.rc.next = self.rc.val();
        self.answer.completes.next = self.completes.val();
        self.answer.ack_request.next = self.head.val().ack_request & self.rc.val();
        self.answer.rnr_timer.next = self.demux.rnr_timer.val();
        self.answer.drop_code.next = self.demux.code.val();
        if self.has_requester.val() & (self.sequencer.verdict.val() == Verdict::Response) {
            self.answer.drop_code.next = self.response_code_kept.q.val();
        }
        if self.has_reorder.val() & ((self.sequencer.verdict.val() == Verdict::Early) | (self.sequencer.verdict.val() == Verdict::EarlyNak))
        {
            self.answer.drop_code.next = self.hold_code_kept.q.val();
        }
        self.sequencer.changes.next = self.answer.changes.val();
        self.sequencer.executed.next = self.answer.executed.val();
        self.sequencer.complete.next = self.answer.complete.val();
        self.sequencer.fatal.next = self.answer.fatal.val();

        self.ringing.next = self.at_home.val() | self.sequencer.consume.val();
        self.posted.next = self.to_raise.val();
        if self.posting.q.val() {
            self.posted.next = (self.to_raise.val() & self.upper_half.val()) | bit_cast::<32, 16>(self.producer.val());
        }
        // R37: messages, not packets.
        self.asked.d.next = self.sequencer.asking.val();
        self.late.d.next = self.at_home.val() | self.sequencer.place.val();
        self.message_ends.next = ((self.answer.executed.val() & self.opcode.finish.val())
            | (self.asked.q.val() & self.window.equal.val())
            | self.answer.served.val())
            & !self.late.q.val();
        self.consumes.next = self.late.q.val() & !self.posting.q.val();
        if self.sequencer.msn_load.val() | self.ringing.val() {
            self.raised.d.next = self.posted.val()
                + (bit_cast::<32, 1>(self.message_ends.val().into()) | (bit_cast::<32, 1>(self.consumes.val().into()) << 16));
        }
        self.write_back.select.next = self.select.val();
        self.write_back.held.next = self.message.held.val();
        self.write_back.item.next = self.sequencer.item.val();
        self.write_back.at_home.next = self.at_home.val();
        self.write_back.home_flags.next = self.house.flags.val();
        self.write_back.pivot.next = self.window.pivot.val();
        self.write_back.state.next = self.window.state.val();
        self.write_back.message.next = self.window.message.val();
        self.write_back.send.next = self.opcode.send.val();
        self.write_back.finish.next = self.opcode.finish.val();
        self.write_back.advance.next = self.answer.advance.val();
        self.write_back.executed.next = self.answer.executed.val();
        self.write_back.stands.next = self.answer.stands.val();
        self.write_back.fatal.next = self.answer.fatal.val();
        self.write_back.read_behind.next = self.behind.val();
        self.write_back.served.next = self.answer.served.val();
        self.write_back.raised.next = self.raised.q.val();
        self.write_back.so_far.next = self.message.so_far.val();

        // Out.
        self.payload_job.next = self.head.val().payload_length.any() & (self.answer.executed.val() | self.sequencer.placed.val());
        self.second.next = self.sequencer.second.val() & self.has_ud.val();
        self.jobs.next = 0.into();
        if self.payload_job.val() {
            self.jobs.next = self.one.val();
        }
        if self.second.val() {
            self.jobs.next = self.one.val();
            if self.payload_job.val() {
                self.jobs.next = self.two.val();
            }
        }
        self.sequencer.effect.next = self.answer.respond.val()
            | self.answer.complete.val()
            | self.answer.raise.val()
            | self.answer.served.val()
            | self.jobs.val().any();
        self.leave.push_job.next = self.sequencer.push_job.val();
        self.leave.push_entry.next = self.sequencer.push_entry.val() | self.house.push_entry.val();
        self.leave.push_event.next = self.sequencer.push_event.val();
        self.sequencer.leave_idle.next = self.leave.idle.val();
        self.leave.job_ready.next = self.job_ready.val();
        self.leave.entry_ready.next = self.entry_ready.val();
        self.leave.event_ready.next = self.event_ready.val();
        self.job_valid.next = self.leave.job_valid.val();
        self.entry_valid.next = self.leave.entry_valid.val();
        self.event_valid.next = self.leave.event_valid.val();
        self.event_code.next = self.answer.counter.val();
        if self.has_reorder.val() & self.probe.val() {
            self.event_code.next = self.code_later.val();
        }

        self.job.next.write = self.payload_job.val();
        self.job.next.paged = self.place_paged.q.val();
        self.job.next.address = bit_cast::<64, 32>(self.place_low.q.val()) | (bit_cast::<64, 32>(self.place_high.q.val()) << 32);
        self.job.next.length = self.head.val().payload_length;
        self.job.next.ring_beat = self.head.val().payload_beat;
        self.job.next.ring_offset = self.head.val().payload_offset;
        self.job.next.release = true;
        self.job.next.end_beat = self.head.val().end_beat;
        self.job.next.swap = false;
        if self.sequencer.grh.val() & self.has_ud.val() {
            // R70: the GRH stands before the payload, in its own words of the frame.
            self.job.next.write = true;
            self.job.next.length = self.grh_bytes.val();
            self.job.next.ring_beat = self.head.val().frame_beat;
            self.job.next.ring_offset = 0.into();
            self.job.next.release = false;
        }

        // R26: a duplicate is answered with the PSN of the last SEND or WRITE packet executed: ePSN − 1, or word 3 where READs have moved ePSN since.
        self.answer_psn.next = self.window.pivot.val() - bit_cast::<24, 1>(self.answer.duplicate.val().into());
        self.last_psn.d.next = self.window.pivot.val() - 1;
        self.write_back.last_psn.next = self.last_psn.q.val();
        self.immediate.next = self.head.val().xth0;
        if self.opcode.write.val() & self.opcode.start.val() {
            self.immediate.next = self.head.val().xth4;
        }
        if self.opcode.datagram.val() & self.has_ud.val() {
            self.immediate.next = self.head.val().xth2;
        }
        self.entry.next.qp_index = self.head.val().qpn.get_bits::<12>(0);
        self.entry.next.qpn = self.head.val().qpn;
        self.entry.next.jobs = self.jobs.val();
        self.entry.next.respond = self.answer.respond.val();
        self.entry.next.syndrome = self.answer.syndrome.val();
        self.entry.next.psn = self.answer_psn.val();
        if self.answer.duplicate.val() & self.behind.val() {
            self.entry.next.psn = self.states.word.val().get_bits::<24>(0);
        }
        self.entry.next.msn = self.raised.q.val().get_bits::<24>(0);
        self.entry.next.complete = self.answer.complete.val();
        self.entry.next.cq = self.rows.word.val().get_bits::<12>(0);
        self.entry.next.completion_opcode = self.opcode_receive.val();
        if self.opcode.write.val() & !self.at_home.val() {
            self.entry.next.completion_opcode = self.opcode_immediate.val();
        }
        self.entry.next.status = self.answer.status.val();
        self.entry.next.with_imm = self.opcode.immediate.val() & self.answer.executed.val();
        self.entry.next.with_invalidate = self.opcode.invalidate.val() & self.answer.executed.val();
        self.entry.next.grh = self.second.val();
        // R63: only what ends a message completes, so only its last packet's bit gets here.
        self.entry.next.solicited = self.head.val().solicited & !self.at_home.val();
        self.entry.next.wqe_index = self.states.word.val().get_bits::<16>(16);
        self.entry.next.byte_length = self.message.so_far.val();
        self.entry.next.immediate = self.immediate.val();
        self.entry.next.source_qpn = self.head.val().xth1.get_bits::<24>(0);
        self.entry.next.event = self.answer.raise.val();
        self.entry.next.event_type = self.fatal_event.val();
        self.entry.next.requester = false;
        self.entry.next.serve = self.answer.served.val();
        self.entry.next.partial = self.answer.executed.val() & !self.opcode.finish.val() & !self.at_home.val();
        if self.at_home.val() {
            self.entry.next.qp_index = self.house.qpn.val().get_bits::<12>(0);
            self.entry.next.qpn = self.house.qpn.val();
            self.entry.next.jobs = 0.into();
            self.entry.next.serve = false;
            self.entry.next.event_type = self.doorbell_event.val();
        }
    }

    crate::block_name!();
}
