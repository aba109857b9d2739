// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP with the peer's program, while the NIC goes on: what RDMA tools exchange QPNs, PSNs and keys by.

use super::LiveNic;
use anyhow::{bail, ensure, Context, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Longest line.
const LINE: usize = 4096;

/// A TCP connection of this machine's, not of the simulated wire. Whatever waits here moves the NIC meanwhile.
pub struct Talk {
    stream: TcpStream,
    received: Vec<u8>,
    limit: Duration,
}

impl Talk {
    /// Accepts one connection at `address`; `limit` holds for this and each later wait.
    pub fn accept(nic: &mut LiveNic, address: SocketAddr, limit: Duration) -> Result<Talk> {
        let listener = Talk::listen(address)?;
        let found = Talk::accept_from(nic, &listener, limit)?;
        found.with_context(|| format!("nobody connected to {address} within {} s", limit.as_secs_f32()))
    }

    /// Listens for several connections, one after the other.
    pub fn listen(address: SocketAddr) -> Result<TcpListener> {
        let listener = TcpListener::bind(address).with_context(|| format!("listening at {address}"))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// The next connection; `None` if nobody comes within `limit`, or at a stop.
    pub fn accept_from(nic: &mut LiveNic, listener: &TcpListener, limit: Duration) -> Result<Option<Talk>> {
        let mut stream = None;
        nic.run_until(limit, |_| match listener.accept() {
            Ok((found, _)) => {
                stream = Some(found);
                Ok(true)
            }
            Err(error) if waits(&error) => Ok(false),
            Err(error) => Err(error).context("accepting a connection"),
        })?;
        stream.map(|stream| Talk::with(stream, limit)).transpose()
    }

    /// How long each later wait may take.
    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Connects to a program on this machine, or one that a port of it leads to; tries again until `limit`.
    pub fn connect(nic: &mut LiveNic, address: SocketAddr, limit: Duration) -> Result<Talk> {
        let end = Instant::now() + limit;
        loop {
            match TcpStream::connect(address) {
                Ok(stream) => return Talk::with(stream, limit),
                Err(error) if Instant::now() >= end || nic.is_stopped() => {
                    return Err(error).with_context(|| format!("connecting to {address}"));
                }
                Err(_) => nic.run_for(Duration::from_millis(20))?,
            }
        }
    }

    fn with(stream: TcpStream, limit: Duration) -> Result<Talk> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Talk {
            stream,
            received: vec![],
            limit,
        })
    }

    /// Takes what has come; false at the end of the stream.
    fn take(&mut self) -> Result<bool> {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Ok(false),
                Ok(count) => self.received.extend(&bytes[..count]),
                Err(error) if waits(&error) => return Ok(true),
                Err(error) => return Err(error).context("reading from the peer's program"),
            }
        }
    }

    /// Waits until `enough` bytes of what was received are wanted, and gives them.
    fn wait_for(&mut self, nic: &mut LiveNic, what: &str, enough: impl Fn(&[u8]) -> Option<usize>) -> Result<Vec<u8>> {
        let mut length = None;
        nic.run_until(self.limit, |_| {
            let open = self.take()?;
            length = enough(&self.received);
            ensure!(length.is_some() || open, "the peer's program went away where {what} was due");
            Ok(length.is_some())
        })?;
        let Some(length) = length else {
            bail!("the peer's program didn't send {what} within {} s", self.limit.as_secs_f32())
        };
        Ok(self.received.drain(..length).collect())
    }

    /// The next `count` bytes.
    pub fn read(&mut self, nic: &mut LiveNic, count: usize) -> Result<Vec<u8>> {
        self.wait_for(nic, &format!("{count} bytes"), |bytes| (bytes.len() >= count).then_some(count))
    }

    /// The next line, without its end.
    pub fn read_line(&mut self, nic: &mut LiveNic) -> Result<String> {
        let line = self.wait_for(nic, "a line", |bytes| {
            let end = bytes.iter().position(|b| *b == b'\n').map(|at| at + 1);
            end.or((bytes.len() > LINE).then_some(LINE))
        })?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_string())
    }

    /// Something has come that wasn't read yet, or the peer has gone.
    pub fn has_news(&mut self) -> Result<bool> {
        Ok(!self.take()? || !self.received.is_empty())
    }

    pub fn write(&mut self, nic: &mut LiveNic, mut bytes: &[u8]) -> Result<()> {
        let stream = &mut self.stream;
        nic.run_until(self.limit, |_| {
            while !bytes.is_empty() {
                match stream.write(bytes) {
                    Ok(count) => bytes = &bytes[count..],
                    Err(error) if waits(&error) => return Ok(false),
                    Err(error) => return Err(error).context("writing to the peer's program"),
                }
            }
            Ok(true)
        })?;
        ensure!(bytes.is_empty(), "the peer's program doesn't read");
        Ok(())
    }
}

fn waits(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
