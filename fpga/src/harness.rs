// SPDX-License-Identifier: MIT OR Apache-2.0
//! A wrapper that lets a block of any number of ports be placed with four pins: its inputs come from a shift register and its outputs
//! go to one, so every path measured starts and ends in a register.
//!
//! ```text
//! serial_in ─► input registers ─► block ─► output registers (load, else shift) ─► serial_out
//! ```

use verbena_hdl::verilog::Port;

/// Verilog of the module `harness` around `top`.
pub fn wrap(top: &str, ports: &[Port]) -> String {
    let width = |input: bool| {
        ports
            .iter()
            .filter(|p| p.input == input && !p.clock)
            .map(|p| p.width)
            .sum::<usize>()
            .max(1)
    };
    let (inputs, outputs) = (width(true), width(false));
    let mut connections = vec![];
    let (mut next_in, mut next_out) = (0, 0);
    for port in ports {
        let wire = if port.clock {
            "clock".to_string()
        } else if port.input {
            next_in += port.width;
            format!("inputs[{} +: {}]", next_in - port.width, port.width)
        } else {
            next_out += port.width;
            format!("outputs[{} +: {}]", next_out - port.width, port.width)
        };
        connections.push(format!("        .{}({wire})", port.name));
    }
    format!(
        "module harness (input wire clock, input wire load, input wire serial_in, output wire serial_out);
    reg [{i}:0] inputs;
    wire [{o}:0] outputs;
    reg [{o}:0] captured;
    always @(posedge clock) begin
        inputs <= {{inputs, serial_in}};
        captured <= load ? outputs : {{captured, 1'b0}};
    end
    assign serial_out = captured[{o}];
    {top} dut (
{connections}
    );
endmodule
",
        i = inputs - 1,
        o = outputs - 1,
        connections = connections.join(",\n"),
    )
}
