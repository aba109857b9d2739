// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of results, on the screen and in a page between two marks.

use crate::run::Row;
use crate::sby::Outcome;
use anyhow::{Context, Result};
use std::path::Path;

/// The proofs' table.
pub fn proofs(rows: &[Row]) -> String {
    let mut text = String::from("| proof | of | claim | how | assertions | result | s |\n|---|---|---|---|---|---|---|\n");
    for row in rows {
        text += &format!(
            "| `{}` | {} | {} | {} | {} | {} | {:.0} |\n",
            row.name,
            row.block,
            row.claim,
            row.method,
            row.assertions,
            result(row),
            row.seconds
        );
    }
    text
}

/// One proof's result in a few words.
pub fn result(row: &Row) -> String {
    match row.outcome {
        Outcome::Proved => "proved".to_string(),
        Outcome::Failed => format!("**fails**: {}", row.failed.join(", ")),
        Outcome::Open => "**open**: the induction doesn't close".to_string(),
        Outcome::OutOfTime => match row.cycles {
            Some(cycles) if row.held => format!("out of time: {cycles} cycles hold"),
            _ => "**out of time**".to_string(),
        },
    }
}

/// The mutants' table.
pub fn mutants(rows: &[crate::mutation::Row]) -> String {
    let mut text = String::from("| mutant | in | fault | caught by | what fails | s |\n|---|---|---|---|---|---|\n");
    for row in rows {
        let by = if row.caught {
            row.by.clone()
        } else {
            format!("**survives** {}", row.by)
        };
        text += &format!(
            "| `{}` | {} | {} | {by} | {} | {:.0} |\n",
            row.name, row.module, row.fault, row.how, row.seconds
        );
    }
    text
}

/// Puts a table into a file between its lines `<!-- NAME begin -->` and `<!-- NAME end -->`. Rows that stand there and aren't in `table` stay, so that a
/// part can be run again; the order is that of `names`, and a row of another name goes.
pub fn write_between(file: &Path, name: &str, table: &str, names: &[&str]) -> Result<()> {
    let (begin, end) = (format!("<!-- {name} begin -->\n"), format!("<!-- {name} end -->"));
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (before, rest) = text
        .split_once(&begin)
        .with_context(|| format!("{}: no line '{}'", file.display(), begin.trim()))?;
    let (old, after) = rest
        .split_once(&end)
        .with_context(|| format!("{}: no line '{end}'", file.display()))?;
    let merged = merge(old, table, names);
    std::fs::write(file, format!("{before}{begin}{merged}{end}{after}")).with_context(|| format!("cannot write {}", file.display()))
}

fn merge(old: &str, new: &str, names: &[&str]) -> String {
    let row = |table: &str, name: &str| {
        table
            .lines()
            .find(|l| l.starts_with(&format!("| `{name}` ")))
            .map(|l| format!("{l}\n"))
    };
    let head: String = new.lines().take(2).map(|l| format!("{l}\n")).collect();
    head + &names.iter().filter_map(|n| row(new, n).or_else(|| row(old, n))).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_run_again_leaves_the_other_rows() {
        let old = "| x | y |\n|---|---|\n| `a` | 1 |\n| `gone` | 1 |\n| `c` | 1 |\n";
        let new = "| x | y |\n|---|---|\n| `c` | 2 |\n| `b` | 2 |\n";
        assert_eq!(
            merge(old, new, &["a", "b", "c"]),
            "| x | y |\n|---|---|\n| `a` | 1 |\n| `b` | 2 |\n| `c` | 2 |\n"
        );
    }
}
