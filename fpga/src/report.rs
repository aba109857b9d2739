// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables on the terminal, Markdown or JSON by the same rows.

/// Prints a table in Markdown, which reads well on a terminal too.
pub fn table(head: &[&str], rows: &[Vec<String>]) {
    print!("{}", markdown(head, rows));
}

/// The table's text.
pub fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let width = |i: usize| {
        rows.iter()
            .map(|r| r[i].chars().count())
            .chain([head[i].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut line = |cells: Vec<&str>| {
        let cells: Vec<String> = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(i, (cell, w))| if i == 0 { format!("{cell:<w$}") } else { format!("{cell:>w$}") })
            .collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    };
    line(head.to_vec());
    let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    line(rule.iter().map(String::as_str).collect());
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
    text
}
