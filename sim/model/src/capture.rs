// SPDX-License-Identifier: MIT OR Apache-2.0
//! pcap files, nanosecond stamps, Ethernet.

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// Why a capture could not be read or written.
#[derive(Debug, Error)]
pub enum CaptureError {
    #[error("{path}: {error}")]
    Io { path: String, error: std::io::Error },
    #[error("{path}: not a readable pcap: {error}")]
    Pcap { path: String, error: pcap_file::PcapError },
    #[error("{path}: link type {link:?}, want Ethernet")]
    Link { path: String, link: DataLink },
}

/// A frame and when it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub time: Duration,
    pub bytes: Vec<u8>,
}

/// All frames of a pcap.
pub fn read(path: &Path) -> Result<Vec<Frame>, CaptureError> {
    let name = || path.display().to_string();
    let file = File::open(path).map_err(|error| CaptureError::Io { path: name(), error })?;
    let bad = |error| CaptureError::Pcap { path: name(), error };
    let mut reader = PcapReader::new(BufReader::new(file)).map_err(bad)?;
    let link = reader.header().datalink;
    if link != DataLink::ETHERNET {
        return Err(CaptureError::Link { path: name(), link });
    }
    let mut frames = vec![];
    while let Some(packet) = reader.next_packet() {
        let packet = packet.map_err(bad)?;
        frames.push(Frame {
            time: packet.timestamp,
            bytes: packet.data.into_owned(),
        });
    }
    Ok(frames)
}

/// Writes frames to a pcap.
pub fn write(path: &Path, frames: &[Frame]) -> Result<(), CaptureError> {
    let name = || path.display().to_string();
    let file = File::create(path).map_err(|error| CaptureError::Io { path: name(), error })?;
    let bad = |error| CaptureError::Pcap { path: name(), error };
    let header = PcapHeader {
        ts_resolution: TsResolution::NanoSecond,
        datalink: DataLink::ETHERNET,
        ..Default::default()
    };
    let mut writer = PcapWriter::with_header(BufWriter::new(file), header).map_err(bad)?;
    for frame in frames {
        writer
            .write_packet(&PcapPacket::new(frame.time, frame.bytes.len() as u32, &frame.bytes))
            .map_err(bad)?;
    }
    Ok(())
}
