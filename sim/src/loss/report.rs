// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runs as a table for a person, and as a Markdown page.

use super::{Disturbance, LossOptions, Machines, Point, Runs, DEPTH, MESSAGE, PMTU, TIMEOUT};
use verbena_verbs::selective_window;
use verbena_verilated::MODELS;

pub fn disturbance(wire: Disturbance) -> String {
    match wire {
        Disturbance::None => "good".into(),
        Disturbance::Loss(loss) => format!("{} % lost", 100.0 * loss),
        Disturbance::Reorder => format!("{} % overtaken by up to {}", 100.0 * super::REORDER, super::REORDER_WINDOW),
        Disturbance::Spray => format!("sprayed over paths +{:?} us", super::PATHS.map(|ns| ns / 1000)),
        Disturbance::Bursts => format!("1 % lost in bursts of up to {} us", super::LONGEST_BURST / 1000),
    }
}

fn gate(p: &Point) -> String {
    match (p.gate, p.no_resend) {
        (Some(gate), true) => format!("≥ {:.0} %, nothing sent again", 100.0 * gate),
        (Some(gate), false) => format!("≥ {:.0} %", 100.0 * gate),
        _ => "–".into(),
    }
}

fn verdict(p: &Point) -> &'static str {
    match (p.holds(), p.gate) {
        _ if p.gave_up.is_some() && p.gate.is_none() => "gave up",
        (true, None) => "–",
        (true, _) => "held",
        _ => "MISSED",
    }
}

/// The engines' receive buffer, where it isn't a golden model's.
fn receive_buffer(options: &LossOptions) -> String {
    let model = MODELS.iter().find(|m| m.preset == options.preset);
    match (options.machines, model) {
        (Machines::Verilated, Some(model)) => format!(" with {} KiB of receive buffer", model.roce_buffer >> 10),
        _ => String::new(),
    }
}

/// What all runs have in common, and each scheme's attributes.
fn conditions(runs: &Runs, options: &LossOptions) -> Vec<String> {
    let points = &runs.points;
    let mut lines = vec![format!(
        "{:?} engines{}, seed {}: {} messages of {} KiB a run, {DEPTH} under way, PMTU {PMTU}, 10 Gb/s, {} us round trip, timeout code {TIMEOUT}, \
         loss and reordering both ways",
        options.machines,
        receive_buffer(options),
        options.seed,
        options.messages,
        MESSAGE >> 10,
        options.round_trip / 1000
    )];
    let mut seen = vec![];
    for p in points.iter().filter(|p| p.wire == Disturbance::None) {
        if seen.contains(&p.scheme.name) {
            continue;
        }
        seen.push(p.scheme.name);
        let o = p.scheme.order;
        let sender = if o.selective_repeat {
            let window = o.selective_window.map_or(selective_window(PMTU), u32::from);
            format!("AckReq every 4 packets, window {window}")
        } else {
            "AckReq every 16 packets".into()
        };
        lines.push(format!(
            "{}: reorder {}, selective_repeat {}, nak_distance {}, nak_delay {} us; {sender}",
            p.scheme.name, o.reorder, o.selective_repeat, o.nak_distance, o.nak_delay
        ));
    }
    if !runs.left_out.is_empty() {
        lines.push(format!(
            "left out, because these engines haven't what it takes: {}",
            runs.left_out.join("; ")
        ));
    }
    lines
}

/// The table for a person.
pub fn print(runs: &Runs, options: &LossOptions) {
    for line in conditions(runs, options) {
        println!("{line}");
    }
    println!(
        "\n{:<6} {:<34} {:<36} {:>7} {:>8}  {:<30} {:<7} {:>6} {:>6} {:>7} {:>8} {:>7} {:>7}",
        "verb", "scheme", "wire", "Gb/s", "share", "gate", "", "lost", "alone", "rewinds", "timeouts", "held", "no slot"
    );
    for p in &runs.points {
        println!(
            "{:<6} {:<34} {:<36} {:>7.3} {:>6.1} %  {:<30} {:<7} {:>6} {:>6} {:>7} {:>8} {:>7} {:>7}{}",
            p.verb,
            p.scheme.name,
            disturbance(p.wire),
            p.goodput,
            100.0 * p.share,
            gate(p),
            verdict(p),
            p.lost,
            p.resent_alone,
            p.rewinds,
            p.timeouts,
            p.held,
            p.no_slot,
            match &p.gave_up {
                Some(why) => format!("  {why}"),
                None if p.data_right => String::new(),
                None => "  DATA WRONG".into(),
            }
        );
    }
}

/// The page.
pub fn markdown(runs: &Runs, options: &LossOptions, plot: Option<&str>) -> String {
    let mut page = String::from("# Loss and reordering\n\n");
    page += &format!(
        "Made by `hca-sim loss --engine {}{}`. A share is of the same scheme's goodput without loss.\n\n",
        format!("{:?}", options.machines).to_lowercase(),
        if plot.is_some() {
            " --markdown PAGE --svg PLOT"
        } else {
            " --markdown PAGE"
        }
    );
    for line in conditions(runs, options) {
        page += &format!("- {line}\n");
    }
    if let Some(plot) = plot {
        page += &format!("\n![share of the lossless goodput by share of frames lost]({plot})\n");
    }
    page += "\n| verb | scheme | wire | Gb/s | share | gate | | lost | sent again alone | rewinds | timeouts | held | no slot |\n";
    page += "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for p in &runs.points {
        page += &format!(
            "| {} | {} | {} | {:.3} | {:.1} % | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            p.verb,
            p.scheme.name,
            disturbance(p.wire),
            p.goodput,
            100.0 * p.share,
            gate(p),
            verdict(p),
            p.lost,
            p.resent_alone,
            p.rewinds,
            p.timeouts,
            p.held,
            p.no_slot
        );
    }
    page
}
