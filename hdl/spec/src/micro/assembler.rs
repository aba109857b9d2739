// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text to instruction words.
//!
//! ```text
//! ; comment
//! .equ  NAME, expression            a constant
//! .var  NAME [, words]              words of memory (map::POOLS)
//! .align N                          the next instruction's address is a multiple of N (a power of two); gaps are `ret`
//! .upper                            what follows stands in the upper half of the program (isa::UPPER_LOG): once, after all of the lower half
//! label:   .local:                  a name that begins with a dot belongs to the label before it
//!     ld      qp.epsn               a memory word
//!     ld.h2   qp.w1                 ... a lane of it: size (b 1, h 2, t 3, w 4 bytes), then the first byte
//!     add     #5                    an immediate (11 bits, moved by whole bytes; negative numbers likewise)
//!     ld      @status               a port
//!     ld      [y]   ld [y+]         the word at Y
//!     and.t0  a                     the accumulator itself, lane and all
//!     st      @address              a port is written
//!     clr.b1  qp.state              a memory word's lane = 0; A stays
//!     mv      @rx, w, repeat        targets: w, [y+], none; `repeat`: CNT times
//!     li      #0x12345678           A = any number: one to three instructions
//!     bz  label   bbs 3, label   call label   jtab label   ret
//! ```
//! Expressions: numbers (decimal, 0x, 0b), names, `+ - * << | ( )`, from left to right without precedence.

use super::isa::{self, Branch, Instruction, Lane, Op, Source, BRANCHES, BRANCH_NAMES, INPUTS, OPS, OP_NAMES, OUTPUTS, WORD};
use super::map;
use std::collections::BTreeMap;
use std::fmt;

const RETURN: Instruction = Instruction::Branch {
    kind: Branch::Jmp,
    n: isa::RET,
    target: 0,
};

/// Where and why a program was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssemblyError {
    pub file: String,
    /// From 1 on; 0: the file as a whole.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

impl std::error::Error for AssemblyError {}

/// An assembled program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub words: Vec<u32>,
    /// Every name and its value: labels, constants, variables, predefined ones.
    pub symbols: BTreeMap<String, i64>,
    /// File, line of each word.
    pub lines: Vec<(usize, usize)>,
    pub files: Vec<String>,
    /// Labels by address, for traces.
    pub labels: BTreeMap<usize, String>,
}

impl Program {
    /// Words that each file gave.
    pub fn sizes(&self) -> Vec<(String, usize)> {
        let count = |i| self.lines.iter().filter(|l| l.0 == i).count();
        self.files.iter().enumerate().map(|(i, f)| (f.clone(), count(i))).collect()
    }

    /// `file:line (label+n)` of an address.
    pub fn place(&self, address: usize) -> String {
        let label = self.labels.range(..=address).next_back();
        let label = label.map_or(String::new(), |(at, name)| format!(" ({name}+{})", address - at));
        match self.lines.get(address) {
            Some((file, line)) => format!("{}:{line}{label}", self.files[*file]),
            None => format!("address {address}, beyond the program"),
        }
    }
}

struct Pending {
    at: usize,
    base: Instruction,
    target: String,
    file: usize,
    line: usize,
}

struct Assembler {
    program: Program,
    pending: Vec<Pending>,
    file: usize,
    line: usize,
    scope: String,
    pools: Vec<(usize, usize)>,
}

/// Assembles files (name, text) one behind the other; they share their names.
pub fn assemble(files: &[(&str, &str)]) -> Result<Program, AssemblyError> {
    let mut a = Assembler {
        program: Program {
            files: files.iter().map(|f| f.0.to_string()).collect(),
            ..Program::default()
        },
        pending: vec![],
        file: 0,
        line: 0,
        scope: String::new(),
        pools: map::POOLS.to_vec(),
    };
    for (name, value) in map::symbols() {
        a.program.symbols.insert(name, value as i64);
    }
    // Constants and variables first: files may use each other's.
    for directives in [true, false] {
        for (i, (_, text)) in files.iter().enumerate() {
            (a.file, a.scope) = (i, String::new());
            for (n, line) in text.lines().enumerate() {
                a.line = n + 1;
                let line = line.split(';').next().unwrap_or("").trim();
                a.text(line, directives)?;
            }
        }
    }
    a.resolve()?;
    if a.program.words.len() > isa::PROGRAM_WORDS {
        let sizes: Vec<String> = a.program.sizes().iter().map(|(f, n)| format!("{f} {n}")).collect();
        return Err(AssemblyError {
            file: "program".into(),
            line: 0,
            what: format!(
                "{} instructions, more than {}: {}",
                a.program.words.len(),
                isa::PROGRAM_WORDS,
                sizes.join(", ")
            ),
        });
    }
    Ok(a.program)
}

impl Assembler {
    fn error<T>(&self, what: impl Into<String>) -> Result<T, AssemblyError> {
        Err(AssemblyError {
            file: self.program.files[self.file].clone(),
            line: self.line,
            what: what.into(),
        })
    }

    fn full(&self, name: &str) -> String {
        if name.starts_with('.') {
            format!("{}{name}", self.scope)
        } else {
            name.to_string()
        }
    }

    fn define(&mut self, name: &str, value: i64) -> Result<(), AssemblyError> {
        let good = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let digit = name.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
        if name.is_empty() || !good || digit || ["a", "w", "y"].contains(&name) {
            return self.error(format!("'{name}' can't be a name"));
        }
        if self.program.symbols.insert(name.to_string(), value).is_some() {
            return self.error(format!("'{name}' is defined twice"));
        }
        Ok(())
    }

    fn text(&mut self, line: &str, directives: bool) -> Result<(), AssemblyError> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(name) = line.strip_suffix(':') {
            if !directives {
                let full = self.full(name);
                let at = self.program.words.len();
                self.define(&full, at as i64)?;
                self.program.labels.insert(at, full);
            }
            if !name.starts_with('.') {
                self.scope = name.to_string();
            }
            return Ok(());
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let parts: Vec<&str> = rest.split(',').map(str::trim).filter(|p| !p.is_empty()).collect();
        match word {
            ".equ" | ".var" if !directives => Ok(()),
            ".equ" => match parts[..] {
                [name, value] => {
                    let value = self.value(value)?;
                    self.define(name, value)
                }
                _ => self.error(".equ wants a name and a value"),
            },
            ".var" => {
                let (name, words) = match parts[..] {
                    [name] => (name, 1),
                    [name, words] => (name, self.value(words)? as usize),
                    _ => return self.error(".var wants a name, and perhaps a number of words"),
                };
                let Some(pool) = self.pools.iter_mut().find(|p| p.1 >= words) else {
                    return self.error(format!("no room for {words} more words of variables"));
                };
                let at = pool.0;
                *pool = (pool.0 + words, pool.1 - words);
                self.define(name, at as i64)
            }
            _ if directives => Ok(()),
            ".align" => {
                let to = self.value(rest)?;
                if to < 1 || to & (to - 1) != 0 {
                    return self.error(".align wants a power of two");
                }
                while self.program.words.len() as i64 & (to - 1) != 0 {
                    self.emit(RETURN)?;
                }
                Ok(())
            }
            ".upper" => {
                let lower = 1 << isa::LOWER_LOG;
                if self.program.words.len() > lower {
                    return self.error(format!("{} instructions before it, more than {lower}", self.program.words.len()));
                }
                while self.program.words.len() < lower {
                    self.emit(RETURN)?;
                }
                Ok(())
            }
            _ => self.instruction(word, &parts),
        }
    }

    fn emit(&mut self, instruction: Instruction) -> Result<(), AssemblyError> {
        let Some(word) = instruction.encode() else {
            return self.error("an immediate has 11 bits, moved by whole bytes: use `li`, or a variable");
        };
        self.program.words.push(word);
        self.program.lines.push((self.file, self.line));
        Ok(())
    }

    fn operand(&mut self, op: Op, source: Source, lane: Lane, address: u16) -> Result<(), AssemblyError> {
        self.emit(Instruction::Operand { op, source, lane, address })
    }

    fn instruction(&mut self, word: &str, parts: &[&str]) -> Result<(), AssemblyError> {
        let (name, suffix) = word.split_once('.').map_or((word, None), |(n, s)| (n, Some(s)));
        if let Some(i) = BRANCH_NAMES.iter().position(|n| *n == name) {
            let kind = BRANCHES[i];
            let tested = matches!(kind, Branch::Bbs | Branch::Bbc);
            return match (tested, parts) {
                (true, [n, target]) => {
                    let n = self.value(n)?;
                    if !(0..32).contains(&n) {
                        return self.error(format!("bit {n}: a word has bits 0 to 31"));
                    }
                    self.branch(kind, n as u8, target)
                }
                (false, [target]) => self.branch(kind, 0, target),
                (true, _) => self.error(format!("{name} wants a bit and a label")),
                (false, _) => self.error(format!("{name} wants a label")),
            };
        }
        match (name, parts) {
            ("jtab", [target]) => return self.branch(Branch::Jmp, isa::JTAB, target),
            ("ret", []) => return self.emit(RETURN),
            ("li", [value]) => {
                let Some(value) = value.strip_prefix('#') else {
                    return self.error("li wants an immediate");
                };
                let value = self.value(value)?;
                return self.load(value);
            }
            _ => {}
        }
        let clear = name == "clr";
        let name = if clear { "st" } else { name };
        let Some(i) = OP_NAMES.iter().position(|n| *n == name) else {
            return self.error(format!("no instruction '{word}'"));
        };
        let op = OPS[i];
        let lane = match suffix {
            None => WORD,
            Some(s) => match self.lane(s) {
                Some(lane) => lane,
                None => {
                    return self.error(format!(
                        "no lane '{s}': a size (b 1, h 2, t 3, w 4 bytes) and the first byte (0 to 3), as in h2"
                    ))
                }
            },
        };
        if op == Op::Mv {
            return self.mv(parts);
        }
        let [what] = parts else {
            return self.error(format!("{name} wants one operand"));
        };
        if clear && (what.starts_with(['#', '@', '[']) || *what == "a") {
            return self.error("clr takes a memory word only");
        }
        if let Some(value) = what.strip_prefix('#') {
            if suffix.is_some() || matches!(op, Op::St | Op::Inc) {
                return self.error(format!("{word} takes no immediate"));
            }
            let value = self.value(value)?;
            if !(-(1 << 31)..1 << 32).contains(&value) {
                return self.error(format!("{value} has more than 32 bits"));
            }
            return self.emit(Instruction::Immediate { op, value: value as u32 });
        }
        if let Some(port) = what.strip_prefix('@') {
            let ports = if op == Op::St { OUTPUTS } else { INPUTS };
            let Some((_, number)) = ports.iter().find(|p| p.0 == port) else {
                return self.error(format!("no port '{port}' to {}", if op == Op::St { "write" } else { "read" }));
            };
            if op == Op::Inc || (op == Op::St && suffix.is_some()) {
                return self.error(format!("{word} takes no port"));
            }
            return self.operand(op, Source::Port, lane, (*number).into());
        }
        match *what {
            "a" if matches!(op, Op::St | Op::Inc) => self.error(format!("{word} takes no accumulator")),
            "a" => self.operand(op, Source::Accumulator, lane, 0),
            "[y]" => self.operand(op, Source::Port, lane, isa::AT_Y),
            "[y+]" => self.operand(op, Source::Port, lane, isa::AT_Y | isa::Y_NEXT),
            _ => {
                let at = self.value(what)?;
                if !(0..map::WORDS as i64).contains(&at) {
                    return self.error(format!("{at:#x} is no memory word"));
                }
                let source = if clear { Source::Immediate } else { Source::Memory };
                self.operand(op, source, lane, at as u16)
            }
        }
    }

    fn mv(&mut self, parts: &[&str]) -> Result<(), AssemblyError> {
        let [from, to, rest @ ..] = parts else {
            return self.error("mv wants a port and w, [y+] or none");
        };
        let port = from.strip_prefix('@').and_then(|p| INPUTS.iter().find(|i| i.0 == p));
        let Some((_, port)) = port else {
            return self.error(format!("no port '{from}' to read"));
        };
        let to = match *to {
            "w" => isa::MV_TO_W,
            "[y+]" => isa::MV_TO_Y,
            "none" => 0,
            _ => return self.error(format!("mv goes to w, [y+] or none, not to '{to}'")),
        };
        let repeat = match rest {
            [] => 0,
            ["repeat"] => isa::MV_REPEAT,
            _ => return self.error(format!("not understood: '{}'", rest.join(", "))),
        };
        self.operand(Op::Mv, Source::Port, WORD, u16::from(*port) | to | repeat)
    }

    /// A = any number.
    fn load(&mut self, value: i64) -> Result<(), AssemblyError> {
        if !(-(1 << 31)..1 << 32).contains(&value) {
            return self.error(format!("{value} has more than 32 bits"));
        }
        let value = value as u32;
        let fits = |v: u32| Instruction::Immediate { op: Op::Ld, value: v }.encode().is_some();
        if fits(value) {
            return self.emit(Instruction::Immediate { op: Op::Ld, value });
        }
        if fits(!value) {
            return self.emit(Instruction::Immediate {
                op: Op::Not,
                value: !value,
            });
        }
        let (mut left, mut op) = (value, Op::Ld);
        while left != 0 {
            // The 11 bits that take most of what is left.
            let pieces = (0..4).map(|rot| left & 0x7ffu32.rotate_left(8 * rot));
            let piece = pieces.max_by_key(|p| p.count_ones()).unwrap_or(left);
            self.emit(Instruction::Immediate { op, value: piece })?;
            (left, op) = (left & !piece, Op::Or);
        }
        Ok(())
    }

    fn lane(&self, text: &str) -> Option<Lane> {
        let mut c = text.chars();
        let (first, second) = (c.next()?, c.next()?);
        let size = isa::SIZE_NAMES.iter().position(|s| *s == first)?;
        let rot = second.to_digit(4)?;
        c.next().is_none().then_some(Lane {
            rot: rot as u8,
            size: size as u8,
        })
    }

    fn branch(&mut self, kind: Branch, n: u8, target: &str) -> Result<(), AssemblyError> {
        let base = Instruction::Branch { kind, n, target: 0 };
        self.pending.push(Pending {
            at: self.program.words.len(),
            base,
            target: self.full(target),
            file: self.file,
            line: self.line,
        });
        self.emit(base)
    }

    fn resolve(&mut self) -> Result<(), AssemblyError> {
        for p in std::mem::take(&mut self.pending) {
            (self.file, self.line) = (p.file, p.line);
            let Some(at) = self.program.symbols.get(&p.target).copied() else {
                return self.error(format!("no label '{}'", p.target));
            };
            let Instruction::Branch { kind, n, .. } = p.base else {
                unreachable!("only branches are pending")
            };
            if kind == Branch::Jmp && n == isa::JTAB && at & ((1 << isa::TABLE_LOG) - 1) != 0 {
                return self.error(format!("'{}' is a table: `.align {}` before it", p.target, 1 << isa::TABLE_LOG));
            }
            if kind.is_near() && at as usize >> isa::LOWER_LOG != p.at >> isa::LOWER_LOG {
                return self.error(format!(
                    "'{}' is in the other half of the program: {kind:?} can't go there",
                    p.target
                ));
            }
            let target = at as u16 & ((1 << isa::PROGRAM_LOG) - 1);
            self.program.words[p.at] = Instruction::Branch { kind, n, target }.encode().expect("a branch");
        }
        Ok(())
    }

    /// Left to right, no precedence.
    fn value(&self, text: &str) -> Result<i64, AssemblyError> {
        let text: String = text.split_whitespace().collect();
        let mut rest = text.as_str();
        let value = self.sum(&mut rest)?;
        if !rest.is_empty() {
            return self.error(format!("not understood: '{rest}'"));
        }
        Ok(value)
    }

    fn sum(&self, rest: &mut &str) -> Result<i64, AssemblyError> {
        let mut value = self.term(rest)?;
        loop {
            let Some(op) = ["+", "-", "*", "<<", "|"].into_iter().find(|op| rest.starts_with(op)) else {
                return Ok(value);
            };
            *rest = &rest[op.len()..];
            let right = self.term(rest)?;
            value = match op {
                "+" => value.wrapping_add(right),
                "-" => value.wrapping_sub(right),
                "*" => value.wrapping_mul(right),
                "|" => value | right,
                _ if (0..32).contains(&right) => value << right,
                _ => return self.error(format!("<< {right}: 0 to 31")),
            };
        }
    }

    fn term(&self, rest: &mut &str) -> Result<i64, AssemblyError> {
        if let Some(inner) = rest.strip_prefix('(') {
            *rest = inner;
            let value = self.sum(rest)?;
            let Some(after) = rest.strip_prefix(')') else {
                return self.error("a ')' is missing");
            };
            *rest = after;
            return Ok(value);
        }
        if let Some(after) = rest.strip_prefix('-') {
            *rest = after;
            return Ok(-self.term(rest)?);
        }
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        *rest = after;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = match (word.strip_prefix("0x"), word.strip_prefix("0b")) {
                (Some(hex), _) => i64::from_str_radix(hex, 16),
                (_, Some(binary)) => i64::from_str_radix(binary, 2),
                _ => word.parse(),
            };
            return number.or_else(|_| self.error(format!("bad number '{word}'")));
        }
        match self.program.symbols.get(&self.full(word)) {
            Some(value) => Ok(*value),
            None => self.error(format!("no name '{word}'")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Vec<Instruction>, String> {
        match assemble(&[("t.asm", text)]) {
            Ok(p) => Ok(p.words.iter().map(|w| Instruction::decode(*w)).collect()),
            Err(e) => Err(e.to_string()),
        }
    }

    #[test]
    fn forms() {
        let operand = |op, source, lane, address| Instruction::Operand { op, source, lane, address };
        let text = "start:\n ld.h2 qp.w1 ; P_Key\n.again: add #-1\n";
        assert!(one(text).is_err(), "a label stands alone");
        let text = "start:\n ld.h2 qp.w1 ; P_Key\n.again:\n add #0x7f000000\n st @address\n st [y+]\n mv @rx, w, repeat\n bbs 3, .again\n jtab start\n ret";
        let got = one(text).unwrap();
        let want = [
            operand(Op::Ld, Source::Memory, Lane { rot: 2, size: 1 }, 0x1c1),
            Instruction::Immediate {
                op: Op::Add,
                value: 0x7f00_0000,
            },
            operand(Op::St, Source::Port, WORD, isa::output::ADDRESS.into()),
            operand(Op::St, Source::Port, WORD, isa::AT_Y | isa::Y_NEXT),
            operand(
                Op::Mv,
                Source::Port,
                WORD,
                u16::from(isa::input::RX) | isa::MV_TO_W | isa::MV_REPEAT,
            ),
            Instruction::Branch {
                kind: Branch::Bbs,
                n: 3,
                target: 1,
            },
            Instruction::Branch {
                kind: Branch::Jmp,
                n: 1,
                target: 0,
            },
            RETURN,
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn li_gives_any_number() {
        for value in [
            0u32,
            1,
            0x7ff,
            0x800,
            0xffff_ffff,
            0x00ff_ffff,
            0x1234_5678,
            0x5642_4e41,
            0xff00_0007,
        ] {
            let got = one(&format!("li #{value}")).unwrap();
            assert!(got.len() <= 4, "{value:x}: {}", got.len());
            let mut a = 0;
            for i in got {
                match i {
                    Instruction::Immediate { op: Op::Ld, value } => a = value,
                    Instruction::Immediate { op: Op::Or, value } => a |= value,
                    Instruction::Immediate { op: Op::Not, value } => a = !value,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(a, value);
        }
    }

    #[test]
    fn errors_say_where() {
        for (text, want) in [
            ("ld nothing", "t.asm:1: no name 'nothing'"),
            ("\nld #0x12345", "t.asm:2: an immediate has 11 bits"),
            ("bz", "bz wants a label"),
            ("bz .x", "no label '.x'"),
            ("bbs 32, x", "bit 32"),
            ("foo 1", "no instruction 'foo'"),
            ("ld.q0 3", "no lane 'q0'"),
            ("ld @nowhere", "no port 'nowhere' to read"),
            ("st @status", "no port 'status' to write"),
            ("st #4", "takes no immediate"),
            ("clr [y]", "clr takes a memory word only"),
            ("x:\nx:", "'x' is defined twice"),
            (".equ y, 1", "'y' can't be a name"),
            (".var big, 100", "no room"),
            ("ld 512", "no memory word"),
            ("ret\nt:\njtab t", "'t' is a table"),
            ("mv @rx, z", "not to 'z'"),
            ("ld 1)", "not understood"),
        ] {
            let got = one(text).unwrap_err();
            assert!(got.contains(want), "{text:?}: {got}");
        }
    }
}
