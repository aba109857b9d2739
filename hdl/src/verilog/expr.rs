// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions that know their width. Each constructor keeps one rule: the operands of an operator are exactly as wide as
//! Rust has them, so Verilog's own width rules can't change a result. A cast up is a concatenation (which cuts its
//! operand), a cast down is pushed to the leaves, and what can't be pushed becomes a wire when printed.

use num_bigint::BigUint;

/// Index into the module's table of signals.
pub type Sig = usize;

/// Operators whose operands and result have one width.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
}

/// Comparisons: equal widths in, one bit out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Reductions: one bit out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reduce {
    All,
    Any,
    Xor,
}

/// An expression of exactly `width` bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub width: usize,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value, and the localparam that carries it.
    Const(BigUint, Option<String>),
    Signal(Sig),
    /// Bits `lo..lo + width`.
    Slice(Box<Expr>, usize),
    Not(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Shl(Box<Expr>, Box<Expr>),
    Shr(Box<Expr>, Box<Expr>),
    Compare(Cmp, Box<Expr>, Box<Expr>),
    Reduce(Reduce, Box<Expr>),
    LogicAnd(Box<Expr>, Box<Expr>),
    LogicOr(Box<Expr>, Box<Expr>),
    /// Most significant part first.
    Concat(Vec<Expr>),
    /// One bit at a signal's value; the index has exactly the width that reaches every bit.
    Bit(Box<Expr>, Box<Expr>),
    /// `width` bits from a signal's value on, always in range; the index as for `Bit`.
    Part(Box<Expr>, Box<Expr>),
}

/// Bits needed to count to `n - 1`.
pub fn index_width(n: usize) -> usize {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as usize
}

fn mask(width: usize) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

fn bx(e: Expr) -> Box<Expr> {
    Box::new(e)
}

impl Expr {
    pub fn constant(value: BigUint, width: usize) -> Expr {
        Expr {
            width,
            kind: Kind::Const(value & mask(width), None),
        }
    }

    pub fn bit(value: bool) -> Expr {
        Expr::constant(u8::from(value).into(), 1)
    }

    pub fn named(value: BigUint, width: usize, name: String) -> Expr {
        Expr {
            width,
            kind: Kind::Const(value, Some(name)),
        }
    }

    pub fn signal(sig: Sig, width: usize) -> Expr {
        Expr {
            width,
            kind: Kind::Signal(sig),
        }
    }

    pub fn value(&self) -> Option<&BigUint> {
        match &self.kind {
            Kind::Const(v, _) => Some(v),
            _ => None,
        }
    }

    /// The value as an index, if it is a constant.
    pub fn index(&self) -> Option<usize> {
        self.value().map(|v| usize::try_from(v).unwrap_or(usize::MAX))
    }

    pub fn not(self) -> Expr {
        let width = self.width;
        match self.kind {
            Kind::Const(v, _) => Expr::constant(mask(width) - v, width),
            kind => Expr {
                width,
                kind: Kind::Not(bx(Expr { width, kind })),
            },
        }
    }

    pub fn binary(op: Op, a: Expr, b: Expr) -> Expr {
        let width = a.width;
        debug_assert_eq!(width, b.width);
        if let (Some(x), Some(y)) = (a.value(), b.value()) {
            let value = match op {
                Op::Add => x + y,
                Op::Sub => (BigUint::from(1u8) << width) + x - y,
                Op::Mul => x * y,
                Op::And => x & y,
                Op::Or => x | y,
                Op::Xor => x ^ y,
            };
            return Expr::constant(value, width);
        }
        Expr {
            width,
            kind: Kind::Binary(op, bx(a), bx(b)),
        }
    }

    pub fn shl(self, by: Expr) -> Expr {
        let width = self.width;
        match by.index() {
            Some(0) => self,
            Some(k) if k >= width => Expr::constant(BigUint::default(), width),
            Some(k) if self.value().is_some() => Expr::constant(self.value().map(|v| v << k).unwrap_or_default(), width),
            _ => Expr {
                width,
                kind: Kind::Shl(bx(self), bx(by)),
            },
        }
    }

    pub fn shr(self, by: Expr) -> Expr {
        let width = self.width;
        match by.index() {
            Some(0) => self,
            Some(k) if k >= width => Expr::constant(BigUint::default(), width),
            Some(k) if self.value().is_some() => Expr::constant(self.value().map(|v| v >> k).unwrap_or_default(), width),
            _ => Expr {
                width,
                kind: Kind::Shr(bx(self), bx(by)),
            },
        }
    }

    pub fn compare(op: Cmp, a: Expr, b: Expr) -> Expr {
        if let (Some(x), Some(y)) = (a.value(), b.value()) {
            return Expr::bit(match op {
                Cmp::Eq => x == y,
                Cmp::Ne => x != y,
                Cmp::Lt => x < y,
                Cmp::Le => x <= y,
                Cmp::Gt => x > y,
                Cmp::Ge => x >= y,
            });
        }
        // What unsigned numbers decide by themselves; linters warn of it.
        let (zero, top) = (BigUint::default(), mask(a.width));
        match (op, a.value(), b.value()) {
            (Cmp::Lt, _, Some(v)) if *v == zero => return Expr::bit(false),
            (Cmp::Ge, _, Some(v)) if *v == zero => return Expr::bit(true),
            (Cmp::Gt, _, Some(v)) if *v == top => return Expr::bit(false),
            (Cmp::Le, _, Some(v)) if *v == top => return Expr::bit(true),
            (Cmp::Gt, Some(v), _) if *v == zero => return Expr::bit(false),
            (Cmp::Le, Some(v), _) if *v == zero => return Expr::bit(true),
            (Cmp::Lt, Some(v), _) if *v == top => return Expr::bit(false),
            (Cmp::Ge, Some(v), _) if *v == top => return Expr::bit(true),
            _ => {}
        }
        Expr {
            width: 1,
            kind: Kind::Compare(op, bx(a), bx(b)),
        }
    }

    pub fn reduce(op: Reduce, a: Expr) -> Expr {
        if a.width == 1 {
            return a;
        }
        if let Some(v) = a.value() {
            return Expr::bit(match op {
                Reduce::All => *v == mask(a.width),
                Reduce::Any => *v != BigUint::default(),
                Reduce::Xor => v.count_ones() % 2 == 1,
            });
        }
        Expr {
            width: 1,
            kind: Kind::Reduce(op, bx(a)),
        }
    }

    pub fn logic(and: bool, a: Expr, b: Expr) -> Expr {
        let zero = BigUint::default();
        for (x, y) in [(&a, &b), (&b, &a)] {
            if let Some(v) = x.value() {
                // true && y = y, false && y = false, and the other way round for ||.
                return if (*v != zero) == and { y.clone() } else { Expr::bit(!and) };
            }
        }
        let kind = if and {
            Kind::LogicAnd(bx(a), bx(b))
        } else {
            Kind::LogicOr(bx(a), bx(b))
        };
        Expr { width: 1, kind }
    }

    /// Parts, most significant first; neighbouring constants become one.
    pub fn concat(parts: Vec<Expr>) -> Expr {
        let width = parts.iter().map(|p| p.width).sum();
        let mut out: Vec<Expr> = Vec::new();
        for part in parts {
            let inner = match part.kind {
                Kind::Concat(inner) => inner,
                kind => vec![Expr { width: part.width, kind }],
            };
            for p in inner {
                match (out.last().and_then(|l| l.value().cloned()), p.value().cloned()) {
                    (Some(hi), Some(lo)) => {
                        let hi_width = out.pop().map_or(0, |l| l.width);
                        out.push(Expr::constant((hi << p.width) | lo, hi_width + p.width));
                    }
                    _ => out.push(p),
                }
            }
        }
        match (out.len(), out.pop()) {
            (1, Some(only)) => only,
            (_, Some(last)) => {
                out.push(last);
                Expr {
                    width,
                    kind: Kind::Concat(out),
                }
            }
            (_, None) => Expr {
                width: 0,
                kind: Kind::Concat(vec![]),
            },
        }
    }

    /// Exactly `width` bits: cut, or zeros above.
    pub fn resize(self, width: usize) -> Expr {
        if width <= self.width {
            self.slice(0, width)
        } else {
            let pad = Expr::constant(BigUint::default(), width - self.width);
            Expr::concat(vec![pad, self])
        }
    }

    /// Bits `lo..lo + width`, pushed to the leaves as far as it goes. In range by the caller's check.
    pub fn slice(self, lo: usize, width: usize) -> Expr {
        if lo == 0 && width == self.width {
            return self;
        }
        let full = self.width;
        match self.kind {
            Kind::Const(v, _) => Expr::constant(v >> lo, width),
            Kind::Slice(base, at) => base.slice(lo + at, width),
            Kind::Not(a) => a.slice(lo, width).not(),
            Kind::Binary(op @ (Op::And | Op::Or | Op::Xor), a, b) => Expr::binary(op, a.slice(lo, width), b.slice(lo, width)),
            Kind::Binary(op, a, b) if lo == 0 => Expr::binary(op, a.slice(0, width), b.slice(0, width)),
            Kind::Concat(parts) => {
                let mut picked = Vec::new();
                let mut top = full;
                for part in parts {
                    let (hi, base) = (top.min(lo + width), top - part.width);
                    top = base;
                    let from = base.max(lo);
                    if from < hi {
                        picked.push(part.slice(from - base, hi - from));
                    }
                }
                Expr::concat(picked)
            }
            Kind::Shl(a, by) => match by.index() {
                Some(k) if lo >= k => a.slice(lo - k, width),
                Some(k) if lo + width <= k => Expr::constant(BigUint::default(), width),
                Some(k) => {
                    let zeros = Expr::constant(BigUint::default(), k - lo);
                    Expr::concat(vec![a.slice(0, lo + width - k), zeros])
                }
                None if lo == 0 => a.slice(0, width).shl(*by),
                None => cut(
                    Expr {
                        width: full,
                        kind: Kind::Shl(a, by),
                    },
                    lo,
                    width,
                ),
            },
            Kind::Shr(a, by) => match by.index() {
                Some(k) if lo + k >= full => Expr::constant(BigUint::default(), width),
                Some(k) if lo + k + width <= full => a.slice(lo + k, width),
                Some(k) => a.slice(lo + k, full - lo - k).resize(width),
                None => cut(
                    Expr {
                        width: full,
                        kind: Kind::Shr(a, by),
                    },
                    lo,
                    width,
                ),
            },
            kind => cut(Expr { width: full, kind }, lo, width),
        }
    }

    /// The bit at a position known only at run time.
    pub fn bit_at(self, at: Expr) -> Expr {
        if self.width == 1 {
            return self;
        }
        let at = at.resize(index_width(self.width));
        match at.index() {
            Some(k) => {
                let last = self.width - 1;
                self.slice(k.min(last), 1)
            }
            None => Expr {
                width: 1,
                kind: Kind::Bit(bx(self), bx(at)),
            },
        }
    }

    /// `width` bits from a position known only at run time; zeros come in from above.
    pub fn part_at(self, at: Expr, width: usize) -> Expr {
        let reach = if at.width < 32 {
            (1usize << at.width) - 1 + width
        } else {
            usize::MAX
        };
        if reach <= self.width {
            let at = at.resize(index_width(self.width));
            return Expr {
                width,
                kind: Kind::Part(bx(self), bx(at)),
            };
        }
        self.shr(at).resize(width)
    }

    /// The same value with one bit replaced.
    pub fn replace_bit(self, at: Expr, bit: Expr) -> Expr {
        let width = self.width;
        if width == 1 {
            return bit;
        }
        if let (Some(k), Kind::Signal(_)) = (at.index(), &self.kind) {
            let mut parts = vec![];
            if k + 1 < width {
                parts.push(self.clone().slice(k + 1, width - k - 1));
            }
            parts.push(bit);
            if k > 0 {
                parts.push(self.slice(0, k));
            }
            return Expr::concat(parts);
        }
        let one = Expr::constant(1u8.into(), width).shl(at.clone());
        let rest = Expr::binary(Op::And, self, one.not());
        Expr::binary(Op::Or, rest, bit.resize(width).shl(at))
    }

    /// Calls `f` with every signal read and the bits read of it.
    pub fn reads(&self, f: &mut dyn FnMut(Sig, usize, usize)) {
        match &self.kind {
            Kind::Const(..) => {}
            Kind::Signal(s) => f(*s, 0, self.width),
            Kind::Slice(base, lo) => match base.kind {
                Kind::Signal(s) => f(s, *lo, self.width),
                _ => base.reads(f),
            },
            Kind::Not(a) | Kind::Reduce(_, a) => a.reads(f),
            Kind::Binary(_, a, b)
            | Kind::Shl(a, b)
            | Kind::Shr(a, b)
            | Kind::Compare(_, a, b)
            | Kind::LogicAnd(a, b)
            | Kind::LogicOr(a, b)
            | Kind::Bit(a, b)
            | Kind::Part(a, b) => {
                a.reads(f);
                b.reads(f);
            }
            Kind::Concat(parts) => parts.iter().for_each(|p| p.reads(f)),
        }
    }

    /// Calls `f` with the name of every localparam used.
    pub fn names(&self, f: &mut dyn FnMut(&str)) {
        match &self.kind {
            Kind::Const(_, Some(name)) => f(name),
            Kind::Const(..) | Kind::Signal(_) => {}
            Kind::Slice(a, _) | Kind::Not(a) | Kind::Reduce(_, a) => a.names(f),
            Kind::Binary(_, a, b)
            | Kind::Shl(a, b)
            | Kind::Shr(a, b)
            | Kind::Compare(_, a, b)
            | Kind::LogicAnd(a, b)
            | Kind::LogicOr(a, b)
            | Kind::Bit(a, b)
            | Kind::Part(a, b) => {
                a.names(f);
                b.names(f);
            }
            Kind::Concat(parts) => parts.iter().for_each(|p| p.names(f)),
        }
    }
}

fn cut(base: Expr, lo: usize, width: usize) -> Expr {
    Expr {
        width,
        kind: Kind::Slice(bx(base), lo),
    }
}
