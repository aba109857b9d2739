// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden model as a [`Responder`].

use super::{Responder, Setup, SetupRegion};
use crate::golden::keys::Region;
use crate::golden::qp::{Qp, State};
use crate::golden::{Completion, Features, Golden, Outcome};
use crate::memory::{Memory, PAGE};
use anyhow::{ensure, Context, Result};
use verbena_spec::counters::COUNTER_FILE;

/// The golden model with memory, as a replay needs it.
#[derive(Default)]
pub struct GoldenResponder {
    features: Features,
    golden: Option<Golden>,
    memory: Memory,
    outcome: Outcome,
    counters: Vec<u32>,
    regions: Vec<Region>,
}

impl GoldenResponder {
    /// One without READ and ATOMIC.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_features(features: Features) -> Self {
        Self {
            features,
            ..Self::default()
        }
    }

    /// The state of a QP.
    pub fn qp(&self, qpn: u32) -> Option<&Qp> {
        self.golden.as_ref()?.qp(qpn)
    }
}

impl Responder for GoldenResponder {
    fn features(&mut self) -> Features {
        self.features
    }

    fn configure(&mut self, setup: &Setup) -> Result<()> {
        let mut golden = Golden::with_features(setup.local.clone(), self.features);
        self.counters = vec![0; COUNTER_FILE];
        self.regions = scattered(setup);
        self.regions.iter().for_each(|r| golden.register(r.clone()));
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

    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()> {
        let region = find(&self.regions, key, virtual_address, bytes.len())?;
        region.write(&mut self.memory, virtual_address, bytes);
        Ok(())
    }

    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>> {
        let region = find(&self.regions, key, virtual_address, length)?;
        Ok(region.read(&self.memory, virtual_address, length))
    }

    fn counters(&mut self) -> Result<Vec<u32>> {
        Ok(self.counters.clone())
    }
}

/// The setup's regions on pages that are scattered: every other page, downwards.
pub(super) fn scattered(setup: &Setup) -> Vec<Region> {
    let mut page = 1 << 20;
    let place = |region: &SetupRegion| {
        let count = (region.virtual_address % PAGE + region.length).div_ceil(PAGE);
        let pages = (0..count).map(|n| (page + 2 * (count - n)) * PAGE).collect();
        page += 2 * count + 2;
        Region {
            key: region.key,
            pd: setup.pd,
            access: region.access,
            may_invalidate: region.may_invalidate,
            virtual_address: region.virtual_address,
            length: region.length,
            pages,
        }
    };
    setup.regions.iter().map(place).collect()
}

/// The region that holds the range.
pub(super) fn find(regions: &[Region], key: u32, virtual_address: u64, length: usize) -> Result<&Region> {
    let region = regions.iter().find(|r| r.key == key).context("no such region")?;
    let end = virtual_address.checked_add(length as u64).context("the range wraps")?;
    ensure!(
        virtual_address >= region.virtual_address && end <= region.virtual_address + region.length,
        "outside the region"
    );
    Ok(region)
}
