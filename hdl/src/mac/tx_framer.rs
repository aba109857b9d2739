// SPDX-License-Identifier: MIT OR Apache-2.0
//! When frames begin: preamble, data, and a gap of 12 bytes on average (deficit idle count).
//!
//! ```text
//! s ─► one column a cycle:  preamble | data ... data | tail | (gap) | preamble ...
//! ```
//!
//! Columns are aligned to the frame's own start; `m_shift` says that it starts in lane 4, and `TxFill` moves it there. The tail's column has room for
//! the FCS and `/T/`. Gap: from the FCS to the next `/S/`, a multiple of 4 away from this one. For a frame of n bytes in its last beat, 12 less n mod 4 bytes while at most 3 bytes in
//! all are owed, else 4 more. A whole idle column clears the debt, and the next frame starts in lane 0.
//!
//! A frame whose source pauses, or ends with `s_user`, goes out with `/E/` and a wrong FCS; the rest of a paused one is taken and dropped. While `local_fault` or
//! `remote_fault` a frame that begins is taken and not sent (`muted`); with local fault the columns between frames say remote fault. `stop`: no frame begins.
//! Latency 1 cycle. Limit: a frame has a byte at least, and 60 by the caller's promise.

use super::xgmii;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum TxFramerState {
    Idle,
    Data,
    Tail,
    Gap,
}

/// Columns for `TxFill`, and the FCS.
#[derive(LogicBlock)]
pub struct TxFramer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<64>>,
    pub s_keep: Signal<In, Bits<8>>,
    pub s_valid: Signal<In, Bit>,
    pub s_last: Signal<In, Bit>,
    pub s_user: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub stop: Signal<In, Bit>,
    pub local_fault: Signal<In, Bit>,
    pub remote_fault: Signal<In, Bit>,
    /// A column; lanes that are neither data nor code are zero.
    pub m_data: Signal<Out, Bits<64>>,
    pub m_control: Signal<Out, Bits<8>>,
    /// The whole column is idle (or the tail of a frame).
    pub m_idle: Signal<Out, Bit>,
    pub m_shift: Signal<Out, Bit>,
    /// The column is a frame's data.
    pub m_valid: Signal<Out, Bit>,
    pub m_first: Signal<Out, Bit>,
    pub m_last: Signal<Out, Bit>,
    pub m_keep: Signal<Out, Bits<8>>,
    pub m_spoil: Signal<Out, Bit>,
    /// One cycle: a frame broken off for want of data; one not sent for want of a link.
    pub underrun: Signal<Out, Bit>,
    pub muted: Signal<Out, Bit>,

    state: DFF<TxFramerState>,
    /// The rest of a broken frame is taken.
    drain: DFF<Bit>,
    /// The frame isn't sent.
    mute: DFF<Bit>,
    begun: DFF<Bit>,
    /// Where the frame, from its tail on the next one, starts: lane 4.
    upper: DFF<Bit>,
    /// Bytes of gap owed.
    deficit: DFF<Bits<2>>,
    data: DFF<Bits<64>>,
    control: DFF<Bits<8>>,
    idle: DFF<Bit>,
    shift: DFF<Bit>,
    valid: DFF<Bit>,
    first: DFF<Bit>,
    last: DFF<Bit>,
    keep: DFF<Bits<8>>,
    spoil: DFF<Bit>,
    underrun_seen: DFF<Bit>,
    muted_seen: DFF<Bit>,
    fault: Signal<Local, Bit>,
    byte_mask: Signal<Local, Bits<64>>,
    end_keep: Signal<Local, Bits<8>>,
    over: Signal<Local, Bits<2>>,
    owed: Signal<Local, Bits<3>>,
    halves: Signal<Local, Bits<2>>,
    silent: Signal<Local, Bit>,
    lane: [Constant<Bits<64>>; 8],
    keep_all: Constant<Bits<8>>,
    preamble: Constant<Bits<64>>,
    start_lane: Constant<Bits<8>>,
    error: Constant<Bits<64>>,
    fault_columns: Constant<Bits<64>>,
    fault_lanes: Constant<Bits<8>>,
}

impl Default for TxFramer {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_valid: Default::default(),
            s_last: Default::default(),
            s_user: Default::default(),
            s_ready: Default::default(),
            stop: Default::default(),
            local_fault: Default::default(),
            remote_fault: Default::default(),
            m_data: Default::default(),
            m_control: Default::default(),
            m_idle: Default::default(),
            m_shift: Default::default(),
            m_valid: Default::default(),
            m_first: Default::default(),
            m_last: Default::default(),
            m_keep: Default::default(),
            m_spoil: Default::default(),
            underrun: Default::default(),
            muted: Default::default(),
            state: Default::default(),
            drain: Default::default(),
            mute: Default::default(),
            begun: Default::default(),
            upper: Default::default(),
            deficit: Default::default(),
            data: Default::default(),
            control: Default::default(),
            idle: Default::default(),
            shift: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            last: Default::default(),
            keep: Default::default(),
            spoil: Default::default(),
            underrun_seen: Default::default(),
            muted_seen: Default::default(),
            fault: Default::default(),
            byte_mask: Default::default(),
            end_keep: Default::default(),
            over: Default::default(),
            owed: Default::default(),
            halves: Default::default(),
            silent: Default::default(),
            lane: std::array::from_fn(|i| Constant::new((0xffu64 << (8 * i)).to_bits())),
            keep_all: Constant::new(0xffu64.to_bits()),
            preamble: Constant::new(xgmii::PREAMBLE.to_bits()),
            start_lane: Constant::new(0x01u64.to_bits()),
            error: Constant::new(xgmii::lanes(xgmii::E).to_bits()),
            fault_columns: Constant::new(xgmii::REMOTE_FAULT.to_bits()),
            fault_lanes: Constant::new(0x11u64.to_bits()),
        }
    }
}

impl Logic for TxFramer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            drain,
            mute,
            begun,
            upper,
            deficit,
            data,
            control,
            idle,
            shift,
            valid,
            first,
            last,
            keep,
            spoil,
            underrun_seen,
            muted_seen
        );

        self.fault.next = self.local_fault.val() | self.remote_fault.val();
        self.data.d.next = 0.into();
        self.control.d.next = 0.into();
        self.idle.d.next = true;
        self.shift.d.next = self.upper.q.val();
        self.valid.d.next = false;
        self.first.d.next = false;
        self.last.d.next = false;
        self.spoil.d.next = false;
        self.underrun_seen.d.next = false;
        self.muted_seen.d.next = false;
        // With local fault, columns that belong to no frame say remote fault.
        self.silent.next = self.mute.q.val();

        self.s_ready.next = (self.state.q.val() == TxFramerState::Data) | self.drain.q.val();
        if self.drain.q.val() & self.s_valid.val() & self.s_last.val() {
            self.drain.d.next = false;
        }

        // The bytes that a beat has: all, but for the last one.
        self.end_keep.next = self.keep_all.val();
        if self.s_last.val() {
            self.end_keep.next = self.s_keep.val();
        }
        self.byte_mask.next = 0.into();
        for i in 0..8 {
            if self.end_keep.val().get_bit(i) {
                self.byte_mask.next = self.byte_mask.val() | self.lane[i].val();
            }
        }

        // n mod 4 of the last beat, from its register.
        self.over.next = 0.into();
        if (self.keep.q.val().get_bit(0) & !self.keep.q.val().get_bit(1)) | (self.keep.q.val().get_bit(4) & !self.keep.q.val().get_bit(5)) {
            self.over.next = 1.into();
        }
        if (self.keep.q.val().get_bit(1) & !self.keep.q.val().get_bit(2)) | (self.keep.q.val().get_bit(5) & !self.keep.q.val().get_bit(6)) {
            self.over.next = 2.into();
        }
        if (self.keep.q.val().get_bit(2) & !self.keep.q.val().get_bit(3)) | (self.keep.q.val().get_bit(6) & !self.keep.q.val().get_bit(7)) {
            self.over.next = 3.into();
        }
        self.owed.next = bit_cast::<3, 2>(self.deficit.q.val()) + bit_cast::<3, 2>(self.over.val());
        // Half columns beyond those that every frame takes: its own lane, the last beat's fourth byte, a gap made longer.
        self.halves.next = bit_cast::<2, 1>(self.upper.q.val().into())
            + bit_cast::<2, 1>(self.keep.q.val().get_bit(3).into())
            + bit_cast::<2, 1>(self.owed.val().get_bit(2).into());

        match self.state.q.val() {
            TxFramerState::Idle => {
                self.silent.next = true;
                self.upper.d.next = false;
                self.deficit.d.next = 0.into();
                if self.s_valid.val() & !self.drain.q.val() & !self.stop.val() {
                    self.state.d.next = TxFramerState::Data;
                    self.upper.d.next = self.upper.q.val();
                    self.deficit.d.next = self.deficit.q.val();
                    self.begun.d.next = true;
                    self.mute.d.next = self.fault.val();
                    self.muted_seen.d.next = self.fault.val();
                    if !self.fault.val() {
                        self.silent.next = false;
                        self.idle.d.next = false;
                        self.data.d.next = self.preamble.val();
                        self.control.d.next = self.start_lane.val();
                    }
                }
            }
            TxFramerState::Data => {
                self.begun.d.next = false;
                self.keep.d.next = self.end_keep.val();
                if self.s_valid.val() {
                    if self.s_last.val() {
                        self.state.d.next = TxFramerState::Tail;
                    }
                } else {
                    self.keep.d.next = self.keep_all.val();
                    self.state.d.next = TxFramerState::Tail;
                    self.drain.d.next = true;
                    self.underrun_seen.d.next = !self.mute.q.val();
                }
                if !self.mute.q.val() {
                    self.idle.d.next = false;
                    self.valid.d.next = true;
                    self.first.d.next = self.begun.q.val();
                    self.data.d.next = self.s_data.val() & self.byte_mask.val();
                    self.last.d.next = self.s_last.val() | !self.s_valid.val();
                    if self.s_last.val() & self.s_user.val() {
                        self.data.d.next = self.error.val() & self.byte_mask.val();
                        self.control.d.next = self.end_keep.val();
                        self.spoil.d.next = true;
                    }
                    if !self.s_valid.val() {
                        self.data.d.next = self.error.val();
                        self.control.d.next = self.keep_all.val();
                        self.spoil.d.next = true;
                    }
                }
            }
            TxFramerState::Tail => {
                self.state.d.next = TxFramerState::Idle;
                self.deficit.d.next = self.owed.val().get_bits::<2>(0);
                self.upper.d.next = self.halves.val().get_bit(0);
                if self.halves.val().get_bit(1) {
                    self.state.d.next = TxFramerState::Gap;
                }
                // Eight bytes: two halves more, the same lane again.
                if self.keep.q.val().get_bit(7) {
                    self.state.d.next = TxFramerState::Gap;
                    self.upper.d.next = self.upper.q.val();
                }
            }
            TxFramerState::Gap => {
                self.state.d.next = TxFramerState::Idle;
            }
            _ => {
                self.state.d.next = TxFramerState::Idle;
            }
        }
        if self.local_fault.val() & self.silent.val() {
            self.idle.d.next = false;
            self.data.d.next = self.fault_columns.val();
            self.control.d.next = self.fault_lanes.val();
        }

        self.m_data.next = self.data.q.val();
        self.m_control.next = self.control.q.val();
        self.m_idle.next = self.idle.q.val();
        self.m_shift.next = self.shift.q.val();
        self.m_valid.next = self.valid.q.val();
        self.m_first.next = self.first.q.val();
        self.m_last.next = self.last.q.val();
        self.m_keep.next = self.keep.q.val();
        self.m_spoil.next = self.spoil.q.val();
        self.underrun.next = self.underrun_seen.q.val();
        self.muted.next = self.muted_seen.q.val();

        if self.reset.val() {
            self.state.d.next = TxFramerState::Idle;
            self.drain.d.next = false;
            self.mute.d.next = false;
            self.upper.d.next = false;
            self.deficit.d.next = 0.into();
            self.data.d.next = 0.into();
            self.control.d.next = 0.into();
            self.idle.d.next = true;
            self.valid.d.next = false;
            self.last.d.next = false;
            self.underrun_seen.d.next = false;
            self.muted_seen.d.next = false;
        }
    }

    crate::block_name!();
}
