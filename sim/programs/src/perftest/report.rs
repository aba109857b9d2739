// SPDX-License-Identifier: MIT OR Apache-2.0
//! perftest's tables.

use super::exchange::{Record, Results};
use super::options::{AtomicType, Operation, Options};
use serde::Serialize;
use std::fmt;

pub const LINE: &str = "---------------------------------------------------------------------------------------";
const BANDWIDTH: &str = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]";
const LATENCY: &str = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ";
/// MB of the tables.
const MEGABYTE: f64 = 1048576.0;
/// More messages than this get no peak: it takes the square of their number.
const MOST_FOR_PEAK: usize = 20_000;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Report {
    /// MB (2^20 bytes) a second, million messages a second.
    Bandwidth {
        bytes: u64,
        iterations: u64,
        peak: f64,
        average: f64,
        rate: f64,
    },
    /// Microseconds, one way; READ and ATOMIC both ways.
    Latency {
        bytes: u64,
        iterations: u64,
        least: f64,
        most: f64,
        typical: f64,
        average: f64,
        deviation: f64,
        p99: f64,
        p999: f64,
    },
    /// The passive side of READ and ATOMIC latency, and of SEND over UC and UD, has nothing to tell.
    Served,
}

impl Report {
    /// From when each message was posted and completed, ns.
    pub fn bandwidth(bytes: u64, posted: &[u64], completed: &[u64]) -> Report {
        let all = completed.len();
        let first = posted.first().copied().unwrap_or(0);
        let last = completed.last().copied().unwrap_or(first);
        let each = (last - first).max(1) as f64 / all.max(1) as f64;
        let best = if all > MOST_FOR_PEAK { None } else { fastest(posted, completed) };
        let megabytes = |ns: f64| bytes as f64 / MEGABYTE / (ns / 1e9);
        Report::Bandwidth {
            bytes,
            iterations: all as u64,
            peak: best.map_or(0.0, |ns| megabytes(ns.min(each))),
            average: megabytes(each),
            rate: 1e3 / each,
        }
    }

    /// From when each message was posted, ns; `ways`: 2 where a message and its answer are two of them.
    pub fn latency(bytes: u64, posted: &[u64], ways: f64) -> Report {
        let mut each: Vec<f64> = posted.windows(2).map(|t| (t[1] - t[0]) as f64 / 1e3 / ways).collect();
        each.sort_by(f64::total_cmp);
        let count = each.len();
        let at = |share: f64| {
            let index = (count as f64 * share).ceil() as usize;
            each.get(index.clamp(1, count.max(1)) - 1).copied().unwrap_or(0.0)
        };
        let average = each.iter().sum::<f64>() / count.max(1) as f64;
        let variance = each.iter().map(|t| (t - average).powi(2)).sum::<f64>() / count.max(1) as f64;
        Report::Latency {
            bytes,
            iterations: posted.len() as u64,
            least: at(0.0),
            most: at(1.0),
            typical: at(0.5),
            average,
            deviation: variance.sqrt(),
            p99: at(0.99),
            p999: at(0.999),
        }
    }

    /// As the other side gets it.
    pub fn results(&self) -> Results {
        match *self {
            Report::Bandwidth {
                bytes,
                iterations,
                peak,
                average,
                rate,
            } => Results {
                size: bytes,
                iterations,
                peak,
                average,
                rate,
            },
            _ => Results {
                size: 0,
                iterations: 0,
                peak: 0.0,
                average: 0.0,
                rate: 0.0,
            },
        }
    }

    /// What the other side measured.
    pub fn of(results: &Results) -> Report {
        Report::Bandwidth {
            bytes: results.size,
            iterations: results.iterations,
            peak: results.peak,
            average: results.average,
            rate: results.rate,
        }
    }

    /// The table's first line.
    pub fn heading(options: &Options) -> &'static str {
        if options.test.is_latency() {
            LATENCY
        } else {
            BANDWIDTH
        }
    }
}

/// The shortest time of a message, ns, over all runs of messages.
fn fastest(posted: &[u64], completed: &[u64]) -> Option<f64> {
    let runs = posted.iter().enumerate().flat_map(|(i, from)| {
        let later = completed.iter().enumerate().skip(i);
        later.map(move |(j, to)| to.saturating_sub(*from).max(1) as f64 / (j - i + 1) as f64)
    });
    runs.min_by(f64::total_cmp)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Report::Bandwidth {
                bytes,
                iterations,
                peak,
                average,
                rate,
            } => {
                let (peak, average) = (format!("{peak:.2}"), format!("{average:.2}"));
                writeln!(
                    f,
                    " {bytes:<7}    {iterations:<10}       {peak:<7}            {average:<7}\t\t   {rate:.6}"
                )
            }
            Report::Latency {
                bytes,
                iterations,
                least,
                most,
                typical,
                average,
                deviation,
                p99,
                p999,
            } => {
                let [a, b, c, d, e, g, h] = [least, most, typical, average, deviation, p99, p999].map(|t| format!("{t:.2}"));
                writeln!(
                    f,
                    " {bytes:<7} {iterations}          {a:<7}        {b:<7}      {c:<7}  \t       {d:<7}     \t{e:<7}\t\t{g:<7} \t\t{h:<7}"
                )
            }
            Report::Served => Ok(()),
        }
    }
}

/// What the tools print before they begin.
pub fn preamble(options: &Options, mtu: usize) -> String {
    let depth = if options.test.is_latency() { 1 } else { options.tx_depth };
    let server = options.server.is_none();
    let kind = match (options.test.operation(), options.atomic_type) {
        (Operation::Atomic, AtomicType::FetchAndAdd) => "Atomic FETCH_AND_ADD ",
        (Operation::Atomic, AtomicType::CompareAndSwap) => "Atomic CMP_AND_SWAP ",
        _ => "",
    };
    let title = options.test.title();
    let title = if kind.is_empty() {
        title
    } else {
        title.replacen("Atomic ", kind, 1)
    };
    let mut text = format!("{LINE}\n                    {title}\n");
    text += " Dual-port       : OFF\t\tDevice         : verbena\n";
    text += &format!(" Number of qps   : {}\t\tTransport type : IB\n", options.qp);
    text += &format!(
        " Connection type : {}\t\tUsing SRQ      : OFF\n",
        format!("{:?}", options.connection).to_uppercase()
    );
    if !server || options.test.is_latency() {
        text += &format!(" TX depth        : {depth}\n");
    }
    if options.test.operation() == Operation::Send && server {
        text += &format!(" RX depth        : {}\n", options.rx_depth);
    }
    text += &format!(" Mtu             : {mtu}[B]\n Link type       : Ethernet\n GID index       : 0\n");
    if matches!(options.test.operation(), Operation::Read | Operation::Atomic) {
        text += &format!(" Outstand reads  : {}\n", options.outs);
    }
    text += " rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n";
    text + LINE
}

/// A QP's line and its GID's.
pub fn address(side: &str, record: &Record, operation: Operation) -> String {
    let out = match operation {
        Operation::Read | Operation::Atomic => format!(" OUT {:#04x}", record.outs),
        _ => String::new(),
    };
    let key = match operation {
        Operation::Send => String::new(),
        _ => format!(" RKey {:#08x} VAddr {:#016x}", record.rkey, record.address),
    };
    let gid: Vec<String> = record.gid.0.iter().map(|b| format!("{b:02}")).collect();
    format!(
        " {side} address: LID {:04x} QPN {:#06x} PSN {:#06x}{out}{key}\n GID: {}",
        record.lid,
        record.qpn,
        record.psn,
        gid.join(":")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 MiB each, posted at once, completed a millisecond apart, the third one late.
    #[test]
    fn bandwidth_is_bytes_over_time() {
        let ms = 1_000_000;
        let report = Report::bandwidth(1 << 20, &[0, 0, 0, 0], &[ms, 2 * ms, 5 * ms, 6 * ms]);
        let Report::Bandwidth {
            peak,
            average,
            rate,
            iterations,
            ..
        } = report
        else {
            panic!()
        };
        assert!(
            (average - 4000.0 / 6.0).abs() < 1e-6 && (peak - 1000.0).abs() < 1e-6,
            "{peak} {average}"
        );
        assert!((rate - 4.0 / 6e3).abs() < 1e-9 && iterations == 4);
    }

    #[test]
    fn latency_is_half_of_a_round_trip() {
        let posted: Vec<u64> = (0..=100).map(|n| n * 2000 + if n == 100 { 8000 } else { 0 }).collect();
        let Report::Latency {
            least,
            most,
            typical,
            average,
            p99,
            p999,
            ..
        } = Report::latency(2, &posted, 2.0)
        else {
            panic!()
        };
        assert_eq!((least, most, typical, p99, p999), (1.0, 5.0, 1.0, 1.0, 5.0));
        assert!((average - 1.04).abs() < 1e-9);
    }

    #[test]
    fn lines_are_the_tools() {
        let line = Report::Bandwidth {
            bytes: 65536,
            iterations: 5000,
            peak: 1097.5,
            average: 1097.4,
            rate: 0.017558,
        };
        assert_eq!(
            line.to_string(),
            " 65536      5000             1097.50            1097.40\t\t   0.017558\n"
        );
    }
}
