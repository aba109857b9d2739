// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan's steps as work requests.

use super::connect::End;
use super::plan::{Local, Operation};
use anyhow::Result;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use verbena_verbs::{Bus, Data, Device, DmaMemory, Error, Sge, Verb, WorkRequest};

/// Some ahead, then one at a time. True if there was room for any.
pub fn post_receives<P: Bus + DmaMemory>(device: &mut Device<P>, end: &mut End, peer: &End, first: bool) -> Result<bool> {
    let plan = &peer.plan;
    let mut batch = if first || end.ahead == usize::MAX { end.ahead } else { 1 };
    let mut moved = false;
    while end.posted < plan.receives.len() && batch > 0 {
        let sge = end
            .receive
            .sge((end.posted * plan.receive_bytes) as u64, plan.receive_bytes as u32)?;
        match device.post_recv(end.qp, end.posted as u64, sge) {
            Ok(()) => {}
            Err(Error::QueueFull { .. }) => break,
            Err(error) => return Err(error.into()),
        }
        moved = true;
        end.posted += 1;
        batch -= 1;
    }
    Ok(moved)
}

/// Posts until the queue is full, several with one doorbell or one by one.
pub fn post_sends<P: Bus + DmaMemory>(device: &mut Device<P>, rng: &mut ChaCha8Rng, end: &mut End, peer: &End) -> Result<bool> {
    let mut moved = false;
    while end.next < end.plan.steps.len() {
        let left = end.plan.steps.len() - end.next;
        let wanted = rng.gen_range(1..=4).min(left);
        if !post_batch(device, end, peer, wanted)? && (wanted == 1 || !post_batch(device, end, peer, 1)?) {
            break;
        }
        moved = true;
    }
    Ok(moved)
}

/// False: there is no room.
fn post_batch<P: Bus + DmaMemory>(device: &mut Device<P>, end: &mut End, peer: &End, count: usize) -> Result<bool> {
    let steps = &end.plan.steps[end.next..end.next + count];
    let mut elements: Vec<Vec<Sge>> = vec![];
    for step in steps {
        let (area, list) = match &step.local {
            Local::Inline(_) => (&end.source, &[][..]),
            Local::Source(list) => (&end.source, &list[..]),
            Local::Sink(list) => (&end.sink, &list[..]),
        };
        let sges = list.iter().map(|(offset, length)| area.sge(*offset, *length));
        elements.push(sges.collect::<Result<_>>()?);
    }
    let remote = |at: u64| peer.target.remote(at);
    let requests: Vec<WorkRequest> = steps
        .iter()
        .zip(&elements)
        .enumerate()
        .map(|(n, (step, sges))| WorkRequest {
            wr_id: (end.next + n) as u64,
            verb: match step.operation {
                Operation::Send => Verb::Send,
                Operation::SendWithImm(number) => Verb::SendWithImm(number),
                Operation::SendWithInvalidate(key) => Verb::SendWithInvalidate {
                    rkey: peer.windows[key].key(),
                },
                Operation::Write(at) => Verb::Write(remote(at)),
                Operation::WriteWithImm(at, number) => Verb::WriteWithImm(remote(at), number),
                Operation::Read(at) => Verb::Read(remote(at)),
                Operation::CompareSwap { at, compare, swap } => Verb::CompareSwap {
                    remote: remote(at),
                    compare,
                    swap,
                },
                Operation::FetchAdd { at, add } => Verb::FetchAdd { remote: remote(at), add },
            },
            data: match &step.local {
                Local::Inline(bytes) => Data::Inline(bytes),
                _ => Data::Elements(sges),
            },
            signaled: step.signaled,
            solicited: step.solicited,
            fence: step.fence,
            destination: end.destination,
        })
        .collect();
    match device.post_send_list(end.qp, &requests) {
        Ok(()) => {}
        Err(Error::QueueFull { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    end.next += count;
    Ok(true)
}
