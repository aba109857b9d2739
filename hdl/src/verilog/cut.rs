// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cutting and joining expressions: slices pushed to the leaves, casts, concatenations, single bits.

use super::expr::{bx, index_width, Expr, Kind, Op};
use num_bigint::BigUint;

impl Expr {
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
}

fn cut(base: Expr, lo: usize, width: usize) -> Expr {
    Expr {
        width,
        kind: Kind::Slice(bx(base), lo),
    }
}
