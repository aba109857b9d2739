// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an opcode asks for, a cycle after it is there. (`rx` lets only known opcodes pass, R11; anything else comes out as none of the kinds.)
//!
//! ```text
//! opcode [7:5] ─► transport      [4:0] ─► a table of 32 bits for each kind, made from `headers::OPCODES`
//! ```

use rust_hdl::prelude::*;
use verbena_spec::headers::{self, transport, Operation};

#[derive(LogicBlock)]
pub struct Opcode {
    pub clock: Signal<In, Clock>,
    pub opcode: Signal<In, Bits<8>>,
    pub rc: Signal<Out, Bit>,
    pub datagram: Signal<Out, Bit>,
    pub send: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    /// First packet of its SEND or WRITE (FIRST or ONLY).
    pub start: Signal<Out, Bit>,
    /// Last packet of its SEND or WRITE (LAST or ONLY).
    pub finish: Signal<Out, Bit>,
    pub immediate: Signal<Out, Bit>,
    pub invalidate: Signal<Out, Bit>,
    /// An answer to a request of ours: the requester's, or a ghost (R39).
    pub response: Signal<Out, Bit>,
    /// A READ or ATOMIC request: the READ responder's.
    pub answered: Signal<Out, Bit>,
    rc_kept: DFF<Bit>,
    datagram_kept: DFF<Bit>,
    send_kept: DFF<Bit>,
    write_kept: DFF<Bit>,
    start_kept: DFF<Bit>,
    finish_kept: DFF<Bit>,
    immediate_kept: DFF<Bit>,
    invalidate_kept: DFF<Bit>,
    response_kept: DFF<Bit>,
    answered_kept: DFF<Bit>,
    code: Signal<Local, Bits<5>>,
    service_rc: Constant<Bits<3>>,
    service_ud: Constant<Bits<3>>,
    sends: Constant<Bits<32>>,
    writes: Constant<Bits<32>>,
    starts: Constant<Bits<32>>,
    finishes: Constant<Bits<32>>,
    immediates: Constant<Bits<32>>,
    invalidates: Constant<Bits<32>>,
    responses: Constant<Bits<32>>,
    answereds: Constant<Bits<32>>,
}

impl Default for Opcode {
    fn default() -> Self {
        // UC's and UD's opcodes are RC's with other upper bits.
        let table = |kind: &dyn Fn(&headers::Opcode) -> bool| {
            let codes = headers::OPCODES.iter().filter(|o| o.transport == transport::RC && kind(o));
            Constant::new(codes.fold(0u64, |bits, o| bits | 1 << o.value).to_bits())
        };
        let request = |o: &headers::Opcode| matches!(o.operation, Operation::Send | Operation::Write);
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
            answered: Default::default(),
            rc_kept: Default::default(),
            datagram_kept: Default::default(),
            send_kept: Default::default(),
            write_kept: Default::default(),
            start_kept: Default::default(),
            finish_kept: Default::default(),
            immediate_kept: Default::default(),
            invalidate_kept: Default::default(),
            response_kept: Default::default(),
            answered_kept: Default::default(),
            code: Default::default(),
            service_rc: Constant::new((transport::RC as u64).to_bits()),
            service_ud: Constant::new((transport::UD as u64).to_bits()),
            sends: table(&|o| o.operation == Operation::Send),
            writes: table(&|o| o.operation == Operation::Write),
            starts: table(&|o| request(o) && o.begins()),
            finishes: table(&|o| request(o) && o.ends()),
            immediates: table(&|o| o.immediate),
            invalidates: table(&|o| o.ieth),
            responses: table(&|o| {
                matches!(
                    o.operation,
                    Operation::ReadResponse | Operation::Acknowledge | Operation::AtomicAcknowledge
                )
            }),
            answereds: table(&|o| matches!(o.operation, Operation::ReadRequest | Operation::CompareSwap | Operation::FetchAdd)),
        }
    }
}

impl Logic for Opcode {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rc_kept, datagram_kept, send_kept, write_kept, start_kept);
        dff_setup!(
            self,
            clock,
            finish_kept,
            immediate_kept,
            invalidate_kept,
            response_kept,
            answered_kept
        );
        self.code.next = self.opcode.val().get_bits::<5>(0);
        self.rc_kept.d.next = self.opcode.val().get_bits::<3>(5) == self.service_rc.val();
        self.datagram_kept.d.next = self.opcode.val().get_bits::<3>(5) == self.service_ud.val();
        self.send_kept.d.next = self.sends.val().get_bit(self.code.val().index());
        self.write_kept.d.next = self.writes.val().get_bit(self.code.val().index());
        self.start_kept.d.next = self.starts.val().get_bit(self.code.val().index());
        self.finish_kept.d.next = self.finishes.val().get_bit(self.code.val().index());
        self.immediate_kept.d.next = self.immediates.val().get_bit(self.code.val().index());
        self.invalidate_kept.d.next = self.invalidates.val().get_bit(self.code.val().index());
        self.response_kept.d.next = self.responses.val().get_bit(self.code.val().index());
        self.answered_kept.d.next = self.answereds.val().get_bit(self.code.val().index());
        self.rc.next = self.rc_kept.q.val();
        self.datagram.next = self.datagram_kept.q.val();
        self.send.next = self.send_kept.q.val();
        self.write.next = self.write_kept.q.val();
        self.start.next = self.start_kept.q.val();
        self.finish.next = self.finish_kept.q.val();
        self.immediate.next = self.immediate_kept.q.val();
        self.invalidate.next = self.invalidate_kept.q.val();
        self.response.next = self.response_kept.q.val();
        self.answered.next = self.answered_kept.q.val();
    }

    crate::block_name!();
}
