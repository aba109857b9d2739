// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers in beats that wait for the payload of the packet before them (W = 64).
//!
//! ```text
//! s ─┬─────────────────────────────────┬─► m      at once, while nothing waits
//!    └─► FIFO 2^6 beats ─► register ───┘
//! ```
//!
//! It is in logic cells: 91 bits would take three block RAMs for an eighth of what they hold.
//! A beat carries what the joiner and the mask need: lanes, number, what follows. No backpressure: the builder begins no packet without room.
//! Latency 0, or 3 cycles through the FIFO; one beat a cycle.

use crate::stream::LogicFifo;
use rust_hdl::prelude::*;

/// A beat of a header. With its last beat: `more` says that payload follows, `single` one word, `pairs` and `odd` how many words; `no_pair`, `one_pair` are what
/// `pairs` says. `drop`: the packet isn't sent.
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct HeaderBeat {
    pub data: Bits<64>,
    pub lanes: Bits<2>,
    pub last: Bit,
    pub covered: Bits<2>,
    pub covered_first: Bit,
    /// Aligned number of the upper word's pair.
    pub number: Bits<3>,
    pub ipv6: Bit,
    pub drop: Bit,
    pub more: Bit,
    pub single: Bit,
    pub no_pair: Bit,
    pub one_pair: Bit,
    pub odd: Bit,
    pub pairs: Bits<10>,
    /// The upper lane is for the first word of payload.
    pub fills: Bit,
}

/// The queue.
#[derive(LogicBlock)]
pub struct HeaderQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s: Signal<In, HeaderBeat>,
    pub s_valid: Signal<In, Bit>,
    pub m: Signal<Out, HeaderBeat>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    /// Nothing waits: a beat passes at once.
    pub idle: Signal<Out, Bit>,
    fifo: LogicFifo<6, 7, 91>,
    front: DFF<Bits<91>>,
    front_valid: DFF<Bit>,
    /// Beats that wait, the front included.
    stored: DFF<Bits<7>>,
    waits: DFF<Bit>,
    empty: Signal<Local, Bit>,
    one: Constant<Bits<7>>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    beat: Signal<Local, HeaderBeat>,
    head: Signal<Local, Bits<91>>,
}

impl Default for HeaderQueue {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s: Default::default(),
            s_valid: Default::default(),
            m: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            idle: Default::default(),
            fifo: Default::default(),
            front: Default::default(),
            front_valid: Default::default(),
            stored: Default::default(),
            waits: Default::default(),
            empty: Default::default(),
            one: Constant::new(1u64.to_bits()),
            push: Default::default(),
            pop: Default::default(),
            beat: Default::default(),
            head: Default::default(),
        }
    }
}

impl Logic for HeaderQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, front, front_valid, stored, waits);
        clock!(self, clock, fifo);
        self.fifo.reset.next = self.reset.val();

        self.empty.next = !self.waits.q.val();
        self.idle.next = self.empty.val();
        self.beat.next = self.s.val();
        self.push.next = self.s_valid.val() & !(self.empty.val() & self.m_ready.val());
        self.pop.next = self.front_valid.q.val() & self.m_ready.val();
        self.fifo.s_data.next = bit_cast::<91, 64>(self.beat.val().data)
            | (bit_cast::<91, 2>(self.beat.val().lanes) << 64)
            | (bit_cast::<91, 1>(self.beat.val().last.into()) << 66)
            | (bit_cast::<91, 2>(self.beat.val().covered) << 67)
            | (bit_cast::<91, 1>(self.beat.val().covered_first.into()) << 69)
            | (bit_cast::<91, 3>(self.beat.val().number) << 70)
            | (bit_cast::<91, 1>(self.beat.val().ipv6.into()) << 73)
            | (bit_cast::<91, 1>(self.beat.val().drop.into()) << 74)
            | (bit_cast::<91, 1>(self.beat.val().more.into()) << 75)
            | (bit_cast::<91, 1>(self.beat.val().single.into()) << 76)
            | (bit_cast::<91, 1>(self.beat.val().no_pair.into()) << 77)
            | (bit_cast::<91, 1>(self.beat.val().one_pair.into()) << 78)
            | (bit_cast::<91, 1>(self.beat.val().odd.into()) << 79)
            | (bit_cast::<91, 10>(self.beat.val().pairs) << 80)
            | (bit_cast::<91, 1>(self.beat.val().fills.into()) << 90);
        self.fifo.s_valid.next = self.push.val();
        self.fifo.m_ready.next = !self.front_valid.q.val() | self.m_ready.val();
        if !self.front_valid.q.val() | self.m_ready.val() {
            self.front.d.next = self.fifo.m_data.val();
            self.front_valid.d.next = self.fifo.m_valid.val();
        }
        if self.push.val() & !self.pop.val() {
            self.stored.d.next = self.stored.q.val() + 1;
            self.waits.d.next = true;
        }
        if !self.push.val() & self.pop.val() {
            self.stored.d.next = self.stored.q.val() - 1;
            self.waits.d.next = self.stored.q.val() != self.one.val();
        }

        self.head.next = self.front.q.val();
        self.m.next.data = self.head.val().get_bits::<64>(0);
        self.m.next.lanes = self.head.val().get_bits::<2>(64);
        self.m.next.last = self.head.val().get_bit(66);
        self.m.next.covered = self.head.val().get_bits::<2>(67);
        self.m.next.covered_first = self.head.val().get_bit(69);
        self.m.next.number = self.head.val().get_bits::<3>(70);
        self.m.next.ipv6 = self.head.val().get_bit(73);
        self.m.next.drop = self.head.val().get_bit(74);
        self.m.next.more = self.head.val().get_bit(75);
        self.m.next.single = self.head.val().get_bit(76);
        self.m.next.no_pair = self.head.val().get_bit(77);
        self.m.next.one_pair = self.head.val().get_bit(78);
        self.m.next.odd = self.head.val().get_bit(79);
        self.m.next.pairs = self.head.val().get_bits::<10>(80);
        self.m.next.fills = self.head.val().get_bit(90);
        self.m_valid.next = self.front_valid.q.val();
        if self.empty.val() {
            self.m.next = self.s.val();
            self.m_valid.next = self.s_valid.val();
        }

        if self.reset.val() {
            self.front_valid.d.next = false;
            self.stored.d.next = 0.into();
            self.waits.d.next = false;
        }
    }

    crate::block_name!();
}
