// SPDX-License-Identifier: MIT OR Apache-2.0
//! A platform without an engine: registers that remember, memory, and a hand that plays the engine's part.

use crate::{Bus, BusError, DmaError, DmaMemory};
use std::collections::BTreeMap;
use verbena_spec::layout::{self, Field};
use verbena_spec::registers;

pub struct Mock {
    pub registers: BTreeMap<u32, u32>,
    /// Every write, in order.
    pub writes: Vec<(u32, u32)>,
    memory: BTreeMap<u64, Vec<u8>>,
    pub next: u64,
    /// Polls that STATUS stays unready.
    pub unready: u32,
    pub refuse_commands: bool,
    pub fail_writes_from: Option<usize>,
    /// State of each QP index, as commands set it.
    pub states: BTreeMap<u32, u32>,
}

pub const CAPABILITIES: u32 = 8 | 8 << 4 | 12 << 8 | 5 << 12 | 1 << 15 | 1 << 16 | 1 << 17 | 15 << 21 | 64 << 25;
pub const CU_CAPABILITIES: u32 = 2 | 2 << 4 | 2 << 12 | 7 << 21 | 20 << 25;

impl Mock {
    pub fn new(capabilities: u32) -> Mock {
        let mut registers: BTreeMap<u32, u32> = registers::REGISTERS.iter().map(|r| (r.address, r.reset)).collect();
        registers.insert(registers::CAPABILITIES, capabilities);
        Mock {
            registers,
            writes: Vec::new(),
            memory: BTreeMap::new(),
            next: if capabilities >> 25 > 32 { 0x1_0000_0000 } else { 0x1000 },
            unready: 3,
            refuse_commands: false,
            fail_writes_from: None,
            states: BTreeMap::new(),
        }
    }

    pub fn row(&self, base: u32, words: usize) -> Vec<u32> {
        (0..words as u32)
            .map(|i| self.registers.get(&(base + 4 * i)).copied().unwrap_or(0))
            .collect()
    }

    /// The last value written to an address.
    pub fn last(&self, address: u32) -> Option<u32> {
        self.writes.iter().rev().find(|w| w.0 == address).map(|w| w.1)
    }

    /// Plays the engine: writes an entry of 32-bit words at a ring's base + offset.
    pub fn put(&mut self, address: u64, words: usize, fields: &[(Field, u32)]) {
        let mut row = vec![0; words];
        fields.iter().for_each(|(f, v)| f.set(&mut row, *v));
        let bytes: Vec<u8> = row.iter().flat_map(|w: &u32| w.to_le_bytes()).collect();
        self.store(address, &bytes).unwrap();
    }

    pub fn cq_base(&self, index: u32) -> u64 {
        let row = self.row(registers::CQ_TABLE + 16 * index, layout::CQ_WORDS);
        layout::cq::BASE_LOW.get(&row) as u64 | (layout::cq::BASE_HIGH.get(&row) as u64) << 32
    }

    pub fn qp_row(&self, index: u32) -> Vec<u32> {
        self.row(registers::QP_TABLE + 128 * index, layout::QP_WORDS)
    }

    pub fn allocations(&self) -> usize {
        self.memory.len()
    }
}

impl Bus for Mock {
    fn read(&mut self, address: u32) -> Result<u32, BusError> {
        match address {
            registers::STATUS => {
                self.unready = self.unready.saturating_sub(1);
                Ok((self.unready == 0) as u32)
            }
            registers::COMMAND_STATUS => Ok((self.refuse_commands as u32) << 1),
            _ => self.registers.get(&address).copied().ok_or(BusError::Refused { address }),
        }
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError> {
        if self.fail_writes_from.is_some_and(|n| self.writes.len() >= n) {
            return Err(BusError::Refused { address });
        }
        self.writes.push((address, value));
        self.registers.insert(address, value);
        if address == registers::COMMAND {
            let index = value & 0xfff;
            if value >> 28 == 1 {
                self.states.insert(index, value >> 12 & 0xf);
            }
            self.registers
                .insert(registers::RESULT_0, self.states.get(&index).copied().unwrap_or(0) | 0xabcdef << 8);
            self.registers.insert(registers::RESULT_1, 7);
            self.registers.insert(registers::RESULT_2, 3);
        }
        Ok(())
    }
}

impl DmaMemory for Mock {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        let base = self.next.next_multiple_of(align);
        // A gap after each, so that pages come scattered.
        self.next = base + bytes + 4096;
        self.memory.insert(base, vec![0; bytes as usize]);
        Ok(base)
    }
    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        self.memory
            .remove(&address)
            .map(|_| ())
            .ok_or(DmaError::Unmapped { address, bytes })
    }
    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        let unmapped = DmaError::Unmapped {
            address,
            bytes: data.len() as u64,
        };
        let (base, block) = self.memory.range(..=address).next_back().ok_or(unmapped.clone())?;
        let offset = (address - base) as usize;
        data.copy_from_slice(block.get(offset..offset + data.len()).ok_or(unmapped)?);
        Ok(())
    }
    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        let unmapped = DmaError::Unmapped {
            address,
            bytes: data.len() as u64,
        };
        let (base, block) = self.memory.range_mut(..=address).next_back().ok_or(unmapped.clone())?;
        let offset = (address - base) as usize;
        block.get_mut(offset..offset + data.len()).ok_or(unmapped)?.copy_from_slice(data);
        Ok(())
    }
}
