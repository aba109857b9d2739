// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of a live run as a pcap, written as they come, stamped with wall time.

use anyhow::{Context, Result};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) struct Tape {
    path: PathBuf,
    writer: PcapWriter<BufWriter<File>>,
}

impl Tape {
    pub fn create(path: &Path) -> Result<Tape> {
        let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        let header = PcapHeader {
            ts_resolution: TsResolution::NanoSecond,
            datalink: DataLink::ETHERNET,
            ..Default::default()
        };
        let writer = PcapWriter::with_header(BufWriter::new(file), header).with_context(|| format!("writing {}", path.display()))?;
        Ok(Tape { path: path.into(), writer })
    }

    pub fn add(&mut self, frame: &[u8]) -> Result<()> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.writer
            .write_packet(&PcapPacket::new(time, frame.len() as u32, frame))
            .with_context(|| format!("writing {}", self.path.display()))?;
        Ok(())
    }
}
