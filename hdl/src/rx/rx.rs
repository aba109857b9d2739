// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receive station: from the MAC's frames to committed packets and the host's frames.
//!
//! ```text
//!        raw beat ───────────────────────────► host_fifo ─► m_host
//! MAC ─► align ─► parse ─► verdict ─► commit, events
//!          │ └──► icrc mask ─► icrc ──┘
//!          └► delay ─► frame_ring ─► ring_reader ─► beats
//!                 └──► head_ram ─► head_loader ─► head_front ─► head
//! ```
//!
//! A frame is written while it comes; the verdict commits it or takes it back. Latency from the last beat to a valid head: 14 cycles at 64 bits
//! (IPv4, nothing waiting). Frames may follow each other without a gap. See `docs/stations/rx.md`.

use super::{Align, Delay, FrameRing, HeadFront, HeadLoader, HeadRam, HostFifo, PacketHead, Parse, RingReader, Verdict};
use crate::wire::{Icrc, IcrcMask};
use rust_hdl::prelude::*;
use verbena_spec::config::Config;

/// `W` data bits, `K` bytes (`KB` bits), `L` words; `2^BA` ring beats of `RD` RAM bits; `2^R` heads (`RB = R + 1`, `HR = R + 4`);
/// `2^HA` host beats of `HD` RAM bits; `G` GIDs; records wait `D` cycles for the verdict on the frame before: 4 at two lanes, 0 at one. One lane is
/// built for area, two for the clock.
#[derive(LogicBlock)]
pub struct Rx<
    const W: usize,
    const K: usize,
    const KB: usize,
    const L: usize,
    const BA: usize,
    const RD: usize,
    const R: usize,
    const RB: usize,
    const HR: usize,
    const HA: usize,
    const HD: usize,
    const G: usize,
    const D: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_keep: Signal<In, Bits<K>>,
    pub s_valid: Signal<In, Bit>,
    pub s_last: Signal<In, Bit>,
    /// Bad frame, on the last beat.
    pub s_user: Signal<In, Bit>,
    /// RoCE frames are taken; else they are the host's.
    pub enable: Signal<In, Bit>,
    /// Debug: a wrong ICRC doesn't drop (R12).
    pub icrc_off: Signal<In, Bit>,
    /// CNPs are for their QPs; else they are dropped (R76).
    pub react: Signal<In, Bit>,
    pub local_mac: Signal<In, Bits<48>>,
    pub gid_valid: Signal<In, Bits<4>>,
    pub gid_ipv6: Signal<In, Bits<4>>,
    /// Entry 0 lowest, IPv4 as ::ffff:a.b.c.d.
    pub gid: Signal<In, Bits<512>>,
    pub head: Signal<Out, PacketHead>,
    pub head_valid: Signal<Out, Bit>,
    pub head_next: Signal<In, Bit>,
    pub read_beat: Signal<In, Bits<14>>,
    pub read_count: Signal<In, Bits<14>>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    pub beat_data: Signal<Out, Bits<W>>,
    pub beat_valid: Signal<Out, Bit>,
    pub beat_ready: Signal<In, Bit>,
    /// Ring beat after the last committed frame.
    pub committed_beat: Signal<Out, Bits<14>>,
    pub release_valid: Signal<In, Bit>,
    pub release_beat: Signal<In, Bits<14>>,
    pub m_host_data: Signal<Out, Bits<W>>,
    pub m_host_keep: Signal<Out, Bits<K>>,
    pub m_host_valid: Signal<Out, Bit>,
    pub m_host_last: Signal<Out, Bit>,
    pub m_host_ready: Signal<In, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    align: Align<W, K, L, KB, BA>,
    parse: Parse<W, L, G, BA>,
    mask: IcrcMask<W, L, L>,
    icrc: Icrc<W, L, L>,
    verdict: Verdict<L, D>,
    delay: Delay<W, D>,
    frame_ring: FrameRing<W, L, BA, RD>,
    ring_reader: RingReader<W, L, BA, RD>,
    head_ram: HeadRam<W, L, R, RB, HR, BA>,
    head_loader: HeadLoader<W, L, BA>,
    head_front: HeadFront<L>,
    host_fifo: HostFifo<W, K, KB, HA, HD>,
}

/// The `tengig` preset.
pub type RxTengig = Rx<64, 8, 3, 2, 12, 65, 7, 8, 11, 11, 68, 4, 4>;
/// The `cu` preset.
pub type RxCu = Rx<32, 4, 2, 1, 9, 32, 3, 4, 7, 8, 36, 1, 0>;

impl<
        const W: usize,
        const K: usize,
        const KB: usize,
        const L: usize,
        const BA: usize,
        const RD: usize,
        const R: usize,
        const RB: usize,
        const HR: usize,
        const HA: usize,
        const HD: usize,
        const G: usize,
        const D: usize,
    > Rx<W, K, KB, L, BA, RD, R, RB, HR, HA, HD, G, D>
{
    /// The station for a preset, whose sizes the parameters must be.
    pub fn new(config: &Config) -> Self {
        assert_eq!(config.data_bits, W, "Rx: W");
        assert_eq!(config.roce_buffer, K << BA, "Rx: BA");
        assert_eq!(config.host_fifo, K << HA, "Rx: HA");
        assert_eq!(config.n_gids, G, "Rx: G");
        assert_eq!(D, if L == 2 { 4 } else { 0 }, "Rx: D");
        assert!(
            L == 2 || (!config.ipv6 && !config.ud && G == 1),
            "Rx: IPv6, UD and more than one GID need 64 bits"
        );
        assert!(config.max_frame / 4 < 1 << (BA - 1), "Rx: BA bits must count a frame's words");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_valid: Default::default(),
            s_last: Default::default(),
            s_user: Default::default(),
            enable: Default::default(),
            icrc_off: Default::default(),
            react: Default::default(),
            local_mac: Default::default(),
            gid_valid: Default::default(),
            gid_ipv6: Default::default(),
            gid: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            head_next: Default::default(),
            read_beat: Default::default(),
            read_count: Default::default(),
            read_valid: Default::default(),
            read_ready: Default::default(),
            beat_data: Default::default(),
            beat_valid: Default::default(),
            beat_ready: Default::default(),
            committed_beat: Default::default(),
            release_valid: Default::default(),
            release_beat: Default::default(),
            m_host_data: Default::default(),
            m_host_keep: Default::default(),
            m_host_valid: Default::default(),
            m_host_last: Default::default(),
            m_host_ready: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            align: Align::new(config.max_frame, config.ipv6),
            parse: Default::default(),
            mask: Default::default(),
            icrc: Default::default(),
            verdict: Default::default(),
            delay: Default::default(),
            frame_ring: Default::default(),
            ring_reader: Default::default(),
            head_ram: Default::default(),
            head_loader: Default::default(),
            head_front: Default::default(),
            host_fifo: Default::default(),
        }
    }
}

impl<
        const W: usize,
        const K: usize,
        const KB: usize,
        const L: usize,
        const BA: usize,
        const RD: usize,
        const R: usize,
        const RB: usize,
        const HR: usize,
        const HA: usize,
        const HD: usize,
        const G: usize,
        const D: usize,
    > Default for Rx<W, K, KB, L, BA, RD, R, RB, HR, HA, HD, G, D>
{
    /// The preset of that width.
    fn default() -> Self {
        Self::new(
            verbena_spec::config::PRESETS
                .iter()
                .find(|preset| preset.data_bits == W)
                .expect("a preset of that width"),
        )
    }
}

impl<
        const W: usize,
        const K: usize,
        const KB: usize,
        const L: usize,
        const BA: usize,
        const RD: usize,
        const R: usize,
        const RB: usize,
        const HR: usize,
        const HA: usize,
        const HD: usize,
        const G: usize,
        const D: usize,
    > Logic for Rx<W, K, KB, L, BA, RD, R, RB, HR, HA, HD, G, D>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(
            self,
            clock,
            align,
            parse,
            mask,
            icrc,
            verdict,
            delay,
            frame_ring,
            ring_reader,
            head_ram,
            head_loader,
            head_front,
            host_fifo
        );
        self.align.reset.next = self.reset.val();
        self.mask.reset.next = self.reset.val();
        self.icrc.reset.next = self.reset.val();
        self.verdict.reset.next = self.reset.val();
        self.delay.reset.next = self.reset.val();
        self.frame_ring.reset.next = self.reset.val();
        self.ring_reader.reset.next = self.reset.val();
        self.head_ram.reset.next = self.reset.val();
        self.head_loader.reset.next = self.reset.val();
        self.head_front.reset.next = self.reset.val();
        self.host_fifo.reset.next = self.reset.val();

        self.align.s_data.next = self.s_data.val();
        self.align.s_keep.next = self.s_keep.val();
        self.align.s_valid.next = self.s_valid.val();
        self.align.s_last.next = self.s_last.val();
        self.align.s_user.next = self.s_user.val();
        self.align.local_mac.next = self.local_mac.val();

        // Raw beats.
        self.host_fifo.s_data.next = self.align.raw_data.val();
        self.host_fifo.s_count.next = self.align.raw_count.val();
        self.host_fifo.s_last.next = self.align.raw_last.val();
        self.host_fifo.s_valid.next = self.align.raw_valid.val();
        self.host_fifo.commit.next = self.verdict.host_commit.val();
        self.m_host_data.next = self.host_fifo.m_host_data.val();
        self.m_host_keep.next = self.host_fifo.m_host_keep.val();
        self.m_host_valid.next = self.host_fifo.m_host_valid.val();
        self.m_host_last.next = self.host_fifo.m_host_last.val();
        self.host_fifo.m_host_ready.next = self.m_host_ready.val();

        // Records.
        self.parse.data.next = self.align.data.val();
        self.parse.word.next = self.align.word.val();
        self.parse.valid.next = self.align.valid.val();
        self.parse.first.next = self.align.first.val();
        self.parse.ipv6.next = self.align.ipv6.val();
        self.parse.gid_valid.next = self.gid_valid.val();
        self.parse.gid_ipv6.next = self.gid_ipv6.val();
        self.parse.gid.next = self.gid.val();
        self.mask.s_data.next = self.align.data.val();
        self.mask.s_word.next = bit_cast::<12, 5>(self.align.word.val());
        self.mask.s_lane_valid.next = self.align.lanes.val();
        self.mask.s_valid.next = self.align.valid.val();
        self.mask.s_first.next = self.align.first.val();
        self.mask.ipv6.next = self.align.ipv6.val();
        self.mask.s_last.next = false; // The parser says which is the last.
        self.parse.masked_valid.next = self.mask.m_valid.val();
        self.parse.masked_lanes.next = self.mask.m_lane_valid.val();
        self.icrc.data.next = self.mask.m_data.val();
        self.icrc.first.next = self.mask.m_first.val();
        self.icrc.lane_valid.next = self.parse.icrc_lanes.val();
        self.icrc.valid.next = self.parse.icrc_valid.val();
        self.icrc.last.next = self.parse.icrc_last.val();

        // Verdict.
        self.verdict.last.next = self.align.raw_valid.val() & self.align.raw_last.val();
        self.verdict.bad.next = self.align.raw_bad.val();
        self.verdict.too_long.next = self.align.raw_too_long.val();
        self.verdict.reached.next = self.align.raw_reached.val();
        self.verdict.host_overflow.next = self.host_fifo.overflow.val();
        self.verdict.icrc_valid.next = self.icrc.crc_valid.val();
        self.verdict.icrc_good.next = self.icrc.good.val();
        self.verdict.stuck.next = self.frame_ring.stuck.val();
        self.verdict.blocked.next = self.head_ram.blocked.val();
        self.verdict.enable.next = self.enable.val();
        self.verdict.icrc_off.next = self.icrc_off.val();
        self.verdict.event_ready.next = self.event_ready.val();
        self.verdict.ours.next = self.parse.ours.val();
        self.verdict.fragment.next = self.parse.fragment.val();
        self.verdict.bad_checksum.next = self.parse.bad_checksum.val();
        self.verdict.bad_length.next = self.parse.bad_length.val();
        self.verdict.bad_opcode.next = self.parse.bad_opcode.val();
        self.verdict.bad_tver.next = self.parse.bad_tver.val();
        self.verdict.cnp.next = self.parse.cnp.val() & !self.react.val();
        self.event_valid.next = self.verdict.event_valid.val();
        self.event_code.next = self.verdict.event_code.val();

        // Ring.
        self.delay.s_data.next = self.align.data.val();
        self.delay.s_word.next = self.align.word.val();
        self.delay.s_valid.next = self.align.valid.val();
        self.delay.s_first.next = self.align.first.val();
        self.delay.s_zero.next = self.align.zero.val();
        self.delay.s_ipv6.next = self.align.ipv6.val();
        self.frame_ring.data.next = self.delay.m_data.val();
        self.frame_ring.valid.next = self.delay.m_valid.val();
        self.frame_ring.first.next = self.delay.m_first.val();
        self.frame_ring.zero.next = self.delay.m_zero.val();
        self.frame_ring.ipv6.next = self.delay.m_ipv6.val();
        self.frame_ring.decided.next = self.verdict.decided.val();
        self.frame_ring.commit.next = self.verdict.commit.val();
        self.committed_beat.next = bit_cast::<14, BA>(self.frame_ring.end_beat.val());
        self.frame_ring.release_valid.next = self.release_valid.val();
        self.frame_ring.release_beat.next = self.release_beat.val().get_bits::<BA>(0);
        self.frame_ring.read_enable.next = self.ring_reader.ram_enable.val();
        self.frame_ring.read_address.next = self.ring_reader.ram_address.val();
        self.ring_reader.ram_data.next = self.frame_ring.read_data.val();
        self.ring_reader.read_beat.next = self.read_beat.val();
        self.ring_reader.read_count.next = self.read_count.val();
        self.ring_reader.read_valid.next = self.read_valid.val();
        self.ring_reader.beat_ready.next = self.beat_ready.val();
        self.read_ready.next = self.ring_reader.read_ready.val();
        self.beat_data.next = self.ring_reader.beat_data.val();
        self.beat_valid.next = self.ring_reader.beat_valid.val();

        // Heads.
        self.head_ram.data.next = self.delay.m_data.val();
        self.head_ram.valid.next = self.delay.m_valid.val();
        self.head_ram.first.next = self.delay.m_first.val();
        self.head_ram.word.next = self.delay.m_word.val();
        self.head_ram.commit.next = self.verdict.commit.val();
        self.head_ram.payload_length.next = self.parse.payload_length.val();
        self.head_ram.payload_word.next = self.parse.payload_word.val();
        self.head_ram.gid_index.next = self.parse.gid_index.val();
        self.head_ram.meta_ipv6.next = self.parse.is_ipv6.val();
        self.head_ram.marked.next = self.parse.marked.val();
        self.head_ram.frame_beat.next = self.frame_ring.frame_beat.val();
        self.head_ram.end_beat.next = self.frame_ring.end_beat.val();
        self.head_ram.done.next = self.head_loader.done.val();
        self.head_ram.read_slot.next = self.head_loader.read_slot.val();
        self.head_loader.read_data.next = self.head_ram.read_data.val();
        self.head_loader.waiting.next = self.head_ram.waiting.val();
        self.head_loader.likely.next = self.verdict.likely.val();
        self.head_loader.verdict.next = self.verdict.decided.val();
        self.head_loader.commit.next = self.verdict.commit.val();
        self.head_front.s_head.next = self.head_loader.m_head.val();
        self.head_front.s_valid.next = self.head_loader.m_valid.val();
        self.head_loader.m_ready.next = self.head_front.s_ready.val();
        self.head_front.head_next.next = self.head_next.val();
        self.head.next = self.head_front.head.val();
        self.head_valid.next = self.head_front.head_valid.val();
    }

    crate::block_name!();
}
