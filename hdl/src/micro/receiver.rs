// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames from the MAC to the ring: the small engine's receive station.
//!
//! ```text
//! MAC ─► rx::Align ─► rx::Parse ─► rx::Verdict ─► events
//!          │  └─► IcrcMask ─► Icrc ──┘  │ keep, drop
//!          └──────────────────────────► Ring ─► words
//! ```
//!
//! The stations' own parts, without a host FIFO: what isn't RoCE for us is dropped and counted as `rx_host_overflow`. `s_ready` isn't there: a MAC can't wait.

use super::{EventFifo, Ring};
use crate::rx::{Align, Parse, Verdict};
use crate::wire::{Icrc, IcrcMask};
use rust_hdl::prelude::*;
use verbena_spec::config::Config;

/// The receive side of the small engine.
#[derive(LogicBlock)]
pub struct Receiver {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<32>>,
    pub s_keep: Signal<In, Bits<4>>,
    pub s_valid: Signal<In, Bit>,
    pub s_last: Signal<In, Bit>,
    pub s_user: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub icrc_off: Signal<In, Bit>,
    pub local_mac: Signal<In, Bits<48>>,
    pub ip: Signal<In, Bits<32>>,
    pub ip_valid: Signal<In, Bit>,
    pub release_valid: Signal<In, Bit>,
    pub release_word: Signal<In, Bits<9>>,
    pub waiting: Signal<Out, Bit>,
    pub read_address: Signal<In, Bits<9>>,
    pub read_data: Signal<Out, Bits<32>>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<4>>,
    pub event_ready: Signal<In, Bit>,
    align: Align<32, 4, 1, 2, 9>,
    parse: Parse<32, 1, 1, 9>,
    mask: IcrcMask<32, 1, 1>,
    icrc: Icrc<32, 1, 1>,
    verdict: Verdict<1, 0>,
    ring: Ring,
    events: EventFifo<16, 15, 5>,
}

impl Receiver {
    pub fn new(config: &Config) -> Self {
        assert_eq!((config.data_bits, config.roce_buffer), (32, 2048), "Receiver: sizes");
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
            local_mac: Default::default(),
            ip: Default::default(),
            ip_valid: Default::default(),
            release_valid: Default::default(),
            release_word: Default::default(),
            waiting: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            align: Align::new(config.max_frame, false),
            parse: Default::default(),
            mask: Default::default(),
            icrc: Default::default(),
            verdict: Default::default(),
            ring: Default::default(),
            events: Default::default(),
        }
    }
}

impl Logic for Receiver {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, align, parse, mask, icrc, verdict, ring, events);
        self.align.reset.next = self.reset.val();
        self.mask.reset.next = self.reset.val();
        self.icrc.reset.next = self.reset.val();
        self.verdict.reset.next = self.reset.val();
        self.ring.reset.next = self.reset.val();
        self.events.reset.next = self.reset.val();

        self.align.s_data.next = self.s_data.val();
        self.align.s_keep.next = self.s_keep.val();
        self.align.s_valid.next = self.s_valid.val();
        self.align.s_last.next = self.s_last.val();
        self.align.s_user.next = self.s_user.val();
        self.align.local_mac.next = self.local_mac.val();

        // Records.
        self.parse.data.next = self.align.data.val();
        self.parse.word.next = self.align.word.val();
        self.parse.valid.next = self.align.valid.val();
        self.parse.first.next = self.align.first.val();
        self.parse.ipv6.next = self.align.ipv6.val();
        self.parse.gid_valid.next = bit_cast::<4, 1>(self.ip_valid.val().into());
        self.parse.gid_ipv6.next = 0.into();
        self.parse.gid.next = bit_cast::<512, 32>(self.ip.val());
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
        self.verdict.host_overflow.next = true;
        self.verdict.icrc_valid.next = self.icrc.crc_valid.val();
        self.verdict.icrc_good.next = self.icrc.good.val();
        self.verdict.stuck.next = self.ring.stuck.val();
        self.verdict.blocked.next = false;
        self.verdict.enable.next = self.enable.val();
        self.verdict.icrc_off.next = self.icrc_off.val();
        self.verdict.ours.next = self.parse.ours.val();
        self.verdict.fragment.next = self.parse.fragment.val();
        self.verdict.bad_checksum.next = self.parse.bad_checksum.val();
        self.verdict.bad_length.next = self.parse.bad_length.val();
        self.verdict.bad_opcode.next = self.parse.bad_opcode.val();
        self.verdict.bad_tver.next = self.parse.bad_tver.val();
        self.verdict.cnp.next = self.parse.cnp.val();
        self.verdict.event_ready.next = self.events.s_ready.val();
        self.events.s_valid.next = self.verdict.event_valid.val();
        self.events.s_code.next = self.verdict.event_code.val().get_bits::<4>(0);
        self.event_valid.next = self.events.m_valid.val();
        self.event_code.next = self.events.m_code.val();
        self.events.m_ready.next = self.event_ready.val();

        // Ring.
        self.ring.data.next = self.align.data.val();
        self.ring.valid.next = self.align.valid.val();
        self.ring.first.next = self.align.first.val();
        self.ring.decided.next = self.verdict.decided.val();
        self.ring.commit.next = self.verdict.commit.val();
        self.ring.payload_length.next = self.parse.payload_length.val();
        self.ring.release_valid.next = self.release_valid.val();
        self.ring.release_word.next = self.release_word.val();
        self.waiting.next = self.ring.waiting.val();
        self.ring.read_address.next = self.read_address.val();
        self.read_data.next = self.ring.read_data.val();
    }

    crate::block_name!("Receive side of the small engine");
}
