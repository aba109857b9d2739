// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ping-pong's end, as the tools print it.

use serde::Serialize;
use std::fmt;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Both ways together.
    pub bytes: u64,
    pub iterations: u64,
    /// From the first message to the last, by the host's clock.
    pub ns: u64,
    /// Messages compared byte for byte.
    pub checked: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let seconds = self.ns.max(1) as f64 / 1e9;
        let megabits = self.bytes as f64 * 8.0 / seconds / 1e6;
        writeln!(f, "{} bytes in {seconds:.2} seconds = {megabits:.2} Mbit/sec", self.bytes)?;
        let each = seconds * 1e6 / self.iterations as f64;
        writeln!(f, "{} iters in {seconds:.2} seconds = {each:.2} usec/iter", self.iterations)
    }
}
