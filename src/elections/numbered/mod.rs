//! What the two elections of 1982 share: numbers that are never used twice, safe storage, a task.

#[cfg(test)]
pub(super) mod fixture;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, Term};

/// One election of one agent, and the group that came of it: never used twice, by nobody, in all
/// lives.
///
/// Ordered by the count, then by the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElectionId {
    /// Larger than any that its agent knew when it began; the term of who is elected by it.
    pub count: Term,
    /// Who holds it.
    pub id: AgentId,
}

impl fmt::Display for ElectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.count, self.id)
    }
}

/// The task that a coordinator hands to all: an opaque number, which the paper calls d.
///
/// It may number a plan, a shard map or a configuration that the members hold; the election
/// compares it with nothing. Its size bounds the message that carries it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Task(pub u64);

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// No election is held for a count above this one, and nobody is believed who names one: a count
/// this high is nonsense, and adopting it would use up the numbers.
pub(super) const LAST_COUNT: Term = Term(u64::MAX - (1 << 32));

/// The paper's safe storage: no election of any life is numbered like an earlier one, and none that
/// is older than the last one obeyed is obeyed again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The highest count that this agent has held an election with, obeyed, or been in a group of.
    pub count: Term,
}
