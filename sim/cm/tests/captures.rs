// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every MAD that Linux's connection manager sent in the captures is understood and comes back byte for byte.

use std::path::Path;
use verbena_cm::addresses::{port, service};
use verbena_cm::{Addresses, Mad, Message, Reason, QKEY, QPN};
use verbena_model::capture::read;
use verbena_model::packet::Packet;
use verbena_model::parse::{verdict, Local, Verdict};

/// MADs of a capture, as sent, with their packets.
fn mads(name: &str) -> Vec<(Packet, Mad)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tb/captures")
        .join(format!("{name}.pcap"));
    let frames = read(&path).unwrap();
    let packets = frames.iter().filter_map(|frame| {
        let local = Local {
            mac: frame.bytes[..6].try_into().unwrap(),
            gids: [1, 2].map(|n| Some([10, 0, 0, n].into())).to_vec(),
            max_frame: 4200,
            icrc_off: false,
        };
        match verdict(&frame.bytes, false, &local) {
            Verdict::Roce { packet, .. } if packet.qpn == QPN => Some(*packet),
            _ => None,
        }
    });
    packets
        .map(|packet| {
            assert_eq!((packet.deth.qkey, packet.deth.source_qpn), (QKEY, QPN));
            let mad = Mad::parse(&packet.payload).unwrap();
            assert_eq!(mad.to_bytes()[..], packet.payload[..], "{name}: {}", mad.message.name());
            (packet, mad)
        })
        .collect()
}

fn names(name: &str) -> Vec<&'static str> {
    mads(name).iter().map(|(_, mad)| mad.message.name()).collect()
}

#[test]
fn every_mad_comes_back_byte_for_byte() {
    assert_eq!(names("cm-rping"), ["REQ", "REP", "RTU", "DREQ", "DREP"]);
    assert_eq!(names("cm-ucmatose"), ["REQ", "REP", "RTU", "DREQ", "DREP"]);
    assert_eq!(names("cm-rping-refused"), ["REQ", "REJ"]);
    assert_eq!(names("cm-udaddy"), ["SIDR_REQ", "SIDR_REP"]);
}

#[test]
fn the_fields_are_what_was_on_the_wire() {
    let rping = mads("cm-rping");
    let [(
        packet,
        Mad {
            message: Message::Req(req),
            ..
        },
    ), (
        _,
        Mad {
            message: Message::Rep(rep),
            ..
        },
    ), ..] = &rping[..]
    else {
        panic!("{rping:?}")
    };
    assert_eq!((req.service, port(req.service)), (service(7174), Some(7174)));
    assert_eq!((req.local_qpn, req.starting_psn, req.path_mtu), (0x2a, 0x43_3d0d, 5));
    assert_eq!(
        (req.responder_resources, req.initiator_depth, req.retry_count, req.rnr_retry),
        (1, 1, 7, 7)
    );
    assert_eq!((req.primary.hop_limit, req.primary.ack_timeout, req.pkey), (64, 19, 0xffff));
    assert_eq!((rep.local_qpn, rep.starting_psn, rep.remote_id), (0x2a, 0x3a_07c4, req.local_id));
    let addresses = Addresses::parse(&req.private).unwrap();
    assert_eq!((addresses.source, addresses.destination), (packet.source, packet.destination));
    assert_eq!(addresses.to_bytes()[..], req.private[..36]);
    let refused = mads("cm-rping-refused");
    let Message::Rej(rej) = &refused[1].1.message else { panic!() };
    assert_eq!(rej.reason, Reason::INVALID_SERVICE_ID);
}
