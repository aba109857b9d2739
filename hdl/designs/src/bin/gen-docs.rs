// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the generated documents; with `--check` only says whether they are fresh.

use anyhow::{bail, Context, Result};
use clap::Parser;
use std::path::{Path, PathBuf};
use verbena_spec::{config::PRESETS, registers, testplan};

/// Writes docs/registers.md from the tables and docs/testplan.md from the tests' names.
#[derive(Parser)]
struct Arguments {
    /// Write nothing; fail if a document is stale.
    #[arg(long)]
    check: bool,
    /// Root of the project.
    #[arg(long)]
    root: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let root = arguments
        .root
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let plan = testplan::to_markdown(&root).with_context(|| format!("reading the tests under {}", root.display()))?;
    for (name, want) in [("registers.md", registers::to_markdown(&PRESETS[0])), ("testplan.md", plan)] {
        let path = root.join("docs").join(name);
        if std::fs::read_to_string(&path).unwrap_or_default() == want {
            println!("docs/{name} is fresh");
        } else if arguments.check {
            bail!("docs/{name} is stale: run `cargo run --bin gen-docs`");
        } else {
            std::fs::write(&path, want).with_context(|| format!("write {}", path.display()))?;
            println!("docs/{name} written");
        }
    }
    Ok(())
}
