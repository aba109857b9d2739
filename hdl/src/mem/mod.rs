// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: keys, translation, DMA.

mod atomic_unit;
mod burst_tracker;
mod carry_add;
mod descriptor_reader;
mod dma_reader;
mod dma_writer;
mod done_queue;
mod gatherer;
mod job;
mod job_queue;
mod job_splitter;
mod key_arbiter;
mod keys;
mod mtt;
mod mtt_share;
mod read_arbiter;
mod read_job;
mod read_splitter;
mod realigner;
mod write_arbiter;

pub use atomic_unit::AtomicUnit;
pub use burst_tracker::BurstTracker;
pub use carry_add::CarryAdd;
pub use descriptor_reader::DescriptorReader;
pub use dma_reader::{DmaReader, DmaReaderCu, DmaReaderTengig};
pub use dma_writer::DmaWriter;
pub use done_queue::DoneQueue;
pub use gatherer::Gatherer;
pub use job::WriteJob;
pub use job_queue::JobQueue;
pub use job_splitter::JobSplitter;
pub use key_arbiter::KeyArbiter;
pub use keys::Keys;
pub use mtt::Mtt;
pub use mtt_share::MttShare;
pub use read_arbiter::{read_id, ReadArbiter};
pub use read_job::ReadJob;
pub use read_splitter::ReadSplitter;
pub use realigner::Realigner;
pub use write_arbiter::WriteArbiter;
