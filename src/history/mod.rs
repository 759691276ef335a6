//! The history of a group, as this process saw it: each leadership with its leader, its term, its end and the reason
//! for the end; the times without a leader; and the findings of the diagnosis.
//!
//! ```text
//!   agents of the group here ── events ──▶ KeptHistory ──▶ GroupHistory: a report, a route, `bullyctl history`, the page
//!   Operated::keep_history ── findings ──▶      ▲ │
//!                                               │ ▼ a file beside the store of votes, or in the folder of the records
//! ```
//!
//! The history is always kept, because an operator needs it only after a problem has occurred. No agent waits for it.
//! The agents of a process share one history of their group. The history is written from the events of one agent; when
//! this agent ends, the history is continued from the events of another agent.
//!
//! # Limits
//! | of | limit | removed first |
//! |---|---|---|
//! | one group | 1,000 leaderships, 30 minutes of findings, 256 KiB | the oldest findings, then the oldest leaderships |
//! | all groups of a process | 8 MiB | the oldest entries of the group that gets a new entry |
//! | a finding's sentence | 400 bytes | the end of the sentence |
//!
//! Decided here: which events form one leadership, how its end is described, and which entries are removed (`book.rs`,
//! pure); the form of the file (`lines.rs`). Not here: when the file is written ([`operate`](crate::operate)). No rule
//! of an election reads the history.

mod book;
#[cfg(test)]
mod ends;
mod lines;
#[cfg(test)]
mod tests;

use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use bully_core::elections::quorum::epoch::SpokenTerm;

use crate::{
    clock::WallTime,
    group::Attachments,
    protocol::{AgentId, LostReason, Term, Time},
    shown,
};

use book::HistoryBook;

/// One leadership of a group, as this process saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Leadership {
    /// The leader.
    pub leader: AgentId,
    /// The term.
    #[serde(with = "shown::text")]
    pub term: Term,
    /// The time at which the leadership began, in milliseconds since 1970 by this host's wall clock.
    pub from_unix_ms: u64,
    /// The time without a leader before this leadership, in milliseconds. It begins with the end of the former
    /// leadership; see [`until_unix_ms`](Self::until_unix_ms). `None` if it is unknown, because this is the first
    /// leadership, or the agent that saw it had just started.
    pub without_ms: Option<u64>,
    /// The time at which the leadership ended, in milliseconds since 1970 by this host's wall clock; `None` if no agent
    /// of this process saw the end. If the leader fell silent, it is the leader's last sign of life. If the lease of an
    /// agent of this process ran out, it is the end of that lease. In an election by ring, ballot, reorganization or
    /// invitation it is the time at which the agent missed the leader.
    pub until_unix_ms: Option<u64>,
    /// The kind of the leadership's end; `None` while the leadership continues.
    pub end: Option<LeadershipEnd>,
    /// The agent of this process that saw the leadership.
    pub seen_by: AgentId,
}

/// The end of a leadership, as far as this process knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeadershipEnd {
    /// The leader is an agent of this process, and gave this reason.
    Lost(LostReason),
    /// The leader announced that it hands over: it stepped down, left, or was stopped in order.
    HandedOver,
    /// The end of the leader's agent or of its process was reported, by a sentinel, a supervisor or the process itself.
    Down,
    /// The leader fell silent: its process crashed without a sentinel, is frozen, or is cut off. In an election by
    /// ring, ballot, reorganization or invitation, the agents do not know the reason: another agent may have replaced
    /// the leader.
    Gone,
    /// Another agent announced itself as leader, or began an election, although this leader was still heard.
    Replaced,
    /// The same agent continues to lead in a higher term.
    Renewed,
    /// No agent of this process saw the end.
    Unseen,
}

impl fmt::Display for LeadershipEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(reason) => reason.fmt(f),
            Self::HandedOver => f.write_str("it handed over"),
            Self::Down => f.write_str("its process or agent ended"),
            Self::Gone => f.write_str("it was not heard any more (crashed, frozen or cut off)"),
            Self::Replaced => f.write_str("another agent took over"),
            Self::Renewed => f.write_str("led on in a higher term"),
            Self::Unseen => f.write_str("out of sight of this process"),
        }
    }
}

/// A finding of the diagnosis of an agent, with the time for which it lasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PastFinding {
    /// The agent that made the diagnosis.
    pub agent: AgentId,
    /// The name of the finding: its `kind` in the JSON of a [`Diagnosis`](crate::agent::Diagnosis).
    pub kind: String,
    /// The last text of the finding.
    pub text: String,
    /// The time at which the diagnosis first had this finding, in milliseconds since 1970 by this host's wall clock.
    pub from_unix_ms: u64,
    /// The time at which the diagnosis last had this finding.
    pub until_unix_ms: u64,
}

/// The history of one group, the oldest entry first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupHistory {
    /// The name of the group.
    pub group: String,
    /// The leaderships of the group.
    pub leaderships: Vec<Leadership>,
    /// The findings of the last half an hour.
    pub findings: Vec<PastFinding>,
}

/// The history of a group, which all agents of the group in this process share.
#[derive(Debug, Default)]
pub(crate) struct KeptHistory(Mutex<HistoryBook>);

/// The time at which an agent saw an event: by the agent's own clock, and by the wall clock in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenAt {
    pub(crate) now: Time,
    pub(crate) unix_ms: u64,
}

impl KeptHistory {
    /// Returns the history that all agents of a group share. The first call makes it.
    pub(crate) fn of(kept: &Attachments) -> Arc<Self> {
        let made = kept.find(|| Ok::<_, Infallible>(Arc::default()));
        made.unwrap_or_else(|never| match never {})
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, HistoryBook> {
        // A poisoned lock is used, because a panic leaves no partial change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the history of an earlier process before this history, but only once. Returns the number of wrong lines in
    /// `text`; `None` if an earlier history was already added.
    pub(crate) fn restore(&self, group: &str, text: &str) -> Option<usize> {
        // The text is read without the lock, because each event of an agent needs the lock.
        let (past, wrong) = lines::read(group, text);
        self.book().restore(past).then_some(wrong)
    }
}

/// The text is one line for people, with times in UTC.
impl fmt::Display for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = WallTime::from_millis(self.from_unix_ms);
        let term = SpokenTerm(self.term);
        write!(f, "{} led in term {term} from {from}", self.leader)?;
        if let Some(until) = self.until_unix_ms {
            write!(f, " to {}", WallTime::from_millis(until))?;
        }
        match self.end {
            Some(end) => write!(f, ": {end}"),
            None => f.write_str(", and leads"),
        }
    }
}

impl GroupHistory {
    /// Returns the text of the file: one line of JSON for each leadership and each finding.
    pub(crate) fn to_lines(&self) -> String {
        lines::write(self)
    }
}

/// Largest memory of the history of a group, in bytes.
const MOST_BYTES: usize = 256 << 10;

/// Longest file that is read, in bytes. A history needs more space as JSON than in memory.
pub(crate) const MOST_OF_FILE: usize = 8 * MOST_BYTES;
