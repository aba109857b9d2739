// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptor reader against a plain slave.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::mem::DescriptorReader;
use verbena_spec::config::PRESETS;
use verbena_tb::step::Bench;

fn fetches<const W: usize>(seed: u64) {
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let config = PRESETS.iter().find(|c| c.data_bits == W).unwrap();
    let mut bench = Bench::new(Box::new(DescriptorReader::<W>::new(config)), |uut| &mut uut.clock);
    bench.uut.reset.next = true;
    bench.step();
    bench.step();
    bench.uut.reset.next = false;
    let beats = 128 / W;
    let mut errors = 0;
    for round in 0..200 {
        let held = round % 2 == 0;
        let address: u64 = rng.gen();
        let mut words: [u32; 4] = rng.gen();
        if rng.gen_bool(0.5) {
            words[2] &= 0x1f_ffff;
            words[3] &= 0x3ff;
        }
        let bad = rng.gen_bool(0.2).then(|| rng.gen_range(0..beats));
        let fast = round % 3 == 0;
        bench.uut.fetch_start.next = true;
        bench.uut.fetch_address.next = address.to_bits();
        let (mut asked, mut sent, mut cycles, mut held_ar) = (false, 0usize, 0, None);
        loop {
            let ar_ready = fast || rng.gen_bool(0.5);
            let r_valid = asked && sent < beats && (fast || rng.gen_bool(0.5));
            bench.uut.m_ar_ready.next = ar_ready;
            bench.uut.r_valid.next = r_valid;
            let lanes = W / 32;
            let data = (0..lanes)
                .map(|l| (words.get(sent * lanes + l).copied().unwrap_or(0) as u64) << (32 * l))
                .sum::<u64>();
            bench.uut.r_data.next = data.to_bits();
            bench.uut.r_last.next = sent + 1 == beats;
            bench.uut.r_response.next = (if bad == Some(sent) { 2 + round % 2 } else { 0 } as u64).to_bits();
            bench.settle();
            let uut = &mut bench.uut;
            if uut.fetch_done.val() {
                break;
            }
            if uut.m_ar_valid.val() {
                assert!(!asked, "one AR a fetch");
                let ar = (uut.m_ar_address.val().to_u64(), uut.m_ar_length.val().to_u64());
                assert_eq!(ar, (address & config.address_mask() & !15, beats as u64 - 1));
                held_ar = (!ar_ready).then_some(ar);
                asked = ar_ready;
            } else {
                assert!(held_ar.is_none(), "AR fell before ready");
            }
            if r_valid && uut.r_ready.val() {
                sent += 1;
            }
            bench.edge();
            if !held {
                bench.uut.fetch_start.next = false;
                bench.uut.fetch_address.next = 0.into();
            }
            cycles += 1;
            assert!(cycles < 200, "hang");
        }
        let uut = &mut bench.uut;
        assert_eq!(sent, beats);
        assert_eq!(uut.fetch_error.val(), bad.is_some(), "R69");
        let got = [&uut.fetch_word0, &uut.fetch_word1, &uut.fetch_word2, &uut.fetch_word3].map(|w| w.val().to_u64() as u32);
        let mut want = words;
        if config.small() {
            // Length and key as far as the preset's memory and regions go, and whether there was more.
            for (word, kept) in [(2, 0x1f_ffff), (3, 0x3ff)] {
                want[word] = words[word] & kept | ((words[word] & !kept != 0) as u32) << 31;
            }
        }
        assert!(bad.is_some() || got == want, "{got:x?} {want:x?}");
        errors += bad.is_some() as u32;
        if fast {
            assert_eq!(cycles, 2 + beats, "round {round}");
        }
        uut.fetch_start.next = false;
        bench.edge();
        bench.uut.r_valid.next = false;
        bench.settle();
        assert!(!bench.uut.fetch_done.val() && !bench.uut.m_ar_valid.val());
        if round % 5 == 0 {
            bench.step();
        }
    }
    assert!(errors > 10);
}

#[test]
fn r69_fetches_w64() {
    fetches::<64>(10);
}

#[test]
fn r69_fetches_w32() {
    fetches::<32>(11);
}
