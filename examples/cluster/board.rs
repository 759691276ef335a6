//! The agents as a table that is kept up to date in its place, while the user types commands below it.
//!
//! Decided here: the contents of the table, and the text that keeps it in its place on a terminal. Not here: which
//! output is a terminal (`screen.rs`).

use actix_bully::testkit::cluster::{AgentStatus, ClusterStatus};

/// Returns the table: a line with the names of the columns, a line for each agent, and a line about the agents that do
/// not fit. `why` has each agent's explanation of its leader.
pub(crate) fn table(status: &ClusterStatus, why: &[String], most: usize) -> Vec<String> {
    let head = [
        "AGENT", "ROLE", "TERM", "INC", "SCORE", "LEASE", "LEADER", "WHY",
    ];
    let shown = status.agents().iter().zip(why).take(most);
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(shown.map(|(agent, why)| cells(agent, why)));
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, wide)| format!("{cell:wide$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<_> = rows.iter().map(line).collect();
    if let Some(more @ 1..) = status.agents().len().checked_sub(most) {
        lines.push(format!("and {more} more agents"));
    }
    lines
}

/// Returns the cells of one agent. The leader's role is in capitals, so that the word gives the same information as the
/// colour.
fn cells(agent: &AgentStatus, why: &str) -> [String; 8] {
    let none = || "-".to_owned();
    let condition = agent.condition.to_string();
    let mut role = match condition.as_str() {
        "up" if agent.leads => "LEADER".to_owned(),
        "up" => agent.status.role.to_string(),
        other if agent.leads => format!("LEADER, {other}"),
        other => other.to_owned(),
    };
    if agent.isolated {
        role.push_str(", isolated");
    }
    [
        agent.name.to_string(),
        role,
        agent.status.term.to_string(),
        agent.status.incarnation.to_string(),
        agent.score.map_or_else(none, |score| score.to_string()),
        agent
            .lease_left
            .map_or_else(none, |left| format!("{} ms", left.as_millis())),
        agent
            .status
            .leader
            .as_ref()
            .map_or_else(none, |leader| leader.id.to_string()),
        why.to_owned(),
    ]
}

/// Returns the text for a whole screen: the table at its top, then the lines `below`, and then the prompt.
pub(crate) fn page(table: &[String], below: &[String], prompt: &str, colours: bool) -> String {
    let mut out = String::from("\x1b[H\x1b[2J");
    out.push_str(&rows(table, colours));
    for line in below {
        out.push('\n');
        out.push_str(line);
    }
    out.push_str("\n\n");
    out.push_str(prompt);
    out
}

/// Returns the text that replaces the table at the top, and leaves the cursor at the typed text.
pub(crate) fn refresh(table: &[String], colours: bool) -> String {
    format!("\x1b7\x1b[H{}\x1b8", rows(table, colours))
}

/// Cuts each line at the edge of the terminal, so that it takes one row.
fn rows(table: &[String], colours: bool) -> String {
    let mut out = String::from("\x1b[?7l");
    for (at, line) in table.iter().enumerate() {
        let style = match at {
            0 => "2",
            _ if line.split_whitespace().nth(1).is_some_and(leads) => "1;32",
            _ => "",
        };
        let (begin, end) = match style {
            "" => (String::new(), ""),
            _ if !colours => (String::new(), ""),
            _ => (format!("\x1b[{style}m"), "\x1b[0m"),
        };
        for part in [&*begin, line, end, "\x1b[K\n"] {
            out.push_str(part);
        }
    }
    out.push_str("\x1b[?7h");
    out
}

fn leads(role: &str) -> bool {
    role.trim_end_matches(',') == "LEADER"
}
