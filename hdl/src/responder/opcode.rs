// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an opcode asks for, a cycle after it is there. (`rx` lets only known opcodes pass, R11; anything else comes out as none of the kinds.)
//!
//! ```text
//! [7:5] 0 RC, 1 UC, 3 UD      [4:0] 0–5 SEND, 6–11 WRITE: first, middle, last, last imm, only, only imm
//!                                   12 READ request, 13–16 its responses, 17 ACK, 18 ATOMIC ACK, 19, 20 ATOMIC
//!                                   22, 23 SEND last, only with invalidate
//! ```

use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Opcode {
    pub clock: Signal<In, Clock>,
    pub opcode: Signal<In, Bits<8>>,
    pub rc: Signal<Out, Bit>,
    pub datagram: Signal<Out, Bit>,
    pub send: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    /// First packet of its message (FIRST or ONLY).
    pub start: Signal<Out, Bit>,
    /// Last packet of its message (LAST or ONLY).
    pub finish: Signal<Out, Bit>,
    pub immediate: Signal<Out, Bit>,
    pub invalidate: Signal<Out, Bit>,
    /// An answer: there is no requester yet that could want it (R39).
    pub response: Signal<Out, Bit>,
    rc_kept: DFF<Bit>,
    datagram_kept: DFF<Bit>,
    send_kept: DFF<Bit>,
    write_kept: DFF<Bit>,
    start_kept: DFF<Bit>,
    finish_kept: DFF<Bit>,
    immediate_kept: DFF<Bit>,
    invalidate_kept: DFF<Bit>,
    response_kept: DFF<Bit>,
    code: Signal<Local, Bits<5>>,
    place: Signal<Local, Bits<5>>,
    with_key: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    service_rc: Constant<Bits<3>>,
    service_ud: Constant<Bits<3>>,
    write_first: Constant<Bits<5>>,
    read_request: Constant<Bits<5>>,
    atomic_ack: Constant<Bits<5>>,
    last_invalidate: Constant<Bits<5>>,
    only_invalidate: Constant<Bits<5>>,
    place_first: Constant<Bits<5>>,
    place_last: Constant<Bits<5>>,
    place_last_immediate: Constant<Bits<5>>,
    place_only: Constant<Bits<5>>,
    place_only_immediate: Constant<Bits<5>>,
}

impl Default for Opcode {
    fn default() -> Self {
        let number = |n: u64| Constant::new(n.to_bits());
        Self {
            clock: Default::default(),
            opcode: Default::default(),
            rc: Default::default(),
            datagram: Default::default(),
            send: Default::default(),
            write: Default::default(),
            start: Default::default(),
            finish: Default::default(),
            immediate: Default::default(),
            invalidate: Default::default(),
            response: Default::default(),
            rc_kept: Default::default(),
            datagram_kept: Default::default(),
            send_kept: Default::default(),
            write_kept: Default::default(),
            start_kept: Default::default(),
            finish_kept: Default::default(),
            immediate_kept: Default::default(),
            invalidate_kept: Default::default(),
            response_kept: Default::default(),
            code: Default::default(),
            place: Default::default(),
            with_key: Default::default(),
            is_write: Default::default(),
            service_rc: Constant::new(0u64.to_bits()),
            service_ud: Constant::new(3u64.to_bits()),
            write_first: number(6),
            read_request: number(12),
            atomic_ack: number(18),
            last_invalidate: number(22),
            only_invalidate: number(23),
            place_first: number(0),
            place_last: number(2),
            place_last_immediate: number(3),
            place_only: number(4),
            place_only_immediate: number(5),
        }
    }
}

impl Logic for Opcode {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rc_kept, datagram_kept, send_kept, write_kept, start_kept);
        dff_setup!(self, clock, finish_kept, immediate_kept, invalidate_kept, response_kept);
        self.code.next = self.opcode.val().get_bits::<5>(0);
        self.rc_kept.d.next = self.opcode.val().get_bits::<3>(5) == self.service_rc.val();
        self.datagram_kept.d.next = self.opcode.val().get_bits::<3>(5) == self.service_ud.val();
        self.with_key.next = (self.code.val() == self.last_invalidate.val()) | (self.code.val() == self.only_invalidate.val());
        self.send_kept.d.next = (self.code.val() < self.write_first.val()) | self.with_key.val();
        self.is_write.next = (self.code.val() >= self.write_first.val()) & (self.code.val() < self.read_request.val());
        self.write_kept.d.next = self.is_write.val();
        self.response_kept.d.next = (self.code.val() > self.read_request.val()) & (self.code.val() <= self.atomic_ack.val());
        self.place.next = self.code.val();
        if self.is_write.val() {
            self.place.next = self.code.val() - self.write_first.val();
        }
        self.immediate_kept.d.next =
            (self.place.val() == self.place_last_immediate.val()) | (self.place.val() == self.place_only_immediate.val());
        self.invalidate_kept.d.next = self.with_key.val();
        self.start_kept.d.next = (self.place.val() == self.place_first.val())
            | (self.place.val() == self.place_only.val())
            | (self.place.val() == self.place_only_immediate.val())
            | (self.code.val() == self.only_invalidate.val());
        self.finish_kept.d.next =
            ((self.place.val() >= self.place_last.val()) & (self.place.val() <= self.place_only_immediate.val())) | self.with_key.val();
        self.rc.next = self.rc_kept.q.val();
        self.datagram.next = self.datagram_kept.q.val();
        self.send.next = self.send_kept.q.val();
        self.write.next = self.write_kept.q.val();
        self.start.next = self.start_kept.q.val();
        self.finish.next = self.finish_kept.q.val();
        self.immediate.next = self.immediate_kept.q.val();
        self.invalidate.next = self.invalidate_kept.q.val();
        self.response.next = self.response_kept.q.val();
    }

    crate::block_name!();
}
