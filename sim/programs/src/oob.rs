// SPDX-License-Identifier: MIT OR Apache-2.0
//! The out-of-band connection: TCP of the host's own, over which the tools exchange QPNs, PSNs and addresses.

use crate::host::{wait, Host};
use crate::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A connection that turns the host's world while it waits.
pub struct Oob {
    stream: TcpStream,
}

fn socket(what: String) -> impl FnOnce(std::io::Error) -> Error {
    move |error| Error::Socket { what, error }
}

impl Oob {
    /// Waits for one client. `limit`: how long.
    pub fn listen<H: Host>(host: &mut H, address: &str, port: u16, limit: Duration) -> Result<Oob, Error> {
        let name = format!("listening on {address}:{port}");
        let listener = TcpListener::bind((address, port)).map_err(socket(name.clone()))?;
        Self::accept(host, &listener, limit)
    }

    /// Waits for a client of a listener that is there already.
    pub fn accept<H: Host>(host: &mut H, listener: &TcpListener, limit: Duration) -> Result<Oob, Error> {
        let failed = || socket("accepting a client".into());
        listener.set_nonblocking(true).map_err(failed())?;
        let stream = wait(
            host,
            limit,
            || "a client".into(),
            |_| match listener.accept() {
                Ok((stream, _)) => Ok(Some(stream)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
                Err(error) => Err(failed()(error)),
            },
        )?;
        Self::new(stream)
    }

    /// Connects to a server, by name or address.
    pub fn connect(server: &str, port: u16) -> Result<Oob, Error> {
        let failed = || socket(format!("connecting to {server}:{port}"));
        let addresses = (server, port).to_socket_addrs().map_err(failed())?;
        let mut last = std::io::Error::from(ErrorKind::NotFound);
        for address in addresses {
            match TcpStream::connect_timeout(&address, Duration::from_secs(5)) {
                Ok(stream) => return Self::new(stream),
                Err(error) => last = error,
            }
        }
        Err(failed()(last))
    }

    /// Takes a connected stream.
    pub fn new(stream: TcpStream) -> Result<Oob, Error> {
        let failed = || socket("the out-of-band connection".into());
        stream.set_nonblocking(true).map_err(failed())?;
        stream.set_nodelay(true).map_err(failed())?;
        Ok(Oob { stream })
    }

    /// Sends all of it.
    pub fn send<H: Host>(&mut self, host: &mut H, what: &'static str, bytes: &[u8]) -> Result<(), Error> {
        let (mut sent, stream) = (0, &mut self.stream);
        let (awaited, patience) = (|| format!("the peer to take {what}"), host.patience());
        wait(host, patience, awaited, |_| match stream.write(&bytes[sent..]) {
            Ok(n) => {
                sent += n;
                Ok((sent == bytes.len()).then_some(()))
            }
            Err(error) if would_block(&error) => Ok(None),
            Err(error) => Err(socket(format!("sending {what}"))(error)),
        })
    }

    /// Receives exactly so many bytes.
    pub fn receive<H: Host, const N: usize>(&mut self, host: &mut H, what: &'static str) -> Result<[u8; N], Error> {
        let patience = host.patience();
        self.receive_within(host, what, patience)
    }

    /// The same, with a patience of its own.
    pub fn receive_within<H: Host, const N: usize>(
        &mut self,
        host: &mut H,
        what: &'static str,
        patience: Duration,
    ) -> Result<[u8; N], Error> {
        let (mut bytes, mut got, stream) = ([0; N], 0, &mut self.stream);
        wait(
            host,
            patience,
            || format!("the peer's {what}"),
            |_| match stream.read(&mut bytes[got..]) {
                Ok(0) => Err(Error::Closed(what)),
                Ok(n) => {
                    got += n;
                    Ok((got == N).then_some(()))
                }
                Err(error) if would_block(&error) => Ok(None),
                Err(error) => Err(socket(format!("receiving {what}"))(error)),
            },
        )?;
        Ok(bytes)
    }

    /// Waits until the peer has closed, or `limit` is over; turning the world, so that what is under way still gets answers.
    pub fn linger<H: Host>(mut self, host: &mut H, limit: Duration) -> Result<(), Error> {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
        let closed = wait(host, limit, String::new, |_| match self.stream.read(&mut [0; 64]) {
            Ok(0) => Ok(Some(())),
            Err(error) if !would_block(&error) => Ok(Some(())),
            _ => Ok(None),
        });
        match closed {
            Err(Error::Timeout { .. }) => Ok(()),
            other => other,
        }
    }
}

fn would_block(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
