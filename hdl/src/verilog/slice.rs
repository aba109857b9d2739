// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slicing: one driver per signal, so that simulators and people can order them.
//!
//! Signals share a driver only where one reads a value of another that a later statement of the kernel changes (a running
//! "found" flag, say): there the statements' order is the meaning. Latches and reads before writes are refused here.

use super::error::{Reason, Result};
use super::expr::{Expr, Kind, Sig};
use super::kernel::Stmt;
use super::scope::{Class, Scope};
use super::tree::Node;
use num_bigint::BigUint;
use std::collections::BTreeSet;

/// How a signal, or a group of them, is driven.
#[derive(Clone, Debug)]
pub enum Driver {
    /// A continuous assignment.
    Assign(Sig, Expr),
    /// A combinational block.
    Always(BTreeSet<Sig>, Vec<Stmt>),
}

/// Splits a kernel into drivers, in the order in which the kernel first assigns them.
pub fn plan(node: &Node, scope: &Scope, stmts: &[Stmt]) -> Result<Vec<Driver>> {
    let mut flow = Flow {
        node,
        scope,
        last: vec![0; scope.signals.len()],
        order: vec![],
        parent: (0..scope.signals.len()).collect(),
        child_reads: vec![],
        at: 0,
    };
    flow.positions(stmts);
    flow.at = 0;
    let mut assigned = vec![BigUint::default(); scope.signals.len()];
    flow.walk(stmts, &mut vec![], &mut assigned)?;
    for (sig, signal) in scope.signals.iter().enumerate().filter(|(_, s)| s.driven()) {
        if flow.last[sig] == 0 {
            return Err(node.error(Some(&signal.source), Reason::Undriven));
        }
        if assigned[sig] != ones(0, signal.width) {
            return Err(node.error(Some(&signal.source), Reason::Latch));
        }
    }
    for (child_input, target, at) in std::mem::take(&mut flow.child_reads) {
        if flow.root(child_input) == flow.root(target) && flow.last[child_input] >= at {
            return Err(node.error(Some(&scope.signals[child_input].source), Reason::SelfLoop));
        }
    }
    let mut done: BTreeSet<Sig> = BTreeSet::new();
    let mut drivers = vec![];
    for sig in flow.order.clone() {
        if done.contains(&sig) {
            continue;
        }
        let root = flow.root(sig);
        let group: BTreeSet<Sig> = flow.order.clone().into_iter().filter(|s| flow.root(*s) == root).collect();
        done.extend(&group);
        let slice = filter(stmts, &group);
        drivers.push(match as_assign(sig, scope.signals[sig].width, &slice) {
            Some(value) if group.len() == 1 => Driver::Assign(sig, value),
            _ => Driver::Always(group, slice),
        });
    }
    Ok(drivers)
}

/// Bits `lo..lo + width` set.
fn ones(lo: usize, width: usize) -> BigUint {
    ((BigUint::from(1u8) << width) - 1u8) << lo
}

struct Flow<'a> {
    node: &'a Node,
    scope: &'a Scope,
    /// Position of the last assignment to each signal, from 1.
    last: Vec<usize>,
    /// Signals by first assignment.
    order: Vec<Sig>,
    /// Union-find over signals that must share a driver.
    parent: Vec<Sig>,
    /// Reads of a child's input: (the input, the signal computed from it, where).
    child_reads: Vec<(Sig, Sig, usize)>,
    at: usize,
}

impl Flow<'_> {
    fn positions(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Assign { target, .. } => {
                    self.at += 1;
                    if self.last[*target] == 0 {
                        self.order.push(*target);
                    }
                    self.last[*target] = self.at;
                }
                Stmt::If { then, otherwise, .. } => {
                    self.positions(then);
                    self.positions(otherwise);
                }
                Stmt::Case { arms, default, .. } => {
                    arms.iter().for_each(|(_, b)| self.positions(b));
                    self.positions(default);
                }
            }
        }
    }

    fn root(&mut self, sig: Sig) -> Sig {
        let mut top = sig;
        while self.parent[top] != top {
            top = self.parent[top];
        }
        self.parent[sig] = top;
        top
    }

    /// Reads of an expression at the current position, all checked to be assigned.
    fn reads(&self, e: &Expr, assigned: &[BigUint]) -> Result<Vec<(Sig, usize)>> {
        let mut out = vec![];
        let mut bad = None;
        e.reads(&mut |sig, lo, width| {
            let signal = &self.scope.signals[sig];
            if signal.reads_so_far() {
                let need = ones(lo, width);
                if &assigned[sig] & &need != need {
                    bad = Some(sig);
                }
            }
            if signal.driven() {
                out.push((sig, self.at));
            }
        });
        match bad {
            Some(sig) => {
                let reason = if self.last[sig] == 0 {
                    Reason::Undriven
                } else {
                    Reason::ReadBeforeWrite
                };
                Err(self.node.error(Some(&self.scope.signals[sig].source), reason))
            }
            None => Ok(out),
        }
    }

    fn depend(&mut self, target: Sig, read: Sig, at: usize) {
        match self.scope.signals[read].class {
            // A child's input reads as its settled value, wherever the read stands.
            Class::ChildInput => self.child_reads.push((read, target, at)),
            _ if self.last[read] > at => {
                let (a, b) = (self.root(target), self.root(read));
                self.parent[a.max(b)] = a.min(b);
            }
            _ => {}
        }
    }

    fn walk(&mut self, stmts: &[Stmt], guards: &mut Vec<(Sig, usize)>, assigned: &mut Vec<BigUint>) -> Result<()> {
        for stmt in stmts {
            match stmt {
                Stmt::Assign { target, lo, value } => {
                    let reads = self.reads(value, assigned)?;
                    self.at += 1;
                    for (read, at) in reads.into_iter().chain(guards.clone()) {
                        self.depend(*target, read, at);
                    }
                    assigned[*target] |= ones(*lo, value.width);
                }
                Stmt::If { test, then, otherwise } => {
                    let reads = self.reads(test, assigned)?;
                    let depth = guards.len();
                    guards.extend(reads);
                    let mut other = assigned.clone();
                    self.walk(then, guards, assigned)?;
                    self.walk(otherwise, guards, &mut other)?;
                    guards.truncate(depth);
                    assigned.iter_mut().zip(other).for_each(|(a, b)| *a &= b);
                }
                Stmt::Case { test, arms, default, .. } => {
                    let reads = self.reads(test, assigned)?;
                    let depth = guards.len();
                    guards.extend(reads);
                    let mut ends = vec![];
                    for body in arms.iter().map(|(_, b)| b).chain([default]) {
                        let mut end = assigned.clone();
                        self.walk(body, guards, &mut end)?;
                        ends.push(end);
                    }
                    guards.truncate(depth);
                    // Assigned is what every arm assigns.
                    let mut ends = ends.into_iter();
                    if let Some(first) = ends.next() {
                        *assigned = first;
                    }
                    for end in ends {
                        assigned.iter_mut().zip(end).for_each(|(a, b)| *a &= b);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The statements that can assign a signal of the group, with the `if`s and `case`s around them.
fn filter(stmts: &[Stmt], group: &BTreeSet<Sig>) -> Vec<Stmt> {
    let mut out = vec![];
    for stmt in stmts {
        match stmt {
            Stmt::Assign { target, .. } => {
                if group.contains(target) {
                    out.push(stmt.clone());
                }
            }
            Stmt::If { test, then, otherwise } => {
                let (then, otherwise) = (filter(then, group), filter(otherwise, group));
                match (then.is_empty(), otherwise.is_empty()) {
                    (true, true) => {}
                    (true, false) => out.push(Stmt::If {
                        test: test.clone().not(),
                        then: otherwise,
                        otherwise: vec![],
                    }),
                    _ => out.push(Stmt::If {
                        test: test.clone(),
                        then,
                        otherwise,
                    }),
                }
            }
            Stmt::Case { test, arms, default } => {
                let default = filter(default, group);
                let arms: Vec<(Expr, Vec<Stmt>)> = arms
                    .iter()
                    .map(|(label, body)| (label.clone(), filter(body, group)))
                    .filter(|(_, body)| !body.is_empty() || !default.is_empty())
                    .collect();
                if arms.iter().any(|(_, body)| !body.is_empty()) || !default.is_empty() {
                    out.push(Stmt::Case {
                        test: test.clone(),
                        arms,
                        default,
                    });
                }
            }
        }
    }
    out
}

/// The one value of a signal that is assigned without conditions.
fn as_assign(sig: Sig, width: usize, slice: &[Stmt]) -> Option<Expr> {
    let mut parts: Vec<(usize, Expr)> = vec![];
    for stmt in slice {
        let Stmt::Assign { lo, value, .. } = stmt else {
            return None;
        };
        let mut own = false;
        value.reads(&mut |s, _, _| own |= s == sig);
        if own {
            return None;
        }
        // A later assignment replaces what it covers; a partial overlap stays a block.
        let (from, to) = (*lo, *lo + value.width);
        parts.retain(|(at, e)| *at < from || at + e.width > to);
        if parts.iter().any(|(at, e)| *at < to && at + e.width > from) {
            return None;
        }
        parts.push((from, value.clone()));
    }
    parts.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let value = Expr::concat(parts.into_iter().map(|(_, e)| e).collect());
    (value.width == width && !matches!(&value.kind, Kind::Concat(p) if p.is_empty())).then_some(value)
}
