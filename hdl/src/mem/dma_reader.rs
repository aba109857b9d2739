// SPDX-License-Identifier: MIT OR Apache-2.0
//! DMA reader: payload from host memory for the packets that leave.
//!
//! ```text
//! job ─► splitter ─┬─► ar_*
//!                  └─► pieces ─► gatherer ◄─ r_*
//!                                   ├─► payload_* (to the FIFO in tx)
//!                                   └─► done queue ─► done_*
//! ```
//!
//! A packet's bytes come out contiguous from byte 0 of its first beat, whatever the alignment of its pieces, zero behind its end. One ID, so R comes in AR order. At most 8 bursts
//! and 16 pieces (K = 4: 2 and 3) are under way, none beyond `payload_free`; hence `payload_valid` needs no ready, and `r_ready` never depends on the transmitter.
//! One beat a cycle, one cycle between pieces. An R with an error poisons its packet: `payload_error` with the last beat, and `done_error`.

use super::{DoneQueue, Gatherer, ReadJob, ReadSplitter};
use crate::stream::{Fifo, Skid};
use rust_hdl::prelude::*;

/// `W` bus bits, `K = W/8`, `S = 1` for 64 bits and 0 for 32, `N = 1 - S`, `PB` bits of `payload_free`, `AB` address bits that the bus has.
#[derive(LogicBlock)]
pub struct DmaReader<const W: usize, const K: usize, const S: usize, const N: usize, const PB: usize, const AB: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, ReadJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    /// MTT port: `mtt_read` holds until `mtt_grant`; the page is there two cycles after the grant and stays until the next.
    pub mtt_read: Signal<Out, Bit>,
    pub mtt_entry: Signal<Out, Bits<16>>,
    pub mtt_grant: Signal<In, Bit>,
    pub mtt_page: Signal<In, Bits<52>>,
    pub ar_address: Signal<Out, Bits<64>>,
    pub ar_length: Signal<Out, Bits<8>>,
    pub ar_valid: Signal<Out, Bit>,
    pub ar_ready: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_last: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    pub payload_data: Signal<Out, Bits<W>>,
    pub payload_last: Signal<Out, Bit>,
    pub payload_error: Signal<Out, Bit>,
    pub payload_valid: Signal<Out, Bit>,
    pub payload_free: Signal<In, Bits<PB>>,
    pub done_valid: Signal<Out, Bit>,
    pub done_error: Signal<Out, Bit>,
    pub done_ready: Signal<In, Bit>,
    splitter: ReadSplitter<K, PB, AB>,
    pieces: [Fifo<4, 5, 18>; S],
    few_pieces: [Skid<18>; N],
    gatherer: Gatherer<W, K>,
    dones: DoneQueue<K>,
    piece: Signal<Local, Bits<18>>,
    next_piece: Signal<Local, Bits<18>>,
    next_valid: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
}

impl<const W: usize, const K: usize, const S: usize, const N: usize, const PB: usize, const AB: usize> Default
    for DmaReader<W, K, S, N, PB, AB>
{
    fn default() -> Self {
        assert!(
            W == 8 * K && S == W / 32 - 1 && N == 1 - S,
            "DmaReader: W = 8 * K, S = W / 32 - 1, N = 1 - S"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            mtt_read: Default::default(),
            mtt_entry: Default::default(),
            mtt_grant: Default::default(),
            mtt_page: Default::default(),
            ar_address: Default::default(),
            ar_length: Default::default(),
            ar_valid: Default::default(),
            ar_ready: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_last: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            payload_data: Default::default(),
            payload_last: Default::default(),
            payload_error: Default::default(),
            payload_valid: Default::default(),
            payload_free: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            splitter: Default::default(),
            pieces: std::array::from_fn(|_| Default::default()),
            few_pieces: std::array::from_fn(|_| Default::default()),
            gatherer: Default::default(),
            dones: Default::default(),
            piece: Default::default(),
            next_piece: Default::default(),
            next_valid: Default::default(),
            taken: Default::default(),
        }
    }
}

impl<const W: usize, const K: usize, const S: usize, const N: usize, const PB: usize, const AB: usize> Logic
    for DmaReader<W, K, S, N, PB, AB>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, splitter, gatherer, dones);
        self.splitter.reset.next = self.reset.val();
        self.gatherer.reset.next = self.reset.val();
        self.dones.reset.next = self.reset.val();

        self.splitter.job.next = self.job.val();
        self.splitter.job_valid.next = self.job_valid.val();
        self.job_ready.next = self.splitter.job_ready.val();
        self.mtt_read.next = self.splitter.mtt_read.val();
        self.mtt_entry.next = self.splitter.mtt_entry.val();
        self.splitter.mtt_grant.next = self.mtt_grant.val();
        self.splitter.mtt_page.next = self.mtt_page.val();
        self.ar_address.next = self.splitter.ar_address.val();
        self.ar_length.next = self.splitter.ar_length.val();
        self.ar_valid.next = self.splitter.ar_valid.val();
        self.splitter.ar_ready.next = self.ar_ready.val();
        self.splitter.free.next = self.payload_free.val();

        self.piece.next = bit_cast::<18, 14>(self.splitter.piece_length.val())
            | (bit_cast::<18, 3>(self.splitter.piece_lane.val()) << 14)
            | (bit_cast::<18, 1>(self.splitter.piece_last.val().into()) << 17);
        self.splitter.piece_ready.next = false;
        self.next_piece.next = 0.into();
        self.next_valid.next = false;
        for i in 0..S {
            self.pieces[i].clock.next = self.clock.val();
            self.pieces[i].reset.next = self.reset.val();
            self.pieces[i].s_data.next = self.piece.val();
            self.pieces[i].s_valid.next = self.splitter.piece_valid.val();
            self.splitter.piece_ready.next = self.pieces[i].s_ready.val();
            self.next_piece.next = self.pieces[i].m_data.val();
            self.next_valid.next = self.pieces[i].m_valid.val();
            self.pieces[i].m_ready.next = self.gatherer.piece_ready.val();
        }
        for i in 0..N {
            self.few_pieces[i].clock.next = self.clock.val();
            self.few_pieces[i].reset.next = self.reset.val();
            self.few_pieces[i].s_data.next = self.piece.val();
            self.few_pieces[i].s_valid.next = self.splitter.piece_valid.val();
            self.splitter.piece_ready.next = self.few_pieces[i].s_ready.val();
            self.next_piece.next = self.few_pieces[i].m_data.val();
            self.next_valid.next = self.few_pieces[i].m_valid.val();
            self.few_pieces[i].m_ready.next = self.gatherer.piece_ready.val();
        }
        self.gatherer.piece_length.next = self.next_piece.val().get_bits::<14>(0);
        self.gatherer.piece_lane.next = self.next_piece.val().get_bits::<3>(14);
        self.gatherer.piece_last.next = self.next_piece.val().get_bit(17);
        self.gatherer.piece_valid.next = self.next_valid.val();

        self.gatherer.r_data.next = self.r_data.val();
        self.gatherer.r_error.next = self.r_error.val();
        self.gatherer.r_valid.next = self.r_valid.val();
        self.r_ready.next = self.gatherer.r_ready.val();
        self.taken.next = self.r_valid.val() & self.gatherer.r_ready.val();
        self.splitter.beat_taken.next = self.taken.val();
        self.splitter.burst_ended.next = self.taken.val() & self.r_last.val();
        self.payload_data.next = self.gatherer.payload_data.val();
        self.payload_last.next = self.gatherer.payload_last.val();
        self.payload_error.next = self.gatherer.payload_error.val();
        self.payload_valid.next = self.gatherer.payload_valid.val();
        self.dones.ended.next = self.gatherer.payload_valid.val() & self.gatherer.payload_last.val();
        self.dones.ended_error.next = self.gatherer.payload_error.val();
        self.done_valid.next = self.dones.done_valid.val();
        self.done_error.next = self.dones.done_error.val();
        self.dones.done_ready.next = self.done_ready.val();
        self.splitter.retire.next = self.dones.done_valid.val() & self.done_ready.val();
    }

    crate::block_name!();
}

/// As the `tengig` preset has it.
pub type DmaReaderTengig = DmaReader<64, 8, 1, 0, 12, 64>;
/// As the `cu` preset has it.
pub type DmaReaderCu = DmaReader<32, 4, 0, 1, 9, 32>;
