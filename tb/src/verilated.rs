// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Verilated model, built (or found in the cache) and loaded at run time.

use anyhow::{Context, Result};
use libloading::{Library, Symbol};
use std::ffi::c_void;
use std::path::PathBuf;
use verbena_hdl::verilog::build::{build, BuildOptions, Built};
use verbena_hdl::verilog::{shim, Design, Port};

type New = unsafe extern "C" fn() -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Step = unsafe extern "C" fn(*mut c_void, *const u32, *mut u32);

/// Where models are kept: `target/verilated`.
pub fn cache() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target")))
        .join("verilated")
}

/// One instance of a model.
pub struct Model {
    model: *mut c_void,
    free: Free,
    cycle: Step,
    settle: Step,
    inputs: usize,
    outputs: usize,
    /// Verilator's warnings when it was built.
    pub warnings: String,
    // Last: the code goes after everything that runs it.
    _library: Library,
}

impl Model {
    /// Builds and loads a printed design.
    pub fn of(design: &Design) -> Result<Model> {
        Model::load(&Model::build(design)?, &design.top, &design.ports)
    }

    /// Builds a printed design, or finds it built.
    pub fn build(design: &Design) -> Result<Built> {
        Model::build_text(&design.to_single_text(), &design.top, &design.ports, 1)
    }

    /// The same from a text; `optimise` is the C++ compiler's level.
    pub fn from_text(text: &str, top: &str, ports: &[Port], optimise: u8) -> Result<Model> {
        Model::load(&Model::build_text(text, top, ports, optimise)?, top, ports)
    }

    fn build_text(text: &str, top: &str, ports: &[Port], optimise: u8) -> Result<Built> {
        let options = BuildOptions {
            optimise,
            ..BuildOptions::default()
        };
        Ok(build(text, top, ports, &cache(), &options)?)
    }

    /// Another instance of what was built.
    pub fn load(built: &Built, top: &str, ports: &[Port]) -> Result<Model> {
        let (inputs, outputs) = shim::sizes(ports);
        // Safety: the library is the one that the shim generated for these very ports.
        unsafe {
            let library = Library::new(&built.library).with_context(|| format!("loading the model of {top}"))?;
            let new: Symbol<New> = library.get(format!("{top}_new").as_bytes())?;
            let free = *library.get::<Free>(format!("{top}_free").as_bytes())?;
            let cycle = *library.get::<Step>(format!("{top}_cycle").as_bytes())?;
            let settle = *library.get::<Step>(format!("{top}_settle").as_bytes())?;
            let model = new();
            Ok(Model {
                model,
                free,
                cycle,
                settle,
                inputs,
                outputs,
                warnings: built.warnings.clone(),
                _library: library,
            })
        }
    }

    /// Words of the input and output arrays.
    pub fn sizes(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    /// Sets all inputs, settles, reads all outputs, then clocks.
    pub fn cycle(&mut self, inputs: &[u32], outputs: &mut [u32]) {
        assert_eq!((inputs.len(), outputs.len()), (self.inputs, self.outputs), "words of the ports");
        // Safety: the lengths are those the shim copies.
        unsafe { (self.cycle)(self.model, inputs.as_ptr(), outputs.as_mut_ptr()) }
    }

    /// Sets all inputs, settles, reads all outputs.
    pub fn settle(&mut self, inputs: &[u32], outputs: &mut [u32]) {
        assert_eq!((inputs.len(), outputs.len()), (self.inputs, self.outputs), "words of the ports");
        // Safety: the lengths are those the shim copies.
        unsafe { (self.settle)(self.model, inputs.as_ptr(), outputs.as_mut_ptr()) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // Safety: made by `new`, freed once.
        unsafe { (self.free)(self.model) }
    }
}
