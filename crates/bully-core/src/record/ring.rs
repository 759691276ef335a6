//! The newest entries of a run that has no end, within a limit.
//!
//! Decided here: the oldest entries are forgotten first; each entry counts by its number of bytes in the file; and
//! which entries are kept after an error. A limit is never exceeded, even if a user asks for a higher one. Not here:
//! when an agent records (`agent::record`).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Header, TraceEntry, What};
use crate::protocol::{Role, Time};

/// Limits of the record of a running agent, which holds its entries in memory as text. The limit that is reached first
/// counts. The default values are chosen: with about 210 bytes for an entry, both limits are reached together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordLimits {
    /// Largest number of entries: 5,000 by default, 50,000 at most.
    pub entries: usize,
    /// Largest size of the entries in a file, in bytes: 1 MiB by default, 8 MiB at most.
    pub bytes: usize,
}

impl Default for RecordLimits {
    fn default() -> Self {
        Self {
            entries: 5_000,
            bytes: 1 << 20,
        }
    }
}

impl RecordLimits {
    fn clamped(self) -> Self {
        Self {
            entries: self.entries.min(50_000),
            bytes: self.bytes.min(8 << 20),
        }
    }
}

/// The newest entries of an agent, within limits.
#[derive(Clone, Debug)]
pub struct BoundedRecord {
    limits: RecordLimits,
    /// The entries, as lines of a file.
    lines: VecDeque<Box<str>>,
    bytes: usize,
    forgotten: u64,
    last: Time,
    role: Option<Role>,
}

impl BoundedRecord {
    /// Returns an empty record.
    pub fn new(limits: RecordLimits) -> Self {
        Self {
            limits: limits.clamped(),
            lines: VecDeque::new(),
            bytes: 0,
            forgotten: 0,
            last: Time::ZERO,
            role: None,
        }
    }

    /// Adds an entry, and forgets the oldest entries if a limit is exceeded.
    pub fn push(&mut self, at: Time, what: What) {
        // The later time counts, because two threads may add entries in another order than they read the clock.
        self.last = self.last.max(at);
        let line = TraceEntry {
            at: self.last,
            what,
        }
        .to_line()
        .into_boxed_str();
        self.bytes = self.bytes.saturating_add(line.len());
        self.lines.push_back(line);
        while self.lines.len() > self.limits.entries || self.bytes > self.limits.bytes {
            let Some(oldest) = self.lines.pop_front() else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(oldest.len());
            self.forgotten = self.forgotten.saturating_add(1);
        }
    }

    /// Adds the entry of a role if the role has changed.
    pub fn role(&mut self, role: Role, entry: impl FnOnce() -> (Time, What)) {
        if self.role.replace(role) != Some(role) {
            let (at, what) = entry();
            self.push(at, what);
        }
    }

    /// Returns the present entries as a file.
    pub fn to_jsonl(&self, mut header: Header, now: Time) -> String {
        header.forgotten = self.forgotten;
        let mut text = header.to_line();
        let end = TraceEntry {
            at: self.last.max(now),
            what: What::Ended,
        };
        for line in self
            .lines
            .iter()
            .map(|line| &**line)
            .chain([&*end.to_line()])
        {
            text.push('\n');
            text.push_str(line);
        }
        text.push('\n');
        text
    }
}
