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

/// `docs/testplan.md` for the project at `root`. Errors: a source file that can't be read.
pub fn to_markdown(root: &Path) -> io::Result<String> {
    let mut found: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for folder in FOLDERS {
        walk(&root.join(folder), root, &mut found)?;
    }
    let mut text = String::from(
        "<!-- Made by `cargo run --bin gen-docs`; don't edit. -->\n# Test plan\n\nRule of the wire → tests named after it. `sim/model` tests hold the golden model to the rule, `tb` tests the RTL. A rule without a test waits for the\nhalf of the engine that it speaks of (requester, READ, ATOMIC, reorder), or is a shortfall.\n\n| rule | tests |\n|---|---|\n",
    );
    for rule in 1..=RULES {
        let tests = found.get(&rule).map_or("–".to_string(), |t| t.join("<br>"));
        text.push_str(&format!("| R{rule} | {tests} |\n"));
    }
    text.push_str("\n| scenario | tests |\n|---|---|\n");
    for scenario in 1..=SCENARIOS {
        let tests = found.get(&(SCENARIO_BASE + scenario)).map_or("–".to_string(), |t| t.join("<br>"));
        text.push_str(&format!("| {scenario} | {tests} |\n"));
    }
    let covered = found.keys().filter(|r| (1..=RULES).contains(*r)).count();
    text.push_str(&format!("\n{covered} of {RULES} rules have a test.\n"));
    Ok(text)
}

fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<u32, Vec<String>>) -> io::Result<()> {
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

/// Functions called `rN_…` or `rN_to_rM_…` that follow a `#[test]`.
fn tests(text: &str, file: &str, found: &mut BTreeMap<u32, Vec<String>>) {
    let mut attribute = false;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("fn ").and_then(|l| l.split('(').next()).filter(|_| attribute) {
            for rule in rules(name) {
                found.entry(rule).or_default().push(format!("`{name}` ({file})"));
            }
        }
        attribute = line.starts_with("#[") && (attribute || line == "#[test]");
    }
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
        let mut found = BTreeMap::new();
        tests("#[test]\nfn r24_nak() {}\nfn r25_helper() {}\n", "x.rs", &mut found);
        assert_eq!(found.keys().collect::<Vec<_>>(), [&24]);
    }
}
