// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated documents are what the tables say.

use verbena_spec::{config::PRESETS, registers};

#[test]
fn registers_page_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/registers.md");
    let have = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        have == registers::to_markdown(&PRESETS[0]),
        "docs/registers.md is stale: run `cargo run --bin gen-docs`"
    );
}

#[test]
fn test_plan_is_fresh() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let have = std::fs::read_to_string(root.join("docs/testplan.md")).unwrap_or_default();
    assert!(
        have == verbena_spec::testplan::to_markdown(root).unwrap(),
        "docs/testplan.md is stale: run `cargo run --bin gen-docs`"
    );
}
