// SPDX-License-Identifier: MIT OR Apache-2.0
//! What becomes of each frame: exactly one event.
//!
//! ```text
//! last raw beat ─► host's or not ─► code pipe, D + 2 cycles ─► RoCE: facts, ICRC ─► commit, event
//!                       └► host FIFO: commit
//! ```
//!
//! The first that fails names the drop: bad FCS, too long; then, if it isn't RoCE for us, host overflow, fragment (given to the host all the same),
//! host; else IP checksum, length, opcode, TVer, ICRC, CNP, no buffer. A frame that ends before word 15 is whole is never RoCE.
//! 64 bits (`D` = 4): the RoCE verdict falls 7 cycles after the last beat at the port, 4 after `align`'s end record, when the ICRC of a last word there is
//! known. 32 bits (`D` = 0): 2 cycles after it. Two events wait for each lane, so a consumer that takes one in 8 cycles loses none of frames of 8
//! beats or more.

use crate::stream::Skid;
use rust_hdl::prelude::*;
use verbena_spec::counters;

/// The verdict for `L` lanes, `D` + 2 cycles after the raw last beat.
#[derive(LogicBlock)]
pub struct Verdict<const L: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub icrc_off: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub bad: Signal<In, Bit>,
    pub too_long: Signal<In, Bit>,
    pub reached: Signal<In, Bit>,
    pub ours: Signal<In, Bit>,
    pub fragment: Signal<In, Bit>,
    pub host_overflow: Signal<In, Bit>,
    pub host_commit: Signal<Out, Bit>,
    pub bad_checksum: Signal<In, Bit>,
    pub bad_length: Signal<In, Bit>,
    pub bad_opcode: Signal<In, Bit>,
    pub bad_tver: Signal<In, Bit>,
    pub cnp: Signal<In, Bit>,
    pub icrc_valid: Signal<In, Bit>,
    pub icrc_good: Signal<In, Bit>,
    pub stuck: Signal<In, Bit>,
    pub blocked: Signal<In, Bit>,
    /// Three cycles before a verdict that may commit; never at one lane.
    pub likely: Signal<Out, Bit>,
    pub decided: Signal<Out, Bit>,
    pub commit: Signal<Out, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    entry_code: DFF<Bits<4>>,
    entry_pending: DFF<Bit>,
    /// The last is first in time.
    code: [DFF<Bits<4>>; D],
    pending: [DFF<Bit>; D],
    last_code: DFF<Bits<4>>,
    last_pending: DFF<Bit>,
    may_commit: DFF<Bit>,
    icrc_seen: DFF<Bit>,
    icrc_right: DFF<Bit>,
    events: [Skid<4>; L],
    first_code: Signal<Local, Bits<4>>,
    final_code: Signal<Local, Bits<4>>,
    code_out: Signal<Local, Bits<4>>,
    for_host: Signal<Local, Bit>,
    seen: Signal<Local, Bit>,
    right: Signal<Local, Bit>,
    rx_roce: Constant<Bits<4>>,
    rx_host: Constant<Bits<4>>,
    rx_bad_fcs: Constant<Bits<4>>,
    rx_bad_icrc: Constant<Bits<4>>,
    rx_bad_length: Constant<Bits<4>>,
    rx_bad_opcode: Constant<Bits<4>>,
    rx_bad_tver: Constant<Bits<4>>,
    rx_bad_ip_checksum: Constant<Bits<4>>,
    rx_fragment: Constant<Bits<4>>,
    rx_no_buffer: Constant<Bits<4>>,
    rx_host_overflow: Constant<Bits<4>>,
    rx_too_long: Constant<Bits<4>>,
    rx_cnp: Constant<Bits<4>>,
}

impl<const L: usize, const D: usize> Default for Verdict<L, D> {
    fn default() -> Self {
        let code = |code: u8| {
            assert!(code < 16, "Verdict: receive codes have four bits");
            Constant::new(code.to_bits())
        };
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enable: Default::default(),
            icrc_off: Default::default(),
            last: Default::default(),
            bad: Default::default(),
            too_long: Default::default(),
            reached: Default::default(),
            ours: Default::default(),
            fragment: Default::default(),
            host_overflow: Default::default(),
            host_commit: Default::default(),
            bad_checksum: Default::default(),
            bad_length: Default::default(),
            bad_opcode: Default::default(),
            bad_tver: Default::default(),
            cnp: Default::default(),
            icrc_valid: Default::default(),
            icrc_good: Default::default(),
            stuck: Default::default(),
            blocked: Default::default(),
            likely: Default::default(),
            decided: Default::default(),
            commit: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            entry_code: Default::default(),
            entry_pending: Default::default(),
            code: std::array::from_fn(|_| Default::default()),
            pending: std::array::from_fn(|_| Default::default()),
            last_code: Default::default(),
            last_pending: Default::default(),
            may_commit: Default::default(),
            icrc_seen: Default::default(),
            icrc_right: Default::default(),
            events: std::array::from_fn(|_| Default::default()),
            first_code: Default::default(),
            final_code: Default::default(),
            code_out: Default::default(),
            for_host: Default::default(),
            seen: Default::default(),
            right: Default::default(),
            rx_roce: code(counters::RX_ROCE),
            rx_host: code(counters::RX_HOST),
            rx_bad_fcs: code(counters::RX_BAD_FCS),
            rx_bad_icrc: code(counters::RX_BAD_ICRC),
            rx_bad_length: code(counters::RX_BAD_LENGTH),
            rx_bad_opcode: code(counters::RX_BAD_OPCODE),
            rx_bad_tver: code(counters::RX_BAD_TVER),
            rx_bad_ip_checksum: code(counters::RX_BAD_IP_CHECKSUM),
            rx_fragment: code(counters::RX_FRAGMENT),
            rx_no_buffer: code(counters::RX_NO_BUFFER),
            rx_host_overflow: code(counters::RX_HOST_OVERFLOW),
            rx_too_long: code(counters::RX_TOO_LONG),
            rx_cnp: code(counters::RX_CNP),
        }
    }
}

impl<const L: usize, const D: usize> Logic for Verdict<L, D> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            entry_code,
            entry_pending,
            last_code,
            last_pending,
            may_commit,
            icrc_seen,
            icrc_right
        );
        for i in 0..D {
            self.code[i].clock.next = self.clock.val();
            self.pending[i].clock.next = self.clock.val();
        }
        for i in 0..L {
            self.events[i].clock.next = self.clock.val();
            self.events[i].reset.next = self.reset.val();
        }

        // With the last beat: whose is it? (R15, R19)
        self.for_host.next = false;
        if self.bad.val() {
            self.first_code.next = self.rx_bad_fcs.val();
        } else if self.too_long.val() {
            self.first_code.next = self.rx_too_long.val();
        } else if self.reached.val() & self.ours.val() & self.enable.val() {
            self.first_code.next = self.rx_roce.val();
        } else {
            self.for_host.next = true;
            self.first_code.next = self.rx_host.val();
            if self.reached.val() & self.fragment.val() {
                self.first_code.next = self.rx_fragment.val();
            }
            if self.host_overflow.val() {
                self.first_code.next = self.rx_host_overflow.val();
            }
        }
        self.host_commit.next = self.for_host.val();
        self.entry_code.d.next = self.first_code.val();
        self.entry_pending.d.next = self.last.val();
        self.last_code.d.next = self.entry_code.q.val();
        self.last_pending.d.next = self.entry_pending.q.val();
        self.may_commit.d.next = false;
        for i in 0..D {
            self.code[i].d.next = self.entry_code.q.val();
            self.pending[i].d.next = self.entry_pending.q.val();
            self.last_code.d.next = self.code[0].q.val();
            self.last_pending.d.next = self.pending[0].q.val();
            self.may_commit.d.next = self.pending[i].q.val() & (self.code[i].q.val() == self.rx_roce.val());
        }
        for i in 1..D {
            self.code[i - 1].d.next = self.code[i].q.val();
            self.pending[i - 1].d.next = self.pending[i].q.val();
        }
        self.likely.next = self.may_commit.q.val();

        // The RoCE verdict.
        self.seen.next = self.icrc_seen.q.val() | self.icrc_valid.val();
        self.right.next = self.icrc_right.q.val() | (self.icrc_valid.val() & self.icrc_good.val()) | self.icrc_off.val();
        self.icrc_seen.d.next = self.seen.val();
        self.icrc_right.d.next = self.icrc_right.q.val() | (self.icrc_valid.val() & self.icrc_good.val());
        if self.last_pending.q.val() {
            self.icrc_seen.d.next = false;
            self.icrc_right.d.next = false;
        }
        self.final_code.next = self.last_code.q.val();
        if self.last_code.q.val() == self.rx_roce.val() {
            if self.bad_checksum.val() {
                self.final_code.next = self.rx_bad_ip_checksum.val();
            } else if self.bad_length.val() | !self.seen.val() {
                // Not seen: the frame ended before the UDP length did.
                self.final_code.next = self.rx_bad_length.val();
            } else if self.bad_opcode.val() {
                self.final_code.next = self.rx_bad_opcode.val();
            } else if self.bad_tver.val() {
                self.final_code.next = self.rx_bad_tver.val();
            } else if !self.right.val() {
                self.final_code.next = self.rx_bad_icrc.val();
            } else if self.cnp.val() {
                self.final_code.next = self.rx_cnp.val();
            } else if self.stuck.val() | self.blocked.val() {
                self.final_code.next = self.rx_no_buffer.val();
            }
        }
        self.decided.next = self.last_pending.q.val();
        self.commit.next = self.last_pending.q.val() & (self.final_code.val() == self.rx_roce.val());

        self.code_out.next = 0.into();
        self.event_valid.next = false;
        for i in 0..L {
            self.events[i].s_data.next = self.final_code.val();
            self.events[i].s_valid.next = self.last_pending.q.val();
            self.events[i].m_ready.next = self.event_ready.val();
            self.code_out.next = self.events[i].m_data.val();
            self.event_valid.next = self.events[i].m_valid.val();
        }
        for i in 1..L {
            self.events[i].s_data.next = self.events[i - 1].m_data.val();
            self.events[i].s_valid.next = self.events[i - 1].m_valid.val();
            self.events[i - 1].m_ready.next = self.events[i].s_ready.val();
        }
        self.event_code.next = bit_cast::<6, 4>(self.code_out.val());

        if self.reset.val() {
            self.entry_pending.d.next = false;
            self.last_pending.d.next = false;
            self.may_commit.d.next = false;
            for i in 0..D {
                self.pending[i].d.next = false;
            }
            self.icrc_seen.d.next = false;
            self.icrc_right.d.next = false;
        }
    }

    crate::block_name!();
}
