// SPDX-License-Identifier: MIT OR Apache-2.0
//! A unix socket as the cable, in the framing of qemu's `-netdev stream`: 4 bytes big-endian length, then the frame without FCS.
//!
//! Whoever is at the other end may go at any time, in the middle of a frame too: what was cut off is dropped, and the next peer begins anew.

use super::link::{wait_readable, LinkStatistics};
use anyhow::{ensure, Context, Result};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest frame that qemu's framing allows (NET_BUFSIZE).
const LONGEST: usize = 4096 + 65536;
/// Bytes waiting to be written above which the peer counts as slow.
const CONGESTED: usize = 128 << 10;
/// Bytes waiting to be written above which frames are lost.
const FULL: usize = 4 << 20;
/// Between two attempts to connect.
const RETRY: Duration = Duration::from_millis(50);

enum Way {
    Connect(PathBuf),
    Listen(UnixListener, PathBuf),
    Once,
}

pub(super) struct SocketLink {
    way: Way,
    stream: Option<UnixStream>,
    last_attempt: Option<Instant>,
    /// Bytes that came and are no whole frame yet, and whole frames behind them.
    incoming: VecDeque<u8>,
    outgoing: VecDeque<u8>,
    pub statistics: LinkStatistics,
}

impl SocketLink {
    fn new(way: Way) -> SocketLink {
        SocketLink {
            way,
            stream: None,
            last_attempt: None,
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            statistics: LinkStatistics::default(),
        }
    }

    /// Connects now if somebody listens, else as soon as somebody does.
    pub fn connect(path: PathBuf) -> SocketLink {
        SocketLink::new(Way::Connect(path))
    }

    /// Listens at `path`. A socket file that nobody listens at any more is replaced.
    pub fn listen(path: PathBuf) -> Result<SocketLink> {
        let show = path.display().to_string();
        if let Ok(found) = std::fs::symlink_metadata(&path) {
            ensure!(found.file_type().is_socket(), "{show} exists and is no socket: give another path");
            ensure!(
                UnixStream::connect(&path).is_err(),
                "{show}: another program listens there: give another path, or end it"
            );
            std::fs::remove_file(&path).with_context(|| format!("removing the old socket {show}"))?;
        }
        let listener = UnixListener::bind(&path).with_context(|| format!("listening at {show}"))?;
        listener.set_nonblocking(true)?;
        Ok(SocketLink::new(Way::Listen(listener, path)))
    }

    /// Uses a stream that is connected.
    pub fn with(stream: UnixStream) -> Result<SocketLink> {
        let mut link = SocketLink::new(Way::Once);
        link.adopt(stream)?;
        Ok(link)
    }

    fn adopt(&mut self, stream: UnixStream) -> Result<()> {
        stream.set_nonblocking(true).context("making the socket non-blocking")?;
        self.stream = Some(stream);
        self.statistics.connects += 1;
        Ok(())
    }

    /// The peer is gone.
    fn hang_up(&mut self) {
        if self.stream.take().is_some() {
            self.statistics.disconnects += 1;
        }
        if !self.incoming.is_empty() {
            self.statistics.in_cut += 1;
        }
        self.incoming.clear();
        self.outgoing.clear();
    }

    pub fn is_connected(&self) -> bool {
        self.stream.is_some()
    }

    pub fn is_congested(&self) -> bool {
        self.outgoing.len() > CONGESTED
    }

    pub fn service(&mut self) -> Result<()> {
        if self.stream.is_none() {
            self.find_peer()?;
        }
        self.flush();
        Ok(())
    }

    fn find_peer(&mut self) -> Result<()> {
        let found = match &self.way {
            Way::Once => None,
            Way::Listen(listener, path) => match listener.accept() {
                Ok((stream, _)) => Some(stream),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => None,
                Err(error) => return Err(error).with_context(|| format!("accepting at {}", path.display())),
            },
            Way::Connect(path) => {
                if self.last_attempt.is_some_and(|at| at.elapsed() < RETRY) {
                    return Ok(());
                }
                self.last_attempt = Some(Instant::now());
                UnixStream::connect(path).ok()
            }
        };
        found.map_or(Ok(()), |stream| self.adopt(stream))
    }

    pub fn send(&mut self, frame: &[u8]) {
        if self.stream.is_none() {
            self.statistics.out_unconnected += 1;
        } else if self.outgoing.len() + frame.len() > FULL {
            self.statistics.out_full += 1;
        } else {
            self.outgoing.extend((frame.len() as u32).to_be_bytes());
            self.outgoing.extend(frame);
            self.statistics.frames_out += 1;
        }
    }

    fn flush(&mut self) {
        while let Some(stream) = self.stream.as_mut().filter(|_| !self.outgoing.is_empty()) {
            match stream.write(self.outgoing.as_slices().0) {
                Ok(0) => return self.hang_up(),
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => return self.hang_up(),
            }
        }
    }

    pub fn receive(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(frame) = self.whole_frame() {
                self.statistics.frames_in += 1;
                return Some(frame);
            }
            let stream = self.stream.as_mut()?;
            let mut bytes = [0; 16384];
            match stream.read(&mut bytes) {
                Ok(0) => self.hang_up(),
                Ok(count) => self.incoming.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(_) => self.hang_up(),
            }
        }
    }

    /// The first frame of `incoming`, if it is all there.
    fn whole_frame(&mut self) -> Option<Vec<u8>> {
        loop {
            if self.incoming.len() < 4 {
                return None;
            }
            let prefix: [u8; 4] = std::array::from_fn(|i| self.incoming[i]);
            let length = u32::from_be_bytes(prefix) as usize;
            if length > LONGEST {
                self.statistics.in_out_of_step += 1;
                self.incoming.clear();
                self.hang_up();
                return None;
            }
            if self.incoming.len() < 4 + length {
                return None;
            }
            self.incoming.drain(..4);
            if length == 0 {
                self.statistics.in_empty += 1;
                continue;
            }
            return Some(self.incoming.drain(..length).collect());
        }
    }

    pub fn wait(&self, limit: Duration) {
        match (&self.stream, &self.way) {
            (Some(stream), _) => wait_readable(stream.as_raw_fd(), limit),
            (None, Way::Listen(listener, _)) => wait_readable(listener.as_raw_fd(), limit),
            (None, _) => std::thread::sleep(limit),
        }
    }
}

impl Drop for SocketLink {
    fn drop(&mut self) {
        self.flush();
        if let Way::Listen(_, path) = &self.way {
            // Whoever comes next replaces it if this fails.
            let _ = std::fs::remove_file(path);
        }
    }
}
