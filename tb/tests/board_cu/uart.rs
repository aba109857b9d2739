// SPDX-License-Identifier: MIT OR Apache-2.0
//! `UartPort`, bit by bit.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use verbena_hdl::board::{UartPort, SYNC};
use verbena_tb::pins::Pins;

const DIVISOR: u64 = 8;
/// Cycles between two ticks of the bench.
const TICK: u64 = 3000;

/// The port with a register bus, a memory and a board register behind it.
struct Bench {
    pins: Pins,
    registers: HashMap<u64, u32>,
    memory: HashMap<u64, u32>,
    board: u32,
    /// Writes done, of any kind.
    writes: usize,
    cycle: u64,
    /// Cycles that an access waits.
    wait: u64,
    open: (Option<u64>, Option<u32>),
    levels: Vec<bool>,
    good: usize,
    bad: usize,
}

fn crc(bytes: &[u8]) -> u16 {
    !bytes.iter().fold(0xffff, |crc: u16, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0x8408 } else { c >> 1 })
    })
}

fn request(operation: u8, address: u32, data: u32) -> Vec<u8> {
    let mut frame = vec![SYNC, operation];
    frame.extend(&address.to_le_bytes()[..3]);
    frame.extend(data.to_le_bytes());
    frame.extend(crc(&frame[1..]).to_le_bytes());
    frame
}

const WRITE: u8 = 0x80;
const MEMORY: u32 = 1 << 22;
const BOARD: u32 = 1 << 23;

impl Bench {
    fn new() -> Bench {
        let mut pins = Pins::new(Box::new(UartPort::<21, 10>::new(DIVISOR)), "uart_port");
        pins.set("line_in", 1);
        let mut bench = Bench {
            pins,
            registers: HashMap::new(),
            memory: HashMap::new(),
            board: 0,
            writes: 0,
            cycle: 0,
            wait: 0,
            open: (None, None),
            levels: vec![],
            good: 0,
            bad: 0,
        };
        bench.run(20);
        bench
    }

    fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.tick());
    }

    fn tick(&mut self) {
        self.cycle += 1;
        let p = &mut self.pins;
        p.set("tick", u64::from(self.cycle.is_multiple_of(TICK)));
        p.tick();
        self.levels.push(p.get("line_out") == 1);
        self.good += p.get("good") as usize;
        self.bad += p.get("bad") as usize;
        for name in [
            "m_axil_awready",
            "m_axil_wready",
            "m_axil_arready",
            "m_axil_bvalid",
            "m_axil_rvalid",
            "host_done",
        ] {
            p.set(name, 0);
        }
        if p.get("board_write") == 1 {
            self.writes += 1;
            if p.get("board_word") == 1 {
                self.board = p.get("host_data") as u32;
            }
        }
        p.set(
            "board_read",
            u64::from(self.board ^ if p.get("board_word") == 1 { 0 } else { 0xffff_0000 }),
        );
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        if p.get("m_axil_awvalid") == 1 {
            assert_eq!(p.get("m_axil_wstrb"), 0xf);
            self.open.0 = Some(p.get("m_axil_awaddr"));
            p.set("m_axil_awready", 1);
        }
        if p.get("m_axil_wvalid") == 1 {
            self.open.1 = Some(p.get("m_axil_wdata") as u32);
            p.set("m_axil_wready", 1);
        }
        p.set("m_axil_arready", p.get("m_axil_arvalid"));
        if let (1, (Some(address), Some(data))) = (p.get("m_axil_bready"), self.open) {
            self.open = (None, None);
            self.writes += 1;
            self.registers.insert(address, data);
            p.set("m_axil_bresp", u64::from(address >= 0x1000) * 2);
            p.set("m_axil_bvalid", 1);
        }
        if p.get("m_axil_rready") == 1 {
            let address = p.get("m_axil_araddr");
            p.set("m_axil_rdata", u64::from(self.registers.get(&address).copied().unwrap_or(0xdead)));
            p.set("m_axil_rresp", u64::from(address >= 0x1000) * 3);
            p.set("m_axil_rvalid", 1);
            self.wait = 1;
        }
        if p.get("host_valid") == 1 {
            let word = p.get("host_word");
            if p.get("host_write") == 1 {
                self.writes += 1;
                self.memory.insert(word, p.get("host_data") as u32);
            }
            p.set("host_read", u64::from(self.memory.get(&word).copied().unwrap_or(0)));
            p.set("host_done", 1);
            self.wait = 1;
        }
    }

    /// A byte with stop bits, a bit of `cycles` each.
    fn byte(&mut self, byte: u8, cycles: u64) {
        self.pins.set("line_in", 0);
        self.run(cycles);
        for bit in 0..8 {
            self.pins.set("line_in", u64::from(byte >> bit & 1));
            self.run(cycles);
        }
        self.pins.set("line_in", 1);
        self.run(cycles);
    }

    fn send(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.byte(*b, DIVISOR));
    }

    /// Bytes that came out since the last look.
    fn received(&mut self) -> Vec<u8> {
        let levels = std::mem::take(&mut self.levels);
        let mut bytes = vec![];
        let mut at = 0;
        while at < levels.len() {
            if levels[at] {
                at += 1;
                continue;
            }
            let bit = |n: u64| levels[at + (n * DIVISOR + DIVISOR / 2) as usize];
            assert!(!bit(0) && bit(9), "start and stop");
            bytes.push((0..8).fold(0, |b, n| b | u8::from(bit(n + 1)) << n));
            // Each bit stands for its whole time.
            for n in 0..10 {
                let first = at + (n * DIVISOR) as usize;
                assert!(levels[first..first + DIVISOR as usize - usize::from(n == 9)]
                    .iter()
                    .all(|l| *l == levels[first]));
            }
            at += (10 * DIVISOR) as usize - 1;
        }
        bytes
    }

    /// Status and data of one answer.
    fn ask(&mut self, bytes: &[u8]) -> Option<(u8, u32)> {
        self.received();
        self.send(bytes);
        self.run(100 * DIVISOR + self.wait);
        let got = self.received();
        if got.is_empty() {
            return None;
        }
        assert_eq!((got.len(), got[0]), (8, SYNC), "{got:x?}");
        assert_eq!(crc(&got[1..6]).to_le_bytes(), got[6..8], "CRC of {got:x?}");
        Some((got[1], u32::from_le_bytes(got[2..6].try_into().unwrap())))
    }
}

#[test]
fn registers_memory_and_the_board_are_reached() {
    let mut b = Bench::new();
    assert_eq!(b.ask(&request(WRITE | 1, 0x104, 0x1234_5678)), Some((0x10, 0)));
    assert_eq!(b.ask(&request(2, 0x104, 0)), Some((0x20, 0x1234_5678)));
    assert_eq!(b.ask(&request(WRITE | 3, MEMORY | 0xffc, 0xcafe_f00d)).map(|a| a.0), Some(0x30));
    assert_eq!(b.ask(&request(4, MEMORY | 0xffc, 0)), Some((0x40, 0xcafe_f00d)));
    assert_eq!(b.ask(&request(WRITE | 5, BOARD | 4, 9)).map(|a| a.0), Some(0x50));
    assert_eq!(b.ask(&request(6, BOARD | 4, 0)), Some((0x60, 9)));
    assert_eq!(b.ask(&request(7, BOARD, 0)), Some((0x70, 0xffff_0009)));
    assert_eq!((b.registers[&0x104], b.memory[&0x3ff]), (0x1234_5678, 0xcafe_f00d));
    // Refused ones say so: SLVERR, DECERR, an address behind the memory.
    assert_eq!(b.ask(&request(WRITE | 8, 0x2000, 1)).map(|a| a.0), Some(0x82));
    assert_eq!(b.ask(&request(9, 0x3000, 0)).map(|a| a.0), Some(0x93));
    let writes = b.writes;
    for bit in 12..22 {
        assert_eq!(
            b.ask(&request(WRITE | (10 + (bit & 1) as u8), MEMORY | 1 << bit, 1))
                .map(|a| a.0 & 0xf),
            Some(3),
            "bit {bit}"
        );
    }
    assert_eq!((b.writes, b.bad), (writes, 0));
}

/// All registers of the address, all bits of the data; slow buses; bits a little too long or too short.
#[test]
fn random_accesses() {
    let mut b = Bench::new();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for n in 0..200u32 {
        let (address, data) = (rng.gen_range(0..0x400u32) * 4, rng.gen::<u32>());
        b.wait = if rng.gen_ratio(1, 4) { rng.gen_range(0..3000) } else { 0 };
        let space = *[0, MEMORY].get(rng.gen_range(0..2)).unwrap();
        let serial = (n % 15 + 1) as u8;
        assert_eq!(
            b.ask(&request(WRITE | serial, space | address, data)).map(|a| a.0),
            Some(serial << 4)
        );
        let got = if space == 0 {
            b.registers[&u64::from(address)]
        } else {
            b.memory[&u64::from(address / 4)]
        };
        assert_eq!(got, data);
        assert_eq!(b.ask(&request(0, space | address, 0)), Some((0, data)));
    }
    assert_eq!((b.good, b.bad), (400, 0));
}

#[test]
fn a_write_is_done_once_however_often_it_is_asked_for() {
    let mut b = Bench::new();
    assert_eq!(b.ask(&request(WRITE | 3, 8, 1)), Some((0x30, 0)));
    for _ in 0..3 {
        assert_eq!(b.ask(&request(WRITE | 3, 8, 2)), Some((0x34, 0)));
    }
    assert_eq!((b.registers[&8], b.writes), (1, 1));
    // Another number, or the same one after a read: a new write.
    assert_eq!(b.ask(&request(WRITE | 4, 8, 5)), Some((0x40, 0)));
    assert_eq!(b.ask(&request(3, 8, 0)), Some((0x30, 5)));
    assert_eq!(b.ask(&request(WRITE | 4, 8, 6)), Some((0x40, 0)));
    assert_eq!(b.writes, 3);
}

#[test]
fn broken_requests_do_nothing_and_are_counted() {
    let mut b = Bench::new();
    let whole = request(WRITE | 1, 8, 0x5656_5656);
    // Each bit wrong once. A pause brings both ends together again.
    for bit in 8..8 * whole.len() {
        let mut broken = whole.clone();
        broken[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(b.ask(&broken), None, "bit {bit}");
        b.run(2 * TICK);
    }
    assert_eq!((b.writes, b.good), (0, 0));
    assert_eq!(b.bad, 80);
    // Cut off anywhere; a stop bit that is missing.
    for length in 1..whole.len() {
        assert_eq!(b.ask(&whole[..length]), None);
        b.run(2 * TICK);
        assert_eq!(b.ask(&request(2, 8, 0)).map(|a| a.0), Some(0x20), "after {length} bytes");
    }
    let good = b.good;
    b.send(&whole[..5]);
    b.pins.set("line_in", 0);
    b.run(40 * DIVISOR);
    b.pins.set("line_in", 1);
    b.run(40 * DIVISOR);
    assert_eq!((b.writes, b.good), (0, good));
    assert_eq!(b.ask(&whole).map(|a| a.0), Some(0x10));
}

#[test]
fn it_finds_its_way_back_after_garbage() {
    let mut b = Bench::new();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut lost = 0;
    for round in 0..40 {
        let garbage: Vec<u8> = (0..rng.gen_range(1..60))
            .map(|_| if rng.gen_ratio(1, 4) { SYNC } else { rng.gen() })
            .collect();
        b.send(&garbage);
        // Without a pause a request may be lost to what stood before it; never behind one.
        let serial = (round % 15 + 1) as u8;
        let ask = request(serial, 8, 0);
        lost += usize::from(b.ask(&ask).is_none());
        b.run(2 * TICK);
        assert!(b.ask(&ask).is_some(), "round {round}, after a pause: {garbage:x?}");
    }
    assert_eq!(b.writes, 0);
    assert!(lost > 0, "the garbage did no harm at all");
}

/// Clocks of the two ends differ: up to 4 % each way.
#[test]
fn bits_may_be_too_long_or_too_short() {
    let mut pins = Pins::new(Box::new(UartPort::<21, 10>::new(50)), "uart_port");
    for cycles in [48, 49, 50, 51, 52] {
        pins.set("line_in", 1);
        (0..200).for_each(|_| pins.tick());
        let mut good = 0;
        for byte in request(1, BOARD, 0) {
            let bits: Vec<u64> = std::iter::once(0)
                .chain((0..8).map(|n| u64::from(byte >> n & 1)))
                .chain([1])
                .collect();
            for bit in bits {
                pins.set("line_in", bit);
                for _ in 0..cycles {
                    pins.tick();
                    good += pins.get("good");
                }
            }
        }
        (0..10_000).for_each(|_| pins.tick());
        assert_eq!(good, 1, "{cycles} cycles in a bit");
    }
}
