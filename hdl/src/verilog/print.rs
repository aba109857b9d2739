// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions and statements as Verilog-2005 text. Parentheses come from the tree, every literal is sized, and a slice of
//! what is no signal becomes a wire of its own.

use super::expr::{Cmp, Expr, Kind, Op, Reduce, Sig};
use super::kernel::Stmt;
use super::scope::Scope;
use num_bigint::BigUint;
use std::collections::BTreeSet;

/// `8'h0f`, `1'b1`.
pub fn literal(value: &BigUint, width: usize) -> String {
    if width == 1 {
        return format!("1'b{value}");
    }
    let digits = if width <= 64 { width.div_ceil(4) } else { 1 };
    format!("{width}'h{value:0digits$x}")
}

/// `[7:0] `, or nothing for one bit.
pub fn range(width: usize) -> String {
    if width == 1 {
        String::new()
    } else {
        format!("[{}:0] ", width - 1)
    }
}

/// Prints the kernel of one module, collecting the wires it needs on the way.
pub struct Printer<'a> {
    pub scope: &'a mut Scope,
    /// Wires with a value: (name, width, value).
    pub wires: Vec<(String, usize, String)>,
    /// Scratch variables of combinational blocks.
    pub scratch: Vec<(String, usize)>,
    /// Signals driven by the block being printed.
    group: BTreeSet<Sig>,
    /// Scratch assignments due before the statement being printed.
    pending: Vec<String>,
    /// Base of names for new wires.
    hint: String,
}

impl<'a> Printer<'a> {
    pub fn new(scope: &'a mut Scope) -> Self {
        Self {
            scope,
            wires: vec![],
            scratch: vec![],
            group: BTreeSet::new(),
            pending: vec![],
            hint: String::new(),
        }
    }

    /// The value of a continuous assignment to `target`.
    pub fn value(&mut self, target: Sig, e: &Expr) -> String {
        self.group.clear();
        self.hint = self.scope.signals[target].name.clone();
        self.expr(e)
    }

    /// An `always @(*)` for the group.
    pub fn always(&mut self, group: &BTreeSet<Sig>, stmts: &[Stmt]) -> String {
        self.group = group.clone();
        self.hint = group.first().map(|s| self.scope.signals[*s].name.clone()).unwrap_or_default();
        let before = self.scratch.len();
        let mut body = String::new();
        self.stmts(stmts, 2, &mut body);
        self.group.clear();
        let mut out = String::from("  always @(*) begin\n");
        for (name, width) in &self.scratch[before..] {
            out.push_str(&format!("    {name} = {};\n", literal(&BigUint::default(), *width)));
        }
        out.push_str(&body);
        out.push_str("  end\n");
        out
    }

    fn flush(&mut self, pad: &str, out: &mut String) {
        for line in self.pending.drain(..) {
            out.push_str(&format!("{pad}{line}\n"));
        }
    }

    fn stmts(&mut self, stmts: &[Stmt], depth: usize, out: &mut String) {
        stmts.iter().for_each(|s| self.stmt(s, depth, out));
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        match stmt {
            Stmt::Assign { target, lo, value } => {
                let text = self.expr(value);
                self.flush(&pad, out);
                let signal = &self.scope.signals[*target];
                let place = place(&signal.name, signal.width, *lo, value.width);
                out.push_str(&format!("{pad}{place} = {text};\n"));
            }
            Stmt::If { test, then, otherwise } => {
                let text = self.expr(test);
                self.flush(&pad, out);
                out.push_str(&format!("{pad}if ({text}) begin\n"));
                self.stmts(then, depth + 1, out);
                self.otherwise(otherwise, depth, out);
            }
            Stmt::Case { test, arms, default } => {
                let text = self.expr(test);
                self.flush(&pad, out);
                out.push_str(&format!("{pad}case ({text})\n"));
                for (label, body) in arms {
                    let label = self.expr(label);
                    self.arm(&label, body, depth + 1, out);
                }
                self.arm("default", default, depth + 1, out);
                out.push_str(&format!("{pad}endcase\n"));
            }
        }
    }

    fn otherwise(&mut self, otherwise: &[Stmt], depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        if let [Stmt::If { test, then, otherwise }] = otherwise {
            let text = self.expr(test);
            if self.pending.is_empty() {
                out.push_str(&format!("{pad}end else if ({text}) begin\n"));
                self.stmts(then, depth + 1, out);
                self.otherwise(otherwise, depth, out);
                return;
            }
            let inner = "  ".repeat(depth + 1);
            out.push_str(&format!("{pad}end else begin\n"));
            self.flush(&inner, out);
            out.push_str(&format!("{inner}if ({text}) begin\n"));
            self.stmts(then, depth + 2, out);
            self.otherwise(otherwise, depth + 1, out);
            out.push_str(&format!("{pad}end\n"));
            return;
        }
        if !otherwise.is_empty() {
            out.push_str(&format!("{pad}end else begin\n"));
            self.stmts(otherwise, depth + 1, out);
        }
        out.push_str(&format!("{pad}end\n"));
    }

    fn arm(&mut self, label: &str, body: &[Stmt], depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        match body {
            [] => out.push_str(&format!("{pad}{label}: ;\n")),
            [Stmt::Assign { target, lo, value }] => {
                let text = self.expr(value);
                let signal = &self.scope.signals[*target];
                let place = place(&signal.name, signal.width, *lo, value.width);
                if self.pending.is_empty() {
                    out.push_str(&format!("{pad}{label}: {place} = {text};\n"));
                    return;
                }
                out.push_str(&format!("{pad}{label}: begin\n"));
                self.flush(&format!("{pad}  "), out);
                out.push_str(&format!("{pad}  {place} = {text};\n{pad}end\n"));
            }
            _ => {
                out.push_str(&format!("{pad}{label}: begin\n"));
                self.stmts(body, depth + 1, out);
                out.push_str(&format!("{pad}end\n"));
            }
        }
    }

    /// The name of a signal that holds `e`.
    fn held(&mut self, e: &Expr) -> String {
        if let Kind::Signal(s) = e.kind {
            return self.scope.signals[s].name.clone();
        }
        let text = self.expr(e);
        let mut local = false;
        e.reads(&mut |s, _, _| local |= self.group.contains(&s));
        if local {
            let name = self.scope.names.take(&format!("{}_part", self.hint));
            self.pending.push(format!("{name} = {text};"));
            self.scratch.push((name.clone(), e.width));
            return name;
        }
        if let Some((name, ..)) = self.wires.iter().find(|(_, w, v)| *w == e.width && *v == text) {
            return name.clone();
        }
        let name = self.scope.names.take(&format!("{}_part", self.hint));
        self.wires.push((name.clone(), e.width, text));
        name
    }

    /// An operand: in parentheses unless it is a name, a literal or a concatenation.
    fn operand(&mut self, e: &Expr) -> String {
        let text = self.expr(e);
        match &e.kind {
            Kind::Const(..) | Kind::Signal(_) | Kind::Slice(..) | Kind::Concat(_) | Kind::Bit(..) | Kind::Part(..) => text,
            Kind::Not(_) => text,
            _ => format!("({text})"),
        }
    }

    /// A left operand: a chain of one associative operator needs no parentheses.
    fn left(&mut self, e: &Expr, op: Op) -> String {
        match &e.kind {
            Kind::Binary(inner, ..) if *inner == op && op != Op::Sub => self.expr(e),
            _ => self.operand(e),
        }
    }

    pub fn expr(&mut self, e: &Expr) -> String {
        match &e.kind {
            Kind::Const(_, Some(name)) => name.clone(),
            Kind::Const(value, None) => literal(value, e.width),
            Kind::Signal(s) => self.scope.signals[*s].name.clone(),
            Kind::Slice(base, lo) => {
                let name = self.held(base);
                place(&name, base.width, *lo, e.width)
            }
            Kind::Not(a) => {
                let op = if e.width == 1 { '!' } else { '~' };
                let a = match a.kind {
                    Kind::Not(_) => format!("({})", self.expr(a)),
                    _ => self.operand(a),
                };
                format!("{op}{a}")
            }
            Kind::Binary(op, a, b) => {
                let sign = match op {
                    Op::Add => "+",
                    Op::Sub => "-",
                    Op::Mul => "*",
                    Op::And => "&",
                    Op::Or => "|",
                    Op::Xor => "^",
                };
                format!("{} {sign} {}", self.left(a, *op), self.operand(b))
            }
            Kind::Shl(a, by) => format!("{} << {}", self.operand(a), self.amount(by)),
            Kind::Shr(a, by) => format!("{} >> {}", self.operand(a), self.amount(by)),
            Kind::Compare(op, a, b) => {
                let sign = match op {
                    Cmp::Eq => "==",
                    Cmp::Ne => "!=",
                    Cmp::Lt => "<",
                    Cmp::Le => "<=",
                    Cmp::Gt => ">",
                    Cmp::Ge => ">=",
                };
                format!("{} {sign} {}", self.operand(a), self.operand(b))
            }
            Kind::Reduce(op, a) => {
                let sign = match op {
                    Reduce::All => '&',
                    Reduce::Any => '|',
                    Reduce::Xor => '^',
                };
                let a = match a.kind {
                    Kind::Not(_) => format!("({})", self.expr(a)),
                    _ => self.operand(a),
                };
                format!("{sign}{a}")
            }
            Kind::LogicAnd(a, b) => format!("{} && {}", self.operand(a), self.operand(b)),
            Kind::LogicOr(a, b) => format!("{} || {}", self.operand(a), self.operand(b)),
            Kind::Concat(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.expr(p)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Kind::Bit(base, at) => format!("{}[{}]", self.held(base), self.expr(at)),
            Kind::Part(base, at) => {
                let base = self.held(base);
                if e.width == 1 {
                    format!("{base}[{}]", self.expr(at))
                } else {
                    format!("{base}[{} +: {}]", self.expr(at), e.width)
                }
            }
        }
    }

    fn amount(&mut self, by: &Expr) -> String {
        match &by.kind {
            Kind::Const(value, None) => value.to_string(),
            _ => self.operand(by),
        }
    }
}

/// `x`, `x[3]`, `x[7:4]`.
fn place(name: &str, full: usize, lo: usize, width: usize) -> String {
    if width == full {
        name.to_string()
    } else if width == 1 {
        format!("{name}[{lo}]")
    } else {
        format!("{name}[{}:{lo}]", lo + width - 1)
    }
}
