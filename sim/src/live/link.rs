// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cable: frames in and out without waiting, whatever is at the other end.

use super::options::LinkOptions;
use super::socket::SocketLink;
use super::tap::TapLink;
use anyhow::Result;
use serde::Serialize;
use std::time::Duration;

/// What the cable has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LinkStatistics {
    pub frames_in: u64,
    pub frames_out: u64,
    /// Connections that a peer made, or that we made.
    pub connects: u64,
    /// Connections that ended.
    pub disconnects: u64,
    /// Frames of ours while nobody was connected: lost, as with a cable pulled.
    pub out_unconnected: u64,
    /// Frames of ours that a peer which doesn't read had no room for: lost.
    pub out_full: u64,
    /// Frames cut off by the end of their connection.
    pub in_cut: u64,
    /// Lengths that no Ethernet frame has (0): skipped.
    pub in_empty: u64,
    /// Lengths that can't be a frame's (above 69,632, qemu's own limit): the stream is out of step, its connection was ended.
    pub in_out_of_step: u64,
}

/// One of the kinds of cable.
pub(super) enum Link {
    Socket(SocketLink),
    Tap(TapLink),
}

impl Link {
    pub fn open(options: LinkOptions) -> Result<Link> {
        Ok(match options {
            LinkOptions::Connect(path) => Link::Socket(SocketLink::connect(path)),
            LinkOptions::Listen(path) => Link::Socket(SocketLink::listen(path)?),
            LinkOptions::Stream(stream) => Link::Socket(SocketLink::with(stream)?),
            LinkOptions::Tap(name) => Link::Tap(TapLink::open(&name)?),
        })
    }

    /// The next frame that has arrived.
    pub fn receive(&mut self) -> Result<Option<Vec<u8>>> {
        match self {
            Link::Socket(socket) => Ok(socket.receive()),
            Link::Tap(tap) => Ok(tap.receive()),
        }
    }

    pub fn send(&mut self, frame: &[u8]) {
        match self {
            Link::Socket(socket) => socket.send(frame),
            Link::Tap(tap) => tap.send(frame),
        }
    }

    /// Connects where nobody is, and writes what waits.
    pub fn service(&mut self) -> Result<()> {
        match self {
            Link::Socket(socket) => socket.service(),
            Link::Tap(_) => Ok(()),
        }
    }

    /// The peer is slower than we are: better to send nothing now.
    pub fn is_congested(&self) -> bool {
        match self {
            Link::Socket(socket) => socket.is_congested(),
            Link::Tap(_) => false,
        }
    }

    pub fn is_connected(&self) -> bool {
        match self {
            Link::Socket(socket) => socket.is_connected(),
            Link::Tap(_) => true,
        }
    }

    /// Waits until there is something to read, at most so long.
    pub fn wait(&self, limit: Duration) {
        match self {
            Link::Socket(socket) => socket.wait(limit),
            Link::Tap(tap) => tap.wait(limit),
        }
    }

    pub fn statistics(&self) -> LinkStatistics {
        match self {
            Link::Socket(socket) => socket.statistics,
            Link::Tap(tap) => tap.statistics,
        }
    }
}

/// Sleeps until `fd` can be read, at most so long.
pub(super) fn wait_readable(fd: std::os::fd::RawFd, limit: Duration) {
    let limit = smoltcp::time::Duration::from_micros(limit.as_micros() as u64);
    // A signal ends the wait early, and an fd that went bad shows when it is read.
    let _ = smoltcp::phy::wait(fd, Some(limit));
}
