// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random kernels as Rust text: each a block with some of the shared inputs, locals, registers and outputs.
//!
//! Every construct of the kernel subset has its place: all operators, casts, slices, literals of each form, `if`, `match`,
//! `for`, arrays, structs, enums, constants, running values that are read between their assignments.

mod expression;
mod statement;

use std::fmt::Write;
use std::ops::Range;

/// Inputs that all kernels share: name and width, 0 for `Bit`.
pub const INPUTS: &[(&str, usize)] = &[
    ("p", 0),
    ("q", 0),
    ("a3", 3),
    ("a4", 4),
    ("a8", 8),
    ("b8", 8),
    ("a13", 13),
    ("a16", 16),
    ("b16", 16),
    ("a24", 24),
    ("a32", 32),
    ("b32", 32),
    ("a33", 33),
    ("a64", 64),
    ("b64", 64),
    ("a70", 70),
];

/// Widths of locals, registers and outputs.
pub const WIDTHS: &[usize] = &[1, 3, 4, 5, 8, 13, 16, 16, 24, 32, 32, 33, 64, 70];

/// A generator of its own: the same kernels whatever the versions of other crates.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A readable value: how to read it, and its width (0 for `Bit`).
#[derive(Clone)]
pub struct Value {
    pub read: String,
    pub width: usize,
}

/// One kernel in the making.
pub struct Kernel {
    pub random: Random,
    /// What expressions may read at this point.
    pub values: Vec<Value>,
    /// Constants: name, width, value.
    pub constants: Vec<(String, usize, u64)>,
    pub body: String,
    pub depth: usize,
}

impl Kernel {
    pub fn line(&mut self, text: &str) {
        let pad = "    ".repeat(self.depth + 2);
        let _ = writeln!(self.body, "{pad}{text}");
    }
}

fn ty(width: usize) -> String {
    if width == 0 {
        "Bit".into()
    } else {
        format!("Bits<{width}>")
    }
}

/// The text of one group's module.
pub fn group(seed: u64, range: Range<usize>) -> String {
    let mut out = String::from("// Made by build.rs.\nuse crate::*;\n\n");
    let mut list = String::new();
    for n in range {
        out += &kernel(seed, n);
        list += &format!("        (\"k{n}\", Box::new(K{n}::default()) as Box<dyn Kernel>),\n");
    }
    out + &format!("pub fn kernels() -> Vec<(&'static str, Box<dyn Kernel>)> {{\n    vec![\n{list}    ]\n}}\n")
}

fn kernel(seed: u64, n: usize) -> String {
    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(n as u64));
    // Some of the shared inputs, the narrow ones always.
    let inputs: Vec<(&str, usize)> = INPUTS.iter().copied().filter(|(_, w)| *w < 5 || random.chance(25)).collect();
    let values = inputs
        .iter()
        .map(|(name, width)| Value {
            read: format!("self.{name}.val()"),
            width: *width,
        })
        .collect();
    let mut kernel = Kernel {
        random,
        values,
        constants: vec![],
        body: String::new(),
        depth: 0,
    };
    let shape = statement::kernel(&mut kernel);

    let mut fields = String::from("    pub clock: Signal<In, Clock>,\n");
    let mut load = String::new();
    for (name, width) in &inputs {
        fields += &format!("    pub {name}: Signal<In, {}>,\n", ty(*width));
        load += &format!("        self.{name}.next = i.{name};\n");
    }
    fields += &shape.fields;
    let mut defaults = String::new();
    for line in fields.lines() {
        let name = line.trim().trim_start_matches("pub ").split(':').next().unwrap_or_default();
        defaults += &format!("            {name}: Default::default(),\n");
    }
    for (name, width, value) in &kernel.constants {
        fields += &format!("    {name}: Constant<Bits<{width}>>,\n");
        defaults += &format!("            {name}: Constant::new(bits::<{width}>(0x{value:x}_u64)),\n");
    }
    format!(
        "{types}#[derive(LogicBlock)]\npub struct K{n} {{\n{fields}}}\n\n\
         impl Default for K{n} {{\n    fn default() -> Self {{\n        Self {{\n{defaults}        }}\n    }}\n}}\n\n\
         impl Kernel for K{n} {{\n    fn load(&mut self, i: &Inputs) {{\n        self.clock.next = i.clock;\n{load}    }}\n\
         \n    fn block(&self) -> &dyn Block {{\n        self\n    }}\n}}\n\n\
         impl Logic for K{n} {{\n    #[hdl_gen]\n    fn update(&mut self) {{\n{body}    }}\n\n    block_name!();\n}}\n\n",
        types = shape
            .types
            .replace("State_", &format!("State{n}"))
            .replace("Rec_", &format!("Rec{n}")),
        fields = fields.replace("State_", &format!("State{n}")).replace("Rec_", &format!("Rec{n}")),
        body = kernel.body.replace("State_", &format!("State{n}")),
    )
}
