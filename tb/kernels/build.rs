// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the random kernels: `VERBENA_KERNELS` of them (default 1,000) from `VERBENA_KERNEL_SEED` (default 1).

#[path = "generator/mod.rs"]
mod generator;

use std::path::PathBuf;

/// Kernels in one module, one Verilated model.
const GROUP: usize = 100;

fn number(name: &str, default: u64) -> u64 {
    println!("cargo:rerun-if-env-changed={name}");
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=generator");
    let count = number("VERBENA_KERNELS", 1000) as usize;
    let seed = number("VERBENA_KERNEL_SEED", 1);
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut root = format!("pub const SEED: u64 = {seed};\npub const KERNELS: usize = {count};\n");
    let mut list = String::new();
    for (index, start) in (0..count).step_by(GROUP).enumerate() {
        let end = count.min(start + GROUP);
        let path = out.join(format!("group_{index}.rs"));
        std::fs::write(&path, generator::group(seed, start..end)).expect("OUT_DIR is writable");
        // Nonsense is the point of random kernels: no lints there.
        root += &format!("#[allow(clippy::all)]\n#[path = {path:?}]\nmod group_{index};\n");
        list += &format!("    group_{index}::kernels,\n");
    }
    root += &format!("/// Makes a group's kernels, each with its name.\npub type Group = fn() -> Vec<(&'static str, Box<dyn Kernel>)>;\npub const GROUPS: &[Group] = &[\n{list}];\n");
    std::fs::write(out.join("kernels.rs"), root).expect("OUT_DIR is writable");
}
