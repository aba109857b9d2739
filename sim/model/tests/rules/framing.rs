// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict on a frame: R5-R20, R76, R77.

use super::fixture::*;
use verbena_model::icrc::icrc;
use verbena_model::packet::{internet_checksum, Packet};
use verbena_model::parse::{verdict, Verdict};
use verbena_spec::counters as c;
use verbena_spec::headers::{self, Operation};

fn good() -> Packet {
    Packet {
        payload: bytes(21, 1),
        opcode: 0x04,
        ..requester(RC, 0).template
    }
}

/// Makes IP checksum and ICRC of an untagged IPv4 frame right again.
fn repair(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let sum = internet_checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    let end = 34 + usize::from(u16::from_be_bytes([frame[38], frame[39]]));
    if (54..=frame.len()).contains(&end) {
        let crc = icrc(&frame[14..end - 4]).unwrap_or_default();
        frame[end - 4..end].copy_from_slice(&crc);
    }
}

fn code(frame: &[u8]) -> u8 {
    verdict(frame, false, &local()).code()
}

/// The verdict on the good frame after a change that keeps the checks right.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> u8 {
    let mut frame = good().to_frame();
    change(&mut frame);
    repair(&mut frame);
    code(&frame)
}

#[test]
fn every_opcode_comes_back_as_it_went() {
    for info in headers::OPCODES.iter().filter(|o| o.operation != Operation::Cnp) {
        for length in if info.payload { 0..9 } else { 0..1 } {
            for (source, destination) in [(PEER, US), ("fe80::2".parse().unwrap(), "fe80::1".parse().unwrap())] {
                for vlan in [None, Some(0x6abc)] {
                    let mut packet = Packet {
                        opcode: info.value,
                        payload: bytes(length, 3),
                        source,
                        destination,
                        vlan,
                        ..good()
                    };
                    packet.solicited = true;
                    packet.ack_request = true;
                    packet.psn = 0xabcdef;
                    packet.traffic_class = 0x5a;
                    if info.reth {
                        packet.reth = verbena_model::packet::Reth {
                            virtual_address: 0x0123_4567_89ab_cdef,
                            rkey: 0xfedc_ba98,
                            length: 0x7654_3210,
                        };
                    }
                    if info.immediate {
                        packet.immediate = 0x1122_3344;
                    }
                    let Verdict::Roce { packet: back, .. } = verdict(&packet.to_frame(), false, &local()) else {
                        panic!("{} is refused", info.name)
                    };
                    assert_eq!(*back, packet);
                }
            }
        }
    }
}

#[test]
fn etherparse_agrees_on_our_headers() {
    for vlan in [None, Some(0x2005)] {
        let frame = Packet { vlan, ..good() }.to_frame();
        let sliced = etherparse::SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(etherparse::NetSlice::Ipv4(ip)) = sliced.net else {
            panic!("no IPv4")
        };
        let header = ip.header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        assert!(header.dont_fragment, "R15");
        let Some(etherparse::TransportSlice::Udp(udp)) = sliced.transport else {
            panic!("no UDP")
        };
        assert_eq!(udp.destination_port(), 4791);
        // R7: both lengths count the ICRC.
        assert_eq!(usize::from(udp.length()) + 20, usize::from(header.total_len));
        assert_eq!(usize::from(header.total_len) + if vlan.is_some() { 18 } else { 14 }, frame.len());
    }
}

#[test]
fn r5_pad_is_zero_and_covered() {
    for length in 0..9 {
        let packet = Packet {
            payload: vec![0xff; length],
            ..good()
        };
        let mut frame = packet.to_frame();
        let pad = (4 - length % 4) % 4;
        assert_eq!(frame[frame.len() - 4 - pad..frame.len() - 4], vec![0; pad]);
        if pad > 0 {
            let at = frame.len() - 5;
            frame[at] = 1;
            assert_eq!(code(&frame), c::RX_BAD_ICRC);
        }
    }
}

#[test]
fn r8_trailers_are_no_payload() {
    let packet = Packet { payload: vec![], ..good() };
    for extra in [0, 1, 2, 4, 18] {
        let mut frame = packet.to_frame();
        frame.resize(frame.len() + extra, 0xee);
        let Verdict::Roce { packet: back, .. } = verdict(&frame, false, &local()) else {
            panic!("{extra} bytes of trailer")
        };
        assert!(back.payload.is_empty());
    }
}

#[test]
fn r9_r10_r11_all_opcodes_at_every_short_length() {
    for value in 0..=255u8 {
        let known = headers::opcode(value);
        let head = 12 + known.map_or(0, |o| 4 * o.extension_words());
        for transport in (12..=52).step_by(4) {
            for pad in 0..4u8 {
                let mut frame = good().to_frame();
                frame.truncate(42);
                let udp = (8 + transport + 4) as u16;
                frame[16..18].copy_from_slice(&(20 + udp).to_be_bytes());
                frame[38..40].copy_from_slice(&udp.to_be_bytes());
                let mut bth = vec![0; transport + 4];
                (bth[0], bth[1], bth[2], bth[3]) = (value, pad << 4, 0xff, 0xff);
                frame.extend(bth);
                repair(&mut frame);
                let room = transport as isize - head as isize - pad as isize;
                let want = match known {
                    None => c::RX_BAD_OPCODE,
                    // R10 asks for long enough only; bytes beyond the headers of a READ or ACK are the responder's to refuse.
                    Some(_) if room < 0 => c::RX_BAD_LENGTH,
                    Some(o) if o.operation == Operation::Cnp => c::RX_CNP,
                    Some(_) => c::RX_ROCE,
                };
                assert_eq!(code(&frame), want, "opcode {value:#04x}, {transport} bytes, pad {pad}");
            }
        }
    }
}

#[test]
fn r12_any_bit_that_counts() {
    let frame = good().to_frame();
    let variant = [15, 22, 24, 25, 40, 41, 46];
    for at in 14..frame.len() {
        for bit in 0..8 {
            let mut broken = frame.clone();
            broken[at] ^= 1 << bit;
            let mut f = Fixture::new();
            f.post(0, 100);
            let outcome = f.golden.receive(&broken, false, &mut f.memory);
            if variant.contains(&at) && outcome.rx == c::RX_ROCE {
                continue;
            }
            assert!(outcome.responder.is_none(), "byte {at} bit {bit}");
            assert!(outcome.answers.is_empty() && outcome.completions.is_empty() && f.memory.touched().count() == 0);
        }
    }
    let mut broken = frame.clone();
    broken[60] ^= 1;
    assert_eq!(code(&broken), c::RX_BAD_ICRC);
    let mut off = local();
    off.icrc_off = true;
    assert_eq!(verdict(&broken, false, &off).code(), c::RX_ROCE);
}

#[test]
fn r13_version_and_reserved_bits() {
    for version in 1..16 {
        assert_eq!(changed(|f| f[43] = f[43] & 0xf0 | version), c::RX_BAD_TVER);
    }
    assert_eq!(changed(|f| f[46] = 0xff), c::RX_ROCE, "FECN, BECN, reserved");
    assert_eq!(changed(|f| f[50] |= 0x7f), c::RX_ROCE, "reserved bits by AckReq");
}

#[test]
fn r14_either_migreq() {
    for migration in [false, true] {
        assert_eq!(code(&Packet { migration, ..good() }.to_frame()), c::RX_ROCE);
    }
    let mut f = Fixture::new();
    let packets = f.write(0, &[1]);
    assert!(f.deliver(&packets).answers[0].migration);
}

#[test]
fn r15_fragments_and_options_are_the_hosts() {
    assert_eq!(changed(|f| f[20] |= 0x20), c::RX_FRAGMENT, "MF");
    assert_eq!(changed(|f| f[21] = 1), c::RX_FRAGMENT, "offset");
    let mut frame = good().to_frame();
    frame[14] = 0x46;
    assert_eq!(code(&frame), c::RX_FRAGMENT, "IHL");
    assert_eq!(changed(|f| f[20] &= !0x40), c::RX_ROCE, "DF is not asked for");
}

#[test]
fn r16_checksums() {
    let mut frame = good().to_frame();
    frame[24] ^= 1;
    assert_eq!(code(&frame), c::RX_BAD_IP_CHECKSUM);
    assert_eq!(changed(|f| f[40..42].fill(0x12)), c::RX_ROCE, "a UDP checksum never drops a packet");
}

#[test]
fn r17_r19_what_is_not_for_us() {
    assert_eq!(changed(|f| f[37] ^= 1), c::RX_HOST, "another port");
    assert_eq!(changed(|f| f[0] ^= 2), c::RX_HOST, "another MAC");
    assert_eq!(changed(|f| f[33] ^= 0x40), c::RX_HOST, "another IP");
    assert_eq!(changed(|f| f[23] = 6), c::RX_HOST, "TCP");
    assert_eq!(changed(|f| f[12] = 0x88), c::RX_HOST, "another EtherType");
    assert_eq!(code(&[0xff; 60]), c::RX_HOST);
    for length in 0..42 {
        assert_eq!(code(&good().to_frame()[..length]), c::RX_HOST, "{length} bytes");
    }
    assert_eq!(verdict(&good().to_frame(), true, &local()).code(), c::RX_BAD_FCS);
    assert_eq!(code(&vec![0; 4201]), c::RX_TOO_LONG);
}

#[test]
fn r76_cnp() {
    let packet = Packet {
        opcode: 0x81,
        becn: true,
        payload: vec![],
        ..good()
    };
    assert_eq!(packet.to_frame().len(), 14 + 20 + 8 + 12 + 16 + 4);
    assert_eq!(code(&packet.to_frame()), c::RX_CNP);
}

#[test]
fn r77_lengths_agree() {
    for udp in [0u16, 7, 8, 12, 23, 25, 26, 27, 53, 57, 58, 100, 0xffff] {
        assert_eq!(
            changed(|f| f[38..40].copy_from_slice(&udp.to_be_bytes())),
            c::RX_BAD_LENGTH,
            "UDP length {udp}"
        );
    }
    for total in [0u16, 20, 47, 67] {
        assert_eq!(
            changed(|f| f[16..18].copy_from_slice(&total.to_be_bytes())),
            c::RX_BAD_LENGTH,
            "IP length {total}"
        );
    }
    // The frame is shorter than the lengths say.
    let frame = good().to_frame();
    for cut in 1..12 {
        assert_eq!(code(&frame[..frame.len() - cut]), c::RX_BAD_LENGTH);
    }
}

#[test]
fn r6_the_icrc_covers_the_payload_too() {
    let frame = good().to_frame();
    let crc = |frame: &[u8]| icrc(&frame[14..frame.len() - 4]);
    for at in 54..frame.len() - 4 {
        let mut other = frame.clone();
        other[at] ^= 1;
        assert_ne!(crc(&other), crc(&frame), "payload byte {}", at - 54);
        assert_eq!(code(&other), c::RX_BAD_ICRC);
    }
}

#[test]
fn r7_ip_and_udp_lengths_include_the_icrc() {
    for length in 0..9 {
        let packet = Packet {
            payload: bytes(length, 2),
            ..good()
        };
        let frame = packet.to_frame();
        let be16 = |at: usize| usize::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
        let transport = 12 + length.next_multiple_of(4) + 4;
        assert_eq!((be16(16), be16(38)), (20 + 8 + transport, 8 + transport), "{length}");
        assert_eq!(frame.len(), 14 + be16(16));
    }
}

#[test]
fn r18_a_tag_is_accepted_and_not_in_the_icrc() {
    let plain = good().to_frame();
    for tci in [0, 5, 0x6abc, 0xffff] {
        let tagged = Packet { vlan: Some(tci), ..good() };
        let frame = tagged.to_frame();
        assert_eq!(frame[12..16], [0x81, 0, (tci >> 8) as u8, tci as u8]);
        assert_eq!(frame[16..], plain[12..], "the ICRC is the same");
        assert_eq!(code(&frame), c::RX_ROCE);
    }
}
