// SPDX-License-Identifier: MIT OR Apache-2.0
//! One module's text: header, ANSI ports, localparams, declarations, instances, combinational drivers, registers.

use super::error::{Reason, Result};
use super::expr::{Expr, Kind, Sig};
use super::kernel::{self, Stmt};
use super::print::{literal, range, Printer};
use super::scope::{Class, Scope};
use super::slice::{plan, Driver};
use super::tree::{Node, Role};
use super::Port;
use rust_hdl::prelude::Verilog;
use std::collections::{BTreeMap, BTreeSet};

/// Ports of a block, in the order of its fields.
pub fn ports(node: &Node) -> Vec<Port> {
    let port = |a: &super::tree::AtomInfo| Port {
        name: super::names::flat(&a.name),
        width: a.width,
        input: a.role == Role::Input,
        clock: a.ty.name == "clock",
    };
    node.atoms
        .iter()
        .filter(|a| matches!(a.role, Role::Input | Role::Output))
        .map(port)
        .collect()
}

/// Everything after the module's name: two blocks with one body are one module.
pub fn body(node: &Node, children: &[Option<String>]) -> Result<String> {
    match &node.hdl {
        Verilog::Combinatorial(block) => Assembly::new(node, children, block)?.text(),
        Verilog::Empty => Assembly::new(node, children, &vec![])?.text(),
        Verilog::Custom(text) if is_house_primitive(node) => custom(node, text),
        _ => Err(node.error(None, Reason::CustomText)),
    }
}

fn is_house_primitive(node: &Node) -> bool {
    node.type_name.starts_with("verbena_hdl::prim::")
}

/// A house primitive: its own text between our header and `endmodule`.
fn custom(node: &Node, text: &str) -> Result<String> {
    Scope::new(node)?;
    let wired = |name: &str| text.contains(&format!("assign {name} "));
    let outputs = node.atoms.iter().filter(|a| a.role == Role::Output && !wired(&a.name));
    let regs: BTreeSet<String> = outputs.map(|a| a.name.clone()).collect();
    let mut out = header(node, &regs) + "\n";
    for line in text.trim().lines() {
        let pad = if line.is_empty() { "" } else { "  " };
        out.push_str(&format!("{pad}{line}\n"));
    }
    out.push_str("\nendmodule\n");
    Ok(out)
}

/// The port list.
fn header(node: &Node, regs: &BTreeSet<String>) -> String {
    let ports = ports(node);
    if ports.is_empty() {
        return ";\n".into();
    }
    let mut lines = vec![];
    for port in ports {
        let kind = match (port.input, regs.contains(&port.name)) {
            (true, _) => "input  wire ",
            (false, true) => "output reg  ",
            (false, false) => "output wire ",
        };
        lines.push(format!("  {kind}{}{}", range(port.width), port.name));
    }
    format!(" (\n{}\n);\n", lines.join(",\n"))
}

struct Assembly<'a> {
    node: &'a Node,
    children: &'a [Option<String>],
    scope: Scope,
    drivers: Vec<Driver>,
    /// Child inputs that need no wire: what to connect instead.
    direct: BTreeMap<Sig, Expr>,
    /// Signals read by drivers, with `direct` ones still counted.
    read: BTreeMap<Sig, usize>,
}

impl<'a> Assembly<'a> {
    fn new(node: &'a Node, children: &'a [Option<String>], block: &rust_hdl::core::ast::VerilogBlock) -> Result<Self> {
        let scope = Scope::new(node)?;
        let stmts = kernel::lower(node, &scope, block)?;
        let drivers = plan(node, &scope, &stmts)?;
        let mut read = BTreeMap::new();
        for driver in &drivers {
            reads_of(driver, &mut |sig| *read.entry(sig).or_insert(0) += 1);
        }
        let mut assembly = Assembly {
            node,
            children,
            scope,
            drivers,
            direct: BTreeMap::new(),
            read,
        };
        assembly.connect_directly();
        Ok(assembly)
    }

    /// A child's input that is a plain copy, a slice or a constant is connected without a wire between; a register's next
    /// value that nobody else reads stands in its clocked block.
    fn connect_directly(&mut self) {
        for driver in &self.drivers {
            let Driver::Assign(sig, value) = driver else {
                continue;
            };
            let signal = &self.scope.signals[*sig];
            let register = signal.child.is_some_and(|c| self.scope.registers.contains_key(&c));
            let plain = match &value.kind {
                Kind::Signal(_) | Kind::Const(..) => true,
                Kind::Slice(base, _) => matches!(base.kind, Kind::Signal(_)),
                _ => register && signal.source.ends_with("$d"),
            };
            if signal.class == Class::ChildInput && plain && !self.read.contains_key(sig) {
                self.direct.insert(*sig, value.clone());
            }
        }
        self.drivers
            .retain(|d| !matches!(d, Driver::Assign(sig, _) if self.direct.contains_key(sig)));
    }

    fn text(mut self) -> Result<String> {
        let always: BTreeSet<Sig> = self
            .drivers
            .iter()
            .flat_map(|d| match d {
                Driver::Always(group, _) => group.clone(),
                Driver::Assign(..) => BTreeSet::new(),
            })
            .collect();
        let regs: BTreeSet<String> = always.iter().map(|s| self.scope.signals[*s].name.clone()).collect();
        let params = self.params();
        let declarations = self.declarations(&always);
        let mut printer = Printer::new(&mut self.scope);
        let mut kernel = String::new();
        for driver in &self.drivers {
            match driver {
                Driver::Assign(sig, value) => {
                    let value = printer.value(*sig, value);
                    kernel.push_str(&format!("  assign {} = {value};\n", printer.scope.signals[*sig].name));
                }
                Driver::Always(group, stmts) => {
                    let block = printer.always(group, stmts);
                    if !kernel.is_empty() && !kernel.ends_with("\n\n") {
                        kernel.push('\n');
                    }
                    kernel.push_str(&block);
                    kernel.push('\n');
                }
            }
        }
        let mut direct = BTreeMap::new();
        for (sig, value) in &self.direct {
            direct.insert(*sig, printer.value(*sig, value));
        }
        let (wires, scratch) = (std::mem::take(&mut printer.wires), std::mem::take(&mut printer.scratch));
        let mut extra = String::new();
        for (name, width) in scratch {
            extra.push_str(&format!("  reg {}{name};\n", range(width)));
        }
        for (name, width, value) in wires {
            extra.push_str(&format!("  wire {}{name} = {value};\n", range(width)));
        }
        let sections = [
            params,
            declarations,
            extra,
            self.instances(&direct),
            kernel,
            self.registers(&direct)?,
        ];
        let mut out = header(self.node, &regs);
        let sections: Vec<&str> = sections.iter().map(|s| s.trim_end()).filter(|s| !s.is_empty()).collect();
        for section in sections {
            out.push_str(&format!("\n{}\n", section.trim_start_matches('\n')));
        }
        out.push_str("\nendmodule\n");
        Ok(out)
    }

    /// The localparams in use.
    fn params(&self) -> String {
        let mut used = BTreeSet::new();
        for driver in &self.drivers {
            names_of(driver, &mut |n| {
                used.insert(n.to_string());
            });
        }
        self.direct.values().for_each(|e| {
            e.names(&mut |n| {
                used.insert(n.to_string());
            })
        });
        let mut params: Vec<_> = self.scope.params.values().filter(|p| used.contains(&p.name)).collect();
        params.sort_by(|a, b| (&a.name[..prefix(&a.name)], &a.value, &a.name).cmp(&(&b.name[..prefix(&b.name)], &b.value, &b.name)));
        params
            .iter()
            .map(|p| format!("  localparam {}{} = {};\n", range(p.width), p.name, literal(&p.value, p.width)))
            .collect()
    }

    fn declarations(&self, always: &BTreeSet<Sig>) -> String {
        let mut out = String::new();
        for (index, child) in self.node.children.iter().enumerate() {
            let Some(name) = self.scope.registers.get(&index) else {
                continue;
            };
            let Some(init) = child.flip_flop() else {
                continue;
            };
            let width = child.atoms.first().map_or(1, |a| a.width);
            let init = init
                .split_once('h')
                .and_then(|(_, v)| num_bigint::BigUint::parse_bytes(v.as_bytes(), 16));
            out.push_str(&format!(
                "  reg {}{name} = {};\n",
                range(width),
                literal(&init.unwrap_or_default(), width)
            ));
        }
        for (sig, signal) in self.scope.signals.iter().enumerate() {
            let is_register = signal.child.is_some_and(|c| self.scope.registers.contains_key(&c));
            let wanted = match signal.class {
                Class::Input | Class::Output => false,
                Class::Local => true,
                Class::ChildInput => !self.direct.contains_key(&sig),
                Class::ChildOutput => !is_register && self.read_anywhere(sig),
            };
            if wanted {
                let kind = if always.contains(&sig) { "reg " } else { "wire" };
                out.push_str(&format!("  {kind} {}{};\n", range(signal.width), signal.name));
            }
        }
        out
    }

    fn read_anywhere(&self, sig: Sig) -> bool {
        self.read.contains_key(&sig)
    }

    fn instances(&self, direct: &BTreeMap<Sig, String>) -> String {
        let mut out = String::new();
        for (index, child) in self.node.children.iter().enumerate() {
            let Some(Some(module)) = self.children.get(index) else {
                continue;
            };
            let mut lines = vec![];
            for (sig, signal) in self.scope.signals.iter().enumerate().filter(|(_, s)| s.child == Some(index)) {
                let port = super::names::flat(&signal.source[child.name.len() + 1..]);
                let net = match direct.get(&sig) {
                    Some(text) => text.clone(),
                    None if signal.class == Class::ChildOutput && !self.read_anywhere(sig) => String::new(),
                    None => signal.name.clone(),
                };
                lines.push(format!("    .{port}({net})"));
            }
            out.push_str(&format!(
                "  {module} {} (\n{}\n  );\n\n",
                self.scope.instances[&index],
                lines.join(",\n")
            ));
        }
        out
    }

    /// One clocked block per clock.
    fn registers(&self, direct: &BTreeMap<Sig, String>) -> Result<String> {
        let net = |sig: Sig| direct.get(&sig).cloned().unwrap_or_else(|| self.scope.signals[sig].name.clone());
        let mut clocks: Vec<(String, Vec<String>)> = vec![];
        for (index, register) in &self.scope.registers {
            let port = |name: &str| {
                let full = format!("{}${name}", self.node.children[*index].name);
                self.scope
                    .by_name
                    .get(&full)
                    .copied()
                    .ok_or_else(|| self.node.error(Some(&full), Reason::Undriven))
            };
            let (clock, d) = (net(port("clock")?), net(port("d")?));
            let line = format!("    {register} <= {d};\n");
            match clocks.iter_mut().find(|(c, _)| *c == clock) {
                Some((_, lines)) => lines.push(line),
                None => clocks.push((clock, vec![line])),
            }
        }
        Ok(clocks
            .iter()
            .map(|(clock, lines)| format!("  always @(posedge {clock}) begin\n{}  end\n\n", lines.concat()))
            .collect())
    }
}

/// Length of the enum's part of a localparam's name.
fn prefix(name: &str) -> usize {
    name.rfind('_').unwrap_or(name.len())
}

fn reads_of(driver: &Driver, f: &mut dyn FnMut(Sig)) {
    match driver {
        Driver::Assign(_, value) => value.reads(&mut |s, _, _| f(s)),
        Driver::Always(_, stmts) => each_expr(stmts, &mut |e| e.reads(&mut |s, _, _| f(s))),
    }
}

fn names_of(driver: &Driver, f: &mut dyn FnMut(&str)) {
    match driver {
        Driver::Assign(_, value) => value.names(f),
        Driver::Always(_, stmts) => each_expr(stmts, &mut |e| e.names(f)),
    }
}

fn each_expr(stmts: &[Stmt], f: &mut dyn FnMut(&Expr)) {
    for stmt in stmts {
        match stmt {
            Stmt::Assign { value, .. } => f(value),
            Stmt::If { test, then, otherwise } => {
                f(test);
                each_expr(then, f);
                each_expr(otherwise, f);
            }
            Stmt::Case { test, arms, default } => {
                f(test);
                for (label, body) in arms {
                    f(label);
                    each_expr(body, f);
                }
                each_expr(default, f);
            }
        }
    }
}
