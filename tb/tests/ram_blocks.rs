// SPDX-License-Identifier: MIT OR Apache-2.0
//! RAM blocks of the `tengig` engine in an ECP5, from the printed text: 190 or fewer, with a receive buffer of 64 KiB too. The same as yosys' `synth_ecp5` makes of each RAM.

use std::collections::HashMap;
use verbena_spec::config::Config;

/// Blocks that the engine may have.
const MOST: usize = 190;
/// Words, log2, and bits up to which yosys puts a RAM into logic cells (distributed RAM).
const SHALLOW: usize = 5;
const FEW_BITS: usize = 256;
/// Forms of a block of 18 kbit: words, bits.
const FORMS: [(usize, usize); 6] = [(512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1)];

/// Blocks of a RAM of so many words of `bits`.
fn blocks(words: usize, bits: usize) -> usize {
    if words <= 1 << SHALLOW || words * bits <= FEW_BITS {
        return 0;
    }
    let form = |(deep, wide): (usize, usize)| words.div_ceil(deep) * bits.div_ceil(wide);
    FORMS.into_iter().map(form).min().unwrap()
}

/// Words and bits of the memory in a line of a RAM module: `reg [31:0] mem [0:1023];`.
fn memory(line: &str) -> Option<(usize, usize)> {
    let (bits, words) = line.trim().strip_prefix("reg [")?.strip_suffix("];")?.split_once(":0] mem [0:")?;
    Some((words.parse::<usize>().ok()? + 1, bits.parse::<usize>().ok()? + 1))
}

/// Blocks of each RAM module that may become blocks.
fn rams(text: &str) -> HashMap<&str, usize> {
    let mut found = HashMap::new();
    let mut inside = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("module ").and_then(|l| l.strip_suffix(" (")) {
            inside = name;
        }
        if inside.starts_with("split_ram_") || inside.starts_with("sdp_ram_") {
            found.extend(memory(line).map(|(words, bits)| (inside, blocks(words, bits))));
        }
    }
    found
}

/// Each module's children, one entry an instance.
fn children(text: &str) -> HashMap<&str, Vec<&str>> {
    let mut modules: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut inside = "";
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["module", name, "("] => {
                inside = name;
                modules.insert(name, vec![]);
            }
            [child, _, "("] if line.starts_with("  ") => modules.get_mut(inside).unwrap().push(child),
            _ => {}
        }
    }
    modules
}

fn count(modules: &HashMap<&str, Vec<&str>>, rams: &HashMap<&str, usize>, module: &str, found: &mut HashMap<String, usize>) -> usize {
    if let Some(cost) = rams.get(module) {
        *found.entry(module.into()).or_default() += cost;
        return *cost;
    }
    let children = modules.get(module).map(Vec::as_slice).unwrap_or_default();
    children.iter().map(|child| count(modules, rams, child, found)).sum()
}

fn total(config: &Config) -> usize {
    let design = verbena_designs::emit(config).unwrap();
    let text = design.to_single_text();
    let (modules, rams) = (children(&text), rams(&text));
    let named = |name: &&str| name.starts_with("split_ram_") || name.starts_with("sdp_ram_");
    assert_eq!(modules.keys().filter(|m| named(m)).count(), rams.len(), "a RAM's text isn't read");
    let mut found = HashMap::new();
    let total = count(&modules, &rams, &design.top, &mut found);
    println!("{total} blocks: {found:?}");
    assert!(total > 100, "only {total} blocks found: is the text read right?");
    total
}

#[test]
fn tengig_has_190_ram_blocks_or_fewer() {
    assert!(total(&Config::preset("tengig").unwrap()) <= MOST);
}

#[test]
fn tengig_has_190_ram_blocks_or_fewer_with_64_kib_of_receive_buffer() {
    let config = Config {
        roce_buffer: 64 << 10,
        ..Config::preset("tengig").unwrap()
    };
    assert!(total(&config) <= MOST);
}
