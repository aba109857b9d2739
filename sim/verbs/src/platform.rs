// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the library needs from the machine: a register bus and memory that the engine can reach.

use crate::{BusError, DmaError};

/// Bytes in a page of the engine's translation table.
pub const PAGE_BYTES: u64 = 4096;

/// The engine's AXI4-Lite registers; addresses are byte addresses of `verbena_spec::registers`, multiples of 4.
pub trait Bus {
    /// Reads a 32-bit register.
    fn read(&mut self, address: u32) -> Result<u32, BusError>;
    /// Writes a 32-bit register.
    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError>;
}

/// Memory that both the host and the engine see, by bus address.
pub trait DmaMemory {
    /// `bytes` of contiguous zeroed memory, aligned to `align` (a power of two); returns its bus address.
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError>;
    /// Gives back what [`DmaMemory::allocate`] returned.
    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError>;
    /// Reads by bus address, across pages if they are adjacent.
    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError>;
    /// Writes by bus address.
    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError>;

    /// Bytes that every allocation is rounded up to, a power of two from 64 to [`PAGE_BYTES`]: less than a page where the memory is small (on the chip).
    fn granule(&self) -> u64 {
        PAGE_BYTES
    }

    /// One page; scattered unless the platform happens to give adjacent ones.
    fn allocate_page(&mut self) -> Result<u64, DmaError> {
        self.allocate(PAGE_BYTES, PAGE_BYTES)
    }
}

/// Joins a bus and a memory that are two things (hardware) into the one platform that a device owns.
pub struct Split<B, M> {
    pub bus: B,
    pub memory: M,
}

impl<B: Bus, M> Bus for Split<B, M> {
    fn read(&mut self, address: u32) -> Result<u32, BusError> {
        self.bus.read(address)
    }
    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError> {
        self.bus.write(address, value)
    }
}

impl<B, M: DmaMemory> DmaMemory for Split<B, M> {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        self.memory.allocate(bytes, align)
    }
    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        self.memory.free(address, bytes)
    }
    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        self.memory.load(address, data)
    }
    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        self.memory.store(address, data)
    }
    fn granule(&self) -> u64 {
        self.memory.granule()
    }
    fn allocate_page(&mut self) -> Result<u64, DmaError> {
        self.memory.allocate_page()
    }
}

/// A range of virtual memory and the pages behind it. Virtual addresses are what goes into RETH and WQEs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// First virtual address, on a page boundary.
    pub va: u64,
    /// Bytes.
    pub length: u64,
    /// Bus address of each page, in order.
    pub pages: Vec<u64>,
}

impl Region {
    /// Bus address of the byte at `va`, and the bytes from there to the page's end.
    pub fn translate(&self, va: u64) -> Result<(u64, u64), DmaError> {
        let outside = DmaError::OutsideRegion { va, bytes: 1 };
        let offset = va.checked_sub(self.va).filter(|o| *o < self.length).ok_or(outside.clone())?;
        let page = self.pages.get((offset / PAGE_BYTES) as usize).ok_or(outside)?;
        Ok((page + offset % PAGE_BYTES, PAGE_BYTES - offset % PAGE_BYTES))
    }

    /// True if the pages follow one another on the bus, so that no translation table is needed.
    pub fn is_contiguous(&self) -> bool {
        self.pages.windows(2).all(|pair| pair[0].checked_add(PAGE_BYTES) == Some(pair[1]))
    }

    fn check(&self, va: u64, bytes: usize) -> Result<(), DmaError> {
        let fits = va
            .checked_sub(self.va)
            .and_then(|o| o.checked_add(bytes as u64))
            .is_some_and(|end| end <= self.length);
        if fits {
            Ok(())
        } else {
            Err(DmaError::OutsideRegion { va, bytes: bytes as u64 })
        }
    }

    /// Reads `bytes` at `va`.
    pub fn read(&self, memory: &mut impl DmaMemory, va: u64, bytes: usize) -> Result<Vec<u8>, DmaError> {
        self.check(va, bytes)?;
        let mut data = vec![0; bytes];
        let mut done = 0;
        while done < bytes {
            let (address, left) = self.translate(va + done as u64)?;
            let part = (bytes - done).min(left as usize);
            memory.load(address, &mut data[done..done + part])?;
            done += part;
        }
        Ok(data)
    }

    /// Writes `data` at `va`.
    pub fn write(&self, memory: &mut impl DmaMemory, va: u64, data: &[u8]) -> Result<(), DmaError> {
        self.check(va, data.len())?;
        let mut done = 0;
        while done < data.len() {
            let (address, left) = self.translate(va + done as u64)?;
            let part = (data.len() - done).min(left as usize);
            memory.store(address, &data[done..done + part])?;
            done += part;
        }
        Ok(())
    }
}
