// SPDX-License-Identifier: MIT OR Apache-2.0
//! RAM blocks of the `tengig` engine in an ECP5, from the printed text: 190 or fewer. The same as yosys' `synth_ecp5` makes of each RAM.

use std::collections::HashMap;
use verbena_spec::config::Config;

/// Blocks that the engine may have.
const MOST: usize = 190;
/// Words, log2, and bits up to which yosys puts a RAM into logic cells (distributed RAM).
const SHALLOW: usize = 5;
const FEW_BITS: usize = 256;
/// Forms of a block of 18 kbit: words, bits.
const FORMS: [(usize, usize); 6] = [(512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1)];

/// Blocks of a RAM of `2^address` words of `bits`.
fn blocks(address: usize, bits: usize) -> usize {
    let words = 1usize << address;
    if address <= SHALLOW || words * bits <= FEW_BITS {
        return 0;
    }
    let form = |(deep, wide): (usize, usize)| words.div_ceil(deep) * bits.div_ceil(wide);
    FORMS.into_iter().map(form).min().unwrap()
}

/// Address and data bits of a RAM module, by its name: `split_ram_12_32`.
fn ram(module: &str) -> Option<(usize, usize)> {
    let sizes = module.strip_prefix("split_ram_").or_else(|| module.strip_prefix("sdp_ram_"))?;
    let (address, bits) = sizes.split_once('_')?;
    Some((address.parse().ok()?, bits.parse().ok()?))
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

fn count(modules: &HashMap<&str, Vec<&str>>, module: &str, found: &mut HashMap<String, usize>) -> usize {
    if let Some((address, bits)) = ram(module) {
        let cost = blocks(address, bits);
        *found.entry(module.into()).or_default() += cost;
        return cost;
    }
    let children = modules.get(module).map(Vec::as_slice).unwrap_or_default();
    children.iter().map(|child| count(modules, child, found)).sum()
}

#[test]
fn tengig_has_190_ram_blocks_or_fewer() {
    let design = verbena_designs::emit(&Config::preset("tengig").unwrap()).unwrap();
    let text = design.to_single_text();
    let mut found = HashMap::new();
    let total = count(&children(&text), &design.top, &mut found);
    println!("{total} blocks: {found:?}");
    assert!(total > 100, "only {total} blocks found: is the text read right?");
    assert!(total <= MOST, "{total} blocks: {found:?}");
}
