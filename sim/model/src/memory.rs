// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory: sparse 4 KiB pages by bus address. Reading what was never written gives zeros.

use std::collections::BTreeMap;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Sparse byte-addressed memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes bytes; the address wraps at 2^64.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let offset = (at % PAGE) as usize;
            let count = (PAGE as usize - offset).min(bytes.len() - done);
            let page = self.pages.entry(at / PAGE).or_insert_with(|| vec![0; PAGE as usize].into());
            page[offset..offset + count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
    }

    /// Reads `length` bytes.
    pub fn read(&self, address: u64, length: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(length);
        while out.len() < length {
            let at = address.wrapping_add(out.len() as u64);
            let offset = (at % PAGE) as usize;
            let count = (PAGE as usize - offset).min(length - out.len());
            match self.pages.get(&(at / PAGE)) {
                Some(page) => out.extend_from_slice(&page[offset..offset + count]),
                None => out.resize(out.len() + count, 0),
            }
        }
        out
    }

    /// Pages that hold anything but zeros, by page number.
    pub fn touched(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pages
            .iter()
            .filter(|(_, p)| p.iter().any(|&b| b != 0))
            .map(|(n, p)| (*n, p.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crosses_pages() {
        let mut memory = Memory::new();
        memory.write(4094, &[1, 2, 3, 4]);
        assert_eq!(memory.read(4093, 6), [0, 1, 2, 3, 4, 0]);
        assert_eq!(memory.touched().count(), 2);
    }
}
