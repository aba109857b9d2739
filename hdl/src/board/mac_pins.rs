// SPDX-License-Identifier: MIT OR Apache-2.0
//! The small engine's MAC side: 32-bit source-synchronous streams on a board's pins, or a loop inside the part.
//!
//! ```text
//! s (engine) ─┬─► registers ─────────────────► tx_*            on our clock
//!             └────────────► loopback ┐
//! m (engine) ◄── register ◄───────────┴─ AsyncFifo ◄─ rx_*     on rx_clock
//! ```
//!
//! A word a cycle where `valid` is high; `bytes` is the last word's number of bytes less one, `bad` on the last word: the frame is broken. `rx_*` can't wait; `rx_clock` is not faster than ours.
//! `tx_ready` may come from any clock: after it falls up to four words more come (five at the pads, which have a flip-flop more). `tx_link` and `tx_ready` go through two registers each. Contract and pins: `docs/boards.md`.
//!
//! **A MAC that doesn't take frames doesn't stop the engine.** Without link, and when a word has waited from one `tick` to the next, frames are taken from the engine and dropped until the MAC is ready
//! again; one that was begun on the pins is ended there with `tx_bad`.

use crate::stream::AsyncFifo;
use rust_hdl::prelude::*;

/// See the file's head.
#[derive(LogicBlock)]
pub struct MacPins {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Frames go round inside, and the pins are still.
    pub loopback: Signal<In, Bit>,
    /// One cycle from time to time.
    pub tick: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<32>>,
    pub s_keep: Signal<In, Bits<4>>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub s_last: Signal<In, Bit>,
    pub m_data: Signal<Out, Bits<32>>,
    pub m_keep: Signal<Out, Bits<4>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_last: Signal<Out, Bit>,
    pub m_user: Signal<Out, Bit>,
    pub tx_data: Signal<Out, Bits<32>>,
    pub tx_bytes: Signal<Out, Bits<2>>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx_last: Signal<Out, Bit>,
    pub tx_bad: Signal<Out, Bit>,
    pub tx_ready: Signal<In, Bit>,
    pub tx_link: Signal<In, Bit>,
    pub rx_clock: Signal<In, Clock>,
    pub rx_data: Signal<In, Bits<32>>,
    pub rx_bytes: Signal<In, Bits<2>>,
    pub rx_valid: Signal<In, Bit>,
    pub rx_last: Signal<In, Bit>,
    pub rx_bad: Signal<In, Bit>,
    pub link: Signal<Out, Bit>,
    /// One cycle each: a frame came in, a frame that is broken came in, words of `rx` were lost, a frame went out, a frame was dropped.
    pub frame_in: Signal<Out, Bit>,
    pub broken: Signal<Out, Bit>,
    pub overrun: Signal<Out, Bit>,
    pub frame_out: Signal<Out, Bit>,
    pub dropped: Signal<Out, Bit>,
    fifo: AsyncFifo<36>,
    ready_1: DFF<Bit>,
    ready_2: DFF<Bit>,
    link_1: DFF<Bit>,
    link_2: DFF<Bit>,
    /// A word has waited since the last tick.
    waited: DFF<Bit>,
    dropping: DFF<Bit>,
    /// On the pins; at the engine.
    begun: DFF<Bit>,
    mid_frame: DFF<Bit>,
    out_data: DFF<Bits<32>>,
    out_bytes: DFF<Bits<2>>,
    out_last: DFF<Bit>,
    out_valid: DFF<Bit>,
    out_bad: DFF<Bit>,
    in_data: DFF<Bits<32>>,
    in_keep: DFF<Bits<4>>,
    in_last: DFF<Bit>,
    in_valid: DFF<Bit>,
    in_bad: DFF<Bit>,
    /// Words of this frame were lost.
    spoiled: DFF<Bit>,
    taken: Signal<Local, Bit>,
    sent: Signal<Local, Bit>,
    bytes: Signal<Local, Bits<2>>,
    keep: Signal<Local, Bits<4>>,
    all_bytes: Constant<Bits<4>>,
}

impl Default for MacPins {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            loopback: Default::default(),
            tick: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            s_last: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_valid: Default::default(),
            m_last: Default::default(),
            m_user: Default::default(),
            tx_data: Default::default(),
            tx_bytes: Default::default(),
            tx_valid: Default::default(),
            tx_last: Default::default(),
            tx_bad: Default::default(),
            tx_ready: Default::default(),
            tx_link: Default::default(),
            rx_clock: Default::default(),
            rx_data: Default::default(),
            rx_bytes: Default::default(),
            rx_valid: Default::default(),
            rx_last: Default::default(),
            rx_bad: Default::default(),
            link: Default::default(),
            frame_in: Default::default(),
            broken: Default::default(),
            overrun: Default::default(),
            frame_out: Default::default(),
            dropped: Default::default(),
            fifo: Default::default(),
            ready_1: Default::default(),
            ready_2: Default::default(),
            link_1: Default::default(),
            link_2: Default::default(),
            waited: Default::default(),
            dropping: Default::default(),
            begun: Default::default(),
            mid_frame: Default::default(),
            out_data: Default::default(),
            out_bytes: Default::default(),
            out_last: Default::default(),
            out_valid: Default::default(),
            out_bad: Default::default(),
            in_data: Default::default(),
            in_keep: Default::default(),
            in_last: Default::default(),
            in_valid: Default::default(),
            in_bad: Default::default(),
            spoiled: Default::default(),
            taken: Default::default(),
            sent: Default::default(),
            bytes: Default::default(),
            keep: Default::default(),
            all_bytes: Constant::new(0xfu64.to_bits()),
        }
    }
}

impl Logic for MacPins {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, ready_1, ready_2, link_1, link_2, waited, dropping, begun, mid_frame, out_data, out_bytes, out_last, out_valid,
            out_bad, in_data, in_keep, in_last, in_valid, in_bad, spoiled
        );
        self.fifo.read_clock.next = self.clock.val();
        self.fifo.write_clock.next = self.rx_clock.val();
        self.fifo.reset.next = self.reset.val() | self.loopback.val();
        self.ready_1.d.next = self.tx_ready.val();
        self.ready_2.d.next = self.ready_1.q.val();
        self.link_1.d.next = self.tx_link.val();
        self.link_2.d.next = self.link_1.q.val();
        self.link.next = self.link_2.q.val();

        // Out.
        self.s_ready.next = self.loopback.val() | self.ready_2.q.val() | self.dropping.q.val();
        self.taken.next = self.s_valid.val() & self.s_ready.val();
        self.bytes.next =
            bit_cast::<2, 1>((self.s_keep.val().get_bit(3) | (self.s_keep.val().get_bit(1) & !self.s_keep.val().get_bit(2))).into())
                | (bit_cast::<2, 1>(self.s_keep.val().get_bit(2).into()) << 1);
        self.out_data.d.next = self.s_data.val();
        self.out_bytes.d.next = self.bytes.val();
        self.out_last.d.next = self.s_last.val();
        self.sent.next = self.taken.val() & !self.loopback.val() & !self.dropping.q.val();
        self.out_valid.d.next = self.sent.val();
        self.out_bad.d.next = false;
        self.frame_out.next = self.taken.val() & self.s_last.val() & !self.dropping.q.val();
        self.dropped.next = self.taken.val() & self.s_last.val() & self.dropping.q.val();
        if self.taken.val() {
            self.mid_frame.d.next = !self.s_last.val();
        }
        if self.sent.val() {
            self.begun.d.next = !self.s_last.val();
        }
        if self.dropped.val() & self.begun.q.val() {
            self.out_valid.d.next = true;
            self.out_bad.d.next = true;
            self.begun.d.next = false;
        }
        if self.tick.val() {
            self.waited.d.next = self.s_valid.val();
            if self.waited.q.val() {
                self.dropping.d.next = true;
            }
        }
        if self.taken.val() | !self.s_valid.val() {
            self.waited.d.next = false;
        }
        // Only between two frames of the engine's is it decided how the next one goes.
        if !self.mid_frame.q.val() & !self.s_valid.val() {
            self.dropping.d.next = !self.link_2.q.val() | (self.dropping.q.val() & !self.ready_2.q.val());
        }
        if self.loopback.val() {
            self.dropping.d.next = false;
        }
        self.tx_data.next = self.out_data.q.val();
        self.tx_bytes.next = self.out_bytes.q.val();
        self.tx_last.next = self.out_last.q.val();
        self.tx_valid.next = self.out_valid.q.val();
        self.tx_bad.next = self.out_bad.q.val();

        // In.
        self.fifo.s_data.next = bit_cast::<36, 32>(self.rx_data.val())
            | (bit_cast::<36, 2>(self.rx_bytes.val()) << 32)
            | (bit_cast::<36, 1>(self.rx_last.val().into()) << 34)
            | (bit_cast::<36, 1>(self.rx_bad.val().into()) << 35);
        self.fifo.s_valid.next = self.rx_valid.val();
        self.keep.next = self.all_bytes.val();
        if self.fifo.m_data.val().get_bit(34) {
            match self.fifo.m_data.val().get_bits::<2>(32).index() {
                0 => {
                    self.keep.next = 1.into();
                }
                1 => {
                    self.keep.next = 3.into();
                }
                2 => {
                    self.keep.next = 7.into();
                }
                _ => {
                    self.keep.next = self.all_bytes.val();
                }
            }
        }
        self.overrun.next = self.fifo.overrun.val();
        self.in_data.d.next = self.fifo.m_data.val().get_bits::<32>(0);
        self.in_keep.d.next = self.keep.val();
        self.in_last.d.next = self.fifo.m_data.val().get_bit(34);
        self.in_bad.d.next = self.fifo.m_data.val().get_bit(35) | self.spoiled.q.val();
        self.in_valid.d.next = self.fifo.m_valid.val();
        if self.fifo.m_valid.val() & self.fifo.m_data.val().get_bit(34) {
            self.spoiled.d.next = false;
        }
        if self.fifo.overrun.val() {
            self.spoiled.d.next = true;
        }
        if self.loopback.val() {
            self.in_data.d.next = self.s_data.val();
            self.in_keep.d.next = self.s_keep.val();
            self.in_last.d.next = self.s_last.val();
            self.in_bad.d.next = false;
            self.in_valid.d.next = self.taken.val();
            self.spoiled.d.next = false;
        }
        self.m_data.next = self.in_data.q.val();
        self.m_keep.next = self.in_keep.q.val();
        self.m_last.next = self.in_last.q.val();
        self.m_user.next = self.in_bad.q.val() & self.in_last.q.val();
        self.m_valid.next = self.in_valid.q.val();
        self.frame_in.next = self.in_valid.q.val() & self.in_last.q.val();
        self.broken.next = self.frame_in.val() & self.in_bad.q.val();

        if self.reset.val() {
            self.waited.d.next = false;
            self.dropping.d.next = false;
            self.begun.d.next = false;
            self.mid_frame.d.next = false;
            self.out_valid.d.next = false;
            self.in_valid.d.next = false;
            self.spoiled.d.next = false;
        }
    }

    crate::block_name!("The small engine's MAC side: pins, or a loop inside.");
}
