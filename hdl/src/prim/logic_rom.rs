// SPDX-License-Identifier: MIT OR Apache-2.0
//! Read-only memory in logic, with a register behind it: where there is no block RAM left.
//!
//! ```text
//! read_address ──► read_data, one cycle later
//! ```

use rust_hdl::prelude::*;

/// `2^A` words of `D` bits (32 at most); words that aren't given are 0. Latency of a read: 1 cycle.
#[derive(LogicBlock)]
pub struct LogicRom<const A: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<D>>,
    _words: Vec<u32>,
}

impl<const A: usize, const D: usize> LogicRom<A, D> {
    /// Panics if the words don't fit: their number and width are the caller's to check.
    pub fn new(words: &[u32]) -> Self {
        assert!(words.len() <= 1 << A && D <= 32, "LogicRom: {} words in 2^{A}", words.len());
        assert!(
            words.iter().all(|w| D == 32 || w >> D == 0),
            "LogicRom: words of more than {D} bits"
        );
        let mut words = words.to_vec();
        words.resize(1 << A, 0);
        Self {
            clock: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            _words: words,
        }
    }
}

impl<const A: usize, const D: usize> Logic for LogicRom<A, D> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.read_data.next = u64::from(self._words[self.read_address.val().index()]).to_bits();
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let words: Vec<String> = self
            ._words
            .iter()
            .enumerate()
            .map(|(i, w)| format!("  mem[{i}] = {D}'h{w:x};\n"))
            .collect();
        Verilog::Custom(format!(
            "\
(* rom_style = \"logic\", ram_style = \"logic\" *)
reg [{d}:0] mem [0:{last}];

initial begin
{words}end

`ifndef SYNTHESIS
initial read_data = {{{D}{{1'b0}}}};
`endif

always @(posedge clock) begin
  read_data <= mem[read_address];
end
",
            d = D - 1,
            last = (1usize << A) - 1,
            words = words.concat(),
        ))
    }

    crate::block_name!();
}
