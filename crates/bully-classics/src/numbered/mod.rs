//! What the two elections of Garcia-Molina 1982 share: numbers that are never used twice, safe storage,
//! a status, and a task.

#[cfg(test)]
pub(super) mod fixture;

use std::fmt;

use serde::{Deserialize, Serialize};

use bully_core::protocol::{AgentId, Effects, Term};

/// One election of one agent, and the group that came of it: no agent ever uses it twice, in all its
/// incarnations.
///
/// Ordered by the count, then by the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElectionId {
    /// Larger than any that its agent knew when it began; the term of the leader that it elects.
    pub count: Term,
    /// The agent that holds it.
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

/// No election is held for a count above this one, and a message that names one is ignored: a count
/// this high is nonsense, and adopting it would use up the numbers.
pub(super) const LAST_COUNT: Term = Term(u64::MAX - (1 << 32));

/// The paper's safe storage: no election of any incarnation is numbered like an earlier one, and none
/// that is older than the last one obeyed is obeyed again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountRecord {
    /// The highest count that this agent has held an election with, obeyed, or been in a group of.
    pub count: Term,
}

/// The numbers that an agent knows, and the one that it keeps in safe storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Numbers {
    /// What is durable.
    pub record: CountRecord,
    /// The count that was durable when this incarnation began: what a former one may have obeyed.
    floor: Term,
    /// The latest election that this agent has held, or obeys.
    pub promised: Option<ElectionId>,
    /// The highest count heard of.
    pub seen: Term,
}

impl Numbers {
    pub(super) fn new(durable: Option<CountRecord>) -> Self {
        let record = durable.unwrap_or_default();
        Self {
            floor: record.count,
            promised: None,
            seen: record.count,
            record,
        }
    }

    pub(super) fn hear(&mut self, count: Term) {
        if count <= LAST_COUNT {
            self.seen = self.seen.max(count);
        }
    }

    /// The count of a new election; `None` if the counts have come to their end.
    pub(super) fn next(&self) -> Option<Term> {
        self.seen.next().filter(|count| *count <= LAST_COUNT)
    }

    /// Makes a count durable if it is larger than the one that is.
    pub(super) fn remember<M, T>(&mut self, count: Term, out: &mut Effects<M, T, CountRecord>) {
        // A number that is obeyed counts as heard: the next own one has to exceed it.
        self.hear(count);
        if count > self.record.count {
            self.record = CountRecord { count };
            out.persist(self.record.clone());
        }
    }

    /// Whether an election is no later than the last one obeyed. Of a former incarnation only the
    /// count is known.
    pub(super) fn is_older(&self, election: &ElectionId) -> bool {
        match &self.promised {
            Some(promised) => election <= promised,
            None => election.count <= self.floor,
        }
    }
}

/// What the paper calls S(i).s.
#[cfg(any(test, feature = "testkit"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaperStatus {
    /// Its incarnation has not begun.
    Down,
    /// It has no coordinator, and does no work.
    Election,
    /// It has obeyed a coordinator, and does not know the task.
    Reorganization,
    /// At work, under the coordinator, on the task.
    Normal,
}

#[cfg(any(test, feature = "testkit"))]
impl fmt::Display for PaperStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Down => "down",
            Self::Election => "election",
            Self::Reorganization => "reorganization",
            Self::Normal => "normal",
        })
    }
}

/// How a member watches its coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CoordinatorWatch {
    /// The coordinator is expected to be heard before the time is due.
    Hears,
    /// It was silent, and is asked whether it is there.
    Asks,
}
