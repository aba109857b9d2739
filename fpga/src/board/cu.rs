// SPDX-License-Identifier: MIT OR Apache-2.0
//! The board as a platform: its registers and its 4 KiB of memory over the link.

use super::line::Line;
use super::link::{Link, LinkError};
use super::pool::{Pool, PIECE};
use anyhow::{bail, Result};
use verbena_designs::BOARD_ID;
use verbena_verbs::{Bus, BusError, DmaError, DmaMemory};

/// Address bits of the spaces behind the link; the engine's registers begin at 0.
const MEMORY: u32 = 1 << 22;
const BOARD: u32 = 1 << 23;
/// Board registers.
const ID: u32 = BOARD;
const CONTROL: u32 = BOARD + 4;
/// Bytes of memory on the chip.
pub const MEMORY_BYTES: u64 = 4096;
/// Bits of CONTROL.
const LOOPBACK: u32 = 1;
const ERRORS: u32 = 0xf << 8;
const LINK: u32 = 1 << 16;
const EVENT: u32 = 1 << 17;

/// What went wrong since it was last asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Errors {
    /// A request by UART was broken.
    pub request: bool,
    /// Words were lost at the receive pins.
    pub overrun: bool,
    /// A frame was dropped at the transmit pins.
    pub dropped: bool,
    /// A broken frame was received.
    pub frame: bool,
}

/// What the board's control register says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Status {
    pub loopback: bool,
    pub link: bool,
    /// The event queue isn't empty.
    pub event: bool,
    pub errors: Errors,
}

/// The board.
pub struct CuBoard<L> {
    pub link: Link<L>,
    pool: Pool,
}

impl<L: Line> CuBoard<L> {
    /// Finds the board behind a line.
    pub fn open(line: L) -> Result<Self> {
        let mut link = Link::new(line)?;
        let id = link.read(ID)?;
        if u64::from(id) != BOARD_ID {
            bail!("the board's ID is {id:#010x}, not {BOARD_ID:#010x}: another bitstream, or another version; build and flash again");
        }
        Ok(CuBoard {
            link,
            pool: Pool::new(MEMORY_BYTES),
        })
    }

    /// Whether frames go round inside the part. Switch while nothing is on its way.
    pub fn set_loopback(&mut self, on: bool) -> Result<()> {
        Ok(self.link.write(CONTROL, if on { LOOPBACK } else { 0 })?)
    }

    /// Reads the board's state and clears its errors.
    pub fn status(&mut self) -> Result<Status> {
        let word = self.link.read(CONTROL)?;
        self.link.write(CONTROL, word & (LOOPBACK | ERRORS))?;
        let error = |bit: u32| word >> bit & 1 == 1;
        Ok(Status {
            loopback: word & LOOPBACK != 0,
            link: word & LINK != 0,
            event: word & EVENT != 0,
            errors: Errors {
                request: error(8),
                overrun: error(9),
                dropped: error(10),
                frame: error(11),
            },
        })
    }
}

fn bus(error: LinkError) -> BusError {
    match error {
        LinkError::Refused { address, .. } => BusError::Refused { address },
        LinkError::Decode { address } => BusError::Decode { address },
        other => BusError::Io(other.to_string()),
    }
}

fn dma(error: LinkError) -> DmaError {
    DmaError::Io(error.to_string())
}

impl<L: Line> Bus for CuBoard<L> {
    fn read(&mut self, address: u32) -> Result<u32, BusError> {
        if address >= MEMORY {
            return Err(BusError::Decode { address });
        }
        self.link.read(address).map_err(bus)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError> {
        if address >= MEMORY {
            return Err(BusError::Decode { address });
        }
        self.link.write(address, value).map_err(bus)
    }
}

impl<L: Line> DmaMemory for CuBoard<L> {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        let place = self.pool.allocate(bytes, align)?;
        for word in (place..place + bytes).step_by(4) {
            self.link.write(MEMORY + word as u32, 0).map_err(dma)?;
        }
        Ok(place)
    }

    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        self.pool.free(address, bytes)
    }

    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        self.pool.check(address, data.len() as u64)?;
        let mut done = 0;
        while done < data.len() {
            let at = address as usize + done;
            let word = self.link.read(MEMORY + (at & !3) as u32).map_err(dma)?.to_le_bytes();
            let part = (4 - at % 4).min(data.len() - done);
            data[done..done + part].copy_from_slice(&word[at % 4..at % 4 + part]);
            done += part;
        }
        Ok(())
    }

    /// Whole words are written at once, parts of a word by reading it first: what the engine writes into the same word meanwhile is lost.
    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        self.pool.check(address, data.len() as u64)?;
        let mut done = 0;
        while done < data.len() {
            let at = address as usize + done;
            let part = (4 - at % 4).min(data.len() - done);
            let place = MEMORY + (at & !3) as u32;
            let mut word = [0; 4];
            if part < 4 {
                word = self.link.read(place).map_err(dma)?.to_le_bytes();
            }
            word[at % 4..at % 4 + part].copy_from_slice(&data[done..done + part]);
            self.link.write(place, u32::from_le_bytes(word)).map_err(dma)?;
            done += part;
        }
        Ok(())
    }

    fn granule(&self) -> u64 {
        PIECE
    }
}
