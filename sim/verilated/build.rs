// SPDX-License-Identifier: MIT OR Apache-2.0
//! Emits each preset's Verilog and makes a library of it with Verilator and the C++ compiler.
//!
//! The result is cached under `target/verilated-cache` by the hash of the Verilog, the C++ shim, Verilator's version and the flags, so an
//! unchanged engine costs nothing. `VERILATOR` names another Verilator than the one on PATH.

use anyhow::{anyhow, bail, Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use verbena_hdl::verilog::build::{build, verilator, BuildOptions, Library};
use verbena_hdl::verilog::{Design, Port};
use verbena_spec::config::{Config, PRESETS};

/// Oldest Verilator that this is tried with.
const FLOOR: (u32, u32) = (5, 6);

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=VERILATOR");
    println!("cargo::rerun-if-env-changed=PATH");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let cache = target_directory(&out)?.join("verilated-cache");
    let traced = std::env::var_os("CARGO_FEATURE_TRACE").is_some();
    check_tools()?;
    let mut models = String::new();
    let deep = std::env::var_os("CARGO_FEATURE_DEEP").is_some();
    for mut config in PRESETS {
        if deep {
            config.roce_buffer = *config.buffers.last().context("a preset has a buffer")?;
        }
        let design = verbena_designs::emit(&config).map_err(|e| anyhow!("preset {}: {e}", config.name))?;
        models.push_str(&model(&config, &design, &cache, traced)?);
    }
    std::fs::write(out.join("models.rs"), format!("&[{models}]")).context("writing models.rs")
}

/// Builds what is asked for of one preset; the text of its `Model`.
fn model(config: &Config, design: &Design, cache: &Path, traced: bool) -> Result<String> {
    let text = design.to_single_text();
    let make = |trace: bool| -> Result<String> {
        let options = BuildOptions {
            library: Library::Shared,
            trace,
            optimise: level(),
            lint: false,
        };
        let built = build(&text, &design.top, &design.ports, cache, &options).map_err(|e| anyhow!("preset {}: {e}", config.name))?;
        // For cargo what is newer than the start of this script has changed since: it would be run once more the next time.
        std::fs::File::options()
            .append(true)
            .open(&built.library)
            .and_then(|library| library.set_modified(std::time::SystemTime::UNIX_EPOCH))
            .with_context(|| format!("setting the time of {}", built.library.display()))?;
        println!("cargo::rerun-if-changed={}", built.library.display());
        Ok(format!("{:?}", built.library))
    };
    let library = make(false)?;
    let traced = if traced { format!("Some({})", make(true)?) } else { "None".into() };
    let ports: String = design.ports.iter().map(port).collect();
    Ok(format!(
        "Model {{ preset: {:?}, top: {:?}, roce_buffer: {}, library: {library}, traced: {traced}, ports: &[{ports}] }},",
        config.name, design.top, config.roce_buffer
    ))
}

/// The C++ compiler's level: tests are too short to earn a slow compilation back, what `--release` is for earns it (a tenth faster).
fn level() -> u8 {
    match std::env::var("PROFILE").as_deref() {
        Ok("release") => 3,
        _ => 1,
    }
}

fn port(port: &Port) -> String {
    let Port { name, width, input, clock } = port;
    format!("Port {{ name: {name:?}, width: {width}, input: {input}, clock: {clock} }},")
}

/// Cargo's target directory, wherever it was put: the one with the cache tag.
fn target_directory(out: &Path) -> Result<PathBuf> {
    let found = out
        .ancestors()
        .find(|p| p.join("CACHEDIR.TAG").exists())
        .or_else(|| out.ancestors().nth(4));
    found
        .map(Path::to_path_buf)
        .ok_or_else(|| anyhow!("no target directory above {}", out.display()))
}

/// Says what to install before anything fails half-way.
fn check_tools() -> Result<()> {
    let tool = verilator();
    let Ok(output) = Command::new(&tool).arg("--version").output() else {
        bail!("'{tool}' doesn't run: the engine's simulation needs Verilator {}.{:03} or newer (Debian, Ubuntu: apt-get install verilator; or set VERILATOR)", FLOOR.0, FLOOR.1);
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text.split_whitespace().nth(1).unwrap_or_default();
    let mut parts = number.split('.').map(|p| p.parse::<u32>().ok());
    // Some packages report no number; those are newer.
    if let (Some(Some(major)), Some(Some(minor))) = (parts.next(), parts.next()) {
        if (major, minor) < FLOOR {
            bail!(
                "Verilator {number} is too old: {}.{:03} is the oldest that works (set VERILATOR to a newer one)",
                FLOOR.0,
                FLOOR.1
            );
        }
    }
    if Command::new("c++").arg("--version").output().is_err() {
        bail!("no C++ compiler 'c++': Verilated models need one (Debian, Ubuntu: apt-get install g++)");
    }
    Ok(())
}
