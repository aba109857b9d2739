// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slowest registers of a placed design, from nextpnr's detailed timing report: its critical path is one of many, and the next ones often
//! lie elsewhere.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

/// Registers (or RAM ports) of one name that are reached late.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slow {
    /// From the clock edge to the latest of their inputs, setup not included.
    pub ns: f64,
    /// The register's name in the design, without its bits.
    pub register: String,
    /// How many of its bits are among those looked at.
    pub bits: usize,
    /// Input of the latest bit.
    pub port: String,
    /// The last net before it.
    pub net: String,
}

#[derive(Deserialize)]
struct Report {
    detailed_net_timings: Vec<Net>,
}

#[derive(Deserialize)]
struct Net {
    net: String,
    endpoints: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    cell: String,
    port: String,
    /// Earliest and latest, ns.
    delay: [f64; 2],
    /// Present where a path ends.
    event: Option<String>,
}

/// What yosys adds to a register's name.
const ADDED: [&str; 6] = ["_TRELLIS_", "_DP16KD", "_PFUMX", "_LUT4", "_CCU2C", "_L6MUX21"];

fn name(cell: &str) -> &str {
    let end = ADDED.iter().filter_map(|added| cell.find(added)).min();
    &cell[..end.unwrap_or(cell.len())]
}

/// The `count` slowest of a report, slowest first.
pub fn read(report: &Path, count: usize) -> Result<Vec<Slow>> {
    let text = std::fs::read_to_string(report).with_context(|| format!("reading {}", report.display()))?;
    let report: Report = serde_json::from_str(&text).with_context(|| format!("{} is no timing report", report.display()))?;
    Ok(slowest(report, count))
}

fn slowest(report: Report, count: usize) -> Vec<Slow> {
    let mut ends: Vec<(Endpoint, String)> = vec![];
    for net in report.detailed_net_timings {
        let here = net.endpoints.into_iter().filter(|e| e.event.is_some());
        ends.extend(here.map(|end| (end, net.net.clone())));
    }
    ends.sort_by(|a, b| b.0.delay[1].total_cmp(&a.0.delay[1]));
    let mut slow: Vec<Slow> = vec![];
    let mut places: HashMap<String, usize> = HashMap::new();
    for (end, net) in ends {
        let register = name(&end.cell);
        if let Some(place) = places.get(register) {
            slow[*place].bits += 1;
            continue;
        }
        if slow.len() == count {
            break;
        }
        places.insert(register.into(), slow.len());
        slow.push(Slow {
            ns: end.delay[1],
            register: register.into(),
            bits: 1,
            port: end.port,
            net,
        });
    }
    slow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_come_by_their_latest_bit() {
        let end = |cell: &str, delay: f64| format!(r#"{{"cell":"{cell}","port":"DI","delay":[0.1,{delay}],"event":"posedge clock"}}"#);
        let text = format!(
            r#"{{"fmax":{{}},"detailed_net_timings":[
                {{"net":"a","driver":"x","endpoints":[{},{{"cell":"some_LUT4_Z","port":"A","delay":[1,9]}}]}},
                {{"net":"b","driver":"y","endpoints":[{},{},{}]}}]}}"#,
            end("dut.step_TRELLIS_FF_Q", 3.0),
            end("dut.count_TRELLIS_FF_Q_1", 2.0),
            end("dut.step_TRELLIS_FF_Q_2", 5.5),
            end("dut.last_TRELLIS_FF_Q", 1.0),
        );
        let found = slowest(serde_json::from_str(&text).unwrap(), 2);
        let text: Vec<String> = found
            .iter()
            .map(|s| format!("{} {} {} {}", s.ns, s.register, s.bits, s.net))
            .collect();
        assert_eq!(text, ["5.5 dut.step 2 b", "2 dut.count 1 b"]);
    }
}
