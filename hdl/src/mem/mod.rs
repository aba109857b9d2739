// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: keys, translation, DMA.

mod atomic_unit;
mod burst_tracker;
mod carry_add;
mod descriptor_reader;
mod dma_writer;
mod job;
mod job_splitter;
mod keys;
mod mtt;
mod read_job;
mod realigner;
mod write_arbiter;

pub use atomic_unit::AtomicUnit;
pub use burst_tracker::BurstTracker;
pub use carry_add::CarryAdd;
pub use descriptor_reader::DescriptorReader;
pub use dma_writer::DmaWriter;
pub use job::WriteJob;
pub use job_splitter::JobSplitter;
pub use keys::Keys;
pub use mtt::Mtt;
pub use read_job::ReadJob;
pub use realigner::Realigner;
pub use write_arbiter::WriteArbiter;
