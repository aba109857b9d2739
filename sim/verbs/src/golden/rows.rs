// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows and registers as the golden engine's types.

use crate::PAGE_BYTES;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use verbena_model::golden::congestion::Congestion;
use verbena_model::golden::keys::{Access, Region};
use verbena_model::golden::qp::Attributes;
use verbena_model::parse::Local;
use verbena_spec::config::Config;
use verbena_spec::layout::{congestion as cc, mr, qp, Field};
use verbena_spec::registers;

/// A 64-bit number in two words.
pub fn get(row: &[u32], low: &Field, high: &Field) -> u64 {
    low.get(row) as u64 | (high.get(row) as u64) << 32
}

/// A QP row.
pub fn attributes(row: &[u32], index: u32) -> Attributes {
    let v6 = qp::IPV6.get(row) == 1;
    let words = [qp::DEST_IP_0, qp::DEST_IP_1, qp::DEST_IP_2, qp::DEST_IP_3].map(|f| f.get(row));
    let (low, high) = (qp::DEST_MAC_LOW.get(row).to_be_bytes(), qp::DEST_MAC_HIGH.get(row).to_be_bytes());
    Attributes {
        qpn: qp::TAG.get(row) << 12 | index,
        service: qp::SERVICE.get(row) as u8,
        pmtu: 128 << qp::PMTU.get(row),
        pd: qp::PD.get(row) as u16,
        pkey: qp::PKEY.get(row) as u16,
        qkey: qp::QKEY.get(row),
        remote_write: qp::REMOTE_WRITE.get(row) == 1,
        remote_read: qp::REMOTE_READ.get(row) == 1,
        remote_atomic: qp::REMOTE_ATOMIC.get(row) == 1,
        gid_index: qp::GID_INDEX.get(row) as usize,
        peer_ip: address(words, v6),
        peer_mac: [high[2], high[3], low[0], low[1], low[2], low[3]],
        vlan: (qp::VLAN.get(row) == 1).then_some(qp::VLAN_TCI.get(row) as u16),
        peer_qpn: qp::DEST_QPN.get(row),
        rq_psn: qp::RQ_PSN.get(row),
        rnr_timer: qp::RNR_TIMER.get(row) as u8,
        traffic_class: qp::TRAFFIC_CLASS.get(row) as u8,
        hop_limit: qp::HOP_LIMIT.get(row) as u8,
        udp_source: qp::UDP_SOURCE.get(row) as u16,
        recv_cq: qp::RECV_CQ.get(row) as u16,
        max_dest_rd_atomic: qp::MAX_DEST_RD_ATOMIC.get(row) as u8,
        send_cq: qp::SEND_CQ.get(row) as u16,
        sq_psn: qp::SQ_PSN.get(row),
        sq_base: get(row, &qp::SQ_BASE_LOW, &qp::SQ_BASE_HIGH),
        sq_log: qp::SQ_LOG.get(row),
        timeout: qp::TIMEOUT.get(row) as u8,
        retry_count: qp::RETRY_COUNT.get(row) as u8,
        rnr_retry: qp::RNR_RETRY.get(row) as u8,
        max_rd_atomic: qp::MAX_RD_ATOMIC.get(row) as u8,
        selective_repeat: qp::SELECTIVE_REPEAT.get(row) == 1,
        selective_window: qp::SELECTIVE_WINDOW.get(row) as u8,
        reorder: qp::REORDER.get(row) == 1,
        nak_distance: qp::NAK_DISTANCE.get(row) as u8,
        nak_delay: qp::NAK_DELAY.get(row) as u16,
    }
}

/// The congestion row.
pub fn congestion(row: &[u32]) -> Congestion {
    Congestion {
        notify: cc::NOTIFY.get(row) == 1,
        react: cc::REACT.get(row) == 1,
        cnp_interval: cc::CNP_INTERVAL.get(row) as u8,
        min_rate: cc::MIN_RATE.get(row) as u16,
        line_rate: cc::LINE_RATE.get(row) as u16,
        additive: cc::ADDITIVE.get(row) as u16,
        hyper: cc::HYPER.get(row) as u16,
        alpha_time: cc::ALPHA_TIME.get(row) as u16,
        rate_time: cc::RATE_TIME.get(row) as u16,
        fast_steps: cc::FAST_STEPS.get(row) as u8,
        gain_shift: cc::GAIN_SHIFT.get(row) as u8,
        rate_bytes: cc::RATE_BYTES.get(row),
    }
}

/// A valid MR row; `mtt` gives the page of an entry. `None`: contiguous, and its bus address has another offset in its page than its
/// virtual address.
pub fn region(row: &[u32], index: u32, mtt: impl Fn(u32) -> u64) -> Option<Region> {
    let va = get(row, &mr::VA_LOW, &mr::VA_HIGH);
    let length = get(row, &mr::LENGTH_LOW, &mr::LENGTH_HIGH);
    let bus = get(row, &mr::ADDRESS_LOW, &mr::ADDRESS_HIGH);
    let paged = mr::PAGED.get(row) == 1;
    if !paged && va % PAGE_BYTES != bus % PAGE_BYTES {
        return None;
    }
    let count = (va % PAGE_BYTES).saturating_add(length).div_ceil(PAGE_BYTES);
    let page = |n: u64| {
        if paged {
            mtt(mr::MTT.get(row) + n as u32)
        } else {
            bus - bus % PAGE_BYTES + n * PAGE_BYTES
        }
    };
    Some(Region {
        key: index << 8 | mr::KEY_TAG.get(row),
        pd: mr::PD.get(row) as u16,
        access: Access {
            local_write: mr::LOCAL_WRITE.get(row) == 1,
            remote_write: mr::REMOTE_WRITE.get(row) == 1,
            remote_read: mr::REMOTE_READ.get(row) == 1,
            remote_atomic: mr::REMOTE_ATOMIC.get(row) == 1,
        },
        may_invalidate: mr::MAY_INVALIDATE.get(row) == 1,
        virtual_address: va,
        length,
        pages: (0..count).map(page).collect(),
    })
}

/// Who the registers say we are.
pub fn local(words: &BTreeMap<u32, u32>, config: &Config) -> Local {
    let word = |address: u32| words.get(&address).copied().unwrap_or(0);
    let (low, high) = (word(registers::MAC_LOW).to_be_bytes(), word(registers::MAC_HIGH).to_be_bytes());
    let valid = word(registers::GID_VALID);
    let gid = |n: u32| {
        let words = std::array::from_fn(|i| word(registers::GID0_0 + 16 * n + 4 * i as u32));
        (valid >> n & 1 == 1).then(|| address(words, valid >> (4 + n) & 1 == 1))
    };
    Local {
        mac: [high[2], high[3], low[0], low[1], low[2], low[3]],
        gids: (0..config.n_gids as u32).map(gid).collect(),
        max_frame: config.max_frame,
        icrc_off: word(registers::CONTROL) & 2 != 0,
    }
}

fn address(words: [u32; 4], v6: bool) -> IpAddr {
    if v6 {
        let mut bytes = [0; 16];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_be_bytes());
        }
        IpAddr::V6(Ipv6Addr::from(bytes))
    } else {
        IpAddr::V4(Ipv4Addr::from(words[3]))
    }
}
