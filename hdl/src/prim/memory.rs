// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the RAMs have in common: their words in simulation, and their Verilog text but for the attribute that says how it is mapped.

use rust_hdl::prelude::*;

/// So many words of `D` bits, a power of two and no more than `address_bits` can name: of an address the bits above aren't looked at.
pub(super) fn words<const D: usize>(address_bits: usize, words: usize) -> Vec<Bits<D>> {
    assert!(
        words.is_power_of_two() && words > 1 && words <= 1 << address_bits,
        "{words} words in a RAM, not 2 to 2^{address_bits}"
    );
    vec![Bits::<D>::default(); words]
}

/// A write port and a read port with enable, on one clock. `attribute` is a line, or empty.
pub(super) fn text<const D: usize>(attribute: &str, address_bits: usize, mem: &[Bits<D>]) -> Verilog {
    let part = match mem.len().ilog2() as usize {
        all if all == address_bits => String::new(),
        some => format!("[{}:0]", some - 1),
    };
    Verilog::Custom(format!(
        "\
{attribute}reg [{d}:0] mem [0:{last}];

`ifndef SYNTHESIS
integer i;
initial begin
  for (i = 0; i <= {last}; i = i + 1) mem[i] = {{{width}{{1'b0}}}};
  read_data = {{{width}{{1'b0}}}};
end
`endif

always @(posedge clock) begin
  if (write_enable) mem[write_address{part}] <= write_data;
  if (read_enable) read_data <= mem[read_address{part}];
end
",
        d = D - 1,
        width = D,
        last = mem.len() - 1,
    ))
}
