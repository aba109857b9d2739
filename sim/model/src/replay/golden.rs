// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden model as a [`Responder`].

use super::{Responder, Setup};
use crate::golden::keys::Region;
use crate::golden::qp::{Qp, State};
use crate::golden::{Completion, Golden, Outcome};
use crate::memory::{Memory, PAGE};
use anyhow::{ensure, Context, Result};
use verbena_spec::counters::COUNTER_FILE;

/// The golden model with memory, as a replay needs it.
#[derive(Default)]
pub struct GoldenResponder {
    golden: Option<Golden>,
    memory: Memory,
    outcome: Outcome,
    counters: Vec<u32>,
    regions: Vec<Region>,
}

impl GoldenResponder {
    pub fn new() -> Self {
        Self::default()
    }

    /// The state of a QP.
    pub fn qp(&self, qpn: u32) -> Option<&Qp> {
        self.golden.as_ref()?.qp(qpn)
    }
}

impl Responder for GoldenResponder {
    fn configure(&mut self, setup: &Setup) -> Result<()> {
        let mut golden = Golden::new(setup.local.clone());
        self.counters = vec![0; COUNTER_FILE];
        let mut page = 1 << 20;
        for region in &setup.regions {
            let count = (region.virtual_address % PAGE + region.length).div_ceil(PAGE);
            // Scattered: every other page, downwards.
            let pages: Vec<u64> = (0..count).map(|n| (page + 2 * (count - n)) * PAGE).collect();
            page += 2 * count + 2;
            let region = Region {
                key: region.key,
                pd: setup.pd,
                access: region.access,
                may_invalidate: region.may_invalidate,
                virtual_address: region.virtual_address,
                length: region.length,
                pages,
            };
            self.regions.push(region.clone());
            golden.register(region);
        }
        for attributes in &setup.qps {
            golden.create_qp(attributes.clone());
            for state in [State::Init, State::Rtr, State::Rts] {
                ensure!(
                    golden.modify(attributes.qpn, state, &mut self.outcome),
                    "QP {:#x} refused {state:?}",
                    attributes.qpn
                );
            }
        }
        self.golden = Some(golden);
        Ok(())
    }

    fn post_receive(&mut self, qpn: u32, address: u64, length: u32, lkey: u32) -> Result<()> {
        let golden = self.golden.as_mut().context("not configured")?;
        golden
            .post_receive(qpn, address, length, lkey, &mut self.outcome)
            .context("no such QP")?;
        Ok(())
    }

    fn deliver(&mut self, frame: &[u8]) -> Result<Vec<Vec<u8>>> {
        let golden = self.golden.as_mut().context("not configured")?;
        let outcome = golden.receive(frame, false, &mut self.memory);
        self.counters[usize::from(outcome.rx)] += 1;
        if let Some(code) = outcome.responder {
            self.counters[usize::from(code)] += 1;
        }
        self.outcome.completions.extend(outcome.completions);
        Ok(outcome.answers.iter().map(|p| p.to_frame()).collect())
    }

    fn completions(&mut self) -> Result<Vec<Completion>> {
        Ok(std::mem::take(&mut self.outcome.completions))
    }

    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>> {
        let region = self.regions.iter().find(|r| r.key == key).context("no such region")?;
        let mut out = vec![];
        while out.len() < length {
            let at = virtual_address + out.len() as u64;
            let page = region
                .pages
                .get((at / PAGE - region.virtual_address / PAGE) as usize)
                .context("outside the region")?;
            let count = ((PAGE - at % PAGE) as usize).min(length - out.len());
            out.extend(self.memory.read(page + at % PAGE, count));
        }
        Ok(out)
    }

    fn counters(&mut self) -> Result<Vec<u32>> {
        Ok(self.counters.clone())
    }
}
