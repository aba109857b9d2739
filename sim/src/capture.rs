// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of a run as a pcap, stamped with simulated time.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;
use verbena_model::capture::{write, Frame};

/// A capture being made.
pub struct Capture {
    path: PathBuf,
    clock_khz: u64,
    frames: Vec<Frame>,
}

impl Capture {
    /// Time is cycles of a clock of `clock_khz`. Fails at once if the file can't be written.
    pub fn create(path: &Path, clock_khz: u32) -> Result<Capture> {
        write(path, &[]).with_context(|| format!("creating {}", path.display()))?;
        Ok(Capture {
            path: path.into(),
            clock_khz: clock_khz as u64,
            frames: Vec::new(),
        })
    }

    pub fn add(&mut self, cycle: u64, frame: &[u8]) {
        let time = Duration::from_nanos(cycle * 1_000_000 / self.clock_khz);
        self.frames.push(Frame {
            time,
            bytes: frame.to_vec(),
        });
    }

    /// Writes everything, oldest first.
    pub fn finish(mut self) -> Result<PathBuf> {
        self.frames.sort_by_key(|f| f.time);
        write(&self.path, &self.frames)?;
        Ok(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_in_order_of_time() {
        let path = std::env::temp_dir().join(format!("verbena-capture-{}.pcap", std::process::id()));
        let mut capture = Capture::create(&path, 156_250).unwrap();
        capture.add(2000, &[2; 60]);
        capture.add(1000, &[1; 60]);
        capture.finish().unwrap();
        let frames = verbena_model::capture::read(&path).unwrap();
        assert_eq!(
            (frames[0].time, frames[0].bytes[0], frames[1].bytes[0]),
            (Duration::from_nanos(6400), 1, 2)
        );
        std::fs::remove_file(&path).unwrap();
    }
}
