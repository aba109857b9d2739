// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory model by itself, driven by a small master.

use super::axi::*;
use super::pins::{Address, Axi, Violations, WriteData};
use verbena_verbs::DmaMemory;

struct Bench {
    slave: AxiMemory,
    axi: Axi,
    cycle: u64,
    violations: Violations,
}

impl Bench {
    fn new(timing: AxiTiming) -> Bench {
        let slave = AxiMemory::new(64, timing, 3);
        Bench {
            slave,
            axi: Axi::default(),
            cycle: 0,
            violations: Violations::default(),
        }
    }

    /// One cycle; what was taken: (aw, w, ar).
    fn step(&mut self) -> (bool, bool, bool) {
        self.slave.drive(&mut self.axi, self.cycle);
        let a = &self.axi;
        let taken = (a.aw.valid && a.aw.ready, a.w.valid && a.w.ready, a.ar.valid && a.ar.ready);
        self.slave.sample(&mut self.axi, self.cycle, &mut self.violations);
        self.cycle += 1;
        self.axi.aw.valid &= !taken.0;
        self.axi.w.valid &= !taken.1;
        self.axi.ar.valid &= !taken.2;
        taken
    }

    fn address(&self, address: u64, beats: usize, id: u8) -> Address {
        Address {
            id,
            address,
            length: beats as u8 - 1,
            size: 3,
            burst: 1,
            valid: true,
            ready: false,
        }
    }

    /// Writes; returns the response and the cycles from AW to B.
    fn write(&mut self, address: u64, data: &[u64]) -> (u8, u64) {
        self.axi.aw = self.address(address, data.len(), 0);
        let start = self.cycle;
        let mut sent = 0;
        self.axi.b.ready = false;
        loop {
            if !self.axi.w.valid && sent < data.len() {
                self.axi.w = WriteData {
                    data: data[sent],
                    strobe: 0xff,
                    last: sent + 1 == data.len(),
                    valid: true,
                    ready: false,
                };
                sent += 1;
            }
            self.step();
            if self.axi.b.valid {
                let (response, took) = (self.axi.b.response, self.cycle - 1 - start);
                self.axi.b.ready = true;
                self.step();
                return (response, took);
            }
            assert!(self.cycle < start + 10_000);
        }
    }

    fn read(&mut self, address: u64, beats: usize) -> (Vec<u64>, u8) {
        self.axi.ar = self.address(address, beats, 1);
        self.axi.r.ready = true;
        let (mut data, mut response, start) = (vec![], 0, self.cycle);
        while data.len() < beats {
            self.slave.drive(&mut self.axi, self.cycle);
            if self.axi.r.valid {
                data.push(self.axi.r.data);
                response = response.max(self.axi.r.response);
                assert_eq!(self.axi.r.last, data.len() == beats);
                assert_eq!(self.axi.r.id, 1);
            }
            let taken = self.axi.ar.valid && self.axi.ar.ready;
            self.slave.sample(&mut self.axi, self.cycle, &mut self.violations);
            self.axi.ar.valid &= !taken;
            self.cycle += 1;
            assert!(self.cycle < start + 10_000);
        }
        (data, response)
    }
}

#[test]
fn writes_land_after_the_latency_and_read_back() {
    let mut bench = Bench::new(AxiTiming::default());
    let base = bench.slave.memory.allocate(4096, 4096).unwrap();
    bench.slave.record = true;
    let data: Vec<u64> = (1..=16).collect();
    let (response, took) = bench.write(base + 64, &data);
    assert_eq!(response, 0);
    assert_eq!(took, 15 + 100);
    assert_eq!(bench.slave.records[0].b_cycle - bench.slave.records[0].last_cycle, 100);
    assert_eq!(bench.read(base + 64, 16), (data, 0));
    bench.violations.check().unwrap();
}

#[test]
fn random_timing_loses_nothing() {
    let mut bench = Bench::new(AxiTiming {
        latency: 5,
        jitter: 20,
        stall: 0.4,
    });
    let base = bench.slave.memory.allocate(4096, 4096).unwrap();
    for i in 0..50u64 {
        let data: Vec<u64> = (0..1 + i % 7).map(|j| i << 8 | j).collect();
        assert_eq!(bench.write(base + 64 * i, &data).0, 0);
        assert_eq!(bench.read(base + 64 * i, data.len()), (data, 0));
    }
    assert!(!bench.slave.busy());
    bench.violations.check().unwrap();
}

#[test]
fn errors_on_request_and_on_wild_addresses() {
    let mut bench = Bench::new(AxiTiming {
        latency: 3,
        jitter: 0,
        stall: 0.0,
    });
    let base = bench.slave.memory.allocate(4096, 4096).unwrap();
    bench.slave.faults.push(Fault {
        addresses: base..base + 64,
        writes: true,
        reads: false,
        response: SLVERR,
        left: 1,
    });
    assert_eq!(bench.write(base, &[9]).0, SLVERR);
    assert_eq!(bench.read(base, 1), (vec![0], 0), "a failed write changes nothing");
    assert_eq!(bench.write(base, &[9]).0, 0);
    bench.violations.check().unwrap();
    assert_eq!(bench.write(base + 4096, &[9]).0, DECERR);
    assert_eq!(bench.read(base + 4096, 1).1, DECERR);
    assert_eq!((bench.violations.count, bench.slave.statistics.wild), (2, 2));
}

#[test]
fn broken_bursts_are_seen() {
    let mut bench = Bench::new(AxiTiming {
        latency: 3,
        jitter: 0,
        stall: 0.0,
    });
    let base = bench.slave.memory.allocate(8192, 8192).unwrap();
    bench.write(base + 4096 - 8, &[1, 2]);
    assert_eq!(bench.violations.count, 1, "4 KiB");
    bench.axi.aw = Address {
        size: 2,
        ..bench.address(base, 1, 0)
    };
    bench.axi.w = WriteData {
        data: 0,
        strobe: 0xff,
        last: false,
        valid: true,
        ready: false,
    };
    bench.axi.b.ready = true;
    bench.step();
    assert_eq!(bench.violations.count, 3, "size and wlast");
}
