// SPDX-License-Identifier: MIT OR Apache-2.0
//! The READ responder's memory: rows of QPs and the pool of resources, one read and one write a cycle.
//!
//! ```text
//! table_* (host) ─┐
//! clearing walk  ─┼─► row RAM 2^QA × 16 words ──┬─► word, three cycles after its address
//! write_*        ─┴─► pool RAM 2^PA × 8 words ──┘
//! ```
//!
//! `SPLIT` 1: two RAMs, with registers before and behind them (tengig). `SPLIT` 0: one RAM for both, with registers of the read address only; the cycles
//! are the same (cu). A word may be read a cycle after it has been written, and not in the two cycles before or in that one. `EXTRA` 1: a ninth word
//! a resource.
//! `AA` is `QA + 4`; with `SPLIT` 0 one more than the larger of that and `BA`. `BA` is `PA + 3`. The host writes where `open` says that the machine doesn't. Row 0 isn't the host's.

use super::kind::item;
use crate::prim::SplitRam;
use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

#[derive(LogicBlock)]
pub struct ResourceStore<const QA: usize, const PA: usize, const AA: usize, const BA: usize, const SPLIT: usize, const EXTRA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The rings are cleared.
    pub ready: Signal<Out, Bit>,
    /// The walk clears this row.
    pub walk_index: Signal<Out, Bits<QA>>,
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    pub index: Signal<In, Bits<QA>>,
    pub resource: Signal<In, Bits<PA>>,
    /// Read: the pool's, or row 0's, or the row's.
    pub pool: Signal<In, Bit>,
    pub flight: Signal<In, Bit>,
    pub item: Signal<In, Bits<4>>,
    pub word: Signal<Out, Bits<32>>,
    /// The machine doesn't write in this cycle: the host may.
    pub open: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub write_pool: Signal<In, Bit>,
    pub write_flight: Signal<In, Bit>,
    pub write_item: Signal<In, Bits<4>>,
    pub write_data: Signal<In, Bits<32>>,
    rows: SplitRam<AA, 32>,
    pools: [SplitRam<BA, 32>; SPLIT],
    extras: [SplitRam<PA, 32>; EXTRA],
    walking: DFF<Bit>,
    walk: DFF<Bits<QA>>,
    address_late: DFF<Bits<AA>>,
    address_later: DFF<Bits<AA>>,
    pool_address_late: DFF<Bits<BA>>,
    pool_late: DFF<Bit>,
    extra_late: DFF<Bit>,
    pool_later: DFF<Bit>,
    extra_later: DFF<Bit>,
    word_register: DFF<Bits<32>>,
    write_row_kept: DFF<Bit>,
    write_pool_kept: DFF<Bit>,
    write_extra_kept: DFF<Bit>,
    row_address_kept: DFF<Bits<AA>>,
    pool_address_kept: DFF<Bits<BA>>,
    data_kept: DFF<Bits<32>>,
    read_address: Signal<Local, Bits<AA>>,
    read_pool_address: Signal<Local, Bits<BA>>,
    fetched: Signal<Local, Bits<32>>,
    write_row: Signal<Local, Bit>,
    put_pool: Signal<Local, Bit>,
    put_extra: Signal<Local, Bit>,
    row_address: Signal<Local, Bits<AA>>,
    pool_address: Signal<Local, Bits<BA>>,
    data: Signal<Local, Bits<32>>,
    table_index: Signal<Local, Bits<12>>,
    table_word: Signal<Local, Bits<5>>,
    shared: Constant<Bit>,
    pool_half: Constant<Bits<AA>>,
    beyond: Constant<Bits<12>>,
    word_service: Constant<Bits<5>>,
    word_domain: Constant<Bits<5>>,
    word_limits: Constant<Bits<5>>,
    item_ring: Constant<Bits<AA>>,
}

impl<const QA: usize, const PA: usize, const AA: usize, const BA: usize, const SPLIT: usize, const EXTRA: usize> Default
    for ResourceStore<QA, PA, AA, BA, SPLIT, EXTRA>
{
    fn default() -> Self {
        assert!(SPLIT <= 1 && EXTRA <= SPLIT, "ResourceStore: EXTRA needs SPLIT");
        assert_eq!(BA, PA + 3, "ResourceStore: BA must be PA + 3");
        let rows = if SPLIT == 1 { QA + 4 } else { (QA + 4).max(BA) + 1 };
        assert_eq!(AA, rows, "ResourceStore: AA");
        assert!(PA <= AA);
        assert_eq!((item::SERVICE, item::DOMAIN, item::LIMITS), (0, 1, 2));
        let word = |field: verbena_spec::layout::Field| Constant::new((field.word as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            walk_index: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            index: Default::default(),
            resource: Default::default(),
            pool: Default::default(),
            flight: Default::default(),
            item: Default::default(),
            word: Default::default(),
            open: Default::default(),
            write: Default::default(),
            write_pool: Default::default(),
            write_flight: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            rows: Default::default(),
            pools: std::array::from_fn(|_| Default::default()),
            extras: std::array::from_fn(|_| Default::default()),
            walking: Default::default(),
            walk: Default::default(),
            address_late: Default::default(),
            address_later: Default::default(),
            pool_address_late: Default::default(),
            pool_late: Default::default(),
            extra_late: Default::default(),
            pool_later: Default::default(),
            extra_later: Default::default(),
            word_register: Default::default(),
            write_row_kept: Default::default(),
            write_pool_kept: Default::default(),
            write_extra_kept: Default::default(),
            row_address_kept: Default::default(),
            pool_address_kept: Default::default(),
            data_kept: Default::default(),
            read_address: Default::default(),
            read_pool_address: Default::default(),
            fetched: Default::default(),
            write_row: Default::default(),
            put_pool: Default::default(),
            put_extra: Default::default(),
            row_address: Default::default(),
            pool_address: Default::default(),
            data: Default::default(),
            table_index: Default::default(),
            table_word: Default::default(),
            shared: Constant::new(SPLIT == 0),
            pool_half: Constant::new((1u64 << (AA - 1)).to_bits()),
            beyond: Constant::new((0xfffu64 & !((1u64 << QA) - 1)).to_bits()),
            word_service: word(qp::SERVICE),
            word_domain: word(qp::PD),
            word_limits: word(qp::READ_RING_BASE),
            item_ring: Constant::new(item::RING.to_bits()),
        }
    }
}

impl<const QA: usize, const PA: usize, const AA: usize, const BA: usize, const SPLIT: usize, const EXTRA: usize> Logic
    for ResourceStore<QA, PA, AA, BA, SPLIT, EXTRA>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            walking,
            walk,
            address_late,
            address_later,
            pool_address_late,
            pool_late,
            extra_late,
            pool_later,
            extra_later,
            word_register,
            write_row_kept,
            write_pool_kept,
            write_extra_kept,
            row_address_kept,
            pool_address_kept,
            data_kept
        );
        clock!(self, clock, rows);
        self.ready.next = !self.walking.q.val();
        self.walk_index.next = self.walk.q.val();

        // Read.
        self.read_address.next = (bit_cast::<AA, QA>(self.index.val()) << 4) | bit_cast::<AA, 4>(self.item.val());
        if self.flight.val() {
            self.read_address.next = bit_cast::<AA, 4>(self.item.val());
        }
        if self.shared.val() & self.pool.val() {
            self.read_address.next =
                self.pool_half.val() | (bit_cast::<AA, PA>(self.resource.val()) << 3) | bit_cast::<AA, 4>(self.item.val());
        }
        self.read_pool_address.next = (bit_cast::<BA, PA>(self.resource.val()) << 3) | bit_cast::<BA, 3>(self.item.val().get_bits::<3>(0));
        self.address_late.d.next = self.read_address.val();
        self.pool_late.d.next = self.pool.val();
        self.extra_late.d.next = self.pool.val() & self.item.val().get_bit(3);
        self.rows.read_enable.next = true;
        self.address_later.d.next = self.address_late.q.val();
        self.pool_address_late.d.next = self.read_pool_address.val();
        self.pool_later.d.next = self.pool_late.q.val();
        self.extra_later.d.next = self.extra_late.q.val();
        self.rows.read_address.next = self.address_late.q.val();
        if self.shared.val() {
            self.rows.read_address.next = self.address_later.q.val();
        }
        self.fetched.next = self.rows.read_data.val();

        // Write: the machine, the walk, or the host.
        self.write_row.next = self.write.val() & (!self.write_pool.val() | self.shared.val());
        self.put_pool.next = self.write.val() & self.write_pool.val() & !self.write_item.val().get_bit(3);
        self.put_extra.next = self.write.val() & self.write_pool.val() & self.write_item.val().get_bit(3);
        self.row_address.next = (bit_cast::<AA, QA>(self.index.val()) << 4) | bit_cast::<AA, 4>(self.write_item.val());
        if self.write_flight.val() {
            self.row_address.next = bit_cast::<AA, 4>(self.write_item.val());
        }
        if self.shared.val() & self.write_pool.val() {
            self.row_address.next =
                self.pool_half.val() | (bit_cast::<AA, PA>(self.resource.val()) << 3) | bit_cast::<AA, 4>(self.write_item.val());
        }
        self.pool_address.next = (bit_cast::<BA, PA>(self.resource.val()) << 3) | bit_cast::<BA, 3>(self.write_item.val().get_bits::<3>(0));
        self.data.next = self.write_data.val();
        self.table_index.next = self.table_address.val().get_bits::<12>(5);
        self.table_word.next = self.table_address.val().get_bits::<5>(0);
        self.table_ready.next = self.open.val() & !self.walking.q.val();
        if self.open.val() {
            self.row_address.next =
                (bit_cast::<AA, 12>(self.table_index.val()) << 4) | bit_cast::<AA, 2>(self.table_word.val().get_bits::<2>(0));
            if self.table_word.val() == self.word_limits.val() {
                self.row_address.next = (bit_cast::<AA, 12>(self.table_index.val()) << 4) | 2;
            }
            self.data.next = self.table_data.val();
            if self.table_valid.val() & self.table_index.val().any() & !(self.table_index.val() & self.beyond.val()).any() {
                self.write_row.next = (self.table_word.val() == self.word_service.val())
                    | (self.table_word.val() == self.word_domain.val())
                    | (self.table_word.val() == self.word_limits.val());
            }
        }
        if self.walking.q.val() {
            self.write_row.next = true;
            self.row_address.next = (bit_cast::<AA, QA>(self.walk.q.val()) << 4) | self.item_ring.val();
            self.data.next = 0.into();
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val().all() {
                self.walking.d.next = false;
            }
        }
        self.write_row_kept.d.next = self.write_row.val();
        self.write_pool_kept.d.next = self.put_pool.val();
        self.write_extra_kept.d.next = self.put_extra.val();
        self.row_address_kept.d.next = self.row_address.val();
        self.pool_address_kept.d.next = self.pool_address.val();
        self.data_kept.d.next = self.data.val();
        self.rows.write_enable.next = self.write_row_kept.q.val();
        self.rows.write_address.next = self.row_address_kept.q.val();
        self.rows.write_data.next = self.data_kept.q.val();
        if self.shared.val() {
            self.rows.write_enable.next = self.write_row.val();
            self.rows.write_address.next = self.row_address.val();
            self.rows.write_data.next = self.data.val();
        }
        for i in 0..SPLIT {
            self.pools[i].clock.next = self.clock.val();
            self.pools[i].read_enable.next = true;
            self.pools[i].read_address.next = self.pool_address_late.q.val();
            self.pools[i].write_enable.next = self.write_pool_kept.q.val();
            self.pools[i].write_address.next = self.pool_address_kept.q.val();
            self.pools[i].write_data.next = self.data_kept.q.val();
            if self.pool_later.q.val() {
                self.fetched.next = self.pools[i].read_data.val();
            }
        }
        for i in 0..EXTRA {
            self.extras[i].clock.next = self.clock.val();
            self.extras[i].read_enable.next = true;
            self.extras[i].read_address.next = self.pool_address_late.q.val().get_bits::<PA>(3);
            self.extras[i].write_enable.next = self.write_extra_kept.q.val();
            self.extras[i].write_address.next = self.pool_address_kept.q.val().get_bits::<PA>(3);
            self.extras[i].write_data.next = self.data_kept.q.val();
            if self.extra_later.q.val() {
                self.fetched.next = self.extras[i].read_data.val();
            }
        }
        self.word_register.d.next = self.fetched.val();
        self.word.next = self.word_register.q.val();
        if self.shared.val() {
            self.word.next = self.rows.read_data.val();
        }

        if self.reset.val() {
            self.walking.d.next = true;
            self.walk.d.next = 0.into();
            self.write_row_kept.d.next = false;
            self.write_pool_kept.d.next = false;
            self.write_extra_kept.d.next = false;
            self.ready.next = false;
            self.table_ready.next = false;
        }
    }

    crate::block_name!("Rows of QPs and the pool of READ and ATOMIC resources.");
}
