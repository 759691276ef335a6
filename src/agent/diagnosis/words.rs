//! Parts of the sentences of findings: spans, counts, presets, lists of names, roles, links.
//!
//! Decided here: how each part is written. Not here: the sentences (`sentence.rs`).

use std::{fmt, time::Duration};

use crate::protocol::{AgentId, Role};

/// A span in a unit that suits its length.
pub(super) struct Span(pub(super) Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(1) {
            write!(f, "{} ms", self.0.as_millis())
        } else {
            write!(f, "{:.1} s", self.0.as_secs_f64())
        }
    }
}

/// A number of times: "once", "twice", "3 times".
pub(super) struct Times(pub(super) u32);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("once"),
            2 => f.write_str("twice"),
            times => write!(f, "{times} times"),
        }
    }
}

/// The name of the timings, or "this configuration".
pub(super) struct Configured(pub(super) Option<&'static str>);

impl fmt::Display for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.unwrap_or("this configuration"))
    }
}

/// The preset that a sentence recommends, with a comma after it; an empty text without a preset.
pub(super) struct Advice(pub(super) Option<&'static str>);

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |preset| write!(f, "{preset}, "))
    }
}

/// A list of names. A long list is shortened, and ends with the number of the other names.
pub(super) struct Names<'a>(pub(super) &'a [AgentId]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("more of them");
        }
        for (at, name) in self.0.iter().take(A_FEW).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{name}")?;
        }
        match self.0.len().saturating_sub(A_FEW) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Largest number of names of a list that are written.
const A_FEW: usize = 5;

pub(super) struct Article(pub(super) Role);

impl fmt::Display for Article {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Role::Follower => "a follower",
            Role::Candidate => "a candidate",
            Role::Waiting => "waiting for an agent of higher rank",
            Role::Leader => "the leader",
        })
    }
}

/// Writes the sentence about a peer that is not linked. The advice belongs to the error, and comes from the part that
/// found the error.
pub(super) fn unlinked(
    f: &mut fmt::Formatter<'_>,
    node: &str,
    address: Option<&str>,
    error: Option<&str>,
    advice: Option<&str>,
    since: Duration,
) -> fmt::Result {
    let since = Span(since);
    match address {
        Some(address) => write!(f, "{node} at {address} has not been linked for {since}")?,
        None => write!(
            f,
            "{node}, which has to dial this node, has not been linked for {since}"
        )?,
    }
    match (error, advice, address) {
        (Some(error), Some(advice), _) => write!(f, ": {error}: {advice}"),
        (Some(error), None, _) => write!(f, ": {error}"),
        (None, _, Some(_)) => f.write_str(": it is being dialled"),
        (None, _, None) => f.write_str(": check that it runs, and has this node's address"),
    }
}
