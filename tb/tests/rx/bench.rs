// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drives the station: a MAC, a control path that takes heads, a DMA reader, a host port, an event sink; everything is checked.

use super::frame::{judge, mapped, Packet, Setup};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::rx::{PacketHead, Rx};
use verbena_spec::counters::*;
use verbena_tb::{ports, step::Bench};

/// How the surroundings behave.
#[derive(Clone, Copy, Default)]
pub struct Manner {
    /// Chance of an idle cycle between beats, and of idle cycles between frames.
    pub idle: f64,
    pub gap: f64,
    /// Chance of a stall of each sink in a cycle.
    pub stall: f64,
    /// Heads are not taken at all; the host port is not read.
    pub hold_heads: bool,
    pub hold_host: bool,
    /// Cycles that each head is looked at, less one.
    pub look: u32,
}

/// A frame on its way in.
pub struct Input {
    pub bytes: Vec<u8>,
    pub bad_fcs: bool,
}

macro_rules! station {
    ($bench:ident, $kind:ty, $w:literal, $k:literal, $l:literal, $ba:literal) => {
        pub struct $bench {
            pub bench: Bench<$kind>,
            pub setup: Setup,
            pub manner: Manner,
            pub rng: ChaCha8Rng,
            pub seed: u64,
            pub frames: VecDeque<Input>,
            at: usize,
            /// What is still to come out.
            events: VecDeque<u8>,
            packets: VecDeque<Packet>,
            host: VecDeque<Vec<u8>>,
            got_host: Vec<u8>,
            jobs: VecDeque<(PacketHead, Packet)>,
            reading: Option<(PacketHead, Packet, usize)>,
            end: u64,
            looked: u32,
            pub counts: [u32; 64],
            pub last_beat_at: u64,
            pub head_at: u64,
            /// `RX_NO_BUFFER` and `RX_HOST_OVERFLOW` may stand for a commit.
            pub may_overflow: bool,
            started: std::time::Instant,
            /// Cycles in which heads were taken.
            pub takes: Vec<u64>,
        }

        impl $bench {
            pub fn new(seed: u64, manner: Manner) -> Self {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let preset = verbena_spec::config::PRESETS.iter().find(|p| p.data_bits == $w).unwrap();
                let mut gids = vec![(false, mapped([192, 168, 7, 9]))];
                if preset.ipv6 {
                    gids.push((true, rng.gen()));
                    gids.push((true, rng.gen()));
                    gids.push((false, mapped([10, 0, 0, 1])));
                }
                let setup = Setup {
                    mac: [2, 0, 0x5e, 0x10, 0xfe, 0x77],
                    gids,
                    max_frame: preset.max_frame,
                    has_ipv6: preset.ipv6,
                    enable: true,
                    icrc_off: false,
                    react: false,
                };
                let mut bench = Bench::verilated(Box::new(<$kind>::new(preset)), &format!("rx_{}", $w), ports!(in reset, s_data, s_keep, s_valid, s_last, s_user, enable, icrc_off, react, local_mac, gid_valid, gid_ipv6, gid, head_next, read_beat, read_count, read_valid, beat_ready, release_valid, release_beat, m_host_ready, event_ready; out head, head_valid, read_ready, beat_data, beat_valid, committed_beat, m_host_data, m_host_keep, m_host_valid, m_host_last, event_valid, event_code));
                bench.uut.reset.next = true;
                bench.step();
                bench.step();
                bench.uut.reset.next = false;
                let mut station = Self {
                    bench,
                    setup,
                    manner,
                    rng,
                    seed,
                    frames: VecDeque::new(),
                    at: 0,
                    events: VecDeque::new(),
                    packets: VecDeque::new(),
                    host: VecDeque::new(),
                    got_host: vec![],
                    jobs: VecDeque::new(),
                    reading: None,
                    end: 0,
                    looked: 0,
                    counts: [0; 64],
                    last_beat_at: 0,
                    head_at: 0,
                    may_overflow: false,
                    started: std::time::Instant::now(),
                    takes: vec![],
                };
                station.addresses();
                station
            }

            /// A frame that will be sent.
            pub fn send(&mut self, bytes: Vec<u8>, bad_fcs: bool) {
                self.frames.push_back(Input { bytes, bad_fcs });
            }

            fn registers(&mut self) {
                let uut = &mut self.bench.uut;
                uut.enable.next = self.setup.enable;
                uut.icrc_off.next = self.setup.icrc_off;
                uut.react.next = self.setup.react;
            }

            /// MAC and GIDs, which stay.
            fn addresses(&mut self) {
                let uut = &mut self.bench.uut;
                uut.local_mac.next = self.setup.mac.iter().fold(0u64, |n, b| n << 8 | *b as u64).to_bits();
                let (mut valid, mut ipv6, mut gid) = (0u64, 0u64, Bits::<512>::default());
                for (i, (is_ipv6, bytes)) in self.setup.gids.iter().enumerate() {
                    valid |= 1 << i;
                    ipv6 |= (*is_ipv6 as u64) << i;
                    for bit in 0..128 {
                        gid = gid.replace_bit(128 * i + bit, bytes[15 - bit / 8] >> (bit % 8) & 1 == 1);
                    }
                }
                uut.gid_valid.next = valid.to_bits();
                uut.gid_ipv6.next = ipv6.to_bits();
                uut.gid.next = gid;
            }

            /// One cycle.
            pub fn cycle(&mut self) {
                self.registers();
                let stall = self.manner.stall;
                let (seed, cycle) = (self.seed, self.bench.cycle);

                // The MAC.
                let pause = if self.at == 0 { self.manner.gap } else { self.manner.idle };
                let mut sent_last = false;
                let uut = &mut self.bench.uut;
                uut.s_valid.next = false;
                uut.s_last.next = self.rng.gen();
                uut.s_user.next = self.rng.gen();
                uut.s_data.next = fit(self.rng.gen(), $w);
                uut.s_keep.next = fit(self.rng.gen(), $k);
                if let Some(frame) = self.frames.front() {
                    if pause == 0.0 || !self.rng.gen_bool(pause) {
                        let mut data = self.rng.gen::<u64>().to_le_bytes();
                        let n = (frame.bytes.len() - self.at).min($k);
                        data[..n].copy_from_slice(&frame.bytes[self.at..self.at + n]);
                        sent_last = self.at + n == frame.bytes.len();
                        uut.s_valid.next = true;
                        uut.s_data.next = fit(u64::from_le_bytes(data), $w);
                        uut.s_keep.next = ((1u64 << n) - 1).to_bits();
                        uut.s_last.next = sent_last;
                        // Only the last beat's mark counts.
                        uut.s_user.next = frame.bad_fcs && sent_last;
                        self.at += n;
                    }
                }
                if sent_last {
                    let frame = self.frames.pop_front().unwrap();
                    self.at = 0;
                    self.last_beat_at = cycle;
                    let (code, packet) = judge(&frame.bytes, frame.bad_fcs, &self.setup);
                    self.events.push_back(code);
                    self.packets.extend(packet);
                    if code == RX_HOST || code == RX_FRAGMENT {
                        self.host.push_back(frame.bytes);
                    }
                }

                // Sinks.
                let ready = |rng: &mut ChaCha8Rng| stall == 0.0 || !rng.gen_bool(stall);
                uut.event_ready.next = true;
                uut.m_host_ready.next = !self.manner.hold_host && ready(&mut self.rng);
                uut.beat_ready.next = ready(&mut self.rng);
                uut.release_valid.next = false;
                uut.read_valid.next = false;
                if self.reading.is_none() {
                    if let Some((head, packet)) = self.jobs.front() {
                        uut.read_valid.next = true;
                        uut.read_beat.next = head.frame_beat;
                        uut.read_count.next = (packet.words.len().div_ceil($l) as u64).to_bits();
                    }
                }
                let mut release = None;
                if let Some((head, packet, seen)) = &self.reading {
                    if *seen >= packet.words.len() {
                        uut.release_valid.next = true;
                        uut.release_beat.next = head.end_beat;
                        release = Some(());
                    }
                }
                let take = uut.head_valid.val() && self.looked >= self.manner.look && !self.manner.hold_heads && ready(&mut self.rng);
                uut.head_next.next = take;
                self.looked = if take || !uut.head_valid.val() { 0 } else { self.looked + 1 };

                self.bench.settle();
                let uut = &mut self.bench.uut;
                if uut.event_valid.val() {
                    let code = uut.event_code.val().to_u64() as u8;
                    let want = self
                        .events
                        .pop_front()
                        .unwrap_or_else(|| panic!("seed {seed} cycle {cycle}: event {code} without a frame"));
                    self.counts[code as usize] += 1;
                    if self.may_overflow && code == RX_NO_BUFFER && want == RX_ROCE {
                        // The packet after those that were committed and are still to come.
                        let index = self.counts[RX_ROCE as usize] as usize - self.taken_heads();
                        self.packets.remove(index);
                    } else if self.may_overflow && code == RX_HOST_OVERFLOW && (want == RX_HOST || want == RX_FRAGMENT) {
                        let index = (self.counts[RX_HOST as usize] + self.counts[RX_FRAGMENT as usize]) as usize - self.counts[60] as usize;
                        self.host.remove(index);
                    } else {
                        assert_eq!(code, want, "seed {seed} cycle {cycle}: event");
                    }
                }
                let uut = &mut self.bench.uut;
                if uut.head_valid.val() && self.head_at == 0 {
                    self.head_at = cycle;
                }
                if take {
                    let head = uut.head.val();
                    let packet = self
                        .packets
                        .pop_front()
                        .unwrap_or_else(|| panic!("seed {seed} cycle {cycle}: a head too many"));
                    check_head(&head, &packet, $l, $ba, &format!("seed {seed} cycle {cycle}"));
                    assert_eq!(
                        head.frame_beat.to_u64(),
                        self.end,
                        "seed {seed} cycle {cycle}: frames stand one behind the other"
                    );
                    self.end = head.end_beat.to_u64();
                    self.jobs.push_back((head, packet));
                    self.counts[61] += 1;
                    self.takes.push(cycle);
                }
                if uut.read_valid.val() && uut.read_ready.val() {
                    let (head, packet) = self.jobs.pop_front().unwrap();
                    self.reading = Some((head, packet, 0));
                } else if uut.beat_valid.val() && uut.beat_ready.val() {
                    let (_, packet, seen) = self
                        .reading
                        .as_mut()
                        .unwrap_or_else(|| panic!("seed {seed} cycle {cycle}: a beat nobody asked for"));
                    let data = uut.beat_data.val().to_u64();
                    for lane in 0..$l {
                        if let Some(want) = packet.words.get(*seen) {
                            // 32 bits: words 0-4 are not kept.
                            if $l == 2 || *seen >= 5 {
                                let word = (data >> (32 * lane)) as u32;
                                assert_eq!(
                                    word,
                                    *want,
                                    "seed {seed} cycle {cycle}: word {seen} of {}",
                                    packet.words.len()
                                );
                            }
                        }
                        *seen += 1;
                    }
                }
                if release.is_some() {
                    self.reading = None;
                }
                if uut.m_host_valid.val() && uut.m_host_ready.val() {
                    let keep = uut.m_host_keep.val().to_u64();
                    let data = uut.m_host_data.val().to_u64().to_le_bytes();
                    self.got_host.extend(&data[..keep.trailing_ones() as usize]);
                    if uut.m_host_last.val() {
                        let want = self
                            .host
                            .pop_front()
                            .unwrap_or_else(|| panic!("seed {seed} cycle {cycle}: a host frame too many"));
                        assert!(
                            self.got_host == want,
                            "seed {seed} cycle {cycle}: host frame {:02x?} is not {want:02x?}",
                            self.got_host
                        );
                        self.got_host.clear();
                        self.counts[60] += 1;
                    }
                }
                self.bench.edge();
            }

            fn taken_heads(&self) -> usize {
                self.counts[61] as usize
            }

            /// Until everything is out.
            pub fn finish(&mut self) {
                let start = self.bench.cycle;
                let mut quiet = 0;
                while quiet < 60 {
                    self.cycle();
                    let busy = !self.frames.is_empty()
                        || !self.events.is_empty()
                        || !self.jobs.is_empty()
                        || self.reading.is_some()
                        || (!self.packets.is_empty() && !self.manner.hold_heads)
                        || (!self.host.is_empty() && !self.manner.hold_host);
                    quiet = if busy { 0 } else { quiet + 1 };
                    assert!(
                        self.bench.cycle < start + 200_000,
                        "seed {}: {} frames, {} packets, {} host frames don't come out",
                        self.seed,
                        self.frames.len(),
                        self.packets.len(),
                        self.host.len()
                    );
                }
                let seconds = self.started.elapsed().as_secs_f64();
                println!(
                    "{} cycles, {:.1} kcycles/s",
                    self.bench.cycle,
                    self.bench.cycle as f64 / 1e3 / seconds
                );
            }
        }
    };
}

fn check_head(head: &PacketHead, packet: &Packet, lanes: usize, ba: usize, at: &str) {
    let word = |n: usize| packet.words.get(n).map_or(0, |w| w.swap_bytes() as u64);
    let check = |name: &str, got: u64, want: u64| assert_eq!(got, want, "{at}: {name}");
    check("opcode", head.opcode.to_u64(), word(12) >> 24);
    check("solicited", head.solicited as u64, word(12) >> 23 & 1);
    check("pad_count", head.pad_count.to_u64(), word(12) >> 20 & 3);
    check("pkey", head.pkey.to_u64(), word(12) & 0xffff);
    check("qpn", head.qpn.to_u64(), word(13) & 0xff_ffff);
    check("ack_request", head.ack_request as u64, word(14) >> 31);
    check("psn", head.psn.to_u64(), word(14) & 0xff_ffff);
    let extension = [head.xth0, head.xth1, head.xth2, head.xth3, head.xth4, head.xth5, head.xth6];
    for (i, got) in extension.iter().enumerate() {
        // One lane keeps five of them.
        if 15 + i < packet.words.len() && (lanes == 2 || i < 5) {
            check("xth", got.to_u64(), word(15 + i));
        }
    }
    let source = [head.source_ip0, head.source_ip1, head.source_ip2, head.source_ip3];
    for (i, got) in source.iter().enumerate() {
        let want = if packet.ipv6 { word(2 + i) } else { [0, 0, 0xffff, word(8)][i] };
        check("source_ip", got.to_u64(), want);
    }
    check("ipv6", head.ipv6 as u64, packet.ipv6 as u64);
    // R76: the two lowest bits of the traffic class or the ToS. One lane doesn't look.
    let ecn = if packet.ipv6 { word(0) >> 20 & 3 } else { word(5) >> 16 & 3 };
    check("marked", head.marked as u64, (lanes == 2 && ecn == 3) as u64);
    check("gid_index", head.gid_index.to_u64(), packet.gid_index as u64);
    check("payload_length", head.payload_length.to_u64(), packet.payload_length as u64);
    check(
        "payload_offset",
        head.payload_offset.to_u64(),
        (packet.payload_word % lanes * 4) as u64,
    );
    let beats = 1u64 << ba;
    check(
        "payload_beat",
        head.payload_beat.to_u64(),
        (head.frame_beat.to_u64() + (packet.payload_word / lanes) as u64) % beats,
    );
    let long = head.end_beat.to_u64().wrapping_sub(head.frame_beat.to_u64()) % beats;
    assert!(long as usize >= packet.words.len().div_ceil(lanes), "{at}: end_beat");
}

pub type Tengig = Rx<64, 8, 3, 2, 12, 65, 5, 6, 9, 11, 68, 4, 4>;
pub type Cu = Rx<32, 4, 2, 1, 9, 32, 3, 4, 7, 8, 36, 1, 0>;
station!(Station64, Tengig, 64, 8, 2, 12);
station!(Station32, Cu, 32, 4, 1, 9);

/// The low `N` bits of a number.
fn fit<const N: usize>(value: u64, bits: usize) -> Bits<N> {
    (value & (u64::MAX >> (64 - bits))).to_bits()
}
