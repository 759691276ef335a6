//! The rows as text for a terminal, and as Markdown: in full, or all cases at a glance.

use std::fmt::Write;

use super::report::Row;

pub(crate) const COLUMNS: [&str; 10] = [
    "source", "agreed", "longest", "messages", "bytes", "rounds", "leaders", "two for", "none for",
    "elected",
];

/// A block for each case.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    for block in blocks(rows) {
        let Some(first) = block.first() else { continue };
        let title = title(first);
        let _infallible = write!(out, "{}: {title}\n  {:15}", first.case, "");
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
        let _infallible = writeln!(out, "**{}**: {}\n", first.case, title(first));
        let _infallible = writeln!(out, "| | {} |", COLUMNS.join(" | "));
        let _infallible = writeln!(out, "|---|{}", "---|".repeat(COLUMNS.len()));
        for row in block {
            let _infallible = writeln!(out, "| {} | {} |", row.protocol, cells(row).join(" | "));
        }
        out.push('\n');
    }
    out + LEGEND
}

/// A line for each case, a column for each election, as Markdown: the time until all agree, and the number of leaders
/// in the meantime.
pub(crate) fn overview(rows: &[Row]) -> String {
    let seeds = rows.first().map_or(0, |row| row.seeds);
    let mut out = format!("**Until all follow one leader** (median of {seeds} seeds)\n\n");
    at_a_glance(
        &mut out,
        rows,
        |row| format!("{}: {}", row.case, row.what),
        agreed,
    );
    let lasting = rows.iter().filter(|row| row.lasts_s.is_some());
    let lasting: Vec<Row> = lasting.cloned().collect();
    if !lasting.is_empty() {
        out +=
            "**Leaders at once while it lasts**: the most; how long two or more led, or none\n\n";
        at_a_glance(&mut out, &lasting, |row| String::from(row.case), meanwhile);
    }
    out + OVERVIEW
}

fn at_a_glance(out: &mut String, rows: &[Row], name: fn(&Row) -> String, cell: fn(&Row) -> String) {
    let head = blocks(rows).next().unwrap_or_default();
    let protocols: Vec<_> = head.iter().map(|row| row.protocol).collect();
    let sources: Vec<_> = head.iter().map(|row| row.source).collect();
    let _infallible = writeln!(out, "| | {} |", protocols.join(" | "));
    let _infallible = writeln!(out, "|---|{}", "---|".repeat(head.len()));
    let _infallible = writeln!(out, "| source | {} |", sources.join(" | "));
    for block in blocks(rows) {
        let Some(first) = block.first() else { continue };
        let cells: Vec<_> = block.iter().map(cell).collect();
        let _infallible = writeln!(out, "| {} | {} |", name(first), cells.join(" | "));
    }
    out.push('\n');
}

const OVERVIEW: &str = "\
What has a line in the second table lasts 20 s; agreement is counted from its end. source: whose\n\
rules.\n";

pub(crate) const LEGEND: &str = "\
agreed, longest: until all follow one leader (median, most); from its end if it lasts. messages,\n\
bytes: until then; a second while it lasts. rounds: messages that led to each other; heartbeats lead\n\
to nothing, gossip only if it says something new. leaders: the most at once. two for, none for: how\n\
long two or more led, or none. elected: leaderships that began while it lasted. source: whose\n\
rules.\n";

pub(crate) fn blocks(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, other| one.case == other.case)
}

/// Returns the description of a case, with its length.
pub(crate) fn title(row: &Row) -> String {
    match row.lasts_s {
        Some(seconds) => format!("{}, for {seconds} s", row.what),
        None => String::from(row.what),
    }
}

/// Returns the time until all agree, or how often they do.
pub(crate) fn agreed(row: &Row) -> String {
    match row.agreed_ms {
        Some(_) if row.agreed_percent < 100.0 => format!("{:.0} %", row.agreed_percent),
        Some(ms) => when(ms),
        None => String::from("never"),
    }
}

/// Returns the number of leaders while the case lasts.
pub(crate) fn meanwhile(row: &Row) -> String {
    let mut out = row.leaders_most.to_string();
    for (ms, count) in [(row.contested_ms, "two"), (row.vacant_ms, "none")] {
        if ms > 0.0 {
            let _infallible = write!(out, ", {count} {}", time(ms));
        }
    }
    out
}

pub(crate) fn cells(row: &Row) -> Vec<String> {
    let lasts = row.lasts_s.is_some();
    let rounds = (!lasts && row.rounds > 0.0).then(|| format!("{:.0}", row.rounds));
    let elected = lasts.then(|| format!("{:.0}", row.elections));
    let none = || String::from("-");
    vec![
        String::from(row.source),
        agreed(row),
        row.agreed_ms_most.map_or_else(none, when),
        format!("{:.0}", row.messages),
        format!("{:.0}", row.bytes),
        rounds.unwrap_or_else(none),
        row.leaders_most.to_string(),
        time(row.contested_ms),
        time(row.vacant_ms),
        elected.unwrap_or_else(none),
    ]
}

/// Returns a length of time.
fn time(ms: f64) -> String {
    if ms <= 0.0 {
        String::from("-")
    } else {
        when(ms)
    }
}

/// Returns a time after the event; it may be at once.
fn when(ms: f64) -> String {
    if ms < 999.5 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1e3)
    }
}
