// SPDX-License-Identifier: MIT OR Apache-2.0
//! `SmallRam` against a plain array.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_hdl::board::SmallRam;
use verbena_tb::pins::Pins;

const WORDS: usize = 1 << 5;

fn pins() -> Pins {
    Pins::new(Box::<SmallRam<5>>::default(), "small_ram")
}

fn far_bit(rng: &mut ChaCha8Rng, far: bool) -> u64 {
    if far {
        1 << rng.gen_range(7..20)
    } else {
        0
    }
}

fn write_burst(pins: &mut Pins, rng: &mut ChaCha8Rng, memory: &mut [u32], far: bool) {
    let (at, id) = (rng.gen_range(0..WORDS), rng.gen_range(0..8u64));
    let words = rng.gen_range(1..=WORDS);
    pins.set("s_axi_awaddr", 4 * at as u64 + far_bit(rng, far));
    pins.set("s_axi_awid", id);
    pins.set("s_axi_awvalid", 1);
    pins.until("s_axi_awready");
    pins.set("s_axi_awvalid", 0);
    for n in 0..words {
        while rng.gen_ratio(1, 4) {
            pins.set("s_axi_wvalid", 0);
            pins.tick();
        }
        let (data, strobe) = (rng.gen::<u32>(), if rng.gen() { 0xf } else { rng.gen_range(0..16u32) });
        pins.set("s_axi_wdata", data.into());
        pins.set("s_axi_wstrb", strobe.into());
        pins.set("s_axi_wlast", u64::from(n + 1 == words));
        pins.set("s_axi_wvalid", 1);
        pins.until("s_axi_wready");
        let mask = (0..4).filter(|b| strobe >> b & 1 == 1 && !far).fold(0, |m, b| m | 0xff << (8 * b));
        // Over the end it wraps.
        let word = &mut memory[(at + n) % WORDS];
        *word = *word & !mask | data & mask;
    }
    pins.set("s_axi_wvalid", 0);
    (0..rng.gen_range(0..3)).for_each(|_| pins.tick());
    pins.set("s_axi_bready", 1);
    pins.until("s_axi_bvalid");
    assert_eq!((pins.get("s_axi_bid"), pins.get("s_axi_bresp")), (id, if far { 3 } else { 0 }));
    pins.set("s_axi_bready", 0);
}

fn read_burst(pins: &mut Pins, rng: &mut ChaCha8Rng, memory: &[u32], far: bool) {
    let (at, id) = (rng.gen_range(0..WORDS), rng.gen_range(0..8u64));
    let words = rng.gen_range(1..=WORDS);
    pins.set("s_axi_araddr", 4 * at as u64 + far_bit(rng, far));
    pins.set("s_axi_arlen", words as u64 - 1);
    pins.set("s_axi_arid", id);
    pins.set("s_axi_arvalid", 1);
    pins.until("s_axi_arready");
    pins.set("s_axi_arvalid", 0);
    let (mut n, stall) = (0, rng.gen_range(0..4));
    for _ in 0..1000 {
        let ready = rng.gen_range(0..4) >= stall;
        pins.set("s_axi_rready", u64::from(ready));
        pins.tick();
        if ready && pins.get("s_axi_rvalid") == 1 {
            assert_eq!((pins.get("s_axi_rid"), pins.get("s_axi_rresp")), (id, if far { 3 } else { 0 }));
            assert_eq!(pins.get("s_axi_rlast") == 1, n + 1 == words, "word {n} of {words}");
            if !far {
                assert_eq!(pins.get("s_axi_rdata"), u64::from(memory[(at + n) % WORDS]), "word {n} from {at}");
            }
            n += 1;
            if n == words {
                break;
            }
        }
    }
    assert_eq!(n, words);
    pins.set("s_axi_rready", 0);
    pins.tick();
    assert_eq!(pins.get("s_axi_rvalid"), 0);
}

fn host_access(pins: &mut Pins, rng: &mut ChaCha8Rng, memory: &mut [u32]) {
    let (word, data, write) = (rng.gen_range(0..WORDS), rng.gen::<u32>(), rng.gen::<bool>());
    pins.set("host_word", word as u64);
    pins.set("host_data", data.into());
    pins.set("host_write", write.into());
    pins.set("host_valid", 1);
    pins.until("host_done");
    pins.set("host_valid", 0);
    if write {
        memory[word] = data;
    } else {
        assert_eq!(pins.get("host_read"), u64::from(memory[word]), "word {word}");
    }
    pins.tick();
}

#[test]
fn memory_holds_what_was_written() {
    let mut pins = pins();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut memory = vec![0; WORDS];
    for _ in 0..2000 {
        let far = rng.gen_ratio(1, 8);
        match rng.gen_range(0..4) {
            0 => write_burst(&mut pins, &mut rng, &mut memory, far),
            1 => host_access(&mut pins, &mut rng, &mut memory),
            _ => read_burst(&mut pins, &mut rng, &memory, far),
        }
    }
}

/// The host waits for a burst's end, and a burst for the host's access; a write goes first.
#[test]
fn what_comes_together_goes_one_behind_the_other() {
    let mut pins = pins();
    for (name, value) in [
        ("host_word", 3),
        ("host_data", 77),
        ("host_write", 1),
        ("host_valid", 1),
        ("s_axi_araddr", 12),
        ("s_axi_arvalid", 1),
        ("s_axi_awaddr", 12),
        ("s_axi_awvalid", 1),
    ] {
        pins.set(name, value);
    }
    pins.tick();
    assert_eq!((pins.get("s_axi_awready"), pins.get("s_axi_arready")), (1, 0));
    pins.set("s_axi_awvalid", 0);
    pins.set("s_axi_wdata", 5);
    pins.set("s_axi_wstrb", 0xf);
    pins.set("s_axi_wlast", 1);
    pins.set("s_axi_wvalid", 1);
    pins.set("s_axi_bready", 1);
    pins.until("s_axi_bvalid");
    assert_eq!(pins.get("host_done"), 0);
    pins.set("s_axi_wvalid", 0);
    pins.set("s_axi_rready", 1);
    pins.until("s_axi_arready");
    pins.set("s_axi_arvalid", 0);
    pins.until("s_axi_rvalid");
    assert_eq!((pins.get("s_axi_rdata"), pins.get("host_done")), (5, 0));
    pins.until("host_done");
    pins.set("host_write", 0);
    pins.until("host_done");
    assert_eq!(pins.get("host_read"), 77);
}
