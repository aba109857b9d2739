// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small hand-written module through the whole chain: shim, Verilator, C++, library, Rust; traced and untraced in one process.

use verbena_hdl::verilog::build::{build, BuildOptions};
use verbena_verilated::{Engine, EngineError, Port};

const TEXT: &str = "module adder(input clk, input rst, input [63:0] a, input [2:0] b, output reg [63:0] sum, output now);
  assign now = a[0] ^ b[0];
  always @(posedge clk) if (rst) sum <= 64'd0; else sum <= sum + a + {61'd0, b};
endmodule
";

const fn port(name: &'static str, width: usize, input: bool, clock: bool) -> Port {
    Port { name, width, input, clock }
}

const PORTS: &[Port] = &[
    port("clk", 1, true, true),
    port("rst", 1, true, false),
    port("a", 64, true, false),
    port("b", 3, true, false),
    port("sum", 64, false, false),
    port("now", 1, false, false),
];

/// The ports as the printer names them.
fn ports() -> Vec<verbena_hdl::verilog::Port> {
    let port = |p: &Port| verbena_hdl::verilog::Port {
        name: p.name.into(),
        width: p.width,
        input: p.input,
        clock: p.clock,
    };
    PORTS.iter().map(port).collect()
}

fn engine(trace: bool) -> Engine {
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("ffi");
    // Unoptimised: of what is compiled here, most is Verilator's writer of waveforms.
    let options = BuildOptions {
        trace,
        optimise: 0,
        ..BuildOptions::default()
    };
    let built = build(TEXT, "adder", &ports(), &cache, &options).unwrap_or_else(|e| panic!("{e}"));
    Engine::load(&built.library.to_string_lossy(), "adder", PORTS).unwrap()
}

#[test]
fn values_cross_and_outputs_are_those_before_the_edge() {
    for trace in [false, true] {
        let mut engine = engine(trace);
        let (rst, a, b) = (engine.input("rst").unwrap(), engine.input("a").unwrap(), engine.input("b").unwrap());
        let (sum, now) = (engine.output("sum").unwrap(), engine.output("now").unwrap());
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("ffi.fst");
        assert_eq!(engine.write_fst(&path).is_ok(), trace);
        engine.set(rst, 1);
        engine.tick();
        engine.set(rst, 0);
        engine.set(a, 0x1_0000_0001);
        engine.set(b, 7);
        engine.tick();
        assert_eq!((engine.get(sum), engine.get(now)), (0, 0));
        engine.tick();
        assert_eq!(engine.get(sum), 0x1_0000_0008);
        engine.set(b, 0xf);
        engine.settle();
        assert_eq!(engine.get(sum), 0x2_0000_0010);
        assert!(matches!(engine.input("c"), Err(EngineError::NoPort { .. })));
        assert!(matches!(engine.input("clk"), Err(EngineError::NoPort { .. })));
    }
}

#[test]
fn an_unknown_preset_is_named() {
    let error = Engine::new("huge", false).err().unwrap().to_string();
    assert!(error.contains("huge"), "{error}");
}

/// Two threads that want the same library: one builds it, the other finds it.
#[test]
fn a_library_is_built_once() {
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("once");
    let _ = std::fs::remove_dir_all(&cache);
    let ports = ports();
    let options = BuildOptions {
        optimise: 0,
        ..BuildOptions::default()
    };
    let one = || build(TEXT, "adder", &ports, &cache, &options).unwrap_or_else(|e| panic!("{e}"));
    let (a, b) = std::thread::scope(|scope| {
        let other = scope.spawn(one);
        (one(), other.join().unwrap())
    });
    assert_eq!(a.library, b.library);
    assert!(a.cached != b.cached, "{a:?} {b:?}");
}
