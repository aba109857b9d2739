// SPDX-License-Identifier: MIT OR Apache-2.0
//! The module around a block that a solver works on: free inputs, reset in the first cycle, the rules of each stream as assumptions (at sinks)
//! and assertions (at sources), and what a proof adds.
//!
//! ```text
//! free inputs ─► dut ─► outputs
//!      │                   │
//!      └─ assume: stands ──┴─ assert: stands until ready; no valid in reset; cover: one is taken
//! ```

use crate::streams::Stream;
use verbena_hdl::verilog::{Design, Port};

/// SystemVerilog of the module `formal`. `added` is pasted in: it sees the ports by their names, `past_ok` (the cycle before wasn't in reset) and `reset`.
pub fn wrapper(design: &Design, streams: &[Stream], added: &str) -> String {
    let has_reset = design.ports.iter().any(|p| p.name == "reset");
    let clock = design.ports.iter().find(|p| p.clock).map_or("clock", |p| &p.name);
    let free: Vec<String> = design
        .ports
        .iter()
        .filter(|p| p.input && !p.clock && p.name != "reset")
        .map(|p| format!("    input wire {}{}", range(p), p.name))
        .collect();
    let mut text = format!("module formal (\n    input wire {clock}{}\n);\n", free.iter().map(|p| format!(",\n{p}")).collect::<String>());
    text += "    // 0 in the first cycle, 1 in the second, 2 from then on.\n";
    text += "    reg [1:0] age = 0;\n";
    text += &format!("    always @(posedge {clock}) if (age < 2) age <= age + 1;\n");
    text += "    wire reset = age == 0;\n    wire past_ok = age == 2;\n";
    for port in design.ports.iter().filter(|p| !p.input) {
        text += &format!("    wire {}{};\n", range(port), port.name);
    }
    let connections: Vec<String> = design
        .ports
        .iter()
        .filter(|p| has_reset || p.name != "reset")
        .map(|p| format!("        .{0}({0})", p.name))
        .collect();
    text += &format!("    {} dut (\n{}\n    );\n", design.top, connections.join(",\n"));
    for stream in streams {
        text += &rules(stream, clock);
    }
    text += added;
    text += "endmodule\n";
    text
}

/// A stream's rules: once offered it stands, with its payload, until taken.
fn rules(stream: &Stream, clock: &str) -> String {
    let (valid, ready) = (stream.valid(), stream.ready());
    let mut text = format!("\n    // {} {}\n", if stream.input { "Sink" } else { "Source" }, stream.name());
    let verb = if stream.input { "assume" } else { "assert" };
    text += &format!("    always @(posedge {clock}) begin\n");
    if !stream.input {
        text += &format!("        if (reset) begin {valid}_low_in_reset: assert (!{valid}); end\n");
        text += &format!("        if (!reset) begin {valid}_taken: cover ({valid} && {ready}); end\n");
    }
    text += &format!("        if (past_ok && $past({valid} && !{ready})) begin\n");
    text += &format!("            {valid}_held: {verb} ({valid});\n");
    for port in &stream.payload {
        text += &format!("            {valid}_{port}_stands: {verb} ({port} == $past({port}));\n");
    }
    text += "        end\n    end\n";
    text
}

fn range(port: &Port) -> String {
    if port.width == 1 {
        String::new()
    } else {
        format!("[{}:0] ", port.width - 1)
    }
}
