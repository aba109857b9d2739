// SPDX-License-Identifier: MIT OR Apache-2.0
//! The board wrappers' parts, Verilated: memory on the chip against a plain array, SPI bit by bit.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use verbena_hdl::board::{AxiRam, SpiPort};
use verbena_tb::pins::Pins;

const BEATS: usize = 1 << 5;

fn write_burst(pins: &mut Pins, rng: &mut ChaCha8Rng, memory: &mut [u8], far: bool) {
    let (at, id) = (rng.gen_range(0..BEATS), rng.gen_range(0..8u64));
    let beats = rng.gen_range(1..=BEATS - at);
    pins.set("s_axi_awaddr", 8 * at as u64 + if far { 1 << rng.gen_range(8..64) } else { 0 });
    pins.set("s_axi_awid", id);
    pins.set("s_axi_awvalid", 1);
    pins.until("s_axi_awready");
    pins.set("s_axi_awvalid", 0);
    for beat in 0..beats {
        while rng.gen_ratio(1, 4) {
            pins.set("s_axi_wvalid", 0);
            pins.tick();
        }
        let (data, strobe) = (rng.gen::<u64>(), if rng.gen() { 0xff } else { rng.gen::<u8>() });
        pins.set("s_axi_wdata", data);
        pins.set("s_axi_wstrb", u64::from(strobe));
        pins.set("s_axi_wlast", u64::from(beat + 1 == beats));
        pins.set("s_axi_wvalid", 1);
        pins.until("s_axi_wready");
        for byte in (0..8).filter(|b| strobe >> b & 1 == 1 && !far) {
            memory[8 * (at + beat) + byte] = (data >> (8 * byte)) as u8;
        }
    }
    pins.set("s_axi_wvalid", 0);
    pins.set("s_axi_bready", 1);
    pins.until("s_axi_bvalid");
    assert_eq!((pins.get("s_axi_bid"), pins.get("s_axi_bresp")), (id, if far { 3 } else { 0 }));
    pins.set("s_axi_bready", 0);
}

fn read_burst(pins: &mut Pins, rng: &mut ChaCha8Rng, memory: &[u8], far: bool) {
    let (at, id) = (rng.gen_range(0..BEATS), rng.gen_range(0..8u64));
    let beats = rng.gen_range(1..=BEATS - at);
    pins.set("s_axi_araddr", 8 * at as u64 + if far { 1 << rng.gen_range(8..64) } else { 0 });
    pins.set("s_axi_arlen", beats as u64 - 1);
    pins.set("s_axi_arid", id);
    pins.set("s_axi_arvalid", 1);
    pins.until("s_axi_arready");
    pins.set("s_axi_arvalid", 0);
    let mut beat = 0;
    let stall = rng.gen_range(0..4);
    for _ in 0..1000 {
        let ready = rng.gen_range(0..4) >= stall;
        pins.set("s_axi_rready", u64::from(ready));
        pins.tick();
        if ready && pins.get("s_axi_rvalid") == 1 {
            assert_eq!((pins.get("s_axi_rid"), pins.get("s_axi_rresp")), (id, if far { 3 } else { 0 }));
            assert_eq!(pins.get("s_axi_rlast") == 1, beat + 1 == beats);
            if !far {
                let want: [u8; 8] = memory[8 * (at + beat)..][..8].try_into().unwrap();
                assert_eq!(pins.get("s_axi_rdata"), u64::from_le_bytes(want), "beat {}", at + beat);
            }
            beat += 1;
            if beat == beats {
                break;
            }
        }
    }
    assert_eq!(beat, beats);
    pins.set("s_axi_rready", 0);
    pins.tick();
    assert_eq!(pins.get("s_axi_rvalid"), 0);
}

fn host_access(pins: &mut Pins, rng: &mut ChaCha8Rng, memory: &mut [u8]) {
    let (word, data, write) = (rng.gen_range(0..2 * BEATS), rng.gen::<u32>(), rng.gen::<bool>());
    pins.set("host_word", word as u64);
    pins.set("host_data", u64::from(data));
    pins.set("host_write", u64::from(write));
    pins.set("host_valid", 1);
    pins.until("host_done");
    pins.set("host_valid", 0);
    let place = &mut memory[4 * word..][..4];
    if write {
        place.copy_from_slice(&data.to_le_bytes());
    } else {
        assert_eq!(
            pins.get("host_read") as u32,
            u32::from_le_bytes((&*place).try_into().unwrap()),
            "word {word}"
        );
    }
    pins.tick();
}

#[test]
fn memory_holds_what_was_written() {
    let mut pins = Pins::new(Box::<AxiRam<5, 6>>::default(), "axi_ram");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut memory = vec![0; 8 * BEATS];
    for _ in 0..2000 {
        let far = rng.gen_ratio(1, 8);
        match rng.gen_range(0..4) {
            0 => write_burst(&mut pins, &mut rng, &mut memory, far),
            1 => host_access(&mut pins, &mut rng, &mut memory),
            _ => read_burst(&mut pins, &mut rng, &memory, far),
        }
    }
}

/// A beat a cycle both ways.
#[test]
fn memory_pace() {
    let mut pins = Pins::new(Box::<AxiRam<5, 6>>::default(), "axi_ram");
    pins.set("s_axi_arlen", 31);
    pins.set("s_axi_arvalid", 1);
    pins.set("s_axi_rready", 1);
    pins.until("s_axi_arready");
    pins.set("s_axi_arvalid", 0);
    pins.until("s_axi_rvalid");
    for beat in 1..32 {
        pins.tick();
        assert_eq!(
            (pins.get("s_axi_rvalid"), pins.get("s_axi_rlast")),
            (1, u64::from(beat == 31)),
            "beat {beat}"
        );
    }
}

/// A register file and a memory, behind the port's buses.
#[derive(Default)]
struct Slave {
    registers: HashMap<u64, u32>,
    memory: HashMap<u64, u32>,
    write: (Option<u64>, Option<u32>),
    /// Cycles in which nothing is taken.
    wait: u32,
    /// Accesses seen.
    count: usize,
}

impl Slave {
    fn tick(&mut self, pins: &mut Pins) {
        pins.tick();
        let go = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        if pins.get("m_axil_awvalid") == 1 && go {
            self.write.0 = Some(pins.get("m_axil_awaddr"));
        }
        if pins.get("m_axil_wvalid") == 1 && go {
            assert_eq!(pins.get("m_axil_wstrb"), 0xf);
            self.write.1 = Some(pins.get("m_axil_wdata") as u32);
        }
        for name in [
            "m_axil_awready",
            "m_axil_wready",
            "m_axil_arready",
            "m_axil_bvalid",
            "m_axil_rvalid",
            "host_done",
        ] {
            pins.set(name, 0);
        }
        if !go {
            return;
        }
        for (valid, ready) in [
            ("m_axil_awvalid", "m_axil_awready"),
            ("m_axil_wvalid", "m_axil_wready"),
            ("m_axil_arvalid", "m_axil_arready"),
        ] {
            if pins.get(valid) == 1 {
                pins.set(ready, 1);
            }
        }
        if pins.get("m_axil_bready") == 1 {
            if let (Some(address), Some(data)) = self.write {
                self.registers.insert(address, data);
                self.write = (None, None);
                self.count += 1;
                pins.set("m_axil_bresp", u64::from(address >= 0x1000) * 2);
                pins.set("m_axil_bvalid", 1);
            }
        }
        if pins.get("m_axil_rready") == 1 {
            let address = pins.get("m_axil_araddr");
            pins.set("m_axil_rdata", u64::from(self.registers.get(&address).copied().unwrap_or(0xdead)));
            pins.set("m_axil_rresp", u64::from(address >= 0x1000) * 3);
            pins.set("m_axil_rvalid", 1);
            self.count += 1;
            self.wait = 1;
        }
        if pins.get("host_valid") == 1 {
            let word = pins.get("host_word");
            if pins.get("host_write") == 1 {
                self.memory.insert(word, pins.get("host_data") as u32);
            }
            pins.set("host_read", u64::from(self.memory.get(&word).copied().unwrap_or(0)));
            pins.set("host_done", 1);
            self.count += 1;
            self.wait = 1;
        }
    }

    /// A transfer of `bits`, most significant first; what came back.
    fn transfer(&mut self, pins: &mut Pins, bits: &[bool]) -> Vec<bool> {
        let mut back = vec![];
        pins.set("cs_n", 0);
        (0..8).for_each(|_| self.tick(pins));
        for bit in bits {
            pins.set("mosi", u64::from(*bit));
            (0..4).for_each(|_| self.tick(pins));
            back.push(pins.get("miso") == 1);
            pins.set("sclk", 1);
            (0..4).for_each(|_| self.tick(pins));
            pins.set("sclk", 0);
        }
        (0..8).for_each(|_| self.tick(pins));
        pins.set("cs_n", 1);
        (0..8).for_each(|_| self.tick(pins));
        back
    }

    fn command(&mut self, pins: &mut Pins, operation: u8, address: u32, data: u32) -> (u8, u32) {
        let word = u128::from(operation) << 64 | u128::from(address) << 32 | u128::from(data);
        let bits: Vec<bool> = (0..72).rev().map(|i| word >> i & 1 == 1).collect();
        let number = |bits: &[bool]| bits.iter().fold(0u64, |n, b| n << 1 | u64::from(*b));
        let back = self.transfer(pins, &bits);
        (number(&back[..8]) as u8, number(&back[8..40]) as u32)
    }
}

fn spi() -> (Pins, Slave) {
    let mut pins = Pins::new(Box::<SpiPort<21, 13>>::default(), "spi_port");
    pins.set("cs_n", 1);
    let mut slave = Slave::default();
    (0..8).for_each(|_| slave.tick(&mut pins));
    (pins, slave)
}

#[test]
fn spi_reads_and_writes() {
    let (mut pins, mut slave) = spi();
    slave.command(&mut pins, 2, 0x104, 0x1234_5678);
    assert_eq!(slave.command(&mut pins, 1, 0x104, 0), (0x80, 0));
    assert_eq!(slave.command(&mut pins, 4, 0x7ff0, 0xcafe_f00d), (0x80, 0x1234_5678));
    assert_eq!(slave.command(&mut pins, 3, 0x7ff0, 0), (0x80, 0xcafe_f00d));
    assert_eq!(slave.command(&mut pins, 0, 0, 0), (0x80, 0xcafe_f00d));
    assert_eq!((slave.registers[&0x104], slave.memory[&0x1ffc]), (0x1234_5678, 0xcafe_f00d));
    // Refused writes and reads say so.
    slave.command(&mut pins, 2, 0x2000, 1);
    assert_eq!(slave.command(&mut pins, 1, 0x3000, 0).0, 0x82);
    assert_eq!(slave.command(&mut pins, 0, 0, 0).0, 0x83);
    assert_eq!(slave.count, 6);
}

#[test]
fn spi_transfers_of_another_length_do_nothing() {
    let (mut pins, mut slave) = spi();
    for length in (0..72).chain(73..150).chain([200, 256, 328]) {
        slave.transfer(&mut pins, &vec![true; length]);
        let mut bits = vec![false; length];
        if length > 6 {
            bits[6] = true;
        }
        slave.transfer(&mut pins, &bits);
    }
    for operation in [5, 6, 0x82, 0xff] {
        slave.command(&mut pins, operation, 0, 0);
    }
    assert_eq!(slave.count, 0);
    slave.command(&mut pins, 2, 8, 9);
    assert_eq!(slave.registers[&8], 9);
}

#[test]
fn spi_says_when_it_is_busy() {
    let (mut pins, mut slave) = spi();
    slave.wait = 2000;
    slave.command(&mut pins, 2, 4, 1);
    // Not done: the second command isn't taken.
    assert_eq!(slave.command(&mut pins, 2, 8, 2).0 & 0xc0, 0x40);
    (0..3000).for_each(|_| slave.tick(&mut pins));
    assert_eq!(slave.command(&mut pins, 0, 0, 0).0, 0x80);
    assert_eq!(slave.registers, HashMap::from([(4, 1)]));
}
