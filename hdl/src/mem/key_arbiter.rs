// SPDX-License-Identifier: MIT OR Apache-2.0
//! Key arbiter: four clients of the one `Keys`.
//!
//! ```text
//! control  ─┐ passes at once when nothing runs
//! send     ─┤
//! complete ─┼─► key_* of `Keys` ─► key_done of the client whose check it was; ok, paged, address to all
//! read     ─┘ in turns, a cycle later
//! ```
//!
//! A client's start may be a pulse or be held until done; its inputs hold until done; it looks at the answer in the done cycle. One check at a time,
//! none is interrupted. Where others want one, control's checks alternate with theirs, which come in turns. With a start `Keys` sees the key, in the
//! cycle after it length, PD and access, two later the address's lower half, three later its upper half.

use rust_hdl::prelude::*;

/// The arbiter. Latency 0 for control, 1 for the others, when nothing runs.
#[derive(LogicBlock)]
pub struct KeyArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub control_key_start: Signal<In, Bit>,
    pub control_key_op: Signal<In, Bits<1>>,
    pub control_key: Signal<In, Bits<32>>,
    pub control_key_va: Signal<In, Bits<64>>,
    pub control_key_length: Signal<In, Bits<32>>,
    pub control_key_pd: Signal<In, Bits<16>>,
    pub control_key_access: Signal<In, Bits<4>>,
    pub control_key_done: Signal<Out, Bit>,
    pub send_key_start: Signal<In, Bit>,
    pub send_key_op: Signal<In, Bits<1>>,
    pub send_key: Signal<In, Bits<32>>,
    pub send_key_va: Signal<In, Bits<64>>,
    pub send_key_length: Signal<In, Bits<32>>,
    pub send_key_pd: Signal<In, Bits<16>>,
    pub send_key_access: Signal<In, Bits<4>>,
    pub send_key_done: Signal<Out, Bit>,
    pub complete_key_start: Signal<In, Bit>,
    pub complete_key_op: Signal<In, Bits<1>>,
    pub complete_key: Signal<In, Bits<32>>,
    pub complete_key_va: Signal<In, Bits<64>>,
    pub complete_key_length: Signal<In, Bits<32>>,
    pub complete_key_pd: Signal<In, Bits<16>>,
    pub complete_key_access: Signal<In, Bits<4>>,
    pub complete_key_done: Signal<Out, Bit>,
    pub read_key_start: Signal<In, Bit>,
    pub read_key_op: Signal<In, Bits<1>>,
    pub read_key: Signal<In, Bits<32>>,
    pub read_key_va: Signal<In, Bits<64>>,
    pub read_key_length: Signal<In, Bits<32>>,
    pub read_key_pd: Signal<In, Bits<16>>,
    pub read_key_access: Signal<In, Bits<4>>,
    pub read_key_done: Signal<Out, Bit>,
    // To `Keys`, and its answer, which goes to all clients as it is.
    pub key_start: Signal<Out, Bit>,
    pub key_op: Signal<Out, Bits<1>>,
    pub key: Signal<Out, Bits<32>>,
    pub key_va: Signal<Out, Bits<64>>,
    pub key_length: Signal<Out, Bits<32>>,
    pub key_pd: Signal<Out, Bits<16>>,
    pub key_access: Signal<Out, Bits<4>>,
    pub key_done: Signal<In, Bit>,
    /// A check runs; whose it is. 0 control.
    busy: DFF<Bit>,
    who: DFF<Bits<2>>,
    /// The client after which the next turn is looked for.
    last: DFF<Bits<2>>,
    /// The last check was control's: another's turn, if one wants it.
    yields: DFF<Bit>,
    control_waits: DFF<Bit>,
    control_wants: Signal<Local, Bit>,
    send_waits: DFF<Bit>,
    send_wants: Signal<Local, Bit>,
    complete_waits: DFF<Bit>,
    complete_wants: Signal<Local, Bit>,
    read_waits: DFF<Bit>,
    read_wants: Signal<Local, Bit>,
    idle: Signal<Local, Bit>,
    pass: Signal<Local, Bit>,
    chosen: Signal<Local, Bits<2>>,
    any: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    whose: Signal<Local, Bits<2>>,
    number_control: Constant<Bits<2>>,
    number_send: Constant<Bits<2>>,
    number_complete: Constant<Bits<2>>,
    number_read: Constant<Bits<2>>,
}

impl Default for KeyArbiter {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            control_key_start: Default::default(),
            control_key_op: Default::default(),
            control_key: Default::default(),
            control_key_va: Default::default(),
            control_key_length: Default::default(),
            control_key_pd: Default::default(),
            control_key_access: Default::default(),
            control_key_done: Default::default(),
            send_key_start: Default::default(),
            send_key_op: Default::default(),
            send_key: Default::default(),
            send_key_va: Default::default(),
            send_key_length: Default::default(),
            send_key_pd: Default::default(),
            send_key_access: Default::default(),
            send_key_done: Default::default(),
            complete_key_start: Default::default(),
            complete_key_op: Default::default(),
            complete_key: Default::default(),
            complete_key_va: Default::default(),
            complete_key_length: Default::default(),
            complete_key_pd: Default::default(),
            complete_key_access: Default::default(),
            complete_key_done: Default::default(),
            read_key_start: Default::default(),
            read_key_op: Default::default(),
            read_key: Default::default(),
            read_key_va: Default::default(),
            read_key_length: Default::default(),
            read_key_pd: Default::default(),
            read_key_access: Default::default(),
            read_key_done: Default::default(),
            key_start: Default::default(),
            key_op: Default::default(),
            key: Default::default(),
            key_va: Default::default(),
            key_length: Default::default(),
            key_pd: Default::default(),
            key_access: Default::default(),
            key_done: Default::default(),
            busy: Default::default(),
            who: Default::default(),
            last: Default::default(),
            yields: Default::default(),
            control_waits: Default::default(),
            control_wants: Default::default(),
            send_waits: Default::default(),
            send_wants: Default::default(),
            complete_waits: Default::default(),
            complete_wants: Default::default(),
            read_waits: Default::default(),
            read_wants: Default::default(),
            idle: Default::default(),
            pass: Default::default(),
            chosen: Default::default(),
            any: Default::default(),
            begins: Default::default(),
            whose: Default::default(),
            number_control: Constant::new(0u64.to_bits()),
            number_send: Constant::new(1u64.to_bits()),
            number_complete: Constant::new(2u64.to_bits()),
            number_read: Constant::new(3u64.to_bits()),
        }
    }
}

impl Logic for KeyArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            busy,
            who,
            last,
            yields,
            control_waits,
            send_waits,
            complete_waits,
            read_waits
        );

        // Who wants a check that isn't under way.
        self.idle.next = !self.busy.q.val();
        self.control_wants.next = self.control_waits.q.val()
            | (self.control_key_start.val() & (self.idle.val() | (self.who.q.val() != self.number_control.val())));
        self.send_wants.next =
            self.send_waits.q.val() | (self.send_key_start.val() & (self.idle.val() | (self.who.q.val() != self.number_send.val())));
        self.complete_wants.next = self.complete_waits.q.val()
            | (self.complete_key_start.val() & (self.idle.val() | (self.who.q.val() != self.number_complete.val())));
        self.read_wants.next =
            self.read_waits.q.val() | (self.read_key_start.val() & (self.idle.val() | (self.who.q.val() != self.number_read.val())));
        // The choice starts from registers; control's start passes at once where nobody waits.
        self.any.next = self.send_waits.q.val() | self.complete_waits.q.val() | self.read_waits.q.val();
        self.begins.next = self.idle.val() & self.any.val() & (self.yields.q.val() | !self.control_waits.q.val());
        self.pass.next = self.idle.val() & self.control_wants.val() & !self.begins.val();
        self.chosen.next = self.number_send.val();
        if self.last.q.val() == self.number_send.val() {
            // Complete, read, send.
            if self.read_waits.q.val() {
                self.chosen.next = self.number_read.val();
            }
            if self.complete_waits.q.val() {
                self.chosen.next = self.number_complete.val();
            }
        }
        if self.last.q.val() == self.number_complete.val() {
            // Read, send, complete.
            if self.complete_waits.q.val() {
                self.chosen.next = self.number_complete.val();
            }
            if self.send_waits.q.val() {
                self.chosen.next = self.number_send.val();
            }
            if self.read_waits.q.val() {
                self.chosen.next = self.number_read.val();
            }
        }
        if (self.last.q.val() == self.number_read.val()) | (self.last.q.val() == self.number_control.val()) {
            // Send, complete, read.
            if self.read_waits.q.val() {
                self.chosen.next = self.number_read.val();
            }
            if self.complete_waits.q.val() {
                self.chosen.next = self.number_complete.val();
            }
            if self.send_waits.q.val() {
                self.chosen.next = self.number_send.val();
            }
        }

        self.control_waits.d.next = self.control_wants.val();
        self.send_waits.d.next = self.send_wants.val();
        self.complete_waits.d.next = self.complete_wants.val();
        self.read_waits.d.next = self.read_wants.val();
        self.key_start.next = self.begins.val() | self.pass.val();
        if self.pass.val() {
            self.busy.d.next = true;
            self.yields.d.next = true;
            self.control_waits.d.next = false;
        }
        // In its first cycle `Keys` looks at the key only.
        self.whose.next = self.who.q.val();
        if self.begins.val() {
            self.whose.next = self.chosen.val();
            self.who.d.next = self.chosen.val();
            self.last.d.next = self.chosen.val();
            self.yields.d.next = false;
            self.busy.d.next = true;
            if self.chosen.val() == self.number_send.val() {
                self.send_waits.d.next = false;
            }
            if self.chosen.val() == self.number_complete.val() {
                self.complete_waits.d.next = false;
            }
            if self.chosen.val() == self.number_read.val() {
                self.read_waits.d.next = false;
            }
        }
        // Control is who comes without being chosen.
        if self.busy.q.val() & self.key_done.val() {
            self.busy.d.next = false;
            self.who.d.next = self.number_control.val();
        }

        self.key_op.next = self.control_key_op.val();
        self.key.next = self.control_key.val();
        self.key_va.next = self.control_key_va.val();
        self.key_length.next = self.control_key_length.val();
        self.key_pd.next = self.control_key_pd.val();
        self.key_access.next = self.control_key_access.val();
        if self.who.q.val() == self.number_send.val() {
            self.key_op.next = self.send_key_op.val();
            self.key_va.next = self.send_key_va.val();
            self.key_length.next = self.send_key_length.val();
            self.key_pd.next = self.send_key_pd.val();
            self.key_access.next = self.send_key_access.val();
        }
        if self.who.q.val() == self.number_complete.val() {
            self.key_op.next = self.complete_key_op.val();
            self.key_va.next = self.complete_key_va.val();
            self.key_length.next = self.complete_key_length.val();
            self.key_pd.next = self.complete_key_pd.val();
            self.key_access.next = self.complete_key_access.val();
        }
        if self.who.q.val() == self.number_read.val() {
            self.key_op.next = self.read_key_op.val();
            self.key_va.next = self.read_key_va.val();
            self.key_length.next = self.read_key_length.val();
            self.key_pd.next = self.read_key_pd.val();
            self.key_access.next = self.read_key_access.val();
        }
        if self.whose.val() == self.number_send.val() {
            self.key.next = self.send_key.val();
        }
        if self.whose.val() == self.number_complete.val() {
            self.key.next = self.complete_key.val();
        }
        if self.whose.val() == self.number_read.val() {
            self.key.next = self.read_key.val();
        }
        self.control_key_done.next = self.key_done.val() & self.busy.q.val() & (self.who.q.val() == self.number_control.val());
        self.send_key_done.next = self.key_done.val() & self.busy.q.val() & (self.who.q.val() == self.number_send.val());
        self.complete_key_done.next = self.key_done.val() & self.busy.q.val() & (self.who.q.val() == self.number_complete.val());
        self.read_key_done.next = self.key_done.val() & self.busy.q.val() & (self.who.q.val() == self.number_read.val());

        if self.reset.val() {
            self.busy.d.next = false;
            self.yields.d.next = false;
            self.who.d.next = self.number_control.val();
            self.last.d.next = self.number_control.val();
            self.key_start.next = false;
            self.control_waits.d.next = false;
            self.send_waits.d.next = false;
            self.complete_waits.d.next = false;
            self.read_waits.d.next = false;
        }
    }

    crate::block_name!();
}
