// SPDX-License-Identifier: MIT OR Apache-2.0
//! DMA writer: received bytes from the frame ring to host memory.
//!
//! ```text
//! job ─► queue ─► splitter ─┬─► read_* ─► (rx ring) ─► beat_* ─► realigner ─► w_*
//!                   ▲       ├─► piece ──────────────────────────────▲  └─► release_*
//!           mtt_* ─► MTT ◄──┘
//!                           └─► aw_* ─► tracker ◄─ b_*
//!                                           └─► done_*, in job order
//! ```
//!
//! Throughput one beat a cycle; between jobs at most 4 idle cycles. Jobs of 1 to 16383 bytes; any source and destination lane. At most B
//! bursts outstanding. `done` comes for jobs with `write`, after the B responses of all their bursts. While one job's data moves, the next
//! job's ring read and first AW are already under way.

use super::{BurstTracker, JobQueue, JobSplitter, Mtt, MttShare, Realigner, WriteJob};
use rust_hdl::prelude::*;
use verbena_spec::config::Config;

/// `W` bus bits, `K = W/8`, `BA` ring beat address bits, `TA` MTT entry bits (1: no MTT, `paged` is ignored), `B` bursts
/// outstanding at most.
#[derive(LogicBlock)]
pub struct DmaWriter<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, WriteJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub read_beat: Signal<Out, Bits<14>>,
    pub read_count: Signal<Out, Bits<14>>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    pub beat_data: Signal<In, Bits<W>>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_ready: Signal<Out, Bit>,
    pub release_valid: Signal<Out, Bit>,
    pub release_beat: Signal<Out, Bits<14>>,
    pub mtt_valid: Signal<In, Bit>,
    pub mtt_address: Signal<In, Bits<17>>,
    pub mtt_data: Signal<In, Bits<32>>,
    pub mtt_ready: Signal<Out, Bit>,
    /// The DMA reader's way to the table: `MttShare`.
    pub lookup_read: Signal<In, Bit>,
    pub lookup_entry: Signal<In, Bits<16>>,
    pub lookup_grant: Signal<Out, Bit>,
    pub lookup_page: Signal<Out, Bits<52>>,
    /// The ATOMIC's way to it.
    pub atomic_lookup_valid: Signal<In, Bit>,
    pub atomic_lookup_entry: Signal<In, Bits<16>>,
    pub atomic_lookup_done: Signal<Out, Bit>,
    pub atomic_lookup_page: Signal<Out, Bits<52>>,
    pub done_valid: Signal<Out, Bit>,
    pub done_error: Signal<Out, Bit>,
    pub done_ready: Signal<In, Bit>,
    pub aw_address: Signal<Out, Bits<64>>,
    pub aw_length: Signal<Out, Bits<8>>,
    pub aw_valid: Signal<Out, Bit>,
    pub aw_ready: Signal<In, Bit>,
    pub w_data: Signal<Out, Bits<W>>,
    pub w_strobe: Signal<Out, Bits<K>>,
    pub w_last: Signal<Out, Bit>,
    pub w_valid: Signal<Out, Bit>,
    pub w_ready: Signal<In, Bit>,
    pub b_valid: Signal<In, Bit>,
    pub b_error: Signal<In, Bit>,
    queue: JobQueue,
    splitter: JobSplitter<K, BA, TA>,
    realigner: Realigner<W, K, BA>,
    tracker: BurstTracker<B>,
    mtt: Mtt<TA>,
    share: MttShare,
}

impl<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> DmaWriter<W, K, BA, TA, B> {
    pub fn new(config: &Config) -> Self {
        assert_eq!(W, config.data_bits, "DmaWriter: W");
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
            beat_data: Default::default(),
            beat_valid: Default::default(),
            beat_ready: Default::default(),
            release_valid: Default::default(),
            release_beat: Default::default(),
            mtt_valid: Default::default(),
            mtt_address: Default::default(),
            mtt_data: Default::default(),
            mtt_ready: Default::default(),
            lookup_read: Default::default(),
            lookup_entry: Default::default(),
            lookup_grant: Default::default(),
            lookup_page: Default::default(),
            atomic_lookup_valid: Default::default(),
            atomic_lookup_entry: Default::default(),
            atomic_lookup_done: Default::default(),
            atomic_lookup_page: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            aw_address: Default::default(),
            aw_length: Default::default(),
            aw_valid: Default::default(),
            aw_ready: Default::default(),
            w_data: Default::default(),
            w_strobe: Default::default(),
            w_last: Default::default(),
            w_valid: Default::default(),
            w_ready: Default::default(),
            b_valid: Default::default(),
            b_error: Default::default(),
            queue: JobQueue::new(config.small()),
            splitter: JobSplitter::new(config),
            realigner: Default::default(),
            tracker: Default::default(),
            mtt: Default::default(),
            share: MttShare::new(!config.small()),
        }
    }
}

impl<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> Logic for DmaWriter<W, K, BA, TA, B> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, queue, splitter, realigner, tracker, mtt, share);
        self.splitter.reset.next = self.reset.val();
        self.realigner.reset.next = self.reset.val();
        self.tracker.reset.next = self.reset.val();
        self.mtt.reset.next = self.reset.val();

        self.queue.reset.next = self.reset.val();
        self.queue.s.next = self.job.val();
        self.queue.s_valid.next = self.job_valid.val();
        self.job_ready.next = self.queue.s_ready.val();
        self.splitter.job.next = self.queue.m.val();
        self.splitter.job_valid.next = self.queue.m_valid.val();
        self.queue.m_ready.next = self.splitter.job_ready.val();
        self.read_beat.next = self.splitter.read_beat.val();
        self.read_count.next = self.splitter.read_count.val();
        self.read_valid.next = self.splitter.read_valid.val();
        self.splitter.read_ready.next = self.read_ready.val();

        // While a burst's page stands, the table isn't written: its address may not change before AW is taken.
        self.mtt.mtt_valid.next = self.mtt_valid.val() & !self.splitter.mtt_busy.val();
        self.mtt.mtt_address.next = self.mtt_address.val();
        self.mtt.mtt_data.next = self.mtt_data.val();
        self.mtt_ready.next = self.mtt.mtt_ready.val() & !self.splitter.mtt_busy.val();
        self.share.reset.next = self.reset.val();
        self.share.first_busy.next = self.splitter.mtt_busy.val();
        self.share.first_entry.next = self.splitter.mtt_entry.val();
        self.share.second_read.next = self.lookup_read.val();
        self.share.second_entry.next = self.lookup_entry.val();
        self.lookup_grant.next = self.share.second_grant.val();
        self.lookup_page.next = self.share.second_page.val();
        self.share.third_valid.next = self.atomic_lookup_valid.val();
        self.share.third_entry.next = self.atomic_lookup_entry.val();
        self.atomic_lookup_done.next = self.share.third_done.val();
        self.atomic_lookup_page.next = self.share.third_page.val();
        self.mtt.entry.next = self.share.entry.val();
        self.share.page.next = self.mtt.page.val();
        self.splitter.mtt_page.next = self.mtt.page.val();

        self.realigner.piece_valid.next = self.splitter.piece_valid.val();
        self.splitter.piece_ready.next = self.realigner.piece_ready.val();
        self.realigner.piece_write.next = self.splitter.piece_write.val();
        self.realigner.piece_start.next = self.splitter.piece_start.val();
        self.realigner.piece_end.next = self.splitter.piece_end.val();
        self.realigner.piece_offset.next = self.splitter.piece_offset.val();
        self.realigner.piece_swap.next = self.splitter.piece_swap.val();
        self.realigner.piece_release.next = self.splitter.piece_release.val();
        self.realigner.piece_end_beat.next = self.splitter.piece_end_beat.val();

        self.realigner.beat_data.next = self.beat_data.val();
        self.realigner.beat_valid.next = self.beat_valid.val();
        self.beat_ready.next = self.realigner.beat_ready.val();
        self.release_valid.next = self.realigner.release_valid.val();
        self.release_beat.next = bit_cast::<14, BA>(self.realigner.release_beat.val());
        self.w_data.next = self.realigner.w_data.val();
        self.w_strobe.next = self.realigner.w_strobe.val();
        self.w_last.next = self.realigner.w_last.val();
        self.w_valid.next = self.realigner.w_valid.val();
        self.realigner.w_ready.next = self.w_ready.val();

        self.aw_address.next = self.splitter.aw_address.val();
        self.aw_length.next = self.splitter.aw_length.val();
        self.aw_valid.next = self.splitter.aw_valid.val();
        self.splitter.aw_ready.next = self.aw_ready.val();
        self.splitter.room.next = self.tracker.room.val();
        self.tracker.issue.next = self.splitter.aw_valid.val() & self.aw_ready.val();
        self.tracker.issue_last.next = self.splitter.aw_last.val();
        self.tracker.b_valid.next = self.b_valid.val();
        self.tracker.b_error.next = self.b_error.val();
        self.done_valid.next = self.tracker.done_valid.val();
        self.done_error.next = self.tracker.done_error.val();
        self.tracker.done_ready.next = self.done_ready.val();
    }

    crate::block_name!();
}
