// SPDX-License-Identifier: MIT OR Apache-2.0
//! `wire::IcrcMask` and `wire::Icrc` against a bitwise model, at both widths.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::wire::{Icrc, IcrcMask};
use verbena_tb::step::Bench;

/// Mask and CRC, joined as the stations join them.
#[derive(LogicBlock, Default)]
struct Unit<const W: usize, const L: usize> {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    data: Signal<In, Bits<W>>,
    word: Signal<In, Bits<12>>,
    lane_valid: Signal<In, Bits<L>>,
    valid: Signal<In, Bit>,
    first: Signal<In, Bit>,
    last: Signal<In, Bit>,
    ipv6: Signal<In, Bit>,
    crc: Signal<Out, Bits<32>>,
    good: Signal<Out, Bit>,
    crc_valid: Signal<Out, Bit>,
    mask: IcrcMask<W, L>,
    icrc: Icrc<W, L>,
}

impl<const W: usize, const L: usize> Logic for Unit<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, mask, icrc);
        self.mask.reset.next = self.reset.val();
        self.icrc.reset.next = self.reset.val();
        self.mask.s_data.next = self.data.val();
        self.mask.s_word.next = self.word.val();
        self.mask.s_lane_valid.next = self.lane_valid.val();
        self.mask.s_valid.next = self.valid.val();
        self.mask.s_first.next = self.first.val();
        self.mask.s_last.next = self.last.val();
        self.mask.ipv6.next = self.ipv6.val();
        self.icrc.data.next = self.mask.m_data.val();
        self.icrc.lane_valid.next = self.mask.m_lane_valid.val();
        self.icrc.valid.next = self.mask.m_valid.val();
        self.icrc.first.next = self.mask.m_first.val();
        self.icrc.last.next = self.mask.m_last.val();
        self.crc.next = self.icrc.crc.val();
        self.good.next = self.icrc.good.val();
        self.crc_valid.next = self.icrc.crc_valid.val();
    }
}

/// R1-R4, one bit after the other, offsets from the IP header as the rules give them.
fn icrc_of(packet: &[u8], ipv6: bool) -> [u8; 4] {
    let mut bytes = vec![0xff; 8];
    bytes.extend(packet);
    let udp = if ipv6 { 40 } else { 20 };
    let ip = &mut bytes[8..];
    if ipv6 {
        ip[0] |= 0x0f;
        ip[1..4].fill(0xff);
        ip[7] = 0xff;
    } else {
        ip[1] = 0xff;
        ip[8] = 0xff;
        ip[10..12].fill(0xff);
    }
    ip[udp + 6..udp + 8].fill(0xff);
    ip[udp + 8 + 4] = 0xff;
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= byte as u32;
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_le_bytes()
}

/// Random packets through the unit; `with_icrc` feeds the ICRC as the last word, as a receiver does.
fn run<const W: usize, const L: usize>(seed: u64, packets: usize, idle: bool, with_icrc: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::new(Unit::<W, L>::default()), |u| &mut u.clock);
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    let mut want: VecDeque<(u64, u32, bool)> = VecDeque::new();
    let mut seen = 0;
    let mut collect = |bench: &Bench<Unit<W, L>>, want: &mut VecDeque<(u64, u32, bool)>| {
        if bench.uut.crc_valid.val() {
            let (at, crc, good) = want.pop_front().expect("a result too many");
            assert_eq!(bench.cycle, at + 4, "W {W} seed {seed}: latency is 1 + 3");
            if with_icrc {
                assert_eq!(bench.uut.good.val(), good, "W {W} seed {seed} cycle {}", bench.cycle);
            } else {
                assert_eq!(bench.uut.crc.val().to_u64() as u32, crc, "W {W} seed {seed} cycle {}", bench.cycle);
            }
            seen += 1;
        }
    };
    for _ in 0..packets {
        let ipv6 = rng.gen();
        let base = if ipv6 { 0 } else { 5 };
        let words = rng.gen_range(15 - base..60 - base);
        let mut packet: Vec<u8> = (0..words * 4).map(|_| rng.gen()).collect();
        let icrc = icrc_of(&packet, ipv6);
        let mut good = true;
        if with_icrc {
            packet.extend(icrc);
            if rng.gen() {
                // One flipped bit, not in a variant byte: the UDP ports or later than the BTH.
                let at = if rng.gen() {
                    (10 - base) * 4 + rng.gen_range(0..4)
                } else {
                    rng.gen_range((14 - base) * 4..packet.len())
                };
                packet[at] ^= 1 << rng.gen_range(0..8);
                good = false;
            }
        }
        let total = base + packet.len() / 4;
        let mut word = base / L * L;
        let mut first = true;
        while word < total {
            bench.uut.valid.next = !idle || rng.gen();
            bench.settle();
            if bench.uut.valid.val() {
                let mut data = 0u64;
                let mut lanes = 0u64;
                for lane in 0..L {
                    let at = word + lane;
                    // Words that don't count hold anything.
                    let mut value: u32 = rng.gen();
                    if at >= base && at < total {
                        value = u32::from_le_bytes(packet[(at - base) * 4..][..4].try_into().unwrap());
                        lanes |= 1 << lane;
                    }
                    data |= (value as u64) << (32 * lane);
                }
                let last = word + L >= total;
                bench.uut.data.next = data.to_bits();
                bench.uut.word.next = (word as u64).to_bits();
                bench.uut.lane_valid.next = lanes.to_bits();
                bench.uut.first.next = first;
                bench.uut.last.next = last;
                bench.uut.ipv6.next = ipv6;
                if last {
                    want.push_back((bench.cycle, u32::from_le_bytes(icrc), good));
                }
                first = false;
                word += L;
            }
            bench.settle();
            collect(&bench, &mut want);
            bench.edge();
        }
    }
    bench.uut.valid.next = false;
    for _ in 0..8 {
        bench.settle();
        collect(&bench, &mut want);
        bench.edge();
    }
    assert!(want.is_empty());
    assert_eq!(seen, packets);
}

#[test]
fn r1_r2_r3_r4_icrc_64() {
    run::<64, 2>(1, 150, false, false);
    run::<64, 2>(2, 50, true, false);
}

#[test]
fn r1_r2_r3_r4_icrc_32() {
    run::<32, 1>(3, 150, false, false);
    run::<32, 1>(4, 50, true, false);
}

#[test]
fn r12_received_icrc_is_judged() {
    run::<64, 2>(5, 150, false, true);
    run::<64, 2>(6, 50, true, true);
    run::<32, 1>(7, 100, true, true);
}
