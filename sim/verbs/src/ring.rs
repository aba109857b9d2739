// SPDX-License-Identifier: MIT OR Apache-2.0
//! A power-of-two ring in DMA memory with 16-bit absolute indices.

use crate::{Capabilities, DmaError, DmaMemory, Error};

/// Most entries that a row's `log` field takes.
pub(crate) const MOST_ENTRIES: usize = 1 << 15;

#[derive(Debug, Clone)]
pub(crate) struct Ring {
    pub base: u64,
    pub log: u32,
    pub entry_bytes: usize,
}

impl Ring {
    /// A ring of at least `entries`, `most` at most, aligned to its size, zeroed, where the engine's bus addresses reach it.
    pub fn allocate(
        memory: &mut impl DmaMemory,
        capabilities: &Capabilities,
        what: &'static str,
        entries: usize,
        most: usize,
        entry_bytes: usize,
    ) -> Result<Ring, Error> {
        if entries == 0 || entries > most {
            return Err(Error::OutOfRange {
                what,
                value: entries as u64,
                want: format!("1 to {most} entries"),
            });
        }
        let log = entries.next_power_of_two().trailing_zeros();
        let ring = Ring { base: 0, log, entry_bytes };
        // Nothing smaller than a page (where memory is dealt out by pages), so that two rings never share one.
        let bytes = ring.bytes().max(memory.granule());
        let base = memory.allocate(bytes, bytes)?;
        if let Err(error) = capabilities.check_address(base, bytes) {
            memory.free(base, bytes)?;
            return Err(error);
        }
        Ok(Ring { base, ..ring })
    }

    pub fn free(&self, memory: &mut impl DmaMemory) -> Result<(), DmaError> {
        memory.free(self.base, self.bytes().max(memory.granule()))
    }

    pub fn entries(&self) -> usize {
        1 << self.log
    }

    fn bytes(&self) -> u64 {
        (self.entries() * self.entry_bytes) as u64
    }

    pub fn address(&self, index: u16) -> u64 {
        self.base + ((index as usize & (self.entries() - 1)) * self.entry_bytes) as u64
    }

    /// Phase bit that the engine writes at that absolute index: 1 on the first round, then alternating.
    pub fn phase(&self, index: u16) -> u32 {
        ((index as u32 >> self.log) & 1) ^ 1
    }

    /// Reads an entry as words.
    pub fn load<const N: usize>(&self, memory: &mut impl DmaMemory, index: u16) -> Result<[u32; N], DmaError> {
        let mut bytes = vec![0u8; 4 * N];
        memory.load(self.address(index), &mut bytes)?;
        Ok(std::array::from_fn(|i| {
            u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
        }))
    }

    pub fn store(&self, memory: &mut impl DmaMemory, index: u16, words: &[u32]) -> Result<(), DmaError> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        memory.store(self.address(index), &bytes)
    }

    /// The entry at `index` if the engine has written it: the word with the phase is read first, the rest after it, so that a
    /// half-written entry is never taken.
    pub fn poll<const N: usize>(
        &self,
        memory: &mut impl DmaMemory,
        index: u16,
        phase: &verbena_spec::layout::Field,
    ) -> Result<Option<[u32; N]>, DmaError> {
        let mut last = [0u8; 4];
        memory.load(self.address(index) + 4 * phase.word as u64, &mut last)?;
        if (u32::from_le_bytes(last) >> phase.low) & phase.max() != self.phase(index) {
            return Ok(None);
        }
        self.load(memory, index).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_alternates_by_round_even_across_the_index_wrap() {
        let ring = Ring {
            base: 0,
            log: 2,
            entry_bytes: 32,
        };
        assert_eq!((ring.phase(0), ring.phase(3), ring.phase(4), ring.phase(8)), (1, 1, 0, 1));
        assert_eq!((ring.phase(0xffff), ring.phase(0)), (0, 1));
        assert_eq!(ring.address(5), 32);
    }
}
