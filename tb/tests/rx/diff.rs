// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receive station's blocks and the ICRC unit: Rust simulation against Verilated text, random inputs.

use rust_hdl::prelude::*;
use verbena_hdl::rx::*;
use verbena_hdl::wire::*;
use verbena_tb::{diff::Diff, drive};

/// Loader and front, joined as the station joins them: a head is no input of the random driver's.
#[derive(LogicBlock, Default)]
struct Heads<const W: usize, const L: usize, const BA: usize> {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    likely: Signal<In, Bit>,
    verdict: Signal<In, Bit>,
    commit: Signal<In, Bit>,
    waiting: Signal<In, Bit>,
    read_data: Signal<In, Bits<W>>,
    read_slot: Signal<Out, Bits<4>>,
    done: Signal<Out, Bit>,
    head: Signal<Out, PacketHead>,
    head_valid: Signal<Out, Bit>,
    head_next: Signal<In, Bit>,
    loader: HeadLoader<W, L, BA>,
    front: HeadFront<L>,
}

impl<const W: usize, const L: usize, const BA: usize> Logic for Heads<W, L, BA> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, loader, front);
        self.loader.reset.next = self.reset.val();
        self.front.reset.next = self.reset.val();
        self.loader.likely.next = self.likely.val();
        self.loader.verdict.next = self.verdict.val();
        self.loader.commit.next = self.commit.val();
        self.loader.waiting.next = self.waiting.val();
        self.loader.read_data.next = self.read_data.val();
        self.read_slot.next = self.loader.read_slot.val();
        self.done.next = self.loader.done.val();
        self.front.s_head.next = self.loader.m_head.val();
        self.front.s_valid.next = self.loader.m_valid.val();
        self.loader.m_ready.next = self.front.s_ready.val();
        self.front.head_next.next = self.head_next.val();
        self.head.next = self.front.head.val();
        self.head_valid.next = self.front.head_valid.val();
    }

    verbena_hdl::block_name!();
}

macro_rules! same {
    ($name:ident, $block:expr, $($port:ident),*) => {
        #[test]
        fn $name() {
            assert_eq!(Diff::new(stringify!($name)).cycles(1500).run($block, drive!(clock, $($port),*)), "");
        }
    };
}

same!(rx_icrc_64, Icrc::<64, 2>::default(), reset, data, lane_valid, valid, first, last);
same!(rx_icrc_32, Icrc::<32, 1>::default(), reset, data, lane_valid, valid, first, last);
same!(
    rx_icrc_32_short,
    Icrc::<32, 1, 1>::default(),
    reset,
    data,
    lane_valid,
    valid,
    first,
    last
);
same!(
    rx_mask_64,
    IcrcMask::<64, 2>::default(),
    reset,
    s_data,
    s_word,
    s_lane_valid,
    s_valid,
    s_first,
    s_last,
    ipv6
);
same!(
    rx_mask_32_short,
    IcrcMask::<32, 1, 1>::default(),
    reset,
    s_data,
    s_word,
    s_lane_valid,
    s_valid,
    s_first,
    s_last,
    ipv6
);
same!(
    rx_align_64,
    Align::<64, 8, 2, 3, 5>::new(64, true),
    reset,
    s_data,
    s_keep,
    s_valid,
    s_last,
    s_user,
    local_mac
);
same!(
    rx_align_32,
    Align::<32, 4, 1, 2, 6>::new(64, false),
    reset,
    s_data,
    s_keep,
    s_valid,
    s_last,
    s_user,
    local_mac
);
same!(
    rx_parse_64,
    Parse::<64, 2, 4, 12>::default(),
    data,
    word,
    valid,
    first,
    ipv6,
    gid_valid,
    gid_ipv6,
    gid,
    masked_valid,
    masked_lanes
);
same!(
    rx_parse_32,
    Parse::<32, 1, 1, 9>::default(),
    data,
    word,
    valid,
    first,
    ipv6,
    gid_valid,
    gid_ipv6,
    gid,
    masked_valid,
    masked_lanes
);
same!(
    rx_host_fifo_64,
    HostFifo::<64, 8, 3, 4, 68>::default(),
    reset,
    s_data,
    s_count,
    s_last,
    s_valid,
    commit,
    m_host_ready
);
same!(
    rx_host_fifo_32,
    HostFifo::<32, 4, 2, 4, 36>::default(),
    reset,
    s_data,
    s_count,
    s_last,
    s_valid,
    commit,
    m_host_ready
);
same!(
    rx_frame_ring_64,
    FrameRing::<64, 2, 5, 65>::default(),
    reset,
    data,
    valid,
    first,
    zero,
    ipv6,
    decided,
    commit,
    release_valid,
    release_beat,
    read_enable,
    read_address
);
same!(
    rx_frame_ring_32,
    FrameRing::<32, 1, 5, 32>::default(),
    reset,
    data,
    valid,
    first,
    zero,
    ipv6,
    decided,
    commit,
    release_valid,
    release_beat,
    read_enable,
    read_address
);
same!(
    rx_ring_reader_64,
    RingReader::<64, 2, 12, 65>::default(),
    reset,
    read_beat,
    read_count,
    read_valid,
    beat_ready,
    ram_data
);
same!(
    rx_ring_reader_32,
    RingReader::<32, 1, 9, 32>::default(),
    reset,
    read_beat,
    read_count,
    read_valid,
    beat_ready,
    ram_data
);
same!(
    rx_head_ram_64,
    HeadRam::<64, 2, 2, 3, 6, 12>::default(),
    reset,
    data,
    valid,
    first,
    word,
    commit,
    payload_length,
    payload_word,
    gid_index,
    meta_ipv6,
    marked,
    frame_beat,
    end_beat,
    done,
    read_slot
);
same!(
    rx_head_ram_32,
    HeadRam::<32, 1, 2, 3, 6, 9>::default(),
    reset,
    data,
    valid,
    first,
    word,
    commit,
    payload_length,
    payload_word,
    gid_index,
    meta_ipv6,
    marked,
    frame_beat,
    end_beat,
    done,
    read_slot
);
same!(
    rx_head_loader_64,
    HeadLoader::<64, 2, 12>::default(),
    reset,
    likely,
    verdict,
    commit,
    waiting,
    read_data,
    m_ready
);
same!(
    rx_head_loader_32,
    HeadLoader::<32, 1, 9>::default(),
    reset,
    likely,
    verdict,
    commit,
    waiting,
    read_data,
    m_ready
);
same!(
    rx_heads_64,
    Heads::<64, 2, 12>::default(),
    reset,
    likely,
    verdict,
    commit,
    waiting,
    read_data,
    head_next
);
same!(
    rx_heads_32,
    Heads::<32, 1, 9>::default(),
    reset,
    likely,
    verdict,
    commit,
    waiting,
    read_data,
    head_next
);
same!(
    rx_verdict_64,
    Verdict::<2, 4>::default(),
    reset,
    enable,
    icrc_off,
    last,
    bad,
    too_long,
    reached,
    ours,
    fragment,
    host_overflow,
    bad_checksum,
    bad_length,
    bad_opcode,
    bad_tver,
    cnp,
    icrc_valid,
    icrc_good,
    stuck,
    blocked,
    event_ready
);
same!(
    rx_verdict_32,
    Verdict::<1, 0>::default(),
    reset,
    enable,
    icrc_off,
    last,
    bad,
    too_long,
    reached,
    ours,
    fragment,
    host_overflow,
    bad_checksum,
    bad_length,
    bad_opcode,
    bad_tver,
    cnp,
    icrc_valid,
    icrc_good,
    stuck,
    blocked,
    event_ready
);
same!(
    rx_station_64,
    RxTengig::default(),
    reset,
    s_data,
    s_keep,
    s_valid,
    s_last,
    s_user,
    enable,
    icrc_off,
    react,
    local_mac,
    gid_valid,
    gid_ipv6,
    gid,
    head_next,
    read_beat,
    read_count,
    read_valid,
    beat_ready,
    release_valid,
    release_beat,
    m_host_ready,
    event_ready
);
same!(
    rx_station_32,
    RxCu::default(),
    reset,
    s_data,
    s_keep,
    s_valid,
    s_last,
    s_user,
    enable,
    icrc_off,
    react,
    local_mac,
    gid_valid,
    gid_ipv6,
    gid,
    head_next,
    read_beat,
    read_count,
    read_valid,
    beat_ready,
    release_valid,
    release_beat,
    m_host_ready,
    event_ready
);
