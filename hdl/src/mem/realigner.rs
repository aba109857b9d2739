// SPDX-License-Identifier: MIT OR Apache-2.0
//! Realigner: a job's bytes from ring beats to bus beats.
//!
//! ```text
//! beat_data ─┬─► held ─┐
//!            └─────────┴─► K bytes out of {beat, held} ─► w_data, w_strobe, w_last (registered)
//! r = (address - ring_offset) mod K, constant over a job, since bursts are cut at multiples of 256 beats
//! ```
//!
//! Where the first byte moves down (address lane < ring lane) the first ring beat is only held; where the last bus beat lies wholly in the
//! held beat it needs no ring beat.
//! A swapped piece (8 lanes only; 4 lanes ignore it) is one whole ring beat: it stays on offer until the last bus beat and is held too, so that its
//! bytes only turn, by -address lanes; the register's lanes leave in reverse. One beat a cycle; between jobs 1 cycle, and 1 more for a beat that is only held.
//! `beat_data` goes through 3 levels of logic: it must come from a register.
//! A job's release follows its last beat; a job without `write` only releases.

use rust_hdl::prelude::*;

/// Moves one job at a time. `BA`: bits of a ring beat address.
#[derive(LogicBlock)]
pub struct Realigner<const W: usize, const K: usize, const BA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub piece_valid: Signal<In, Bit>,
    pub piece_ready: Signal<Out, Bit>,
    pub piece_write: Signal<In, Bit>,
    /// Where the first byte lies in its 256-beat block of the bus, bytes.
    pub piece_start: Signal<In, Bits<11>>,
    /// Where the last byte lies, from the start of that block.
    pub piece_end: Signal<In, Bits<15>>,
    /// Lane of the first byte in its ring beat.
    pub piece_offset: Signal<In, Bits<3>>,
    /// The piece is one number of 8 bytes, a whole ring beat; it lands byte-reversed.
    pub piece_swap: Signal<In, Bit>,
    pub piece_release: Signal<In, Bit>,
    pub piece_end_beat: Signal<In, Bits<BA>>,
    pub beat_data: Signal<In, Bits<W>>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_ready: Signal<Out, Bit>,
    pub w_data: Signal<Out, Bits<W>>,
    pub w_strobe: Signal<Out, Bits<K>>,
    pub w_last: Signal<Out, Bit>,
    pub w_valid: Signal<Out, Bit>,
    pub w_ready: Signal<In, Bit>,
    pub release_valid: Signal<Out, Bit>,
    pub release_beat: Signal<Out, Bits<BA>>,
    active: DFF<Bit>,
    write: DFF<Bit>,
    prime: DFF<Bit>,
    first: DFF<Bit>,
    flush: DFF<Bit>,
    swap: DFF<Bit>,
    reversed: DFF<Bit>,
    first_lane: DFF<Bits<3>>,
    last_lane: DFF<Bits<3>>,
    rotation: DFF<Bits<3>>,
    beat: DFF<Bits<8>>,
    end_block: DFF<Bits<5>>,
    end_position: DFF<Bits<8>>,
    releases: DFF<Bit>,
    end_beat: DFF<Bits<BA>>,
    releasing: DFF<Bit>,
    held: DFF<Bits<W>>,
    data: DFF<Bits<W>>,
    strobe: DFF<Bits<K>>,
    last: DFF<Bit>,
    valid: DFF<Bit>,
    piece_stop: Signal<Local, Bits<16>>,
    swaps: Signal<Local, Bit>,
    origin: Signal<Local, Bits<3>>,
    start_lane: Signal<Local, Bits<3>>,
    stop_lane: Signal<Local, Bits<3>>,
    turn: Signal<Local, Bits<3>>,
    low_one: Signal<Local, Bits<W>>,
    high_one: Signal<Local, Bits<W>>,
    low_four: Signal<Local, Bits<W>>,
    high_four: Signal<Local, Bits<W>>,
    low_two: Signal<Local, Bits<W>>,
    high_two: Signal<Local, Bits<W>>,
    merged: Signal<Local, Bits<W>>,
    bytes_turned: Signal<Local, Bits<W>>,
    pairs_turned: Signal<Local, Bits<W>>,
    first_mask: Signal<Local, Bits<K>>,
    last_mask: Signal<Local, Bits<K>>,
    spare_lanes: Signal<Local, Bits<3>>,
    last_beat: Signal<Local, Bit>,
    needs_beat: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    emit: Signal<Local, Bit>,
    lane_mask: Constant<Bits<3>>,
    beat_shift: Constant<Bits<4>>,
    block_shift: Constant<Bits<4>>,
    eight_lanes: Constant<Bit>,
    one_down: Constant<Bits<8>>,
    one_up: Constant<Bits<8>>,
    two_down: Constant<Bits<8>>,
    two_up: Constant<Bits<8>>,
    four_down: Constant<Bits<8>>,
    four_up: Constant<Bits<8>>,
    all_lanes: Constant<Bits<K>>,
    bytes: Constant<Bits<W>>,
    pairs: Constant<Bits<W>>,
}

impl<const W: usize, const K: usize, const BA: usize> Default for Realigner<W, K, BA> {
    fn default() -> Self {
        assert!(W == 8 * K && (K == 4 || K == 8), "Realigner: W must be 32 or 64, K = W/8");
        let ones = u64::MAX >> (64 - W);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            piece_valid: Default::default(),
            piece_ready: Default::default(),
            piece_write: Default::default(),
            piece_start: Default::default(),
            piece_end: Default::default(),
            piece_offset: Default::default(),
            piece_swap: Default::default(),
            piece_release: Default::default(),
            piece_end_beat: Default::default(),
            beat_data: Default::default(),
            beat_valid: Default::default(),
            beat_ready: Default::default(),
            w_data: Default::default(),
            w_strobe: Default::default(),
            w_last: Default::default(),
            w_valid: Default::default(),
            w_ready: Default::default(),
            release_valid: Default::default(),
            release_beat: Default::default(),
            active: Default::default(),
            write: Default::default(),
            prime: Default::default(),
            first: Default::default(),
            flush: Default::default(),
            swap: Default::default(),
            reversed: Default::default(),
            first_lane: Default::default(),
            last_lane: Default::default(),
            rotation: Default::default(),
            beat: Default::default(),
            end_block: Default::default(),
            end_position: Default::default(),
            releases: Default::default(),
            end_beat: Default::default(),
            releasing: Default::default(),
            held: Default::default(),
            data: Default::default(),
            strobe: Default::default(),
            last: Default::default(),
            valid: Default::default(),
            piece_stop: Default::default(),
            swaps: Default::default(),
            origin: Default::default(),
            start_lane: Default::default(),
            stop_lane: Default::default(),
            turn: Default::default(),
            low_one: Default::default(),
            high_one: Default::default(),
            low_four: Default::default(),
            high_four: Default::default(),
            low_two: Default::default(),
            high_two: Default::default(),
            merged: Default::default(),
            bytes_turned: Default::default(),
            pairs_turned: Default::default(),
            first_mask: Default::default(),
            last_mask: Default::default(),
            spare_lanes: Default::default(),
            last_beat: Default::default(),
            needs_beat: Default::default(),
            free: Default::default(),
            emit: Default::default(),
            lane_mask: Constant::new((K - 1).to_bits()),
            beat_shift: Constant::new(K.trailing_zeros().to_bits()),
            block_shift: Constant::new((K.trailing_zeros() + 8).to_bits()),
            eight_lanes: Constant::new(K == 8),
            one_down: Constant::new(8.into()),
            one_up: Constant::new((W - 8).to_bits()),
            two_down: Constant::new(16.into()),
            two_up: Constant::new((W - 16).to_bits()),
            four_down: Constant::new(32.into()),
            four_up: Constant::new((W - 32).to_bits()),
            all_lanes: Constant::new(Bits::<K>::mask()),
            bytes: Constant::new((0x00ff_00ff_00ff_00ffu64 & ones).to_bits()),
            pairs: Constant::new((0x0000_ffff_0000_ffffu64 & ones).to_bits()),
        }
    }
}

impl<const W: usize, const K: usize, const BA: usize> Logic for Realigner<W, K, BA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            active,
            write,
            prime,
            first,
            flush,
            swap,
            reversed,
            first_lane,
            last_lane,
            rotation,
            beat,
            end_block,
            end_position,
            releases,
            end_beat,
            releasing,
            held,
            data,
            strobe,
            last,
            valid
        );

        // The next job.
        self.piece_stop.next = bit_cast::<16, 15>(self.piece_end.val());
        self.start_lane.next = self.piece_start.val().get_bits::<3>(0) & self.lane_mask.val();
        self.stop_lane.next = self.piece_end.val().get_bits::<3>(0) & self.lane_mask.val();
        self.swaps.next = self.piece_swap.val() & self.eight_lanes.val();
        self.origin.next = self.piece_offset.val() & self.lane_mask.val();
        self.turn.next = (self.start_lane.val() - self.origin.val()) & self.lane_mask.val();
        if self.swaps.val() {
            self.turn.next = self.origin.val() - self.start_lane.val();
        }

        // {this beat, held beat} down by K - r lanes: by one, then by what is left of it, the inverse of r.
        self.low_one.next = (self.held.q.val() >> self.one_down.val()) | (self.beat_data.val() << self.one_up.val());
        self.high_one.next = self.beat_data.val() >> self.one_down.val();
        self.low_four.next = self.low_one.val();
        self.high_four.next = self.high_one.val();
        if self.eight_lanes.val() & !self.rotation.q.val().get_bit(2) {
            self.low_four.next = (self.low_one.val() >> self.four_down.val()) | (self.high_one.val() << self.four_up.val());
            self.high_four.next = self.high_one.val() >> self.four_down.val();
        }
        self.low_two.next = self.low_four.val();
        self.high_two.next = self.high_four.val();
        if !self.rotation.q.val().get_bit(1) {
            self.low_two.next = (self.low_four.val() >> self.two_down.val()) | (self.high_four.val() << self.two_up.val());
            self.high_two.next = self.high_four.val() >> self.two_down.val();
        }
        self.merged.next = self.low_two.val();
        if !self.rotation.q.val().get_bit(0) {
            self.merged.next = (self.low_two.val() >> self.one_down.val()) | (self.high_two.val() << self.one_up.val());
        }

        self.last_beat.next = !self.end_block.q.val().any() & (self.beat.q.val() == self.end_position.q.val());
        // Strobes are whole but on the first and the last beat.
        self.first_mask.next = self.all_lanes.val();
        if self.first.q.val() {
            self.first_mask.next = self.all_lanes.val() << self.first_lane.q.val();
        }
        self.spare_lanes.next = !self.last_lane.q.val() & self.lane_mask.val();
        self.last_mask.next = self.all_lanes.val();
        if self.last_beat.val() {
            self.last_mask.next = self.all_lanes.val() >> self.spare_lanes.val();
        }

        self.needs_beat.next = !(self.last_beat.val() & self.flush.q.val());
        self.free.next = !self.valid.q.val() | self.w_ready.val();
        self.emit.next = self.active.q.val()
            & self.write.q.val()
            & !self.prime.q.val()
            & self.free.val()
            & (self.beat_valid.val() | !self.needs_beat.val());
        self.beat_ready.next = self.active.q.val() & self.write.q.val() & (self.prime.q.val() | (self.free.val() & self.needs_beat.val()));
        if self.swap.q.val() {
            self.beat_ready.next = self.active.q.val() & self.write.q.val() & !self.prime.q.val() & self.free.val() & self.last_beat.val();
        }
        self.piece_ready.next = !self.active.q.val();

        self.releasing.d.next = false;
        if self.free.val() {
            self.valid.d.next = self.emit.val();
            self.data.d.next = self.merged.val();
            self.reversed.d.next = self.swap.q.val();
            self.strobe.d.next = self.first_mask.val() & self.last_mask.val();
            self.last.d.next = self.last_beat.val() | self.beat.q.val().all();
        }
        if self.active.q.val() {
            if self.beat_valid.val() & (self.prime.q.val() | self.free.val()) {
                self.held.d.next = self.beat_data.val();
            }
            if self.beat_valid.val() {
                self.prime.d.next = false;
            }
            if self.emit.val() {
                self.first.d.next = false;
                self.beat.d.next = self.beat.q.val() + 1;
                if self.beat.q.val().all() {
                    self.end_block.d.next = self.end_block.q.val() - 1;
                }
            }
            if !self.write.q.val() | (self.emit.val() & self.last_beat.val()) {
                self.active.d.next = false;
                self.releasing.d.next = self.releases.q.val();
            }
        } else {
            self.active.d.next = self.piece_valid.val();
            self.write.d.next = self.piece_write.val();
            self.prime.d.next = (self.start_lane.val() < self.origin.val()) | self.swaps.val();
            self.swap.d.next = self.swaps.val();
            self.first.d.next = true;
            self.flush.d.next = (self.stop_lane.val() < self.turn.val()) & !self.swaps.val();
            self.first_lane.d.next = self.start_lane.val();
            self.last_lane.d.next = self.stop_lane.val();
            self.rotation.d.next = self.turn.val();
            self.beat.d.next = self.piece_start.val().get_bits::<8>(self.beat_shift.val().index());
            self.end_block.d.next = self.piece_stop.val().get_bits::<5>(self.block_shift.val().index());
            self.end_position.d.next = self.piece_stop.val().get_bits::<8>(self.beat_shift.val().index());
            self.releases.d.next = self.piece_release.val();
            self.end_beat.d.next = self.piece_end_beat.val();
        }

        // The next job is loaded one cycle after the last beat, so `end_beat` is still that job's.
        self.release_valid.next = self.releasing.q.val();
        self.release_beat.next = self.end_beat.q.val();
        self.bytes_turned.next = ((self.data.q.val() >> self.one_down.val()) & self.bytes.val())
            | ((self.data.q.val() & self.bytes.val()) << self.one_down.val());
        self.pairs_turned.next = ((self.bytes_turned.val() >> self.two_down.val()) & self.pairs.val())
            | ((self.bytes_turned.val() & self.pairs.val()) << self.two_down.val());
        self.w_data.next = self.data.q.val();
        if self.reversed.q.val() {
            self.w_data.next = (self.pairs_turned.val() >> self.four_down.val()) | (self.pairs_turned.val() << self.four_up.val());
        }
        self.w_strobe.next = self.strobe.q.val();
        self.w_last.next = self.last.q.val();
        self.w_valid.next = self.valid.q.val();

        if self.reset.val() {
            self.active.d.next = false;
            self.valid.d.next = false;
            self.releasing.d.next = false;
            self.w_valid.next = false;
            self.release_valid.next = false;
        }
    }

    crate::block_name!();
}
