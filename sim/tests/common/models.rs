// SPDX-License-Identifier: MIT OR Apache-2.0
//! Engines that build.rs doesn't make, Verilated by the test that needs them and kept in the cache.

use std::path::Path;
use verbena_designs::BuildError;
use verbena_hdl::verilog::build::{build, BuildOptions};
use verbena_hdl::verilog::Design;
use verbena_spec::config::Config;
use verbena_verilated::{Model, Port};

/// A design of `tengig`'s kind as a model.
pub fn verilated(emit: impl FnOnce() -> Result<Design, BuildError> + Send + 'static) -> Model {
    model_of(emit, None)
}

/// The same, with a library of the same ports in the place of the RTL's.
pub fn model_of(emit: impl FnOnce() -> Result<Design, BuildError> + Send + 'static, library: Option<String>) -> Model {
    let emit = || emit().unwrap_or_else(|e| panic!("{e}"));
    // The block is some megabytes, and a test's thread has two.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(emit).unwrap();
    let design = thread.join().unwrap();
    let library = library.unwrap_or_else(|| rtl(&design));
    let port = |p: &verbena_hdl::verilog::Port| Port {
        name: String::leak(p.name.clone()),
        width: p.width,
        input: p.input,
        clock: p.clock,
    };
    Model {
        preset: "tengig",
        roce_buffer: Config::preset("tengig").unwrap().roce_buffer,
        top: String::leak(design.top.clone()),
        library: String::leak(library),
        traced: None,
        ports: Vec::leak(design.ports.iter().map(port).collect()),
    }
}

/// The RTL's library.
fn rtl(design: &Design) -> String {
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/verilated-cache");
    let options = BuildOptions {
        lint: false,
        optimise: 1,
        ..BuildOptions::default()
    };
    let built = build(&design.to_single_text(), &design.top, &design.ports, &cache, &options).unwrap_or_else(|e| panic!("{e}"));
    built.library.display().to_string()
}
