// SPDX-License-Identifier: MIT OR Apache-2.0
//! `rx::Rx` at both widths, against a plain-Rust judge of frames.

mod bench;
mod diff;
mod frame;

use bench::*;
use frame::*;
use rand::Rng;
use verbena_spec::counters::*;

/// The same test at both widths.
macro_rules! both {
    ($name64:ident, $name32:ident, $body:ident $(, $argument:expr)*) => {
        #[test]
        fn $name64() {
            $body!(Station64, 4096usize $(, $argument)*);
        }
        #[test]
        fn $name32() {
            $body!(Station32, 512usize $(, $argument)*);
        }
    };
}

macro_rules! good_frames {
    ($station:ident, $largest:expr, $manner:expr, $seed:expr) => {{
        let mut s = $station::new($seed, $manner);
        for i in 0..400 {
            let opcode = OPCODES[s.rng.gen_range(0..OPCODES.len() - 1)].0;
            let payload = if i % 20 == 0 {
                s.rng.gen_range(0..$largest)
            } else {
                s.rng.gen_range(0..80)
            };
            let setup = s.setup.clone();
            let frame = Roce::random(&mut s.rng, &setup, opcode, payload);
            let bytes = frame.bytes(&mut s.rng);
            if bytes.len() <= s.setup.max_frame {
                s.send(bytes, false);
            }
            while s.frames.len() > 1 {
                s.cycle();
            }
        }
        s.finish();
        assert!(s.counts[RX_ROCE as usize] > 300);
        assert_eq!(s.counts[RX_BAD_ICRC as usize], 0);
    }};
}
const CALM: Manner = Manner {
    idle: 0.0,
    gap: 0.9,
    stall: 0.0,
    hold_heads: false,
    hold_host: false,
    look: 0,
};
const ROUGH: Manner = Manner {
    idle: 0.3,
    gap: 0.8,
    stall: 0.3,
    hold_heads: false,
    hold_host: false,
    look: 0,
};
both!(r1_r5_r7_r9_good_frames_64, r1_r5_r7_r9_good_frames_32, good_frames, CALM, 1);
both!(good_frames_idle_and_stall_64, good_frames_idle_and_stall_32, good_frames, ROUGH, 2);

/// Frames without a single idle cycle, shortest ones too, good and bad mixed: each gets its verdict.
macro_rules! back_to_back {
    ($station:ident, $largest:expr, $stall:expr, $seed:expr) => {{
        let manner = Manner {
            stall: $stall,
            ..Manner::default()
        };
        let mut s = $station::new($seed, manner);
        s.may_overflow = true;
        for i in 0..600 {
            let bytes = any_frame(&mut s.rng, &s.setup.clone(), if i % 40 == 0 { 300 } else { 20 });
            let bad = s.rng.gen_bool(0.05);
            s.send(bytes, bad);
        }
        s.finish();
        assert!(s.counts[RX_ROCE as usize] > 20);
        assert_eq!(s.counts[..32].iter().sum::<u32>(), 600);
        println!("{:?}", &s.counts[..13]);
    }};
}
both!(r19_back_to_back_64, r19_back_to_back_32, back_to_back, 0.0, 3);
both!(back_to_back_with_stalls_64, back_to_back_with_stalls_32, back_to_back, 0.5, 4);

/// A good frame, or one of many kinds of others.
fn any_frame(rng: &mut impl Rng, setup: &Setup, largest: usize) -> Vec<u8> {
    let opcode = OPCODES[rng.gen_range(0..OPCODES.len())].0;
    let payload = rng.gen_range(0..largest);
    let mut frame = Roce::random(rng, setup, opcode, payload);
    match rng.gen_range(0..14) {
        0 => frame.port = rng.gen(),
        1 => frame.mac = [0xff; 6],
        2 => frame.gid[15] ^= 1,
        3 => frame.bth1 |= 1 << rng.gen_range(0..4),
        4 => frame.opcode = rng.gen(),
        5 => {
            // ARP and the like.
            let vlan = rng.gen();
            let kind = if rng.gen() { 0x0806 } else { rng.gen() };
            let mut bytes = ethernet(rng, setup.mac, vlan, kind);
            bytes.extend((0..rng.gen_range(28..100)).map(|_| rng.gen::<u8>()));
            return bytes;
        }
        6 => {
            let mut bytes = frame.bytes(rng);
            bytes.truncate(rng.gen_range(32..=bytes.len()));
            return bytes;
        }
        7 => {
            // One wrong bit anywhere behind the MAC addresses.
            let mut bytes = frame.bytes(rng);
            let at = rng.gen_range(12..bytes.len());
            bytes[at] ^= 1 << rng.gen_range(0..8);
            return bytes;
        }
        8 => {
            let mut bytes = frame.bytes(rng);
            let at = rng.gen_range(12..bytes.len().min(70));
            bytes[at] = rng.gen();
            return bytes;
        }
        _ => {}
    }
    frame.bytes(rng)
}

/// R12, R13, R15, R16, R19, R77 and what else a bit can break, with idle cycles and stalls.
macro_rules! any_frames {
    ($station:ident, $largest:expr, $seed:expr) => {{
        let mut s = $station::new($seed, ROUGH);
        for _ in 0..800 {
            let bytes = any_frame(&mut s.rng, &s.setup.clone(), 60);
            let bad = s.rng.gen_bool(0.03);
            s.send(bytes, bad);
            while s.frames.len() > 1 {
                s.cycle();
            }
        }
        s.finish();
        println!("{:?}", &s.counts[..13]);
        for code in [
            RX_ROCE,
            RX_HOST,
            RX_BAD_FCS,
            RX_BAD_ICRC,
            RX_BAD_LENGTH,
            RX_BAD_OPCODE,
            RX_BAD_TVER,
            RX_BAD_IP_CHECKSUM,
            RX_CNP,
        ] {
            assert!(s.counts[code as usize] > 0, "code {code} not met");
        }
    }};
}
both!(r12_r13_r16_r19_any_frames_64, r12_r13_r16_r19_any_frames_32, any_frames, 5);

/// All 256 opcodes, each at its shortest, one word shorter (R10), and longer.
macro_rules! opcodes {
    ($station:ident, $largest:expr, $react:expr) => {{
        let mut s = $station::new(6, CALM);
        s.manner.gap = 0.5;
        s.setup.react = $react;
        for opcode in 0..=255u8 {
            for change in [-4i32, 0, 8] {
                let setup = s.setup.clone();
                let mut frame = Roce::random(&mut s.rng, &setup, opcode, 0);
                let body = frame.extension.len() as i32 + change;
                if body < 0 {
                    frame.bth1 |= 0x30; // R10: pad bytes that aren't there.
                }
                frame.extension = vec![0x5a; body.max(0) as usize];
                let bytes = frame.bytes(&mut s.rng);
                s.send(bytes, false);
                while s.frames.len() > 1 {
                    s.cycle();
                }
            }
        }
        s.finish();
        let known = OPCODES.len() as u32;
        assert_eq!(s.counts[RX_BAD_LENGTH as usize], known + (256 - known));
        assert_eq!(s.counts[RX_BAD_OPCODE as usize], 2 * (256 - known));
        let cnps = if $react { 0 } else { 2 };
        assert_eq!(s.counts[RX_ROCE as usize], 2 * known - cnps);
        assert_eq!(s.counts[RX_CNP as usize], cnps);
    }};
}
both!(r10_r11_r76_all_opcodes_64, r10_r11_r76_all_opcodes_32, opcodes, false);
both!(
    r76_cnps_pass_where_they_are_heeded_64,
    r76_cnps_pass_where_they_are_heeded_32,
    opcodes,
    true
);

/// R7-R9, R77: each length field wrong by itself, the ICRC made right again.
macro_rules! lengths {
    ($station:ident, $largest:expr) => {{
        let mut s = $station::new(7, CALM);
        let mut bad = 0;
        for change in [-60i32, -8, -4, -3, -1, 1, 3, 4, 8, 400, 0x7000] {
            for field in 0..3 {
                let setup = s.setup.clone();
                let mut frame = Roce::random(&mut s.rng, &setup, 0x0a, 32);
                frame.trailer = 0;
                let mut bytes = frame.bytes(&mut s.rng);
                let ip = if frame.vlan { 18 } else { 14 };
                let udp = ip + if frame.ipv6 { 40 } else { 20 };
                let length_at = ip + if frame.ipv6 { 4 } else { 2 };
                let mut add = |at: usize| {
                    let now = u16::from_be_bytes([bytes[at], bytes[at + 1]]) as i32 + change;
                    bytes[at..at + 2].copy_from_slice(&(now as u16).to_be_bytes());
                };
                if field != 1 {
                    add(length_at);
                }
                if field != 0 {
                    add(udp + 4);
                }
                if !frame.ipv6 {
                    fix_checksum(&mut bytes[ip..]);
                }
                let end = bytes.len() - 4;
                let icrc = icrc_of(&bytes[ip..end], frame.ipv6);
                bytes[end..].copy_from_slice(&icrc);
                bad += (judge(&bytes, false, &s.setup).0 == RX_BAD_LENGTH) as u32;
                s.send(bytes, false);
            }
        }
        s.finish();
        assert!(bad > 15);
        assert_eq!(s.counts[RX_BAD_LENGTH as usize], bad);
    }};
}
both!(r7_r8_r9_r77_lengths_64, r7_r8_r9_r77_lengths_32, lengths);

/// R15: options, more fragments, an offset.
macro_rules! fragments {
    ($station:ident, $largest:expr) => {{
        let mut s = $station::new(8, CALM);
        for i in 0..60 {
            let setup = s.setup.clone();
            let mut frame = Roce::random(&mut s.rng, &setup, 0x04, 30);
            (frame.ipv6, frame.gid) = setup.gids[0];
            frame.port = if i % 4 == 3 { 4790 } else { 4791 };
            let mut bytes = frame.bytes(&mut s.rng);
            let ip = if frame.vlan { 18 } else { 14 };
            match i % 3 {
                0 => bytes[ip] = 0x46,
                1 => bytes[ip + 6] = 0x20,
                _ => bytes[ip + 6 + s.rng.gen_range(0..2)] = 1 << s.rng.gen_range(0..4),
            }
            fix_checksum(&mut bytes[ip..]);
            s.send(bytes, false);
        }
        s.finish();
        assert_eq!(s.counts[RX_FRAGMENT as usize] + s.counts[RX_HOST as usize], 60);
        assert_eq!(s.counts[RX_HOST as usize], 5);
    }};
}
both!(r15_fragments_to_the_host_64, r15_fragments_to_the_host_32, fragments);

/// Nobody takes heads or host frames: RoCE frames end in `RX_NO_BUFFER`, host frames in `RX_HOST_OVERFLOW`, neither blocks the other, and when the
/// ends are drained all that was committed comes out right and the station goes on.
macro_rules! overflow {
    ($station:ident, $largest:expr, $payload:expr, $frames:expr) => {{
        let mut s = $station::new(
            9,
            Manner {
                hold_heads: true,
                hold_host: true,
                ..CALM
            },
        );
        s.may_overflow = true;
        for _ in 0..2 {
            for _ in 0..$frames {
                let bytes = any_frame(&mut s.rng, &s.setup.clone(), $payload);
                s.send(bytes, false);
                let setup = s.setup.clone();
                let mut bytes = ethernet(&mut s.rng, setup.mac, false, 0x0806);
                bytes.extend((0..$payload).map(|_| s.rng.gen::<u8>()));
                s.send(bytes, false);
            }
            while !s.frames.is_empty() {
                s.cycle();
            }
            s.manner.hold_heads = false;
            s.manner.hold_host = false;
            s.finish();
            s.manner.hold_heads = true;
            s.manner.hold_host = true;
        }
        println!("{:?}", &s.counts[..13]);
        assert!(s.counts[RX_NO_BUFFER as usize] > 0 && s.counts[RX_HOST_OVERFLOW as usize] > 0);
    }};
}
both!(overflow_of_rows_64, overflow_of_rows_32, overflow, 300usize, 130);
#[test]
fn overflow_of_the_ring_64() {
    overflow!(Station64, 0usize, 3000usize, 70);
}
#[test]
fn overflow_of_the_ring_32() {
    overflow!(Station32, 0usize, 440usize, 40);
}

/// Runts, frames at and past the longest, `enable` low, `icrc_off`.
macro_rules! edges {
    ($station:ident, $largest:expr) => {{
        let mut s = $station::new(10, CALM);
        let max = s.setup.max_frame;
        for length in (1..80).chain([max - 1, max, max + 1, max + 50]) {
            let mut bytes: Vec<u8> = s.setup.mac.to_vec();
            bytes.extend((0..length).map(|_| s.rng.gen::<u8>()));
            bytes.truncate(length);
            s.send(bytes, length % 7 == 0);
            // A runt must not find what the frame before left behind.
            let setup = s.setup.clone();
            let bytes = Roce::random(&mut s.rng, &setup, 4, 8).bytes(&mut s.rng);
            s.send(bytes, false);
        }
        s.finish();
        assert_eq!(s.counts[RX_TOO_LONG as usize], 2);
        let roce = s.counts[RX_ROCE as usize];
        assert_eq!(roce, 83);
        s.setup.enable = false;
        let setup = s.setup.clone();
        let bytes = Roce::random(&mut s.rng, &setup, 4, 8).bytes(&mut s.rng);
        s.send(bytes.clone(), false);
        s.finish();
        assert_eq!(s.counts[RX_ROCE as usize], roce);
        // R12: the check can be switched off.
        s.setup.enable = true;
        let mut wrong = Roce {
            trailer: 0,
            ..Roce::random(&mut s.rng, &setup, 4, 64)
        }
        .bytes(&mut s.rng);
        *wrong.last_mut().unwrap() ^= 1;
        s.send(wrong.clone(), false);
        s.finish();
        s.setup.icrc_off = true;
        s.send(wrong, false);
        s.finish();
        assert_eq!(s.counts[RX_ROCE as usize], roce + 1);
        assert_eq!(s.counts[RX_BAD_ICRC as usize], 1);
    }};
}
both!(r12_edges_64, r12_edges_32, edges);

/// R8, R18, R1: every payload length 0..64, tagged or not, with a trailer or not.
macro_rules! paddings {
    ($station:ident, $largest:expr) => {{
        let mut s = $station::new(11, CALM);
        for payload in 0..=64 {
            for kind in 0..4 {
                let setup = s.setup.clone();
                let mut frame = Roce::random(&mut s.rng, &setup, 4, payload);
                frame.vlan = kind & 1 == 1;
                frame.trailer = (kind >> 1) * (1 + payload % 9);
                let bytes = frame.bytes(&mut s.rng);
                s.send(bytes, false);
                while s.frames.len() > 1 {
                    s.cycle();
                }
            }
        }
        s.finish();
        assert_eq!(s.counts[RX_ROCE as usize], 65 * 4);
    }};
}
both!(r8_r9_r18_paddings_64, r8_r9_r18_paddings_32, paddings);

/// R6: any bit of the payload or of the pad, changed by itself, breaks the ICRC.
macro_rules! payload_bits {
    ($station:ident, $largest:expr) => {{
        let mut s = $station::new(14, CALM);
        let setup = s.setup.clone();
        let mut sent = 0;
        for payload in [1, 2, 8, 37] {
            let frame = Roce {
                trailer: 0,
                vlan: false,
                ..Roce::random(&mut s.rng, &setup, 4, payload)
            };
            let good = frame.bytes(&mut s.rng);
            s.send(good.clone(), false);
            let end = 14 + if frame.ipv6 { 40 } else { 20 } + 8 + 12 + payload.next_multiple_of(4);
            for at in end - payload.next_multiple_of(4)..end {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << s.rng.gen_range(0..8);
                s.send(bytes, false);
                sent += 1;
                while s.frames.len() > 1 {
                    s.cycle();
                }
            }
        }
        s.finish();
        assert_eq!((s.counts[RX_ROCE as usize], s.counts[RX_BAD_ICRC as usize]), (4, sent));
    }};
}
both!(r6_any_payload_bit_counts_64, r6_any_payload_bit_counts_32, payload_bits);

/// Cycles from the last beat on the port to a valid head, nothing waiting.
macro_rules! latency {
    ($station:ident, $largest:expr, $limit:expr) => {{
        let mut s = $station::new(12, Manner::default());
        let mut worst = [0, 0];
        for i in 0..40 {
            let setup = s.setup.clone();
            let frame = Roce::random(&mut s.rng, &setup, 4, if i % 2 == 0 { 64 } else { 0 });
            let bytes = frame.bytes(&mut s.rng);
            s.send(bytes, false);
            s.head_at = 0;
            s.finish();
            let took = s.head_at - s.last_beat_at;
            worst[frame.ipv6 as usize] = worst[frame.ipv6 as usize].max(took);
        }
        println!("last beat to head: IPv4 {}, IPv6 {}", worst[0], worst[1]);
        assert_eq!(worst, $limit);
    }};
}
#[test]
fn latency_64() {
    latency!(Station64, 0usize, [14, 16]);
}
#[test]
fn latency_32() {
    latency!(Station32, 0usize, [19, 0]);
}

/// Cycles from one `head_next` to the following, rows waiting, if each head is looked at for `look` + 1 cycles: the budget is 20 a packet.
macro_rules! next_head {
    ($station:ident, $look:expr, $ipv4:expr, $ipv6:expr) => {{
        let mut s = $station::new(
            13,
            Manner {
                hold_heads: true,
                look: $look,
                ..Manner::default()
            },
        );
        for ipv6 in [false, true] {
            let Some(gid) = s.setup.gids.iter().position(|g| g.0 == ipv6) else {
                continue;
            };
            let mut setup = s.setup.clone();
            setup.gids = vec![setup.gids[gid]];
            for _ in 0..7 {
                let bytes = Roce::random(&mut s.rng, &setup, 4, 8).bytes(&mut s.rng);
                s.send(bytes, false);
            }
            s.manner.hold_heads = true;
            s.finish();
            s.manner.hold_heads = false;
            s.takes.clear();
            s.finish();
            let took: Vec<u64> = s.takes.windows(2).map(|t| t[1] - t[0]).collect();
            println!("head to head, IPv6 {ipv6}: {took:?}");
            let want: [u64; 6] = if ipv6 { $ipv6 } else { $ipv4 };
            assert_eq!(took, want);
        }
    }};
}
/// A head that was loaded meanwhile comes one cycle after `head_next`.
#[test]
fn head_to_head_64() {
    next_head!(Station64, 12, [13; 6], [13; 6]);
}
/// Heads that nobody looks at: as fast as rows can be loaded.
#[test]
fn loader_64() {
    next_head!(Station64, 0, [1, 10, 10, 10, 10, 10], [1, 12, 12, 12, 12, 12]);
}
#[test]
fn head_to_head_32() {
    next_head!(Station32, 0, [15; 6], [0; 6]);
}
