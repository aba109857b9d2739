// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads the oldest row of the head RAM into a head.
//!
//! ```text
//! 64 bits: row RAM ─► register ─► words 8, 12.. to 20.., meta 10.. (IPv6: 2.., 4..) ─► PacketHead ─► head_front
//! 32 bits: row RAM ─────────────► words 8 to 19, the meta word 10 among them ─► PacketHead
//! ```
//!
//! 64 bits: 7 reads (IPv6 9). When nothing waits, the loading begins on the `likely` of a frame whose verdict comes three cycles later and
//! stops should that be a drop. What the last read brings goes to `m_head` by wires, beside the register. So a lone packet's head is valid 7 cycles after
//! the verdict, and a loaded one waits in the register while `head_front` holds the one before.
//! 32 bits: 12 reads; the register is the head. Words 20 and 21, IPv6 and GIDs but one don't exist there and read as zeros.
//! An IPv4 source is shown as ::ffff:a.b.c.d.

use super::PacketHead;
use rust_hdl::prelude::*;

/// Upper words of an IPv4 address as an IPv6 one.
const MAPPED: u64 = 0xffff;

/// `W` data bits, `L` words, `BA` ring address bits.
#[derive(LogicBlock)]
pub struct HeadLoader<const W: usize, const L: usize, const BA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Three cycles before a verdict that may commit a frame; never at one lane.
    pub likely: Signal<In, Bit>,
    pub verdict: Signal<In, Bit>,
    pub commit: Signal<In, Bit>,
    pub waiting: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub read_slot: Signal<Out, Bits<4>>,
    pub read_data: Signal<In, Bits<W>>,
    pub m_head: Signal<Out, PacketHead>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    now: DFF<PacketHead>,
    valid: DFF<Bit>,
    running: DFF<Bit>,
    unsure: DFF<Bit>,
    refused: DFF<Bit>,
    judged: DFF<Bit>,
    reading: DFF<Bits<4>>,
    fetched: DFF<Bit>,
    fetched_slot: DFF<Bits<4>>,
    row: DFF<Bits<W>>,
    arrived: DFF<Bit>,
    arrived_slot: DFF<Bits<4>>,
    here: Signal<Local, Bit>,
    here_slot: Signal<Local, Bits<4>>,
    here_data: Signal<Local, Bits<W>>,
    even_raw: Signal<Local, Bits<32>>,
    odd_raw: Signal<Local, Bits<32>>,
    even: Signal<Local, Bits<32>>,
    odd: Signal<Local, Bits<32>>,
    frame_end: Signal<Local, Bits<BA>>,
    busy: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    start_slot: Constant<Bits<4>>,
    header_slot: Constant<Bits<4>>,
    header_end_slot: Constant<Bits<4>>,
    meta_slot: Constant<Bits<4>>,
    source_slot: Constant<Bits<4>>,
    one: Constant<Bits<4>>,
    at_2: Constant<Bits<4>>,
    at_4: Constant<Bits<4>>,
    at_8: Constant<Bits<4>>,
    at_10: Constant<Bits<4>>,
    at_12: Constant<Bits<4>>,
    at_13: Constant<Bits<4>>,
    at_14: Constant<Bits<4>>,
    at_15: Constant<Bits<4>>,
    at_16: Constant<Bits<4>>,
    at_17: Constant<Bits<4>>,
    at_18: Constant<Bits<4>>,
    at_19: Constant<Bits<4>>,
    at_20: Constant<Bits<4>>,
    mapped: Constant<Bits<32>>,
    length_mask: Constant<Bits<14>>,
}

impl<const W: usize, const L: usize, const BA: usize> Default for HeadLoader<W, L, BA> {
    fn default() -> Self {
        assert!(W == 32 * L && (L == 1 || L == 2) && BA <= 13, "HeadLoader: widths disagree");
        let slot = |word: usize| Constant::new((if L == 2 { word / 2 } else { word % 16 } as u64).to_bits());
        // At one lane what arrives is the slot before the one that is being read.
        let at = |word: usize| Constant::new((if L == 2 { word / 2 } else { (word + 1) % 16 } as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            likely: Default::default(),
            verdict: Default::default(),
            commit: Default::default(),
            waiting: Default::default(),
            done: Default::default(),
            read_slot: Default::default(),
            read_data: Default::default(),
            m_head: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            now: Default::default(),
            valid: Default::default(),
            running: Default::default(),
            unsure: Default::default(),
            refused: Default::default(),
            judged: Default::default(),
            reading: Default::default(),
            fetched: Default::default(),
            fetched_slot: Default::default(),
            row: Default::default(),
            arrived: Default::default(),
            arrived_slot: Default::default(),
            here: Default::default(),
            here_slot: Default::default(),
            here_data: Default::default(),
            even_raw: Default::default(),
            odd_raw: Default::default(),
            even: Default::default(),
            odd: Default::default(),
            frame_end: Default::default(),
            busy: Default::default(),
            finished: Default::default(),
            start_slot: slot(8),
            header_slot: slot(12),
            header_end_slot: slot(20),
            meta_slot: slot(10),
            source_slot: slot(2),
            one: Constant::new(1u64.to_bits()),
            at_2: at(2),
            at_4: at(4),
            at_8: at(8),
            at_10: at(10),
            at_12: at(12),
            at_13: at(13),
            at_14: at(14),
            at_15: at(15),
            at_16: at(16),
            at_17: at(17),
            at_18: at(18),
            at_19: at(19),
            at_20: at(20),
            mapped: Constant::new(MAPPED.to_bits()),
            // The longest packet of a preset fits its ring.
            length_mask: Constant::new((((1u64 << BA) * L as u64 * 4 - 1) & 0x3fff).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize, const BA: usize> Logic for HeadLoader<W, L, BA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            now,
            valid,
            running,
            unsure,
            refused,
            judged,
            reading,
            fetched,
            fetched_slot,
            row,
            arrived,
            arrived_slot
        );

        // Slots to read.
        self.read_slot.next = self.reading.q.val();
        if self.running.q.val() {
            self.reading.d.next = self.reading.q.val() + self.one.val();
            for _i in 1..L {
                if self.reading.q.val() == self.start_slot.val() {
                    self.reading.d.next = self.header_slot.val();
                }
                if self.reading.q.val() == self.header_end_slot.val() {
                    self.reading.d.next = self.meta_slot.val();
                }
                if self.reading.q.val() == self.meta_slot.val() {
                    self.reading.d.next = self.source_slot.val();
                }
            }
        }

        // What has come.
        self.fetched.d.next = self.running.q.val();
        self.fetched_slot.d.next = self.reading.q.val();
        self.row.d.next = self.read_data.val();
        self.arrived.d.next = self.fetched.q.val();
        self.arrived_slot.d.next = self.fetched_slot.q.val();
        self.here.next = self.running.q.val();
        self.here_slot.next = self.reading.q.val();
        self.here_data.next = self.read_data.val();
        self.busy.next = self.running.q.val();
        for _i in 1..L {
            self.here.next = self.arrived.q.val();
            self.here_slot.next = self.arrived_slot.q.val();
            self.here_data.next = self.row.q.val();
            self.busy.next = self.running.q.val() | self.fetched.q.val() | self.arrived.q.val();
        }
        self.even_raw.next = self.here_data.val().get_bits::<32>(0);
        self.odd_raw.next = self.here_data.val().get_bits::<32>(0);
        for _i in 1..L {
            self.odd_raw.next = self.here_data.val().get_bits::<32>(32);
        }
        self.even.next = bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(0)) << 24);
        self.odd.next = bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(0)) << 24);

        // Each word to its fields.
        self.frame_end.next = self.now.q.val().end_beat.get_bits::<BA>(0);
        self.finished.next = false;
        if self.here.val() {
            if self.here_slot.val() == self.at_12.val() {
                self.now.d.next.opcode = self.even.val().get_bits::<8>(24);
                self.now.d.next.solicited = self.even.val().get_bit(23);
                self.now.d.next.pad_count = self.even.val().get_bits::<2>(20);
                self.now.d.next.pkey = self.even.val().get_bits::<16>(0);
            }
            if self.here_slot.val() == self.at_13.val() {
                self.now.d.next.qpn = self.odd.val().get_bits::<24>(0);
            }
            if self.here_slot.val() == self.at_14.val() {
                self.now.d.next.ack_request = self.even.val().get_bit(31);
                self.now.d.next.psn = self.even.val().get_bits::<24>(0);
            }
            if self.here_slot.val() == self.at_15.val() {
                self.now.d.next.xth0 = self.odd.val();
            }
            if self.here_slot.val() == self.at_16.val() {
                self.now.d.next.xth1 = self.even.val();
            }
            if self.here_slot.val() == self.at_17.val() {
                self.now.d.next.xth2 = self.odd.val();
            }
            if self.here_slot.val() == self.at_18.val() {
                self.now.d.next.xth3 = self.even.val();
            }
            if self.here_slot.val() == self.at_19.val() {
                self.now.d.next.xth4 = self.odd.val();
            }
            for _i in 1..L {
                if self.here_slot.val() == self.at_20.val() {
                    self.now.d.next.xth5 = self.even.val();
                    self.now.d.next.xth6 = self.odd.val();
                }
            }
            if self.here_slot.val() == self.at_8.val() {
                self.now.d.next.source_ip0 = 0.into();
                self.now.d.next.source_ip1 = 0.into();
                self.now.d.next.source_ip2 = self.mapped.val();
                self.now.d.next.source_ip3 = self.even.val();
                for _i in L..2 {
                    self.now.d.next.xth5 = 0.into();
                    self.now.d.next.xth6 = 0.into();
                    self.now.d.next.gid_index = 0.into();
                    self.now.d.next.ipv6 = false;
                    self.now.d.next.payload_offset = 0.into();
                    self.now.d.next.marked = false;
                }
            }
            if self.here_slot.val() == self.at_10.val() {
                self.now.d.next.payload_length = self.even_raw.val().get_bits::<14>(0) & self.length_mask.val();
                // One lane: a frame begins where the one before ended.
                for _i in L..2 {
                    self.now.d.next.frame_beat = bit_cast::<14, BA>(self.frame_end.val());
                    self.now.d.next.payload_beat =
                        bit_cast::<14, BA>(self.frame_end.val() + bit_cast::<BA, 5>(self.even_raw.val().get_bits::<5>(14)));
                    self.now.d.next.end_beat = bit_cast::<14, BA>(self.even_raw.val().get_bits::<BA>(19));
                }
                for _i in 1..L {
                    self.now.d.next.frame_beat = bit_cast::<14, BA>(self.even_raw.val().get_bits::<BA>(14));
                    self.now.d.next.gid_index = self.even_raw.val().get_bits::<2>(28);
                    self.now.d.next.ipv6 = self.even_raw.val().get_bit(30);
                    self.now.d.next.marked = self.even_raw.val().get_bit(31);
                    self.now.d.next.payload_beat = bit_cast::<14, BA>(self.odd_raw.val().get_bits::<BA>(0));
                    self.now.d.next.end_beat = bit_cast::<14, BA>(self.odd_raw.val().get_bits::<BA>(14));
                    self.now.d.next.payload_offset = bit_cast::<3, 1>(self.odd_raw.val().get_bits::<1>(28)) << 2;
                    self.finished.next = !self.even_raw.val().get_bit(30);
                }
            }
            for _i in 1..L {
                if self.here_slot.val() == self.at_2.val() {
                    self.now.d.next.source_ip0 = self.even.val();
                    self.now.d.next.source_ip1 = self.odd.val();
                }
                if self.here_slot.val() == self.at_4.val() {
                    self.now.d.next.source_ip2 = self.even.val();
                    self.now.d.next.source_ip3 = self.odd.val();
                    self.finished.next = true;
                }
            }
            for _i in L..2 {
                if self.here_slot.val() == self.at_19.val() {
                    self.finished.next = true;
                }
            }
        }

        // The last to come go by the register too.
        self.m_head.next = self.now.q.val();
        for _i in 1..L {
            if self.here_slot.val() == self.at_10.val() {
                self.m_head.next.payload_length = self.even_raw.val().get_bits::<14>(0);
                self.m_head.next.frame_beat = bit_cast::<14, BA>(self.even_raw.val().get_bits::<BA>(14));
                self.m_head.next.gid_index = self.even_raw.val().get_bits::<2>(28);
                self.m_head.next.ipv6 = self.even_raw.val().get_bit(30);
                self.m_head.next.marked = self.even_raw.val().get_bit(31);
                self.m_head.next.payload_beat = bit_cast::<14, BA>(self.odd_raw.val().get_bits::<BA>(0));
                self.m_head.next.end_beat = bit_cast::<14, BA>(self.odd_raw.val().get_bits::<BA>(14));
                self.m_head.next.payload_offset = bit_cast::<3, 1>(self.odd_raw.val().get_bits::<1>(28)) << 2;
            }
            if self.here_slot.val() == self.at_4.val() {
                self.m_head.next.source_ip2 = self.even.val();
                self.m_head.next.source_ip3 = self.odd.val();
            }
            if self.valid.q.val() {
                self.m_head.next = self.now.q.val();
            }
        }

        self.done.next = self.finished.val();
        self.m_valid.next = self.valid.q.val();
        for _i in 1..L {
            self.m_valid.next = self.valid.q.val() | self.finished.val();
        }
        if self.finished.val() {
            self.running.d.next = false;
            self.fetched.d.next = false;
            self.arrived.d.next = false;
            self.valid.d.next = true;
        }
        if self.m_ready.val() {
            self.valid.d.next = false;
        }
        // The verdict is taken a cycle late; no head is finished so soon.
        self.judged.d.next = self.verdict.val();
        self.refused.d.next = !self.commit.val();
        for _i in 1..L {
            if self.judged.q.val() {
                self.unsure.d.next = false;
                if self.unsure.q.val() & self.refused.q.val() {
                    self.running.d.next = false;
                    self.fetched.d.next = false;
                    self.arrived.d.next = false;
                }
            }
        }
        if !self.busy.val() & !self.valid.q.val() & (self.waiting.val() | self.likely.val()) {
            self.running.d.next = true;
            self.unsure.d.next = !self.waiting.val();
            self.reading.d.next = self.start_slot.val();
        }

        if self.reset.val() {
            self.now.d.next.end_beat = 0.into();
            self.valid.d.next = false;
            self.running.d.next = false;
            self.fetched.d.next = false;
            self.arrived.d.next = false;
            self.unsure.d.next = false;
            self.judged.d.next = false;
        }
    }

    crate::block_name!();
}
