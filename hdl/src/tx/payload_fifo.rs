// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payload that the DMA reader has fetched, until its packet leaves.
//!
//! ```text
//! s_data ─► RAM 2^A beats ─► its output register ─► (register, W = 64) ─► m_data
//! s_last, s_error ─► one bit a packet ─► packet_valid, packet_error
//! ```
//!
//! `free` says how many beats may still come, so that the reader asks the bus for no more; `s_ready` is low only where it does so all the same.
//! `packet_valid`: a packet is whole; `packet_next` moves on to the next one's bit. Beats carry no mark: who takes them knows their number. `arrived` is `packet_valid` of the
//! next cycle, if nothing moves on.
//! Latency 2 cycles (3 with the register), one beat a cycle. Limit: at most 32 packets whose bit isn't taken (their words have fewer slots).

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// FIFO of `2^A` beats of `W` bits; `B = A + 1`.
#[derive(LogicBlock)]
pub struct PayloadFifo<const W: usize, const A: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_last: Signal<In, Bit>,
    pub s_error: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub free: Signal<Out, Bits<B>>,
    /// One cycle: a beat has been read.
    pub drawn: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_error: Signal<Out, Bit>,
    pub packet_next: Signal<In, Bit>,
    /// The packet is whole, or its last beat is being taken; it couldn't be read.
    pub arrived: Signal<Out, Bit>,
    pub arrived_error: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    ram: SplitRam<A, W>,
    write: DFF<Bits<B>>,
    read: DFF<Bits<B>>,
    room: DFF<Bits<B>>,
    /// There is room.
    open: DFF<Bit>,
    ahead_valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    valid: DFF<Bit>,
    errors: DFF<Bits<32>>,
    packets_in: DFF<Bits<6>>,
    packets_out: DFF<Bits<6>>,
    push: Signal<Local, Bit>,
    whole: Signal<Local, Bit>,
    error: Signal<Local, Bit>,
    pull: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    fetched: DFF<Bit>,
    slot_in: Signal<Local, Bits<5>>,
    slot_out: Signal<Local, Bits<5>>,
    packet_mask: Constant<Bits<6>>,
    slot_mask: Constant<Bits<5>>,
    capacity: Constant<Bits<B>>,
    one: Constant<Bits<B>>,
    deep: Constant<Bit>,
}

impl<const W: usize, const A: usize, const B: usize> Default for PayloadFifo<W, A, B> {
    fn default() -> Self {
        assert!(B == A + 1 && (W == 32 || W == 64), "PayloadFifo: B must be A + 1, W 32 or 64");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_last: Default::default(),
            s_error: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            free: Default::default(),
            drawn: Default::default(),
            packet_valid: Default::default(),
            packet_error: Default::default(),
            packet_next: Default::default(),
            arrived: Default::default(),
            arrived_error: Default::default(),
            m_data: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            ram: Default::default(),
            write: Default::default(),
            read: Default::default(),
            room: Default::default(),
            open: Default::default(),
            ahead_valid: Default::default(),
            data: Default::default(),
            valid: Default::default(),
            errors: Default::default(),
            packets_in: Default::default(),
            packets_out: Default::default(),
            push: Default::default(),
            whole: Default::default(),
            error: Default::default(),
            pull: Default::default(),
            fetch: Default::default(),
            fetched: Default::default(),
            slot_in: Default::default(),
            slot_out: Default::default(),
            packet_mask: Constant::new((if W == 64 { 0x3f } else { 7u64 }).to_bits()),
            slot_mask: Constant::new((if W == 64 { 0x1f } else { 3u64 }).to_bits()),
            capacity: Constant::new((1u64 << A).to_bits()),
            one: Constant::new(1u64.to_bits()),
            deep: Constant::new(W == 64),
        }
    }
}

impl<const W: usize, const A: usize, const B: usize> Logic for PayloadFifo<W, A, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write,
            read,
            room,
            ahead_valid,
            data,
            valid,
            errors,
            packets_in,
            packets_out,
            fetched,
            open
        );
        clock!(self, clock, ram);

        self.s_ready.next = self.open.q.val();
        self.push.next = self.s_valid.val() & self.open.q.val();
        self.free.next = self.room.q.val();
        self.drawn.next = self.fetched.q.val();
        self.ram.write_enable.next = self.push.val();
        self.ram.write_address.next = self.write.q.val().get_bits::<A>(0);
        self.ram.write_data.next = self.s_data.val();
        self.slot_in.next = self.packets_in.q.val().get_bits::<5>(0) & self.slot_mask.val();
        self.slot_out.next = self.packets_out.q.val().get_bits::<5>(0) & self.slot_mask.val();
        if self.push.val() {
            self.write.d.next = self.write.q.val() + 1;
            if self.s_last.val() {
                self.errors.d.next = self.errors.q.val().replace_bit(self.slot_in.val().index(), self.s_error.val());
                self.packets_in.d.next = (self.packets_in.q.val() + 1) & self.packet_mask.val();
            }
        }
        self.whole.next = self.packets_in.q.val() != self.packets_out.q.val();
        self.error.next = self.errors.q.val().get_bit(self.slot_out.val().index());
        self.packet_valid.next = self.whole.val();
        self.packet_error.next = self.error.val();
        self.arrived.next = self.whole.val() | (self.push.val() & self.s_last.val());
        self.arrived_error.next = self.s_error.val();
        if self.whole.val() {
            self.arrived_error.next = self.error.val();
        }
        if self.packet_next.val() {
            self.packets_out.d.next = (self.packets_out.q.val() + 1) & self.packet_mask.val();
        }

        // Out: the RAM's output register, and one more where its delay is too long.
        self.pull.next = !self.ahead_valid.q.val() | self.m_ready.val();
        self.m_data.next = self.ram.read_data.val();
        self.m_valid.next = self.ahead_valid.q.val();
        if self.deep.val() {
            self.pull.next = !self.ahead_valid.q.val() | !self.valid.q.val() | self.m_ready.val();
            self.m_data.next = self.data.q.val();
            self.m_valid.next = self.valid.q.val();
            if !self.valid.q.val() | self.m_ready.val() {
                self.data.d.next = self.ram.read_data.val();
                self.valid.d.next = self.ahead_valid.q.val();
            }
        }
        self.fetch.next = (self.read.q.val() != self.write.q.val()) & self.pull.val();
        // What is read while nothing is there isn't used.
        self.ram.read_enable.next = self.pull.val();
        self.ram.read_address.next = self.read.q.val().get_bits::<A>(0);
        if self.fetch.val() {
            self.read.d.next = self.read.q.val() + 1;
        }
        if self.pull.val() {
            self.ahead_valid.d.next = self.fetch.val();
        }
        // Room in the RAM: what is read counts a cycle later.
        self.fetched.d.next = self.fetch.val();
        if self.push.val() & !self.fetched.q.val() {
            self.room.d.next = self.room.q.val() - 1;
            self.open.d.next = self.room.q.val() != self.one.val();
        }
        if !self.push.val() & self.fetched.q.val() {
            self.room.d.next = self.room.q.val() + 1;
            self.open.d.next = true;
        }

        if self.reset.val() {
            self.write.d.next = 0.into();
            self.read.d.next = 0.into();
            self.room.d.next = self.capacity.val();
            self.open.d.next = true;
            self.fetched.d.next = false;
            self.ahead_valid.d.next = false;
            self.valid.d.next = false;
            self.packets_in.d.next = 0.into();
            self.packets_out.d.next = 0.into();
        }
    }

    crate::block_name!();
}
