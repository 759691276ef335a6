//! The reasons why the leader is not the member with the highest rank.
//!
//! Decided here: the reasons, and the words of each. Not here: which reason is true (`judge.rs`).

use std::{fmt, time::Duration};

use serde::Serialize;

use super::words::Span;
use crate::shown;

/// The reason why a member that ranks above the leader does not lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotLeading {
    /// The member cannot be reached.
    Unreachable,
    /// The member is in its cool-down: it lets other agents lead first, because it has stepped down. An agent knows
    /// this only about itself.
    CoolsDown {
        /// Rest of the cool-down. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// The policy lets this member replace a live leader only after the member has been present for a certain time.
    TakesOver {
        /// Shortest time until the member may take over. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// Too few voters can be reached for an election.
    NoMajority,
    /// By this agent's policy, no member of a higher rank replaces a leader that lives.
    Never,
    /// This agent does not know the reason: the member may be in its cool-down, or take over soon.
    Unknown,
}

impl fmt::Display for NotLeading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("but cannot be reached"),
            Self::CoolsDown { left } => {
                write!(
                    f,
                    "but stepped down and lets others go first for {}",
                    Span(*left)
                )
            }
            Self::TakesOver { left } => {
                write!(f, "and takes over in {} at the earliest", Span(*left))
            }
            Self::NoMajority => f.write_str("but too few voters can be reached for an election"),
            Self::Never => f.write_str("but a live leader never gives way by this policy"),
            Self::Unknown => f.write_str("and takes over soon, unless it cools down"),
        }
    }
}
