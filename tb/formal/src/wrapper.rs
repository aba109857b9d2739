// SPDX-License-Identifier: MIT OR Apache-2.0
//! The module `formal` around a block that a solver works on: free inputs, reset in the first cycle and whenever the solver likes, the rules of each
//! stream as assumptions (at sinks) and assertions (at sources), and what a proof adds.
//!
//! ```text
//! free inputs ─► dut ─► outputs
//!      │                   │
//!      └─ assume: stands ──┴─ assert: an offer stands until it is taken; no valid in reset
//! ```

use crate::streams::Stream;
use verbena_hdl::verilog::{Design, Port};

/// What is put around a block.
pub struct Wrapping<'a> {
    pub streams: &'a [Stream],
    /// Text of the module `formal`: it sees the ports by their names, `reset`, and `past_ok`: neither this cycle nor the one before is in reset.
    pub added: &'a str,
    /// (module, text): put before its `endmodule`.
    pub bound: &'a [(&'static str, &'static str)],
    /// No reset: the block begins in any state.
    pub any_state: bool,
}

/// SystemVerilog of the block and of the module `formal` around it.
pub fn wrap(design: &Design, wrapping: &Wrapping) -> anyhow::Result<String> {
    for (module, _) in wrapping.bound {
        anyhow::ensure!(
            design.modules.iter().any(|m| m.name == *module),
            "{} has no module '{module}' to bind to",
            design.top
        );
    }
    for own in ["after_first", "was_reset", "past_ok"] {
        anyhow::ensure!(
            design.ports.iter().all(|p| p.name != own),
            "{} has a port '{own}', as the wrapper has",
            design.top
        );
    }
    let mut text = String::new();
    for module in &design.modules {
        let bound: Vec<_> = wrapping.bound.iter().filter(|(name, _)| *name == module.name).collect();
        let body = module.text.trim_end();
        match body.strip_suffix("endmodule").filter(|_| !bound.is_empty()) {
            Some(body) => {
                text += body;
                bound.iter().for_each(|(_, t)| text += t);
                text += "endmodule\n";
            }
            None => text += body,
        }
        text += "\n\n";
    }
    let has_reset = design.ports.iter().any(|p| p.name == "reset");
    let clock = design.ports.iter().find(|p| p.clock).map_or("clock", |p| &p.name);
    let free = |p: &&Port| p.input && !p.clock && (p.name != "reset" || !wrapping.any_state);
    let mut inputs: Vec<String> = design
        .ports
        .iter()
        .filter(free)
        .map(|p| format!("    input wire {}{}", range(p), p.name))
        .collect();
    if !has_reset && !wrapping.any_state {
        inputs.push("    input wire reset".into());
    }
    text += &format!(
        "module formal (\n    input wire {clock}{}\n);\n",
        inputs.iter().map(|p| format!(",\n{p}")).collect::<String>()
    );
    text += &format!("    reg after_first = 0;\n    always @(posedge {clock}) after_first <= 1;\n");
    if wrapping.any_state {
        text += "    wire reset = 0;\n    wire past_ok = after_first;\n";
    } else {
        text += "    always @(*) if (!after_first) assume (reset);\n";
        text += &format!("    reg was_reset = 1;\n    always @(posedge {clock}) was_reset <= reset;\n");
        text += "    wire past_ok = after_first && !reset && !was_reset;\n";
    }
    for port in design.ports.iter().filter(|p| !p.input) {
        text += &format!("    wire {}{};\n", range(port), port.name);
    }
    let connections: Vec<String> = design.ports.iter().map(|p| format!("        .{0}({0})", p.name)).collect();
    text += &format!("    {} dut (\n{}\n    );\n", design.top, connections.join(",\n"));
    for stream in wrapping.streams {
        text += &rules(stream, clock, wrapping.any_state);
    }
    text += wrapping.added;
    text += "endmodule\n";
    Ok(text)
}

/// A stream's rules: once offered it stands, with its payload, until taken; nothing is offered from the second cycle of a reset.
fn rules(stream: &Stream, clock: &str, any_state: bool) -> String {
    let (valid, ready) = (stream.valid(), stream.ready());
    let mut text = format!("\n    // {} {}\n", if stream.input { "Sink" } else { "Source" }, stream.name());
    let verb = if stream.input { "assume" } else { "assert" };
    text += &format!("    always @(posedge {clock}) begin\n");
    if !any_state {
        text += &format!("        if (after_first && reset && was_reset) begin {valid}_low_in_reset: {verb} (!{valid}); end\n");
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
