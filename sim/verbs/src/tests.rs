// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library against a mock.

use crate::mock::{Mock, CAPABILITIES, CU_CAPABILITIES};
use crate::*;
use verbena_spec::layout::{self, completion_opcode, cqe, event, event_type, mr, qp, rq_wqe, state, status};
use verbena_spec::registers;

const MAC: Mac = [2, 1, 2, 3, 4, 5];

fn device() -> Device<Mock> {
    Device::open(Mock::new(CAPABILITIES), &OpenAttr::new(MAC, Gid::ipv4([10, 0, 0, 1]))).unwrap()
}

fn peer() -> Peer {
    Peer::new(Gid::ipv4([10, 0, 0, 2]), [2, 0, 0, 0, 0, 9])
}

/// A PD, a CQ of 4 and an RC QP of 4 receives in RTR.
fn connected(device: &mut Device<Mock>) -> (Pd, Cq, Qp) {
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    device.modify_qp(qp, &QpAttr::to_init(Access::REMOTE_WRITE)).unwrap();
    device
        .modify_qp(qp, &QpAttr::to_rtr(peer(), 0x11, 0x123456, PathMtu::Mtu1024))
        .unwrap();
    (pd, cq, qp)
}

#[test]
fn open_sets_addresses_events_and_enables_last() {
    let mut device = device();
    let mock = device.platform();
    assert_eq!(mock.last(registers::MAC_LOW), Some(0x0203_0405));
    assert_eq!(mock.last(registers::MAC_HIGH), Some(0x0201));
    assert_eq!(mock.last(registers::GID0_3), Some(0x0a00_0001));
    assert_eq!(mock.last(registers::GID_VALID), Some(1));
    assert_eq!(mock.last(registers::EQ_CONTROL), Some(1 << 31 | 7));
    assert_eq!(*mock.writes.last().unwrap(), (registers::CONTROL, 1 | 1 << 3));
}

#[test]
fn open_refuses_what_is_not_the_engine() {
    let attr = OpenAttr {
        polls: 10,
        ..OpenAttr::new(MAC, Gid::ipv4([10, 0, 0, 1]))
    };
    let mut mock = Mock::new(CAPABILITIES);
    mock.registers.insert(registers::ID, 5);
    assert!(matches!(Device::open(mock, &attr), Err(Error::NoEngine { found: 5, .. })));
    let mut mock = Mock::new(CAPABILITIES);
    mock.registers.insert(registers::VERSION, 0x20000);
    assert!(matches!(Device::open(mock, &attr), Err(Error::Version { major: 2, .. })));
    let mut mock = Mock::new(CAPABILITIES);
    mock.unready = 1000;
    assert!(matches!(
        Device::open(mock, &attr),
        Err(Error::NotReady { what: "ready", polls: 10 })
    ));
    let v6 = OpenAttr::new(MAC, Gid([0xfe; 16]));
    assert!(matches!(
        Device::open(Mock::new(CU_CAPABILITIES), &v6),
        Err(Error::Unsupported("IPv6"))
    ));
}

#[test]
fn no_write_failure_panics() {
    let mut reached = 0;
    for failing in 0..200 {
        let mut mock = Mock::new(CAPABILITIES);
        mock.fail_writes_from = Some(failing);
        let Ok(mut device) = Device::open(mock, &OpenAttr::new(MAC, Gid::ipv4([10, 0, 0, 1]))) else {
            continue;
        };
        let run = |device: &mut Device<Mock>| -> Result<(), Error> {
            let pd = device.alloc_pd()?;
            let cq = device.create_cq(4)?;
            let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4))?;
            let region = device.alloc_region(10_000)?;
            let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE)?;
            device.modify_qp(qp, &QpAttr::to_init(Access::NONE))?;
            device.post_recv(qp, 1, mr.sge(0, 100)?)?;
            device.destroy_qp(qp)?;
            device.dereg_mr(mr)
        };
        match run(&mut device) {
            Ok(()) => reached += 1,
            Err(error) => assert!(matches!(error, Error::Bus(BusError::Refused { .. })), "{error}"),
        }
    }
    assert!(reached > 0);
}

#[test]
fn r52_key_tag_changes_at_every_registration_and_never_makes_key_0() {
    let mut device = device();
    let pd = device.alloc_pd().unwrap();
    let region = device.alloc_contiguous(5000).unwrap();
    let mut keys = Vec::new();
    for _ in 0..300 {
        let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE | Access::REMOTE_WRITE).unwrap();
        assert_ne!(mr.key, 0);
        assert_ne!(Some(&mr.key), keys.last());
        keys.push(mr.key);
        device.dereg_mr(mr).unwrap();
        assert!(matches!(device.dereg_mr(mr), Err(Error::Stale(_))));
        assert_eq!(device.platform().row(registers::MR_TABLE, 1)[0], 0);
    }
    let mr = device.reg_mr(pd, &region, Access::REMOTE_READ).unwrap();
    let row = device.platform().row(registers::MR_TABLE, layout::MR_WORDS);
    assert_eq!(mr::KEY_TAG.get(&row), mr.key & 0xff);
    assert_eq!(
        (
            mr::VALID.get(&row),
            mr::PAGED.get(&row),
            mr::REMOTE_READ.get(&row),
            mr::REMOTE_WRITE.get(&row)
        ),
        (1, 0, 1, 0)
    );
    assert_eq!(mr::LENGTH_LOW.get(&row), 5000);
    assert_eq!(mr::VA_HIGH.get(&row), 0x7f00);
    // The word with the valid bit is written last.
    assert_eq!(device.platform().writes.last().unwrap().0, registers::MR_TABLE);
}

#[test]
fn scattered_region_goes_through_the_mtt() {
    let mut device = device();
    let pd = device.alloc_pd().unwrap();
    let region = device.alloc_region(3 * 4096 + 1).unwrap();
    assert!(!region.is_contiguous());
    let first = device.reg_mr(pd, &region, Access::LOCAL_WRITE).unwrap();
    let second = device.reg_mr(pd, &region, Access::LOCAL_WRITE).unwrap();
    let row = device
        .platform()
        .row(registers::MR_TABLE + 32 * (second.key >> 8), layout::MR_WORDS);
    assert_eq!((mr::PAGED.get(&row), mr::MTT.get(&row)), (1, 4));
    let entry = device.platform().row(registers::MTT_TABLE + 8 * 5, 2);
    assert_eq!(entry[0] as u64 | (entry[1] as u64) << 32, region.pages[1]);
    // Freed entries are used again.
    device.dereg_mr(first).unwrap();
    let third = device.reg_mr(pd, &region, Access::LOCAL_WRITE).unwrap();
    let row = device.platform().row(registers::MR_TABLE + 32 * (third.key >> 8), layout::MR_WORDS);
    assert_eq!(mr::MTT.get(&row), 0);
    // Any range inside: it needs exactly the pages it touches.
    let attr = MrAttr {
        va: region.va + 4000,
        length: 200,
        access: Access::NONE,
        pages: Pages::Scattered(&region.pages[..1]),
        key: None,
    };
    assert!(matches!(
        device.reg_mr_attr(pd, &attr),
        Err(Error::OutOfRange { what: "pages", .. })
    ));
    let wrap = MrAttr {
        va: u64::MAX,
        length: 2,
        access: Access::NONE,
        pages: Pages::Contiguous(0),
        key: None,
    };
    assert!(device.reg_mr_attr(pd, &wrap).is_err());
    let data: Vec<u8> = (0..9000).map(|i| i as u8).collect();
    region.write(device.platform(), region.va + 77, &data).unwrap();
    assert_eq!(region.read(device.platform(), region.va + 77, 9000).unwrap(), data);
    assert!(region.read(device.platform(), region.va + 4000, 9000).is_err());
}

#[test]
fn connected_qp_has_its_row() {
    let mut device = device();
    let (.., qp) = connected(&mut device);
    let index = qp.qpn & 0xfff;
    assert_eq!((index, qp.qpn >> 12), (2, 1));
    let row = device.platform().qp_row(index);
    assert_eq!((qp::SERVICE.get(&row), qp::PMTU.get(&row), qp::TAG.get(&row)), (0, 3, 1));
    assert_eq!(
        (qp::DEST_QPN.get(&row), qp::RQ_PSN.get(&row), qp::PKEY.get(&row)),
        (0x11, 0x123456, 0xffff)
    );
    assert_eq!((qp::REMOTE_WRITE.get(&row), qp::REMOTE_READ.get(&row)), (1, 0));
    assert_eq!(
        (qp::DEST_IP_3.get(&row), qp::DEST_IP_2.get(&row), qp::DEST_MAC_HIGH.get(&row)),
        (0x0a00_0002, 0xffff, 0x0200)
    );
    assert!(qp::UDP_SOURCE.get(&row) >= 0xc000);
    assert_eq!(device.platform().states[&index], state::RTR);
    let query = device.query_qp(qp).unwrap();
    assert_eq!((query.state, query.epsn, query.msn, query.consumed), (QpState::Rtr, 0xabcdef, 7, 3));
}

#[test]
fn r61_qpn_tag_changes_at_every_creation() {
    let mut device = device();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let mut last = 0;
    for _ in 0..4200 {
        let qp = device.create_qp(&QpInit::new(pd, Transport::Uc, cq, 1)).unwrap();
        assert_eq!(qp.qpn & 0xfff, 2);
        assert_ne!(qp.qpn, last);
        assert_ne!(qp.qpn >> 12, 0);
        last = qp.qpn;
        device.destroy_qp(qp).unwrap();
        assert!(matches!(device.query_qp(qp), Err(Error::Stale(_))));
    }
    let gsi = device
        .create_qp(&QpInit {
            gsi: true,
            ..QpInit::new(pd, Transport::Ud, cq, 1)
        })
        .unwrap();
    assert_eq!(gsi.qpn, 1);
    assert!(device
        .create_qp(&QpInit {
            gsi: true,
            ..QpInit::new(pd, Transport::Ud, cq, 1)
        })
        .is_err());
}

#[test]
fn illegal_changes_are_named() {
    let mut device = device();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let rc = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    let ud = device.create_qp(&QpInit::new(pd, Transport::Ud, cq, 4)).unwrap();
    assert!(matches!(
        device.modify_qp(rc, &QpAttr::to(QpState::Rts)),
        Err(Error::BadTransition { .. })
    ));
    assert!(matches!(
        device.modify_qp(ud, &QpAttr::to(QpState::Init)),
        Err(Error::Missing { attribute: "qkey", .. })
    ));
    let with_qkey = QpAttr {
        qkey: Some(1),
        ..QpAttr::to_init(Access::NONE)
    };
    assert!(matches!(
        device.modify_qp(rc, &with_qkey),
        Err(Error::NotAllowed { attribute: "qkey", .. })
    ));
    device.modify_qp(rc, &QpAttr::to_init(Access::NONE)).unwrap();
    assert!(matches!(
        device.modify_qp(rc, &QpAttr::to(QpState::Rtr)),
        Err(Error::Missing { attribute: "peer", .. })
    ));
    let wide = QpAttr::to_rtr(peer(), 1 << 24, 0, PathMtu::Mtu256);
    assert!(matches!(
        device.modify_qp(rc, &wide),
        Err(Error::OutOfRange { what: "dest_qpn", .. })
    ));
    let gid = QpAttr::to_rtr(Peer { gid_index: 1, ..peer() }, 1, 0, PathMtu::Mtu256);
    assert!(matches!(
        device.modify_qp(rc, &gid),
        Err(Error::OutOfRange { what: "gid_index", .. })
    ));
    device.platform().refuse_commands = true;
    assert!(matches!(
        device.modify_qp(rc, &QpAttr::to(QpState::Err)),
        Err(Error::CommandRefused { .. })
    ));
    assert_eq!(device.qp_state(rc).unwrap(), QpState::Init);
    assert!(matches!(device.destroy_cq(cq), Err(Error::Busy { .. })));
    assert!(matches!(device.dealloc_pd(pd), Err(Error::Busy { .. })));
}

#[test]
fn memory_and_rings_beyond_a_small_engine_are_refused_by_name() {
    let open = OpenAttr::new(MAC, Gid::ipv4([10, 0, 0, 1]));
    let mut large = open.clone();
    large.event_entries = 129;
    assert!(matches!(
        Device::open(Mock::new(CU_CAPABILITIES), &large),
        Err(Error::OutOfRange {
            what: "event_entries",
            value: 129,
            ..
        })
    ));
    let mut device = Device::open(Mock::new(CU_CAPABILITIES), &open).unwrap();
    let capabilities = *device.capabilities();
    assert_eq!((capabilities.ring_entries, capabilities.address_bits), (128, 20));
    assert!(matches!(device.create_cq(129), Err(Error::OutOfRange { what: "CQ", .. })));
    device.create_cq(128).unwrap();
    let pd = device.alloc_pd().unwrap();
    let attr = |address, length| MrAttr {
        va: 0x7f00_0000_0000,
        length,
        access: Access::LOCAL_WRITE,
        pages: Pages::Contiguous(address),
        key: None,
    };
    device.reg_mr_attr(pd, &attr(0xf_f000, 0x1000)).unwrap();
    for (address, length) in [(0xf_f000, 0x1001), (0x10_0000, 1), (u64::MAX, 2), (0, 0x10_0001)] {
        assert_eq!(
            device.reg_mr_attr(pd, &attr(address, length)).unwrap_err(),
            Error::AddressBeyond {
                address,
                bytes: length,
                bits: 20
            }
        );
    }
    device.platform().next = 0x10_0000;
    let before = device.platform().allocations();
    assert!(matches!(device.create_cq(4), Err(Error::AddressBeyond { bits: 20, .. })));
    assert_eq!(device.platform().allocations(), before, "given back");
    assert!(device.create_cq(4).unwrap_err().to_string().contains("20 bits"));
}

#[test]
fn small_preset_refuses_by_name() {
    let mut device = Device::open(Mock::new(CU_CAPABILITIES), &OpenAttr::new(MAC, Gid::ipv4([10, 0, 0, 1]))).unwrap();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    assert!(matches!(
        device.create_qp(&QpInit::new(pd, Transport::Ud, cq, 4)),
        Err(Error::Unsupported("UD transport"))
    ));
    let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    assert!(matches!(
        device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)),
        Err(Error::Exhausted { what: "queue pair", .. })
    ));
    device.modify_qp(qp, &QpAttr::to_init(Access::NONE)).unwrap();
    let big = QpAttr::to_rtr(peer(), 1, 0, PathMtu::Mtu1024);
    assert!(matches!(
        device.modify_qp(qp, &big),
        Err(Error::OutOfRange { what: "path_mtu", .. })
    ));
    let region = device.alloc_region(10_000).unwrap();
    assert!(region.is_contiguous());
    device.reg_mr(pd, &region, Access::REMOTE_WRITE).unwrap();
    let pages = [0, 0x3000];
    let attr = MrAttr {
        va: 0,
        length: 8192,
        access: Access::NONE,
        pages: Pages::Scattered(&pages),
        key: None,
    };
    assert!(matches!(device.reg_mr_attr(pd, &attr), Err(Error::Unsupported(_))));
}

#[test]
fn receives_complete_by_phase_across_rounds() {
    let mut device = device();
    let (pd, cq, qp) = connected(&mut device);
    let region = device.alloc_region(4096).unwrap();
    let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE).unwrap();
    let base = device.platform().cq_base(0);
    for i in 0..20u32 {
        device.post_recv(qp, 1000 + i as u64, mr.sge(8, 64).unwrap()).unwrap();
        assert!(device.poll_cq(cq, 8).unwrap().is_empty());
        let fields = [
            (cqe::QPN, qp.qpn),
            (cqe::OPCODE, completion_opcode::RECV_RDMA_WITH_IMM),
            (cqe::WITH_IMM, 1),
            (cqe::IMMEDIATE, 0xdead_0000 + i),
            (cqe::WQE_INDEX, i),
            (cqe::BYTE_LENGTH, 5),
            (cqe::PHASE, (i / 4 + 1) & 1),
        ];
        device.platform().put(base + 32 * (i as u64 % 4), 8, &fields);
        let found = device.poll_cq(cq, 8).unwrap();
        assert_eq!(found.len(), 1, "{i}");
        assert_eq!(
            (found[0].wr_id, found[0].immediate, found[0].byte_length),
            (1000 + i as u64, Some(0xdead_0000 + i), 5)
        );
        assert_eq!(device.platform().last(registers::DOORBELLS + 8), Some(i + 1));
        assert_eq!(device.platform().last(registers::DOORBELLS + 16 * 2 + 4), Some(i + 1));
    }
    let row = device.platform().qp_row(2);
    let mut wqe = [0; 32];
    device
        .platform()
        .load(
            qp::RQ_BASE_LOW.get(&row) as u64 | (qp::RQ_BASE_HIGH.get(&row) as u64) << 32,
            &mut wqe,
        )
        .unwrap();
    let words: Vec<u32> = wqe.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!((rq_wqe::LENGTH.get(&words), rq_wqe::LKEY.get(&words), words[4]), (64, mr.key, 0));
}

#[test]
fn full_queue_is_refused_and_an_error_completion_moves_the_qp() {
    let mut device = device();
    let (_, cq, qp) = connected(&mut device);
    let sge = Sge {
        address: 0,
        length: 1,
        lkey: 1,
    };
    for i in 0..4 {
        device.post_recv(qp, i, sge).unwrap();
    }
    assert_eq!(device.post_recv(qp, 4, sge), Err(Error::QueueFull { entries: 4 }));
    let base = device.platform().cq_base(0);
    let fields = [
        (cqe::QPN, qp.qpn),
        (cqe::OPCODE, completion_opcode::RECV),
        (cqe::STATUS, status::LOCAL_LENGTH_ERROR),
        (cqe::PHASE, 1),
    ];
    device.platform().put(base, 8, &fields);
    let found = device.poll_cq(cq, 2).unwrap();
    assert_eq!(
        found.iter().map(|c| c.status).collect::<Vec<_>>(),
        [CompletionStatus::LocalLengthError]
    );
    assert_eq!(device.qp_state(qp).unwrap(), QpState::Err);
    // A receive posted now comes back flushed, by the engine (R65).
    device.post_recv(qp, 4, sge).unwrap();
    device.modify_qp(qp, &QpAttr::to(QpState::Reset)).unwrap();
    assert_eq!(device.post_recv(qp, 5, sge), Err(Error::BadState(QpState::Reset)));
}

#[test]
fn completions_of_a_destroyed_qp_are_dropped() {
    let mut device = device();
    let (pd, cq, qp) = connected(&mut device);
    device.destroy_qp(qp).unwrap();
    device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    let base = device.platform().cq_base(0);
    device.platform().put(base, 8, &[(cqe::QPN, qp.qpn), (cqe::PHASE, 1)]);
    assert!(device.poll_cq(cq, 4).unwrap().is_empty());
    assert_eq!(device.stale_completions(cq).unwrap(), 1);
}

#[test]
fn events_are_told_apart() {
    let mut device = device();
    let (_, cq, qp) = connected(&mut device);
    let base =
        device.platform().registers[&registers::EQ_BASE_LOW] as u64 | (device.platform().registers[&registers::EQ_BASE_HIGH] as u64) << 32;
    assert_eq!(device.poll_event().unwrap(), None);
    let script = [
        (event_type::COMPLETION, 0, 0, Event::Completion { cq }),
        (event_type::QP_FATAL, qp.qpn, 0x61, Event::QpFatal { qp, syndrome: 0x61 }),
        (
            event_type::COMMUNICATION_ESTABLISHED,
            qp.qpn,
            0,
            Event::CommunicationEstablished { qp },
        ),
        (event_type::BAD_DOORBELL, 9, 0, Event::BadDoorbell { index: 9 }),
        (
            event_type::CQ_ERROR,
            77,
            5,
            Event::Other {
                code: 2,
                number: 77,
                detail: 5,
            },
        ),
    ];
    for (i, (code, number, detail, want)) in script.into_iter().enumerate() {
        let fields = [
            (event::TYPE, code),
            (event::NUMBER, number),
            (event::DETAIL, detail),
            (event::PHASE, 1),
        ];
        device.platform().put(base + 16 * i as u64, 4, &fields);
        assert_eq!(device.poll_event().unwrap(), Some(want));
        assert_eq!(device.platform().last(registers::EQ_CONSUMER), Some(i as u32 + 1));
    }
    assert_eq!(device.qp_state(qp).unwrap(), QpState::Err);
    device.req_notify_cq(cq, Notify::NextSolicited).unwrap();
    assert_eq!(device.platform().last(registers::DOORBELLS + 12), Some(2));
}

#[test]
fn numbers_can_be_asked_for() {
    let mut device = device();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let init = QpInit {
        qpn: Some(0x5_0037),
        ..QpInit::new(pd, Transport::Rc, cq, 1)
    };
    assert_eq!(device.create_qp(&init).unwrap().qpn, 0x5_0037);
    assert!(matches!(device.create_qp(&init), Err(Error::Exhausted { .. })));
    assert!(device.create_qp(&QpInit { qpn: Some(0x100), ..init }).is_err(), "beyond the table");
    assert!(device.create_qp(&QpInit { qpn: Some(0), ..init }).is_err(), "index 0 is unused");
    let attr = MrAttr {
        va: 0,
        length: 5,
        access: Access::NONE,
        pages: Pages::Contiguous(0),
        key: Some(0x4203),
    };
    assert_eq!(device.reg_mr_attr(pd, &attr).unwrap().key, 0x4203);
    assert!(device.reg_mr_attr(pd, &attr).is_err());
    assert!(device
        .reg_mr_attr(
            pd,
            &MrAttr {
                key: Some(0x1_0000),
                ..attr
            }
        )
        .is_err());
}

#[test]
fn rings_are_given_back() {
    let mut device = device();
    let before = device.platform().allocations();
    let (_, cq, qp) = connected(&mut device);
    device.destroy_qp(qp).unwrap();
    device.destroy_cq(cq).unwrap();
    assert_eq!(device.platform().allocations(), before);
}

/// What was allocated is allocated no more: not twice freed, not readable.
#[test]
fn regions_give_their_memory_back() {
    for contiguous in [false, true] {
        let mut device = device();
        let region = match contiguous {
            true => device.alloc_contiguous(3 * PAGE_BYTES).unwrap(),
            false => device.alloc_region(3 * PAGE_BYTES).unwrap(),
        };
        region.write(device.platform(), region.va, &[1; 9000]).unwrap();
        device.free_region(region.clone()).unwrap();
        assert!(matches!(device.free_region(region), Err(Error::Dma(_))));
    }
}
