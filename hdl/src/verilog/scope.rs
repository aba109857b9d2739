// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the names of a kernel mean: signals, constants, enum values, and their names in the printed module.

use super::error::{Reason, Result};
use super::expr::Sig;
use super::names::{flat, is_keyword, snake, Names};
use super::tree::{AtomInfo, Node, Role};
use num_bigint::BigUint;
use rust_hdl::prelude::*;
use std::collections::BTreeMap;

/// What a signal is to the module being printed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Class {
    Input,
    Output,
    Local,
    /// An input of a child: driven here.
    ChildInput,
    /// An output of a child: read here.
    ChildOutput,
}

/// A signal of the module.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Name in the syntax tree.
    pub source: String,
    /// Name in the Verilog.
    pub name: String,
    pub class: Class,
    pub width: usize,
    /// The child it belongs to.
    pub child: Option<usize>,
}

impl Signal {
    /// Whether the kernel drives it.
    pub fn driven(&self) -> bool {
        matches!(self.class, Class::Output | Class::Local | Class::ChildInput)
    }

    /// Whether a read in the kernel sees the value assigned so far (rust-hdl reads `next`), not the settled one.
    pub fn reads_so_far(&self) -> bool {
        matches!(self.class, Class::Output | Class::Local)
    }
}

/// A localparam.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub value: BigUint,
    pub width: usize,
}

/// The names of one block.
#[derive(Default)]
pub struct Scope {
    pub signals: Vec<Signal>,
    pub by_name: BTreeMap<String, Sig>,
    /// Constants and enum values by their name in the syntax tree.
    pub params: BTreeMap<String, Param>,
    pub names: Names,
    /// For each child that is a flip-flop, the name of its register.
    pub registers: BTreeMap<usize, String>,
    /// For each other child, the name of its instance.
    pub instances: BTreeMap<usize, String>,
}

impl Scope {
    /// Gives every signal of `node` and every port of its children a name.
    pub fn new(node: &Node) -> Result<Scope> {
        let mut scope = Scope::default();
        for (class, role) in [
            (Class::Input, Role::Input),
            (Class::Output, Role::Output),
            (Class::Local, Role::Local),
        ] {
            for atom in node.atoms.iter().filter(|a| a.role == role) {
                check_words(node, &atom.name)?;
                let name = scope.fixed(node, &atom.name)?;
                scope.add(atom.name.clone(), name, class, atom.width, None);
            }
        }
        for (index, child) in node.children.iter().enumerate() {
            check_words(node, &child.name)?;
            let is_register = child.flip_flop().is_some();
            let name = scope.fixed(node, &child.name)?;
            if is_register {
                scope.registers.insert(index, name);
            } else {
                let instance = if has_inside(child, &name) {
                    scope.names.take(&format!("u_{name}"))
                } else {
                    name
                };
                scope.instances.insert(index, instance);
            }
            for atom in &child.atoms {
                let class = match atom.role {
                    Role::Input => Class::ChildInput,
                    Role::Output => Class::ChildOutput,
                    _ => continue,
                };
                let name = match scope.registers.get(&index) {
                    Some(register) if atom.name == "q" => register.clone(),
                    _ => scope.names.take(&flat(&format!("{}_{}", child.name, atom.name))),
                };
                scope.add(format!("{}${}", child.name, atom.name), name, class, atom.width, Some(index));
            }
        }
        for atom in node.atoms.iter().chain(node.children.iter().flat_map(|c| &c.atoms)) {
            scope.add_enums(node, &atom.ty)?;
        }
        for atom in node.atoms.iter().filter(|a| a.role == Role::Constant) {
            check_words(node, &atom.name)?;
            let name = scope.names.take(&flat(&atom.name).to_uppercase());
            let value = constant_value(atom);
            scope.params.insert(
                atom.name.clone(),
                Param {
                    name,
                    value,
                    width: atom.width,
                },
            );
        }
        Ok(scope)
    }

    /// A name that can't give way: of a field of the block.
    fn fixed(&mut self, node: &Node, source: &str) -> Result<String> {
        let name = flat(source);
        if self.names.take(&name) != name {
            return Err(node.error(Some(source), Reason::NameClash(name)));
        }
        Ok(name)
    }

    fn add(&mut self, source: String, name: String, class: Class, width: usize, child: Option<usize>) {
        self.by_name.insert(source.clone(), self.signals.len());
        self.signals.push(Signal {
            source,
            name,
            class,
            width,
            child,
        });
    }

    fn add_enums(&mut self, node: &Node, ty: &TypeDescriptor) -> Result<()> {
        match &ty.kind {
            TypeKind::Enum(variants) => {
                let width = clog2(variants.len());
                for (value, variant) in variants.iter().enumerate() {
                    let source = variant.replace("::", "$");
                    let value = BigUint::from(value);
                    if let Some(known) = self.params.get(&source) {
                        if known.value != value || known.width != width {
                            return Err(node.error(None, Reason::EnumClash(ty.name.clone())));
                        }
                        continue;
                    }
                    let words: Vec<String> = variant.split("::").map(|w| snake(w).to_uppercase()).collect();
                    let name = self.names.take(&words.join("_"));
                    self.params.insert(source, Param { name, value, width });
                }
                Ok(())
            }
            TypeKind::Composite(fields) => fields.iter().try_for_each(|f| self.add_enums(node, &f.kind)),
            TypeKind::Signed(_) => Err(node.error(None, Reason::Signed)),
            TypeKind::Bits(_) => Ok(()),
        }
    }
}

/// Whether something inside the child has the child's own name: linters call it hidden.
fn has_inside(child: &Node, name: &str) -> bool {
    let atoms = child.atoms.iter().map(|a| &a.name).chain(child.children.iter().map(|c| &c.name));
    atoms.into_iter().any(|n| flat(n) == name)
}

/// Refuses keywords in any part of a name that reaches the Verilog by itself.
fn check_words(node: &Node, name: &str) -> Result<()> {
    if is_keyword(&flat(name)) {
        return Err(node.error(Some(name), Reason::Keyword(flat(name))));
    }
    Ok(())
}

fn constant_value(atom: &AtomInfo) -> BigUint {
    literal(&atom.value).0
}

/// The value and stated width of a literal: its fields are private, its Display form is not.
pub fn literal(literal: &VerilogLiteral) -> (BigUint, usize) {
    let text = literal.to_string();
    let (width, digits) = text.split_once('\'').unwrap_or(("0", &text));
    let (radix, digits) = match digits.as_bytes().first() {
        Some(b'b') => (2, &digits[1..]),
        Some(b'h') => (16, &digits[1..]),
        _ => (10, digits),
    };
    let value = BigUint::parse_bytes(digits.as_bytes(), radix).unwrap_or_default();
    (value, width.parse().unwrap_or(0))
}
