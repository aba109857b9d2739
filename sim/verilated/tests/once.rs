// SPDX-License-Identifier: MIT OR Apache-2.0
//! A package that two of cargo's plans want with different features is compiled twice, and the engine's takes minutes. So the build script
//! here, `cargo run`, and `cargo test` want the same of each.

use std::collections::BTreeMap;
use std::process::Command;

/// Packages and their features, as `cargo tree` with these options says.
fn features(options: &[&str]) -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--offline", "--prefix", "none", "--format", "{p}|{f}"])
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // "NAME vVERSION (proc-macro or folder)|FEATURES"
    let pair = |line: &str| {
        let (package, features) = line.split_once('|')?;
        let name: Vec<&str> = package.split(' ').take(2).collect();
        Some((name.join(" "), features.trim_end_matches(" (*)").to_string()))
    };
    text.lines().filter_map(pair).collect()
}

fn compare(options: &[&str]) {
    let tested = features(&["--workspace", "--edges", "normal,build,dev"]);
    let found = features(options);
    assert!(found.keys().any(|name| name.starts_with("rust-hdl ")), "nothing found: {found:?}");
    let other: Vec<_> = found.iter().filter(|(name, list)| tested.get(*name) != Some(list)).collect();
    assert!(
        other.is_empty(),
        "cargo tree {options:?}: with other features than in cargo test, so it and what uses it are compiled twice: {other:?}"
    );
}

#[test]
fn the_build_script_shares_the_engine_with_the_tests() {
    compare(&["--package", "verbena-verilated", "--edges", "normal,build"]);
}

#[test]
fn programs_share_everything_with_the_tests() {
    compare(&["--workspace", "--edges", "normal,build"]);
}
