// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block tree, taken from a connected design by a `Probe`: atoms, children, kernels, type names.

use super::error::{PrintError, Reason, Result};
use rust_hdl::prelude::*;

/// What an atom is to the module that holds it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    Input,
    Output,
    Local,
    Constant,
}

/// A signal or constant of a block.
#[derive(Clone, Debug)]
pub struct AtomInfo {
    /// Name with `$` between its parts, as the kernel's syntax tree has it.
    pub name: String,
    pub role: Role,
    pub width: usize,
    pub ty: TypeDescriptor,
    /// The value of a constant.
    pub value: VerilogLiteral,
}

/// One block.
#[derive(Clone, Debug)]
pub struct Node {
    /// Instance name, with `$` for array elements.
    pub name: String,
    /// Path from the top, with dots.
    pub path: String,
    pub type_name: String,
    /// One line of purpose, from `block_name!`, or empty.
    pub doc: String,
    pub atoms: Vec<AtomInfo>,
    pub children: Vec<Node>,
    pub hdl: Verilog,
}

impl Node {
    /// The error of this block.
    pub fn error(&self, signal: Option<&str>, reason: Reason) -> PrintError {
        PrintError {
            path: self.path.clone(),
            signal: signal.map(|s| s.replace('$', ".")),
            reason,
        }
    }

    /// The initial value of rust-hdl's own flip-flop, if this block is one.
    pub fn flip_flop(&self) -> Option<String> {
        if self.type_name != "dff" {
            return None;
        }
        let Verilog::Custom(text) = &self.hdl else {
            return None;
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["initial", "begin", "q", "=", value, "end", "always", "@(posedge", "clock)", "begin", "q", "<=", "d;", "end"] => {
                Some(value.trim_end_matches(';').to_string())
            }
            _ => None,
        }
    }
}

/// Takes the tree of a connected design.
pub fn collect(block: &dyn Block, top: &str) -> Result<Node> {
    let mut taker = Taker::default();
    block.accept(top, &mut taker);
    if let Some(error) = taker.error {
        return Err(error);
    }
    taker.root.ok_or_else(|| PrintError {
        path: top.into(),
        signal: None,
        reason: Reason::Unsupported("the top is not a block".into()),
    })
}

#[derive(Default)]
struct Taker {
    open: Vec<(Node, usize)>,
    namespace: Vec<String>,
    root: Option<Node>,
    error: Option<PrintError>,
}

impl Probe for Taker {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let path = match self.open.last() {
            Some((parent, _)) => format!("{}.{}", parent.path, name.replace('$', ".")),
            None => name.to_string(),
        };
        let prefix: String = self.namespace.iter().map(|n| format!("{n}$")).collect();
        let timing = node.timing();
        let (type_name, doc) = match timing.first() {
            Some(t) => (t.name.clone(), if t.name == "dff" { String::new() } else { t.clock.clone() }),
            None => (String::new(), String::new()),
        };
        if type_name.is_empty() && self.error.is_none() {
            self.error = Some(PrintError {
                path: path.clone(),
                signal: None,
                reason: Reason::NoTypeName,
            });
        }
        let node = Node {
            name: format!("{prefix}{name}"),
            path,
            type_name,
            doc,
            atoms: vec![],
            children: vec![],
            hdl: node.hdl(),
        };
        self.open.push((node, self.namespace.len()));
        self.namespace.clear();
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_string());
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let Some((node, _)) = self.open.last_mut() else {
            return;
        };
        let prefix: String = self.namespace.iter().map(|n| format!("{n}$")).collect();
        let name = format!("{prefix}{name}");
        let role = match signal.kind() {
            AtomKind::InputParameter => Role::Input,
            AtomKind::OutputParameter => Role::Output,
            AtomKind::LocalSignal => Role::Local,
            AtomKind::Constant => Role::Constant,
            _ => {
                self.error.get_or_insert_with(|| node.error(Some(&name), Reason::Inout));
                return;
            }
        };
        if signal.bits() == 0 {
            self.error.get_or_insert_with(|| node.error(Some(&name), Reason::ZeroWidth));
        }
        if matches!(signal.descriptor().kind, TypeKind::Signed(_)) {
            self.error.get_or_insert_with(|| node.error(Some(&name), Reason::Signed));
        }
        let (width, ty, value) = (signal.bits(), signal.descriptor(), signal.verilog());
        node.atoms.push(AtomInfo {
            name,
            role,
            width,
            ty,
            value,
        });
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        let Some((node, _)) = self.open.pop() else {
            return;
        };
        match self.open.last_mut() {
            Some((parent, _)) => parent.children.push(node),
            None => self.root = Some(node),
        }
    }
}
