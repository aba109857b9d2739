// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protection domains and memory regions (IBTA volume 1, 10.6).

use crate::slots::Key;
use crate::{Bus, Device, DmaMemory, Error, Region, PAGE_BYTES};
use std::ops::BitOr;
use verbena_spec::{layout, registers};

/// A protection domain: keys and QPs of different ones don't meet (R52).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pd(pub(crate) Key);

/// What may be done to a region, or by the peer of a QP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access(u32);

impl Access {
    pub const NONE: Access = Access(0);
    /// Receives may land here.
    pub const LOCAL_WRITE: Access = Access(1);
    pub const REMOTE_WRITE: Access = Access(2);
    pub const REMOTE_READ: Access = Access(4);
    pub const REMOTE_ATOMIC: Access = Access(8);
    /// A SEND with invalidate may end the key (R62).
    pub const MAY_INVALIDATE: Access = Access(16);

    /// True if all of `other` is allowed.
    pub fn contains(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Access {
    type Output = Access;
    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

/// Where a region's bytes are.
#[derive(Debug, Clone, Copy)]
pub enum Pages<'a> {
    /// Bus address of the first byte; the rest follows.
    Contiguous(u64),
    /// Bus address of each page, the one with the first byte first; translated by the MTT.
    Scattered(&'a [u64]),
}

/// What to register.
#[derive(Debug, Clone, Copy)]
pub struct MrAttr<'a> {
    /// First virtual address, any alignment.
    pub va: u64,
    /// Bytes, at least 1.
    pub length: u64,
    pub access: Access,
    pub pages: Pages<'a>,
    /// The key to give, instead of the next one: for replaying traffic that names it.
    pub key: Option<u32>,
}

/// A registered region. `key` is L_Key and R_Key alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mr {
    pub(crate) id: Key,
    pub key: u32,
    pub va: u64,
    pub length: u64,
}

/// A scatter element of a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sge {
    /// Virtual address.
    pub address: u64,
    /// Bytes.
    pub length: u32,
    pub lkey: u32,
}

impl Mr {
    /// The element of `length` bytes at `offset`.
    pub fn sge(&self, offset: u64, length: u32) -> Result<Sge, Error> {
        if offset.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(Error::OutOfRange {
                what: "SGE end",
                value: offset,
                want: format!("inside {} bytes", self.length),
            });
        }
        Ok(Sge {
            address: self.va + offset,
            length,
            lkey: self.key,
        })
    }
}

pub(crate) struct MrState {
    pd: Pd,
    mtt: Option<usize>,
}

impl<P: Bus + DmaMemory> Device<P> {
    /// A new protection domain.
    pub fn alloc_pd(&mut self) -> Result<Pd, Error> {
        let key = self.pds.vacancy()?;
        self.pds.fill(key, ());
        Ok(Pd(key))
    }

    /// Gives a protection domain back; nothing may use it any more.
    pub fn dealloc_pd(&mut self, pd: Pd) -> Result<(), Error> {
        self.pds.get(pd.0)?;
        if self.mrs.iter().any(|m| m.pd == pd) {
            return Err(Error::Busy {
                what: "the protection domain",
                by: "a memory region",
            });
        }
        if self.qps.iter().any(|q| q.pd == pd) {
            return Err(Error::Busy {
                what: "the protection domain",
                by: "a queue pair",
            });
        }
        self.pds.take(pd.0)
    }

    /// Registers a whole region, contiguous if its pages are, by the MTT if not.
    pub fn reg_mr(&mut self, pd: Pd, region: &Region, access: Access) -> Result<Mr, Error> {
        let first = *region.pages.first().ok_or(Error::OutOfRange {
            what: "pages",
            value: 0,
            want: "at least 1".into(),
        })?;
        let pages = if region.is_contiguous() {
            Pages::Contiguous(first)
        } else {
            Pages::Scattered(&region.pages)
        };
        self.reg_mr_attr(
            pd,
            &MrAttr {
                va: region.va,
                length: region.length,
                access,
                pages,
                key: None,
            },
        )
    }

    /// Registers any range. The key's tag differs from that of the index's former lives, so an old key is refused (R52).
    pub fn reg_mr_attr(&mut self, pd: Pd, attr: &MrAttr) -> Result<Mr, Error> {
        self.pds.get(pd.0)?;
        if attr.length == 0 || attr.va.checked_add(attr.length - 1).is_none() {
            return Err(Error::OutOfRange {
                what: "length",
                value: attr.length,
                want: "at least 1, not past the last address".into(),
            });
        }
        let id = match attr.key {
            None => self.mrs.vacancy()?,
            Some(key) => self.mrs.vacancy_at((key >> 8) as usize)?,
        };
        let mut row = [0; layout::MR_WORDS];
        let mtt = match attr.pages {
            Pages::Contiguous(address) => {
                self.capabilities.check_address(address, attr.length)?;
                layout::mr::ADDRESS_LOW.set(&mut row, address as u32);
                layout::mr::ADDRESS_HIGH.set(&mut row, (address >> 32) as u32);
                None
            }
            Pages::Scattered(pages) => {
                let first = self.write_mtt(attr, pages)?;
                layout::mr::PAGED.set(&mut row, 1);
                layout::mr::MTT.set(&mut row, first as u32);
                Some(first)
            }
        };
        let tag = attr.key.map_or(next_tag(self.key_tags[id.index as usize]), |key| key as u8);
        let allows = |access| attr.access.contains(access) as u32;
        layout::mr::KEY_TAG.set(&mut row, tag as u32);
        layout::mr::VALID.set(&mut row, 1);
        layout::mr::LOCAL_WRITE.set(&mut row, allows(Access::LOCAL_WRITE));
        layout::mr::REMOTE_WRITE.set(&mut row, allows(Access::REMOTE_WRITE));
        layout::mr::REMOTE_READ.set(&mut row, allows(Access::REMOTE_READ));
        layout::mr::REMOTE_ATOMIC.set(&mut row, allows(Access::REMOTE_ATOMIC));
        layout::mr::MAY_INVALIDATE.set(&mut row, allows(Access::MAY_INVALIDATE));
        layout::mr::PD.set(&mut row, pd.0.index);
        layout::mr::VA_LOW.set(&mut row, attr.va as u32);
        layout::mr::VA_HIGH.set(&mut row, (attr.va >> 32) as u32);
        layout::mr::LENGTH_LOW.set(&mut row, attr.length as u32);
        layout::mr::LENGTH_HIGH.set(&mut row, (attr.length >> 32) as u32);
        if let Err(error) = self.write_row(mr_row(id), &row) {
            mtt.iter().for_each(|m| self.mtt.free(*m));
            return Err(error);
        }
        self.key_tags[id.index as usize] = tag;
        self.mrs.fill(id, MrState { pd, mtt });
        Ok(Mr {
            id,
            key: id.index << 8 | tag as u32,
            va: attr.va,
            length: attr.length,
        })
    }

    /// Ends a region: its key is refused from here on. A packet whose key was checked before may still be landing; its memory is safe to
    /// reuse once no QP can be receiving into it (destroy them first).
    pub fn dereg_mr(&mut self, mr: Mr) -> Result<(), Error> {
        self.mrs.get(mr.id)?;
        self.platform.write(mr_row(mr.id), 0)?;
        let state = self.mrs.take(mr.id)?;
        state.mtt.iter().for_each(|m| self.mtt.free(*m));
        Ok(())
    }

    fn write_mtt(&mut self, attr: &MrAttr, pages: &[u64]) -> Result<usize, Error> {
        if self.capabilities.mtt_entries == 0 {
            return Err(Error::Unsupported("translation table: regions must be contiguous"));
        }
        let span = (attr.va % PAGE_BYTES).saturating_add(attr.length).div_ceil(PAGE_BYTES);
        if pages.len() as u64 != span {
            return Err(Error::OutOfRange {
                what: "pages",
                value: pages.len() as u64,
                want: format!("{span} for this range"),
            });
        }
        if let Some(page) = pages.iter().find(|p| **p % PAGE_BYTES != 0) {
            return Err(Error::OutOfRange {
                what: "page address",
                value: *page,
                want: "a multiple of 4096".into(),
            });
        }
        for page in pages {
            self.capabilities.check_address(*page, PAGE_BYTES)?;
        }
        let first = self.mtt.allocate(pages.len(), "MTT entries")?;
        for (i, page) in pages.iter().enumerate() {
            let entry = registers::MTT_TABLE + 4 * (layout::MTT_WORDS * (first + i)) as u32;
            let halves = [(layout::mtt::LOW, *page as u32), (layout::mtt::HIGH, (*page >> 32) as u32)];
            // The upper half commits the entry, so it comes last.
            for (field, value) in halves {
                if let Err(error) = self.platform.write(entry + 4 * field.word as u32, value) {
                    self.mtt.free(first);
                    return Err(error.into());
                }
            }
        }
        Ok(first)
    }
}

fn mr_row(id: Key) -> u32 {
    registers::MR_TABLE + 4 * layout::MR_WORDS as u32 * id.index
}

/// Tags go 1 to 255 and round again: 0 is never used, so that no key is 0.
fn next_tag(tag: u8) -> u8 {
    tag.checked_add(1).unwrap_or(1)
}
