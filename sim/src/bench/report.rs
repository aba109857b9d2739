// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures, their gates, and how they are shown.

use super::BenchOptions;
use serde::Serialize;

/// What a figure must keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    AtLeast(f64),
    AtMost(f64),
    None,
}

/// One measured figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    pub preset: String,
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
    pub gate: Gate,
    /// Conditions and counts beside it.
    pub note: String,
}

impl Figure {
    pub fn passes(&self) -> bool {
        match self.gate {
            Gate::AtLeast(limit) => self.value >= limit,
            Gate::AtMost(limit) => self.value <= limit,
            Gate::None => true,
        }
    }

    fn gate_text(&self) -> String {
        match self.gate {
            Gate::AtLeast(limit) => format!("≥ {limit:.6}").trim_end_matches('0').trim_end_matches('.').into(),
            Gate::AtMost(limit) => format!("≤ {limit:.6}").trim_end_matches('0').trim_end_matches('.').into(),
            Gate::None => "–".into(),
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.gate, self.passes()) {
            (Gate::None, _) => "–",
            (_, true) => "held",
            (_, false) => "MISSED",
        }
    }
}

/// The table for a person.
pub fn print(figures: &[Figure]) {
    for f in figures {
        println!(
            "{:<8} {:<44} {:>10.2} {:<14} {:>10}  {:<6} {}",
            f.preset,
            f.name,
            f.value,
            f.unit,
            f.gate_text(),
            f.verdict(),
            f.note
        );
    }
}

/// The page `docs/performance.md`.
pub fn markdown(figures: &[Figure], options: &[BenchOptions]) -> String {
    let latency = options.first().map_or(0, |o| o.latency);
    let mut page = format!(
        "<!-- Made by `cargo run --release --bin hca-sim -- bench --markdown docs/performance.md`; don't edit. -->\n\
         # Performance\n\n\
         Counted in clock cycles of the Verilated engine, so the figures are the same on every machine (but the speed of the simulation itself).\n\
         Conditions: the memory takes and returns a beat every cycle after {latency} cycles of latency; the MAC model counts bytes exactly, with deficit idle\n\
         count (mean gap 12 bytes); latency of MAC and PHY 0. Gb/s at 10 Gb/s of wire whatever the clock.\n\n\
         | preset | figure | value | unit | gate | | conditions |\n|---|---|---|---|---|---|---|\n"
    );
    for f in figures {
        page.push_str(&format!(
            "| {} | {} | {:.2} | {} | {} | {} | {} |\n",
            f.preset,
            f.name,
            f.value,
            f.unit,
            f.gate_text(),
            f.verdict(),
            f.note
        ));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_gate_shows() {
        let figure = |value, gate| Figure {
            preset: "x".into(),
            name: "n".into(),
            value,
            unit: "u",
            gate,
            note: String::new(),
        };
        assert!(figure(1.0, Gate::AtMost(1.0)).passes() && !figure(1.1, Gate::AtMost(1.0)).passes());
        assert!(figure(1.0, Gate::AtLeast(1.0)).passes() && !figure(0.9, Gate::AtLeast(1.0)).passes());
        let page = markdown(&[figure(3.0, Gate::AtMost(2.5))], &[]);
        assert!(page.contains("| x | n | 3.00 | u | ≤ 2.5 | MISSED |"), "{page}");
    }
}
