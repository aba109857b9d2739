// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads the oldest row of the head RAM into the head that the control path sees.
//!
//! ```text
//! head RAM row ─► words 12.. to 20.., 8.., meta 10.. (IPv6: 2.., 4..) ─► PacketHead
//! ```
//!
//! IPv4: 7 reads at 64 bits, 13 at 32; IPv6: 9. When nothing waits, the loading begins on the `likely` of a frame whose verdict comes two cycles later and
//! stops should that be a drop. So a lone packet's head is valid 7 cycles after the verdict. An IPv4 source is shown as ::ffff:a.b.c.d.

use super::PacketHead;
use rust_hdl::prelude::*;

/// Upper words of an IPv4 address as an IPv6 one.
const MAPPED: u64 = 0xffff;

/// `W` data bits, `L` words.
#[derive(LogicBlock)]
pub struct HeadLoader<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Two cycles before a verdict that may commit a frame.
    pub likely: Signal<In, Bit>,
    pub verdict: Signal<In, Bit>,
    pub commit: Signal<In, Bit>,
    pub waiting: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub read_word: Signal<Out, Bits<5>>,
    pub read_data: Signal<In, Bits<W>>,
    pub head: Signal<Out, PacketHead>,
    pub head_valid: Signal<Out, Bit>,
    pub head_next: Signal<In, Bit>,
    now: DFF<PacketHead>,
    valid: DFF<Bit>,
    running: DFF<Bit>,
    unsure: DFF<Bit>,
    reading: DFF<Bits<5>>,
    arrived: DFF<Bit>,
    arrived_word: DFF<Bits<5>>,
    even_raw: Signal<Local, Bits<32>>,
    odd_raw: Signal<Local, Bits<32>>,
    even: Signal<Local, Bits<32>>,
    odd: Signal<Local, Bits<32>>,
    ipv6: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    words: Constant<Bits<5>>,
    at_2: Constant<Bits<5>>,
    at_4: Constant<Bits<5>>,
    at_8: Constant<Bits<5>>,
    at_10: Constant<Bits<5>>,
    at_11: Constant<Bits<5>>,
    at_12: Constant<Bits<5>>,
    at_13: Constant<Bits<5>>,
    at_14: Constant<Bits<5>>,
    at_15: Constant<Bits<5>>,
    at_16: Constant<Bits<5>>,
    at_17: Constant<Bits<5>>,
    at_18: Constant<Bits<5>>,
    at_19: Constant<Bits<5>>,
    at_20: Constant<Bits<5>>,
    at_21: Constant<Bits<5>>,
    mapped: Constant<Bits<32>>,
}

impl<const W: usize, const L: usize> Default for HeadLoader<W, L> {
    fn default() -> Self {
        let at = |word: usize| Constant::new(((word / L * L) as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            likely: Default::default(),
            verdict: Default::default(),
            commit: Default::default(),
            waiting: Default::default(),
            done: Default::default(),
            read_word: Default::default(),
            read_data: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            head_next: Default::default(),
            now: Default::default(),
            valid: Default::default(),
            running: Default::default(),
            unsure: Default::default(),
            reading: Default::default(),
            arrived: Default::default(),
            arrived_word: Default::default(),
            even_raw: Default::default(),
            odd_raw: Default::default(),
            even: Default::default(),
            odd: Default::default(),
            ipv6: Default::default(),
            finished: Default::default(),
            words: Constant::new((L as u64).to_bits()),
            at_2: at(2),
            at_4: at(4),
            at_8: at(8),
            at_10: at(10),
            at_11: at(11),
            at_12: at(12),
            at_13: at(13),
            at_14: at(14),
            at_15: at(15),
            at_16: at(16),
            at_17: at(17),
            at_18: at(18),
            at_19: at(19),
            at_20: at(20),
            at_21: at(21),
            mapped: Constant::new(MAPPED.to_bits()),
        }
    }
}

impl<const W: usize, const L: usize> Logic for HeadLoader<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, now, valid, running, unsure, reading, arrived, arrived_word);

        self.even_raw.next = self.read_data.val().get_bits::<32>(0);
        self.odd_raw.next = self.read_data.val().get_bits::<32>(0);
        for _i in 1..L {
            self.odd_raw.next = self.read_data.val().get_bits::<32>(32);
        }
        self.even.next = bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(0)) << 24);
        self.odd.next = bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(0)) << 24);

        // Addresses: 12 up to 20 or 21, 8, 10 and 11, then 2 and 4 in case it is IPv6.
        self.read_word.next = self.reading.q.val();
        self.arrived.d.next = self.running.q.val();
        self.arrived_word.d.next = self.reading.q.val();
        if self.running.q.val() {
            self.reading.d.next = self.reading.q.val() + self.words.val();
            if self.reading.q.val() == self.at_21.val() {
                self.reading.d.next = self.at_8.val();
            }
            if self.reading.q.val() == self.at_8.val() {
                self.reading.d.next = self.at_10.val();
            }
            if self.reading.q.val() == self.at_11.val() {
                self.reading.d.next = self.at_2.val();
            }
        }

        // Each word to its fields.
        self.ipv6.next = self.now.q.val().ipv6;
        self.finished.next = false;
        if self.arrived.q.val() {
            if self.arrived_word.q.val() == self.at_12.val() {
                self.now.d.next.opcode = self.even.val().get_bits::<8>(24);
                self.now.d.next.solicited = self.even.val().get_bit(23);
                self.now.d.next.pad_count = self.even.val().get_bits::<2>(20);
                self.now.d.next.pkey = self.even.val().get_bits::<16>(0);
            }
            if self.arrived_word.q.val() == self.at_13.val() {
                self.now.d.next.qpn = self.odd.val().get_bits::<24>(0);
            }
            if self.arrived_word.q.val() == self.at_14.val() {
                self.now.d.next.ack_request = self.even.val().get_bit(31);
                self.now.d.next.psn = self.even.val().get_bits::<24>(0);
            }
            if self.arrived_word.q.val() == self.at_15.val() {
                self.now.d.next.xth0 = self.odd.val();
            }
            if self.arrived_word.q.val() == self.at_16.val() {
                self.now.d.next.xth1 = self.even.val();
            }
            if self.arrived_word.q.val() == self.at_17.val() {
                self.now.d.next.xth2 = self.odd.val();
            }
            if self.arrived_word.q.val() == self.at_18.val() {
                self.now.d.next.xth3 = self.even.val();
            }
            if self.arrived_word.q.val() == self.at_19.val() {
                self.now.d.next.xth4 = self.odd.val();
            }
            if self.arrived_word.q.val() == self.at_20.val() {
                self.now.d.next.xth5 = self.even.val();
            }
            if self.arrived_word.q.val() == self.at_21.val() {
                self.now.d.next.xth6 = self.odd.val();
            }
            if self.arrived_word.q.val() == self.at_8.val() {
                self.now.d.next.source_ip0 = 0.into();
                self.now.d.next.source_ip1 = 0.into();
                self.now.d.next.source_ip2 = self.mapped.val();
                self.now.d.next.source_ip3 = self.even.val();
            }
            if self.arrived_word.q.val() == self.at_10.val() {
                self.ipv6.next = self.even_raw.val().get_bit(29);
                self.now.d.next.payload_length = self.even_raw.val().get_bits::<14>(0);
                self.now.d.next.frame_beat = self.even_raw.val().get_bits::<13>(14);
                self.now.d.next.gid_index = self.even_raw.val().get_bits::<2>(27);
                self.now.d.next.ipv6 = self.even_raw.val().get_bit(29);
            }
            if self.arrived_word.q.val() == self.at_11.val() {
                self.now.d.next.payload_beat = self.odd_raw.val().get_bits::<13>(0);
                self.now.d.next.end_beat = self.odd_raw.val().get_bits::<13>(13);
                self.now.d.next.payload_offset = bit_cast::<3, 1>(self.odd_raw.val().get_bits::<1>(26)) << 2;
                self.finished.next = !self.ipv6.val();
            }
            for _i in 1..L {
                if self.arrived_word.q.val() == self.at_2.val() {
                    self.now.d.next.source_ip0 = self.even.val();
                    self.now.d.next.source_ip1 = self.odd.val();
                }
                if self.arrived_word.q.val() == self.at_4.val() {
                    self.now.d.next.source_ip2 = self.even.val();
                    self.now.d.next.source_ip3 = self.odd.val();
                    self.finished.next = true;
                }
            }
        }

        self.done.next = self.finished.val();
        if self.finished.val() {
            self.running.d.next = false;
            self.arrived.d.next = false;
            self.valid.d.next = true;
        }
        if self.head_next.val() {
            self.valid.d.next = false;
        }
        if self.verdict.val() {
            self.unsure.d.next = false;
            if self.unsure.q.val() & !self.commit.val() {
                self.running.d.next = false;
                self.arrived.d.next = false;
            }
        }
        if !self.running.q.val() & !self.arrived.q.val() & !self.valid.q.val() & (self.waiting.val() | self.likely.val()) {
            self.running.d.next = true;
            self.unsure.d.next = !self.waiting.val();
            self.reading.d.next = self.at_12.val();
        }
        self.head.next = self.now.q.val();
        self.head_valid.next = self.valid.q.val();

        if self.reset.val() {
            self.valid.d.next = false;
            self.running.d.next = false;
            self.arrived.d.next = false;
            self.unsure.d.next = false;
        }
    }

    crate::block_name!();
}
