// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a response says, and whether it fits the request at whose PSN it stands (R40). What it says is registered: a cycle behind the head. `fits`
//! is two cycles behind `closing`.
//!
//! | opcode, syndrome | is |
//! |---|---|
//! | ACKNOWLEDGE, 000xxxxx | acknowledge; credits are ignored (R78) |
//! | ACKNOWLEDGE, 001ttttt | RNR NAK, timer code t |
//! | ACKNOWLEDGE, 01100000 | sequence NAK |
//! | ACKNOWLEDGE, 01100001 to 011 | fatal NAK: remote invalid request, access, operation |
//! | ACKNOWLEDGE, others | fatal: bad response |
//! | READ response | fits a READ: FIRST or ONLY at its first PSN; FIRST or MIDDLE of PMTU bytes before its last; LAST or ONLY of the rest at its last (R30) |
//! | ATOMIC acknowledge | fits an ATOMIC, without payload |

use rust_hdl::prelude::*;
use verbena_spec::layout::{send_opcode, status};

#[derive(LogicBlock)]
pub struct ResponseCheck {
    pub clock: Signal<In, Clock>,
    pub opcode: Signal<In, Bits<8>>,
    pub syndrome: Signal<In, Bits<8>>,
    pub payload_length: Signal<In, Bits<14>>,
    // What it says.
    pub positive: Signal<Out, Bit>,
    pub rnr: Signal<Out, Bit>,
    pub sequence_nak: Signal<Out, Bit>,
    /// Carries data.
    pub data: Signal<Out, Bit>,
    pub nak_status: Signal<Out, Bits<4>>,
    /// The data is to be placed: a READ's that has bytes, or an ATOMIC's.
    pub bytes: Signal<Out, Bit>,
    pub swap: Signal<Out, Bit>,
    // The request.
    pub send_opcode: Signal<In, Bits<4>>,
    /// It awaits data.
    pub fetches: Signal<Out, Bit>,
    pub pmtu: Signal<In, Bits<3>>,
    pub length: Signal<In, Bits<13>>,
    pub offset: Signal<In, Bits<13>>,
    /// At the request's first PSN, at its last.
    pub opening: Signal<In, Bit>,
    pub closing: Signal<In, Bit>,
    pub fits: Signal<Out, Bit>,
    due: DFF<Bits<13>>,
    positive_kept: DFF<Bit>,
    rnr_kept: DFF<Bit>,
    sequence_kept: DFF<Bit>,
    data_kept: DFF<Bit>,
    bytes_kept: DFF<Bit>,
    atomic_kept: DFF<Bit>,
    begins_kept: DFF<Bit>,
    middle_kept: DFF<Bit>,
    ends_kept: DFF<Bit>,
    good_kept: DFF<Bit>,
    empty_kept: DFF<Bit>,
    status_kept: DFF<Bits<4>>,
    fetches_kept: DFF<Bit>,
    is_read: DFF<Bit>,
    fits_kept: DFF<Bit>,
    acknowledge: Signal<Local, Bit>,
    atomic: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    middle: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    only: Signal<Local, Bit>,
    full: Signal<Local, Bits<13>>,
    has_atomic: Constant<Bit>,
    far: Constant<Bit>,
    opcode_first: Constant<Bits<8>>,
    opcode_middle: Constant<Bits<8>>,
    opcode_last: Constant<Bits<8>>,
    opcode_only: Constant<Bits<8>>,
    opcode_acknowledge: Constant<Bits<8>>,
    opcode_atomic: Constant<Bits<8>>,
    read: Constant<Bits<4>>,
    compare_swap: Constant<Bits<4>>,
    fetch_add: Constant<Bits<4>>,
    status_invalid: Constant<Bits<4>>,
    status_access: Constant<Bits<4>>,
    status_operation: Constant<Bits<4>>,
    status_bad: Constant<Bits<4>>,
    pmtu_bytes: [Constant<Bits<13>>; 5],
}

impl ResponseCheck {
    /// `far`: PMTUs above 512 exist.
    pub fn new(has_atomic: bool, far: bool) -> Self {
        let byte = |n: u64| Constant::new(n.to_bits());
        let four = |n: u32| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            opcode: Default::default(),
            syndrome: Default::default(),
            payload_length: Default::default(),
            positive: Default::default(),
            rnr: Default::default(),
            sequence_nak: Default::default(),
            data: Default::default(),
            nak_status: Default::default(),
            bytes: Default::default(),
            swap: Default::default(),
            send_opcode: Default::default(),
            fetches: Default::default(),
            pmtu: Default::default(),
            length: Default::default(),
            offset: Default::default(),
            opening: Default::default(),
            closing: Default::default(),
            fits: Default::default(),
            due: Default::default(),
            positive_kept: Default::default(),
            rnr_kept: Default::default(),
            sequence_kept: Default::default(),
            data_kept: Default::default(),
            bytes_kept: Default::default(),
            atomic_kept: Default::default(),
            begins_kept: Default::default(),
            middle_kept: Default::default(),
            ends_kept: Default::default(),
            good_kept: Default::default(),
            empty_kept: Default::default(),
            status_kept: Default::default(),
            fetches_kept: Default::default(),
            is_read: Default::default(),
            fits_kept: Default::default(),
            acknowledge: Default::default(),
            atomic: Default::default(),
            begins: Default::default(),
            middle: Default::default(),
            ends: Default::default(),
            only: Default::default(),
            full: Default::default(),
            has_atomic: Constant::new(has_atomic),
            far: Constant::new(far),
            opcode_first: byte(0x0d),
            opcode_middle: byte(0x0e),
            opcode_last: byte(0x0f),
            opcode_only: byte(0x10),
            opcode_acknowledge: byte(0x11),
            opcode_atomic: byte(0x12),
            read: four(send_opcode::READ),
            compare_swap: four(send_opcode::COMPARE_SWAP),
            fetch_add: four(send_opcode::FETCH_ADD),
            status_invalid: four(status::REMOTE_INVALID_REQUEST_ERROR),
            status_access: four(status::REMOTE_ACCESS_ERROR),
            status_operation: four(status::REMOTE_OPERATION_ERROR),
            status_bad: four(status::BAD_RESPONSE_ERROR),
            pmtu_bytes: std::array::from_fn(|i| Constant::new((256u64 << i).to_bits())),
        }
    }
}

impl Logic for ResponseCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            due,
            positive_kept,
            rnr_kept,
            sequence_kept,
            data_kept,
            bytes_kept,
            atomic_kept,
            begins_kept,
            middle_kept
        );
        dff_setup!(
            self,
            clock,
            ends_kept,
            good_kept,
            empty_kept,
            status_kept,
            fetches_kept,
            is_read,
            fits_kept
        );
        self.acknowledge.next = self.opcode.val() == self.opcode_acknowledge.val();
        self.only.next = self.opcode.val() == self.opcode_only.val();
        self.begins.next = (self.opcode.val() == self.opcode_first.val()) | self.only.val();
        self.middle.next = self.opcode.val() == self.opcode_middle.val();
        self.ends.next = (self.opcode.val() == self.opcode_last.val()) | self.only.val();
        self.atomic.next = (self.opcode.val() == self.opcode_atomic.val()) & self.has_atomic.val();
        self.begins_kept.d.next = self.begins.val();
        self.middle_kept.d.next = self.middle.val();
        self.ends_kept.d.next = self.ends.val();
        self.data_kept.d.next = !self.acknowledge.val();
        self.atomic_kept.d.next = self.atomic.val();
        self.empty_kept.d.next = !self.payload_length.val().any();
        self.bytes_kept.d.next =
            self.atomic.val() | ((self.begins.val() | self.middle.val() | self.ends.val()) & self.payload_length.val().any());
        self.good_kept.d.next = !self.syndrome.val().get_bits::<2>(5).any();
        self.positive_kept.d.next = self.acknowledge.val() & !self.syndrome.val().get_bits::<2>(5).any();
        self.rnr_kept.d.next = self.acknowledge.val() & (self.syndrome.val().get_bits::<2>(5) == 1);
        self.sequence_kept.d.next =
            self.acknowledge.val() & (self.syndrome.val().get_bits::<2>(5) == 3) & !self.syndrome.val().get_bits::<5>(0).any();
        self.status_kept.d.next = self.status_bad.val();
        if self.syndrome.val().get_bits::<2>(5) == 3 {
            if self.syndrome.val().get_bits::<5>(0) == 1 {
                self.status_kept.d.next = self.status_invalid.val();
            }
            if self.syndrome.val().get_bits::<5>(0) == 2 {
                self.status_kept.d.next = self.status_access.val();
            }
            if self.syndrome.val().get_bits::<5>(0) == 3 {
                self.status_kept.d.next = self.status_operation.val();
            }
        }
        self.is_read.d.next = self.send_opcode.val() == self.read.val();
        self.fetches_kept.d.next = (self.send_opcode.val() == self.read.val())
            | (self.has_atomic.val()
                & ((self.send_opcode.val() == self.compare_swap.val()) | (self.send_opcode.val() == self.fetch_add.val())));
        self.positive.next = self.positive_kept.q.val();
        self.rnr.next = self.rnr_kept.q.val();
        self.sequence_nak.next = self.sequence_kept.q.val();
        self.data.next = self.data_kept.q.val();
        self.bytes.next = self.bytes_kept.q.val();
        self.swap.next = self.atomic_kept.q.val();
        self.nak_status.next = self.status_kept.q.val();
        self.fetches.next = self.fetches_kept.q.val();

        // The bytes due: what is left at the last PSN, else the PMTU.
        self.full.next = self.pmtu_bytes[0].val();
        if self.pmtu.val() == 2 {
            self.full.next = self.pmtu_bytes[1].val();
        }
        if self.far.val() {
            if self.pmtu.val() == 3 {
                self.full.next = self.pmtu_bytes[2].val();
            }
            if self.pmtu.val() == 4 {
                self.full.next = self.pmtu_bytes[3].val();
            }
            if self.pmtu.val() == 5 {
                self.full.next = self.pmtu_bytes[4].val();
            }
        }
        self.due.d.next = self.full.val();
        if self.closing.val() {
            self.due.d.next = self.length.val() - self.offset.val();
        }
        if self.is_read.q.val() {
            // R30: a READ taken up again may begin anew.
            self.fits_kept.d.next = (self.begins_kept.q.val() | self.middle_kept.q.val() | self.ends_kept.q.val())
                & (self.payload_length.val() == bit_cast::<14, 13>(self.due.q.val()))
                & (self.begins_kept.q.val() | !self.opening.val())
                & ((self.closing.val() & self.ends_kept.q.val()) | (!self.closing.val() & !self.ends_kept.q.val()))
                & (self.middle_kept.q.val() | self.good_kept.q.val());
        } else {
            self.fits_kept.d.next = self.fetches_kept.q.val() & self.atomic_kept.q.val() & self.empty_kept.q.val() & self.good_kept.q.val();
        }
        self.fits.next = self.fits_kept.q.val();
    }

    crate::block_name!();
}
