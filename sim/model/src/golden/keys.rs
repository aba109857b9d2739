// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory regions: keys, access, translation (R52, R62, R67).

use crate::memory::{Memory, PAGE};

/// Access that a request needs or a region grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    pub local_write: bool,
    pub remote_write: bool,
    pub remote_read: bool,
    pub remote_atomic: bool,
}

impl Access {
    fn covers(&self, need: Access) -> bool {
        (self.local_write || !need.local_write)
            && (self.remote_write || !need.remote_write)
            && (self.remote_read || !need.remote_read)
            && (self.remote_atomic || !need.remote_atomic)
    }
}

/// A memory region.
#[derive(Debug, Clone)]
pub struct Region {
    /// L_Key and R_Key.
    pub key: u32,
    pub pd: u16,
    pub access: Access,
    pub may_invalidate: bool,
    pub virtual_address: u64,
    pub length: u64,
    /// Bus addresses of its pages; the first holds the first byte, at the same offset in the page.
    pub pages: Vec<u64>,
}

impl Region {
    /// The region `[va, va + length)` is inside, without wrapping.
    fn holds(&self, va: u64, length: u64) -> bool {
        va >= self.virtual_address && length <= self.length && va - self.virtual_address <= self.length - length
    }

    /// Reads through the page list; the range has been checked.
    pub fn read(&self, memory: &Memory, va: u64, length: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(length);
        while out.len() < length {
            let at = va.wrapping_add(out.len() as u64);
            let page = (at / PAGE - self.virtual_address / PAGE) as usize;
            let count = ((PAGE - at % PAGE) as usize).min(length - out.len());
            match self.pages.get(page) {
                Some(base) => out.extend(memory.read((base & !(PAGE - 1)) | (at % PAGE), count)),
                None => out.resize(out.len() + count, 0),
            }
        }
        out
    }

    /// Writes through the page list; the range has been checked.
    pub fn write(&self, memory: &mut Memory, va: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let at = va.wrapping_add(done as u64);
            let page = (at / PAGE - self.virtual_address / PAGE) as usize;
            let count = ((PAGE - at % PAGE) as usize).min(bytes.len() - done);
            if let Some(base) = self.pages.get(page) {
                memory.write((base & !(PAGE - 1)) | (at % PAGE), &bytes[done..done + count]);
            }
            done += count;
        }
    }
}

/// The regions.
#[derive(Debug, Clone, Default)]
pub struct Regions {
    regions: Vec<Region>,
}

impl Regions {
    /// Adds a region; one with the same index (the key's upper 24 bits) is replaced.
    pub fn register(&mut self, region: Region) {
        self.regions.retain(|r| r.key >> 8 != region.key >> 8);
        self.regions.push(region);
    }

    pub fn deregister(&mut self, key: u32) {
        self.regions.retain(|r| r.key != key);
    }

    /// Ends whatever has that table index.
    pub fn deregister_index(&mut self, index: u32) {
        self.regions.retain(|r| r.key >> 8 != index);
    }

    /// The region, if the key lives, belongs to the PD, grants the access and holds the range.
    pub fn check(&self, key: u32, pd: u16, need: Access, va: u64, length: u64) -> Option<&Region> {
        self.regions
            .iter()
            .find(|r| r.key == key && r.pd == pd && r.access.covers(need) && r.holds(va, length))
    }

    /// Ends a key by SEND with invalidate; false if it can't be.
    pub fn invalidate(&mut self, key: u32, pd: u16) -> bool {
        let before = self.regions.len();
        self.regions.retain(|r| !(r.key == key && r.pd == pd && r.may_invalidate));
        self.regions.len() < before
    }
}
