// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys against a plain model, for 4 contiguous and for 256 pageable regions.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::mem::Keys;
use verbena_spec::config::Config;
use verbena_spec::layout::{mr, MR_WORDS};
use verbena_tb::{ports, step::Bench};

type Row = [u32; MR_WORDS];

/// What is asked.
#[derive(Debug, Clone, Copy)]
struct Ask {
    invalidate: bool,
    key: u32,
    va: u64,
    length: u32,
    pd: u16,
    access: u8,
}

/// What is answered: the place, where it is good.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    Bad,
    /// Good, and nothing more is promised.
    Good,
    At {
        paged: bool,
        address: u64,
    },
}

struct Rig<const MA: usize, const RA: usize, const TA: usize> {
    bench: Bench<Keys<MA, RA, TA>>,
    rows: Vec<Row>,
    config: Config,
}

fn wide(row: &Row, low: mr_field::Field, high: mr_field::Field) -> u64 {
    low.get(row) as u64 | (high.get(row) as u64) << 32
}
use verbena_spec::layout as mr_field;

impl<const MA: usize, const RA: usize, const TA: usize> Rig<MA, RA, TA> {
    fn new(preset: &str) -> Self {
        let config = Config::preset(preset).unwrap();
        let mut bench = Bench::verilated(
            Box::new(Keys::<MA, RA, TA>::new(&config)),
            "keys",
            ports!(in reset, table_valid, table_address, table_data, key_start, key_op, key, key_va, key_length, key_pd, key_access; out ready, table_ready, key_done, key_ok, key_paged, key_address),
        );
        bench.uut.reset.next = true;
        bench.step();
        bench.step();
        assert!(!bench.uut.ready.val());
        bench.uut.reset.next = false;
        let mut rig = Self {
            bench,
            rows: vec![[0; MR_WORDS]; 1 << MA],
            config,
        };
        rig.wait_ready();
        rig
    }

    fn wait_ready(&mut self) {
        let start = self.bench.cycle;
        self.bench.settle();
        while !self.bench.uut.ready.val() {
            assert!(!self.bench.uut.table_ready.val());
            self.bench.edge();
            self.bench.settle();
            assert!(self.bench.cycle - start <= (1 << MA) + 2);
        }
    }

    fn write_word(&mut self, address: u64, data: u32) {
        self.bench.uut.table_valid.next = true;
        self.bench.uut.table_address.next = address.to_bits();
        self.bench.uut.table_data.next = (data as u64).to_bits();
        loop {
            self.bench.settle();
            let taken = self.bench.uut.table_ready.val();
            self.bench.edge();
            if taken {
                break;
            }
        }
        self.bench.uut.table_valid.next = false;
    }

    /// As the host does it: words 1 to 7, then word 0.
    fn write_row(&mut self, index: usize, row: Row) {
        for word in (1..MR_WORDS).chain([0]) {
            self.write_word((index * MR_WORDS + word) as u64, row[word]);
        }
        self.rows[index] = row;
    }

    fn model(&mut self, ask: &Ask) -> Answer {
        let index = (ask.key >> 8) as usize;
        if !ask.invalidate && ask.length == 0 {
            return Answer::Good; // R51
        }
        let Some(row) = self.rows.get_mut(index) else { return Answer::Bad };
        let flags = mr::VALID.get(row) == 1 && mr::KEY_TAG.get(row) == ask.key & 0xff && mr::PD.get(row) == ask.pd as u32;
        let paged = mr::PAGED.get(row) == 1;
        if !flags || paged && TA == 1 {
            return Answer::Bad;
        }
        if ask.invalidate {
            if mr::MAY_INVALIDATE.get(row) == 0 {
                return Answer::Bad;
            }
            mr::VALID.set(row, 0);
            return Answer::Good;
        }
        let granted =
            mr::LOCAL_WRITE.get(row) | mr::REMOTE_WRITE.get(row) << 1 | mr::REMOTE_READ.get(row) << 2 | mr::REMOTE_ATOMIC.get(row) << 3;
        // A small engine sees of a length one bit more than of a bus address.
        let mask = self.config.address_mask();
        let start = wide(row, mr::VA_LOW, mr::VA_HIGH);
        let length = wide(row, mr::LENGTH_LOW, mr::LENGTH_HIGH) & (mask << 1 | 1);
        let fits = ask.va >= start && ask.va - start <= mask && (ask.va - start) as u128 + ask.length as u128 <= length as u128;
        // No right asked for: a local read.
        let allowed = ask.access == 0 || granted & ask.access as u32 != 0;
        if !allowed || !fits {
            return Answer::Bad;
        }
        if paged {
            let page = mr::MTT.get(row) as u64 + ((ask.va >> 12) - (start >> 12));
            if page >> TA != 0 {
                return Answer::Bad;
            }
            return Answer::At {
                paged,
                address: page << 12 | ask.va & 0xfff,
            };
        }
        Answer::At {
            paged,
            address: wide(row, mr::ADDRESS_LOW, mr::ADDRESS_HIGH).wrapping_add(ask.va - start) & mask,
        }
    }

    /// Asks, and checks answer and time; `meddle`: the host writes a row meanwhile.
    fn ask(&mut self, ask: Ask, meddle: Option<(u64, u32)>) -> Answer {
        let uut = &mut self.bench.uut;
        uut.key_start.next = true;
        uut.key_op.next = (ask.invalidate as u64).to_bits();
        uut.key.next = (ask.key as u64).to_bits();
        uut.key_va.next = ask.va.to_bits();
        uut.key_length.next = (ask.length as u64).to_bits();
        uut.key_pd.next = (ask.pd as u64).to_bits();
        uut.key_access.next = (ask.access as u64).to_bits();
        if let Some((address, data)) = meddle {
            uut.table_valid.next = true;
            uut.table_address.next = address.to_bits();
            uut.table_data.next = (data as u64).to_bits();
        }
        let start = self.bench.cycle;
        loop {
            self.bench.settle();
            assert!(!self.bench.uut.table_ready.val(), "the host waits while a key is checked");
            if self.bench.uut.key_done.val() {
                break;
            }
            self.bench.edge();
            assert!(self.bench.cycle - start <= 8, "at most 8 cycles");
        }
        let uut = &mut self.bench.uut;
        let (ok, paged, address) = (uut.key_ok.val(), uut.key_paged.val(), uut.key_address.val().to_u64());
        uut.key_start.next = false;
        self.bench.edge();
        let want = self.model(&ask);
        if let Some((address, data)) = meddle {
            self.write_word(address, data);
            self.rows[address as usize / MR_WORDS][address as usize % MR_WORDS] = data;
        }
        let got = match want {
            _ if !ok => Answer::Bad,
            Answer::Good | Answer::Bad => Answer::Good,
            Answer::At { .. } => Answer::At { paged, address },
        };
        assert_eq!(got, want, "{ask:x?} on {:x?}", self.rows.get((ask.key >> 8) as usize));
        want
    }
}

#[allow(clippy::too_many_arguments)]
fn row(tag: u8, pd: u16, access: u32, va: u64, length: u64, address: u64, paged: Option<u16>, may_invalidate: bool) -> Row {
    let mut row = [0; MR_WORDS];
    mr::KEY_TAG.set(&mut row, tag as u32);
    mr::VALID.set(&mut row, 1);
    row[0] |= access << mr::LOCAL_WRITE.low;
    mr::PAGED.set(&mut row, paged.is_some() as u32);
    mr::MTT.set(&mut row, paged.unwrap_or(0) as u32);
    mr::MAY_INVALIDATE.set(&mut row, may_invalidate as u32);
    mr::PD.set(&mut row, pd as u32);
    for (low, high, value) in [
        (mr::VA_LOW, mr::VA_HIGH, va),
        (mr::LENGTH_LOW, mr::LENGTH_HIGH, length),
        (mr::ADDRESS_LOW, mr::ADDRESS_HIGH, address),
    ] {
        low.set(&mut row, value as u32);
        high.set(&mut row, (value >> 32) as u32);
    }
    row
}

const PD: u16 = 0x1234;

fn good(va: u64, length: u32) -> Ask {
    Ask {
        invalidate: false,
        key: 0x0000_01a5,
        va,
        length,
        pd: PD,
        access: 2,
    }
}

fn boundaries<const MA: usize, const RA: usize, const TA: usize>(preset: &str) {
    let mut rig = Rig::<MA, RA, TA>::new(preset);
    let edges = [
        0u64,
        1,
        0xfff,
        0x1000,
        0x7fff_ffff,
        0xffff_ffff,
        0x1_0000_0000,
        0x1_0000_0001,
        u64::MAX - 1,
        u64::MAX,
    ];
    let (sizes, lengths) = if rig.config.small() {
        (
            [1, 0x100, 0xf_ff00, 0xf_ffff, 0x10_0000, 0x1f_ffff, 0x1_0000_0100],
            [1, 2, 0x100, 0x10_0000, 0x20_0000, 0xffff_ffff],
        )
    } else {
        (
            [1, 0xff, 0x100, 0xffff_ffff, 0x1_0000_0000, 0x1_0000_0100, u64::MAX],
            [1, 2, 0xff, 0x100, 0x7fff_ffff, 0xffff_ffff],
        )
    };
    let mut fine = 0;
    for start in [
        0,
        1,
        0xffff_f800,
        0xffff_ffff,
        0x1_0000_0000,
        0xffff_ffff_0000_0001,
        u64::MAX - 0xff,
    ] {
        for size in sizes {
            rig.write_row(1, row(0xa5, PD, 2, start, size, 0xffff_ff00, None, false));
            for base in [start, start.wrapping_add(size)].into_iter().chain(edges) {
                for delta in [-1i64, 0, 1] {
                    for length in lengths {
                        fine += (rig.ask(good(base.wrapping_add_signed(delta), length), None) != Answer::Bad) as u32;
                    }
                }
            }
        }
    }
    assert!(fine > 500, "{fine}");
}

#[test]
fn r52_r67_range_never_wraps() {
    boundaries::<2, 5, 1>("cu");
}

#[test]
fn r52_r67_range_never_wraps_tengig() {
    boundaries::<8, 11, 12>("tengig");
}

#[test]
fn r52_index_tag_pd_and_access() {
    fn all<const MA: usize, const RA: usize, const TA: usize>(preset: &str) {
        let mut rig = Rig::<MA, RA, TA>::new(preset);
        assert_eq!(rig.ask(good(0x5000, 1), None), Answer::Bad, "nothing is valid after reset");
        rig.write_row(1, row(0xa5, PD, 2, 0x5000, 0x100, 0x9_0000_0000, None, false));
        assert_eq!(
            rig.ask(good(0x5010, 0x10), None),
            Answer::At {
                paged: false,
                address: 0x9_0000_0010 & rig.config.address_mask()
            }
        );
        for bit in 0..32 {
            assert_eq!(
                rig.ask(
                    Ask {
                        key: 0x01a5 ^ 1 << bit,
                        ..good(0x5000, 1)
                    },
                    None
                ),
                Answer::Bad
            );
        }
        for bit in 0..16 {
            assert_eq!(
                rig.ask(
                    Ask {
                        pd: PD ^ 1 << bit,
                        ..good(0x5000, 1)
                    },
                    None
                ),
                Answer::Bad
            );
        }
        for granted in 0..16u32 {
            rig.write_row(1, row(0xa5, PD, granted, 0x5000, 0x100, 0, None, false));
            for access in [0u8, 1, 2, 4, 8] {
                assert_eq!(
                    rig.ask(Ask { access, ..good(0x5000, 1) }, None) != Answer::Bad,
                    access == 0 || granted & access as u32 != 0,
                    "granted {granted}, asked {access}"
                );
            }
        }
        // A write beyond the table changes nothing.
        if RA < 15 {
            rig.write_word((1 << RA) + 8, 0);
            rig.ask(good(0x5000, 1), None);
        }
        // Reset clears the table.
        rig.bench.uut.reset.next = true;
        rig.bench.step();
        rig.bench.uut.reset.next = false;
        rig.wait_ready();
        rig.rows = vec![[0; MR_WORDS]; 1 << MA];
        assert_eq!(rig.ask(good(0x5000, 1), None), Answer::Bad);
    }
    all::<2, 5, 1>("cu");
    all::<8, 11, 12>("tengig");
}

#[test]
fn r51_zero_length_checks_nothing() {
    let mut rig = Rig::<2, 5, 1>::new("cu");
    assert_eq!(
        rig.ask(
            Ask {
                key: 0xffff_ffff,
                pd: 9,
                ..good(u64::MAX, 0)
            },
            None
        ),
        Answer::Good
    );
    assert_eq!(
        rig.ask(
            Ask {
                key: 0xffff_ffff,
                pd: 9,
                ..good(u64::MAX, 1)
            },
            None
        ),
        Answer::Bad
    );
}

#[test]
fn r62_invalidate_ends_the_key() {
    let mut rig = Rig::<8, 11, 12>::new("tengig");
    let invalidate = Ask {
        invalidate: true,
        access: 0,
        length: 0,
        ..good(0, 0)
    };
    rig.write_row(1, row(0xa5, PD, 2, 0x5000, 0x100, 0, None, false));
    rig.write_row(2, row(0xa5, PD, 2, 0x5000, 0x100, 0, None, true));
    assert_eq!(rig.ask(invalidate, None), Answer::Bad, "not allowed");
    assert_ne!(rig.ask(good(0x5000, 1), None), Answer::Bad, "so it lives");
    rig.write_row(1, row(0xa5, PD, 2, 0x5000, 0x100, 0, None, true));
    assert_eq!(rig.ask(Ask { pd: 1, ..invalidate }, None), Answer::Bad);
    assert_eq!(rig.ask(Ask { key: 0x1a4, ..invalidate }, None), Answer::Bad);
    assert_ne!(rig.ask(good(0x5000, 1), None), Answer::Bad);
    assert_eq!(rig.ask(invalidate, None), Answer::Good);
    assert_eq!(rig.ask(good(0x5000, 1), None), Answer::Bad);
    assert_eq!(rig.ask(invalidate, None), Answer::Bad, "only once");
    assert_ne!(
        rig.ask(
            Ask {
                key: 0x2a5,
                ..good(0x5000, 1)
            },
            None
        ),
        Answer::Bad,
        "its neighbour lives"
    );
    // The host's new registration, offered while the old key is being invalidated, is not lost.
    let fresh = row(0x77, PD, 2, 0x5000, 0x100, 0, None, true);
    assert_eq!(rig.ask(Ask { key: 0x2a5, ..invalidate }, Some((16, fresh[0]))), Answer::Good);
    assert_ne!(
        rig.ask(
            Ask {
                key: 0x277,
                ..good(0x5000, 1)
            },
            None
        ),
        Answer::Bad
    );
}

#[test]
fn paged_regions_are_refused_without_mtt() {
    let mut rig = Rig::<2, 5, 1>::new("cu");
    rig.write_row(1, row(0xa5, PD, 2, 0x5000, 0x100, 0, Some(0), true));
    assert_eq!(rig.ask(good(0x5000, 1), None), Answer::Bad);
}

fn random<const MA: usize, const RA: usize, const TA: usize>(seed: u64, preset: &str) {
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rig = Rig::<MA, RA, TA>::new(preset);
    let mut fine = [0; 3];
    for _ in 0..400 {
        let index = rng.gen_range(0..1usize << MA.min(3));
        let va = rng.gen::<u64>() >> rng.gen_range(0..40);
        let length = rng.gen::<u64>() >> rng.gen_range(if rig.config.small() { 43..60 } else { 32..60 });
        let paged = rng.gen_bool(0.5).then(|| rng.gen_range(0..5000));
        let new = row(
            rng.gen_range(0..2),
            rng.gen_range(0..2),
            rng.gen_range(0..16),
            va,
            length,
            rng.gen(),
            paged,
            rng.gen(),
        );
        rig.write_row(index, new);
        for _ in 0..12 {
            let index = if rng.gen_bool(0.7) {
                index
            } else {
                rng.gen_range(0..(1usize << MA) + 1)
            };
            let row = rig.rows.get(index).copied().unwrap_or_default();
            let start = wide(&row, mr::VA_LOW, mr::VA_HIGH);
            let size = wide(&row, mr::LENGTH_LOW, mr::LENGTH_HIGH);
            let offset = if size > 0 { rng.gen_range(0..size) } else { 0 };
            let va = if rng.gen_bool(0.9) { start.wrapping_add(offset) } else { rng.gen() };
            let left = (size - offset).min(u32::MAX as u64) as u32;
            let ask = Ask {
                invalidate: rng.gen_bool(0.1),
                key: (index as u32) << 8 | if rng.gen_bool(0.8) { row[0] & 0xff } else { rng.gen_range(0..256) },
                va,
                length: match rng.gen_range(0..4) {
                    0 => left,
                    1 => left.saturating_add(1),
                    2 => rng.gen_range(0..=left),
                    _ => rng.gen(),
                },
                pd: if rng.gen_bool(0.8) {
                    mr::PD.get(&row) as u16
                } else {
                    rng.gen_range(0..2)
                },
                access: [0, 1, 2, 4, 8][rng.gen_range(0..5)],
            };
            match rig.ask(ask, None) {
                Answer::Bad => {}
                Answer::Good => fine[0] += 1,
                Answer::At { paged, .. } => fine[1 + paged as usize] += 1,
            }
        }
    }
    println!("good {fine:?}");
    assert!(fine[0] > 10 && fine[1] > 100 && (fine[2] > 50 || TA == 1), "{fine:?}");
}

#[test]
fn random_rows_and_asks() {
    random::<2, 5, 1>(1, "cu");
    random::<8, 11, 12>(2, "tengig");
    random::<3, 6, 16>(3, "tengig");
}
