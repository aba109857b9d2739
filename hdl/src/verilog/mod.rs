// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilog printer: a connected rust-hdl design in, readable Verilog-2005 out, that means the same bit for bit.
//!
//! ```text
//! tree    blocks, atoms, kernels, by a Probe          scope   what the names of a kernel mean
//! lower   expressions get Rust's widths                kernel  loops unrolled, links → assignments
//! slice   one driver per signal, latches refused       print   expressions, statements as text
//! module  one module's text                            shim    C++ around a Verilated model
//! ```
//!
//! See `docs/printer.md` for what it prints, what it refuses and how it is tested.

pub mod build;
mod cut;
mod error;
mod expr;
mod kernel;
mod lower;
mod module;
mod names;
mod print;
mod scope;
pub mod shim;
mod slice;
mod tree;

pub use error::{PrintError, Reason, Result};
pub use names::is_keyword;

use rust_hdl::prelude::Block;
use std::collections::{BTreeMap, BTreeSet};
use tree::Node;

/// How to print.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Put before every module's name but the top's, so that two cores fit into one design.
    pub prefix: String,
}

/// A port of the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub width: usize,
    pub input: bool,
    pub clock: bool,
}

/// One module.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    pub text: String,
}

/// A printed design, children before parents, the top last.
#[derive(Clone, Debug)]
pub struct Design {
    pub top: String,
    pub ports: Vec<Port>,
    pub modules: Vec<Module>,
}

impl Design {
    /// All modules in one text.
    pub fn to_single_text(&self) -> String {
        self.modules.iter().map(|m| m.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// (file name, text) of one file per module.
    pub fn files(&self) -> Vec<(String, &str)> {
        self.modules.iter().map(|m| (format!("{}.v", m.name), m.text.as_str())).collect()
    }

    /// The file list: one name a line, children before parents.
    pub fn file_list(&self) -> String {
        self.modules.iter().map(|m| format!("{}.v\n", m.name)).collect()
    }
}

/// Prints a connected design (`connect_all` has been called) with the module name `top`.
pub fn emit(block: &dyn Block, top: &str, options: &Options) -> Result<Design> {
    let root = tree::collect(block, top)?;
    if is_keyword(top) {
        return Err(root.error(None, Reason::Keyword(top.into())));
    }
    let mut emitter = Emitter {
        options,
        names: BTreeSet::from([top.to_string()]),
        bodies: BTreeMap::new(),
        modules: vec![],
    };
    emitter.module(&root, Some(top))?;
    Ok(Design {
        top: top.into(),
        ports: module::ports(&root),
        modules: emitter.modules,
    })
}

struct Emitter<'a> {
    options: &'a Options,
    names: BTreeSet<String>,
    /// Module by (type, body).
    bodies: BTreeMap<(String, String), String>,
    modules: Vec<Module>,
}

impl Emitter<'_> {
    fn module(&mut self, node: &Node, name: Option<&str>) -> Result<String> {
        let mut children = vec![];
        for child in &node.children {
            children.push(if child.flip_flop().is_some() {
                None
            } else {
                Some(self.module(child, None)?)
            });
        }
        let body = module::body(node, &children)?;
        let key = (node.type_name.clone(), body);
        if name.is_none() {
            if let Some(known) = self.bodies.get(&key) {
                return Ok(known.clone());
            }
        }
        let name = match name {
            Some(name) => name.to_string(),
            None => self.free_name(&node.type_name),
        };
        let text = format!("{}module {name}{}", banner(node), key.1);
        self.bodies.insert(key, name.clone());
        self.modules.push(Module { name: name.clone(), text });
        Ok(name)
    }

    /// The type's name, numbered where two designs of one type differ.
    fn free_name(&mut self, type_name: &str) -> String {
        let base = format!("{}{}", self.options.prefix, names::module_name(type_name));
        let mut name = base.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{base}_v{number}");
        }
        name
    }
}

fn banner(node: &Node) -> String {
    let doc = if node.doc.is_empty() {
        String::new()
    } else {
        format!("// {}\n", node.doc)
    };
    let source = node.type_name.split('<').next().unwrap_or_default();
    format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n{doc}// {source}, by verbena gen-verilog {}\n",
        env!("CARGO_PKG_VERSION")
    )
}
