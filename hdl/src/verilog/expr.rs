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

pub(super) fn bx(e: Expr) -> Box<Expr> {
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
