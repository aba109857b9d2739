// SPDX-License-Identifier: MIT OR Apache-2.0
//! The message's place in memory: what is asked of `mem::Keys`, and whether the packet fits.
//!
//! ```text
//!  state RAM ─┐                  ┌─► + bytes so far ─► address low; high
//!  RETH ──────┼─► bus ─┬─► word ─┼─► bytes so far (+ this packet's) against length
//!  WQE ───────┘        │         └─► words to store
//!                      └─► key, taken, while Keys works
//! ```
//!
//! One 32-bit bus, a word a cycle, so there is one adder an operand and no 64-bit path. Sources: 0 receive state, 1 the
//! packet's RETH, 2 the receive WQE. Items: 0 address low, 1 address high, 2 length, 3 key. What is asked for with a word acts one cycle later
//! and shows another cycle later. The key is taken beside it, so that its check can begin before the address is known.
//!
//! The length is taken inverted: the adder of the address then compares, bytes so far + !length, whose carry says "longer", and with a carry in "not
//! shorter". A small engine does that in two cycles, with the one adder; else a comparator tells equality beside it.

use crate::mem::CarryAdd;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Message {
    pub clock: Signal<In, Clock>,
    pub source: Signal<In, Bits<2>>,
    pub item: Signal<In, Bits<2>>,
    pub state_word: Signal<In, Bits<32>>,
    pub xth0: Signal<In, Bits<32>>,
    pub xth1: Signal<In, Bits<32>>,
    pub xth2: Signal<In, Bits<32>>,
    pub xth3: Signal<In, Bits<32>>,
    /// The WQE's words come one after another.
    pub fetch_word: Signal<In, Bits<32>>,
    /// Bytes that this packet adds.
    pub length: Signal<In, Bits<14>>,
    /// Bytes so far := 0.
    pub clear: Signal<In, Bit>,
    /// Bytes so far := the GRH's 40 (R70).
    pub load_grh: Signal<In, Bit>,
    /// Key := word on the bus.
    pub take_key: Signal<In, Bit>,
    /// Bytes so far := word.
    pub load_base: Signal<In, Bit>,
    /// Address low := word + bytes so far.
    pub load_low: Signal<In, Bit>,
    /// Address high := word + carry; bytes so far += length.
    pub load_high: Signal<In, Bit>,
    /// More bytes so far than word?
    pub compare: Signal<In, Bit>,
    /// As many, or more? (Small engine, the cycle after.)
    pub compare_again: Signal<In, Bit>,
    /// The word that was on the bus, inverted with `compare` and `compare_again`.
    pub held: Signal<Out, Bits<32>>,
    pub key: Signal<Out, Bits<32>>,
    pub address_low: Signal<Out, Bits<32>>,
    pub address_high: Signal<Out, Bits<32>>,
    pub so_far: Signal<Out, Bits<32>>,
    /// More bytes than the message or its buffer has.
    pub long: Signal<Out, Bit>,
    /// As many bytes as the message has, or more.
    pub enough: Signal<Out, Bit>,
    word: DFF<Bits<32>>,
    key_kept: DFF<Bits<32>>,
    base_next: DFF<Bit>,
    low_next: DFF<Bit>,
    high_next: DFF<Bit>,
    compare_next: DFF<Bit>,
    again_next: DFF<Bit>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    total: DFF<Bits<32>>,
    carry: DFF<Bit>,
    wrapped: DFF<Bit>,
    long_kept: DFF<Bit>,
    enough_kept: DFF<Bit>,
    add: CarryAdd,
    head_low: Signal<Local, Bits<32>>,
    head_high: Signal<Local, Bits<32>>,
    others: Signal<Local, Bits<32>>,
    total_sum: Signal<Local, Bits<33>>,
    bus: Signal<Local, Bits<32>>,
    serial: Constant<Bit>,
    source_state: Constant<Bits<2>>,
    source_head: Constant<Bits<2>>,
    source_queue: Constant<Bits<2>>,
    item_low: Constant<Bits<2>>,
    item_high: Constant<Bits<2>>,
    item_length: Constant<Bits<2>>,
    item_key: Constant<Bits<2>>,
    grh_bytes: Constant<Bits<32>>,
}

impl Message {
    /// `serial`: equality by the adder, in a second cycle.
    pub fn new(serial: bool) -> Self {
        Self {
            clock: Default::default(),
            source: Default::default(),
            item: Default::default(),
            state_word: Default::default(),
            xth0: Default::default(),
            xth1: Default::default(),
            xth2: Default::default(),
            xth3: Default::default(),
            fetch_word: Default::default(),
            length: Default::default(),
            clear: Default::default(),
            load_grh: Default::default(),
            take_key: Default::default(),
            load_base: Default::default(),
            load_low: Default::default(),
            load_high: Default::default(),
            compare: Default::default(),
            compare_again: Default::default(),
            held: Default::default(),
            key: Default::default(),
            address_low: Default::default(),
            address_high: Default::default(),
            so_far: Default::default(),
            long: Default::default(),
            enough: Default::default(),
            word: Default::default(),
            key_kept: Default::default(),
            base_next: Default::default(),
            low_next: Default::default(),
            high_next: Default::default(),
            compare_next: Default::default(),
            again_next: Default::default(),
            low: Default::default(),
            high: Default::default(),
            total: Default::default(),
            carry: Default::default(),
            wrapped: Default::default(),
            long_kept: Default::default(),
            enough_kept: Default::default(),
            add: Default::default(),
            head_low: Default::default(),
            head_high: Default::default(),
            others: Default::default(),
            total_sum: Default::default(),
            bus: Default::default(),
            serial: Constant::new(serial),
            source_state: Constant::new(0u64.to_bits()),
            source_head: Constant::new(1u64.to_bits()),
            source_queue: Constant::new(2u64.to_bits()),
            item_low: Constant::new(0u64.to_bits()),
            item_high: Constant::new(1u64.to_bits()),
            item_length: Constant::new(2u64.to_bits()),
            item_key: Constant::new(3u64.to_bits()),
            grh_bytes: Constant::new(40u64.to_bits()),
        }
    }
}

impl Logic for Message {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            word,
            key_kept,
            base_next,
            low_next,
            high_next,
            compare_next,
            again_next
        );
        dff_setup!(self, clock, low, high, total, carry, wrapped, long_kept, enough_kept);

        // Two sources a gate, then their sum: the cheapest form in LUTs of four inputs.
        self.head_low.next = 0.into();
        self.head_high.next = 0.into();
        self.others.next = 0.into();
        if self.source.val() == self.source_head.val() {
            if self.item.val() == self.item_low.val() {
                self.head_low.next = self.xth1.val();
            }
            if self.item.val() == self.item_high.val() {
                self.head_low.next = self.xth0.val();
            }
            if self.item.val() == self.item_length.val() {
                self.head_high.next = self.xth3.val();
            }
            if self.item.val() == self.item_key.val() {
                self.head_high.next = self.xth2.val();
            }
        }
        if self.source.val() == self.source_state.val() {
            self.others.next = self.state_word.val();
        }
        if self.source.val() == self.source_queue.val() {
            self.others.next = self.fetch_word.val();
        }
        self.bus.next = self.head_low.val() | self.head_high.val() | self.others.val();
        self.word.d.next = self.bus.val();
        if self.compare.val() | self.compare_again.val() {
            self.word.d.next = !self.bus.val();
        }
        if self.take_key.val() {
            self.key_kept.d.next = self.bus.val();
        }
        // RAM and multiplexer in one cycle, the adders in the next.
        self.base_next.d.next = self.load_base.val();
        self.low_next.d.next = self.load_low.val();
        self.high_next.d.next = self.load_high.val();
        self.compare_next.d.next = self.compare.val();
        self.again_next.d.next = self.compare_again.val();

        self.add.a.next = self.word.q.val();
        self.add.b.next = self.total.q.val();
        self.add.carry_in.next = self.again_next.q.val();
        // R67: the carry is kept, so a sum that wraps is too long, not short.
        self.total_sum.next = bit_cast::<33, 32>(self.total.q.val()) + bit_cast::<33, 14>(self.length.val());
        if self.low_next.q.val() {
            self.low.d.next = self.add.sum.val();
            self.carry.d.next = self.add.carry_out.val();
        }
        if self.high_next.q.val() {
            self.high.d.next = self.word.q.val() + bit_cast::<32, 1>(self.carry.q.val().into());
            self.total.d.next = self.total_sum.val().get_bits::<32>(0);
            self.wrapped.d.next = self.total_sum.val().get_bit(32);
        }
        if self.base_next.q.val() {
            self.total.d.next = self.word.q.val();
        }
        if self.load_grh.val() {
            self.total.d.next = self.grh_bytes.val();
        }
        if self.clear.val() {
            self.total.d.next = 0.into();
        }
        if self.compare_next.q.val() {
            self.long_kept.d.next = self.wrapped.q.val() | self.add.carry_out.val();
            self.enough_kept.d.next = self.add.carry_out.val() | (self.total.q.val() == !self.word.q.val());
        }
        if self.serial.val() {
            self.enough_kept.d.next = self.enough_kept.q.val();
            if self.again_next.q.val() {
                self.enough_kept.d.next = self.add.carry_out.val();
            }
        }
        self.held.next = self.word.q.val();
        self.key.next = self.key_kept.q.val();
        self.address_low.next = self.low.q.val();
        self.address_high.next = self.high.q.val();
        self.so_far.next = self.total.q.val();
        self.long.next = self.long_kept.q.val();
        self.enough.next = self.enough_kept.q.val();
    }

    crate::block_name!();
}
