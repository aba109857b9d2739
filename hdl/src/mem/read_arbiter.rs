// SPDX-License-Identifier: MIT OR Apache-2.0
//! Read arbiter: five readers onto one AXI4 master's AR and R.
//!
//! ```text
//! payload_ar ────┐ fixed order, payload last          ┌─ ID 0 payload, 1 descriptor, 2 send, 3 complete, 4 atomic
//! descriptor_ar ─┤                                    │
//! send_ar ───────┼─► m_ar register            m_r ────┴─► r_valid of the reader whose ID it is; data, error, last to all
//! complete_ar ───┤
//! atomic_ar ─────┘
//! ```
//!
//! Payload can't starve: every other reader has few bursts outstanding and none longer than 16 beats. Latency 1 cycle for AR, none for R; one AR in two cycles at most. R beats of
//! different IDs may come in any order. `m_r_ready` is that of the reader whose beat it is; a beat of an ID that nobody has is taken and lost.

use rust_hdl::prelude::*;

/// IDs of the readers.
pub mod read_id {
    pub const PAYLOAD: u64 = 0;
    pub const DESCRIPTOR: u64 = 1;
    pub const SEND: u64 = 2;
    pub const COMPLETE: u64 = 3;
    pub const ATOMIC: u64 = 4;
}

/// Merges the readers of the engine on a bus of `W` bits.
#[derive(LogicBlock)]
pub struct ReadArbiter<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub payload_ar_address: Signal<In, Bits<64>>,
    pub payload_ar_length: Signal<In, Bits<8>>,
    pub payload_ar_valid: Signal<In, Bit>,
    pub payload_ar_ready: Signal<Out, Bit>,
    pub payload_r_valid: Signal<Out, Bit>,
    pub payload_r_ready: Signal<In, Bit>,
    pub descriptor_ar_address: Signal<In, Bits<64>>,
    pub descriptor_ar_length: Signal<In, Bits<8>>,
    pub descriptor_ar_valid: Signal<In, Bit>,
    pub descriptor_ar_ready: Signal<Out, Bit>,
    pub descriptor_r_valid: Signal<Out, Bit>,
    pub descriptor_r_ready: Signal<In, Bit>,
    pub send_ar_address: Signal<In, Bits<64>>,
    pub send_ar_length: Signal<In, Bits<8>>,
    pub send_ar_valid: Signal<In, Bit>,
    pub send_ar_ready: Signal<Out, Bit>,
    pub send_r_valid: Signal<Out, Bit>,
    pub send_r_ready: Signal<In, Bit>,
    pub complete_ar_address: Signal<In, Bits<64>>,
    pub complete_ar_length: Signal<In, Bits<8>>,
    pub complete_ar_valid: Signal<In, Bit>,
    pub complete_ar_ready: Signal<Out, Bit>,
    pub complete_r_valid: Signal<Out, Bit>,
    pub complete_r_ready: Signal<In, Bit>,
    pub atomic_ar_address: Signal<In, Bits<64>>,
    pub atomic_ar_length: Signal<In, Bits<8>>,
    pub atomic_ar_valid: Signal<In, Bit>,
    pub atomic_ar_ready: Signal<Out, Bit>,
    pub atomic_r_valid: Signal<Out, Bit>,
    pub atomic_r_ready: Signal<In, Bit>,
    /// To all readers, with their `r_valid`.
    pub r_data: Signal<Out, Bits<W>>,
    pub r_error: Signal<Out, Bit>,
    pub r_last: Signal<Out, Bit>,
    pub m_ar_id: Signal<Out, Bits<3>>,
    pub m_ar_address: Signal<Out, Bits<64>>,
    pub m_ar_length: Signal<Out, Bits<8>>,
    pub m_ar_valid: Signal<Out, Bit>,
    pub m_ar_ready: Signal<In, Bit>,
    pub m_r_id: Signal<In, Bits<3>>,
    pub m_r_data: Signal<In, Bits<W>>,
    pub m_r_response: Signal<In, Bits<2>>,
    pub m_r_last: Signal<In, Bit>,
    pub m_r_valid: Signal<In, Bit>,
    pub m_r_ready: Signal<Out, Bit>,
    address: DFF<Bits<64>>,
    length: DFF<Bits<8>>,
    id: DFF<Bits<3>>,
    valid: DFF<Bit>,
    others: DFF<Bit>,
    payload_now: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    id_payload: Constant<Bits<3>>,
    id_descriptor: Constant<Bits<3>>,
    id_send: Constant<Bits<3>>,
    id_complete: Constant<Bits<3>>,
    id_atomic: Constant<Bits<3>>,
}

impl<const W: usize> Default for ReadArbiter<W> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            payload_ar_address: Default::default(),
            payload_ar_length: Default::default(),
            payload_ar_valid: Default::default(),
            payload_ar_ready: Default::default(),
            payload_r_valid: Default::default(),
            payload_r_ready: Default::default(),
            descriptor_ar_address: Default::default(),
            descriptor_ar_length: Default::default(),
            descriptor_ar_valid: Default::default(),
            descriptor_ar_ready: Default::default(),
            descriptor_r_valid: Default::default(),
            descriptor_r_ready: Default::default(),
            send_ar_address: Default::default(),
            send_ar_length: Default::default(),
            send_ar_valid: Default::default(),
            send_ar_ready: Default::default(),
            send_r_valid: Default::default(),
            send_r_ready: Default::default(),
            complete_ar_address: Default::default(),
            complete_ar_length: Default::default(),
            complete_ar_valid: Default::default(),
            complete_ar_ready: Default::default(),
            complete_r_valid: Default::default(),
            complete_r_ready: Default::default(),
            atomic_ar_address: Default::default(),
            atomic_ar_length: Default::default(),
            atomic_ar_valid: Default::default(),
            atomic_ar_ready: Default::default(),
            atomic_r_valid: Default::default(),
            atomic_r_ready: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_last: Default::default(),
            m_ar_id: Default::default(),
            m_ar_address: Default::default(),
            m_ar_length: Default::default(),
            m_ar_valid: Default::default(),
            m_ar_ready: Default::default(),
            m_r_id: Default::default(),
            m_r_data: Default::default(),
            m_r_response: Default::default(),
            m_r_last: Default::default(),
            m_r_valid: Default::default(),
            m_r_ready: Default::default(),
            address: Default::default(),
            length: Default::default(),
            id: Default::default(),
            valid: Default::default(),
            others: Default::default(),
            payload_now: Default::default(),
            open: Default::default(),
            id_payload: Constant::new(read_id::PAYLOAD.to_bits()),
            id_descriptor: Constant::new(read_id::DESCRIPTOR.to_bits()),
            id_send: Constant::new(read_id::SEND.to_bits()),
            id_complete: Constant::new(read_id::COMPLETE.to_bits()),
            id_atomic: Constant::new(read_id::ATOMIC.to_bits()),
        }
    }
}

impl<const W: usize> Logic for ReadArbiter<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, address, length, id, valid, others);

        // Requests.
        self.open.next = !self.valid.q.val();
        // Who else wants one was looked at a cycle ago, so that payload stands behind none of their state machines; they give way to it for once.
        self.others.d.next =
            self.descriptor_ar_valid.val() | self.complete_ar_valid.val() | self.send_ar_valid.val() | self.atomic_ar_valid.val();
        self.payload_now.next = self.payload_ar_valid.val() & !self.others.q.val();
        if self.m_ar_ready.val() {
            self.valid.d.next = false;
        }
        self.payload_ar_ready.next = false;
        self.descriptor_ar_ready.next = false;
        self.send_ar_ready.next = false;
        self.complete_ar_ready.next = false;
        self.atomic_ar_ready.next = false;
        if self.open.val() {
            if self.payload_now.val() {
                self.payload_ar_ready.next = true;
                self.address.d.next = self.payload_ar_address.val();
                self.length.d.next = self.payload_ar_length.val();
                self.id.d.next = self.id_payload.val();
                self.valid.d.next = true;
            } else if self.descriptor_ar_valid.val() {
                self.descriptor_ar_ready.next = true;
                self.address.d.next = self.descriptor_ar_address.val();
                self.length.d.next = self.descriptor_ar_length.val();
                self.id.d.next = self.id_descriptor.val();
                self.valid.d.next = true;
            } else {
                if self.complete_ar_valid.val() {
                    self.complete_ar_ready.next = true;
                    self.address.d.next = self.complete_ar_address.val();
                    self.length.d.next = self.complete_ar_length.val();
                    self.id.d.next = self.id_complete.val();
                    self.valid.d.next = true;
                } else {
                    if self.send_ar_valid.val() {
                        self.send_ar_ready.next = true;
                        self.address.d.next = self.send_ar_address.val();
                        self.length.d.next = self.send_ar_length.val();
                        self.id.d.next = self.id_send.val();
                        self.valid.d.next = true;
                    } else {
                        if self.atomic_ar_valid.val() {
                            self.atomic_ar_ready.next = true;
                            self.address.d.next = self.atomic_ar_address.val();
                            self.length.d.next = self.atomic_ar_length.val();
                            self.id.d.next = self.id_atomic.val();
                            self.valid.d.next = true;
                        }
                    }
                }
            }
        }
        self.m_ar_id.next = self.id.q.val();
        self.m_ar_address.next = self.address.q.val();
        self.m_ar_length.next = self.length.q.val();
        self.m_ar_valid.next = self.valid.q.val();

        // Data.
        self.r_data.next = self.m_r_data.val();
        self.r_error.next = self.m_r_response.val().get_bit(1);
        self.r_last.next = self.m_r_last.val();
        self.m_r_ready.next = !self.reset.val();
        self.payload_r_valid.next = self.m_r_valid.val() & (self.m_r_id.val() == self.id_payload.val());
        self.descriptor_r_valid.next = self.m_r_valid.val() & (self.m_r_id.val() == self.id_descriptor.val());
        self.send_r_valid.next = self.m_r_valid.val() & (self.m_r_id.val() == self.id_send.val());
        self.complete_r_valid.next = self.m_r_valid.val() & (self.m_r_id.val() == self.id_complete.val());
        self.atomic_r_valid.next = self.m_r_valid.val() & (self.m_r_id.val() == self.id_atomic.val());
        if self.m_r_id.val() == self.id_payload.val() {
            self.m_r_ready.next = self.payload_r_ready.val();
        }
        if self.m_r_id.val() == self.id_descriptor.val() {
            self.m_r_ready.next = self.descriptor_r_ready.val();
        }
        if self.m_r_id.val() == self.id_send.val() {
            self.m_r_ready.next = self.send_r_ready.val();
        }
        if self.m_r_id.val() == self.id_complete.val() {
            self.m_r_ready.next = self.complete_r_ready.val();
        }
        if self.m_r_id.val() == self.id_atomic.val() {
            self.m_r_ready.next = self.atomic_r_ready.val();
        }

        if self.reset.val() {
            self.valid.d.next = false;
            self.m_ar_valid.next = false;
        }
    }

    crate::block_name!();
}
