// SPDX-License-Identifier: MIT OR Apache-2.0
//! As much as possible: the queues are kept full.

use super::{Report, Session};
use crate::host::{poll, wait, Host};
use crate::Error;
use verbena_verbs::CompletionOpcode;

impl Session<'_> {
    /// The active side: every QP sends its messages.
    pub(super) fn send_all<H: Host>(&mut self, host: &mut H) -> Result<Report, Error> {
        let (qps, iterations, depth) = (self.options.qp, self.options.iters, self.options.tx_depth as u64);
        let (mut posted, mut done) = (vec![0; qps], vec![0; qps]);
        let total = iterations as usize * qps;
        let (mut starts, mut ends) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let (patience, cq) = (host.patience(), self.endpoint.cq);
        while ends.len() < total {
            for qp in 0..qps {
                while posted[qp] < iterations && posted[qp] - done[qp] < depth {
                    starts.push(host.now());
                    self.post(host, qp, posted[qp])?;
                    posted[qp] += 1;
                }
            }
            let what = || format!("message {} of {total} to complete", ends.len() + 1);
            let found = wait(host, patience, what, |host| {
                Ok(Some(poll(host, cq)?).filter(|found| !found.is_empty()))
            })?;
            let now = host.now();
            for completion in found {
                done[completion.wr_id as usize] += 1;
                ends.push(now);
            }
        }
        Ok(Report::bandwidth(self.options.bytes() as u64, &starts, &ends))
    }

    /// The passive side of SEND.
    pub(super) fn receive_all<H: Host>(&mut self, host: &mut H) -> Result<Report, Error> {
        let total = self.options.iters as usize * self.options.qp;
        let mut ends = Vec::with_capacity(total);
        let (patience, cq) = (host.patience(), self.endpoint.cq);
        while ends.len() < total {
            let what = || format!("message {} of {total}", ends.len() + 1);
            let found = wait(host, patience, what, |host| {
                Ok(Some(poll(host, cq)?).filter(|found| !found.is_empty()))
            })?;
            let now = host.now();
            for completion in found.iter().filter(|c| c.opcode == CompletionOpcode::Recv) {
                ends.push(now);
                self.received(host, completion.wr_id as usize, completion.byte_length)?;
            }
        }
        // The first one's arrival is where the clock starts; there is no post to measure from.
        let starts = vec![ends.first().copied().unwrap_or(0); ends.len()];
        Ok(Report::bandwidth(self.options.bytes() as u64, &starts, &ends))
    }
}
