// SPDX-License-Identifier: MIT OR Apache-2.0
//! Difference harness: a block in the Rust simulation against its printed, Verilated text, cycle by cycle.
//!
//! ```text
//! seed ─► stimulus ─┬─► Rust block ───────────────► outputs ─┐
//!                   └─► printer ─► Verilator ─────► outputs ─┴─► equal, every cycle
//! ```
//!
//! rust-hdl lets a `Probe` read any signal but set none, so the block's inputs are named once, by `drive!`:
//!
//! ```ignore
//! Diff::new("skid_37").cycles(2000).run(Skid::<37>::default(), drive!(clock, reset, s_data, s_valid, m_ready));
//! // a struct of its own: its fields from bit 0 up (those of ports between stations: payloads.rs)
//! drive!(clock, reset, s_data: |w| Beat { data: w.take(), keep: w.take(), last: w.take() })
//! ```
//!
//! An input called `reset` or `rst` is high for the first two cycles and, rarely, later. Other inputs are biased to the
//! values that break things: zeros, ones, one bit, repeats. A difference panics with seed, cycle, port and both values.

use crate::verilated::Model;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::verilog::{emit, shim, Design, Port};

/// Reads values from the words of a port, from bit 0 up.
pub struct Words<'a> {
    words: &'a [u32],
    at: usize,
}

impl<'a> Words<'a> {
    pub fn new(words: &'a [u32]) -> Self {
        Words { words, at: 0 }
    }

    /// The next bits, 64 at most.
    fn bits(&mut self, width: usize) -> u64 {
        let (word, bit) = (self.at / 32, self.at % 32);
        let part = |i: usize| self.words.get(word + i).map_or(0, |w| u128::from(*w) << (32 * i));
        self.at += width;
        ((part(0) | part(1) | part(2)) >> bit) as u64 & (u64::MAX >> (64 - width))
    }

    fn bit(&mut self) -> bool {
        let (word, bit) = (self.at / 32, self.at % 32);
        self.at += 1;
        self.words.get(word).is_some_and(|w| w >> bit & 1 == 1)
    }

    /// The next field.
    pub fn take<T: FromWords>(&mut self) -> T {
        T::from_words(self)
    }
}

/// A value that can be made of bits.
pub trait FromWords {
    fn from_words(words: &mut Words) -> Self;
}

impl FromWords for bool {
    fn from_words(words: &mut Words) -> Self {
        words.bit()
    }
}

impl FromWords for Clock {
    fn from_words(words: &mut Words) -> Self {
        words.bit().into()
    }
}

impl<const N: usize> FromWords for Bits<N> {
    fn from_words(words: &mut Words) -> Self {
        if N <= 64 {
            return words.bits(N).to_bits();
        }
        let mut bits = [false; N];
        bits.iter_mut().for_each(|b| *b = words.bit());
        Bits::Long(bits.into())
    }
}

/// Names a block's inputs, clock included: a closure that sets one of them by its printed name.
#[macro_export]
macro_rules! drive {
    (@load $block:ident, $words:ident, $($field:ident).+) => {
        $block.$($field).+.next = $crate::diff::Words::new($words).take()
    };
    (@load $block:ident, $words:ident, $($field:ident).+, $make:expr) => {{
        fn call<T>(make: impl Fn(&mut $crate::diff::Words) -> T, words: &[u32]) -> T {
            make(&mut $crate::diff::Words::new(words))
        }
        $block.$($field).+.next = call($make, $words)
    }};
    ($($($field:ident).+ $(: $make:expr)?),+ $(,)?) => {
        |block: &mut _, name: &str, words: &[u32]| -> bool {
            $(
                if name == [$(stringify!($field)),+].join("_") {
                    $crate::drive!(@load block, words, $($field).+ $(, $make)?);
                    return true;
                }
            )+
            false
        }
    };
}

/// One comparison.
pub struct Diff {
    name: String,
    cycles: usize,
    seed: u64,
}

impl Diff {
    /// `name` is the top module's, unique among tests of one file.
    pub fn new(name: &str) -> Diff {
        let seed = std::env::var("VERBENA_SEED").ok().and_then(|s| s.parse().ok());
        Diff {
            name: name.into(),
            cycles: 1000,
            seed: seed.unwrap_or(1),
        }
    }

    /// Cycles to compare, times `VERBENA_DIFF` where that is set (`make nightly`).
    pub fn cycles(mut self, cycles: usize) -> Diff {
        let times = std::env::var("VERBENA_DIFF").map_or(1, |text| text.parse().expect("VERBENA_DIFF=N"));
        self.cycles = cycles * times;
        self
    }

    /// The seed, unless `VERBENA_SEED` is set.
    pub fn seed(mut self, seed: u64) -> Diff {
        if std::env::var_os("VERBENA_SEED").is_none() {
            self.seed = seed;
        }
        self
    }

    /// Compares; returns Verilator's warnings, empty if all is well.
    pub fn run<B: Block>(self, block: B, drive: impl Fn(&mut B, &str, &[u32]) -> bool) -> String {
        let mut block = Box::new(block);
        block.connect_all();
        let design = emit(&*block, &self.name, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        let mut model = Model::of(&design).unwrap_or_else(|e| panic!("{e:#}"));
        let mut stimulus = Stimulus::new(&design.ports, self.seed);
        let set = |block: &mut B, port: &Port, words: &[u32]| {
            assert!(
                drive(block, &port.name, words),
                "{}: drive!(…) lacks the input `{}`",
                self.name,
                port.name
            );
        };
        let clocks: Vec<&Port> = design.ports.iter().filter(|p| p.input && p.clock).collect();
        let mut outputs = vec![0; model.sizes().1];
        for clock in &clocks {
            set(&mut block, clock, &[0]);
        }
        settle(&mut *block, &self.name);
        for cycle in 0..self.cycles {
            let inputs = stimulus.next();
            let mut at = 0;
            for port in design.ports.iter().filter(|p| p.input && !p.clock) {
                let n = shim::words(port);
                set(&mut block, port, &inputs[at..at + n]);
                at += n;
            }
            settle(&mut *block, &self.name);
            model.cycle(&inputs, &mut outputs);
            let rust = read_outputs(&*block, &design);
            if rust != outputs {
                let what = explain(&design, &rust, &outputs);
                panic!("{}: seed {}, cycle {cycle}: {what}; inputs {inputs:x?}", self.name, self.seed);
            }
            for level in [1, 0] {
                for clock in &clocks {
                    set(&mut block, clock, &[level]);
                }
                settle(&mut *block, &self.name);
            }
        }
        model.warnings.clone()
    }
}

/// Runs a block until nothing changes.
pub fn settle(block: &mut (impl Block + ?Sized), name: &str) {
    for _ in 0..200 {
        block.update_all();
        if !block.has_changed() {
            return;
        }
    }
    panic!("{name}: the Rust simulation does not settle");
}

/// The outputs of a block, in words, in the order of its ports.
pub fn read_outputs(block: &dyn Block, design: &Design) -> Vec<u32> {
    let mut reader = Reader::default();
    block.accept(&design.top, &mut reader);
    reader.words
}

#[derive(Default)]
struct Reader {
    depth: usize,
    words: Vec<u32>,
}

impl Probe for Reader {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }

    fn visit_atom(&mut self, _name: &str, signal: &dyn Atom) {
        if self.depth != 1 || signal.kind() != AtomKind::OutputParameter {
            return;
        }
        let text = format!("{:x}", signal.verilog());
        let digits = text.split_once("'h").map_or("0", |(_, d)| d).as_bytes();
        let mut words: Vec<u32> = digits
            .rchunks(8)
            .map(|c| u32::from_str_radix(&String::from_utf8_lossy(c), 16).unwrap_or_default())
            .collect();
        words.resize(signal.bits().div_ceil(32), 0);
        self.words.append(&mut words);
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
}

fn explain(design: &Design, rust: &[u32], verilog: &[u32]) -> String {
    let mut at = 0;
    for port in design.ports.iter().filter(|p| !p.input) {
        let n = shim::words(port);
        let (a, b) = (&rust[at..at + n], &verilog[at..at + n]);
        if a != b {
            return format!("{}: Rust {a:x?}, Verilog {b:x?} (32-bit words, lowest first)", port.name);
        }
        at += n;
    }
    String::from("equal")
}

/// Random inputs, biased to what breaks things.
pub struct Stimulus {
    rng: ChaCha8Rng,
    ports: Vec<Port>,
    last: Vec<u32>,
    cycle: usize,
}

impl Stimulus {
    pub fn new(ports: &[Port], seed: u64) -> Self {
        let ports: Vec<Port> = ports.iter().filter(|p| p.input && !p.clock).cloned().collect();
        let words = ports.iter().map(shim::words).sum();
        Stimulus {
            rng: ChaCha8Rng::seed_from_u64(seed),
            ports,
            last: vec![0; words],
            cycle: 0,
        }
    }

    /// The words of all inputs for one cycle.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Vec<u32> {
        let mut at = 0;
        for port in &self.ports {
            let n = shim::words(port);
            let words = &mut self.last[at..at + n];
            at += n;
            let rng = &mut self.rng;
            if port.name == "reset" || port.name == "rst" {
                words[0] = u32::from(self.cycle < 2 || rng.gen_ratio(1, 200));
                continue;
            }
            if port.width == 1 {
                words[0] = rng.gen_range(0..2);
                continue;
            }
            match rng.gen_range(0..10) {
                0 => words.fill(0),
                1 => words.fill(u32::MAX),
                2 => {
                    words.fill(0);
                    let bit = rng.gen_range(0..port.width);
                    words[bit / 32] = 1 << (bit % 32);
                }
                3 => {} // the same again
                4 => {
                    words.fill(0);
                    words[0] = rng.gen_range(0..8);
                }
                _ => words.iter_mut().for_each(|w| *w = rng.gen()),
            }
            if port.width % 32 != 0 {
                words[n - 1] &= (1 << (port.width % 32)) - 1;
            }
        }
        self.cycle += 1;
        self.last.clone()
    }
}
