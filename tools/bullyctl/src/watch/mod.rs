//! Prints a line for each change that matters; on a terminal, keeps a table up to date.
//!
//! Decided here: lines or a table. Lines are printed if the output goes to a file or a pipe, or if the user asks for
//! lines. Not here: which other nodes are watched, and how they are asked (`known.rs`, `all.rs`).

mod all;
pub(crate) mod known;
#[cfg(test)]
mod tests;

use std::{
    env,
    io::{self, IsTerminal, Write},
    thread,
    time::Instant,
};

use crate::{args::Watch, failure::Failure, node::Node, show};
use all::Everyone;
pub(crate) use all::SeenNode;

/// The watched nodes.
enum Watched<'a> {
    One(&'a Node),
    All(Everyone<'a>),
}

impl Watched<'_> {
    /// Asks the nodes. Returns each line with its key: the line without the values that change all the time.
    fn lines(&mut self, is_json: bool) -> Result<Vec<(String, String)>, Failure> {
        match self {
            Self::One(node) => {
                let report = node.report()?;
                let lines = report.agents.iter().map(|agent| {
                    let line = show::line(agent);
                    let shown = if is_json {
                        show::json(agent)
                    } else {
                        line.clone()
                    };
                    (line, shown)
                });
                Ok(lines.collect())
            }
            Self::All(nodes) => {
                nodes.look()?;
                Ok(show::all_lines(&nodes.nodes(), is_json))
            }
        }
    }

    /// Asks the nodes. Returns the table, and the sentences below the table.
    fn board(&mut self) -> Result<String, Failure> {
        match self {
            Self::One(node) => {
                let report = node.report()?;
                let why = node.diagnosis()?;
                Ok(show::board(&report, &why))
            }
            Self::All(nodes) => {
                nodes.look()?;
                Ok(show::all(&nodes.nodes()))
            }
        }
    }
}

/// Asks the node, or all nodes that it knows, until enough lines were printed.
///
/// If the node does not answer at first, that is a failure. If it stops answering later, a line reports this, and the
/// watch waits for the node.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of one thread that waits for a person's clock"
)]
pub(crate) fn watch(node: &Node, watch: &Watch, is_json: bool) -> Result<(), Failure> {
    let mut watched = if watch.all {
        Watched::All(Everyone::new(node))
    } else {
        Watched::One(node)
    };
    // A dumb terminal cannot move its cursor, so no table can be kept in its place.
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    if io::stdout().is_terminal() && !is_json && !is_dumb && watch.lines.is_none() {
        return keep(&mut watched, watch);
    }
    let began = Instant::now();
    let mut left = watch.lines;
    let mut last = Vec::new();
    loop {
        let lines = match watched.lines(is_json) {
            Ok(lines) => lines,
            Err(failure) if last.is_empty() => return Err(failure),
            Err(failure @ Failure::Unreachable { .. }) => {
                let line = format!("{failure}\n");
                let shown = if is_json {
                    "null\n".to_owned()
                } else {
                    line.clone()
                };
                vec![(line, shown)]
            }
            Err(failure) => return Err(failure),
        };
        let mut out = io::stdout().lock();
        for (key, line) in &lines {
            if last.contains(key) {
                continue;
            }
            let elapsed = began.elapsed().as_secs_f64();
            let printed = if is_json {
                write!(out, "{line}")
            } else {
                write!(out, "+{elapsed:.1}s  {line}")
            };
            printed
                .and_then(|()| out.flush())
                .map_err(Failure::Output)?;
            if let Some(left) = &mut left {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    return Ok(());
                }
            }
        }
        drop(out);
        last = lines.into_iter().map(|(key, _)| key).collect();
        thread::sleep(watch.every);
    }
}

/// Keeps a table on the terminal up to date, until a signal ends the program.
///
/// If the node does not answer at first, that is a failure. If it stops answering later, a line below the last table
/// reports this.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of one thread that waits for a person's clock"
)]
fn keep(watched: &mut Watched<'_>, watch: &Watch) -> Result<(), Failure> {
    let wants_colours = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut board = show::Board::new(wants_colours);
    let mut last = None;
    loop {
        let text = match (watched.board(), &last) {
            (Ok(text), _) => {
                last = Some(text.clone());
                text
            }
            (Err(failure @ Failure::Unreachable { .. }), Some(last)) => {
                format!("{last}{}\n", show::clean(&failure.to_string()))
            }
            (Err(failure), _) => return Err(failure),
        };
        let mut out = io::stdout().lock();
        out.write_all(board.frame(&text, columns()).as_bytes())
            .and_then(|()| out.flush())
            .map_err(Failure::Output)?;
        drop(out);
        thread::sleep(watch.every);
    }
}

/// Returns the present width of the terminal in columns, if known.
#[cfg(unix)]
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col))
}

#[cfg(not(unix))]
const fn columns() -> Option<usize> {
    None
}
