// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes the packet stream into slots of 32 words and says which are whole.
//!
//! ```text
//! packet_* ─► slot_* (to the word RAM), address {slot, number of the word}
//!             free ... head ... write ...          slots in order: being built, waiting, coming in
//! ```
//!
//! One word a cycle. Words of the next packet are taken while a slot is free; one that is read to its end is free a cycle later. Limits: 2 to 32 words a packet.

use rust_hdl::prelude::*;

/// `2^(SA - 5)` slots, at most 16.
#[derive(LogicBlock)]
pub struct PacketSlots<const SA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub packet_word: Signal<In, Bits<32>>,
    pub packet_last: Signal<In, Bit>,
    /// With the last word: the slot is free again, the packet forgotten.
    pub packet_abandon: Signal<In, Bit>,
    pub packet_valid: Signal<In, Bit>,
    pub packet_ready: Signal<Out, Bit>,
    pub slot_valid: Signal<Out, Bit>,
    pub slot_address: Signal<Out, Bits<SA>>,
    pub slot_word: Signal<Out, Bits<32>>,
    pub slot_ready: Signal<In, Bit>,
    /// A whole packet waits; its slot.
    pub waiting: Signal<Out, Bit>,
    pub head: Signal<Out, Bits<4>>,
    /// None waits, but the first word of one is there; so many are. One cycle, with its last: it is taken back.
    pub coming: Signal<Out, Bit>,
    pub come: Signal<Out, Bits<5>>,
    pub taken_back: Signal<Out, Bit>,
    /// One cycle each: it is begun; the oldest begun one is read to its end.
    pub begin_next: Signal<In, Bit>,
    pub finish: Signal<In, Bit>,
    write_slot: DFF<Bits<5>>,
    head_slot: DFF<Bits<5>>,
    number: DFF<Bits<5>>,
    /// Slots in use, the packet of the cycle before not counted, and whether all are: a register, so that nothing behind stands before a subtraction.
    used: DFF<Bits<5>>,
    full: DFF<Bit>,
    /// In the cycle before: a packet is whole; one was read to its end.
    entered: DFF<Bit>,
    finished: DFF<Bit>,
    open: Signal<Local, Bit>,
    nearly: Signal<Local, Bit>,
    enters: Signal<Local, Bit>,
    waits: Signal<Local, Bit>,
    pointer_mask: Constant<Bits<5>>,
    slot_mask: Constant<Bits<5>>,
    before_all: Constant<Bits<5>>,
}

impl<const SA: usize> Default for PacketSlots<SA> {
    fn default() -> Self {
        assert!((6..=9).contains(&SA), "PacketSlots: 2 to 16 slots of 32 words");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            packet_word: Default::default(),
            packet_last: Default::default(),
            packet_abandon: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            slot_valid: Default::default(),
            slot_address: Default::default(),
            slot_word: Default::default(),
            slot_ready: Default::default(),
            waiting: Default::default(),
            head: Default::default(),
            coming: Default::default(),
            come: Default::default(),
            taken_back: Default::default(),
            begin_next: Default::default(),
            finish: Default::default(),
            write_slot: Default::default(),
            head_slot: Default::default(),
            number: Default::default(),
            used: Default::default(),
            full: Default::default(),
            entered: Default::default(),
            finished: Default::default(),
            open: Default::default(),
            nearly: Default::default(),
            enters: Default::default(),
            waits: Default::default(),
            pointer_mask: Constant::new(((1u64 << (SA - 4)) - 1).to_bits()),
            slot_mask: Constant::new(((1u64 << (SA - 5)) - 1).to_bits()),
            before_all: Constant::new(((1u64 << (SA - 5)) - 1).to_bits()),
        }
    }
}

impl<const SA: usize> Logic for PacketSlots<SA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_slot, head_slot, number, used, full, entered, finished);
        self.nearly.next = self.used.q.val() == self.before_all.val();
        self.enters.next = false;
        self.waits.next = self.write_slot.q.val() != self.head_slot.q.val();
        self.taken_back.next = false;
        self.open.next = !self.full.q.val();
        self.packet_ready.next = self.open.val() & self.slot_ready.val();
        self.slot_valid.next = self.packet_valid.val() & self.open.val();
        self.slot_address.next =
            (bit_cast::<SA, 5>(self.write_slot.q.val() & self.slot_mask.val()) << 5) | bit_cast::<SA, 5>(self.number.q.val());
        self.slot_word.next = self.packet_word.val();
        if self.packet_valid.val() & self.open.val() & self.slot_ready.val() {
            self.number.d.next = self.number.q.val() + 1;
            if self.packet_last.val() {
                self.number.d.next = 0.into();
                self.taken_back.next = self.packet_abandon.val() & !self.waits.val();
                if !self.packet_abandon.val() {
                    self.enters.next = true;
                    self.write_slot.d.next = (self.write_slot.q.val() + 1) & self.pointer_mask.val();
                }
            }
        }
        self.waiting.next = self.waits.val();
        self.coming.next = !self.waits.val() & self.number.q.val().any();
        self.come.next = self.number.q.val();
        self.head.next = (self.head_slot.q.val() & self.slot_mask.val()).get_bits::<4>(0);
        if self.begin_next.val() {
            self.head_slot.d.next = (self.head_slot.q.val() + 1) & self.pointer_mask.val();
        }
        // A packet has at least two words, so `used` knows of the one before when the next is whole.
        self.entered.d.next = self.enters.val();
        self.finished.d.next = self.finish.val();
        if self.enters.val() & !self.finished.q.val() {
            self.full.d.next = self.nearly.val();
        }
        if self.finished.q.val() & !self.enters.val() {
            self.full.d.next = false;
        }
        if self.entered.q.val() & !self.finished.q.val() {
            self.used.d.next = self.used.q.val() + 1;
        }
        if self.finished.q.val() & !self.entered.q.val() {
            self.used.d.next = self.used.q.val() - 1;
        }
        if self.reset.val() {
            self.write_slot.d.next = 0.into();
            self.head_slot.d.next = 0.into();
            self.used.d.next = 0.into();
            self.full.d.next = false;
            self.entered.d.next = false;
            self.finished.d.next = false;
            self.number.d.next = 0.into();
        }
    }

    crate::block_name!();
}
