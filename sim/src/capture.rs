// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of a run as a pcap, stamped with simulated time.

use anyhow::{Context, Result};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A capture being written.
pub struct Capture {
    writer: PcapWriter<File>,
    path: PathBuf,
    clock_khz: u64,
    /// Frames wait here until they are in order of time.
    frames: Vec<(u64, Vec<u8>)>,
}

impl Capture {
    /// A nanosecond Ethernet pcap; time is cycles of a clock of `clock_khz`.
    pub fn create(path: &Path, clock_khz: u32) -> Result<Capture> {
        let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        let header = PcapHeader {
            version_major: 2,
            version_minor: 4,
            ts_correction: 0,
            ts_accuracy: 0,
            snaplen: 65535,
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
        };
        let writer = PcapWriter::with_header(file, header).with_context(|| format!("writing {}", path.display()))?;
        Ok(Capture {
            writer,
            path: path.into(),
            clock_khz: clock_khz as u64,
            frames: Vec::new(),
        })
    }

    pub fn add(&mut self, cycle: u64, frame: &[u8]) {
        self.frames.push((cycle, frame.to_vec()));
    }

    /// Writes everything, oldest first.
    pub fn finish(mut self) -> Result<PathBuf> {
        self.frames.sort_by_key(|f| f.0);
        for (cycle, frame) in &self.frames {
            let time = Duration::from_nanos(cycle * 1_000_000 / self.clock_khz);
            let packet = PcapPacket::new_owned(time, frame.len() as u32, frame.clone());
            self.writer
                .write_packet(&packet)
                .with_context(|| format!("writing {}", self.path.display()))?;
        }
        Ok(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcap::PcapReader;

    #[test]
    fn frames_come_back_in_order_of_time() {
        let path = std::env::temp_dir().join(format!("verbena-capture-{}.pcap", std::process::id()));
        let mut capture = Capture::create(&path, 156_250).unwrap();
        capture.add(2000, &[2; 60]);
        capture.add(1000, &[1; 60]);
        capture.finish().unwrap();
        let mut reader = PcapReader::new(File::open(&path).unwrap()).unwrap();
        let first = reader.next_packet().unwrap().unwrap();
        assert_eq!((first.timestamp, first.data[0]), (Duration::from_nanos(6400), 1));
        assert_eq!(reader.next_packet().unwrap().unwrap().data[0], 2);
        std::fs::remove_file(&path).unwrap();
    }
}
