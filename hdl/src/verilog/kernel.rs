// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements of the syntax tree → statements with loops unrolled, links made assignments, constant branches decided.

use super::error::{Reason, Result};
use super::expr::{Expr, Sig};
use super::lower::{Lower, Lowered};
use super::names::{parse_integer, Loops};
use super::scope::Scope;
use super::tree::Node;
use num_bigint::BigUint;
use rust_hdl::core::ast::*;

/// A statement of an unrolled kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    Assign {
        target: Sig,
        lo: usize,
        value: Expr,
    },
    If {
        test: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Case {
        test: Expr,
        arms: Vec<(Expr, Vec<Stmt>)>,
        default: Vec<Stmt>,
    },
}

/// Lowers a block's kernel.
pub fn lower(node: &Node, scope: &Scope, block: &VerilogBlock) -> Result<Vec<Stmt>> {
    let mut kernel = Kernel {
        lower: Lower {
            node,
            scope,
            loops: Loops::new(),
        },
    };
    kernel.block(block)
}

struct Kernel<'a> {
    lower: Lower<'a>,
}

impl Kernel<'_> {
    fn block(&mut self, block: &VerilogBlock) -> Result<Vec<Stmt>> {
        let mut out = vec![];
        for statement in block {
            self.statement(statement, &mut out)?;
        }
        Ok(out)
    }

    fn target(&self, ast: &VerilogExpression) -> Result<Sig> {
        let VerilogExpression::Signal(name) = ast else {
            return self.lower.fail(None, Reason::Unsupported("assignment to what is no signal".into()));
        };
        let name = self.lower.resolve_name(name)?;
        self.driven(&name)
    }

    fn driven(&self, name: &str) -> Result<Sig> {
        match self.lower.scope.by_name.get(name) {
            Some(sig) if self.lower.scope.signals[*sig].driven() => Ok(*sig),
            Some(_) => self
                .lower
                .fail(Some(name), Reason::Unsupported("assigned here, but it is driven elsewhere".into())),
            None => self.lower.fail(None, Reason::Undeclared(name.replace('$', "."))),
        }
    }

    fn assign(&self, target: Sig, lo: usize, width: usize, value: &VerilogExpression) -> Result<Stmt> {
        let name = &self.lower.scope.signals[target].source;
        let value = self.lower.sized(value, width, name).map_err(|mut e| {
            e.signal.get_or_insert_with(|| name.replace('$', "."));
            e
        })?;
        Ok(Stmt::Assign { target, lo, value })
    }

    fn statement(&mut self, statement: &VerilogStatement, out: &mut Vec<Stmt>) -> Result<()> {
        match statement {
            VerilogStatement::Assignment(target, value) => {
                let target = self.target(target)?;
                out.push(self.assign(target, 0, self.lower.scope.signals[target].width, value)?);
            }
            VerilogStatement::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => {
                let target = self.target(base)?;
                let Lowered::Number(lo) = self.lower.any(offset)? else {
                    return self
                        .lower
                        .fail(None, Reason::Unsupported("a field at an offset that is no constant".into()));
                };
                out.push(self.assign(target, lo as usize, *width, replacement)?);
            }
            VerilogStatement::If(c) => self.conditional(c, out)?,
            VerilogStatement::Match(m) => self.case(m, out)?,
            VerilogStatement::Loop(l) => {
                for i in l.from.as_usize()..l.to.as_usize() {
                    let outer = self.lower.loops.insert(l.index.clone(), i as u64);
                    let body = self.block(&l.block);
                    match outer {
                        Some(value) => self.lower.loops.insert(l.index.clone(), value),
                        None => self.lower.loops.remove(&l.index),
                    };
                    out.extend(body?);
                }
            }
            VerilogStatement::Macro(block) => out.extend(self.block(block)?),
            VerilogStatement::Link(links) => {
                for link in links {
                    out.push(self.link(link)?);
                }
            }
            VerilogStatement::Comment(_) => {}
        }
        Ok(())
    }

    fn conditional(&mut self, c: &VerilogConditional, out: &mut Vec<Stmt>) -> Result<()> {
        let test = self.lower.condition(&c.test)?;
        let mut then = self.block(&c.then)?;
        let mut otherwise = vec![];
        match &c.otherwise {
            VerilogBlockOrConditional::Block(b) => otherwise = self.block(b)?,
            VerilogBlockOrConditional::Conditional(s) => self.statement(s, &mut otherwise)?,
            VerilogBlockOrConditional::None => {}
        }
        match test.index() {
            Some(0) => out.append(&mut otherwise),
            Some(_) => out.append(&mut then),
            None => out.push(Stmt::If { test, then, otherwise }),
        }
        Ok(())
    }

    fn case(&mut self, m: &VerilogMatch, out: &mut Vec<Stmt>) -> Result<()> {
        let test = match self.lower.any(&m.test)? {
            Lowered::Sized(e) => e,
            Lowered::Number(n) => Expr::constant(n.into(), 64),
        };
        let mut arms: Vec<(Expr, Vec<Stmt>)> = vec![];
        let mut default = None;
        for case in &m.cases {
            let body = self.block(&case.block)?;
            if default.is_some() {
                continue; // unreachable in Rust
            }
            if case.condition == "default" {
                default = Some(body);
                continue;
            }
            if let Some(label) = self.label(&case.condition, test.width)? {
                if !arms.iter().any(|(l, _)| l.value() == label.value()) {
                    arms.push((label, body));
                }
            }
        }
        if let Some(v) = test.value() {
            let chosen = arms.into_iter().find(|(l, _)| l.value() == Some(v)).map(|(_, b)| b).or(default);
            out.extend(chosen.unwrap_or_default());
            return Ok(());
        }
        // Without `_`, Rust has checked that the arms are all there are: the last one is the default.
        if default.is_none() {
            default = arms.pop().map(|(_, b)| b);
        }
        let default = default.unwrap_or_default();
        if arms.is_empty() {
            out.extend(default);
            return Ok(());
        }
        out.push(Stmt::Case { test, arms, default });
        Ok(())
    }

    /// A pattern: a literal, or an enum's value. None if the test can't have that value.
    fn label(&self, text: &str, width: usize) -> Result<Option<Expr>> {
        let value = match text {
            "true" => Some(1),
            "false" => Some(0),
            _ => parse_integer(text),
        };
        if let Some(value) = value {
            let value = BigUint::from(value);
            return Ok((value.bits() <= width as u64).then(|| Expr::constant(value, width)));
        }
        match self.lower.scope.params.get(text) {
            Some(p) if p.width == width && text.contains('$') => Ok(Some(Expr::named(p.value.clone(), p.width, p.name.clone()))),
            _ => self.lower.fail(None, Reason::Undeclared(text.replace('$', "::"))),
        }
    }

    fn link(&self, link: &VerilogLink) -> Result<Stmt> {
        let (details, forward) = match link {
            VerilogLink::Forward(d) => (d, true),
            VerilogLink::Backward(d) => (d, false),
            VerilogLink::Bidirectional(_) => return self.lower.fail(None, Reason::Inout),
        };
        let end = |base: &str| self.lower.resolve_name(&format!("{base}{}", details.my_name));
        let (owner, other) = (end(&details.owner_name)?, end(&details.other_name)?);
        let (target, source) = if forward { (other, owner) } else { (owner, other) };
        let target = self.driven(&target)?;
        self.assign(
            target,
            0,
            self.lower.scope.signals[target].width,
            &VerilogExpression::Signal(source),
        )
    }
}
