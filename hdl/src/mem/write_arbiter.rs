// SPDX-License-Identifier: MIT OR Apache-2.0
//! Write arbiter: the write channel groups onto one AXI4 master's AW, W and B.
//!
//! ```text
//! payload    aw ─┐ alternate                     ┌─ ID 0 payload, ID 1 completion, ID 2 ATOMIC
//! completion aw ─┼─► m_aw register               m_b ─┴─► b_valid, b_error of the group
//! atomic     aw ─┘ under the lock                └─► writes without their B ─► atomic_locked
//!                └─► order of grants ─► W of the group whose turn it is ─► m_w register, and one more behind it
//! ```
//!
//! W beats follow in AW order, without interleaving. Latency 1 cycle for AW and W, none for B. One beat a cycle; a turn costs no cycle. One AW in two cycles at most: its ready,
//! and W's, depend on registers alone.
//! `m_b_ready` is constantly 1 outside reset. W may be accepted before its AW, never offered before it.
//! The third group is built in an engine with ATOMIC. From the cycle after `atomic_lock` rises no AW of the other two is granted; `atomic_locked` says that each
//! write of theirs has its B, and holds until the lock falls. The ATOMIC's AW is granted while `atomic_locked`, one write at a time, its W from the cycle after.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;

/// Merges the writers of the engine on a bus of `W` bits, `K = W/8`. Up to 4 grants wait for their W; one in a small engine.
#[derive(LogicBlock)]
pub struct WriteArbiter<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub payload_aw_address: Signal<In, Bits<64>>,
    pub payload_aw_length: Signal<In, Bits<8>>,
    pub payload_aw_valid: Signal<In, Bit>,
    pub payload_aw_ready: Signal<Out, Bit>,
    pub payload_w_data: Signal<In, Bits<W>>,
    pub payload_w_strobe: Signal<In, Bits<K>>,
    pub payload_w_last: Signal<In, Bit>,
    pub payload_w_valid: Signal<In, Bit>,
    pub payload_w_ready: Signal<Out, Bit>,
    pub payload_b_valid: Signal<Out, Bit>,
    pub payload_b_error: Signal<Out, Bit>,
    pub completion_aw_address: Signal<In, Bits<64>>,
    pub completion_aw_length: Signal<In, Bits<8>>,
    pub completion_aw_valid: Signal<In, Bit>,
    pub completion_aw_ready: Signal<Out, Bit>,
    pub completion_w_data: Signal<In, Bits<W>>,
    pub completion_w_strobe: Signal<In, Bits<K>>,
    pub completion_w_last: Signal<In, Bit>,
    pub completion_w_valid: Signal<In, Bit>,
    pub completion_w_ready: Signal<Out, Bit>,
    pub completion_b_valid: Signal<Out, Bit>,
    pub completion_b_error: Signal<Out, Bit>,
    pub atomic_aw_address: Signal<In, Bits<64>>,
    pub atomic_aw_length: Signal<In, Bits<8>>,
    pub atomic_aw_valid: Signal<In, Bit>,
    pub atomic_aw_ready: Signal<Out, Bit>,
    pub atomic_w_data: Signal<In, Bits<W>>,
    pub atomic_w_strobe: Signal<In, Bits<K>>,
    pub atomic_w_last: Signal<In, Bit>,
    pub atomic_w_valid: Signal<In, Bit>,
    pub atomic_w_ready: Signal<Out, Bit>,
    pub atomic_b_valid: Signal<Out, Bit>,
    pub atomic_b_error: Signal<Out, Bit>,
    /// Held from before the ATOMIC's read to after its B.
    pub atomic_lock: Signal<In, Bit>,
    pub atomic_locked: Signal<Out, Bit>,
    pub m_aw_id: Signal<Out, Bits<3>>,
    pub m_aw_address: Signal<Out, Bits<64>>,
    pub m_aw_length: Signal<Out, Bits<8>>,
    pub m_aw_valid: Signal<Out, Bit>,
    pub m_aw_ready: Signal<In, Bit>,
    pub m_w_data: Signal<Out, Bits<W>>,
    pub m_w_strobe: Signal<Out, Bits<K>>,
    pub m_w_last: Signal<Out, Bit>,
    pub m_w_valid: Signal<Out, Bit>,
    pub m_w_ready: Signal<In, Bit>,
    pub m_b_id: Signal<In, Bits<3>>,
    pub m_b_response: Signal<In, Bits<2>>,
    pub m_b_valid: Signal<In, Bit>,
    pub m_b_ready: Signal<Out, Bit>,
    aw_address: DFF<Bits<64>>,
    aw_length: DFF<Bits<8>>,
    aw_valid: DFF<Bit>,
    /// Group of the last grant: 0 payload, 1 completion. Also the ID.
    granted: DFF<Bit>,
    /// The last grant was the ATOMIC's.
    atomic_granted: DFF<Bit>,
    /// The ATOMIC's AW is granted and its W isn't over.
    atomic_turn: DFF<Bit>,
    /// No AW of the first two groups is granted.
    closed: DFF<Bit>,
    /// Writes of the first two groups that were granted and have no B.
    without_b: DFF<Bits<5>>,
    w_data: DFF<Bits<W>>,
    w_strobe: DFF<Bits<K>>,
    w_last: DFF<Bit>,
    w_valid: DFF<Bit>,
    /// A beat that came while the first waits: so nothing behind depends on `m_w_ready` of the same cycle.
    side_data: DFF<Bits<W>>,
    side_strobe: DFF<Bits<K>>,
    side_last: DFF<Bit>,
    side_valid: DFF<Bit>,
    order: DFF<Bits<4>>,
    order_count: DFF<Bits<3>>,
    open: Signal<Local, Bit>,
    payload_open: Signal<Local, Bit>,
    completion_open: Signal<Local, Bit>,
    payload_wins: Signal<Local, Bit>,
    completion_wins: Signal<Local, Bit>,
    turn: Signal<Local, Bit>,
    w_open: Signal<Local, Bit>,
    w_leaves: Signal<Local, Bit>,
    w_comes: Signal<Local, Bit>,
    in_data: Signal<Local, Bits<W>>,
    in_strobe: Signal<Local, Bits<K>>,
    in_last: Signal<Local, Bit>,
    w_take: Signal<Local, Bit>,
    w_end: Signal<Local, Bit>,
    aw_open: Signal<Local, Bit>,
    locked: Signal<Local, Bit>,
    atomic_open: Signal<Local, Bit>,
    atomic_wins: Signal<Local, Bit>,
    atomic_w_open: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
    kept: Signal<Local, Bits<3>>,
    order_kept: Signal<Local, Bits<4>>,
    depth: Constant<Bits<3>>,
    count_mask: Constant<Bits<3>>,
    order_mask: Constant<Bits<4>>,
    address_mask: Constant<Bits<64>>,
    id_payload: Constant<Bits<3>>,
    id_completion: Constant<Bits<3>>,
    id_atomic: Constant<Bits<3>>,
    has_atomic: Constant<Bit>,
}

impl<const W: usize, const K: usize> WriteArbiter<W, K> {
    pub fn new(config: &Config) -> Self {
        assert!(W == 8 * K && W == config.data_bits, "WriteArbiter: K must be W/8");
        let depth = if config.small() { 1u64 } else { 4 };
        Self {
            clock: Default::default(),
            reset: Default::default(),
            payload_aw_address: Default::default(),
            payload_aw_length: Default::default(),
            payload_aw_valid: Default::default(),
            payload_aw_ready: Default::default(),
            payload_w_data: Default::default(),
            payload_w_strobe: Default::default(),
            payload_w_last: Default::default(),
            payload_w_valid: Default::default(),
            payload_w_ready: Default::default(),
            payload_b_valid: Default::default(),
            payload_b_error: Default::default(),
            completion_aw_address: Default::default(),
            completion_aw_length: Default::default(),
            completion_aw_valid: Default::default(),
            completion_aw_ready: Default::default(),
            completion_w_data: Default::default(),
            completion_w_strobe: Default::default(),
            completion_w_last: Default::default(),
            completion_w_valid: Default::default(),
            completion_w_ready: Default::default(),
            completion_b_valid: Default::default(),
            completion_b_error: Default::default(),
            atomic_aw_address: Default::default(),
            atomic_aw_length: Default::default(),
            atomic_aw_valid: Default::default(),
            atomic_aw_ready: Default::default(),
            atomic_w_data: Default::default(),
            atomic_w_strobe: Default::default(),
            atomic_w_last: Default::default(),
            atomic_w_valid: Default::default(),
            atomic_w_ready: Default::default(),
            atomic_b_valid: Default::default(),
            atomic_b_error: Default::default(),
            atomic_lock: Default::default(),
            atomic_locked: Default::default(),
            m_aw_id: Default::default(),
            m_aw_address: Default::default(),
            m_aw_length: Default::default(),
            m_aw_valid: Default::default(),
            m_aw_ready: Default::default(),
            m_w_data: Default::default(),
            m_w_strobe: Default::default(),
            m_w_last: Default::default(),
            m_w_valid: Default::default(),
            m_w_ready: Default::default(),
            m_b_id: Default::default(),
            m_b_response: Default::default(),
            m_b_valid: Default::default(),
            m_b_ready: Default::default(),
            aw_address: Default::default(),
            aw_length: Default::default(),
            aw_valid: Default::default(),
            granted: Default::default(),
            atomic_granted: Default::default(),
            atomic_turn: Default::default(),
            closed: Default::default(),
            without_b: Default::default(),
            w_data: Default::default(),
            w_strobe: Default::default(),
            w_last: Default::default(),
            w_valid: Default::default(),
            side_data: Default::default(),
            side_strobe: Default::default(),
            side_last: Default::default(),
            side_valid: Default::default(),
            order: Default::default(),
            order_count: Default::default(),
            open: Default::default(),
            payload_open: Default::default(),
            completion_open: Default::default(),
            payload_wins: Default::default(),
            completion_wins: Default::default(),
            turn: Default::default(),
            w_open: Default::default(),
            w_leaves: Default::default(),
            w_comes: Default::default(),
            in_data: Default::default(),
            in_strobe: Default::default(),
            in_last: Default::default(),
            w_take: Default::default(),
            w_end: Default::default(),
            aw_open: Default::default(),
            locked: Default::default(),
            atomic_open: Default::default(),
            atomic_wins: Default::default(),
            atomic_w_open: Default::default(),
            answered: Default::default(),
            kept: Default::default(),
            order_kept: Default::default(),
            depth: Constant::new(depth.to_bits()),
            count_mask: Constant::new((2 * depth - 1).to_bits()),
            order_mask: Constant::new(((1 << depth) - 1u64).to_bits()),
            address_mask: Constant::new(config.address_mask().to_bits()),
            id_payload: Constant::new(0.into()),
            id_completion: Constant::new(1.into()),
            id_atomic: Constant::new(2.into()),
            has_atomic: Constant::new(!config.small()),
        }
    }
}

impl<const W: usize, const K: usize> Logic for WriteArbiter<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            aw_address,
            aw_length,
            aw_valid,
            granted,
            atomic_granted,
            atomic_turn,
            closed,
            without_b,
            w_data,
            w_strobe,
            w_last,
            w_valid,
            side_data,
            side_strobe,
            side_last,
            side_valid,
            order,
            order_count
        );

        // AW: who was granted last gives way. A group's ready depends on the other's valid only.
        self.aw_open.next = !self.aw_valid.q.val();
        self.open.next = self.aw_open.val() & (self.order_count.q.val() != self.depth.val()) & !self.closed.q.val();
        self.payload_open.next = self.open.val() & !(self.completion_aw_valid.val() & !self.granted.q.val());
        self.completion_open.next = self.open.val() & !(self.payload_aw_valid.val() & self.granted.q.val());
        self.payload_wins.next = self.payload_open.val() & self.payload_aw_valid.val();
        self.completion_wins.next = self.completion_open.val() & self.completion_aw_valid.val();
        self.payload_aw_ready.next = self.payload_open.val();
        self.completion_aw_ready.next = self.completion_open.val();
        if self.m_aw_ready.val() {
            self.aw_valid.d.next = false;
        }
        if self.payload_wins.val() | self.completion_wins.val() {
            self.aw_valid.d.next = true;
            self.granted.d.next = self.completion_wins.val();
            self.aw_address.d.next = self.payload_aw_address.val() & self.address_mask.val();
            self.aw_length.d.next = self.payload_aw_length.val();
            if self.completion_wins.val() {
                self.aw_address.d.next = self.completion_aw_address.val() & self.address_mask.val();
                self.aw_length.d.next = self.completion_aw_length.val();
            }
        }

        // The ATOMIC's: with the lock no other write is under way, so nothing of the order of grants is needed.
        self.locked.next = self.atomic_lock.val() & self.closed.q.val() & !self.without_b.q.val().any();
        self.atomic_locked.next = self.locked.val();
        self.atomic_open.next = self.aw_open.val() & self.locked.val() & !self.atomic_turn.q.val();
        self.atomic_aw_ready.next = self.atomic_open.val();
        self.atomic_wins.next = self.atomic_open.val() & self.atomic_aw_valid.val() & self.has_atomic.val();
        if self.payload_wins.val() | self.completion_wins.val() {
            self.atomic_granted.d.next = false;
        }
        if self.atomic_wins.val() {
            self.aw_valid.d.next = true;
            self.atomic_granted.d.next = true;
            self.atomic_turn.d.next = true;
            self.aw_address.d.next = self.atomic_aw_address.val() & self.address_mask.val();
            self.aw_length.d.next = self.atomic_aw_length.val();
        }

        // W: in the order of the grants; bit 0 of `order` is whose turn it is.
        self.turn.next = self.order.q.val().get_bit(0);
        self.w_open.next = !self.side_valid.q.val() & self.order_count.q.val().any();
        self.payload_w_ready.next = self.w_open.val() & !self.turn.val();
        self.completion_w_ready.next = self.w_open.val() & self.turn.val();
        self.w_take.next = self.w_open.val() & self.payload_w_valid.val();
        self.w_end.next = self.w_open.val() & self.payload_w_valid.val() & self.payload_w_last.val();
        if self.turn.val() {
            self.w_take.next = self.w_open.val() & self.completion_w_valid.val();
            self.w_end.next = self.w_open.val() & self.completion_w_valid.val() & self.completion_w_last.val();
        }
        self.in_data.next = self.payload_w_data.val();
        self.in_strobe.next = self.payload_w_strobe.val();
        self.in_last.next = self.payload_w_last.val();
        if self.turn.val() {
            self.in_data.next = self.completion_w_data.val();
            self.in_strobe.next = self.completion_w_strobe.val();
            self.in_last.next = self.completion_w_last.val();
        }
        self.atomic_w_open.next = !self.side_valid.q.val() & self.atomic_turn.q.val();
        self.atomic_w_ready.next = self.atomic_w_open.val();
        self.w_comes.next = self.w_take.val();
        if self.atomic_turn.q.val() {
            self.in_data.next = self.atomic_w_data.val();
            self.in_strobe.next = self.atomic_w_strobe.val();
            self.in_last.next = self.atomic_w_last.val();
        }
        if self.atomic_w_open.val() & self.atomic_w_valid.val() {
            self.w_comes.next = true;
            if self.atomic_w_last.val() {
                self.atomic_turn.d.next = false;
            }
        }
        self.w_leaves.next = !self.w_valid.q.val() | self.m_w_ready.val();
        if self.w_leaves.val() {
            self.w_valid.d.next = self.side_valid.q.val() | self.w_comes.val();
            self.w_data.d.next = self.in_data.val();
            self.w_strobe.d.next = self.in_strobe.val();
            self.w_last.d.next = self.in_last.val();
            if self.side_valid.q.val() {
                self.w_data.d.next = self.side_data.q.val();
                self.w_strobe.d.next = self.side_strobe.q.val();
                self.w_last.d.next = self.side_last.q.val();
            }
            self.side_valid.d.next = false;
        } else {
            if self.w_comes.val() {
                self.side_valid.d.next = true;
            }
        }
        if !self.side_valid.q.val() {
            self.side_data.d.next = self.in_data.val();
            self.side_strobe.d.next = self.in_strobe.val();
            self.side_last.d.next = self.in_last.val();
        }

        self.kept.next = self.order_count.q.val();
        self.order_kept.next = self.order.q.val();
        if self.w_end.val() {
            self.kept.next = self.order_count.q.val() - 1;
            self.order_kept.next = self.order.q.val() >> 1;
        }
        self.order_count.d.next = self.kept.val() & self.count_mask.val();
        self.order.d.next = self.order_kept.val() & self.order_mask.val();
        if self.payload_wins.val() | self.completion_wins.val() {
            self.order_count.d.next = (self.kept.val() + 1) & self.count_mask.val();
            self.order.d.next = self
                .order_kept
                .val()
                .replace_bit(self.kept.val().index(), self.completion_wins.val())
                & self.order_mask.val();
        }

        // More than 24 grants without B (two writers have fewer) wait, too, so that the count can't wrap.
        self.closed.d.next =
            (self.atomic_lock.val() | (self.without_b.q.val().get_bit(4) & self.without_b.q.val().get_bit(3))) & self.has_atomic.val();
        self.answered.next = self.m_b_valid.val() & (self.m_b_id.val() != self.id_atomic.val()) & self.without_b.q.val().any();
        if self.has_atomic.val() {
            if self.payload_wins.val() | self.completion_wins.val() {
                if !self.answered.val() {
                    self.without_b.d.next = self.without_b.q.val() + 1;
                }
            } else {
                if self.answered.val() {
                    self.without_b.d.next = self.without_b.q.val() - 1;
                }
            }
        }

        // B: SLVERR and DECERR are errors (R69).
        self.payload_b_valid.next = self.m_b_valid.val() & (self.m_b_id.val() == self.id_payload.val()) & !self.reset.val();
        self.completion_b_valid.next = self.m_b_valid.val() & (self.m_b_id.val() == self.id_completion.val()) & !self.reset.val();
        self.atomic_b_valid.next =
            self.m_b_valid.val() & (self.m_b_id.val() == self.id_atomic.val()) & self.has_atomic.val() & !self.reset.val();
        self.atomic_b_error.next = self.m_b_response.val().get_bit(1);
        self.payload_b_error.next = self.m_b_response.val().get_bit(1);
        self.completion_b_error.next = self.m_b_response.val().get_bit(1);
        self.m_b_ready.next = !self.reset.val();

        self.m_aw_id.next = self.id_payload.val();
        if self.granted.q.val() {
            self.m_aw_id.next = self.id_completion.val();
        }
        if self.atomic_granted.q.val() {
            self.m_aw_id.next = self.id_atomic.val();
        }
        self.m_aw_address.next = self.aw_address.q.val();
        self.m_aw_length.next = self.aw_length.q.val();
        self.m_aw_valid.next = self.aw_valid.q.val() & !self.reset.val();
        self.m_w_data.next = self.w_data.q.val();
        self.m_w_strobe.next = self.w_strobe.q.val();
        self.m_w_last.next = self.w_last.q.val();
        self.m_w_valid.next = self.w_valid.q.val() & !self.reset.val();

        if self.reset.val() {
            self.aw_valid.d.next = false;
            self.w_valid.d.next = false;
            self.side_valid.d.next = false;
            self.order_count.d.next = 0.into();
            self.granted.d.next = true;
            self.atomic_granted.d.next = false;
            self.atomic_turn.d.next = false;
            self.closed.d.next = false;
            self.without_b.d.next = 0.into();
        }
    }

    crate::block_name!();
}
