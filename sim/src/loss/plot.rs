// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runs as a plot: share of the lossless goodput by share of frames lost, a curve a verb and scheme, the gates beside them.

use super::{Disturbance, Runs, GATES};
use anyhow::{anyhow, Result};
use plotters::prelude::*;

/// Pixels.
const SIZE: (u32, u32) = (900, 560);
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(204, 121, 167),
];
/// Where no loss stands on the logarithmic axis, percent.
const NONE: f64 = 0.02;

/// The SVG's text.
pub fn svg(runs: &Runs) -> Result<String> {
    let mut text = String::new();
    draw(&mut text, runs).map_err(|e| anyhow!("drawing the plot: {e}"))?;
    Ok(text)
}

fn draw(text: &mut String, runs: &Runs) -> Result<(), Box<dyn std::error::Error>> {
    let points = &runs.points;
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(
            format!("64 KiB messages, PMTU 1024, {} us round trip, 10 Gb/s", runs.round_trip / 1000),
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(52)
        .build_cartesian_2d((NONE..10.0).log_scale(), 0.0..105.0)?;
    chart
        .configure_mesh()
        .x_desc("frames lost each way, % (left end: none)")
        .y_desc("goodput, % of the lossless")
        .draw()?;
    let mut curves: Vec<(&str, &str)> = vec![];
    for p in points {
        if !curves.contains(&(p.verb, p.scheme.name)) {
            curves.push((p.verb, p.scheme.name));
        }
    }
    let mut schemes: Vec<&str> = vec![];
    for (verb, scheme) in curves {
        if !schemes.contains(&scheme) {
            schemes.push(scheme);
        }
        let colour = schemes
            .iter()
            .position(|s| *s == scheme)
            .map_or(BLACK, |n| COLOURS[n % COLOURS.len()]);
        let line: Vec<(f64, f64)> = points
            .iter()
            .filter(|p| p.verb == verb && p.scheme.name == scheme)
            .filter_map(|p| match p.wire {
                Disturbance::None => Some((NONE, 100.0 * p.share)),
                Disturbance::Loss(loss) => Some((100.0 * loss, 100.0 * p.share)),
                _ => None,
            })
            .collect();
        // One verb a stroke: WRITE thick, SEND thin, READ with open dots.
        let width = if verb == "WRITE" { 3 } else { 1 };
        let dots = line.clone();
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(width)))?
            .label(format!("{verb}, {scheme}"))
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(width)));
        let fill = if verb == "READ" { colour.stroke_width(1) } else { colour.filled() };
        chart.draw_series(dots.into_iter().map(|at| Circle::new(at, 4, fill)))?;
    }
    let gates = GATES
        .iter()
        .map(|(loss, share)| Cross::new((100.0 * loss, 100.0 * share), 6, BLACK.stroke_width(2)));
    chart
        .draw_series(gates)?
        .label("gate for selective repeat")
        .legend(|(x, y)| Cross::new((x + 9, y), 5, BLACK.stroke_width(2)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
}
