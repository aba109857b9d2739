// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three clients of the key checker: 0 control, 1 Send, 2 Complete.
//!
//! ```text
//! s0_*, s1_*, s2_* ─► owner (register) ─► m_* (Keys)        m_key_done ─► the owner's key_done
//! ```
//!
//! A client's start may be a pulse or held until done; a pulse is remembered. Its inputs hold until done; the answer counts in the done cycle only. The checker belongs to one client from
//! start to done; after a check the others come first, in turn. It is parked at client 0, who therefore loses no cycle; another one loses one.

use rust_hdl::prelude::*;

/// The arbiter.
#[derive(LogicBlock)]
pub struct KeyArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s0_key_start: Signal<In, Bit>,
    pub s0_key_op: Signal<In, Bits<1>>,
    pub s0_key: Signal<In, Bits<32>>,
    pub s0_key_va: Signal<In, Bits<64>>,
    pub s0_key_length: Signal<In, Bits<32>>,
    pub s0_key_pd: Signal<In, Bits<16>>,
    pub s0_key_access: Signal<In, Bits<4>>,
    pub s0_key_done: Signal<Out, Bit>,
    pub s1_key_start: Signal<In, Bit>,
    pub s1_key_op: Signal<In, Bits<1>>,
    pub s1_key: Signal<In, Bits<32>>,
    pub s1_key_va: Signal<In, Bits<64>>,
    pub s1_key_length: Signal<In, Bits<32>>,
    pub s1_key_pd: Signal<In, Bits<16>>,
    pub s1_key_access: Signal<In, Bits<4>>,
    pub s1_key_done: Signal<Out, Bit>,
    pub s2_key_start: Signal<In, Bit>,
    pub s2_key_op: Signal<In, Bits<1>>,
    pub s2_key: Signal<In, Bits<32>>,
    pub s2_key_va: Signal<In, Bits<64>>,
    pub s2_key_length: Signal<In, Bits<32>>,
    pub s2_key_pd: Signal<In, Bits<16>>,
    pub s2_key_access: Signal<In, Bits<4>>,
    pub s2_key_done: Signal<Out, Bit>,
    pub key_ok: Signal<Out, Bit>,
    pub key_paged: Signal<Out, Bit>,
    pub key_address: Signal<Out, Bits<64>>,
    pub m_key_start: Signal<Out, Bit>,
    pub m_key_op: Signal<Out, Bits<1>>,
    pub m_key: Signal<Out, Bits<32>>,
    pub m_key_va: Signal<Out, Bits<64>>,
    pub m_key_length: Signal<Out, Bits<32>>,
    pub m_key_pd: Signal<Out, Bits<16>>,
    pub m_key_access: Signal<Out, Bits<4>>,
    pub m_key_done: Signal<In, Bit>,
    pub m_key_ok: Signal<In, Bit>,
    pub m_key_paged: Signal<In, Bit>,
    pub m_key_address: Signal<In, Bits<64>>,
    owner: DFF<Bits<2>>,
    pending0: DFF<Bit>,
    pending1: DFF<Bit>,
    pending2: DFF<Bit>,
    want0: Signal<Local, Bit>,
    want1: Signal<Local, Bit>,
    want2: Signal<Local, Bit>,
    wants: Signal<Local, Bit>,
    done0: Signal<Local, Bit>,
    done1: Signal<Local, Bit>,
    done2: Signal<Local, Bit>,
    client0: Constant<Bits<2>>,
    client1: Constant<Bits<2>>,
    client2: Constant<Bits<2>>,
}

impl Default for KeyArbiter {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s0_key_start: Default::default(),
            s0_key_op: Default::default(),
            s0_key: Default::default(),
            s0_key_va: Default::default(),
            s0_key_length: Default::default(),
            s0_key_pd: Default::default(),
            s0_key_access: Default::default(),
            s0_key_done: Default::default(),
            s1_key_start: Default::default(),
            s1_key_op: Default::default(),
            s1_key: Default::default(),
            s1_key_va: Default::default(),
            s1_key_length: Default::default(),
            s1_key_pd: Default::default(),
            s1_key_access: Default::default(),
            s1_key_done: Default::default(),
            s2_key_start: Default::default(),
            s2_key_op: Default::default(),
            s2_key: Default::default(),
            s2_key_va: Default::default(),
            s2_key_length: Default::default(),
            s2_key_pd: Default::default(),
            s2_key_access: Default::default(),
            s2_key_done: Default::default(),
            key_ok: Default::default(),
            key_paged: Default::default(),
            key_address: Default::default(),
            m_key_start: Default::default(),
            m_key_op: Default::default(),
            m_key: Default::default(),
            m_key_va: Default::default(),
            m_key_length: Default::default(),
            m_key_pd: Default::default(),
            m_key_access: Default::default(),
            m_key_done: Default::default(),
            m_key_ok: Default::default(),
            m_key_paged: Default::default(),
            m_key_address: Default::default(),
            owner: Default::default(),
            pending0: Default::default(),
            pending1: Default::default(),
            pending2: Default::default(),
            want0: Default::default(),
            want1: Default::default(),
            want2: Default::default(),
            wants: Default::default(),
            done0: Default::default(),
            done1: Default::default(),
            done2: Default::default(),
            client0: Constant::new(0u64.to_bits()),
            client1: Constant::new(1u64.to_bits()),
            client2: Constant::new(2u64.to_bits()),
        }
    }
}

impl Logic for KeyArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, owner, pending0, pending1, pending2);

        self.done0.next = self.m_key_done.val() & (self.owner.q.val() == self.client0.val());
        self.want0.next = self.s0_key_start.val() | self.pending0.q.val();
        self.pending0.d.next = self.want0.val() & !self.done0.val();
        self.s0_key_done.next = self.done0.val();
        self.done1.next = self.m_key_done.val() & (self.owner.q.val() == self.client1.val());
        self.want1.next = self.s1_key_start.val() | self.pending1.q.val();
        self.pending1.d.next = self.want1.val() & !self.done1.val();
        self.s1_key_done.next = self.done1.val();
        self.done2.next = self.m_key_done.val() & (self.owner.q.val() == self.client2.val());
        self.want2.next = self.s2_key_start.val() | self.pending2.q.val();
        self.pending2.d.next = self.want2.val() & !self.done2.val();
        self.s2_key_done.next = self.done2.val();
        self.wants.next = self.want0.val();
        self.m_key_op.next = self.s0_key_op.val();
        self.m_key.next = self.s0_key.val();
        self.m_key_va.next = self.s0_key_va.val();
        self.m_key_length.next = self.s0_key_length.val();
        self.m_key_pd.next = self.s0_key_pd.val();
        self.m_key_access.next = self.s0_key_access.val();
        if self.owner.q.val() == self.client1.val() {
            self.wants.next = self.want1.val();
            self.m_key_op.next = self.s1_key_op.val();
            self.m_key.next = self.s1_key.val();
            self.m_key_va.next = self.s1_key_va.val();
            self.m_key_length.next = self.s1_key_length.val();
            self.m_key_pd.next = self.s1_key_pd.val();
            self.m_key_access.next = self.s1_key_access.val();
        }
        if self.owner.q.val() == self.client2.val() {
            self.wants.next = self.want2.val();
            self.m_key_op.next = self.s2_key_op.val();
            self.m_key.next = self.s2_key.val();
            self.m_key_va.next = self.s2_key_va.val();
            self.m_key_length.next = self.s2_key_length.val();
            self.m_key_pd.next = self.s2_key_pd.val();
            self.m_key_access.next = self.s2_key_access.val();
        }
        self.m_key_start.next = self.wants.val();
        self.key_ok.next = self.m_key_ok.val();
        self.key_paged.next = self.m_key_paged.val();
        self.key_address.next = self.m_key_address.val();

        // The next owner: after a check the others first; else who wants.
        if !self.wants.val() | self.m_key_done.val() {
            self.owner.d.next = self.client0.val();
            if self.owner.q.val() == self.client0.val() {
                if self.want2.val() {
                    self.owner.d.next = self.client2.val();
                }
                if self.want1.val() {
                    self.owner.d.next = self.client1.val();
                }
            }
            if self.owner.q.val() == self.client1.val() {
                if self.want2.val() {
                    self.owner.d.next = self.client2.val();
                }
            }
            if self.owner.q.val() == self.client2.val() {
                if self.want1.val() & !self.want0.val() {
                    self.owner.d.next = self.client1.val();
                }
            }
        }

        if self.reset.val() {
            self.owner.d.next = self.client0.val();
            self.pending0.d.next = false;
            self.pending1.d.next = false;
            self.pending2.d.next = false;
        }
    }

    crate::block_name!();
}
