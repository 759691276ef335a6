//! Parts of the sentences of findings: spans, lists of names, roles, and how far a recovery is.
//!
//! Decided here: how each is written. Not here: the sentences (`finding.rs`).

use std::{fmt, time::Duration};

use crate::protocol::{AgentId, Role};

/// A span as people read it.
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

/// The names of a few; of many, how many more there are.
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

/// So many names are said.
const A_FEW: usize = 5;

/// A role in a sentence.
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

/// How far an agent is that has no record.
pub(super) struct RecoveryWords {
    pub(super) left: Duration,
    pub(super) answers: u32,
    pub(super) recover: u32,
    pub(super) needed: u32,
}

impl fmt::Display for RecoveryWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            left,
            answers,
            recover,
            needed,
        } = self;
        let remember = answers.saturating_sub(*recover);
        f.write_str("this agent has no record of its votes, and recovers: ")?;
        if !left.is_zero() {
            return write!(
                f,
                "it abstains for {}, and asks what the other voters remember",
                Span(*left)
            );
        }
        write!(
            f,
            "{answers} other voters have answered, {remember} of the {needed} that it needs remember"
        )?;
        if *recover > 0 {
            return write!(f, ", and {recover} recover themselves");
        }
        f.write_str(": start the others, or mend the links")
    }
}
