// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of `gen-verilog`: what it writes, what it refuses, that two runs are equal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gen-verilog"))
        .args(args)
        .output()
        .expect("gen-verilog starts")
}

fn folder(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    dir
}

fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(dir)
        .expect("written")
        .flatten()
        .map(|e| (e.file_name().to_string_lossy().into_owned(), fs::read(e.path()).expect("readable")))
        .collect();
    all.sort();
    all
}

#[test]
fn two_runs_are_equal_byte_for_byte() {
    for preset in ["tengig", "cu"] {
        let (a, b) = (folder(&format!("{preset}_a")), folder(&format!("{preset}_b")));
        fs::create_dir_all(&b).expect("a folder");
        fs::write(b.join("old.v"), "// x, by verbena gen-verilog 0.0.0\n").expect("a stale module");
        for dir in [&a, &b] {
            let output = run(&["--preset", preset, "--out", &dir.display().to_string()]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let (a, b) = (contents(&a), contents(&b));
        assert!(a.iter().any(|(name, _)| name == "verbena_hca.v"));
        assert!(a.iter().any(|(name, _)| name == "verbena_hca.f"));
        assert!(a.iter().any(|(name, _)| name == "verbena_hca.core"));
        assert!(a == b, "{preset}: the runs differ");
    }
}

#[test]
fn nonsense_is_refused_in_one_line() {
    let file = folder("file");
    fs::write(&file, "in the way").expect("a file");
    let in_the_way = file.display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["--preset", "huge"], "unknown preset 'huge'"),
        (&["--set", "n_qps=100"], "power of two"),
        (&["--set", "n_qps=128"], "'tengig' is built with n_qps=16 or 64 or 256, not 128"),
        (&["--preset", "cu", "--set", "n_qps=16"], "'cu' is built with n_qps=4, not 16"),
        (&["--top", "ecp5", "--set", "n_qps=16"], "only the engine alone"),
        (
            &["--set", "roce_buffer=1"],
            "'tengig' is built with roce_buffer=32768 or 65536, not 1",
        ),
        (&["--set", "roce_buffer=65536", "--set", "n_qps=16"], "n_qps=256 only"),
        (&["--top", "ecp5", "--set", "roce_buffer=65536"], "only the engine alone"),
        (&["--set", "n_qps"], "KEY=VALUE"),
        (&["--set", "colour=red"], "unknown setting 'colour'"),
        (&["--out", &in_the_way], "can't write"),
    ];
    for (args, expected) in cases {
        let output = run(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
    }
}

#[test]
fn the_presets_are_listed() {
    let text = String::from_utf8_lossy(&run(&["--list"]).stdout).into_owned();
    assert!(text.contains("tengig") && text.contains("cu") && text.contains("n_qps"), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&run(&["--list", "--json"]).stdout).expect("JSON");
    assert_eq!(json["presets"][0]["name"], "tengig");
}

#[test]
fn the_lint_is_clean() {
    if Command::new("verilator").arg("--version").output().is_err() {
        eprintln!("verilator is not installed: skipped");
        return;
    }
    let check = |dir: String, more: &[&str]| {
        let output = run(&[&["--check", "--out", &dir], more].concat());
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    std::thread::scope(|scope| {
        for (i, set) in ["", "n_qps=16", "n_qps=64", "roce_buffer=65536"].into_iter().enumerate() {
            let dir = folder(&format!("lint{i}")).display().to_string();
            scope.spawn(move || match set {
                "" => check(dir, &[]),
                set => check(dir, &["--set", set]),
            });
        }
    });
}
