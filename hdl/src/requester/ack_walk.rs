// SPDX-License-Identifier: MIT OR Apache-2.0
//! PSNs and lengths of the message at the head of a send queue: the registers behind an acknowledgement's walk, and the one subtractor that compares them (R21).
//!
//! ```text
//! psn, bound, oldest ───────┐ pair
//! oldest, limit, first, end ┴─► difference ─► negative (bit 23), equal
//! length ─► divided by the PMTU, rounded up ─► + first ─► end
//! ```
//!
//! | register | holds |
//! |---|---|
//! | oldest | unacknowledged PSN |
//! | limit | a PSN of `Send`: highest ever sent + 1, or next |
//! | first, end | PSN of the oldest message, and the one behind it; `end` two cycles behind `length` |
//! | bound | the PSN up to which is acknowledged: the response's, or the one behind it with `inclusive` |
//!
//! A message of no bytes has one PSN (R22). `far`: PMTUs above 512 exist.

use rust_hdl::prelude::*;

/// Which difference is taken in the next cycle.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Pair {
    /// Keep the last one.
    Nothing,
    PsnOldest,
    PsnLimit,
    /// What is acknowledged against the message's end: not negative if all of it is.
    BoundEnd,
    OldestLimit,
    OldestFirst,
}

#[derive(LogicBlock)]
pub struct AckWalk {
    pub clock: Signal<In, Clock>,
    pub pair: Signal<In, Pair>,
    pub difference: Signal<Out, Bits<24>>,
    pub negative: Signal<Out, Bit>,
    pub equal: Signal<Out, Bit>,
    pub pmtu: Signal<In, Bits<3>>,
    /// Words from the rows and from `Send`, and which register takes them.
    pub word: Signal<In, Bits<32>>,
    pub look: Signal<In, Bits<32>>,
    /// Of the response's head, which holds still; a cycle of it passes first.
    pub psn: Signal<In, Bits<24>>,
    pub load_oldest: Signal<In, Bit>,
    pub load_limit: Signal<In, Bit>,
    pub load_first: Signal<In, Bit>,
    pub load_length: Signal<In, Bit>,
    /// oldest := first := end: the message is complete.
    pub pass: Signal<In, Bit>,
    /// With `pass`, and earlier in the cycle; without it nothing happens.
    pub passing: Signal<In, Bit>,
    /// oldest := bound.
    pub reach: Signal<In, Bit>,
    pub inclusive: Signal<In, Bit>,
    pub oldest: Signal<Out, Bits<24>>,
    pub length: Signal<Out, Bits<32>>,
    /// Bytes from the first PSN to the one behind a difference taken from `first`.
    pub offset: Signal<Out, Bits<32>>,
    /// Which operands: a code for each side, decoded before the register.
    left_code: DFF<Bits<2>>,
    right_code: DFF<Bits<2>>,
    taking: DFF<Bit>,
    oldest_kept: DFF<Bits<24>>,
    limit_kept: DFF<Bits<24>>,
    first_kept: DFF<Bits<24>>,
    end_kept: DFF<Bits<24>>,
    bound_kept: DFF<Bits<24>>,
    length_kept: DFF<Bits<32>>,
    /// The response's, registered.
    psn_kept: DFF<Bits<24>>,
    /// Whole packets of the message, and whether there is one more.
    whole: DFF<Bits<24>>,
    round: DFF<Bit>,
    difference_kept: DFF<Bits<24>>,
    /// Both operands are the same: beside the difference, not behind it.
    equal_kept: DFF<Bit>,
    /// `pmtu` is 2, 3, 4, 5: a cycle behind it.
    is_pmtu: [DFF<Bit>; 4],
    onward: Signal<Local, Bits<24>>,
    first_next: Signal<Local, Bits<24>>,
    left: Signal<Local, Bits<24>>,
    right: Signal<Local, Bits<24>>,
    sum: Signal<Local, Bits<25>>,
    rest: Signal<Local, Bits<12>>,
    rests: [Constant<Bits<12>>; 5],
    pmtus: [Constant<Bits<3>>; 4],
    far: Constant<Bit>,
}

impl AckWalk {
    pub fn new(far: bool) -> Self {
        Self {
            clock: Default::default(),
            pair: Default::default(),
            difference: Default::default(),
            negative: Default::default(),
            equal: Default::default(),
            pmtu: Default::default(),
            word: Default::default(),
            look: Default::default(),
            psn: Default::default(),
            load_oldest: Default::default(),
            load_limit: Default::default(),
            load_first: Default::default(),
            load_length: Default::default(),
            pass: Default::default(),
            passing: Default::default(),
            reach: Default::default(),
            inclusive: Default::default(),
            oldest: Default::default(),
            length: Default::default(),
            offset: Default::default(),
            left_code: Default::default(),
            right_code: Default::default(),
            taking: Default::default(),
            oldest_kept: Default::default(),
            limit_kept: Default::default(),
            first_kept: Default::default(),
            end_kept: Default::default(),
            bound_kept: Default::default(),
            length_kept: Default::default(),
            psn_kept: Default::default(),
            whole: Default::default(),
            round: Default::default(),
            difference_kept: Default::default(),
            equal_kept: Default::default(),
            is_pmtu: std::array::from_fn(|_| Default::default()),
            onward: Default::default(),
            first_next: Default::default(),
            pmtus: std::array::from_fn(|i| Constant::new((2 + i as u64).to_bits())),
            left: Default::default(),
            right: Default::default(),
            sum: Default::default(),
            rest: Default::default(),
            rests: std::array::from_fn(|i| Constant::new(((256u64 << i) - 1).to_bits())),
            far: Constant::new(far),
        }
    }
}

impl Logic for AckWalk {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            left_code,
            right_code,
            taking,
            oldest_kept,
            limit_kept,
            first_kept,
            end_kept,
            bound_kept,
            length_kept,
            psn_kept,
            whole,
            round,
            difference_kept,
            equal_kept
        );

        for i in 0..4 {
            self.is_pmtu[i].clock.next = self.clock.val();
            self.is_pmtu[i].d.next = self.pmtu.val() == self.pmtus[i].val();
        }

        // The difference.
        self.left_code.d.next = 0.into();
        self.right_code.d.next = 0.into();
        self.taking.d.next = self.pair.val() != Pair::Nothing;
        match self.pair.val() {
            Pair::PsnLimit => {
                self.right_code.d.next = 1.into();
            }
            Pair::BoundEnd => {
                self.left_code.d.next = 1.into();
                self.right_code.d.next = 2.into();
            }
            Pair::OldestLimit => {
                self.left_code.d.next = 2.into();
                self.right_code.d.next = 1.into();
            }
            Pair::OldestFirst => {
                self.left_code.d.next = 2.into();
                self.right_code.d.next = 3.into();
            }
            _ => {}
        }
        self.left.next = self.psn_kept.q.val();
        if self.left_code.q.val().get_bit(0) {
            self.left.next = self.bound_kept.q.val();
        }
        if self.left_code.q.val().get_bit(1) {
            self.left.next = self.oldest_kept.q.val();
        }
        self.right.next = self.oldest_kept.q.val();
        match self.right_code.q.val().index() {
            1 => {
                self.right.next = self.limit_kept.q.val();
            }
            2 => {
                self.right.next = self.end_kept.q.val();
            }
            3 => {
                self.right.next = self.first_kept.q.val();
            }
            _ => {}
        }
        if self.taking.q.val() {
            self.difference_kept.d.next = self.left.val() - self.right.val();
            self.equal_kept.d.next = self.left.val() == self.right.val();
        }
        self.difference.next = self.difference_kept.q.val();
        self.negative.next = self.difference_kept.q.val().get_bit(23);
        self.equal.next = self.equal_kept.q.val();

        // R22: a message's PSNs are its packets, and one at least.
        self.whole.d.next = self.length_kept.q.val().get_bits::<24>(8);
        self.rest.next = self.length_kept.q.val().get_bits::<12>(0) & self.rests[0].val();
        self.offset.next = bit_cast::<32, 24>(self.difference_kept.q.val()) << 8;
        if self.is_pmtu[0].q.val() {
            self.whole.d.next = bit_cast::<24, 23>(self.length_kept.q.val().get_bits::<23>(9));
            self.rest.next = self.length_kept.q.val().get_bits::<12>(0) & self.rests[1].val();
            self.offset.next = bit_cast::<32, 24>(self.difference_kept.q.val()) << 9;
        }
        if self.far.val() {
            if self.is_pmtu[1].q.val() {
                self.whole.d.next = bit_cast::<24, 22>(self.length_kept.q.val().get_bits::<22>(10));
                self.rest.next = self.length_kept.q.val().get_bits::<12>(0) & self.rests[2].val();
                self.offset.next = bit_cast::<32, 24>(self.difference_kept.q.val()) << 10;
            }
            if self.is_pmtu[2].q.val() {
                self.whole.d.next = bit_cast::<24, 21>(self.length_kept.q.val().get_bits::<21>(11));
                self.rest.next = self.length_kept.q.val().get_bits::<12>(0) & self.rests[3].val();
                self.offset.next = bit_cast::<32, 24>(self.difference_kept.q.val()) << 11;
            }
            if self.is_pmtu[3].q.val() {
                self.whole.d.next = bit_cast::<24, 20>(self.length_kept.q.val().get_bits::<20>(12));
                self.rest.next = self.length_kept.q.val().get_bits::<12>(0) & self.rests[4].val();
                self.offset.next = bit_cast::<32, 24>(self.difference_kept.q.val()) << 12;
            }
        }
        self.round.d.next = self.rest.val().any() | !self.length_kept.q.val().any();
        // One adder: the lowest bit carries in.
        self.sum.next = ((bit_cast::<25, 24>(self.first_kept.q.val()) << 1) | 1)
            + ((bit_cast::<25, 24>(self.whole.q.val()) << 1) | bit_cast::<25, 1>(self.round.q.val().into()));
        self.end_kept.d.next = self.sum.val().get_bits::<24>(1);

        // Onward.
        self.psn_kept.d.next = self.psn.val();
        self.bound_kept.d.next = self.psn_kept.q.val();
        if self.inclusive.val() {
            self.bound_kept.d.next = self.psn_kept.q.val() + 1;
        }
        // What is taken is chosen by what is early, whether it is by what is late.
        self.onward.next = self.bound_kept.q.val();
        if self.passing.val() {
            self.onward.next = self.end_kept.q.val();
        }
        if self.load_oldest.val() {
            self.onward.next = self.word.val().get_bits::<24>(0);
        }
        if self.load_oldest.val() | self.reach.val() | self.pass.val() {
            self.oldest_kept.d.next = self.onward.val();
        }
        if self.load_limit.val() {
            self.limit_kept.d.next = self.look.val().get_bits::<24>(0);
        }
        self.first_next.next = self.look.val().get_bits::<24>(0);
        if self.passing.val() {
            self.first_next.next = self.end_kept.q.val();
        }
        if self.load_first.val() | self.pass.val() {
            self.first_kept.d.next = self.first_next.val();
        }
        if self.load_length.val() {
            self.length_kept.d.next = self.look.val();
        }
        self.oldest.next = self.oldest_kept.q.val();
        self.length.next = self.length_kept.q.val();
    }

    crate::block_name!();
}
