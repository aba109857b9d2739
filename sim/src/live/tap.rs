// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TAP interface as the cable.

use super::link::{wait_readable, LinkStatistics};
use anyhow::{Context, Result};
use smoltcp::phy::{Device, Medium, RxToken, TunTapInterface, TxToken};
use smoltcp::time::Instant;
use std::os::fd::AsRawFd;
use std::time::Duration;

pub(super) struct TapLink {
    tap: TunTapInterface,
    pub statistics: LinkStatistics,
}

impl TapLink {
    pub fn open(name: &str) -> Result<TapLink> {
        let tap = TunTapInterface::new(name, Medium::Ethernet).with_context(|| {
            format!("TAP {name}: run as root, or make it for you: ip tuntap add dev {name} mode tap user $USER; ip link set {name} up")
        })?;
        let statistics = LinkStatistics {
            connects: 1,
            ..LinkStatistics::default()
        };
        Ok(TapLink { tap, statistics })
    }

    pub fn receive(&mut self) -> Option<Vec<u8>> {
        let (token, _) = self.tap.receive(Instant::ZERO)?;
        let frame = token.consume(|bytes| bytes.to_vec());
        self.statistics.frames_in += 1;
        Some(frame)
    }

    /// A TAP takes a frame or drops it, as an interface does.
    pub fn send(&mut self, frame: &[u8]) {
        if let Some(token) = self.tap.transmit(Instant::ZERO) {
            token.consume(frame.len(), |bytes| bytes.copy_from_slice(frame));
            self.statistics.frames_out += 1;
        }
    }

    pub fn wait(&self, limit: Duration) {
        wait_readable(self.tap.as_raw_fd(), limit);
    }
}
