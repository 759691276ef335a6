//! Parts of the sentences of findings: spans, counts, presets, lists of names, roles, links, changes of voters.
//!
//! Decided here: how each is written. Not here: the sentences (`sentence.rs`).

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

/// A peer that is not linked. The advice belongs to the error, and comes from the part that found the error.
pub(super) struct UnlinkedWords<'a> {
    pub(super) node: &'a str,
    pub(super) address: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    pub(super) advice: Option<&'a str>,
    pub(super) since: Duration,
}

impl fmt::Display for UnlinkedWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = Span(self.since);
        f.write_str(self.node)?;
        match self.address {
            Some(address) => write!(f, " at {address} has not been linked for {since}")?,
            None => write!(
                f,
                ", which has to dial this node, has not been linked for {since}"
            )?,
        }
        match (self.error, self.advice, self.address) {
            (Some(error), Some(advice), _) => write!(f, ": {error}: {advice}"),
            (Some(error), None, _) => write!(f, ": {error}"),
            (None, _, Some(_)) => f.write_str(": it is being dialled"),
            (None, _, None) => f.write_str(": check that it runs, and has this node's address"),
        }
    }
}

/// A change of the voters that is under way.
pub(super) struct ChangeWords {
    pub(super) epoch: Option<u64>,
    pub(super) is_asked_here: bool,
    pub(super) since: Duration,
}

impl fmt::Display for ChangeWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = Span(self.since);
        let asked = if self.is_asked_here {
            "this agent was asked for it"
        } else {
            "another agent was asked for it"
        };
        match self.epoch {
            Some(epoch) => write!(
                f,
                "a change of the voters, to epoch {epoch}, has been under way for {since}, and {asked}: it is decided once a quorum of the present voters can be reached"
            ),
            None => write!(
                f,
                "this agent was asked to change the voters {since} ago, and the leader has not answered: it is asked again until there is one"
            ),
        }
    }
}
