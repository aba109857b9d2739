// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a response's bytes go: from the offset in the message to one or two write jobs, each behind a key check.
//!
//! ```text
//!            ┌─ miss: Log ─ BaseLow ─ BaseHigh ─ Ring ─ Address ─ Ask ─ Take ─ Tag ─ Again ─┐
//! Idle ─ start ─ hit ────────────────────────────────────────────────────────────────────┴─► Room ─► Low ─► High ─► Carry ─► Key ─► Job ─► Idle
//!                                                          element 1, second piece: Next ─ Over ──────┘                  └──► Refused
//! ```
//!
//! The elements stand in words 8 to 15 of the ack row; where the row's WQE index isn't this one, the WQE is read from memory and checked first (R66).
//! Element 0 if the offset lies in it, else element 1; a piece that reaches over its end makes two. Each piece is checked for local write access.
//! Words 10 and 8 of the row must be on their way (read in the cycle before `start`, and with it). Nothing leaves before `commit`; `forget` ends it without a job,
//! once what is under way has ended. In the fast case `key_start` comes 5 cycles after `start`, the job a cycle after `key_done`.
//! The last job releases the frame.

use super::wqe_intake::WqeIntake;
use crate::mem::WriteJob;
use rust_hdl::prelude::*;
use verbena_spec::layout::status;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum PlacementState {
    Idle,
    Log,
    BaseLow,
    BaseHigh,
    Ring,
    Address,
    Ask,
    Take,
    Tag,
    Again,
    Room,
    Low,
    Next,
    Over,
    High,
    Carry,
    Key,
    Job,
    Refused,
}

#[derive(LogicBlock)]
pub struct Placement<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub hit: Signal<In, Bit>,
    pub commit: Signal<In, Bit>,
    pub forget: Signal<In, Bit>,
    /// `jobs` := 0, between responses.
    pub clear: Signal<In, Bit>,
    /// Take `offset`.
    pub load: Signal<In, Bit>,
    pub place_offset: Signal<Out, Bits<32>>,
    pub idle: Signal<Out, Bit>,
    /// The last job leaves in this cycle.
    pub done: Signal<Out, Bit>,
    /// Held until `forget`.
    pub refused: Signal<Out, Bit>,
    pub status: Signal<Out, Bits<4>>,
    /// Jobs that have left since `clear`.
    pub jobs: Signal<Out, Bits<2>>,
    // The message and the packet.
    pub wqe: Signal<In, Bits<16>>,
    pub send_opcode: Signal<In, Bits<4>>,
    pub length: Signal<In, Bits<32>>,
    pub offset: Signal<In, Bits<32>>,
    pub swap: Signal<In, Bit>,
    pub payload_length: Signal<In, Bits<14>>,
    pub payload_beat: Signal<In, Bits<14>>,
    pub payload_offset: Signal<In, Bits<3>>,
    pub end_beat: Signal<In, Bits<14>>,
    // Rows.
    pub read: Signal<Out, Bit>,
    pub item: Signal<Out, Bits<5>>,
    pub word: Signal<In, Bits<32>>,
    pub write: Signal<Out, Bit>,
    pub write_item: Signal<Out, Bits<4>>,
    pub write_data: Signal<Out, Bits<32>>,
    // KeyArbiter, memory, DMA writer.
    pub key_start: Signal<Out, Bit>,
    pub key: Signal<Out, Bits<32>>,
    pub key_va: Signal<Out, Bits<64>>,
    pub key_length: Signal<Out, Bits<32>>,
    pub key_done: Signal<In, Bit>,
    pub key_ok: Signal<In, Bit>,
    pub key_paged: Signal<In, Bit>,
    pub key_address: Signal<In, Bits<64>>,
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch_ready: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    pub job: Signal<Out, WriteJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    intake: WqeIntake<W>,
    state: DFF<PlacementState>,
    jobs_kept: DFF<Bits<2>>,
    status_kept: DFF<Bits<4>>,
    /// Element 1 is in hand.
    second: DFF<Bit>,
    /// It begins at its first byte.
    fresh: DFF<Bit>,
    /// A second piece follows.
    spans: DFF<Bit>,
    offset_kept: DFF<Bits<32>>,
    /// Bytes of element 0 behind the offset: what its length has left.
    room: DFF<Bits<32>>,
    short: DFF<Bit>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    carry: DFF<Bit>,
    paged: DFF<Bit>,
    piece: DFF<Bits<14>>,
    ring: DFF<Bits<15>>,
    /// The word that is read in this state, and whether: chosen in the one before.
    item_kept: DFF<Bits<5>>,
    reading: DFF<Bit>,
    /// Element 0 ends at the offset.
    none: DFF<Bit>,
    /// What `low` moves by; whether the bytes reach over element 0's end; both a cycle behind `room`.
    addend: DFF<Bits<32>>,
    one_in: DFF<Bit>,
    over: DFF<Bit>,
    /// Byte of the payload at which the piece begins, and its place in the frame; long steady when the job is offered.
    position: DFF<Bits<17>>,
    ring_beat: DFF<Bits<14>>,
    bytes: Signal<Local, Bits<14>>,
    behind: Signal<Local, Bit>,
    room_wide: Signal<Local, Bits<33>>,
    over_wide: Signal<Local, Bits<15>>,
    wide_low: Signal<Local, Bits<34>>,
    wide_addend: Signal<Local, Bits<34>>,
    sum: Signal<Local, Bits<34>>,
    beats: Signal<Local, Bits<17>>,
    lane: Signal<Local, Bits<17>>,
    mask: Signal<Local, Bits<15>>,
    taken: Signal<Local, Bit>,
    one: Constant<Bits<34>>,
    atomic_bytes: Constant<Bits<14>>,
    beat_shift: Constant<Bits<5>>,
    lane_mask: Constant<Bits<17>>,
    atomic_beats: Constant<Bits<14>>,
    all: Constant<Bits<15>>,
    status_protection: Constant<Bits<4>>,
    status_operation: Constant<Bits<4>>,
}

impl<const W: usize> Default for Placement<W> {
    fn default() -> Self {
        let four = |n: u32| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            hit: Default::default(),
            commit: Default::default(),
            forget: Default::default(),
            clear: Default::default(),
            load: Default::default(),
            place_offset: Default::default(),
            idle: Default::default(),
            done: Default::default(),
            refused: Default::default(),
            status: Default::default(),
            jobs: Default::default(),
            wqe: Default::default(),
            send_opcode: Default::default(),
            length: Default::default(),
            offset: Default::default(),
            swap: Default::default(),
            payload_length: Default::default(),
            payload_beat: Default::default(),
            payload_offset: Default::default(),
            end_beat: Default::default(),
            read: Default::default(),
            item: Default::default(),
            word: Default::default(),
            write: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            key_start: Default::default(),
            key: Default::default(),
            key_va: Default::default(),
            key_length: Default::default(),
            key_done: Default::default(),
            key_ok: Default::default(),
            key_paged: Default::default(),
            key_address: Default::default(),
            fetch_valid: Default::default(),
            fetch_ready: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            intake: Default::default(),
            state: Default::default(),
            jobs_kept: Default::default(),
            status_kept: Default::default(),
            second: Default::default(),
            fresh: Default::default(),
            spans: Default::default(),
            offset_kept: Default::default(),
            room: Default::default(),
            short: Default::default(),
            low: Default::default(),
            high: Default::default(),
            carry: Default::default(),
            paged: Default::default(),
            piece: Default::default(),
            ring: Default::default(),
            item_kept: Default::default(),
            reading: Default::default(),
            none: Default::default(),
            one_in: Default::default(),
            over: Default::default(),
            ring_beat: Default::default(),
            bytes: Default::default(),
            behind: Default::default(),
            room_wide: Default::default(),
            over_wide: Default::default(),
            addend: Default::default(),
            wide_low: Default::default(),
            wide_addend: Default::default(),
            one: Constant::new(1u64.to_bits()),
            sum: Default::default(),
            position: Default::default(),
            beats: Default::default(),
            lane: Default::default(),
            mask: Default::default(),
            taken: Default::default(),
            atomic_bytes: Constant::new(8u64.to_bits()),
            beat_shift: Constant::new(if W == 64 { 3u64 } else { 2 }.to_bits()),
            lane_mask: Constant::new((W as u64 / 8 - 1).to_bits()),
            atomic_beats: Constant::new((64 / W as u64).to_bits()),
            all: Constant::new(0x7fffu64.to_bits()),
            status_protection: four(status::LOCAL_PROTECTION_ERROR),
            status_operation: four(status::LOCAL_QP_OPERATION_ERROR),
        }
    }
}

impl<const W: usize> Logic for Placement<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            jobs_kept,
            status_kept,
            second,
            fresh,
            spans,
            offset_kept,
            room,
            short
        );
        dff_setup!(self, clock, low, high, carry, paged, piece, ring);
        dff_setup!(self, clock, reading, none);
        dff_setup!(self, clock, item_kept, addend, one_in, over, position, ring_beat);
        clock!(self, clock, intake);
        self.intake.reset.next = self.reset.val();
        self.intake.start.next = false;
        self.intake.send_opcode.next = self.send_opcode.val();
        self.intake.length.next = self.length.val();
        self.intake.atomic.next = self.swap.val();
        self.intake.r_data.next = self.r_data.val();
        self.intake.r_error.next = self.r_error.val();
        self.intake.r_valid.next = self.r_valid.val();
        self.r_ready.next = self.intake.r_ready.val();

        self.read.next = self.reading.q.val();
        self.reading.d.next = false;
        self.item.next = self.item_kept.q.val();
        self.item_kept.d.next = 12.into();
        self.write.next = self.intake.write.val();
        self.write_item.next = self.intake.write_item.val();
        self.write_data.next = self.intake.write_data.val();
        self.idle.next = false;
        self.done.next = false;
        self.refused.next = false;
        self.key_start.next = false;
        self.fetch_valid.next = false;
        self.job_valid.next = false;
        self.taken.next = false;

        self.bytes.next = self.payload_length.val();
        if self.swap.val() {
            self.bytes.next = self.atomic_bytes.val();
        }
        // Element 0 has no room at the offset; an ATOMIC has only element 0.
        self.behind.next = (self.short.q.val() | self.none.q.val()) & !self.swap.val();
        self.room_wide.next = bit_cast::<33, 32>(self.word.val()) - bit_cast::<33, 32>(self.offset_kept.q.val());
        self.over_wide.next = bit_cast::<15, 14>(self.room.q.val().get_bits::<14>(0)) - bit_cast::<15, 14>(self.bytes.val());

        // Address: element 0 from the offset on; element 1 from (offset - length 0) on, which is minus the room.
        self.addend.d.next = self.offset_kept.q.val();
        self.one_in.d.next = false;
        if self.second.q.val() {
            self.addend.d.next = !self.room.q.val();
            self.one_in.d.next = true;
            if self.fresh.q.val() {
                self.addend.d.next = 0.into();
                self.one_in.d.next = false;
            }
        }
        // The carry enters as the sum of two bits below the number, so that one chain does it all.
        self.wide_low.next = (bit_cast::<34, 32>(self.low.q.val()) << 1) | self.one.val();
        self.wide_addend.next = (bit_cast::<34, 32>(self.addend.q.val()) << 1) | bit_cast::<34, 1>(self.one_in.q.val().into());
        self.sum.next = self.wide_low.val() + self.wide_addend.val();
        self.over.d.next = !self.room.q.val().get_bits::<18>(14).any() & self.over_wide.val().get_bit(14);
        self.mask.next = self.all.val() << self.word.val().get_bits::<4>(4);

        match self.state.q.val() {
            PlacementState::Idle => {
                self.idle.next = true;
                self.item_kept.d.next = 19.into();
                if self.hit.val() {
                    self.item_kept.d.next = 9.into();
                }
                self.second.d.next = false;
                self.fresh.d.next = false;
                self.spans.d.next = false;
                self.reading.d.next = self.start.val();
                if self.start.val() {
                    self.state.d.next = PlacementState::Room;
                    if !self.hit.val() {
                        self.state.d.next = PlacementState::Log;
                    }
                }
            }
            PlacementState::Log => {
                self.reading.d.next = true;
                self.item_kept.d.next = 21.into();
                self.state.d.next = PlacementState::BaseLow;
            }
            PlacementState::BaseLow => {
                self.reading.d.next = true;
                self.item_kept.d.next = 22.into();
                self.state.d.next = PlacementState::BaseHigh;
            }
            PlacementState::BaseHigh => {
                self.ring.d.next = self.wqe.val().get_bits::<15>(0) & !self.mask.val();
                self.state.d.next = PlacementState::Ring;
            }
            PlacementState::Ring => {
                self.low.d.next = self.word.val() | (bit_cast::<32, 15>(self.ring.q.val()) << 6);
                self.state.d.next = PlacementState::Address;
            }
            PlacementState::Address => {
                self.high.d.next = self.word.val();
                self.state.d.next = PlacementState::Ask;
            }
            PlacementState::Ask => {
                self.fetch_valid.next = true;
                if self.fetch_ready.val() {
                    self.intake.start.next = true;
                    self.state.d.next = PlacementState::Take;
                }
            }
            PlacementState::Take => {
                if self.intake.done.val() {
                    self.state.d.next = PlacementState::Tag;
                    if self.intake.bad.val() {
                        self.status_kept.d.next = self.status_operation.val();
                        self.state.d.next = PlacementState::Refused;
                    }
                }
            }
            PlacementState::Tag => {
                self.write.next = true;
                self.write_item.next = 2.into();
                self.write_data.next = bit_cast::<32, 16>(self.wqe.val()) | 0x10000;
                self.item_kept.d.next = 10.into();
                self.reading.d.next = true;
                self.state.d.next = PlacementState::Again;
            }
            PlacementState::Again => {
                // The length of element 0, then as after `start`.
                self.reading.d.next = true;
                self.fresh.d.next = true;
                self.item_kept.d.next = 8.into();
                if self.fresh.q.val() {
                    self.item_kept.d.next = 9.into();
                    self.fresh.d.next = false;
                    self.state.d.next = PlacementState::Room;
                }
            }
            PlacementState::Room => {
                self.reading.d.next = true;
                self.item_kept.d.next = 11.into();
                self.room.d.next = self.room_wide.val().get_bits::<32>(0);
                self.none.d.next = self.word.val() == self.offset_kept.q.val();
                self.short.d.next = self.room_wide.val().get_bit(32);
                self.state.d.next = PlacementState::Low;
            }
            PlacementState::Low => {
                self.low.d.next = self.word.val();
                self.piece.d.next = self.bytes.val();
                self.state.d.next = PlacementState::High;
                if self.second.q.val() {
                    if self.jobs_kept.q.val().any() {
                        self.piece.d.next = self.bytes.val() - self.room.q.val().get_bits::<14>(0);
                    }
                } else {
                    if self.behind.val() {
                        self.second.d.next = true;
                        // No room at all, no way back either.
                        self.fresh.d.next = self.none.q.val();
                        self.reading.d.next = true;
                        self.state.d.next = PlacementState::Next;
                    }
                }
            }
            PlacementState::Next => {
                self.reading.d.next = true;
                self.item_kept.d.next = 13.into();
                self.state.d.next = PlacementState::Over;
            }
            PlacementState::Over => {
                self.reading.d.next = true;
                self.item_kept.d.next = 15.into();
                self.state.d.next = PlacementState::Low;
            }
            PlacementState::High => {
                self.high.d.next = self.word.val();
                self.low.d.next = self.sum.val().get_bits::<32>(1);
                self.carry.d.next = self.sum.val().get_bit(33);
                if self.over.q.val() & !self.second.q.val() & !self.swap.val() {
                    self.spans.d.next = true;
                    self.piece.d.next = self.room.q.val().get_bits::<14>(0);
                }
                self.state.d.next = PlacementState::Carry;
            }
            PlacementState::Carry => {
                if self.carry.q.val() {
                    self.high.d.next = self.high.q.val() + 1;
                }
                self.state.d.next = PlacementState::Key;
            }
            PlacementState::Key => {
                self.key_start.next = true;
                if self.key_done.val() {
                    self.low.d.next = self.key_address.val().get_bits::<32>(0);
                    self.high.d.next = self.key_address.val().get_bits::<32>(32);
                    self.paged.d.next = self.key_paged.val();
                    self.state.d.next = PlacementState::Job;
                    if !self.key_ok.val() {
                        self.status_kept.d.next = self.status_protection.val();
                        self.state.d.next = PlacementState::Refused;
                    }
                }
            }
            PlacementState::Job => {
                self.job_valid.next = self.commit.val();
                // Element 1, if it comes next.
                self.reading.d.next = true;
                self.taken.next = self.commit.val() & self.job_ready.val();
                if self.taken.val() {
                    self.jobs_kept.d.next = self.jobs_kept.q.val() + 1;
                    self.done.next = !self.spans.q.val();
                    self.spans.d.next = false;
                    self.second.d.next = true;
                    self.fresh.d.next = true;
                    self.state.d.next = PlacementState::Idle;
                    if self.spans.q.val() {
                        self.state.d.next = PlacementState::Next;
                    }
                }
                if self.forget.val() {
                    self.state.d.next = PlacementState::Idle;
                }
            }
            PlacementState::Refused => {
                self.refused.next = true;
                if self.forget.val() {
                    self.state.d.next = PlacementState::Idle;
                }
            }
            _ => {
                self.state.d.next = PlacementState::Idle;
            }
        }

        if self.clear.val() {
            self.jobs_kept.d.next = 0.into();
        }
        if self.load.val() {
            self.offset_kept.d.next = self.offset.val();
        }
        self.place_offset.next = self.offset_kept.q.val();
        self.status.next = self.status_kept.q.val();
        self.jobs.next = self.jobs_kept.q.val();
        self.key.next = self.word.val();
        self.key_va.next = bit_cast::<64, 32>(self.low.q.val()) | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        self.key_length.next = bit_cast::<32, 14>(self.piece.q.val());

        // The second piece begins in the frame where the first has ended.
        self.position.d.next = bit_cast::<17, 3>(self.payload_offset.val());
        if self.jobs_kept.q.val().any() {
            self.position.d.next = bit_cast::<17, 3>(self.payload_offset.val()) + bit_cast::<17, 14>(self.room.q.val().get_bits::<14>(0));
        }
        self.beats.next = self.position.q.val() >> self.beat_shift.val();
        self.lane.next = self.position.q.val() & self.lane_mask.val();
        self.job.next.write = true;
        self.job.next.paged = self.paged.q.val();
        self.job.next.address = bit_cast::<64, 32>(self.low.q.val()) | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        self.job.next.length = self.piece.q.val();
        self.ring_beat.d.next = self.payload_beat.val() + self.beats.val().get_bits::<14>(0);
        if self.swap.val() {
            // The 8 bytes of AtomicAckETH are the beats before the payload's.
            self.ring_beat.d.next = self.payload_beat.val() - self.atomic_beats.val();
        }
        self.job.next.ring_beat = self.ring_beat.q.val();
        self.job.next.ring_offset = self.lane.val().get_bits::<3>(0);
        self.job.next.release = !self.spans.q.val();
        self.job.next.end_beat = self.end_beat.val();
        self.job.next.swap = self.swap.val();

        if self.reset.val() {
            self.state.d.next = PlacementState::Idle;
            self.reading.d.next = false;
        }
    }

    crate::block_name!();
}
