// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory: 4 KiB pages, scattered over the 64-bit bus address space when asked for one by one.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use verbena_verbs::{DmaError, DmaMemory, PAGE_BYTES};

type Page = Box<[u8; PAGE_BYTES as usize]>;

/// Contiguous allocations grow from here.
const CONTIGUOUS_BASE: u64 = 0x1_0000_0000;
/// Single pages are scattered in the 16 TiB from here.
const SCATTER_BASE: u64 = 0x1000_0000_0000;
const SCATTER_PAGES: u64 = 1 << 32;

/// Memory by bus address; what was never allocated doesn't exist.
pub struct HostMemory {
    pages: HashMap<u64, Page>,
    next: u64,
    /// Above this nothing is allocated (a small on-chip memory); 0: no limit.
    limit: u64,
    rng: ChaCha8Rng,
}

impl HostMemory {
    pub fn new(seed: u64) -> HostMemory {
        HostMemory {
            pages: HashMap::new(),
            next: CONTIGUOUS_BASE,
            limit: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// A small memory from 0 to `2^address_bits`; what is freed is used again.
    pub fn small(seed: u64, address_bits: usize) -> HostMemory {
        HostMemory {
            limit: 1 << address_bits,
            ..HostMemory::new(seed)
        }
    }

    /// Free pages for `count`, with a hole on either side, so that running over an end is seen.
    fn vacancy(&self, count: u64, align: u64) -> Option<u64> {
        let vacant = |base: &u64| (base / PAGE_BYTES - 1..=base / PAGE_BYTES + count).all(|page| !self.pages.contains_key(&page));
        (1..self.limit / align)
            .map(|n| n * align)
            .take_while(|base| base + count * PAGE_BYTES <= self.limit)
            .find(vacant)
    }

    pub fn contains(&self, address: u64) -> bool {
        self.pages.contains_key(&(address / PAGE_BYTES))
    }

    /// Reads up to 8 bytes inside a page as a little-endian beat; `None` where nothing is allocated.
    pub fn load_beat(&self, address: u64, bytes: usize) -> Option<u64> {
        let page = self.pages.get(&(address / PAGE_BYTES))?;
        let offset = (address % PAGE_BYTES) as usize;
        let mut beat = [0; 8];
        beat[..bytes].copy_from_slice(page.get(offset..offset + bytes)?);
        Some(u64::from_le_bytes(beat))
    }

    /// Writes the bytes of a beat whose strobe is set; false where nothing is allocated.
    pub fn store_beat(&mut self, address: u64, data: u64, strobe: u8) -> bool {
        let Some(page) = self.pages.get_mut(&(address / PAGE_BYTES)) else {
            return false;
        };
        let offset = (address % PAGE_BYTES) as usize;
        for (i, byte) in data.to_le_bytes().iter().enumerate() {
            if strobe >> i & 1 == 1 {
                if let Some(slot) = page.get_mut(offset + i) {
                    *slot = *byte;
                }
            }
        }
        true
    }

    /// A fingerprint of every page, to see that nothing changed.
    pub fn snapshot(&self) -> HashMap<u64, Vec<u8>> {
        self.pages.iter().map(|(n, p)| (n * PAGE_BYTES, p.to_vec())).collect()
    }

    fn each_page(address: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            (done < bytes).then(|| {
                let at = address.wrapping_add(done as u64);
                let offset = (at % PAGE_BYTES) as usize;
                let part = (PAGE_BYTES as usize - offset).min(bytes - done);
                let range = done..done + part;
                done += part;
                (at / PAGE_BYTES, offset, range)
            })
        })
    }
}

impl DmaMemory for HostMemory {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        let out_of_memory = DmaError::OutOfMemory { bytes, align };
        if bytes == 0 || !align.is_power_of_two() {
            return Err(out_of_memory);
        }
        let count = bytes.div_ceil(PAGE_BYTES);
        let align = align.max(PAGE_BYTES);
        let base = if self.limit == 0 {
            self.next.checked_next_multiple_of(align)
        } else {
            self.vacancy(count, align)
        };
        let base = base.ok_or(out_of_memory)?;
        let end = base + count * PAGE_BYTES;
        for page in base / PAGE_BYTES..base / PAGE_BYTES + count {
            self.pages.insert(page, Box::new([0; PAGE_BYTES as usize]));
        }
        // A hole of a page, so that running over the end is seen.
        self.next = end + PAGE_BYTES;
        Ok(base)
    }

    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        for page in address / PAGE_BYTES..(address + bytes).div_ceil(PAGE_BYTES) {
            self.pages.remove(&page).ok_or(DmaError::Unmapped { address, bytes })?;
        }
        Ok(())
    }

    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        let unmapped = DmaError::Unmapped {
            address,
            bytes: data.len() as u64,
        };
        for (page, offset, range) in Self::each_page(address, data.len()) {
            let length = range.len();
            data[range].copy_from_slice(&self.pages.get(&page).ok_or(unmapped.clone())?[offset..offset + length]);
        }
        Ok(())
    }

    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        let unmapped = DmaError::Unmapped {
            address,
            bytes: data.len() as u64,
        };
        for (page, offset, range) in Self::each_page(address, data.len()) {
            let length = range.len();
            self.pages.get_mut(&page).ok_or(unmapped.clone())?[offset..offset + length].copy_from_slice(&data[range]);
        }
        Ok(())
    }

    fn allocate_page(&mut self) -> Result<u64, DmaError> {
        if self.limit != 0 {
            return self.allocate(PAGE_BYTES, PAGE_BYTES);
        }
        loop {
            let page = SCATTER_BASE / PAGE_BYTES + self.rng.gen_range(0..SCATTER_PAGES);
            if let std::collections::hash_map::Entry::Vacant(entry) = self.pages.entry(page) {
                entry.insert(Box::new([0; PAGE_BYTES as usize]));
                return Ok(page * PAGE_BYTES);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_memory_is_used_again() {
        let mut memory = HostMemory::small(1, 16);
        let mut first = vec![];
        while let Ok(base) = memory.allocate(8192, 8192) {
            assert!(base >= PAGE_BYTES && base + 8192 <= 1 << 16);
            first.push(base);
        }
        assert!(first.len() >= 3, "{first:x?}");
        assert!(memory.allocate_page().map_or(true, |page| page < 1 << 16));
        memory.free(first[1], 8192).unwrap();
        assert_eq!(memory.allocate(8192, 8192), Ok(first[1]));
    }

    #[test]
    fn pages_hold_what_is_stored_and_nothing_else_exists() {
        let mut memory = HostMemory::new(1);
        let base = memory.allocate(8192, 8192).unwrap();
        assert_eq!(base % 8192, 0);
        memory.store(base + 4090, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        let mut data = [0; 4];
        memory.load(base + 4094, &mut data).unwrap();
        assert_eq!(data, [5, 6, 7, 8]);
        assert!(memory.store_beat(base, 0x1122_3344_5566_7788, 0b0110_0000));
        assert_eq!(memory.load_beat(base, 8), Some(0x0022_3300_0000_0000));
        assert_eq!(memory.load_beat(base + 8192, 8), None);
        assert!(memory.store(base + 8190, &[0; 4]).is_err());
        let (a, b) = (memory.allocate_page().unwrap(), memory.allocate_page().unwrap());
        assert_ne!(a.abs_diff(b), PAGE_BYTES);
        memory.free(base, 8192).unwrap();
        assert!(memory.load(base, &mut data).is_err());
    }
}
