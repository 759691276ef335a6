//! The past of a group, as this process saw it: who led, in which term, from when until when, why that ended, and how long
//! there was no leader; and what the diagnosis found meanwhile.
//!
//! ```text
//!   agents of the group here ── events ──▶ KeptHistory ──▶ GroupHistory: a report, a route, `bullyctl history`, the page
//!   Operated::keep_history ── findings ──▶      ▲ │
//!                                               │ ▼ a file beside the store of votes, or in the folder of the records
//! ```
//!
//! It is kept whether anybody looks or not: an operator asks after the trouble. Nothing waits for it. The agents of a
//! process share one history of their group. It is the view of one of them; when that one ends, the next one goes on.
//!
//! # Limits
//! | of | limit | what goes first |
//! |---|---|---|
//! | one group | 1,000 leaderships, 30 minutes of findings, 256 KiB | the oldest findings, then the oldest leaderships |
//! | all groups of a process | 8 MiB | the same, of the group that has something new |
//! | a finding's sentence | 400 bytes | its end |
//!
//! Decided here: what is one leadership, what is known of its end, and what is forgotten (`book.rs`, pure); the form of the
//! file (`lines.rs`). Not here: when the file is written ([`operate`](crate::operate)). No rule of an election reads it.

mod book;
mod lines;
#[cfg(test)]
mod tests;

use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    group::Attachments,
    protocol::{AgentId, Event, LostReason, Term, Time},
};

use book::HistoryBook;

/// One leadership of a group, as this process saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Leadership {
    /// Who led.
    pub leader: AgentId,
    /// In which term.
    #[serde(with = "lines::term")]
    pub term: Term,
    /// Since when, in milliseconds since 1970 by this host's wall clock.
    pub from_unix_ms: u64,
    /// For how long there was no leader before, in milliseconds; `None` where that is not known: it is the first one, or
    /// the agent that saw it had just started.
    pub without_ms: Option<u64>,
    /// Until when, if it was seen to end.
    pub until_unix_ms: Option<u64>,
    /// Why it ended; `None` while it goes on.
    pub end: Option<LeadershipEnd>,
    /// The agent of this process that saw it.
    pub seen_by: AgentId,
}

/// What is known of the end of a leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeadershipEnd {
    /// The leader is an agent of this process, and this is its reason.
    Lost(LostReason),
    /// The leader has crashed, or was stopped.
    Down,
    /// It is an agent of another process, which has stepped down or was not heard for too long.
    Gone,
    /// The next leader followed at once, as after a hand-over.
    Replaced,
    /// The same agent leads on in a higher term.
    Renewed,
    /// This process ended before.
    Unseen,
}

impl fmt::Display for LeadershipEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(reason) => reason.fmt(f),
            Self::Down => f.write_str("it crashed or was stopped"),
            Self::Gone => f.write_str("it stepped down, or was not heard"),
            Self::Replaced => f.write_str("replaced at once"),
            Self::Renewed => f.write_str("led on in a higher term"),
            Self::Unseen => f.write_str("this process ended before"),
        }
    }
}

/// A finding of the diagnosis of an agent, for as long as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PastFinding {
    /// The agent.
    pub agent: AgentId,
    /// The name of the finding, as in the JSON of a [`Diagnosis`](crate::agent::Diagnosis).
    pub kind: String,
    /// Its sentence as it was last.
    pub text: String,
    /// When it was found first, in milliseconds since 1970 by this host's wall clock.
    pub from_unix_ms: u64,
    /// When it was found last.
    pub until_unix_ms: u64,
}

/// The past of one group, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupHistory {
    /// The group.
    pub group: String,
    /// Its leaderships.
    pub leaderships: Vec<Leadership>,
    /// What was found in the last half an hour.
    pub findings: Vec<PastFinding>,
}

/// The past of a group, as its process keeps it.
#[derive(Debug, Default)]
pub(crate) struct KeptHistory(Mutex<HistoryBook>);

/// When something was seen: by the clock of the agent that saw it, and by the wall clock in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenAt {
    pub(crate) now: Time,
    pub(crate) unix_ms: u64,
}

impl KeptHistory {
    /// That of a group.
    pub(crate) fn of(kept: &Attachments) -> Arc<Self> {
        let made = kept.find(|| Ok::<_, Infallible>(Arc::default()));
        made.unwrap_or_else(|never| match never {})
    }

    /// An agent was told that event. `is_down` says whether the end of that member is confirmed.
    pub(crate) fn note(
        &self,
        by: &AgentId,
        at: SeenAt,
        event: &Event,
        is_down: impl FnOnce(&AgentId) -> bool,
    ) {
        self.book().note(by, at, event, is_down);
    }

    /// The incarnation of an agent has ended: another one says what happens from now on.
    pub(crate) fn ended(&self, by: &AgentId) {
        self.book().ended(by);
    }

    /// What the diagnosis of an agent finds now.
    pub(crate) fn found<'a>(
        &self,
        agent: &AgentId,
        unix_ms: u64,
        findings: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        let mut book = self.book();
        for (kind, text) in findings {
            book.found(agent, unix_ms, kind, text);
        }
        book.forget_old(unix_ms);
    }

    /// How many leaderships began since then.
    pub(crate) fn began_since(&self, unix_ms: u64) -> usize {
        self.book().began_since(unix_ms)
    }

    pub(crate) fn read(&self, group: &str) -> GroupHistory {
        self.book().read(group)
    }

    /// How often it was changed: what is saved is out of date when this is another number. That something is found for
    /// longer does not count.
    pub(crate) fn revision(&self) -> u64 {
        self.book().revision()
    }

    /// Puts the past of a process before this one in front. Says how many lines of the text were none of that group's.
    pub(crate) fn restore(&self, group: &str, text: &str) -> usize {
        let (past, wrong) = lines::read(group, text);
        self.book().restore(past);
        wrong
    }

    fn book(&self) -> MutexGuard<'_, HistoryBook> {
        // Each change is whole at once, so there is nothing to be poisoned.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GroupHistory {
    /// The file of it: one line of JSON for each leadership and each finding.
    pub(crate) fn to_lines(&self) -> String {
        lines::write(self)
    }
}

/// The most that is kept of a group.
const MOST_BYTES: usize = 256 << 10;

/// The longest file that is read: JSON takes more room than memory.
pub(crate) const MOST_OF_FILE: usize = 8 * MOST_BYTES;
