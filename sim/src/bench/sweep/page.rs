// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sweep as JSON and as a Markdown page.

use super::{Latency, Point, SweepOptions, DEPTH, PLOTS, STEP};
use verbena_spec::config::Config;

/// All of it, for machines.
pub fn json(options: &SweepOptions, points: &[Point]) -> serde_json::Value {
    serde_json::json!({ "command": "bench --sweep", "preset": options.preset, "seed": options.seed, "memory_latency": options.latency,
        "depth": DEPTH, "points": points })
}

/// Bytes as people write them.
pub fn size(bytes: usize) -> String {
    match bytes {
        n if n >= 1 << 20 => format!("{} MiB", n >> 20),
        n if n >= 1 << 10 => format!("{} KiB", n >> 10),
        n => format!("{n} B"),
    }
}

fn latency(of: Option<&Latency>) -> String {
    of.map_or("–".into(), |l| format!("{} / {} / {}", l.min, l.median, l.p99))
}

fn cycles(of: Option<&Latency>, config: &Config) -> String {
    let cycles = |ns: u64| (ns * u64::from(config.clock_khz) + 500_000) / 1_000_000;
    of.map_or("–".into(), |l| {
        format!("{} / {} / {}", cycles(l.min), cycles(l.median), cycles(l.p99))
    })
}

/// The page `docs/performance/sweep.md`.
pub fn markdown(options: &SweepOptions, config: &Config, points: &[Point], full: bool) -> String {
    let command = if full {
        "--sweep docs/performance --full"
    } else {
        "--sweep docs/performance"
    };
    let mut page = format!(
        "<!-- Made by `cargo run --release --bin hca-sim -- bench {command}`; don't edit. -->\n# Performance between two engines, by one factor after the other\n\n\
         `{}`, both ends the Verilated engine. Conditions: memory takes and returns a beat every cycle after {} cycles of latency; the MAC model counts bytes\n\
         exactly, with deficit idle count; no wire length, MAC and PHY 0; {DEPTH} messages under way on each QP, hosts look every {STEP} ns; all data verified.\n\
         Goodput from the first byte on the wire to the last (messages below 256 bytes: from the first doorbell to the last polled completion), each way, the\n\
         slower one; its ceiling is the wire's without loss, less the other way's ACKs or requests. Latency: doorbell to polled completion, minimum / median /\n\
         99th percentile; *alone*: one message under way, nothing else on the wire, host looks every 10 ns.\n\n",
        options.preset, options.latency
    );
    for (file, title) in PLOTS {
        page.push_str(&format!("![{title}]({file})\n"));
    }
    page.push_str(
        "\n| verb | message | PMTU | QPs | ways | loss | Gb/s | of the ceiling | M messages/s | latency alone, ns | in cycles | latency loaded, ns | dropped | rewinds | lost |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for p in points {
        page.push_str(&format!(
            "| {} | {} | {} | {} | {} | {:.1} % | {:.2} | {:.2} % | {:.3} | {} | {} | {} | {} | {} | {} |\n",
            p.verb,
            size(p.bytes),
            p.pmtu,
            p.qps,
            if p.both { "both" } else { "one" },
            100.0 * p.loss,
            p.goodput,
            100.0 * p.share(),
            p.rate,
            latency(p.alone.as_ref()),
            cycles(p.alone.as_ref(), config),
            latency(Some(&p.loaded)),
            p.dropped,
            p.rewinds,
            p.lost
        ));
    }
    page
}
