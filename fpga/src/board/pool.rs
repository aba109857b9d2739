// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deals out a small memory in pieces of a fixed size.

use verbena_verbs::DmaError;

/// Bytes of a piece.
pub const PIECE: u64 = 64;

/// Which pieces of a memory from bus address 0 on are in use.
pub struct Pool {
    used: Vec<bool>,
}

impl Pool {
    pub fn new(bytes: u64) -> Pool {
        Pool {
            used: vec![false; (bytes / PIECE) as usize],
        }
    }

    fn range(address: u64, bytes: u64) -> std::ops::Range<usize> {
        (address / PIECE) as usize..(address.saturating_add(bytes)).div_ceil(PIECE) as usize
    }

    /// The first address, a multiple of `align`, with that many free bytes.
    pub fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        let align = align.max(PIECE);
        let end = self.used.len() as u64 * PIECE;
        let mut place = 0;
        while bytes <= end && place <= end - bytes {
            let pieces = &mut self.used[Self::range(place, bytes)];
            if !pieces.contains(&true) {
                pieces.fill(true);
                return Ok(place);
            }
            place += align;
        }
        Err(DmaError::OutOfMemory { bytes, align })
    }

    /// Gives it back; refused if a part of it isn't in use.
    pub fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        self.check(address, bytes)?;
        self.used[Self::range(address, bytes)].fill(false);
        Ok(())
    }

    /// Refuses what isn't in use.
    pub fn check(&self, address: u64, bytes: u64) -> Result<(), DmaError> {
        match self.used.get(Self::range(address, bytes)) {
            Some(pieces) if !pieces.contains(&false) => Ok(()),
            _ => Err(DmaError::Unmapped { address, bytes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_never_shared_and_used_again() {
        let mut pool = Pool::new(1024);
        assert_eq!(pool.allocate(1, 1).unwrap(), 0);
        assert_eq!(pool.allocate(256, 256).unwrap(), 256);
        assert_eq!(pool.allocate(128, 64).unwrap(), 64);
        assert!(matches!(pool.allocate(1024, 64), Err(DmaError::OutOfMemory { .. })));
        assert!(matches!(pool.allocate(u64::MAX, 64), Err(DmaError::OutOfMemory { .. })));
        pool.free(256, 256).unwrap();
        assert!(pool.free(256, 256).is_err());
        assert!(pool.check(1000, 100).is_err());
        assert!(pool.check(u64::MAX, 2).is_err());
        assert_eq!(pool.allocate(200, 64).unwrap(), 192);
    }
}
