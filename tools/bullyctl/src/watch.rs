//! A line whenever something that matters has changed.

use std::{
    io::{self, Write},
    thread,
    time::Instant,
};

use crate::{args::Watch, failure::Failure, node::Node, show};

/// Looks at the node until enough lines were printed.
///
/// A node that does not answer at first is a failure; one that falls silent later is told of, and waited for.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of one thread that waits for a person's clock"
)]
pub(crate) fn watch(node: &Node, watch: &Watch, is_json: bool) -> Result<(), Failure> {
    let began = Instant::now();
    let mut left = watch.lines;
    let mut last = Vec::new();
    loop {
        let lines = match node.report() {
            Ok(report) if is_json => report
                .agents
                .iter()
                .map(|agent| (show::line(agent), show::json(agent)))
                .collect(),
            Ok(report) => {
                let lines = report.agents.iter().map(show::line);
                lines.map(|line| (line.clone(), line)).collect()
            }
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
