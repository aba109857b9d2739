// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every program needs before it can talk: protection domain, completion queue, registered memory.

use crate::host::Host;
use crate::Error;
use verbena_verbs::{Access, Bus, Cq, Device, DmaMemory, Mr, Pd, Qp, Region};

/// The objects of one program. `close` gives them back; QPs are destroyed first.
pub struct Endpoint {
    pub pd: Pd,
    pub cq: Cq,
    pub region: Region,
    pub mr: Mr,
    pub qps: Vec<Qp>,
}

impl Endpoint {
    /// `bytes` of memory, a CQ of at least `completions`.
    pub fn open<P: Bus + DmaMemory>(device: &mut Device<P>, bytes: u64, access: Access, completions: usize) -> Result<Endpoint, Error> {
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(completions)?;
        let region = device.alloc_region(bytes)?;
        let mr = device.reg_mr(pd, &region, access)?;
        Ok(Endpoint {
            pd,
            cq,
            region,
            mr,
            qps: Vec::new(),
        })
    }

    /// Bytes at an offset of the memory.
    pub fn read<H: Host>(&self, host: &mut H, offset: u64, bytes: usize) -> Result<Vec<u8>, Error> {
        Ok(self.region.read(host.device().platform(), self.region.va + offset, bytes)?)
    }

    /// Writes at an offset of the memory.
    pub fn write<H: Host>(&self, host: &mut H, offset: u64, data: &[u8]) -> Result<(), Error> {
        Ok(self.region.write(host.device().platform(), self.region.va + offset, data)?)
    }

    /// Gives everything back.
    pub fn close<H: Host>(self, host: &mut H) -> Result<(), Error> {
        let device = host.device();
        for qp in self.qps {
            device.destroy_qp(qp)?;
        }
        device.dereg_mr(self.mr)?;
        device.destroy_cq(self.cq)?;
        device.dealloc_pd(self.pd)?;
        Ok(device.free_region(self.region)?)
    }
}
