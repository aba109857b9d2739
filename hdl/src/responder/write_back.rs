// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is written into the receive state: one word a cycle, chosen by a select. Combinational.

use rust_hdl::prelude::*;
use verbena_spec::layout::state;

/// Which word is written.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum WriteSelect {
    Nothing,
    /// The word bus, to word 4 + item.
    Bus,
    /// Word 0 after a packet.
    Context,
    Msn,
    SoFar,
    /// The ring, one receive WQE further.
    Consumed,
    /// The ring, with the doorbell's producer.
    Posted,
    /// Word 0 by command or error.
    Command,
    ClearMsn,
    ClearRing,
}

#[derive(LogicBlock)]
pub struct WriteBack {
    pub select: Signal<In, WriteSelect>,
    pub bus: Signal<In, Bits<32>>,
    pub item: Signal<In, Bits<2>>,
    pub command_word: Signal<In, Bits<32>>,
    pub pivot: Signal<In, Bits<24>>,
    pub state: Signal<In, Bits<3>>,
    pub message: Signal<In, Bits<2>>,
    pub send: Signal<In, Bit>,
    pub finish: Signal<In, Bit>,
    pub advance: Signal<In, Bit>,
    pub executed: Signal<In, Bit>,
    pub stands: Signal<In, Bit>,
    pub fatal: Signal<In, Bit>,
    pub msn: Signal<In, Bits<24>>,
    pub so_far: Signal<In, Bits<32>>,
    pub consumer: Signal<In, Bits<16>>,
    pub producer: Signal<In, Bits<16>>,
    pub producer_new: Signal<In, Bits<16>>,
    pub write: Signal<Out, Bit>,
    pub write_item: Signal<Out, Bits<3>>,
    pub write_data: Signal<Out, Bits<32>>,
    /// ePSN after the packet.
    psn: Signal<Local, Bits<24>>,
    state_new: Signal<Local, Bits<3>>,
    message_new: Signal<Local, Bits<2>>,
    consumer_new: Signal<Local, Bits<16>>,
    producer_now: Signal<Local, Bits<16>>,
    context_word: Signal<Local, Bits<32>>,
    error: Constant<Bits<3>>,
    idle: Constant<Bits<2>>,
    sending: Constant<Bits<2>>,
    writing: Constant<Bits<2>>,
    nak_bit: Constant<Bits<32>>,
    item_context: Constant<Bits<3>>,
    item_msn: Constant<Bits<3>>,
    item_ring: Constant<Bits<3>>,
    item_so_far: Constant<Bits<3>>,
    item_bus: Constant<Bits<3>>,
}

impl Default for WriteBack {
    fn default() -> Self {
        Self {
            select: Default::default(),
            bus: Default::default(),
            item: Default::default(),
            command_word: Default::default(),
            pivot: Default::default(),
            state: Default::default(),
            message: Default::default(),
            send: Default::default(),
            finish: Default::default(),
            advance: Default::default(),
            executed: Default::default(),
            stands: Default::default(),
            fatal: Default::default(),
            msn: Default::default(),
            so_far: Default::default(),
            consumer: Default::default(),
            producer: Default::default(),
            producer_new: Default::default(),
            write: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            psn: Default::default(),
            state_new: Default::default(),
            message_new: Default::default(),
            consumer_new: Default::default(),
            producer_now: Default::default(),
            context_word: Default::default(),
            error: Constant::new((state::ERR as u64).to_bits()),
            idle: Constant::new(0u64.to_bits()),
            sending: Constant::new(1u64.to_bits()),
            writing: Constant::new(2u64.to_bits()),
            nak_bit: Constant::new((1u64 << 29).to_bits()),
            item_context: Constant::new(0u64.to_bits()),
            item_msn: Constant::new(1u64.to_bits()),
            item_ring: Constant::new(2u64.to_bits()),
            item_so_far: Constant::new(3u64.to_bits()),
            item_bus: Constant::new(4u64.to_bits()),
        }
    }
}

impl Logic for WriteBack {
    #[hdl_gen]
    fn update(&mut self) {
        self.psn.next = self.pivot.val();
        if self.advance.val() {
            self.psn.next = self.pivot.val() + 1;
        }
        self.state_new.next = self.state.val();
        if self.fatal.val() {
            self.state_new.next = self.error.val();
        }
        self.message_new.next = self.idle.val();
        if self.stands.val() {
            self.message_new.next = self.message.val();
        }
        if self.executed.val() & !self.finish.val() {
            self.message_new.next = self.writing.val();
            if self.send.val() {
                self.message_new.next = self.sending.val();
            }
        }
        self.context_word.next = bit_cast::<32, 24>(self.psn.val())
            | (bit_cast::<32, 3>(self.state_new.val()) << 24)
            | (bit_cast::<32, 2>(self.message_new.val()) << 27);
        self.consumer_new.next = self.consumer.val();
        self.producer_now.next = self.producer_new.val();
        if self.select.val() == WriteSelect::Consumed {
            self.consumer_new.next = self.consumer.val() + 1;
            self.producer_now.next = self.producer.val();
        }

        self.write.next = true;
        self.write_item.next = self.item_context.val();
        self.write_data.next = 0.into();
        match self.select.val() {
            WriteSelect::Bus => {
                self.write_item.next = self.item_bus.val() | bit_cast::<3, 2>(self.item.val());
                self.write_data.next = self.bus.val();
            }
            WriteSelect::Context => {
                self.write_data.next = self.context_word.val();
                if self.stands.val() {
                    self.write_data.next = self.context_word.val() | self.nak_bit.val();
                }
            }
            WriteSelect::Msn => {
                self.write_item.next = self.item_msn.val();
                self.write_data.next = bit_cast::<32, 24>(self.msn.val());
            }
            WriteSelect::SoFar => {
                self.write_item.next = self.item_so_far.val();
                self.write_data.next = self.so_far.val();
            }
            WriteSelect::Consumed => {
                self.write_item.next = self.item_ring.val();
                self.write_data.next = bit_cast::<32, 16>(self.producer_now.val()) | (bit_cast::<32, 16>(self.consumer_new.val()) << 16);
            }
            WriteSelect::Posted => {
                self.write_item.next = self.item_ring.val();
                self.write_data.next = bit_cast::<32, 16>(self.producer_now.val()) | (bit_cast::<32, 16>(self.consumer_new.val()) << 16);
            }
            WriteSelect::Command => {
                self.write_data.next = self.command_word.val();
            }
            WriteSelect::ClearMsn => {
                self.write_item.next = self.item_msn.val();
            }
            WriteSelect::ClearRing => {
                self.write_item.next = self.item_ring.val();
            }
            _ => {
                self.write.next = false;
            }
        }
    }

    crate::block_name!();
}
