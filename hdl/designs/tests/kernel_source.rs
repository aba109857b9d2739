// SPDX-License-Identifier: MIT OR Apache-2.0
//! What rust-hdl's syntax tree loses, checked in the source: match guards, inclusive ranges, arithmetic on `.index()`.
//! The kernel lint: every design of every preset prints. And that no test stands where none runs.

use std::fs;
use std::path::{Path, PathBuf};
use verbena_spec::config::PRESETS;

/// The kernels of a source file: (line number, text) of each line, comments cut.
fn kernels(source: &str) -> Vec<(usize, String)> {
    let mut out = vec![];
    let (mut depth, mut waiting, mut inside) = (0i32, false, false);
    for (number, line) in source.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        if code.trim() == "#[hdl_gen]" {
            waiting = true;
            continue;
        }
        if waiting && code.contains("fn update") {
            (waiting, inside, depth) = (false, true, 0);
        }
        if inside {
            out.push((number + 1, code.to_string()));
            depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
            inside = depth > 0;
        }
    }
    out
}

/// Why a line of a kernel would print as something else.
fn lost(line: &str) -> Option<&'static str> {
    if line.split_once("=>").is_some_and(|(pattern, _)| pattern.contains(" if ")) {
        return Some("a match guard is lost in the Verilog: nest an `if` in the arm");
    }
    if line.contains("..=") {
        return Some("an inclusive range loses its last iteration: write `..n + 1`");
    }
    if index_arithmetic(line) {
        return Some("arithmetic on `.index()` is 64 bits wide in Rust and loses its width: use a Local");
    }
    None
}

fn index_arithmetic(line: &str) -> bool {
    line.match_indices(".index()").any(|(at, call)| {
        let after = line[at + call.len()..].trim_start();
        let follows = after.starts_with(['+', '-', '*', '/', '%', '^'])
            || after.starts_with("<<")
            || after.starts_with(">>")
            || (after.starts_with('&') && !after.starts_with("&&"))
            || (after.starts_with('|') && !after.starts_with("||"));
        // Back over the expression that is indexed.
        let (mut depth, mut before) = (0, "");
        for (i, c) in line[..at].char_indices().rev() {
            match c {
                ')' | ']' => depth += 1,
                '(' | '[' if depth > 0 => depth -= 1,
                _ if depth > 0 || c.is_alphanumeric() || "_.:<>".contains(c) => {}
                _ => {
                    before = line[..=i].trim_end();
                    break;
                }
            }
        }
        follows || before.ends_with(['+', '-', '*', '/', '%', '^'])
    })
}

/// What cargo is told not to look for (`test = false`, `doctest = false`), so it would never run.
fn never_run(source: &str) -> Option<&'static str> {
    if source.lines().any(|line| ["#[test]", "#[cfg(test)]"].contains(&line.trim())) {
        return Some("a unit test never runs here: put it into tests/");
    }
    let mut open = false;
    for line in source.lines() {
        if let Some(kind) = line.trim().trim_start_matches(['/', '!']).trim().strip_prefix("```") {
            if !open && kind != "text" {
                return Some("an example never runs here: mark it as text");
            }
            open = !open;
        }
    }
    None
}

/// The Rust files of the engine and of the whole designs.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut waiting = vec![root.join("src"), root.join("../src")];
    let mut found = vec![];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).expect("a folder of the engine").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let source = fs::read_to_string(&path).expect("readable");
                found.push((path, source));
            }
        }
    }
    assert!(found.len() > 150, "{}", found.len());
    found
}

#[test]
fn kernels_use_nothing_that_is_lost() {
    let mut problems = vec![];
    for (path, source) in sources() {
        for (number, line) in kernels(&source) {
            if let Some(why) = lost(&line) {
                problems.push(format!("{}:{number}: {why}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn tests_are_where_they_run() {
    let problems: Vec<String> = sources()
        .iter()
        .filter_map(|(path, source)| never_run(source).map(|why| format!("{}: {why}", path.display())))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(never_run("    #[test]\n").is_some());
    assert!(never_run("#[cfg(test)]\nmod tests {\n").is_some());
    assert!(never_run("//! ```\n//! let a = 1;\n//! ```\n").is_some());
    assert!(never_run("/// ```text\n/// a ─► b\n/// ```\n").is_none());
}

#[test]
fn the_check_finds_what_it_should() {
    assert!(lost("            1 if self.f.val() => {").is_some());
    assert!(lost("        for i in 0..=3 {").is_some());
    assert!(lost("if self.a.val().index() + 1 == 3 {").is_some());
    assert!(lost("if i + self.a.val().index() == 3 {").is_some());
    assert!(lost("if (self.a.val() + 1).index() == i {").is_none());
    assert!(lost("if self.a.val().index() == i && self.f.val() {").is_none());
    let source = "#[hdl_gen]\nfn update(&mut self) {\n  x // 0..=3\n}\nfn other() { 0..=3; }\n";
    assert!(kernels(source).iter().all(|(_, l)| lost(l).is_none()));
}

#[test]
fn every_design_prints() {
    for preset in &PRESETS {
        let designs = verbena_designs::designs(preset).unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        assert!(!designs.is_empty());
    }
}
