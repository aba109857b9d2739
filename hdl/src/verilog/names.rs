// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names: keywords refused, brackets evaluated, Rust type names turned into module names.

use std::collections::{BTreeMap, BTreeSet};

/// Keywords of Verilog-2005 and SystemVerilog-2017: any of them breaks some tool.
const KEYWORDS: &str = "
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins binsof
bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const constraint context
continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge else end endcase endchecker
endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram
endproperty endspecify endsequence endtable endtask enum event eventually expect export extends extern final first_match for
force foreach forever fork forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins
implements implies import incdir include initial inout input inside instance int integer interconnect interface intersect
join join_any join_none large let liblist library local localparam logic longint macromodule matches medium modport module
nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
posedge primitive priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent
pure rand randc randcase randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran
rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0
tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual
void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor";

/// Whether a name is reserved in Verilog-2005 or SystemVerilog.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.split_ascii_whitespace().any(|k| k == name)
}

/// `RxAlign` → `rx_align`.
pub fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (i, c) in chars.iter().enumerate() {
        if c.is_ascii_uppercase() {
            let after_small = i > 0 && !chars[i - 1].is_ascii_uppercase() && chars[i - 1] != '_';
            let before_small = i > 0 && chars.get(i + 1).is_some_and(|n| n.is_ascii_lowercase()) && chars[i - 1] != '_';
            if after_small || before_small {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if c.is_ascii_alphanumeric() || *c == '_' {
            out.push(*c);
        }
    }
    out
}

/// `verbena_hdl::rx::RxAlign<64, rust_hdl_core::bits::Bits<8>>` → `rx_align_64_8`.
pub fn module_name(type_name: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in type_name.chars().chain([' ']) {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => word.push(c),
            ':' => word.clear(),
            _ => {
                if !word.is_empty() && word != "Bits" {
                    parts.push(snake(&word));
                }
                word.clear();
            }
        }
    }
    let name = parts.join("_");
    if name.is_empty() || is_keyword(&name) || name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("m_{name}")
    } else {
        name
    }
}

/// Flattens `arr$0$q` to `arr_0_q`.
pub fn flat(name: &str) -> String {
    name.replace('$', "_")
}

/// The names in use inside one module.
#[derive(Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Takes `wanted`, or `wanted_2` and so on if it is taken or a keyword.
    pub fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 1;
        while is_keyword(&name) || !self.0.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }
}

/// The value of each loop variable in scope.
pub type Loops = BTreeMap<String, u64>;

/// Evaluates every `[…]` of a name from the syntax tree: `x[(i+1)]$q` → `x$3$q`.
pub fn evaluate_brackets(name: &str, loops: &Loops) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = name;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        let close = matching(&rest[open..]).ok_or_else(|| name.to_string())? + open;
        let value = evaluate_index(&rest[open + 1..close], loops)?;
        out.push_str(&format!("${value}"));
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn matching(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// Evaluates an index text of literals and loop variables; the error is the part that is neither.
pub fn evaluate_index(text: &str, loops: &Loops) -> Result<u64, String> {
    let mut parser = Index {
        text: text.as_bytes(),
        at: 0,
        loops,
    };
    let value = parser.sum()?;
    if parser.at != parser.text.len() {
        return Err(text.to_string());
    }
    u64::try_from(value).map_err(|_| text.to_string())
}

struct Index<'a> {
    text: &'a [u8],
    at: usize,
    loops: &'a Loops,
}

impl Index<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn fail(&self) -> String {
        String::from_utf8_lossy(self.text).into_owned()
    }

    fn sum(&mut self) -> Result<i128, String> {
        let mut value = self.product()?;
        loop {
            match self.peek() {
                b'+' => {
                    self.at += 1;
                    value += self.product()?;
                }
                b'-' => {
                    self.at += 1;
                    value -= self.product()?;
                }
                _ => return Ok(value),
            }
        }
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut value = self.atom()?;
        loop {
            let op = self.peek();
            if !matches!(op, b'*' | b'/' | b'%') {
                return Ok(value);
            }
            self.at += 1;
            let right = self.atom()?;
            value = match op {
                b'*' => value.checked_mul(right),
                b'/' => value.checked_div(right),
                _ => value.checked_rem(right),
            }
            .ok_or_else(|| self.fail())?;
        }
    }

    fn atom(&mut self) -> Result<i128, String> {
        if self.peek() == b'(' {
            self.at += 1;
            let value = self.sum()?;
            if self.peek() != b')' {
                return Err(self.fail());
            }
            self.at += 1;
            return Ok(value);
        }
        let start = self.at;
        while self.peek().is_ascii_alphanumeric() || matches!(self.peek(), b'_' | b'$') {
            self.at += 1;
        }
        let word = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if let Some(value) = self.loops.get(&word) {
            return Ok(i128::from(*value));
        }
        parse_integer(&word).map(i128::from).ok_or(word)
    }
}

/// A Rust integer literal: underscores, suffix, hex, binary, octal.
pub fn parse_integer(text: &str) -> Option<u64> {
    let text: String = text.chars().filter(|c| *c != '_').collect();
    let text = ["usize", "u64", "u32", "u16", "u8", "i32", "i64"]
        .iter()
        .find_map(|s| text.strip_suffix(s))
        .unwrap_or(&text);
    if let Some(hex) = text.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()
    } else if let Some(bin) = text.strip_prefix("0b") {
        u64::from_str_radix(bin, 2).ok()
    } else if let Some(oct) = text.strip_prefix("0o") {
        u64::from_str_radix(oct, 8).ok()
    } else {
        text.parse().ok()
    }
}
