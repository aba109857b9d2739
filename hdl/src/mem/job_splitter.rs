// SPDX-License-Identifier: MIT OR Apache-2.0
//! Job splitter: a write job becomes a ring read, a piece for the realigner, and bursts.
//!
//! ```text
//! job ─► derive ─┬─► read_beat, read_count          (once)
//!                ├─► piece_*                        (once)
//!                └─► aw_*: Look, Wait (paged) ─► Issue ─► Low, High ─┐
//!                             ▲──────────────────────────────────────┘ next burst
//! ```
//!
//! Bursts are cut where the address is a multiple of 256 beats, which divides 4 KiB: so no burst is longer than 256 beats or crosses 4 KiB
//! or a page, and the beat number in its block is all that the data side needs to know. A paged job's running address is
//! `{MTT entry, offset}`, so that the next page is the next number.
//! Cycles: 1 to begin a job, 1 a burst (3 paged) and 2 between bursts. `job_ready` comes once the ring and the realigner have been told; the
//! next job begins after the last burst's AW.

use super::WriteJob;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum SplitterState {
    Idle,
    Look,
    Wait,
    Issue,
    Low,
    High,
}

/// Splits jobs for a bus of `K` bytes; `TA` is log2 of the MTT's entries, 1: no MTT (`paged` is ignored).
#[derive(LogicBlock)]
pub struct JobSplitter<const K: usize, const BA: usize, const TA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, WriteJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub read_beat: Signal<Out, Bits<14>>,
    pub read_count: Signal<Out, Bits<14>>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    pub piece_valid: Signal<Out, Bit>,
    pub piece_ready: Signal<In, Bit>,
    pub piece_write: Signal<Out, Bit>,
    pub piece_start: Signal<Out, Bits<11>>,
    pub piece_end: Signal<Out, Bits<15>>,
    pub piece_offset: Signal<Out, Bits<3>>,
    pub piece_swap: Signal<Out, Bit>,
    pub piece_release: Signal<Out, Bit>,
    pub piece_end_beat: Signal<Out, Bits<BA>>,
    /// The entry stands and its page is needed.
    pub mtt_busy: Signal<Out, Bit>,
    pub mtt_entry: Signal<Out, Bits<16>>,
    pub mtt_page: Signal<In, Bits<52>>,
    /// The tracker can take a burst.
    pub room: Signal<In, Bit>,
    pub aw_address: Signal<Out, Bits<64>>,
    pub aw_length: Signal<Out, Bits<8>>,
    pub aw_last: Signal<Out, Bit>,
    pub aw_valid: Signal<Out, Bit>,
    pub aw_ready: Signal<In, Bit>,
    state: DFF<SplitterState>,
    begun: DFF<Bit>,
    asking: DFF<Bit>,
    handing: DFF<Bit>,
    paged: DFF<Bit>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    carry: DFF<Bit>,
    stop: DFF<Bits<15>>,
    job_address: Signal<Local, Bits<64>>,
    job_length: Signal<Local, Bits<15>>,
    job_ring_beat: Signal<Local, Bits<14>>,
    job_end_beat: Signal<Local, Bits<14>>,
    job_offset: Signal<Local, Bits<3>>,
    block_offset: Signal<Local, Bits<15>>,
    count_up: Signal<Local, Bits<15>>,
    ring_bytes: Signal<Local, Bits<15>>,
    start_position: Signal<Local, Bits<8>>,
    end_position: Signal<Local, Bits<8>>,
    burst_end: Signal<Local, Bits<8>>,
    more: Signal<Local, Bit>,
    valid: Signal<Local, Bit>,
    over: Signal<Local, Bit>,
    idle: Signal<Local, Bit>,
    next_low: Signal<Local, Bits<33>>,
    has_mtt: Constant<Bit>,
    address_mask: Constant<Bits<64>>,
    length_mask: Constant<Bits<14>>,
    stop_mask: Constant<Bits<15>>,
    lane_mask: Constant<Bits<3>>,
    round_up: Constant<Bits<15>>,
    beat_shift: Constant<Bits<4>>,
    block_mask: Constant<Bits<15>>,
    block_bytes: Constant<Bits<15>>,
    block_step: Constant<Bits<33>>,
    block_base: Constant<Bits<32>>,
    full: Constant<Bits<8>>,
}

impl<const K: usize, const BA: usize, const TA: usize> JobSplitter<K, BA, TA> {
    pub fn new(config: &Config) -> Self {
        assert!(K == 4 || K == 8, "JobSplitter: K must be 4 or 8");
        assert!((1..=14).contains(&BA));
        let block = 256 * K as u64;
        // A small engine's jobs fit a frame.
        let longest = if config.small() {
            config.max_frame.next_power_of_two() as u64 - 1
        } else {
            0x3fff
        };
        let stop_mask = (block + longest).next_power_of_two() - 1;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            read_beat: Default::default(),
            read_count: Default::default(),
            read_valid: Default::default(),
            read_ready: Default::default(),
            piece_valid: Default::default(),
            piece_ready: Default::default(),
            piece_write: Default::default(),
            piece_start: Default::default(),
            piece_end: Default::default(),
            piece_offset: Default::default(),
            piece_swap: Default::default(),
            piece_release: Default::default(),
            piece_end_beat: Default::default(),
            mtt_busy: Default::default(),
            mtt_entry: Default::default(),
            mtt_page: Default::default(),
            room: Default::default(),
            aw_address: Default::default(),
            aw_length: Default::default(),
            aw_last: Default::default(),
            aw_valid: Default::default(),
            aw_ready: Default::default(),
            state: Default::default(),
            begun: Default::default(),
            asking: Default::default(),
            handing: Default::default(),
            paged: Default::default(),
            low: Default::default(),
            high: Default::default(),
            carry: Default::default(),
            stop: Default::default(),
            job_address: Default::default(),
            job_length: Default::default(),
            job_ring_beat: Default::default(),
            job_end_beat: Default::default(),
            job_offset: Default::default(),
            block_offset: Default::default(),
            count_up: Default::default(),
            ring_bytes: Default::default(),
            start_position: Default::default(),
            end_position: Default::default(),
            burst_end: Default::default(),
            more: Default::default(),
            valid: Default::default(),
            over: Default::default(),
            idle: Default::default(),
            next_low: Default::default(),
            has_mtt: Constant::new(TA > 1),
            address_mask: Constant::new(config.address_mask().to_bits()),
            length_mask: Constant::new(longest.to_bits()),
            stop_mask: Constant::new((stop_mask & 0x7fff).to_bits()),
            lane_mask: Constant::new((K - 1).to_bits()),
            round_up: Constant::new((K - 1).to_bits()),
            beat_shift: Constant::new(K.trailing_zeros().to_bits()),
            block_mask: Constant::new((block - 1).to_bits()),
            block_bytes: Constant::new(block.to_bits()),
            block_step: Constant::new(block.to_bits()),
            block_base: Constant::new((u32::MAX as u64 & !(block - 1)).to_bits()),
            full: Constant::new(255.into()),
        }
    }
}

impl<const K: usize, const BA: usize, const TA: usize> Logic for JobSplitter<K, BA, TA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, begun, asking, handing, paged, low, high, carry, stop);

        // What a job means in beats.
        self.job_address.next = self.job.val().address & self.address_mask.val();
        self.job_length.next = bit_cast::<15, 14>(self.job.val().length & self.length_mask.val());
        self.job_ring_beat.next = self.job.val().ring_beat;
        self.job_end_beat.next = self.job.val().end_beat;
        self.job_offset.next = self.job.val().ring_offset & self.lane_mask.val();
        self.block_offset.next = self.job_address.val().get_bits::<15>(0) & self.block_mask.val();
        self.count_up.next = bit_cast::<15, 3>(self.job_offset.val()) + self.round_up.val();
        self.ring_bytes.next = self.job_length.val() + self.count_up.val();

        // What the current burst is.
        self.start_position.next = self.low.q.val().get_bits::<8>(self.beat_shift.val().index());
        self.end_position.next = self.stop.q.val().get_bits::<8>(self.beat_shift.val().index());
        self.more.next = (self.stop.q.val() & !self.block_mask.val()).any();
        self.next_low.next = bit_cast::<33, 32>(self.low.q.val() & self.block_base.val()) + self.block_step.val();

        // The job is held until ring and realigner have been told, so its fields need no copies here.
        self.idle.next = !self.begun.q.val();
        self.over.next = self.begun.q.val() & !self.asking.q.val() & !self.handing.q.val();
        self.job_ready.next = self.over.val() & !self.reset.val();
        if self.over.val() {
            self.begun.d.next = false;
        }
        self.valid.next = (self.state.q.val() == SplitterState::Issue) & self.room.val();
        self.aw_valid.next = self.valid.val() & !self.reset.val();

        if self.read_ready.val() {
            self.asking.d.next = false;
        }
        if self.piece_ready.val() {
            self.handing.d.next = false;
        }
        match self.state.q.val() {
            SplitterState::Idle => {
                if self.idle.val() {
                    self.paged.d.next = self.job.val().paged & self.has_mtt.val();
                    self.low.d.next = self.job_address.val().get_bits::<32>(0);
                    self.high.d.next = self.job_address.val().get_bits::<32>(32);
                    self.stop.d.next = (self.block_offset.val() + self.job_length.val() - 1) & self.stop_mask.val();
                    if self.job_valid.val() {
                        self.begun.d.next = true;
                        self.handing.d.next = true;
                        if self.job.val().write {
                            self.asking.d.next = true;
                            self.state.d.next = SplitterState::Issue;
                            if self.job.val().paged & self.has_mtt.val() {
                                self.state.d.next = SplitterState::Look;
                            }
                        }
                    }
                }
            }
            SplitterState::Look => {
                // The table isn't held while bursts are awaited: the DMA reader would wait for it, and retire may wait for what is read.
                if self.room.val() {
                    self.state.d.next = SplitterState::Wait;
                }
            }
            SplitterState::Wait => self.state.d.next = SplitterState::Issue,
            SplitterState::Issue => {
                if self.valid.val() & self.aw_ready.val() {
                    self.state.d.next = SplitterState::Idle;
                    if self.more.val() {
                        self.state.d.next = SplitterState::Low;
                    }
                }
            }
            SplitterState::Low => {
                // The realigner must have taken the piece before it is changed.
                if !self.handing.q.val() {
                    self.low.d.next = self.next_low.val().get_bits::<32>(0) & self.address_mask.val().get_bits::<32>(0);
                    self.carry.d.next = self.next_low.val().get_bit(32);
                    self.stop.d.next = (self.stop.q.val() - self.block_bytes.val()) & self.stop_mask.val();
                    self.state.d.next = SplitterState::High;
                }
            }
            SplitterState::High => {
                if self.carry.q.val() {
                    self.high.d.next = (self.high.q.val() + 1) & self.address_mask.val().get_bits::<32>(32);
                }
                self.state.d.next = SplitterState::Issue;
                if self.paged.q.val() {
                    self.state.d.next = SplitterState::Look;
                }
            }
            _ => self.state.d.next = SplitterState::Idle,
        }

        self.read_beat.next = self.job_ring_beat.val();
        self.read_count.next = bit_cast::<14, 15>(self.ring_bytes.val() >> self.beat_shift.val());
        self.read_valid.next = self.asking.q.val();
        self.piece_valid.next = self.handing.q.val();
        self.piece_write.next = self.job.val().write;
        self.piece_start.next = self.low.q.val().get_bits::<11>(0);
        self.piece_end.next = self.stop.q.val();
        self.piece_offset.next = self.job_offset.val();
        self.piece_swap.next = self.job.val().swap;
        self.piece_release.next = self.job.val().release;
        self.piece_end_beat.next = self.job_end_beat.val().get_bits::<BA>(0);
        self.mtt_busy.next = self.paged.q.val()
            & (((self.state.q.val() == SplitterState::Look) & self.room.val())
                | (self.state.q.val() == SplitterState::Wait)
                | (self.state.q.val() == SplitterState::Issue));
        self.mtt_entry.next = self.low.q.val().get_bits::<16>(12);
        self.aw_address.next = bit_cast::<64, 32>(self.low.q.val()) | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        if self.paged.q.val() {
            self.aw_address.next = bit_cast::<64, 12>(self.low.q.val().get_bits::<12>(0)) | (bit_cast::<64, 52>(self.mtt_page.val()) << 12);
        }
        self.burst_end.next = self.end_position.val();
        if self.more.val() {
            self.burst_end.next = self.full.val();
        }
        self.aw_length.next = self.burst_end.val() - self.start_position.val();
        self.aw_last.next = !self.more.val();

        if self.reset.val() {
            self.state.d.next = SplitterState::Idle;
            self.begun.d.next = false;
            self.asking.d.next = false;
            self.handing.d.next = false;
            self.read_valid.next = false;
            self.piece_valid.next = false;
        }
    }

    crate::block_name!();
}
