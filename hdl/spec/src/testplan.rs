// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test plan: rule → tests, found by their names. A test that proves rule R24 is called `r24_…`, one of several `r1_to_r5_…`; one that plays
//! scenario 2 `scenario_2_…`, its rules behind the number.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Rules of the wire: R1 to R79.
const RULES: u32 = 79;

/// Scenarios of the conformance page: 1 to 8.
const SCENARIOS: u32 = 8;
/// Where scenarios stand behind the rules in the list of what was found.
const SCENARIO_BASE: u32 = 1000;

/// Folders that hold tests.
const FOLDERS: [&str; 4] = ["hdl", "sim", "tb", "fpga"];

/// What a test holds to the rule.
const COLUMNS: [&str; 2] = ["tables, golden model, host library", "RTL"];
/// Pause is the MAC's, and there is no golden model of that.
const MAC_RULE: u32 = 79;

/// Tests by rule (or [`SCENARIO_BASE`] and scenario), a list for each of [`COLUMNS`].
type Found = BTreeMap<u32, [Vec<String>; 2]>;

/// `docs/testplan.md` for the project at `root`. Errors: a source file that can't be read.
pub fn to_markdown(root: &Path) -> io::Result<String> {
    let mut found = Found::new();
    for folder in FOLDERS {
        walk(&root.join(folder), root, &mut found)?;
    }
    let [model, rtl] = COLUMNS;
    let mut text = format!(
        "<!-- Made by `cargo run --bin gen-docs`; don't edit. -->\n# Test plan\n\nRule of the wire → tests named after it. `tb` tests hold stations of the RTL to the rule, `sim/tests` the Verilated engine. R{MAC_RULE} is the MAC's alone. Any\nother rule without a test is a shortfall.\n\n| rule | {model} | {rtl} |\n|---|---|---|\n"
    );
    let cells = |key: u32| -> String {
        let list = |n: usize| found.get(&key).map(|f| f[n].join("<br>")).filter(|t| !t.is_empty());
        [0, 1].map(|n| list(n).unwrap_or("–".into())).join(" | ")
    };
    for rule in 1..=RULES {
        text.push_str(&format!("| R{rule} | {} |\n", cells(rule)));
    }
    text.push_str(&format!("\n| scenario | {model} | {rtl} |\n|---|---|---|\n"));
    for scenario in 1..=SCENARIOS {
        text.push_str(&format!("| {scenario} | {} |\n", cells(SCENARIO_BASE + scenario)));
    }
    let covered = found.keys().filter(|r| (1..=RULES).contains(*r)).count();
    text.push_str(&format!("\n{covered} of {RULES} rules have a test.\n"));
    for (n, column) in COLUMNS.iter().enumerate() {
        let missing: Vec<String> = (1..=RULES)
            .filter(|rule| (n == 1 || *rule != MAC_RULE) && found.get(rule).is_none_or(|f| f[n].is_empty()))
            .map(|rule| format!("R{rule}"))
            .collect();
        let missing = if missing.is_empty() { "none".into() } else { missing.join(", ") };
        text.push_str(&format!("Without one ({column}): {missing}.\n"));
    }
    Ok(text)
}

/// Which of [`COLUMNS`] a file's tests belong to.
fn column(file: &str) -> usize {
    usize::from(file.starts_with("tb/") || file.starts_with("sim/tests/") || file.starts_with("fpga/"))
}

fn walk(folder: &Path, root: &Path, found: &mut Found) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut paths: Vec<_> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, root, found)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            tests(&fs::read_to_string(&path)?, &name, found);
        }
    }
    Ok(())
}

/// Functions called `rN_…` or `rN_to_rM_…` that follow a `#[test]`, and names that a macro of the file makes tests of: `both!(rN_…, …);` or, in its
/// body, `rN_… => …;`.
fn tests(text: &str, file: &str, found: &mut Found) {
    let mut attribute = false;
    for whole in text.lines() {
        let line = whole.trim();
        let names: Vec<&str> = if let Some(rest) = line.strip_prefix("fn ").filter(|_| attribute) {
            rest.split('(').take(1).collect()
        } else if let Some((name, _)) = line.split_once(" => ").filter(|_| line.ends_with(';')) {
            vec![name]
        } else if let Some((_, arguments)) = whole.split_once("!(").filter(|(name, _)| is_name(name)) {
            arguments.split(',').map(str::trim).collect()
        } else {
            vec![]
        };
        for name in names.into_iter().filter(|name| is_name(name)) {
            for rule in rules(name) {
                found.entry(rule).or_default()[column(file)].push(format!("`{name}` ({file})"));
            }
        }
        attribute = line.starts_with("#[") && (attribute || line == "#[test]");
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// The rules in a test's name.
fn rules(name: &str) -> Vec<u32> {
    let number = |part: &str| part.strip_prefix('r').and_then(|n| n.parse::<u32>().ok());
    let parts: Vec<&str> = name.split('_').collect();
    match parts[..] {
        ["scenario", number, ..] => match number.parse::<u32>() {
            Ok(scenario) => {
                let more = rules(parts[2..].join("_").as_str());
                std::iter::once(SCENARIO_BASE + scenario).chain(more).collect()
            }
            Err(_) => vec![],
        },
        [first, "to", last, ..] => match (number(first), number(last)) {
            (Some(a), Some(b)) => (a..=b).collect(),
            _ => vec![],
        },
        _ => parts.iter().map_while(|p| number(p)).collect(),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn names_tell_rules() {
        assert_eq!(rules("r1_to_r3_frames"), [1, 2, 3]);
        assert_eq!(rules("scenario_2_r11_r39_opcodes"), [1002, 11, 39]);
        assert_eq!(rules("r57_r73_resume"), [57, 73]);
        assert_eq!(rules("registers_r1"), [0; 0]);
        let mut found = Found::new();
        let text = "#[test]\nfn r24_nak() {}\nfn r25_helper() {}\nboth!(r26_a_64, r26_a_32, body, 3);\n    r27_case => body;\n    assert!(r28_no);\n";
        tests(text, "tb/x.rs", &mut found);
        assert_eq!(found.keys().collect::<Vec<_>>(), [&24, &26, &27]);
        assert_eq!(
            found[&26],
            [vec![], vec!["`r26_a_64` (tb/x.rs)".to_string(), "`r26_a_32` (tb/x.rs)".into()]]
        );
    }
}
