// SPDX-License-Identifier: MIT OR Apache-2.0
//! A block's ports as typed signals, its logic in a Verilated model.
//!
//! ```text
//! block.x.next ─► words ─► model ─► words ─► block.y.val()
//! ```
//!
//! The block's own logic never runs: it is printed, and its signals carry the model's values. A testbench reads and sets them as those of a simulated
//! block, and takes a small part of the time, to build too. That printed text and Rust block are equal is what [`Diff`](crate::diff) shows.
//! `ports!` names a block's inputs, but for its clock, and its outputs:
//!
//! ```text
//! Bench::verilated(Box::<Send<…>>::default(), "send", ports!(in reset, doorbell_valid, …; out ready, packet, …))
//! ```

use crate::diff::{FromWords, Words};
use crate::verilated::Model;
use rust_hdl::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use verbena_hdl::verilog::build::Built;
use verbena_hdl::verilog::{emit, shim, Port};

/// The words of one port, filled from bit 0 up.
pub struct Packer<'a> {
    words: &'a mut [u32],
    at: usize,
}

impl Packer<'_> {
    /// The low `width` bits of a value, 32 at most.
    pub fn push(&mut self, value: u32, width: usize) {
        let (word, bit) = (self.at / 32, self.at % 32);
        let value = u64::from(value) << bit;
        self.words[word] |= value as u32;
        if bit + width > 32 {
            self.words[word + 1] |= (value >> 32) as u32;
        }
        self.at += width;
    }
}

/// A value that bits are made of.
pub trait ToWords {
    fn to_words(&self, packer: &mut Packer);
}

impl ToWords for bool {
    fn to_words(&self, packer: &mut Packer) {
        packer.push(u32::from(*self), 1);
    }
}

impl<const N: usize> ToWords for Bits<N> {
    fn to_words(&self, packer: &mut Packer) {
        if N <= 64 {
            let value = self.to_u64();
            packer.push(value as u32, N.min(32));
            if N > 32 {
                packer.push((value >> 32) as u32, N - 32);
            }
            return;
        }
        for low in (0..N).step_by(32) {
            let width = 32.min(N - low);
            packer.push((0..width).fold(0, |w, i| w | u32::from(self.get_bit(low + i)) << i), width);
        }
    }
}

/// A payload struct of ports: its fields from bit 0 up.
#[macro_export]
macro_rules! words_of {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::diff::FromWords for $type {
            fn from_words(words: &mut $crate::diff::Words) -> Self {
                $type { $($field: words.take()),+ }
            }
        }
        impl $crate::mirror::ToWords for $type {
            fn to_words(&self, packer: &mut $crate::mirror::Packer) {
                $(self.$field.to_words(packer);)+
            }
        }
    };
}

/// What moves between a block's signals and the words of its model.
pub struct Ports<B> {
    pub inputs: &'static [&'static str],
    pub outputs: &'static [&'static str],
    /// All inputs, or those that have changed.
    pub put: fn(&mut B, &mut [u32], bool),
    /// The outputs whose words differ from those of the last time.
    pub get: fn(&mut B, &[u32], &[u32]),
}

/// The next words of the model are those of this input; returns the rest of them.
pub fn put<'a, T: Synth + ToWords>(signal: &mut Signal<In, T>, words: &'a mut [u32], all: bool) -> &'a mut [u32] {
    let (own, rest) = words.split_at_mut(T::BITS.div_ceil(32));
    signal.update_all();
    if all || signal.has_changed() {
        own.fill(0);
        signal.next.to_words(&mut Packer { words: own, at: 0 });
    }
    rest
}

/// An output has the value of the next words; returns what is behind them.
pub fn get<'a, T: Synth + FromWords>(signal: &mut Signal<Out, T>, words: &'a [u32], last: &'a [u32]) -> (&'a [u32], &'a [u32]) {
    let (own, rest) = words.split_at(T::BITS.div_ceil(32));
    let (old, last) = last.split_at(own.len());
    if own != old {
        signal.next = Words::new(own).take();
        signal.update_all();
    }
    (rest, last)
}

/// Names a block's inputs, but for its clock, and its outputs, in the order of its struct.
#[macro_export]
macro_rules! ports {
    (in $($input:ident),+; out $($output:ident),+ $(,)?) => {
        $crate::mirror::Ports {
            inputs: &[$(stringify!($input)),+],
            outputs: &[$(stringify!($output)),+],
            put: |block, words, all| {
                $(let words = $crate::mirror::put(&mut block.$input, words, all);)+
                assert!(words.is_empty());
            },
            get: |block, words, last| {
                $(let (words, last) = $crate::mirror::get(&mut block.$output, words, last);)+
                assert!(words.is_empty() && last.is_empty());
            },
        }
    };
}

/// Top, ports and library of a form.
type Printed = OnceLock<(String, Vec<Port>, Built)>;
/// What this process has printed and built: to print a station again takes longer than most tests.
static FORMS: Mutex<BTreeMap<String, Arc<Printed>>> = Mutex::new(BTreeMap::new());

/// What tells a block's text from another's: name, type, and the values of all its constants. A ROM's words aren't seen: blocks that differ in them alone need names of their own.
fn form<B: Block>(block: &B, name: &str) -> String {
    struct Constants(String);
    impl Probe for Constants {
        fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
            if signal.kind() == AtomKind::Constant {
                let _ = write!(self.0, " {name}={:x}", signal.verilog());
            }
        }
    }
    let mut constants = Constants(format!("{name} {}", std::any::type_name::<B>()));
    block.accept(name, &mut constants);
    constants.0
}

/// A model beside the block whose signals it drives.
pub struct Mirror<B> {
    model: Model,
    ports: Ports<B>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    /// The words that the block's outputs have.
    shown: Vec<u32>,
    begun: bool,
}

impl<B: Block> Mirror<B> {
    /// Prints the connected block and builds its model, once a process for each form of it.
    pub fn new(block: &B, name: &str, ports: Ports<B>) -> Self {
        let form = form(block, name);
        let one = FORMS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(form)
            .or_default()
            .clone();
        let (top, of_block, built) = one.get_or_init(|| {
            let design = emit(block, name, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
            let built = Model::build(&design).unwrap_or_else(|e| panic!("{e:#}"));
            (design.top, design.ports, built)
        });
        let names = |input: bool| -> Vec<&str> {
            let ports = of_block.iter().filter(|p: &&Port| p.input == input && !p.clock);
            ports.map(|p| p.name.as_str()).collect()
        };
        assert_eq!(names(true), ports.inputs, "{name}: the inputs that ports!(…) names");
        assert_eq!(names(false), ports.outputs, "{name}: the outputs that ports!(…) names");
        assert_eq!(of_block.iter().filter(|p| p.clock).count(), 1, "{name}: clocks");
        let (inputs, outputs) = shim::sizes(of_block);
        Mirror {
            model: Model::load(built, top, of_block).unwrap_or_else(|e| panic!("{e:#}")),
            ports,
            inputs: vec![0; inputs],
            outputs: vec![0; outputs],
            shown: vec![0; outputs],
            begun: false,
        }
    }

    /// Inputs reach outputs, clock low.
    pub fn settle(&mut self, block: &mut B) {
        (self.ports.put)(block, &mut self.inputs, !self.begun);
        self.begun = true;
        self.model.settle(&self.inputs, &mut self.outputs);
        (self.ports.get)(block, &self.outputs, &self.shown);
        std::mem::swap(&mut self.outputs, &mut self.shown);
    }

    /// Inputs, then the clock's edge; outputs are those behind it.
    pub fn edge(&mut self, block: &mut B) {
        (self.ports.put)(block, &mut self.inputs, !self.begun);
        self.begun = true;
        self.model.cycle(&self.inputs, &mut self.outputs);
        self.settle(block);
    }
}
