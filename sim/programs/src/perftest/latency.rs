// SPDX-License-Identifier: MIT OR Apache-2.0
//! One message at a time.

use super::{Report, Session};
use crate::host::{poll, wait, Host};
use crate::Error;
use verbena_verbs::CompletionOpcode;

/// What has completed on the one QP.
#[derive(Default)]
struct Seen {
    sends: u64,
    receives: u64,
}

impl Session<'_> {
    /// Takes what is in the CQ.
    fn look<H: Host>(&mut self, host: &mut H, seen: &mut Seen) -> Result<(), Error> {
        for completion in poll(host, self.endpoint.cq)? {
            if completion.opcode == CompletionOpcode::Recv {
                seen.receives += 1;
                self.received(host, 0, completion.byte_length)?;
            } else {
                seen.sends += 1;
            }
        }
        Ok(())
    }

    /// Waits until `ready`, looking at the CQ.
    fn until<H: Host>(
        &mut self,
        host: &mut H,
        seen: &mut Seen,
        what: &str,
        ready: impl Fn(&mut Self, &mut H, &Seen) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let patience = host.patience();
        let name = || what.to_string();
        wait(host, patience, name, |host| {
            self.look(host, seen)?;
            Ok(ready(self, host, seen)?.then_some(()))
        })
    }

    /// READ and ATOMIC: ask, wait for the answer.
    pub(super) fn answer_latency<H: Host>(&mut self, host: &mut H) -> Result<Report, Error> {
        let (mut seen, mut starts) = (Seen::default(), vec![]);
        for message in 0..self.options.iters {
            starts.push(host.now());
            self.post(host, 0, message)?;
            self.until(host, &mut seen, "an answer", |_, _, seen| Ok(seen.sends > message))?;
        }
        Ok(Report::latency(self.options.bytes() as u64, &starts, 1.0))
    }

    /// SEND: the client's message, then the server's.
    pub(super) fn send_latency<H: Host>(&mut self, host: &mut H, client: bool) -> Result<Report, Error> {
        let (mut seen, mut starts) = (Seen::default(), vec![]);
        let (iterations, depth) = (self.options.iters, self.options.tx_depth as u64);
        for message in 0..iterations {
            let before = if client { message } else { message + 1 };
            self.until(
                host,
                &mut seen,
                "the other side's message",
                |_, _, seen| Ok(seen.receives >= before),
            )?;
            self.until(host, &mut seen, "room in the send queue", |_, _, seen| {
                Ok(message - seen.sends < depth)
            })?;
            starts.push(host.now());
            self.post(host, 0, message)?;
        }
        let all = |_: &mut Self, _: &mut H, seen: &Seen| Ok(seen.sends >= iterations && seen.receives >= iterations);
        self.until(host, &mut seen, "the last message", all)?;
        Ok(Report::latency(self.options.bytes() as u64, &starts, 2.0))
    }

    /// WRITE: each side writes, and looks into its memory for the other's. The last byte of message N is N; the server begins.
    pub(super) fn write_latency<H: Host>(&mut self, host: &mut H, client: bool) -> Result<Report, Error> {
        let (mut seen, mut starts) = (Seen::default(), vec![]);
        let (iterations, depth, last) = (self.options.iters, self.options.tx_depth as u64, self.options.bytes() as u64 - 1);
        let (send_at, poll_at) = (last, (self.options.qp * self.part) as u64 + last);
        for message in 1..=iterations {
            let before = if client { message } else { message - 1 };
            if before > 0 {
                self.until(host, &mut seen, "the other side's WRITE", |session, host, _| {
                    Ok(session.endpoint.read(host, poll_at, 1)?[0] == before as u8)
                })?;
            }
            self.until(host, &mut seen, "room in the send queue", |_, _, seen| {
                Ok(message - 1 - seen.sends < depth)
            })?;
            self.endpoint.write(host, send_at, &[message as u8])?;
            starts.push(host.now());
            self.post(host, 0, message)?;
        }
        self.until(host, &mut seen, "the last WRITE", |session, host, seen| {
            let came = session.endpoint.read(host, poll_at, 1)?[0] == iterations as u8;
            Ok(seen.sends >= iterations && came)
        })?;
        Ok(Report::latency(self.options.bytes() as u64, &starts, 2.0))
    }
}
