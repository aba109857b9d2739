// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's frames, untouched: a FIFO whose writer can take a frame back.
//!
//! ```text
//! raw beat ─► RAM 2^HA × {data, count, last} ─► m_host_*
//!              ▲ write pointer; after the last beat committed := write, or write := committed
//! ```
//!
//! The verdict comes with the last raw beat; it counts unless the frame met a full FIFO (`overflow`). The reader sees only committed frames. Latency 3
//! cycles from commit, one beat a cycle. Holds 2^HA beats, less eight at 64 bits, less one at 32. Writer and reader never meet: the beat that is
//! written isn't committed.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// With fewer free beats than this, as seen two cycles before, the FIFO is full.
const LEAST_ROOM: u64 = 8;

/// `W` data bits, `K` bytes, `KB` = log2(K), `2^HA` beats, `HD = W + 4`.
#[derive(LogicBlock)]
pub struct HostFifo<const W: usize, const K: usize, const KB: usize, const HA: usize, const HD: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_count: Signal<In, Bits<KB>>,
    pub s_last: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    /// With the last beat: keep the frame.
    pub commit: Signal<In, Bit>,
    /// With the last beat: the frame didn't fit.
    pub overflow: Signal<Out, Bit>,
    pub m_host_data: Signal<Out, Bits<W>>,
    pub m_host_keep: Signal<Out, Bits<K>>,
    pub m_host_last: Signal<Out, Bit>,
    pub m_host_valid: Signal<Out, Bit>,
    pub m_host_ready: Signal<In, Bit>,
    ram: SplitRam<HA, HD>,
    write: DFF<Bits<HA>>,
    committed: DFF<Bits<HA>>,
    read: DFF<Bits<HA>>,
    room: DFF<Bits<HA>>,
    near: DFF<Bit>,
    lost: DFF<Bit>,
    /// Of the cycle before: a frame ended, and is kept or taken back.
    keep: DFF<Bit>,
    drop: DFF<Bit>,
    out_valid: DFF<Bit>,
    none: DFF<Bit>,
    none_behind: DFF<Bit>,
    fetched: DFF<Bit>,
    empty: Signal<Local, Bit>,
    write_now: Signal<Local, Bits<HA>>,
    next_write: Signal<Local, Bits<HA>>,
    committed_now: Signal<Local, Bits<HA>>,
    kept: Signal<Local, Bit>,
    lost_now: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    word: Signal<Local, Bits<HD>>,
    count: Signal<Local, Bits<KB>>,
    one: Constant<Bits<HA>>,
    least_room: Constant<Bits<HA>>,
    counts: [Constant<Bits<KB>>; K],
    keeps: [Constant<Bits<K>>; K],
}

impl<const W: usize, const K: usize, const KB: usize, const HA: usize, const HD: usize> Default for HostFifo<W, K, KB, HA, HD> {
    fn default() -> Self {
        assert!(HD == W + 4 && W == 8 * K && K == 1 << KB, "HostFifo: widths disagree");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_count: Default::default(),
            s_last: Default::default(),
            s_valid: Default::default(),
            commit: Default::default(),
            overflow: Default::default(),
            m_host_data: Default::default(),
            m_host_keep: Default::default(),
            m_host_last: Default::default(),
            m_host_valid: Default::default(),
            m_host_ready: Default::default(),
            ram: Default::default(),
            write: Default::default(),
            committed: Default::default(),
            read: Default::default(),
            room: Default::default(),
            near: Default::default(),
            lost: Default::default(),
            keep: Default::default(),
            drop: Default::default(),
            out_valid: Default::default(),
            none: Default::default(),
            none_behind: Default::default(),
            fetched: Default::default(),
            empty: Default::default(),
            write_now: Default::default(),
            next_write: Default::default(),
            committed_now: Default::default(),
            kept: Default::default(),
            lost_now: Default::default(),
            fetch: Default::default(),
            word: Default::default(),
            count: Default::default(),
            one: Constant::new(1u64.to_bits()),
            least_room: Constant::new(LEAST_ROOM.to_bits()),
            counts: std::array::from_fn(|i| Constant::new((i as u64).to_bits())),
            keeps: std::array::from_fn(|i| Constant::new(((2u64 << i) - 1).to_bits())),
        }
    }
}

impl<const W: usize, const K: usize, const KB: usize, const HA: usize, const HD: usize> Logic for HostFifo<W, K, KB, HA, HD> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write,
            committed,
            read,
            room,
            near,
            lost,
            keep,
            drop,
            out_valid,
            none,
            none_behind,
            fetched
        );
        clock!(self, clock, ram);

        // The verdict moves the pointers a cycle later; what reads them sees that at once.
        self.write_now.next = self.write.q.val();
        if self.drop.q.val() {
            self.write_now.next = self.committed.q.val();
        }
        self.committed_now.next = self.committed.q.val();
        if self.keep.q.val() {
            self.committed_now.next = self.write.q.val();
        }
        self.committed.d.next = self.committed_now.val();
        self.next_write.next = self.write_now.val() + self.one.val();
        // 64 bits: both are registers, so two cycles old. A room of 0 is an empty FIFO, since the writer never reaches the reader.
        self.room.d.next = self.read.q.val() - self.write_now.val();
        self.near.d.next = (self.room.q.val() < self.least_room.val()) & self.room.q.val().any();
        self.lost_now.next = self.lost.q.val() | (self.next_write.val() == self.read.q.val());
        for _i in 4..K {
            self.lost_now.next = self.lost.q.val() | self.near.q.val();
        }
        self.overflow.next = self.lost_now.val();
        self.word.next = (bit_cast::<HD, W>(self.s_data.val()) << 4)
            | (bit_cast::<HD, KB>(self.s_count.val()) << 1)
            | bit_cast::<HD, 1>(self.s_last.val().into());
        self.ram.write_enable.next = self.s_valid.val() & !self.lost_now.val();
        self.ram.write_address.next = self.write_now.val();
        self.ram.write_data.next = self.word.val();
        self.kept.next = self.commit.val() & !self.lost_now.val();
        self.write.d.next = self.write_now.val();
        self.keep.d.next = false;
        self.drop.d.next = false;
        if self.s_valid.val() {
            self.lost.d.next = self.lost_now.val() & !self.s_last.val();
            if !self.lost_now.val() {
                self.write.d.next = self.next_write.val();
            }
            self.keep.d.next = self.s_last.val() & self.kept.val();
            self.drop.d.next = self.s_last.val() & !self.kept.val();
        }

        // Of the cycle before: is there nothing at `read`, nothing behind it. What has been committed since is seen a cycle later.
        self.none.d.next = self.read.q.val() == self.committed_now.val();
        self.none_behind.d.next = (self.read.q.val() + self.one.val()) == self.committed_now.val();
        self.empty.next = self.none.q.val();
        if self.fetched.q.val() {
            self.empty.next = self.none_behind.q.val();
        }
        self.fetch.next = !self.empty.val() & (!self.out_valid.q.val() | self.m_host_ready.val());
        self.fetched.d.next = self.fetch.val();
        self.ram.read_enable.next = self.fetch.val();
        self.ram.read_address.next = self.read.q.val();
        if self.fetch.val() {
            self.read.d.next = self.read.q.val() + self.one.val();
            self.out_valid.d.next = true;
        } else {
            if self.m_host_ready.val() {
                self.out_valid.d.next = false;
            }
        }
        self.m_host_data.next = self.ram.read_data.val().get_bits::<W>(4);
        self.count.next = self.ram.read_data.val().get_bits::<KB>(1);
        self.m_host_keep.next = 0.into();
        for i in 0..K {
            if self.count.val() == self.counts[i].val() {
                self.m_host_keep.next = self.keeps[i].val();
            }
        }
        self.m_host_last.next = self.ram.read_data.val().get_bit(0);
        self.m_host_valid.next = self.out_valid.q.val();

        if self.reset.val() {
            self.write.d.next = 0.into();
            self.committed.d.next = 0.into();
            self.read.d.next = 0.into();
            self.room.d.next = 0.into();
            self.near.d.next = false;
            self.lost.d.next = false;
            self.keep.d.next = false;
            self.drop.d.next = false;
            self.out_valid.d.next = false;
            self.none.d.next = true;
            self.fetched.d.next = false;
        }
    }

    crate::block_name!();
}
