// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random kernels: the Rust simulation and the printed, Verilated text give the same outputs, cycle by cycle.
//!
//! ```text
//! build.rs ─► 1,000 kernels ─► printer ─► one Verilog text and one model per 100 ─┬─► equal?
//!                         └──► Rust simulation ──────────────────────────────────┘
//! ```

use rust_hdl::prelude::*;
use std::fmt::Write;
use std::process::Command;
use verbena_hdl::verilog::{emit, shim, Design, Port};
use verbena_kernels::{Inputs, Kernel, GROUPS, SEED};
use verbena_tb::diff::{read_outputs, settle, Stimulus, Words};
use verbena_tb::verilated::Model;

const CYCLES: usize = 60;

/// A group's kernels, printed, under one top.
struct Group {
    top: String,
    text: String,
    ports: Vec<Port>,
    kernels: Vec<(Box<dyn Kernel>, Design)>,
}

fn port(name: &str, width: usize, input: bool) -> Port {
    Port {
        name: name.into(),
        width,
        input,
        clock: name == "clock",
    }
}

/// The shared inputs, in the order in which `inputs` reads them.
const SHARED: &[(&str, usize)] = &[
    ("clock", 1),
    ("p", 1),
    ("q", 1),
    ("a3", 3),
    ("a4", 4),
    ("a8", 8),
    ("b8", 8),
    ("a13", 13),
    ("a16", 16),
    ("b16", 16),
    ("a24", 24),
    ("a32", 32),
    ("b32", 32),
    ("a33", 33),
    ("a64", 64),
    ("b64", 64),
    ("a70", 70),
];

fn inputs(words: &[u32]) -> Inputs {
    let mut at = 0;
    let mut next = |n: usize| {
        at += n;
        Words::new(&words[at - n..at])
    };
    Inputs {
        clock: Clock::default(),
        p: next(1).take(),
        q: next(1).take(),
        a3: next(1).take(),
        a4: next(1).take(),
        a8: next(1).take(),
        b8: next(1).take(),
        a13: next(1).take(),
        a16: next(1).take(),
        b16: next(1).take(),
        a24: next(1).take(),
        a32: next(1).take(),
        b32: next(1).take(),
        a33: next(2).take(),
        a64: next(2).take(),
        b64: next(2).take(),
        a70: next(3).take(),
    }
}

/// Prints a group: each kernel's modules, prefixed, and a top that gives them the same inputs.
fn print_group(index: usize) -> Group {
    let top = format!("group_{index}");
    let mut text = String::new();
    let mut ports: Vec<Port> = SHARED.iter().map(|(name, width)| port(name, *width, true)).collect();
    let (mut heads, mut instances) = (vec![], String::new());
    let mut kernels = vec![];
    for (name, mut kernel) in GROUPS[index]() {
        kernel.connect_all();
        let design = emit(kernel.block(), name, &Default::default()).unwrap_or_else(|e| panic!("seed {SEED}: {e}"));
        text += &design.to_single_text();
        let mut pins = vec![];
        for p in &design.ports {
            let net = if p.input { p.name.clone() } else { format!("{name}_{}", p.name) };
            pins.push(format!(".{}({net})", p.name));
            if !p.input {
                ports.push(port(&net, p.width, false));
            }
        }
        let _ = writeln!(instances, "  {name} u_{name} ({});", pins.join(", "));
        kernels.push((kernel, design));
    }
    for p in &ports {
        heads.push(format!(
            "  {} wire [{}:0] {}",
            if p.input { "input" } else { "output" },
            p.width - 1,
            p.name
        ));
    }
    let _ = write!(text, "module {top} (\n{}\n);\n{instances}endmodule\n", heads.join(",\n"));
    Group { top, text, ports, kernels }
}

/// Runs the Rust simulation of a group: for each cycle the inputs and all outputs.
fn simulate_group(group: &mut Group, seed: u64, mut compare: impl FnMut(usize, &[u32], &[Vec<u32>], &[(Box<dyn Kernel>, Design)])) {
    let mut stimulus = Stimulus::new(&group.ports, seed);
    for (kernel, design) in &mut group.kernels {
        kernel.load(&Inputs::default());
        settle(kernel.as_mut(), &design.top);
    }
    for cycle in 0..CYCLES {
        let words = stimulus.next();
        let mut values = inputs(&words);
        let mut outputs = vec![];
        for (kernel, design) in &mut group.kernels {
            kernel.load(&values);
            settle(kernel.as_mut(), &design.top);
            outputs.push(read_outputs(kernel.block(), design));
        }
        compare(cycle, &words, &outputs, &group.kernels);
        for level in [true, false] {
            values.clock = level.into();
            for (kernel, design) in &mut group.kernels {
                kernel.load(&values);
                settle(kernel.as_mut(), &design.top);
            }
        }
    }
}

/// Random expressions compare with constants they can't reach, and random orders make loops between signals that no bit
/// closes: those three are expected of them. Any other warning is the printer's fault.
fn unexpected_warnings(log: &str) -> Vec<&str> {
    let expected = ["%Warning-CMPCONST", "%Warning-UNSIGNED", "%Warning-UNOPTFLAT"];
    log.lines()
        .filter(|l| l.starts_with("%Warning-") && !expected.iter().any(|e| l.starts_with(e)))
        .collect()
}

fn check(index: usize) {
    let mut group = print_group(index);
    let mut model = Model::from_text(&group.text, &group.top, &group.ports, 0).unwrap_or_else(|e| panic!("{e:#}"));
    let warnings = unexpected_warnings(&model.warnings);
    assert!(warnings.is_empty(), "seed {SEED}: Verilator warns: {warnings:#?}");
    let seed = SEED.wrapping_add(index as u64);
    let mut verilog = vec![0; shim::sizes(&group.ports).1];
    simulate_group(&mut group, seed, |cycle, words, rust, kernels| {
        model.cycle(words, &mut verilog);
        let mut at = 0;
        for (outputs, (_, design)) in rust.iter().zip(kernels) {
            let got = &verilog[at..at + outputs.len()];
            at += outputs.len();
            if got != outputs {
                println!("{}", design.to_single_text());
                panic!(
                    "seed {SEED}, kernel {}, cycle {cycle}: Rust {outputs:x?}, Verilog {got:x?}, inputs {words:x?}",
                    design.top
                );
            }
        }
    });
}

#[test]
fn rust_and_verilator_agree() {
    println!("seed {SEED}");
    std::thread::scope(|scope| {
        for first in 0..2 {
            scope.spawn(move || (first..GROUPS.len()).step_by(2).for_each(check));
        }
    });
}

/// Words of a port as binary digits, highest first.
fn binary(words: &[u32], width: usize) -> String {
    (0..width)
        .rev()
        .map(|i| if words[i / 32] >> (i % 32) & 1 == 1 { '1' } else { '0' })
        .collect()
}

/// The first group in Icarus as well: another reading of the standard.
#[test]
fn rust_and_icarus_agree() {
    if Command::new("iverilog").arg("-V").output().is_err() {
        eprintln!("iverilog is not installed: skipped");
        return;
    }
    let dir = verbena_tb::verilated::cache().join(format!("icarus-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder below target");
    let mut group = print_group(0);
    let ports = group.ports.clone();
    let (mut stimuli, mut expected) = (String::new(), vec![]);
    simulate_group(&mut group, SEED, |_, words, rust, _| {
        let mut at = 0;
        for p in ports.iter().filter(|p| p.input && !p.clock) {
            let n = shim::words(p);
            stimuli += &binary(&words[at..at + n], p.width);
            at += n;
        }
        stimuli.push('\n');
        let all: Vec<u32> = rust.concat();
        let (mut line, mut at) = (String::new(), 0);
        for p in ports.iter().filter(|p| !p.input) {
            let n = shim::words(p);
            line += &binary(&all[at..at + n], p.width);
            at += n;
        }
        expected.push(line);
    });
    let bench = icarus_bench(&group.top, &ports);
    for (name, text) in [("stimuli.txt", &stimuli), ("design.v", &group.text), ("bench.v", &bench)] {
        std::fs::write(dir.join(name), text).expect("writable");
    }
    let run = |command: &mut Command| {
        let output = command.current_dir(&dir).output().expect("icarus runs");
        let log = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{log}");
        log
    };
    run(Command::new("iverilog").args(["-g2005", "-o", "bench.vvp", "design.v", "bench.v"]));
    let log = run(Command::new("vvp").arg("bench.vvp"));
    let got: Vec<&str> = log.lines().filter(|l| l.starts_with(['0', '1', 'x'])).collect();
    assert_eq!(got.len(), expected.len(), "cycles: {log}");
    for (cycle, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let mut at = 0;
        for p in ports.iter().filter(|p| !p.input) {
            let range = at..at + p.width;
            at += p.width;
            assert_eq!(
                got[range.clone()],
                expected[range],
                "seed {SEED}, cycle {cycle}, {} (Icarus left, Rust right)",
                p.name
            );
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
}

fn icarus_bench(top: &str, ports: &[Port]) -> String {
    let names = |input: bool| -> Vec<&str> {
        ports
            .iter()
            .filter(|p| p.input == input && !p.clock)
            .map(|p| p.name.as_str())
            .collect()
    };
    let bits: usize = ports.iter().filter(|p| p.input && !p.clock).map(|p| p.width).sum();
    let mut text = format!(
        "module bench;\n  reg clock = 0;\n  reg [{}:0] stimuli [0:{}];\n",
        bits - 1,
        CYCLES - 1
    );
    for p in ports.iter().filter(|p| !p.clock) {
        let _ = writeln!(text, "  {} [{}:0] {};", if p.input { "reg" } else { "wire" }, p.width - 1, p.name);
    }
    let pins: Vec<String> = ports.iter().map(|p| format!(".{0}({0})", p.name)).collect();
    let show: Vec<String> = names(false).iter().map(|n| format!("      $write(\"%b\", {n});\n")).collect();
    let _ = write!(
        text,
        "  {top} uut ({});\n  integer i;\n  initial begin\n    $readmemb(\"stimuli.txt\", stimuli);\n    for (i = 0; i < {CYCLES}; i = i + 1) \
         begin\n      {{{}}} = stimuli[i];\n      #1;\n{}      $write(\"\\n\");\n      clock = 1;\n      #1 clock = 0;\n      #1;\n    end\n  \
         end\nendmodule\n",
        pins.join(", "),
        names(true).join(", "),
        show.concat(),
    );
    text
}
