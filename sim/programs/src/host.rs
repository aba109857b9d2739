// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine that a program runs on: a device, and a world around it that goes on when the program waits.
//!
//! With hardware the world goes on by itself; with a simulated engine every wait must [`Host::turn`] it. A program never blocks otherwise.

use crate::Error;
use std::time::{Duration, Instant};
use verbena_verbs::{Bus, Completion, CompletionStatus, Cq, Device, DmaMemory, Gid, Mac, Peer};

/// A device and its surroundings.
pub trait Host {
    type Machine: Bus + DmaMemory;

    fn device(&mut self) -> &mut Device<Self::Machine>;

    /// Our GID 0, the source of what the program sends.
    fn gid(&self) -> Gid;

    /// Lets the world go on a little: engine, frames in and out, ARP. Returns soon, also if nothing happens.
    fn turn(&mut self) -> Result<(), Error>;

    /// ns of the clock that results are measured by. It moves in [`Host::turn`] only, or by itself.
    fn now(&self) -> u64;

    /// MAC of the next hop to an address, or `None` while it is being asked for: turn, and ask again.
    fn resolve(&mut self, to: Gid) -> Result<Option<Mac>, Error>;

    /// How long a program waits for the other side's next step, wall time.
    fn patience(&self) -> Duration {
        Duration::from_secs(60)
    }
}

/// How long for an answer to ARP at most.
const ARP_PATIENCE: Duration = Duration::from_secs(10);

/// Turns the world until `ready` has something.
pub fn wait<H: Host, T>(
    host: &mut H,
    limit: Duration,
    what: impl Fn() -> String,
    mut ready: impl FnMut(&mut H) -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    let start = Instant::now();
    loop {
        if let Some(found) = ready(host)? {
            return Ok(found);
        }
        if start.elapsed() > limit {
            return Err(Error::Timeout { what: what(), limit });
        }
        host.turn()?;
    }
}

/// The way to an address.
pub fn route<H: Host>(host: &mut H, to: Gid) -> Result<Peer, Error> {
    let (start, limit) = (Instant::now(), ARP_PATIENCE.min(host.patience()));
    loop {
        if let Some(mac) = host.resolve(to)? {
            return Ok(Peer::new(to, mac));
        }
        if start.elapsed() > limit {
            return Err(Error::Unresolved(to));
        }
        host.turn()?;
    }
}

/// What is in the CQ, each of it well; nothing is waited for.
pub fn poll<H: Host>(host: &mut H, cq: Cq) -> Result<Vec<Completion>, Error> {
    let found = host.device().poll_cq(cq, 64)?;
    match found.iter().find(|c| c.status != CompletionStatus::Success) {
        Some(bad) => Err(Error::Completion {
            what: format!("{:?} {} of QP {:#08x}", bad.opcode, bad.wr_id, bad.qp.qpn),
            status: bad.status,
        }),
        None => Ok(found),
    }
}
