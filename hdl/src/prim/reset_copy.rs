// SPDX-License-Identifier: MIT OR Apache-2.0
//! A station's own copy of the reset: a register that synthesis must not merge with its twins, so that each can be placed beside its users.
//!
//! ```text
//! s ─► register ─► m, one cycle later
//! ```

use rust_hdl::prelude::*;

/// One register. Latency 1 cycle.
#[derive(LogicBlock, Default)]
pub struct ResetCopy {
    pub clock: Signal<In, Clock>,
    pub s: Signal<In, Bit>,
    pub m: Signal<Out, Bit>,
}

impl Logic for ResetCopy {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.m.next = self.s.val();
        }
    }

    fn connect(&mut self) {
        self.m.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "\
`ifndef SYNTHESIS
initial m = 1'b0;
`endif

(* keep *)
always @(posedge clock) m <= s;
"
            .into(),
        )
    }

    crate::block_name!();
}
