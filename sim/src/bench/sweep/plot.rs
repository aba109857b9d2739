// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sweep as SVG: a line for each verb over one factor.

use super::page::size;
use super::{name, Point, ROUTES};
use anyhow::{anyhow, Result};
use plotters::prelude::*;

/// File and title of each plot.
pub const PLOTS: [(&str, &str); 5] = [
    ("goodput-size.svg", "Goodput over message size"),
    ("goodput-pmtu.svg", "Goodput of 64 KiB messages over PMTU"),
    ("goodput-qps.svg", "Goodput of 4 KiB messages over QPs"),
    ("goodput-loss.svg", "Goodput of 64 KiB messages over loss"),
    ("latency-size.svg", "Latency alone over message size"),
];

/// A line's points: the factor as text, and the figure.
type Line = (&'static str, Vec<(String, f64)>);

/// The points in which nothing but one factor differs from the base case.
fn lines(points: &[Point], plot: usize) -> Vec<Line> {
    let calm = |p: &&Point| p.loss == 0.0 && p.qps == 1;
    let chosen = |p: &&Point| -> bool {
        !p.both
            && match plot {
                0 | 4 => calm(p) && p.pmtu == 1024,
                1 => calm(p) && p.bytes == 64 << 10,
                2 => p.loss == 0.0 && p.bytes == 4096 && p.pmtu == 1024,
                _ => p.qps == 1 && p.bytes == 64 << 10 && p.pmtu == 1024,
            }
    };
    let place = |p: &Point| -> (f64, String) {
        match plot {
            0 | 4 => (p.bytes as f64, size(p.bytes)),
            1 => (p.pmtu as f64, p.pmtu.to_string()),
            2 => (p.qps as f64, format!("{} QPs", p.qps)),
            _ => (p.loss, format!("{:.1} %", 100.0 * p.loss)),
        }
    };
    let figure = |p: &Point| {
        if plot == 4 {
            p.alone.map(|l| l.median as f64)
        } else {
            Some(p.goodput)
        }
    };
    let line = |verb: &'static str| -> Line {
        let mut list: Vec<&Point> = points.iter().filter(|p| p.verb == verb).filter(chosen).collect();
        list.sort_by(|a, b| place(a).0.total_cmp(&place(b).0));
        list.dedup_by(|a, b| place(a).0 == place(b).0);
        (verb, list.into_iter().filter_map(|p| Some((place(p).1, figure(p)?))).collect())
    };
    ROUTES.into_iter().map(|route| line(name(route))).collect()
}

/// Each plot's file and text.
pub fn plots(points: &[Point]) -> Result<Vec<(&'static str, String)>> {
    let draw = |n: usize| -> Result<(&'static str, String)> {
        let (file, title) = PLOTS[n];
        let text = svg(title, &lines(points, n), n == 4).map_err(|e| anyhow!("{file}: {e}"))?;
        Ok((file, text))
    };
    (0..PLOTS.len()).map(draw).collect()
}

/// Places in even steps; latency on a logarithmic scale.
fn svg(title: &str, lines: &[Line], logarithmic: bool) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let longest = lines.iter().max_by_key(|l| l.1.len()).map(|l| l.1.clone()).unwrap_or_default();
    let names: Vec<String> = longest.into_iter().map(|p| p.0).collect();
    let scale = |value: f64| if logarithmic { value.max(1.0).log10() } else { value };
    let highest = lines.iter().flat_map(|l| &l.1).map(|p| scale(p.1)).fold(0.0, f64::max);
    let lowest = if logarithmic {
        lines.iter().flat_map(|l| &l.1).map(|p| scale(p.1)).fold(highest, f64::min).floor()
    } else {
        0.0
    };
    let top = if logarithmic { highest.ceil() } else { highest.max(1.0) * 1.1 };
    let right = names.len().max(2) as f64 - 0.8;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (640, 360)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(32)
            .y_label_area_size(56)
            .build_cartesian_2d(-0.2..right, lowest..top.max(lowest + 1.0))?;
        let place = |x: &f64| {
            let near = x.round();
            let on = (x - near).abs() < 0.01 && near >= 0.0;
            names.get(near as usize).filter(|_| on).cloned().unwrap_or_default()
        };
        let value = |y: &f64| {
            if logarithmic {
                format!("{:.0}", 10f64.powf(*y))
            } else {
                format!("{y:.1}")
            }
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(names.len() * 5 + 1)
            .x_label_formatter(&place)
            .y_label_formatter(&value)
            .y_desc(if logarithmic { "ns" } else { "Gb/s" })
            .draw()?;
        for ((verb, points), color) in lines.iter().zip([BLUE, RED, GREEN]) {
            let at: Vec<(f64, f64)> = points.iter().enumerate().map(|(n, p)| (n as f64, scale(p.1))).collect();
            chart
                .draw_series(LineSeries::new(at.clone(), color.stroke_width(2)))?
                .label(*verb)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
            chart.draw_series(at.into_iter().map(|p| Circle::new(p, 3, color.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .border_style(BLACK)
            .background_style(WHITE.mix(0.8))
            .draw()?;
        root.present()?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::Latency;
    use super::*;

    #[test]
    fn a_plot_has_a_line_for_each_verb_and_a_label_for_each_place() {
        let latency = Latency {
            min: 1,
            median: 200,
            p99: 3,
        };
        let mut points = vec![];
        for verb in ["WRITE", "SEND", "READ"] {
            for bytes in [8, 64 << 10] {
                for pmtu in [256, 1024] {
                    points.push(Point {
                        verb,
                        bytes,
                        pmtu,
                        qps: 1,
                        both: false,
                        loss: 0.0,
                        messages: 1,
                        goodput: 5.0,
                        ceiling: 10.0,
                        rate: 1.0,
                        loaded: latency,
                        alone: Some(latency),
                        dropped: 0,
                        rewinds: 0,
                        lost: 0,
                    });
                }
            }
        }
        let all = plots(&points).unwrap();
        assert_eq!(all.len(), PLOTS.len());
        assert!(all.iter().all(|(_, svg)| svg.matches("<polyline").count() >= 3), "{}", all[0].1);
        for (plot, label) in [(0, "64 KiB"), (1, "256"), (3, "0.0 %"), (4, "8 B")] {
            assert!(all[plot].1.contains(label), "{label}");
        }
        assert_eq!(
            lines(&points, 1)[0].1.iter().map(|p| p.0.as_str()).collect::<Vec<_>>(),
            ["256", "1024"]
        );
    }
}
