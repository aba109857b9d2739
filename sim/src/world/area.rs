// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registered memory that is checked to the byte, what lies around it included.

use super::plan::Image;
use crate::hold;
use anyhow::Result;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use verbena_verbs::{Access, Bus, Device, DmaMemory, Mr, MrAttr, Pages, Pd, Region, Remote, Sge, PAGE_BYTES};

/// What lies around an area.
const FILL: u8 = 0xc3;
/// Between areas that share a region, bytes.
const GUARD: u64 = 64;

/// Bytes of a region with a key.
#[derive(Debug, Clone)]
pub struct Area {
    region: Region,
    mr: Mr,
    /// Virtual address of the first byte.
    va: u64,
}

impl Area {
    /// A region of its own, registered exactly, beginning anywhere in its first page (8-byte aligned for ATOMICs). At least one byte.
    pub fn own<P: Bus + DmaMemory>(device: &mut Device<P>, rng: &mut ChaCha8Rng, pd: Pd, length: usize, access: Access) -> Result<Area> {
        let length = length.max(1) as u64;
        let skew = 8 * rng.gen_range(0..PAGE_BYTES / 8);
        let region = device.alloc_region(skew + length + GUARD)?;
        let span = (skew + length).div_ceil(PAGE_BYTES) as usize;
        let va = region.va + skew;
        let fill = vec![FILL; region.length as usize];
        region.write(device.platform(), region.va, &fill)?;
        let pages = if region.is_contiguous() {
            Pages::Contiguous(region.pages[0] + skew)
        } else {
            Pages::Scattered(&region.pages[..span])
        };
        let attr = MrAttr {
            va,
            length,
            access,
            pages,
            key: None,
        };
        let mr = device.reg_mr_attr(pd, &attr)?;
        Ok(Area { region, mr, va })
    }

    /// Several in one region with one key, for engines that have few.
    pub fn shared<P: Bus + DmaMemory>(device: &mut Device<P>, pd: Pd, lengths: &[usize], access: Access) -> Result<Vec<Area>> {
        let mut places = vec![];
        let mut end = GUARD;
        for length in lengths {
            places.push(end);
            end = (end + *length as u64).next_multiple_of(8) + GUARD;
        }
        let region = device.alloc_region(end)?;
        let fill = vec![FILL; region.length as usize];
        region.write(device.platform(), region.va, &fill)?;
        let mr = device.reg_mr(pd, &region, access)?;
        let area = |at| Area {
            region: region.clone(),
            mr,
            va: region.va + at,
        };
        Ok(places.into_iter().map(area).collect())
    }

    pub fn key(&self) -> u32 {
        self.mr.key
    }

    pub fn sge(&self, offset: u64, length: u32) -> Result<Sge> {
        Ok(self.mr.sge(self.va + offset - self.mr.va, length)?)
    }

    pub fn remote(&self, offset: u64) -> Remote {
        Remote {
            address: self.va + offset,
            rkey: self.mr.key,
        }
    }

    pub fn write<P: Bus + DmaMemory>(&self, device: &mut Device<P>, bytes: &[u8]) -> Result<()> {
        Ok(self.region.write(device.platform(), self.va, bytes)?)
    }

    pub fn read<P: Bus + DmaMemory>(&self, device: &mut Device<P>, bytes: usize) -> Result<Vec<u8>> {
        Ok(self.region.read(device.platform(), self.va, bytes)?)
    }

    /// Nothing was ever written here.
    pub fn check_untouched<P: Bus + DmaMemory>(&self, device: &mut Device<P>, what: &str) -> Result<()> {
        let found = self.region.read(device.platform(), self.region.va, self.region.length as usize)?;
        hold!(found.iter().all(|b| *b == FILL), "{what}: memory was changed");
        Ok(())
    }

    /// Every byte, and those right beside the area.
    pub fn check<P: Bus + DmaMemory>(&self, device: &mut Device<P>, image: &Image, what: &str) -> Result<()> {
        let before = GUARD.min(self.va - self.region.va) as usize;
        let length = image.after.len();
        let found = self
            .region
            .read(device.platform(), self.va - before as u64, before + length + GUARD as usize)?;
        let untouched = found[..before].iter().chain(&found[before + length..]).all(|b| *b == FILL);
        hold!(untouched, "{what}: a byte beside the area was changed");
        for (at, (got, want)) in found[before..before + length].iter().zip(&image.after).enumerate() {
            hold!(
                got == want || image.open.iter().any(|open| open.contains(&at)),
                "{what}: byte {at} of {} is {got:#04x}, not {want:#04x}; before it was {:#04x}",
                image.after.len(),
                image.before[at]
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use verbena_verbs::golden::GoldenHca;
    use verbena_verbs::{Gid, OpenAttr};

    const LENGTH: usize = 5000;

    /// A byte that changes at `offset` of the area is caught, or not.
    fn caught(area: &Area, device: &mut Device<GoldenHca>, image: &Image, offset: i64) -> bool {
        area.write(device, &image.after).unwrap();
        area.check(device, image, "area").unwrap();
        let va = area.va.wrapping_add_signed(offset);
        let old = area.region.read(device.platform(), va, 1).unwrap();
        area.region.write(device.platform(), va, &[old[0] ^ 1]).unwrap();
        let caught = area.check(device, image, "area").is_err();
        area.region.write(device.platform(), va, &old).unwrap();
        caught
    }

    #[test]
    fn a_changed_byte_is_caught() {
        let attr = OpenAttr::new([2, 0, 0, 0, 0, 1], Gid::ipv4([10, 0, 0, 1]));
        let mut device = Device::open(GoldenHca::new(), &attr).unwrap();
        let pd = device.alloc_pd().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut areas = vec![Area::own(&mut device, &mut rng, pd, LENGTH, Access::LOCAL_WRITE).unwrap()];
        areas.extend(Area::shared(&mut device, pd, &[LENGTH, LENGTH, LENGTH], Access::LOCAL_WRITE).unwrap());
        let image = Image {
            before: vec![1; LENGTH],
            after: (0..LENGTH).map(|i| i as u8).collect(),
            open: std::iter::once(100..140).collect(),
        };
        for area in &areas {
            area.check_untouched(&mut device, "area").unwrap();
        }
        for area in &areas {
            let end = LENGTH as i64;
            for offset in [-1, -32, 0, 1, 99, 140, end - 1, end, end + 40] {
                assert!(caught(area, &mut device, &image, offset), "{offset}");
            }
            assert!(!caught(area, &mut device, &image, 120));
            assert!(area.check_untouched(&mut device, "area").is_err());
        }
    }
}
