//! The rows as text for a terminal, and as Markdown.

use std::fmt::Write;

use crate::report::Row;

const COLUMNS: [&str; 9] = [
    "agreed", "longest", "messages", "bytes", "rounds", "leaders", "two for", "none for", "elected",
];

/// A block for each case.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    for block in blocks(rows) {
        let Some(first) = block.first() else { continue };
        let _infallible = write!(out, "{}: {}\n  {:15}", first.case, first.what, "");
        for column in COLUMNS {
            let _infallible = write!(out, "{column:>10}");
        }
        out.push('\n');
        for row in block {
            let _infallible = write!(out, "  {:15}", row.protocol);
            for cell in cells(row) {
                let _infallible = write!(out, "{cell:>10}");
            }
            out.push('\n');
        }
        out.push('\n');
    }
    out + LEGEND
}

/// A table for each case.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut out = String::new();
    for block in blocks(rows) {
        let Some(first) = block.first() else { continue };
        let _infallible = writeln!(out, "**{}**: {}\n", first.case, first.what);
        let _infallible = writeln!(out, "| | {} |", COLUMNS.join(" | "));
        let _infallible = writeln!(out, "|---|{}", "---|".repeat(COLUMNS.len()));
        for row in block {
            let _infallible = writeln!(out, "| {} | {} |", row.protocol, cells(row).join(" | "));
        }
        out.push('\n');
    }
    out + LEGEND
}

const LEGEND: &str = "\
agreed, longest: until all follow one leader (median, most); from its end if it lasts. messages,\n\
bytes: until then; a second while it lasts. rounds: messages that led to each other. leaders: the\n\
most at once. two for, none for: how long two or more led, or nobody. elected: leaderships that\n\
began while it lasted.\n";

fn blocks(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, other| one.case == other.case)
}

fn cells(row: &Row) -> Vec<String> {
    let agreed = match row.agreed_ms {
        Some(_) if row.agreed_percent < 100.0 => format!("{:.0} %", row.agreed_percent),
        Some(ms) => time(ms),
        None => String::from("never"),
    };
    let rounds = (!row.lasting && row.rounds > 0.0).then(|| format!("{:.0}", row.rounds));
    let elected = row.lasting.then(|| format!("{:.0}", row.elections));
    let none = || String::from("-");
    vec![
        agreed,
        row.agreed_ms_most.map_or_else(none, time),
        format!("{:.0}", row.messages),
        format!("{:.0}", row.bytes),
        rounds.unwrap_or_else(none),
        row.leaders_most.to_string(),
        time(row.contested_ms),
        time(row.vacant_ms),
        elected.unwrap_or_else(none),
    ]
}

fn time(ms: f64) -> String {
    if ms <= 0.0 {
        String::from("-")
    } else if ms < 1_000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1e3)
    }
}
