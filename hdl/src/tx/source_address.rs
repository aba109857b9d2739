// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our IP address for a packet, word by word.
//!
//! ```text
//! gid[512] ─► entry of the QP ─► word of the step to come ─► register ─► source_ip      V = 0: GID 0's last word
//! ```
//!
//! Chosen one step ahead: 16 words are too many to choose from in the cycle that uses one.

use super::BuildStep;
use rust_hdl::prelude::*;

/// The GID selector.
#[derive(LogicBlock)]
pub struct SourceAddress<const V: usize> {
    pub clock: Signal<In, Clock>,
    pub advance: Signal<In, Bit>,
    pub gid: Signal<In, Bits<512>>,
    pub gid_index: Signal<In, Bits<2>>,
    pub soon: Signal<In, BuildStep>,
    /// The last word (IPv4), or IPv6 words at their steps.
    pub source_ip: Signal<Out, Bits<32>>,
    chosen: DFF<Bits<32>>,
    entry: Signal<Local, Bits<128>>,
}

impl<const V: usize> Default for SourceAddress<V> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            advance: Default::default(),
            gid: Default::default(),
            gid_index: Default::default(),
            soon: Default::default(),
            source_ip: Default::default(),
            chosen: Default::default(),
            entry: Default::default(),
        }
    }
}

impl<const V: usize> Logic for SourceAddress<V> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, chosen);
        self.source_ip.next = self.gid.val().get_bits::<32>(0);
        self.entry.next = self.gid.val().get_bits::<128>(0);
        for _i in 0..V {
            match self.gid_index.val().index() {
                1 => {
                    self.entry.next = self.gid.val().get_bits::<128>(128);
                }
                2 => {
                    self.entry.next = self.gid.val().get_bits::<128>(256);
                }
                3 => {
                    self.entry.next = self.gid.val().get_bits::<128>(384);
                }
                _ => {}
            }
            if self.advance.val() {
                self.chosen.d.next = self.entry.val().get_bits::<32>(0);
                match self.soon.val() {
                    BuildStep::Six2 => {
                        self.chosen.d.next = self.entry.val().get_bits::<32>(96);
                    }
                    BuildStep::Six3 => {
                        self.chosen.d.next = self.entry.val().get_bits::<32>(64);
                    }
                    BuildStep::Six4 => {
                        self.chosen.d.next = self.entry.val().get_bits::<32>(32);
                    }
                    _ => {}
                }
            }
            self.source_ip.next = self.chosen.q.val();
        }
    }

    crate::block_name!();
}
