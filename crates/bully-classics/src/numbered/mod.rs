//! The parts that the two elections of Garcia-Molina 1982 share: numbers that are never used twice, safe storage, a
//! status, and a task.

#[cfg(test)]
pub(super) mod fixture;

use std::fmt;

use serde::{Deserialize, Serialize};

use bully_core::protocol::{AgentId, Effects, Term};

/// The id of an election, and of the group that it forms. No agent uses an id twice, in any incarnation.
///
/// Ids compare by the count first, then by the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElectionId {
    /// Count of the election, and term of the elected leader. The count is larger than any count that the agent knew
    /// when the election began.
    pub count: Term,
    /// The agent that holds the election.
    pub id: AgentId,
}

impl fmt::Display for ElectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.count, self.id)
    }
}

/// The task that a coordinator gives to all members: an opaque number, which the paper calls d.
///
/// It may be the number of a plan, a shard map or a configuration that the members have. The election never
/// compares it. Its fixed size limits the size of the message.
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

/// Highest valid count of an election. Agents ignore a message with a higher count: if they adopted the highest one, no
/// count would be left for the next election.
pub(super) const LAST_COUNT: Term = Term(u64::MAX - (1 << 32));

/// The paper's safe storage. No election of any incarnation gets the number of an earlier election, and the agent
/// never obeys an election that is older than the last one that it obeyed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountRecord {
    /// Highest count among the elections that this agent has held or obeyed and the groups in which it has been.
    pub count: Term,
}

/// The counts that an agent knows, and the count in its durable record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Numbers {
    /// The durable record.
    pub record: CountRecord,
    /// The durable count when this incarnation began. An earlier incarnation may have obeyed it.
    floor: Term,
    /// The latest election that this agent has held or obeys.
    pub promised: Option<ElectionId>,
    /// Highest count that this agent has seen in a message.
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

    /// Returns the count of a new election; `None` when the counts are used up.
    pub(super) fn next(&self) -> Option<Term> {
        self.seen.next().filter(|count| *count <= LAST_COUNT)
    }

    /// Makes a count durable if it is larger than the durable count.
    pub(super) fn remember<M, T>(&mut self, count: Term, out: &mut Effects<M, T, CountRecord>) {
        // A count that the agent obeys also counts as heard: the agent's own next count must exceed it.
        self.hear(count);
        if count > self.record.count {
            self.record = CountRecord { count };
            out.persist(self.record.clone());
        }
    }

    /// Returns whether an election is not later than the last election that this agent obeyed. If an earlier
    /// incarnation obeyed it, only its count is known.
    pub(super) fn is_older(&self, election: &ElectionId) -> bool {
        match &self.promised {
            Some(promised) => election <= promised,
            None => election.count <= self.floor,
        }
    }
}

/// The status of an agent: the paper's S(i).s.
#[cfg(any(test, feature = "testkit"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaperStatus {
    /// The incarnation has not begun.
    Down,
    /// The agent has no coordinator and does no work.
    Election,
    /// The agent has obeyed a coordinator and does not know the task.
    Reorganization,
    /// The agent works under the coordinator on the task.
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

/// The way in which a member watches its coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CoordinatorWatch {
    /// The member expects a message of the coordinator before the time is due.
    Hears,
    /// The coordinator was silent, and the member has asked whether the coordinator is up.
    Asks,
}
