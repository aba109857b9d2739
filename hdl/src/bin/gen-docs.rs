// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the generated documents; with `--check` only says whether they are fresh.

use anyhow::{bail, Context, Result};
use clap::Parser;
use std::path::{Path, PathBuf};
use verbena_spec::{config::PRESETS, registers};

/// Writes docs/registers.md from the tables.
#[derive(Parser)]
struct Arguments {
    /// Write nothing; fail if a document is stale.
    #[arg(long)]
    check: bool,
    /// Folder of the documents.
    #[arg(long)]
    docs: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let docs = arguments
        .docs
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs"));
    let path = docs.join("registers.md");
    let want = registers::to_markdown(&PRESETS[0]);
    let have = std::fs::read_to_string(&path).unwrap_or_default();
    if have == want {
        println!("docs/registers.md is fresh");
        return Ok(());
    }
    if arguments.check {
        bail!("docs/registers.md is stale: run `cargo run --bin gen-docs`");
    }
    std::fs::write(&path, want).with_context(|| format!("write {}", path.display()))?;
    println!("docs/registers.md written");
    Ok(())
}
