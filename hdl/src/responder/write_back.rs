// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is written into the receive state: one word a cycle, chosen by a select.
//!
//! ```text
//! select ─► write, write_item (at once) ─► register ─► write_data, for the same write
//! ```
//!
//! The address goes with the select and the data comes a cycle later, so every source may still change with the select. Zero where nothing is selected.

use rust_hdl::prelude::*;
use verbena_spec::layout::state;

/// Which word is written.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum WriteSelect {
    Nothing,
    /// The held word of the message, to word 4 + item.
    Held,
    /// Word 0: after a packet, or by command or error.
    Context,
    Msn,
    SoFar,
    /// The PSN of the SEND or WRITE last executed, where the bytes of a message would stand.
    Executed,
    /// The ring, one receive WQE further, or with the doorbell's producer. The state RAM's output holds the ring.
    Ring,
    ClearMsn,
    ClearRing,
}

#[derive(LogicBlock)]
pub struct WriteBack {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub select: Signal<In, WriteSelect>,
    pub item: Signal<In, Bits<2>>,
    pub held: Signal<In, Bits<32>>,
    pub pivot: Signal<In, Bits<24>>,
    pub state: Signal<In, Bits<3>>,
    pub message: Signal<In, Bits<2>>,
    pub send: Signal<In, Bit>,
    pub finish: Signal<In, Bit>,
    pub advance: Signal<In, Bit>,
    pub executed: Signal<In, Bit>,
    pub stands: Signal<In, Bit>,
    pub fatal: Signal<In, Bit>,
    /// READs and ATOMICs stand behind the SEND or WRITE last executed; this packet is one.
    pub read_behind: Signal<In, Bit>,
    pub served: Signal<In, Bit>,
    /// For `Executed`.
    pub last_psn: Signal<In, Bits<24>>,
    /// Word 0 is housekeeping's: these are its upper bits.
    pub at_home: Signal<In, Bit>,
    pub home_flags: Signal<In, Bits<8>>,
    /// MSN or ring, one further.
    pub raised: Signal<In, Bits<32>>,
    pub so_far: Signal<In, Bits<32>>,
    pub write: Signal<Out, Bit>,
    pub write_item: Signal<Out, Bits<3>>,
    pub write_data: Signal<Out, Bits<32>>,
    /// ePSN after the packet; it stands from the cycle in which the packet's answer may leave.
    pub psn_after: Signal<Out, Bits<24>>,
    select_kept: DFF<WriteSelect>,
    /// ePSN after the packet.
    psn: DFF<Bits<24>>,
    state_new: Signal<Local, Bits<3>>,
    message_new: Signal<Local, Bits<2>>,
    nak_new: Signal<Local, Bits<8>>,
    behind_new: Signal<Local, Bits<8>>,
    flags: DFF<Bits<8>>,
    error: Constant<Bits<3>>,
    idle: Constant<Bits<2>>,
    sending: Constant<Bits<2>>,
    writing: Constant<Bits<2>>,
    nak_bit: Constant<Bits<8>>,
    behind_bit: Constant<Bits<8>>,
    item_context: Constant<Bits<3>>,
    item_msn: Constant<Bits<3>>,
    item_ring: Constant<Bits<3>>,
    item_so_far: Constant<Bits<3>>,
    item_held: Constant<Bits<3>>,
}

impl Default for WriteBack {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            select: Default::default(),
            item: Default::default(),
            held: Default::default(),
            pivot: Default::default(),
            state: Default::default(),
            message: Default::default(),
            send: Default::default(),
            finish: Default::default(),
            advance: Default::default(),
            executed: Default::default(),
            stands: Default::default(),
            fatal: Default::default(),
            read_behind: Default::default(),
            served: Default::default(),
            last_psn: Default::default(),
            at_home: Default::default(),
            home_flags: Default::default(),
            raised: Default::default(),
            so_far: Default::default(),
            write: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            psn_after: Default::default(),
            select_kept: Default::default(),
            psn: Default::default(),
            state_new: Default::default(),
            message_new: Default::default(),
            nak_new: Default::default(),
            behind_new: Default::default(),
            flags: Default::default(),
            error: Constant::new((state::ERR as u64).to_bits()),
            idle: Constant::new(0u64.to_bits()),
            sending: Constant::new(1u64.to_bits()),
            writing: Constant::new(2u64.to_bits()),
            nak_bit: Constant::new((1u64 << 5).to_bits()),
            behind_bit: Constant::new((1u64 << 6).to_bits()),
            item_context: Constant::new(0u64.to_bits()),
            item_msn: Constant::new(1u64.to_bits()),
            item_ring: Constant::new(2u64.to_bits()),
            item_so_far: Constant::new(3u64.to_bits()),
            item_held: Constant::new(4u64.to_bits()),
        }
    }
}

impl Logic for WriteBack {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, select_kept, flags, psn);
        self.select_kept.d.next = self.select.val();

        // Where.
        self.write.next = true;
        self.write_item.next = self.item_context.val();
        match self.select.val() {
            WriteSelect::Nothing => self.write.next = false,
            WriteSelect::Held => self.write_item.next = self.item_held.val() | bit_cast::<3, 2>(self.item.val()),
            WriteSelect::Msn => self.write_item.next = self.item_msn.val(),
            WriteSelect::SoFar => self.write_item.next = self.item_so_far.val(),
            WriteSelect::Executed => self.write_item.next = self.item_so_far.val(),
            WriteSelect::Ring => self.write_item.next = self.item_ring.val(),
            WriteSelect::ClearMsn => self.write_item.next = self.item_msn.val(),
            WriteSelect::ClearRing => self.write_item.next = self.item_ring.val(),
            _ => {}
        }

        // What, a cycle later.
        self.psn_after.next = self.psn.q.val();
        self.psn.d.next = self.pivot.val() + bit_cast::<24, 1>(self.advance.val().into());
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
        self.nak_new.next = 0.into();
        if self.stands.val() {
            self.nak_new.next = self.nak_bit.val();
        }
        self.behind_new.next = 0.into();
        if self.served.val() | (self.read_behind.val() & !self.executed.val()) {
            self.behind_new.next = self.behind_bit.val();
        }
        self.flags.d.next = bit_cast::<8, 3>(self.state_new.val())
            | (bit_cast::<8, 2>(self.message_new.val()) << 3)
            | self.nak_new.val()
            | self.behind_new.val();
        if self.at_home.val() {
            self.flags.d.next = self.home_flags.val();
        }
        self.write_data.next = 0.into();
        match self.select_kept.q.val() {
            WriteSelect::Held => self.write_data.next = self.held.val(),
            WriteSelect::Context => {
                self.write_data.next = bit_cast::<32, 24>(self.psn.q.val()) | (bit_cast::<32, 8>(self.flags.q.val()) << 24);
            }
            WriteSelect::Msn => self.write_data.next = self.raised.val(),
            WriteSelect::SoFar => self.write_data.next = self.so_far.val(),
            WriteSelect::Executed => self.write_data.next = bit_cast::<32, 24>(self.last_psn.val()),
            WriteSelect::Ring => self.write_data.next = self.raised.val(),
            _ => {}
        }
        if self.reset.val() {
            self.select_kept.d.next = WriteSelect::Nothing;
        }
    }

    crate::block_name!();
}
