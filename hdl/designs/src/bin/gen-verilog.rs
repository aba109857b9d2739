// SPDX-License-Identifier: MIT OR Apache-2.0
//! `gen-verilog`: writes the engine as Verilog, one file a module, with file list, FuseSoC core and lint waivers.
//!
//! Exit status: 0 all done; 1 the lint found something; 2 a wrong preset or setting, an impossible combination, a folder
//! that can't be written, a design that can't be printed, Verilator missing for `--check`.

use clap::Parser;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use verbena_hdl::verilog::{build::WAIVERS, Design};
use verbena_spec::config::{Config, KEYS, PRESETS};
use verbena_spec::registers;

/// Write the Verbena HCA as Verilog-2005: one file per module, a file list, a FuseSoC core and the register map.
#[derive(Parser)]
#[command(name = "gen-verilog", version)]
struct Args {
    /// What to build for; see --list
    #[arg(long, value_name = "NAME", default_value = "tengig")]
    preset: String,
    /// What to write; all but `hca` and `cu` have 64 bits only
    #[arg(long, value_name = "TOP", value_enum, default_value = "hca")]
    top: Top,
    /// Folder to write to [default: target/verilog/PRESET, or target/verilog/TOP]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Change one setting of the preset, for example n_qps=64 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// List the presets and the settings, write nothing
    #[arg(long)]
    list: bool,
    /// Lint what was written with Verilator (-Wall)
    #[arg(long)]
    check: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Top {
    /// The engine
    Hca,
    /// The engine with the 10G MAC: XGMII
    HcaXgmii,
    /// The 10G MAC alone
    Mac,
    /// The `ecp5` board without its vendor cells
    Ecp5,
    /// The `cu` board without its vendor cells (with --preset cu)
    Cu,
}

/// A message for the user and the exit status.
struct Failure(u8, String);

fn refuse(message: impl ToString) -> Failure {
    Failure(2, message.to_string())
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = if args.list { list(&args) } else { generate(&args) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(status, message)) => {
            eprintln!("gen-verilog: {message}");
            ExitCode::from(status)
        }
    }
}

fn list(args: &Args) -> Result<(), Failure> {
    if args.json {
        let presets: Vec<_> = PRESETS
            .iter()
            .map(|p| (p.name, describe(p)))
            .map(|(n, d)| json!({ "name": n, "limits": d }))
            .collect();
        println!("{:#}", json!({ "presets": presets, "settings": KEYS }));
        return Ok(());
    }
    for preset in &PRESETS {
        println!("{:8} for {}", preset.name, preset.purpose);
        println!(
            "         {}-bit beats, {} QPs, {} MRs, PMTU up to {},",
            preset.data_bits, preset.n_qps, preset.n_mrs, preset.max_pmtu
        );
        println!(
            "         RoCE buffer {} bytes, longest frame {} bytes",
            preset.roce_buffer, preset.max_frame
        );
    }
    println!("\nsettings for --set: {}", KEYS.join(", "));
    for preset in &PRESETS {
        println!(
            "  n_qps of {}: {} (tables grow with it, logic hardly)",
            preset.name,
            preset.sizes_text()
        );
    }
    for preset in &PRESETS {
        println!(
            "  roce_buffer of {}: {} bytes (more early packets are held)",
            preset.name,
            preset.buffers_text()
        );
    }
    Ok(())
}

fn describe(config: &Config) -> serde_json::Value {
    json!({
        "purpose": config.purpose, "data_bits": config.data_bits, "clock_khz": config.clock_khz, "n_qps": config.n_qps, "sizes": config.sizes,
        "n_cqs": config.n_cqs, "n_mrs": config.n_mrs, "n_mtt": config.n_mtt, "n_gids": config.n_gids,
        "roce_buffer": config.roce_buffer, "buffers": config.buffers, "host_fifo": config.host_fifo, "max_frame": config.max_frame,
        "max_pmtu": config.max_pmtu, "ipv6": config.ipv6, "uc": config.uc, "ud": config.ud,
    })
}

fn configuration(args: &Args) -> Result<Config, Failure> {
    let mut config = Config::preset(&args.preset).map_err(refuse)?;
    for setting in &args.set {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| refuse(format!("--set {setting}: want KEY=VALUE")))?;
        config.set(key, value).map_err(refuse)?;
    }
    config.check().map_err(refuse)?;
    Ok(config)
}

fn generate(args: &Args) -> Result<(), Failure> {
    let config = configuration(args)?;
    let (design, folder) = match args.top {
        Top::Hca => (verbena_designs::emit(&config), config.name),
        Top::HcaXgmii => (verbena_designs::emit_xgmii(&config), "hca-xgmii"),
        Top::Mac => (verbena_designs::emit_mac(&config), "mac"),
        Top::Ecp5 => (verbena_designs::emit_ecp5(&config), "ecp5"),
        Top::Cu => (verbena_designs::emit_cu(&config), "cu-board"),
    };
    let design = design.map_err(refuse)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("target/verilog").join(folder));
    let files = files(&config, &design);
    write_all(&out, &files)?;
    let lint = if args.check { Some(lint(&out, &design.top)?) } else { None };
    report(args, &config, &design, &out, &files, lint.as_deref());
    match lint {
        Some(log) if !log.is_empty() => Err(Failure(1, format!("Verilator warns:\n{log}"))),
        _ => Ok(()),
    }
}

/// Everything to write: (name, text).
fn files(config: &Config, design: &Design) -> Vec<(String, String)> {
    let top = &design.top;
    let mut files: Vec<(String, String)> = design.files().into_iter().map(|(name, text)| (name, text.to_string())).collect();
    files.push((format!("{top}.f"), design.file_list()));
    files.push((format!("{top}.core"), fusesoc(config, design)));
    files.push((format!("{top}.vlt"), waivers()));
    files.extend(register_map(config));
    files
}

/// The register map as Markdown, JSON and C header.
fn register_map(config: &Config) -> Vec<(String, String)> {
    vec![
        ("registers.md".into(), registers::to_markdown(config)),
        ("registers.json".into(), registers::to_json(config)),
        ("verbena_registers.h".into(), registers::to_c_header(config)),
    ]
}

fn fusesoc(config: &Config, design: &Design) -> String {
    let files: String = design.modules.iter().map(|m| format!("      - {}.v\n", m.name)).collect();
    let top = &design.top;
    format!(
        "CAPI=2:\nname: verbena:roce:{top}:{version}\ndescription: RoCEv2 host channel adapter, preset {preset}\n\n\
         filesets:\n  rtl:\n    files:\n{files}    file_type: verilogSource-2005\n  lint:\n    files:\n      - {top}.vlt\n\
         \x20   file_type: vlt\n\ntargets:\n  default:\n    filesets: [rtl]\n    toplevel: {top}\n  lint:\n\
         \x20   default_tool: verilator\n    filesets: [lint, rtl]\n    toplevel: {top}\n    tools:\n      verilator:\n\
         \x20       mode: lint-only\n        verilator_options: [-Wall]\n",
        version = env!("CARGO_PKG_VERSION"),
        preset = config.name,
    )
}

fn waivers() -> String {
    let rules: String = WAIVERS
        .iter()
        .map(|(rule, why)| format!("// {why}\nlint_off -rule {rule}\n"))
        .collect();
    format!("`verilator_config\n{rules}")
}

fn write_all(out: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let fail = |path: &Path, e: std::io::Error| refuse(format!("can't write {}: {e}", path.display()));
    fs::create_dir_all(out).map_err(|e| fail(out, e))?;
    // Modules of an earlier run that this one hasn't: the folder is the same whatever was there before.
    for entry in fs::read_dir(out).map_err(|e| fail(out, e))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = || fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(", by verbena gen-verilog "));
        if name.ends_with(".v") && !files.iter().any(|(n, _)| *n == name) && ours() {
            fs::remove_file(entry.path()).map_err(|e| fail(&entry.path(), e))?;
        }
    }
    for (name, text) in files {
        let path = out.join(name);
        fs::write(&path, text).map_err(|e| fail(&path, e))?;
    }
    Ok(())
}

/// Verilator's warnings, empty if there are none.
fn lint(out: &Path, top: &str) -> Result<String, Failure> {
    let mut command = Command::new("verilator");
    command
        .current_dir(out)
        .args(["--lint-only", "-Wall", "-Wno-fatal", "--top-module", top]);
    let output = command.arg(format!("{top}.vlt")).args(["-f", &format!("{top}.f")]).output();
    let output =
        output.map_err(|_| refuse("--check needs Verilator, which is not installed (Debian, Ubuntu: apt-get install verilator)"))?;
    let log = String::from_utf8_lossy(&output.stderr).trim().to_string();
    if output.status.success() || !log.is_empty() {
        Ok(log)
    } else {
        Err(refuse("Verilator failed without a message"))
    }
}

fn report(args: &Args, config: &Config, design: &Design, out: &Path, files: &[(String, String)], lint: Option<&str>) {
    let lines: usize = design.modules.iter().map(|m| m.text.lines().count()).sum();
    if args.json {
        let ports: Vec<_> = design
            .ports
            .iter()
            .map(|p| json!({ "name": p.name, "width": p.width, "input": p.input }))
            .collect();
        let names: Vec<&String> = files.iter().map(|(name, _)| name).collect();
        let report = json!({
            "preset": config.name, "limits": describe(config), "top": design.top, "out": out.display().to_string(),
            "lines": lines, "files": names, "ports": ports, "lint": lint.map(|l| json!({ "clean": l.is_empty(), "log": l })),
        });
        println!("{report:#}");
        return;
    }
    println!(
        "{} ({}): {} modules, {lines} lines in {}",
        design.top,
        config.name,
        design.modules.len(),
        out.display()
    );
    println!("file list {0}.f, FuseSoC core {0}.core, lint waivers {0}.vlt", design.top);
    if lint.is_some_and(str::is_empty) {
        println!("Verilator -Wall: clean");
    }
}
