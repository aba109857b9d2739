// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cells' models in `fpga/rtl/ecp5_cells.v`: each kind of RAM through synthesis against a plain array, and what the part leaves open is noise. The engine's whole
//! netlist: `fpga netlist ecp5`.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::path::Path;
use verbena_fpga::ecp5_netlist::{synthesised, Netlist};
use verbena_fpga::tools;
use verbena_hdl::prim::{LogicRam, Rom, SdpRam, SplitRam};
use verbena_hdl::verilog::emit;
use verbena_tb::verilated::Model;

/// A block, synthesised; none where yosys is missing, which is said past the harness's capture.
// Boxed: it may be larger than a thread's stack.
#[allow(clippy::boxed_local)]
fn netlist<B: Block>(mut block: Box<B>, name: &str) -> Option<Netlist> {
    use std::io::Write;
    if tools::YOSYS.find().is_err() {
        let _ = std::io::stderr().write_all(b"\nSKIPPED: no yosys on PATH (apt-get install yosys); no netlist was made\n\n");
        return None;
    }
    block.connect_all();
    let design = emit(&*block, name, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("netlist").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let made = synthesised(&folder, &design.to_single_text(), name, &design.ports).unwrap_or_else(|e| panic!("{e:#}"));
    assert_eq!(made.problems, Vec::<String>::new());
    Some(made)
}

fn model(netlist: &Netlist, text: &str) -> Model {
    Model::from_text(text, &netlist.top, &netlist.ports, 1).unwrap_or_else(|e| panic!("{e:#}"))
}

/// What a RAM does when a word is read while it is written.
#[derive(PartialEq)]
enum Meeting {
    Old,
    /// Nobody may look.
    Noise,
}

/// Writes and reads at random, often of the same word; `bits` is the data's width.
fn ram<B: Block>(block: Box<B>, name: &str, cell: &str, address_bits: usize, bits: usize, meeting: Meeting) {
    let Some(netlist) = netlist(block, name) else { return };
    assert!(netlist.text.contains(cell), "{name} has no {cell}");
    let mut model = model(&netlist, &netlist.simulated(0, 1).unwrap().0);
    let words = bits.div_ceil(32);
    let mask = |word: usize| u32::MAX >> (32 - (bits - 32 * word).min(32));
    let mut memory: Vec<Option<Vec<u32>>> = vec![None; 1 << address_bits];
    let mut outputs = vec![0; words];
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut before, mut want): (usize, Option<Vec<u32>>) = (0, None);
    let (mut checked, mut met, mut as_before) = (0, 0, 0);
    for cycle in 0..20_000 {
        let (write, read) = (rng.gen::<bool>(), rng.gen_ratio(3, 4));
        let write_at = rng.gen_range(0..1usize << address_bits);
        let read_at = match rng.gen_range(0..3) {
            0 => write_at,
            1 => before,
            _ => rng.gen_range(0..1usize << address_bits),
        };
        before = write_at;
        let data: Vec<u32> = (0..words).map(|i| rng.gen::<u32>() & mask(i)).collect();
        let mut inputs = vec![u32::from(write), write_at as u32];
        inputs.extend(&data);
        inputs.extend([u32::from(read), read_at as u32]);
        // What stands at the outputs is of the cycle before.
        model.cycle(&inputs, &mut outputs);
        if let Some(want) = &want {
            assert_eq!(&outputs, want, "{name}, cycle {cycle}");
            checked += 1;
        }
        if read {
            want = memory[read_at].clone();
            if write && write_at == read_at && meeting == Meeting::Noise {
                if let Some(old) = want.take() {
                    model.settle(&inputs, &mut outputs);
                    met += 1;
                    as_before += usize::from(outputs == old || outputs == data);
                }
            }
        }
        if write {
            memory[write_at] = Some(data);
        }
    }
    assert!(checked > 5_000, "{name}: {checked}");
    if meeting == Meeting::Noise {
        assert!(
            met > 500 && as_before * 50 < met,
            "{name}: {as_before} of {met} reads of a word being written gave old or new"
        );
    }
}

#[test]
fn rams_through_synthesis() {
    // Ports of 2, 4, 9 and 36 bits; those that are read first have logic around them.
    ram(
        Box::<SdpRam<12, 52>>::default(),
        "netlist_first_12_52",
        "DP16KD",
        12,
        52,
        Meeting::Old,
    );
    ram(Box::<SdpRam<9, 24>>::default(), "netlist_first_9_24", "DP16KD", 9, 24, Meeting::Old);
    ram(
        Box::<SplitRam<13, 32>>::default(),
        "netlist_split_13_32",
        "DATA_WIDTH_A(32'd2)",
        13,
        32,
        Meeting::Noise,
    );
    ram(
        Box::<SplitRam<12, 64>>::default(),
        "netlist_split_12_64",
        "DATA_WIDTH_A(32'd4)",
        12,
        64,
        Meeting::Noise,
    );
    ram(
        Box::<SplitRam<9, 36>>::default(),
        "netlist_split_9_36",
        "DATA_WIDTH_A(32'd36)",
        9,
        36,
        Meeting::Noise,
    );
    // Distributed RAM has no such pair: it is read without a clock.
    ram(
        Box::<LogicRam<6, 12>>::default(),
        "netlist_logic_6_12",
        "TRELLIS_DPR16X4",
        6,
        12,
        Meeting::Old,
    );
}

#[test]
fn a_rom_has_its_contents_from_the_start() {
    let words: Vec<u32> = (0..1024u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 14).collect();
    let Some(netlist) = netlist(Box::new(Rom::<10, 18>::new(&words)), "netlist_rom") else {
        return;
    };
    assert!(netlist.text.contains("DP16KD"));
    let mut model = model(&netlist, &netlist.simulated(0, 1).unwrap().0);
    let mut out = [0];
    for (at, word) in words.iter().enumerate() {
        model.cycle(&[1, at as u32], &mut out);
        model.settle(&[1, at as u32], &mut out);
        assert_eq!(out[0], *word, "word {at}");
    }
}

/// A LUT that is inverted when it is asked for, and not before.
#[test]
fn a_fault_is_there_when_it_is_asked_for() {
    let Some(netlist) = netlist(Box::<LogicRam<6, 12>>::default(), "netlist_fault") else {
        return;
    };
    let (text, faults) = netlist.simulated(2, 1).unwrap();
    assert_ne!(faults[0].cell, faults[1].cell);
    assert!(netlist.simulated(1 << 20, 1).is_err());
    let mut seen = vec![];
    for fault in ["0", "1", "2"] {
        std::env::set_var("VERBENA_FAULT", fault);
        let mut model = model(&netlist, &text);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let (mut all, mut out) = (vec![], [0]);
        for _ in 0..2_000 {
            let mut bit = |n: u32| rng.gen_range(0..n);
            model.cycle(&[bit(2), bit(64), bit(4096), bit(2), bit(64)], &mut out);
            all.push(out[0]);
        }
        seen.push(all);
    }
    std::env::remove_var("VERBENA_FAULT");
    assert!(seen[0] != seen[1] && seen[0] != seen[2] && seen[1] != seen[2]);
}
