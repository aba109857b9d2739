// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a solver sees of a RAM. The engine's RAMs are the three primitives of `hdl/src/prim`, and their printed text is alike:
//! `reg [D:0] mem [0:N];`, then blocks until `endmodule`, with ports `read_enable`, `read_data`.

use verbena_hdl::verilog::Module;

/// How RAMs are shown to the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A read returns anything, each time anew, unless it is of the word that was read last and has not been written since: that comes again.
    /// These are more behaviours than the RAM has, so what is proved so holds for the RAM. The output stands while `read_enable` is low.
    Free,
    /// As printed, with any contents at the beginning.
    Whole,
}

/// The module with its RAM, if it is one, replaced.
pub fn shown(module: &Module, memory: Memory) -> Module {
    let Some((head, word)) = ram(&module.text).filter(|_| memory == Memory::Free) else {
        return module.clone();
    };
    let address = head
        .lines()
        .find_map(|l| l.strip_suffix(" read_address,"))
        .and_then(|l| l.rsplit(' ').next())
        .unwrap_or("[0:0]");
    let address = if address.starts_with('[') { address } else { "[0:0]" };
    let hit = if head.contains(" write_enable,") {
        "write_enable && write_address == (read_enable ? read_address : last)"
    } else {
        "1'b0"
    };
    Module {
        name: module.name.clone(),
        text: format!(
            "{head}  (* anyseq *) wire {word} any;
  reg {address} last;
  reg known = 1'b0;
  wire hit = {hit};
  always @(posedge clock) begin
    if (read_enable) begin
      if (!known || read_address != last || hit) read_data <= any;
      last <= read_address;
    end
    known <= (known || read_enable) && !hit;
  end

endmodule
"
        ),
    }
}

/// Of a RAM's text: what stands before its array, and the word's range.
fn ram(text: &str) -> Option<(&str, &str)> {
    let at = text.find("] mem [0:")?;
    let line = text[..at].rfind('\n')? + 1;
    let range = text[line..=at].trim().strip_prefix("reg ")?;
    let head = text[..line].strip_suffix("  (* no_rw_check *)\n").unwrap_or(&text[..line]);
    Some((head, range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use verbena_spec::config::Config;

    #[test]
    fn every_ram_of_both_engines_is_replaced_and_nothing_else() {
        for preset in ["tengig", "cu"] {
            let design = verbena_designs::emit(&Config::preset(preset).unwrap()).unwrap();
            let mut rams = 0;
            for module in &design.modules {
                let free = shown(module, Memory::Free);
                let is_ram = module.text.contains(" mem [0:");
                rams += usize::from(is_ram);
                assert_eq!(is_ram, free.text != module.text, "{}", module.name);
                assert!(!free.text.contains("mem[") && !free.text.contains(" mem "), "{}", free.text);
                assert_eq!(shown(module, Memory::Whole).text, module.text);
            }
            assert!(rams > 1, "{preset}");
        }
    }
}
