// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions of the syntax tree → expressions with widths, by the rules of `Bits<N>`.
//!
//! A literal has no width of its own: it takes that of the other operand, or of the target. Loop variables are literals.

use super::error::{PrintError, Reason, Result};
use super::expr::{Cmp, Expr, Op, Reduce};
use super::names::{evaluate_brackets, Loops};
use super::scope::{literal, Scope};
use super::tree::Node;
use num_bigint::BigUint;
use rust_hdl::core::ast::{VerilogExpression as Ast, VerilogOp, VerilogOpUnary};

/// A lowered expression: with a width, or a bare number.
#[derive(Clone, Debug)]
pub enum Lowered {
    Sized(Expr),
    Number(u64),
}
use Lowered::{Number, Sized};

/// Lowers the expressions of one kernel.
pub struct Lower<'a> {
    pub node: &'a Node,
    pub scope: &'a Scope,
    pub loops: Loops,
}

impl Lower<'_> {
    pub fn fail<T>(&self, signal: Option<&str>, reason: Reason) -> Result<T> {
        Err(self.node.error(signal, reason))
    }

    /// A signal's or constant's name, brackets evaluated.
    pub fn resolve_name(&self, name: &str) -> Result<String> {
        let name = name.trim_start_matches(['.', '$']);
        let name = name.strip_suffix("$next").unwrap_or(name).replace('.', "$");
        let short = |e: String| {
            if e.contains("val()") {
                format!("[{e}]: an index from a signal")
            } else {
                e
            }
        };
        evaluate_brackets(&name, &self.loops).map_err(|e| self.node.error(None, Reason::Undeclared(short(e))))
    }

    /// Lowers to exactly `width` bits.
    pub fn sized(&self, ast: &Ast, width: usize, target: &str) -> Result<Expr> {
        match self.any(ast)? {
            Sized(e) if e.width == width => Ok(e),
            Sized(e) => self.fail(
                Some(target),
                Reason::Width {
                    left: width,
                    right: e.width,
                    op: "=",
                },
            ),
            Number(n) => self.number(n, width).map_err(|e| PrintError {
                signal: Some(target.into()),
                ..e
            }),
        }
    }

    /// A number as wide as its other operand: Rust panics where it doesn't fit.
    fn number(&self, n: u64, width: usize) -> Result<Expr> {
        let value = BigUint::from(n);
        if value.bits() > width as u64 {
            return self.fail(
                None,
                Reason::Literal {
                    value: n.to_string(),
                    width,
                },
            );
        }
        Ok(Expr::constant(value, width))
    }

    pub fn any(&self, ast: &Ast) -> Result<Lowered> {
        Ok(match ast {
            Ast::Signal(name) => self.name(name)?,
            Ast::Literal(l) => match literal(l) {
                (v, 1) => Sized(Expr::constant(v, 1)),
                (v, width) => match u64::try_from(&v) {
                    Ok(n) => Number(n),
                    Err(_) => {
                        return self.fail(
                            None,
                            Reason::Literal {
                                value: v.to_string(),
                                width: width.min(64),
                            },
                        )
                    }
                },
            },
            Ast::Paren(inner) => self.any(inner)?,
            Ast::Cast(inner, width) => match self.any(inner)? {
                Sized(e) => Sized(e.resize(*width)),
                Number(n) => Sized(self.number(n, *width)?),
            },
            Ast::Signed(_) | Ast::Unsigned(_) => return self.fail(None, Reason::Signed),
            Ast::Unary(op, inner) => self.unary(op, inner)?,
            Ast::Binary(a, op, b) => self.binary(a, op, b)?,
            Ast::Index(base, at) => {
                let base = self.expr(base)?;
                let at = self.index(at)?;
                if let Some(k) = at.index() {
                    self.in_range(k, 1, base.width)?;
                    return Ok(Sized(base.slice(k, 1)));
                }
                Sized(base.bit_at(at))
            }
            Ast::Slice(base, width, at) => {
                let base = self.expr(base)?;
                let at = self.index(at)?;
                if let Some(k) = at.index() {
                    self.in_range(k, *width, base.width)?;
                    return Ok(Sized(base.slice(k, *width)));
                }
                Sized(base.part_at(at, *width))
            }
            Ast::IndexReplace(base, at, bit) => {
                let base = self.expr(base)?;
                let at = self.index(at)?;
                if let Some(k) = at.index() {
                    self.in_range(k, 1, base.width)?;
                }
                Sized(base.replace_bit(at, self.sized(bit, 1, "replace_bit")?))
            }
        })
    }

    /// An expression that must have a width of its own.
    pub fn expr(&self, ast: &Ast) -> Result<Expr> {
        match self.any(ast)? {
            Sized(e) => Ok(e),
            Number(n) => self.fail(None, Reason::Unsupported(format!("the literal {n} stands where a width is needed"))),
        }
    }

    /// A condition: one bit.
    pub fn condition(&self, ast: &Ast) -> Result<Expr> {
        self.sized(ast, 1, "if")
    }

    fn in_range(&self, lo: usize, width: usize, full: usize) -> Result<()> {
        match lo.checked_add(width) {
            Some(hi) if hi <= full => Ok(()),
            _ => self.fail(
                None,
                Reason::OutOfRange {
                    lo,
                    hi: lo.saturating_add(width),
                    width: full,
                },
            ),
        }
    }

    fn name(&self, name: &str) -> Result<Lowered> {
        if let Some(n) = self.loops.get(name) {
            return Ok(Number(*n));
        }
        let name = self.resolve_name(name)?;
        if let Some(sig) = self.scope.by_name.get(&name) {
            return Ok(Sized(Expr::signal(*sig, self.scope.signals[*sig].width)));
        }
        if let Some(p) = self.scope.params.get(&name) {
            return Ok(Sized(Expr::named(p.value.clone(), p.width, p.name.clone())));
        }
        self.fail(None, Reason::Undeclared(name.replace('$', ".")))
    }

    /// A bit position. Its arithmetic would be on `usize` or on `Bits<N>`: the tree can't tell, so it is refused, but for
    /// parenthesised arithmetic, which is `(a + b).index()`.
    fn index(&self, ast: &Ast) -> Result<Expr> {
        let result = match self.any(ast)? {
            Number(n) => return Ok(Expr::constant(n.into(), 64)),
            Sized(e) => e,
        };
        if let Ast::Binary(_, op, _) = ast {
            if !matches!(op, VerilogOp::Shr | VerilogOp::BitAnd | VerilogOp::BitOr | VerilogOp::BitXor) {
                return self.fail(None, Reason::IndexArithmetic);
            }
        }
        Ok(result)
    }

    fn unary(&self, op: &VerilogOpUnary, inner: &Ast) -> Result<Lowered> {
        let e = self.expr(inner)?;
        Ok(Sized(match op {
            VerilogOpUnary::Not => e.not(),
            VerilogOpUnary::All => Expr::reduce(Reduce::All, e),
            VerilogOpUnary::Any => Expr::reduce(Reduce::Any, e),
            VerilogOpUnary::Xor => Expr::reduce(Reduce::Xor, e),
            VerilogOpUnary::Neg => return self.fail(None, Reason::Signed),
        }))
    }

    fn binary(&self, left: &Ast, op: &VerilogOp, right: &Ast) -> Result<Lowered> {
        use VerilogOp as V;
        let (a, b) = (self.any(left)?, self.any(right)?);
        let arithmetic = |o: Op| self.arithmetic(a.clone(), o, b.clone());
        let compare = |o: Cmp| self.compare(a.clone(), o, b.clone());
        match op {
            V::Add => arithmetic(Op::Add),
            V::Sub => arithmetic(Op::Sub),
            V::BitAnd => arithmetic(Op::And),
            V::BitOr => arithmetic(Op::Or),
            V::BitXor => arithmetic(Op::Xor),
            V::Eq => compare(Cmp::Eq),
            V::Ne => compare(Cmp::Ne),
            V::Lt => compare(Cmp::Lt),
            V::Le => compare(Cmp::Le),
            V::Gt => compare(Cmp::Gt),
            V::Ge => compare(Cmp::Ge),
            V::Mul => match (a, b) {
                // Rust-hdl multiplies 16 × 16 → 32 only.
                (Sized(a), Sized(b)) if a.width == 16 && b.width == 16 => Ok(Sized(Expr::binary(Op::Mul, a.resize(32), b.resize(32)))),
                (Number(a), Number(b)) => self.fold(a.checked_mul(b)),
                (Sized(a), Sized(b)) => self.fail(
                    None,
                    Reason::Width {
                        left: a.width,
                        right: b.width,
                        op: "*",
                    },
                ),
                _ => self.fail(None, Reason::IndexArithmetic),
            },
            V::LogicalAnd | V::LogicalOr => {
                let (a, b) = (self.condition(left)?, self.condition(right)?);
                Ok(Sized(Expr::logic(matches!(op, V::LogicalAnd), a, b)))
            }
            V::Shl | V::Shr => {
                let shl = matches!(op, V::Shl);
                match (a, b) {
                    (Number(a), Number(b)) => {
                        let by = u32::try_from(b).ok().filter(|b| *b < 64);
                        self.fold(by.and_then(|b| if shl { a.checked_mul(1 << b) } else { Some(a >> b) }))
                    }
                    (a, b) => {
                        // A literal on the left is u64 in Rust, and the result is Bits<64>.
                        let a = match a {
                            Sized(a) => a,
                            Number(n) => Expr::constant(n.into(), 64),
                        };
                        let b = match b {
                            Sized(b) => b,
                            Number(n) => Expr::constant(n.into(), 64),
                        };
                        Ok(Sized(if shl { a.shl(b) } else { a.shr(b) }))
                    }
                }
            }
        }
    }

    fn fold(&self, value: Option<u64>) -> Result<Lowered> {
        match value {
            Some(n) => Ok(Number(n)),
            None => self.fail(None, Reason::Unsupported("constant arithmetic overflows u64".into())),
        }
    }

    fn arithmetic(&self, a: Lowered, op: Op, b: Lowered) -> Result<Lowered> {
        match (a, b) {
            (Number(a), Number(b)) => self.fold(match op {
                Op::Add => a.checked_add(b),
                Op::Sub => a.checked_sub(b),
                Op::Mul => a.checked_mul(b),
                Op::And => Some(a & b),
                Op::Or => Some(a | b),
                Op::Xor => Some(a ^ b),
            }),
            (Sized(a), Number(n)) => {
                let b = self.number(n, a.width)?;
                Ok(Sized(Expr::binary(op, a, b)))
            }
            (Number(n), Sized(b)) => Ok(Sized(Expr::binary(op, self.number(n, b.width)?, b))),
            (Sized(a), Sized(b)) if a.width == b.width => Ok(Sized(Expr::binary(op, a, b))),
            // Bits<N> + bool
            (Sized(a), Sized(b)) if b.width == 1 && op == Op::Add => {
                let b = b.resize(a.width);
                Ok(Sized(Expr::binary(op, a, b)))
            }
            (Sized(a), Sized(b)) => {
                let name = match op {
                    Op::Add => "+",
                    Op::Sub => "-",
                    Op::Mul => "*",
                    Op::And => "&",
                    Op::Or => "|",
                    Op::Xor => "^",
                };
                self.fail(
                    None,
                    Reason::Width {
                        left: a.width,
                        right: b.width,
                        op: name,
                    },
                )
            }
        }
    }

    /// A comparison. Numbers too large for the signal, and unequal widths, only compile on `.index()`: they compare by value.
    fn compare(&self, a: Lowered, op: Cmp, b: Lowered) -> Result<Lowered> {
        let (a, b) = match (a, b) {
            (Number(a), Number(b)) => (Expr::constant(a.into(), 64), Expr::constant(b.into(), 64)),
            (Sized(a), Number(n)) => {
                let width = a.width.max(BigUint::from(n).bits() as usize);
                (a.resize(width), Expr::constant(n.into(), width))
            }
            (Number(n), Sized(b)) => {
                let width = b.width.max(BigUint::from(n).bits() as usize);
                (Expr::constant(n.into(), width), b.resize(width))
            }
            (Sized(a), Sized(b)) => {
                let width = a.width.max(b.width);
                (a.resize(width), b.resize(width))
            }
        };
        // The upper bits decide where a number doesn't fit.
        if let (Some(limit), Some(v)) = (top_of(&a), b.value()) {
            if *v > limit {
                return Ok(Sized(Expr::bit(matches!(op, Cmp::Ne | Cmp::Lt | Cmp::Le))));
            }
        }
        if let (Some(v), Some(limit)) = (a.value(), top_of(&b)) {
            if *v > limit {
                return Ok(Sized(Expr::bit(matches!(op, Cmp::Ne | Cmp::Gt | Cmp::Ge))));
            }
        }
        Ok(Sized(Expr::compare(op, a, b)))
    }
}

/// The largest value a zero-extended expression can have.
fn top_of(e: &Expr) -> Option<BigUint> {
    match &e.kind {
        super::expr::Kind::Concat(parts) if parts.first().and_then(Expr::value) == Some(&BigUint::default()) => {
            let width = e.width - parts[0].width;
            Some((BigUint::from(1u8) << width) - 1u8)
        }
        _ => None,
    }
}
