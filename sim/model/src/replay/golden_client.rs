// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden model as a [`Client`].

use super::client::Client;
use super::golden::{find, scattered};
use super::Setup;
use crate::golden::keys::Region;
use crate::golden::qp::State;
use crate::golden::send_wqe::SendWqe;
use crate::golden::{Completion, Features, Golden, Outcome};
use crate::memory::Memory;
use anyhow::{ensure, Context, Result};

/// Send rings, one after the other: bus addresses that regions don't use.
const RING_BASE: u64 = 1 << 48;
const RING_BYTES: u64 = 1 << 20;

/// The golden model with memory, as a client's replay needs it.
#[derive(Default)]
pub struct GoldenClient {
    golden: Option<Golden>,
    memory: Memory,
    outcome: Outcome,
    regions: Vec<Region>,
}

impl GoldenClient {
    pub fn new() -> Self {
        Self::default()
    }
}

impl Client for GoldenClient {
    fn configure(&mut self, setup: &Setup) -> Result<()> {
        let mut golden = Golden::with_features(setup.local.clone(), Features::ALL);
        self.regions = scattered(setup);
        self.regions.iter().for_each(|r| golden.register(r.clone()));
        for (number, attributes) in setup.qps.iter().enumerate() {
            let mut attributes = attributes.clone();
            attributes.sq_base = RING_BASE + number as u64 * RING_BYTES;
            let qpn = attributes.qpn;
            golden.create_qp(attributes);
            for state in [State::Init, State::Rtr, State::Rts] {
                ensure!(golden.modify(qpn, state, &mut self.outcome), "QP {qpn:#x} refused {state:?}");
            }
        }
        self.golden = Some(golden);
        Ok(())
    }

    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()> {
        find(&self.regions, key, virtual_address, bytes.len())?.write(&mut self.memory, virtual_address, bytes);
        Ok(())
    }

    fn post_send(&mut self, qpn: u32, wqe: &SendWqe) -> Result<()> {
        let golden = self.golden.as_mut().context("not configured")?;
        golden
            .post_send(qpn, wqe, &mut self.memory, &mut self.outcome)
            .context("no such QP, or its send ring is full")?;
        Ok(())
    }

    fn advance(&mut self, now: u64) -> Result<Vec<Vec<u8>>> {
        let golden = self.golden.as_mut().context("not configured")?;
        let mut frames = vec![];
        loop {
            while let Some(packet) = golden.transmit(&mut self.memory, &mut self.outcome) {
                frames.push(packet.to_frame());
            }
            match golden.next_deadline().filter(|at| *at <= now) {
                Some(at) => golden.advance(at, &mut self.memory, &mut self.outcome),
                None => break,
            }
        }
        golden.advance(now, &mut self.memory, &mut self.outcome);
        Ok(frames)
    }

    fn deliver(&mut self, frame: &[u8]) -> Result<()> {
        let golden = self.golden.as_mut().context("not configured")?;
        let outcome = golden.receive(frame, false, &mut self.memory);
        self.outcome.completions.extend(outcome.completions);
        Ok(())
    }

    fn completions(&mut self) -> Result<Vec<Completion>> {
        Ok(std::mem::take(&mut self.outcome.completions))
    }

    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>> {
        Ok(find(&self.regions, key, virtual_address, length)?.read(&self.memory, virtual_address, length))
    }

    fn counters(&mut self) -> Result<Vec<u32>> {
        Ok(self.golden.as_ref().context("not configured")?.counters().to_vec())
    }
}
