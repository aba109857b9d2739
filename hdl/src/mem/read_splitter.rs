// SPDX-License-Identifier: MIT OR Apache-2.0
//! Read splitter: a read job becomes a piece for the gatherer and bursts.
//!
//! ```text
//! job ─► Idle ─┬─► piece_*                              (once)
//!              └─► ar_*: (Look, Ready) ──────┬─► Count ─► Check ─┬─► Issue ─► Low, High ─┐
//!                          ▲                 └─► (roomy) ────────┘                       │ next burst
//!                          └─────────────────────────────────────────────────────────────┘
//! ```
//!
//! Bursts are cut where the address is a multiple of 64 beats (on a bus of 4 bytes 256), which divides 4 KiB: no burst is longer or crosses 4 KiB or a page, and
//! a reader of a descriptor waits behind 64 beats at most. A burst is asked for
//! only when all its beats have room behind those already asked for, so R is never held up for want of room. A paged job's running address is `{MTT entry, offset}`.
//! Cycles: 1 to begin a job, 3 a burst (6 paged; 1 and 4 where a whole FIFO's quarter is free) and 2 between a job's bursts. The job is taken as it begins. `job_ready` says that one would be, whether or not there is one.

use super::ReadJob;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum ReadState {
    Idle,
    Look,
    Ready,
    Count,
    Check,
    Issue,
    Low,
    High,
}

/// For a bus of `K` bytes with `AB` address bits; `PB` bits of room.
#[derive(LogicBlock)]
pub struct ReadSplitter<const K: usize, const PB: usize, const AB: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, ReadJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub piece_lane: Signal<Out, Bits<3>>,
    pub piece_length: Signal<Out, Bits<14>>,
    pub piece_last: Signal<Out, Bit>,
    pub piece_valid: Signal<Out, Bit>,
    pub piece_ready: Signal<In, Bit>,
    /// One cycle: a packet's `done` was taken.
    pub retire: Signal<In, Bit>,
    /// MTT port: held until `mtt_grant`; the page is there two cycles after it and stays.
    pub mtt_read: Signal<Out, Bit>,
    pub mtt_entry: Signal<Out, Bits<16>>,
    pub mtt_grant: Signal<In, Bit>,
    pub mtt_page: Signal<In, Bits<52>>,
    /// Beats that the payload FIFO has room for; one cycle each: a beat came, a burst ended.
    pub free: Signal<In, Bits<PB>>,
    pub beat_taken: Signal<In, Bit>,
    pub burst_ended: Signal<In, Bit>,
    pub ar_address: Signal<Out, Bits<64>>,
    pub ar_length: Signal<Out, Bits<8>>,
    pub ar_valid: Signal<Out, Bit>,
    pub ar_ready: Signal<In, Bit>,
    state: DFF<ReadState>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    carry: DFF<Bit>,
    stop: DFF<Bits<15>>,
    /// Beats asked for that didn't come; with the burst to come and what is between R and the FIFO.
    asked: DFF<Bits<PB>>,
    issued: DFF<Bit>,
    issued_length: DFF<Bits<8>>,
    need: DFF<Bits<PB>>,
    bursts: DFF<Bits<4>>,
    packets: DFF<Bits<4>>,
    job_address: Signal<Local, Bits<64>>,
    job_length: Signal<Local, Bits<15>>,
    block_offset: Signal<Local, Bits<15>>,
    start_position: Signal<Local, Bits<8>>,
    end_position: Signal<Local, Bits<8>>,
    burst_end: Signal<Local, Bits<8>>,
    length: Signal<Local, Bits<8>>,
    weighed: Signal<Local, Bits<8>>,
    more: Signal<Local, Bit>,
    paged: DFF<Bit>,
    roomy: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    begin_job: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
    next_low: Signal<Local, Bits<33>>,
    lane_mask: Constant<Bits<3>>,
    beat_shift: Constant<Bits<4>>,
    block_mask: Constant<Bits<15>>,
    block_bytes: Constant<Bits<15>>,
    block_step: Constant<Bits<33>>,
    block_base: Constant<Bits<32>>,
    address_mask: Constant<Bits<64>>,
    full: Constant<Bits<8>>,
    beat_aligned: Constant<Bits<32>>,
    // The burst's length counts beats less one; up to three beats are on their way to the FIFO.
    margin: Constant<Bits<PB>>,
    most_bursts: Constant<Bits<4>>,
    most_packets: Constant<Bits<4>>,
}

impl<const K: usize, const PB: usize, const AB: usize> Default for ReadSplitter<K, PB, AB> {
    fn default() -> Self {
        assert!(
            (K == 4 || K == 8) && PB >= 9 && (16..=64).contains(&AB),
            "ReadSplitter: K 4 or 8, PB at least 9, AB 16 to 64"
        );
        let beats = if K == 8 { 64 } else { 256u64 };
        let block = beats * K as u64;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            piece_lane: Default::default(),
            piece_length: Default::default(),
            piece_last: Default::default(),
            piece_valid: Default::default(),
            piece_ready: Default::default(),
            retire: Default::default(),
            mtt_read: Default::default(),
            mtt_entry: Default::default(),
            mtt_grant: Default::default(),
            mtt_page: Default::default(),
            free: Default::default(),
            beat_taken: Default::default(),
            burst_ended: Default::default(),
            ar_address: Default::default(),
            ar_length: Default::default(),
            ar_valid: Default::default(),
            ar_ready: Default::default(),
            state: Default::default(),
            low: Default::default(),
            high: Default::default(),
            carry: Default::default(),
            stop: Default::default(),
            asked: Default::default(),
            issued: Default::default(),
            issued_length: Default::default(),
            need: Default::default(),
            bursts: Default::default(),
            packets: Default::default(),
            job_address: Default::default(),
            job_length: Default::default(),
            block_offset: Default::default(),
            start_position: Default::default(),
            end_position: Default::default(),
            burst_end: Default::default(),
            length: Default::default(),
            weighed: Default::default(),
            more: Default::default(),
            paged: Default::default(),
            roomy: Default::default(),
            takes: Default::default(),
            begin_job: Default::default(),
            issue: Default::default(),
            next_low: Default::default(),
            lane_mask: Constant::new((K as u64 - 1).to_bits()),
            beat_shift: Constant::new((K.trailing_zeros() as u64).to_bits()),
            block_mask: Constant::new((block - 1).to_bits()),
            block_bytes: Constant::new(block.to_bits()),
            block_step: Constant::new(block.to_bits()),
            block_base: Constant::new((u32::MAX as u64 & !(block - 1)).to_bits()),
            address_mask: Constant::new((u64::MAX >> (64 - AB)).to_bits()),
            full: Constant::new((beats - 1).to_bits()),
            beat_aligned: Constant::new((u32::MAX as u64 & !(K as u64 - 1)).to_bits()),
            margin: Constant::new(4u64.to_bits()),
            most_bursts: Constant::new((if K == 8 { 8 } else { 2u64 }).to_bits()),
            most_packets: Constant::new((if K == 8 { 15 } else { 3u64 }).to_bits()),
        }
    }
}

impl<const K: usize, const PB: usize, const AB: usize> Logic for ReadSplitter<K, PB, AB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            low,
            high,
            carry,
            stop,
            asked,
            issued,
            issued_length,
            need,
            bursts,
            packets,
            paged
        );

        self.job_address.next = self.job.val().address & self.address_mask.val();
        self.job_length.next = bit_cast::<15, 14>(self.job.val().length);
        self.block_offset.next = self.job_address.val().get_bits::<15>(0) & self.block_mask.val();
        self.start_position.next = self.low.q.val().get_bits::<8>(self.beat_shift.val().index()) & self.full.val();
        self.end_position.next = self.stop.q.val().get_bits::<8>(self.beat_shift.val().index());
        self.more.next = (self.stop.q.val() & !self.block_mask.val()).any();
        self.burst_end.next = self.end_position.val();
        if self.more.val() {
            self.burst_end.next = self.full.val();
        }
        self.length.next = self.burst_end.val() - self.start_position.val();
        // A large FIFO has room for a burst that begins at its block's first beat, and the difference needn't be waited for.
        self.weighed.next = self.length.val();
        for _i in 4..K {
            self.weighed.next = self.burst_end.val();
        }
        self.next_low.next = bit_cast::<33, 32>(self.low.q.val() & self.block_base.val()) + self.block_step.val();
        // Room for any burst behind what may be asked for, without counting. What has just been asked for isn't counted yet.
        self.roomy.next = !self.issued.q.val()
            & (self.free.val() >> 9).any()
            & (self.bursts.q.val() != self.most_bursts.val())
            & !(self.asked.q.val() >> 7).any();
        self.takes.next =
            (self.state.q.val() == ReadState::Idle) & self.piece_ready.val() & (self.packets.q.val() != self.most_packets.val());
        self.begin_job.next = self.takes.val() & self.job_valid.val();
        self.issue.next = false;

        match self.state.q.val() {
            ReadState::Idle => {
                self.paged.d.next = self.job.val().paged;
                self.low.d.next = self.job_address.val().get_bits::<32>(0);
                self.high.d.next = self.job_address.val().get_bits::<32>(32);
                self.stop.d.next = self.block_offset.val() + self.job_length.val() - 1;
                if self.begin_job.val() {
                    self.state.d.next = ReadState::Count;
                    if self.roomy.val() {
                        self.state.d.next = ReadState::Issue;
                    }
                    if self.job.val().paged {
                        self.state.d.next = ReadState::Look;
                    }
                }
            }
            ReadState::Look => {
                if self.mtt_grant.val() {
                    self.state.d.next = ReadState::Ready;
                }
            }
            ReadState::Ready => {
                self.state.d.next = ReadState::Count;
                if self.roomy.val() {
                    self.state.d.next = ReadState::Issue;
                }
            }
            ReadState::Count => {
                self.need.d.next = self.asked.q.val() + bit_cast::<PB, 8>(self.weighed.val()) + self.margin.val();
                self.state.d.next = ReadState::Check;
            }
            ReadState::Check => {
                self.state.d.next = ReadState::Count;
                // Fewer than 128 beats under way: enough for 100 cycles of latency, and other readers don't wait behind a whole FIFO's worth.
                if (self.free.val() >= self.need.q.val())
                    & (self.bursts.q.val() != self.most_bursts.val())
                    & !(self.asked.q.val() >> 7).any()
                {
                    self.state.d.next = ReadState::Issue;
                }
            }
            ReadState::Issue => {
                if self.ar_ready.val() {
                    self.issue.next = true;
                    self.state.d.next = ReadState::Low;
                    if !self.more.val() {
                        self.state.d.next = ReadState::Idle;
                    }
                }
            }
            ReadState::Low => {
                self.low.d.next = self.next_low.val().get_bits::<32>(0);
                self.carry.d.next = self.next_low.val().get_bit(32);
                self.stop.d.next = self.stop.q.val() - self.block_bytes.val();
                self.state.d.next = ReadState::High;
            }
            ReadState::High => {
                if self.carry.q.val() {
                    self.high.d.next = self.high.q.val() + 1;
                }
                self.state.d.next = ReadState::Count;
                if self.paged.q.val() {
                    self.state.d.next = ReadState::Look;
                }
            }
            _ => self.state.d.next = ReadState::Idle,
        }
        self.job_ready.next = self.takes.val();
        self.piece_valid.next = self.begin_job.val();
        self.piece_lane.next = self.job_address.val().get_bits::<3>(0) & self.lane_mask.val();
        self.piece_length.next = self.job.val().length;
        self.piece_last.next = self.job.val().last;
        self.mtt_read.next = self.state.q.val() == ReadState::Look;
        self.mtt_entry.next = self.low.q.val().get_bits::<16>(12);
        self.ar_valid.next = self.state.q.val() == ReadState::Issue;
        self.ar_length.next = self.length.val();
        self.ar_address.next =
            bit_cast::<64, 32>(self.low.q.val() & self.beat_aligned.val()) | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        if self.paged.q.val() {
            self.ar_address.next = bit_cast::<64, 12>((self.low.q.val() & self.beat_aligned.val()).get_bits::<12>(0))
                | (bit_cast::<64, 52>(self.mtt_page.val()) << 12);
        }

        // What is under way.
        if self.beat_taken.val() {
            self.asked.d.next = self.asked.q.val() - 1;
        }
        // A burst counts a cycle after its AR: before the next one is weighed, and before its first beat.
        self.issued.d.next = self.issue.val();
        self.issued_length.d.next = self.length.val();
        if self.issued.q.val() {
            self.asked.d.next = self.asked.q.val() + bit_cast::<PB, 8>(self.issued_length.q.val()) + 1;
            if self.beat_taken.val() {
                self.asked.d.next = self.asked.q.val() + bit_cast::<PB, 8>(self.issued_length.q.val());
            }
        }
        if self.issue.val() & !self.burst_ended.val() {
            self.bursts.d.next = self.bursts.q.val() + 1;
        }
        if !self.issue.val() & self.burst_ended.val() {
            self.bursts.d.next = self.bursts.q.val() - 1;
        }
        if self.begin_job.val() & self.job.val().last & !self.retire.val() {
            self.packets.d.next = self.packets.q.val() + 1;
        }
        if !(self.begin_job.val() & self.job.val().last) & self.retire.val() {
            self.packets.d.next = self.packets.q.val() - 1;
        }

        if self.reset.val() {
            self.state.d.next = ReadState::Idle;
            self.asked.d.next = 0.into();
            self.issued.d.next = false;
            self.bursts.d.next = 0.into();
            self.packets.d.next = 0.into();
        }
    }

    crate::block_name!();
}
