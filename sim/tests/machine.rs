// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine around the engine, with a module in the engine's place that echoes (`machine/ports.v`).

use std::sync::Mutex;
use verbena_hdl::verilog::build::{build, BuildOptions};
use verbena_sim::hca::axi::{Fault, SLVERR};
use verbena_sim::hca::{Hca, HcaOptions};
use verbena_verbs::{Bus, BusError, DmaMemory};
use verbena_verilated::{Engine, Port};

const TEXT: &str = include_str!("machine/ports.v");

/// Reads the port list out of the Verilog: declarations only, up to the first `);`.
fn ports() -> &'static [Port] {
    let list = TEXT.split_once("module verbena_hca(").unwrap().1.split_once(");").unwrap().0;
    let ports: Vec<Port> = list
        .split(',')
        .map(|p| {
            let words: Vec<&str> = p.split_whitespace().collect();
            let name: &'static str = words.last().unwrap().to_string().leak();
            let width = match words.iter().find(|w| w.starts_with('[')) {
                Some(range) => range[1..].split(':').next().unwrap().parse::<usize>().unwrap() + 1,
                None => 1,
            };
            Port {
                name,
                width,
                input: words[0] == "input",
                clock: name == "clk",
            }
        })
        .collect();
    ports.leak()
}

fn machine(change: impl FnOnce(&mut HcaOptions)) -> Hca {
    // One build at a time: the tests run in parallel and share the cache.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock();
    let ports = ports();
    let list: Vec<_> = ports
        .iter()
        .map(|p| verbena_hdl::verilog::Port {
            name: p.name.into(),
            width: p.width,
            input: p.input,
            clock: p.clock,
        })
        .collect();
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("machine");
    let built = build(
        TEXT,
        "verbena_hca",
        &list,
        &cache,
        &BuildOptions {
            lint: false,
            ..BuildOptions::default()
        },
    );
    let built = built.unwrap_or_else(|e| panic!("{e}"));
    let engine = Engine::load(&built.library.to_string_lossy(), "verbena_hca", ports).unwrap();
    let mut options = HcaOptions::new("tengig");
    change(&mut options);
    Hca::with_engine(engine, &options).unwrap()
}

fn set_base(hca: &mut Hca, base: u64) {
    hca.write(0, base as u32).unwrap();
    hca.write(4, (base >> 32) as u32).unwrap();
}

#[test]
fn register_accesses_memory_and_errors() {
    for stall in [0.0, 0.4] {
        let mut hca = machine(|o| o.memory.stall = stall);
        hca.lite.idle = stall;
        let base = hca.allocate_page().unwrap();
        set_base(&mut hca, base);
        hca.write(0x40, 0x1234_5678).unwrap();
        assert_eq!(hca.read(0).unwrap(), 0x1234_5678);
        assert_eq!(hca.write(8, 0), Err(BusError::Refused { address: 8 }));
        hca.axi.faults.push(Fault {
            addresses: base..base + 8,
            writes: true,
            reads: false,
            response: SLVERR,
            left: 1,
        });
        assert_eq!(hca.write(0x40, 9), Err(BusError::Refused { address: 0x40 }));
        assert_eq!(hca.read(0).unwrap(), 0x1234_5678);
        hca.violations.check().unwrap();
        set_base(&mut hca, 0xdead_0000);
        assert_eq!(hca.write(0x40, 9), Err(BusError::Decode { address: 0x40 }));
        assert_eq!(hca.violations.count, 1, "a write to nowhere is seen");
    }
}

#[test]
fn frames_cross_both_ways() {
    let mut hca = machine(|_| {});
    let frame: Vec<u8> = (0..77).collect();
    hca.rx.send(&frame);
    hca.host_tx.send(&[5; 61]);
    assert!(hca.settle(20, 1000));
    assert_eq!(hca.host_rx.frames.pop_front().unwrap().bytes, frame);
    assert_eq!(hca.tx.frames.pop_front().unwrap().bytes, [5; 61]);
    hca.violations.check().unwrap();
}

#[test]
fn what_surrounds_the_engine_is_fast() {
    let mut hca = machine(|_| {});
    for _ in 0..2000 {
        hca.rx.send(&[1; 256]);
    }
    let start = std::time::Instant::now();
    hca.run(80_000);
    let rate = 80_000.0 / start.elapsed().as_secs_f64();
    println!("{:.0} kcycles/s", rate / 1000.0);
    assert!(rate > 300_000.0, "{rate}");
}
