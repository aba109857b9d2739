// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: opening, identity, capabilities, addresses, commands. Its objects are in `mr`, `cq`, `qp`, `event`.

use crate::cq::CqState;
use crate::mr::MrState;
use crate::qp::QpSlot;
use crate::ring::Ring;
use crate::slots::{Ranges, Slots};
use crate::{Bus, DmaMemory, Error, Gid, Mac, Region, PAGE_BYTES};
use std::collections::BTreeSet;
use verbena_spec::{layout, registers};

/// Major and minor version that this library speaks.
const VERSION: (u8, u8) = (0, 1);
/// STATUS bit 0.
const STATUS_READY: u32 = 1;
/// STATUS bit 2.
const STATUS_DRAINING: u32 = 1 << 2;
/// CONTROL bits.
const CONTROL_ENABLE: u32 = 1;
const CONTROL_ICRC_OFF: u32 = 1 << 1;
const CONTROL_RESET: u32 = 1 << 2;
const CONTROL_IRQ: u32 = 1 << 3;
/// COMMAND_STATUS bits.
const COMMAND_BUSY: u32 = 1;
const COMMAND_REFUSED: u32 = 1 << 1;
/// Where virtual addresses handed out by [`Device::alloc_region`] begin: above 32 bits, so that a lost upper half shows.
const FIRST_VA: u64 = 0x7f00_0000_0000;

/// How to open a device.
#[derive(Debug, Clone)]
pub struct OpenAttr {
    pub mac: Mac,
    /// Our GIDs, entry 0 first.
    pub gids: Vec<Gid>,
    /// Entries of the event ring, rounded up to a power of two.
    pub event_entries: usize,
    /// Soft reset first, so that no QP of a former user is left (register CONTROL, bit 2).
    pub reset: bool,
    /// How often a status is polled before giving up.
    pub polls: u32,
    /// Raise `irq` while events wait.
    pub interrupts: bool,
    /// Don't check the ICRC of what arrives (debug only, R12).
    pub icrc_off: bool,
}

impl OpenAttr {
    /// One GID, 256 events, a reset first, interrupts on.
    pub fn new(mac: Mac, gid: Gid) -> OpenAttr {
        OpenAttr {
            mac,
            gids: vec![gid],
            event_entries: 128,
            reset: true,
            polls: 200_000,
            interrupts: true,
            icrc_off: false,
        }
    }
}

/// What the engine was built with (register CAPABILITIES; `ibv_query_device`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Queue pairs, indices 0 (unused) and 1 (QP1) included; completion queues as many.
    pub qps: usize,
    pub mrs: usize,
    /// Translation table entries, one a page; 0: regions are contiguous.
    pub mtt_entries: usize,
    /// Largest path MTU, bytes.
    pub max_pmtu: usize,
    pub ipv6: bool,
    pub uc: bool,
    pub ud: bool,
    /// Can send requests.
    pub requester: bool,
    /// READ, both ways.
    pub read_atomic: bool,
    /// ATOMIC too.
    pub atomic: bool,
    /// READs and ATOMICs that a peer may have outstanding on one QP, and on all together (register READ_LIMITS).
    pub read_depth: usize,
    pub read_resources: usize,
    /// Early packets are held (R42); `nak_distance` and `nak_delay` can be set.
    pub reorder: bool,
    /// The requester can send one packet again alone.
    pub selective_repeat: bool,
    /// Congestion control ([`Device::set_congestion`]): CNPs can be sent for marked packets, and can slow requests.
    pub congestion_notification: bool,
    pub congestion_reaction: bool,
    /// Most entries of a completion or event ring.
    pub ring_entries: usize,
    /// Bits of a bus address: all memory handed to the engine lies below 2^address_bits.
    pub address_bits: u32,
}

impl Capabilities {
    fn parse(word: u32, reads: u32) -> Capabilities {
        let log = |low: u32| (word >> low) & 0xf;
        let flag = |bit: u32| word >> bit & 1 == 1;
        Capabilities {
            qps: 1 << log(0),
            mrs: 1 << log(4),
            mtt_entries: if log(8) == 0 { 0 } else { 1 << log(8) },
            max_pmtu: 128 << ((word >> 12) & 7),
            ipv6: flag(15),
            uc: flag(16),
            ud: flag(17),
            requester: flag(18),
            read_atomic: flag(19),
            atomic: flag(19) && reads >> 5 & 1 == 1,
            read_depth: (reads & 0x1f) as usize,
            read_resources: (reads >> 16) as usize,
            reorder: flag(20),
            selective_repeat: flag(18) && reads >> 6 & 1 == 1,
            congestion_notification: reads >> 7 & 1 == 1,
            congestion_reaction: flag(18) && reads >> 8 & 1 == 1,
            ring_entries: 1 << log(21),
            address_bits: word >> 25,
        }
    }

    /// Refuses memory that the engine's bus addresses don't reach.
    pub(crate) fn check_address(&self, address: u64, bytes: u64) -> Result<(), Error> {
        let last = address.checked_add(bytes.saturating_sub(1));
        if last.is_some_and(|last| self.address_bits >= 64 || last >> self.address_bits == 0) {
            return Ok(());
        }
        Err(Error::AddressBeyond {
            address,
            bytes,
            bits: self.address_bits,
        })
    }
}

/// An open HCA. Owns its platform; drop it, or take the platform back with [`Device::close`].
pub struct Device<P> {
    pub(crate) platform: P,
    pub(crate) capabilities: Capabilities,
    pub(crate) gids: Vec<Gid>,
    pub(crate) pds: Slots<()>,
    pub(crate) mrs: Slots<MrState>,
    /// Tag of each MR index's latest key.
    pub(crate) key_tags: Vec<u8>,
    pub(crate) mtt: Ranges,
    /// Responder resources.
    pub(crate) resources: Ranges,
    pub(crate) cqs: Slots<CqState>,
    pub(crate) qps: Slots<QpSlot>,
    /// Tag of each QP index's latest QPN.
    pub(crate) qpn_tags: Vec<u16>,
    pub(crate) events: Ring,
    pub(crate) event_consumer: u16,
    polls: u32,
    control: u32,
    next_va: u64,
    /// Regions (by address) whose pages were allocated at once, as one block.
    blocks: BTreeSet<u64>,
}

impl<P: Bus + DmaMemory> Device<P> {
    /// Finds the engine, checks its version, waits until its tables are cleared, sets its addresses and event queue, enables it.
    pub fn open(mut platform: P, attr: &OpenAttr) -> Result<Device<P>, Error> {
        let want = registers::REGISTERS
            .iter()
            .find(|r| r.address == registers::ID)
            .map_or(0, |r| r.reset);
        let found = platform.read(registers::ID)?;
        if found != want {
            return Err(Error::NoEngine { found, want });
        }
        let version = platform.read(registers::VERSION)?;
        let (major, minor) = ((version >> 16) as u8, (version >> 8) as u8);
        if (major, minor) != VERSION {
            return Err(Error::Version {
                major,
                minor,
                want: VERSION.0,
            });
        }
        if attr.reset {
            wait(&mut platform, attr.polls, "ready", registers::STATUS, STATUS_READY, STATUS_READY)?;
            platform.write(registers::CONTROL, CONTROL_RESET)?;
            wait(&mut platform, attr.polls, "drained", registers::STATUS, STATUS_DRAINING, 0)?;
            platform.write(registers::CONTROL, 0)?;
        }
        wait(&mut platform, attr.polls, "ready", registers::STATUS, STATUS_READY, STATUS_READY)?;
        let capabilities = Capabilities::parse(platform.read(registers::CAPABILITIES)?, platform.read(registers::READ_LIMITS)?);
        let events = Ring::allocate(
            &mut platform,
            &capabilities,
            "event_entries",
            attr.event_entries,
            capabilities.ring_entries,
            layout::EVENT_BYTES,
        )?;
        let control = CONTROL_ENABLE | if attr.interrupts { CONTROL_IRQ } else { 0 } | if attr.icrc_off { CONTROL_ICRC_OFF } else { 0 };
        let mut device = Device {
            platform,
            capabilities,
            gids: Vec::new(),
            pds: Slots::new("protection domain", 1, 1 << 16),
            mrs: Slots::new("memory region", 0, capabilities.mrs),
            key_tags: vec![0; capabilities.mrs],
            mtt: Ranges::new(capabilities.mtt_entries),
            resources: Ranges::new(capabilities.read_resources),
            cqs: Slots::new("completion queue", 0, capabilities.qps),
            qps: Slots::new("queue pair", 2, capabilities.qps),
            qpn_tags: vec![0; capabilities.qps],
            events,
            event_consumer: 0,
            polls: attr.polls,
            control,
            next_va: FIRST_VA,
            blocks: BTreeSet::new(),
        };
        device.set_addresses(attr.mac, &attr.gids)?;
        device.start_events()?;
        device.platform.write(registers::CONTROL, control)?;
        Ok(device)
    }

    /// Sets our MAC and GIDs; while QPs are up this loses their packets (R19).
    pub fn set_addresses(&mut self, mac: Mac, gids: &[Gid]) -> Result<(), Error> {
        if gids.len() > 4 {
            return Err(Error::OutOfRange {
                what: "GIDs",
                value: gids.len() as u64,
                want: "up to 4".into(),
            });
        }
        if gids.iter().any(Gid::is_ipv6) && !self.capabilities.ipv6 {
            return Err(Error::Unsupported("IPv6"));
        }
        let bus = &mut self.platform;
        bus.write(registers::GID_VALID, 0)?;
        bus.write(registers::MAC_LOW, u32::from_be_bytes([mac[2], mac[3], mac[4], mac[5]]))?;
        bus.write(registers::MAC_HIGH, u32::from_be_bytes([0, 0, mac[0], mac[1]]))?;
        let mut valid = 0;
        for (i, gid) in gids.iter().enumerate() {
            for (j, word) in gid.words().iter().enumerate() {
                bus.write(registers::GID0_0 + 16 * i as u32 + 4 * j as u32, *word)?;
            }
            valid |= 1 << i | (gid.is_ipv6() as u32) << (4 + i);
        }
        bus.write(registers::GID_VALID, valid)?;
        self.gids = gids.to_vec();
        Ok(())
    }

    /// What the engine can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The bus and memory, to run a simulation or reach memory directly.
    pub fn platform(&mut self) -> &mut P {
        &mut self.platform
    }

    /// Disables the engine and gives the platform back.
    pub fn close(mut self) -> Result<P, Error> {
        self.platform.write(registers::CONTROL, 0)?;
        self.platform.write(registers::EQ_CONTROL, 0)?;
        Ok(self.platform)
    }

    /// Stops or lets in RoCE frames (CONTROL bit 0).
    pub fn set_enabled(&mut self, on: bool) -> Result<(), Error> {
        self.control = self.control & !CONTROL_ENABLE | if on { CONTROL_ENABLE } else { 0 };
        Ok(self.platform.write(registers::CONTROL, self.control)?)
    }

    /// One counter, by its code in `verbena_spec::counters`; 32 bits, wrapping.
    pub fn counter(&mut self, code: u8) -> Result<u32, Error> {
        Ok(self.platform.read(registers::COUNTERS + 4 * code as u32)?)
    }

    /// All counters of the table, in its order.
    pub fn counters(&mut self) -> Result<Vec<(&'static str, u32)>, Error> {
        verbena_spec::counters::COUNTERS
            .iter()
            .map(|c| Ok((c.name, self.counter(c.code)?)))
            .collect()
    }

    /// Virtual memory of `bytes`, zeroed: pages as the platform gives them where the engine can translate, contiguous ones where not.
    pub fn alloc_region(&mut self, bytes: u64) -> Result<Region, Error> {
        if self.capabilities.mtt_entries == 0 {
            return self.alloc_contiguous(bytes);
        }
        let count = pages(bytes)?;
        let pages: Result<Vec<u64>, _> = (0..count).map(|_| self.platform.allocate_page()).collect();
        Ok(self.region(bytes, pages?))
    }

    /// Virtual memory of `bytes`, zeroed, on adjacent pages.
    pub fn alloc_contiguous(&mut self, bytes: u64) -> Result<Region, Error> {
        let count = pages(bytes)?;
        let granule = self.platform.granule();
        let base = self.platform.allocate(bytes.next_multiple_of(granule), granule)?;
        let region = self.region(bytes, (0..count).map(|i| base + i * PAGE_BYTES).collect());
        self.blocks.insert(region.va);
        Ok(region)
    }

    /// Gives a region's memory back. Its memory regions are deregistered and the QPs that could reach them destroyed first: whatever the
    /// engine still writes there would hit the memory's next user.
    pub fn free_region(&mut self, region: Region) -> Result<(), Error> {
        match region.pages.first() {
            Some(first) if self.blocks.remove(&region.va) => {
                let bytes = region.length.next_multiple_of(self.platform.granule());
                self.platform.free(*first, bytes)?;
            }
            _ => region.pages.iter().try_for_each(|page| self.platform.free(*page, PAGE_BYTES))?,
        }
        Ok(())
    }

    fn region(&mut self, length: u64, pages: Vec<u64>) -> Region {
        let va = self.next_va;
        // A hole of a page between regions: running over an end hits nothing.
        self.next_va += (pages.len() as u64 + 1) * PAGE_BYTES;
        Region { va, length, pages }
    }

    /// Writes a row's words from the last to the first, because word 0 holds the valid bit.
    pub(crate) fn write_row(&mut self, base: u32, row: &[u32]) -> Result<(), Error> {
        for (i, word) in row.iter().enumerate().rev() {
            self.platform.write(base + 4 * i as u32, *word)?;
        }
        Ok(())
    }

    /// Runs a command to its end (register COMMAND).
    pub(crate) fn command(&mut self, operation: u32, state: u32, index: u32) -> Result<(), Error> {
        self.platform.write(registers::COMMAND, operation << 28 | state << 12 | index)?;
        let status = wait(
            &mut self.platform,
            self.polls,
            "done with its command",
            registers::COMMAND_STATUS,
            COMMAND_BUSY,
            0,
        )?;
        if status & COMMAND_REFUSED != 0 {
            return Err(Error::CommandRefused { operation, index });
        }
        Ok(())
    }
}

fn pages(bytes: u64) -> Result<u64, Error> {
    if bytes == 0 || bytes > 1 << 40 {
        return Err(Error::OutOfRange {
            what: "region",
            value: bytes,
            want: "1 byte to 1 TiB".into(),
        });
    }
    Ok(bytes.div_ceil(PAGE_BYTES))
}

/// Polls until `register & mask == value`.
fn wait(bus: &mut impl Bus, polls: u32, what: &'static str, register: u32, mask: u32, value: u32) -> Result<u32, Error> {
    for _ in 0..polls {
        let found = bus.read(register)?;
        if found & mask == value {
            return Ok(found);
        }
    }
    Err(Error::NotReady { what, polls })
}
