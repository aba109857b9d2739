// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random expressions: `bits(width)` is a `Bits<width>`, `bit()` a `Bit`.

use super::{Kernel, WIDTHS};

impl Kernel {
    /// A literal that fits, in one of Rust's forms.
    pub fn literal(&mut self, width: usize) -> String {
        let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        let value = match self.random.below(4) {
            0 => 1 & mask,
            1 => mask,
            2 => self.random.next() & mask & 0xff,
            _ => self.random.next() & mask,
        };
        match self.random.below(3) {
            _ if value >= 1 << 31 => format!("0x{value:x}_u64"),
            0 => format!("{value}"),
            1 => format!("0x{value:X}"),
            _ => format!("0b{value:b}"),
        }
    }

    fn leaf(&mut self, width: usize) -> String {
        for _ in 0..4 {
            match self.random.below(8) {
                0 | 1 => {
                    let same: Vec<String> = self.values.iter().filter(|v| v.width == width).map(|v| v.read.clone()).collect();
                    if !same.is_empty() {
                        return self.random.pick(&same).clone();
                    }
                }
                2 => return format!("bits::<{width}>({})", self.literal(width)),
                3 => {
                    let name = format!("c{}", self.constants.len());
                    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
                    let value = self.random.next() & mask;
                    self.constants.push((name.clone(), width, value));
                    return format!("self.{name}.val()");
                }
                4 | 5 => {
                    let wider: Vec<(String, usize)> = self
                        .values
                        .iter()
                        .filter(|v| v.width > width)
                        .map(|v| (v.read.clone(), v.width))
                        .collect();
                    if !wider.is_empty() {
                        let (read, full) = self.random.pick(&wider).clone();
                        let lo = self.random.below(full - width + 1);
                        return format!("{read}.get_bits::<{width}>({lo})");
                    }
                }
                _ => return self.cast(width, 0),
            }
        }
        format!("bits::<{width}>({})", self.literal(width))
    }

    /// A cast up or down from a value or an expression.
    fn cast(&mut self, width: usize, depth: usize) -> String {
        if self.random.chance(15) {
            let bit = self.bit(depth);
            return format!("bit_cast::<{width}, 1>({bit}.into())");
        }
        let other: Vec<(String, usize)> = self
            .values
            .iter()
            .filter(|v| v.width > 0)
            .map(|v| (v.read.clone(), v.width))
            .collect();
        let (read, from) = self.random.pick(&other).clone();
        if depth == 0 {
            return format!("bit_cast::<{width}, {from}>({read})");
        }
        let from = *self.random.pick(WIDTHS);
        let inner = self.bits(from, depth - 1);
        format!("bit_cast::<{width}, {from}>({inner})")
    }

    /// An expression of type `Bits<width>`.
    pub fn bits(&mut self, width: usize, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(width);
        }
        let d = depth - 1;
        match self.random.below(20) {
            0..=6 => {
                let op = *self.random.pick(&["+", "-", "&", "|", "^"]);
                let (a, b) = (self.bits(width, d), self.bits(width, d));
                // Without parentheses now and then: precedence is the tree's business.
                if self.random.chance(25) {
                    let (op2, c) = (*self.random.pick(&["+", "-", "&", "|", "^"]), self.bits(width, 0));
                    return format!("({a} {op} {b} {op2} {c})");
                }
                format!("({a} {op} {b})")
            }
            7 | 8 => {
                let op = *self.random.pick(&["+", "-", "&", "|", "^"]);
                let (a, lit) = (self.bits(width, d), self.literal(width));
                if self.random.chance(30) {
                    format!("({lit} {op} {a})")
                } else {
                    format!("({a} {op} {lit})")
                }
            }
            9 => format!("(!{})", self.bits(width, d)),
            10 => {
                let op = *self.random.pick(&["<<", ">>"]);
                let by = self.random.below(width + 2);
                format!("({} {op} {by})", self.bits(width, d))
            }
            11 => {
                let op = *self.random.pick(&["<<", ">>"]);
                let by = *self.random.pick(&["self.a3.val()", "self.a4.val()", "(self.a3.val() + 1)"]);
                format!("({} {op} {by})", self.bits(width, d))
            }
            12 => format!("({} + {})", self.bits(width, d), self.bit(d)),
            13 if width == 32 => format!("({} * {})", self.bits(16, d), self.bits(16, d)),
            14 => {
                let at = self.random.below(width);
                format!("{}.replace_bit({at}, {})", self.bits(width, d), self.bit(d))
            }
            15 if width >= 16 => {
                let at = *self.random.pick(&["self.a3.val()", "self.a4.val()"]);
                format!("{}.replace_bit({at}.index(), {})", self.bits(width, d), self.bit(d))
            }
            16 => {
                let full = *self.random.pick(&[16, 24, 33, 64, 70]);
                let at = *self.random.pick(&["self.a3.val()", "self.a4.val()"]);
                format!("{}.get_bits::<{width}>({at}.index())", self.bits(full, d))
            }
            17 => {
                let full = *self.random.pick(&[16, 24, 33, 64, 70]);
                if full < width {
                    return self.cast(width, d);
                }
                let lo = self.random.below(full - width + 1);
                format!("{}.get_bits::<{width}>({lo})", self.bits(full, d))
            }
            18 if width == 64 => format!("({} << {})", self.random.below(9), "self.a4.val()"),
            _ => self.cast(width, depth),
        }
    }

    /// An expression of type `Bit`.
    pub fn bit(&mut self, depth: usize) -> String {
        let flags: Vec<String> = self.values.iter().filter(|v| v.width == 0).map(|v| v.read.clone()).collect();
        if depth == 0 {
            return match self.random.below(4) {
                0 => {
                    let wide: Vec<(String, usize)> = self
                        .values
                        .iter()
                        .filter(|v| v.width > 0)
                        .map(|v| (v.read.clone(), v.width))
                        .collect();
                    let (read, width) = self.random.pick(&wide).clone();
                    format!("{read}.get_bit({})", self.random.below(width))
                }
                _ => self.random.pick(&flags).clone(),
            };
        }
        let d = depth - 1;
        let width = *self.random.pick(WIDTHS);
        match self.random.below(11) {
            0..=2 => {
                let op = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.bits(width, d), self.bits(width, d))
            }
            3 if width > 1 => {
                let op = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.bits(width, d), self.literal(width))
            }
            4 => self.bits_of(&["&&", "||"], d),
            5 => self.bits_of(&["&", "|", "^"], d),
            6 => format!("(!{})", self.bit(d)),
            7 => format!("{}.{}()", self.bits(width, d), self.random.pick(&["any", "all", "xor"])),
            8 => {
                let at = self.random.below(width);
                format!("{}.get_bit({at})", self.bits(width, d))
            }
            9 => format!("{}.get_bit(self.a3.val().index())", self.wide(d)),
            _ => format!("({} == {})", self.bit(d), self.bit(d)),
        }
    }

    fn bits_of(&mut self, ops: &[&str], depth: usize) -> String {
        let op = *self.random.pick(ops);
        format!("({} {op} {})", self.bit(depth), self.bit(depth))
    }

    /// At least 8 bits, so that `a3` reaches no further.
    fn wide(&mut self, depth: usize) -> String {
        let width = *self.random.pick(&[8, 13, 64, 70]);
        self.bits(width, depth)
    }
}
