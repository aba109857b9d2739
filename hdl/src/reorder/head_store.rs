// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heads of held packets: eight words of 64 bits a slot.
//!
//! ```text
//! s_head ─► word by word ─► RAM 64 × 8 × 64 bits ─► word by word ─► loaded ─► m_head
//! ```
//!
//! `store` and `load` are one cycle, and not while one of their kind goes on. A store takes 8 cycles, in which the head stands still, and a ninth until it can be loaded; a load 10. What was loaded is
//! `m_head` from the cycle after `advance`, so that the next head comes while this one is looked at. `m_head` is the packet as it was, but that its frame is released by number: `end_beat` is bit 12 and the slot; and
//! that it isn't `marked`: it was when it came.

use crate::prim::SplitRam;
use crate::rx::PacketHead;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct HeadStore {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_head: Signal<In, PacketHead>,
    pub store: Signal<In, Bit>,
    pub store_slot: Signal<In, Bits<6>>,
    pub storing: Signal<Out, Bit>,
    pub load: Signal<In, Bit>,
    pub load_slot: Signal<In, Bits<6>>,
    pub loading: Signal<Out, Bit>,
    /// One cycle, not while a load goes on: the head that was loaded last is shown.
    pub advance: Signal<In, Bit>,
    pub m_head: Signal<Out, PacketHead>,
    ram: SplitRam<9, 64>,
    writes: DFF<Bit>,
    write_slot: DFF<Bits<6>>,
    write_item: DFF<Bits<3>>,
    /// The word behind the multiplexer, a cycle later.
    put: DFF<Bit>,
    put_address: DFF<Bits<9>>,
    put_data: DFF<Bits<64>>,
    reads: DFF<Bit>,
    read_slot: DFF<Bits<6>>,
    read_item: DFF<Bits<3>>,
    comes: DFF<Bit>,
    come_item: DFF<Bits<3>>,
    loaded: DFF<PacketHead>,
    kept: DFF<PacketHead>,
    low: Signal<Local, Bits<32>>,
    high: Signal<Local, Bits<32>>,
    word_low: Signal<Local, Bits<32>>,
    word_high: Signal<Local, Bits<32>>,
    held: Constant<Bits<14>>,
}

impl Default for HeadStore {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_head: Default::default(),
            store: Default::default(),
            store_slot: Default::default(),
            storing: Default::default(),
            load: Default::default(),
            load_slot: Default::default(),
            loading: Default::default(),
            advance: Default::default(),
            m_head: Default::default(),
            ram: Default::default(),
            writes: Default::default(),
            write_slot: Default::default(),
            write_item: Default::default(),
            put: Default::default(),
            put_address: Default::default(),
            put_data: Default::default(),
            reads: Default::default(),
            read_slot: Default::default(),
            read_item: Default::default(),
            comes: Default::default(),
            come_item: Default::default(),
            loaded: Default::default(),
            kept: Default::default(),
            low: Default::default(),
            high: Default::default(),
            word_low: Default::default(),
            word_high: Default::default(),
            held: Constant::new(0x2000u64.to_bits()),
        }
    }
}

impl Logic for HeadStore {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, put, put_address, put_data);
        dff_setup!(self, clock, writes, write_slot, write_item, reads, read_slot, read_item, comes, come_item, loaded, kept);
        clock!(self, clock, ram);

        // In.
        self.low.next = 0.into();
        self.high.next = 0.into();
        match self.write_item.q.val().index() {
            0 => {
                self.low.next = bit_cast::<32, 8>(self.s_head.val().opcode)
                    | (bit_cast::<32, 16>(self.s_head.val().pkey) << 8)
                    | (bit_cast::<32, 2>(self.s_head.val().pad_count) << 24)
                    | (bit_cast::<32, 2>(self.s_head.val().gid_index) << 26)
                    | (bit_cast::<32, 1>(self.s_head.val().solicited.into()) << 28)
                    | (bit_cast::<32, 1>(self.s_head.val().ack_request.into()) << 29)
                    | (bit_cast::<32, 1>(self.s_head.val().ipv6.into()) << 30);
                self.high.next = bit_cast::<32, 14>(self.s_head.val().payload_length)
                    | (bit_cast::<32, 14>(self.s_head.val().payload_beat) << 14)
                    | (bit_cast::<32, 3>(self.s_head.val().payload_offset) << 28);
            }
            1 => {
                self.low.next = bit_cast::<32, 24>(self.s_head.val().qpn);
                self.high.next = bit_cast::<32, 24>(self.s_head.val().psn);
            }
            2 => {
                self.low.next = self.s_head.val().xth0;
                self.high.next = self.s_head.val().xth1;
            }
            3 => {
                self.low.next = self.s_head.val().xth2;
                self.high.next = self.s_head.val().xth3;
            }
            4 => {
                self.low.next = self.s_head.val().xth4;
                self.high.next = self.s_head.val().xth5;
            }
            5 => {
                self.low.next = self.s_head.val().xth6;
                self.high.next = self.s_head.val().source_ip0;
            }
            6 => {
                self.low.next = self.s_head.val().source_ip1;
                self.high.next = self.s_head.val().source_ip2;
            }
            _ => {
                self.low.next = self.s_head.val().source_ip3;
                self.high.next = bit_cast::<32, 14>(self.s_head.val().frame_beat);
            }
        }
        self.storing.next = self.writes.q.val();
        self.ram.write_enable.next = self.put.q.val();
        self.ram.write_address.next = self.put_address.q.val();
        self.ram.write_data.next = self.put_data.q.val();
        self.put.d.next = self.writes.q.val();
        self.put_address.d.next = bit_cast::<9, 3>(self.write_item.q.val()) | (bit_cast::<9, 6>(self.write_slot.q.val()) << 3);
        self.put_data.d.next = bit_cast::<64, 32>(self.low.val()) | (bit_cast::<64, 32>(self.high.val()) << 32);
        if self.writes.q.val() {
            self.write_item.d.next = self.write_item.q.val() + 1;
            self.writes.d.next = !self.write_item.q.val().all();
        }
        if self.store.val() {
            self.writes.d.next = true;
            self.write_slot.d.next = self.store_slot.val();
            self.write_item.d.next = 0.into();
        }

        // Out.
        self.loading.next = self.reads.q.val() | self.comes.q.val();
        self.ram.read_enable.next = self.reads.q.val();
        self.ram.read_address.next = bit_cast::<9, 3>(self.read_item.q.val()) | (bit_cast::<9, 6>(self.read_slot.q.val()) << 3);
        self.comes.d.next = self.reads.q.val();
        self.come_item.d.next = self.read_item.q.val();
        if self.reads.q.val() {
            self.read_item.d.next = self.read_item.q.val() + 1;
            self.reads.d.next = !self.read_item.q.val().all();
        }
        if self.load.val() {
            self.reads.d.next = true;
            self.read_slot.d.next = self.load_slot.val();
            self.read_item.d.next = 0.into();
        }
        self.word_low.next = self.ram.read_data.val().get_bits::<32>(0);
        self.word_high.next = self.ram.read_data.val().get_bits::<32>(32);
        if self.comes.q.val() {
            match self.come_item.q.val().index() {
                0 => {
                    self.loaded.d.next.opcode = self.word_low.val().get_bits::<8>(0);
                    self.loaded.d.next.pkey = self.word_low.val().get_bits::<16>(8);
                    self.loaded.d.next.pad_count = self.word_low.val().get_bits::<2>(24);
                    self.loaded.d.next.gid_index = self.word_low.val().get_bits::<2>(26);
                    self.loaded.d.next.solicited = self.word_low.val().get_bit(28);
                    self.loaded.d.next.ack_request = self.word_low.val().get_bit(29);
                    self.loaded.d.next.ipv6 = self.word_low.val().get_bit(30);
                    self.loaded.d.next.payload_length = self.word_high.val().get_bits::<14>(0);
                    self.loaded.d.next.payload_beat = self.word_high.val().get_bits::<14>(14);
                    self.loaded.d.next.payload_offset = self.word_high.val().get_bits::<3>(28);
                    self.loaded.d.next.end_beat = self.held.val() | bit_cast::<14, 6>(self.read_slot.q.val());
                }
                1 => {
                    self.loaded.d.next.qpn = self.word_low.val().get_bits::<24>(0);
                    self.loaded.d.next.psn = self.word_high.val().get_bits::<24>(0);
                }
                2 => {
                    self.loaded.d.next.xth0 = self.word_low.val();
                    self.loaded.d.next.xth1 = self.word_high.val();
                }
                3 => {
                    self.loaded.d.next.xth2 = self.word_low.val();
                    self.loaded.d.next.xth3 = self.word_high.val();
                }
                4 => {
                    self.loaded.d.next.xth4 = self.word_low.val();
                    self.loaded.d.next.xth5 = self.word_high.val();
                }
                5 => {
                    self.loaded.d.next.xth6 = self.word_low.val();
                    self.loaded.d.next.source_ip0 = self.word_high.val();
                }
                6 => {
                    self.loaded.d.next.source_ip1 = self.word_low.val();
                    self.loaded.d.next.source_ip2 = self.word_high.val();
                }
                _ => {
                    self.loaded.d.next.source_ip3 = self.word_low.val();
                    self.loaded.d.next.frame_beat = self.word_high.val().get_bits::<14>(0);
                }
            }
        }
        if self.advance.val() {
            self.kept.d.next = self.loaded.q.val();
        }
        self.m_head.next = self.kept.q.val();
        self.m_head.next.marked = false;

        if self.reset.val() {
            self.writes.d.next = false;
            self.put.d.next = false;
            self.reads.d.next = false;
            self.comes.d.next = false;
        }
    }

    crate::block_name!();
}
