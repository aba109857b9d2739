// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a replay found: for machines (serde) and as a table.

use super::compare::Comparison;
use crate::capture::Frame;
use serde::Serialize;
use std::fmt::Write;

/// Captures in which Soft-RoCE departs from IBTA in more than an equivalent answer, and how: docs/replay.md.
pub const DEPARTURES: &[(&str, &str)] = &[(
    "uc-loss-middle",
    "after a broken UC message Soft-RoCE delivers nothing more (R57, R73)",
)];

/// A half of the captured side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    #[default]
    Responder,
    Requester,
}

impl Side {
    pub fn name(self) -> &'static str {
        match self {
            Side::Responder => "responder",
            Side::Requester => "requester",
        }
    }
}

/// The result of a capture's replay.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    pub capture: String,
    /// What of the captured side was played.
    pub side: Side,
    /// READ or ATOMIC requests: the capture waits for that half of the engine and isn't played.
    pub waiting: usize,
    pub delivered: usize,
    pub to_host: u32,
    pub ghost_acks: u32,
    /// Requests of the captured side's own requester, left out.
    pub own_requests: usize,
    pub comparison: Comparison,
    /// Completions that differ from the golden model's.
    pub completions_different: usize,
    pub completions: usize,
    /// Regions whose bytes differ from the golden model's.
    pub memory_different: usize,
    /// Messages whose bytes in memory were held against the tool's pattern.
    pub payloads: usize,
    /// What the capture's tool says of its receives and payloads, and memory and completions here don't (rxeprobe).
    pub tool_disagrees: Vec<String>,
    /// What was sent, stamped with the arrival that it answers.
    #[serde(skip)]
    pub answers: Vec<Frame>,
}

impl Report {
    /// Nothing differs.
    pub fn holds(&self) -> bool {
        self.comparison.different.is_empty()
            && self.completions_different == 0
            && self.memory_different == 0
            && self.tool_disagrees.is_empty()
    }

    /// How Soft-RoCE departs from IBTA in this capture, where that is known.
    pub fn departure(&self) -> Option<&'static str> {
        DEPARTURES
            .iter()
            .find(|d| d.0 == self.capture && self.side == Side::Responder)
            .map(|d| d.1)
    }

    /// A word or two.
    pub fn result(&self) -> &'static str {
        match (self.waiting, self.holds(), self.departure()) {
            (0, true, _) => "holds",
            (0, false, Some(_)) => "Soft-RoCE departs",
            (0, false, None) => "DIFFERENT",
            _ => "waiting for READ/ATOMIC",
        }
    }

    /// Everything that differs, a line each.
    pub fn differences(&self) -> Vec<String> {
        let mut lines = self.comparison.different.clone();
        let mut count = |number: usize, what: &str| {
            if number > 0 {
                lines.push(format!("{number} {what} differ from the golden model's"));
            }
        };
        count(self.completions_different, "completions");
        count(self.memory_different, "regions");
        lines.extend(self.tool_disagrees.iter().cloned());
        lines
    }
}

/// A Markdown table, one row a capture, the differences below it.
pub fn table(reports: &[Report]) -> String {
    let mut out = String::from(
        "| capture | side | arrived | same packets | equivalent | completions | payloads checked | ghost ACKs | result |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for r in reports {
        let reasons: Vec<String> = r
            .comparison
            .equivalent
            .iter()
            .map(|(reason, count)| format!("{reason:?} {count}"))
            .collect();
        let reasons = if reasons.is_empty() { "–".into() } else { reasons.join(", ") };
        let (same, done) = (r.comparison.same, r.completions);
        // Writing to a String can't fail.
        let _ = writeln!(
            out,
            "| {} | {} | {} | {same} | {reasons} | {done} | {} | {} | {} |",
            r.capture,
            r.side.name(),
            r.delivered,
            r.payloads,
            r.ghost_acks,
            r.result()
        );
    }
    for r in reports {
        for line in r.differences() {
            let _ = writeln!(out, "{}: {line}", r.capture);
        }
        if let Some(how) = r.departure().filter(|_| !r.holds()) {
            let _ = writeln!(out, "{}: {how}", r.capture);
        }
    }
    out
}
