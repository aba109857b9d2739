// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two hosts in one process, joined by a wire: each engine in a thread of its own, frames through channels. For tests and examples.
//!
//! ```text
//!  thread 0: program ─ Local ─ engine ─► wire ─► channel ─► engine ─ Local ─ program: thread 1
//! ```
//! Time is wall time, so threads that wait for a core can make a timer run out: a packet is sent again, nothing worse.

use crate::{Error, Host};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::time::{Duration, Instant};
use verbena_model::wire::{Faults, Wire};
use verbena_verbs::{Bus, Device, DmaMemory, Gid, Mac, OpenAttr};

/// A machine that can be joined to a wire.
pub trait Machine: Bus + DmaMemory {
    /// Time is `now` (ns, never less than before): takes what has arrived, works a while, hands out what it sends. False: it did nothing.
    fn work(&mut self, now: u64, arrived: &mut Vec<Vec<u8>>, sent: &mut Vec<Vec<u8>>) -> bool;
}

#[cfg(feature = "golden")]
impl Machine for verbena_verbs::golden::GoldenHca {
    fn work(&mut self, now: u64, arrived: &mut Vec<Vec<u8>>, sent: &mut Vec<Vec<u8>>) -> bool {
        self.advance(now);
        let mut busy = !arrived.is_empty();
        arrived.drain(..).for_each(|frame| self.receive(&frame));
        while let Some(frame) = self.transmit() {
            sent.push(frame);
            busy = true;
        }
        busy
    }
}

/// One end of the wire, before there is a machine on it; goes to the machine's thread.
pub struct End {
    number: u8,
    to: Sender<Vec<u8>>,
    from: Receiver<Vec<u8>>,
    wire: Wire,
}

/// Two ends; the faults are each way's. End 0 is 10.0.0.1, end 1 is 10.0.0.2.
pub fn ends(seed: u64, faults: Faults) -> [End; 2] {
    let ((left_to, right_from), (right_to, left_from)) = (channel(), channel());
    let wire = |salt| Wire::new(seed << 1 | salt, 0, faults);
    [(0, left_to, left_from), (1, right_to, right_from)].map(|(number, to, from)| End {
        number,
        to,
        from,
        wire: wire(u64::from(number)),
    })
}

fn mac(number: u8) -> Mac {
    [0x02, 0x56, 0x42, 0x4e, 0x41, number + 1]
}

fn gid(number: u8) -> Gid {
    Gid::ipv4([10, 0, 0, number + 1])
}

/// A host on one end.
pub struct Local<M> {
    device: Device<M>,
    end: End,
    start: Instant,
    patience: Duration,
    arrived: Vec<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}

/// An idle host looks for frames this often.
const NAP: Duration = Duration::from_micros(200);

impl<M: Machine> Local<M> {
    /// Opens the machine's device at that end.
    pub fn open(end: End, machine: M) -> Result<Local<M>, Error> {
        let device = Device::open(machine, &OpenAttr::new(mac(end.number), gid(end.number)))?;
        Ok(Local {
            device,
            end,
            start: Instant::now(),
            patience: Duration::from_secs(60),
            arrived: Vec::new(),
            sent: Vec::new(),
        })
    }

    /// Wait no longer than this for the other side.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// What the wire away from here has done.
    pub fn wire(&self) -> &Wire {
        &self.end.wire
    }
}

impl<M: Machine> Host for Local<M> {
    type Machine = M;

    fn device(&mut self) -> &mut Device<M> {
        &mut self.device
    }

    fn gid(&self) -> Gid {
        gid(self.end.number)
    }

    fn turn(&mut self) -> Result<(), Error> {
        let now = self.now();
        self.arrived.extend(self.end.from.try_iter());
        let busy = self.device.platform().work(now, &mut self.arrived, &mut self.sent);
        self.sent.drain(..).for_each(|frame| self.end.wire.send(now, frame));
        while let Some(frame) = self.end.wire.receive(now) {
            // The other side may have gone home.
            let _ = self.end.to.send(frame);
        }
        if !busy {
            self.arrived.extend(self.end.from.recv_timeout(NAP));
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn resolve(&mut self, to: Gid) -> Result<Option<Mac>, Error> {
        Ok([0, 1].into_iter().find(|n| gid(*n) == to).map(mac))
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}
