//! The agents that could take the lease, by the rows that the agents of all processes write. This file uses no store
//! and no runtime.
//!
//! Decided here: how often rows are written and read, when an agent is considered absent, when its row is removed, when
//! two processes use one name, and to which agent of another process a leader hands over. Not here: the operations on a
//! store (`presence.rs`). The safety of a lease does not depend on the rows: if the chosen successor is gone, another
//! agent takes the lease a moment later.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    elections::lease::{LeaseName, PresentRecord, RegisterRecord},
    protocol::{About, AgentId, Incarnation, Rank, Score, Time},
    register::{Entry, RegisterKey},
};

/// An agent of this process, with the data of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentHere {
    pub(super) id: AgentId,
    pub(super) incarnation: Incarnation,
    pub(super) score: Option<Score>,
    /// The present time by the clock of the agent's schedules, in milliseconds since 1970.
    pub(super) wall: u64,
    pub(super) about: Option<About>,
}

/// An agent that could take the lease, as its row shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreContender {
    pub(crate) id: AgentId,
    pub(crate) score: Option<Score>,
    /// The text that the agent publishes about itself.
    pub(crate) about: Option<About>,
    /// Time since the agent's row was first seen with its present content.
    pub(crate) unchanged: Duration,
}

/// The reading of a contender's clock, by its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContenderClock {
    pub(crate) id: AgentId,
    pub(crate) score: Option<Score>,
    /// The clock's present time, in milliseconds since 1970, under the assumption that the row was read at the moment
    /// at which it was written.
    pub(crate) wall: u64,
    /// Longest time between the write of the row and its reading: the clock is ahead of `wall` by at most this time.
    pub(crate) within: Duration,
    /// Whether this process has seen the row change. A row that has not changed since the first reading may belong to
    /// an agent that is gone.
    pub(crate) is_alive: bool,
}

/// A change of a row that this process has to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowChange {
    Write {
        id: AgentId,
        incarnation: Incarnation,
        expected: Option<Entry>,
        value: Vec<u8>,
    },
    Remove {
        key: RegisterKey,
        expected: Entry,
    },
}

#[derive(Debug)]
pub(super) struct PresentRoster {
    name: LeaseName,
    rows: BTreeMap<AgentId, SeenRow>,
    /// The agents of this process whose rows were written, each with the incarnation in the row.
    written: BTreeMap<AgentId, Incarnation>,
    /// The agents of this process whose names another process uses: each with the other incarnation that was seen in
    /// its row, and the time at which it was seen.
    twice: BTreeMap<AgentId, (Incarnation, Time)>,
    /// Time of the last reading of the rows.
    read_at: Option<Time>,
}

#[derive(Debug)]
struct SeenRow {
    row: PresentRecord,
    /// The time since which the row has its present form, as far as is known. It is the time at which this process
    /// first saw the form; for a row of the first reading it is the earlier time that the row itself contains.
    since: Time,
    stamp: SeenStamp,
}

/// The time at which the row was first read in its present form.
#[derive(Clone, Copy, Debug)]
struct SeenStamp {
    at: Time,
    /// Longest time between the write of the row and `at`; `None` for a row of the very first reading.
    within: Option<Duration>,
}

impl PresentRoster {
    pub(super) fn new(name: &LeaseName) -> Self {
        Self {
            name: name.clone(),
            rows: BTreeMap::new(),
            written: BTreeMap::new(),
            twice: BTreeMap::new(),
            read_at: None,
        }
    }

    /// Notes a listing of the rows. `wall` is this host's wall clock, in milliseconds since 1970.
    ///
    /// The wall clocks of hosts differ, so the agent's own clock measures for how long a row has not changed. For a row
    /// of the first reading, only the time in the row is known.
    pub(super) fn list(&mut self, now: Time, wall: u64, listed: &[(RegisterKey, Entry)]) {
        let mut rows = BTreeMap::new();
        for (_, row) in decoded(&self.name, listed) {
            let before = self.rows.remove(&row.id);
            let stamp = match &before {
                Some(before) if before.row == row => before.stamp,
                Some(_) | None => SeenStamp {
                    at: now,
                    within: self.read_at.map(|at| now.since(at)),
                },
            };
            let since = match before {
                Some(before) if before.row == row => before.since,
                Some(_) => now,
                None => {
                    let age = Duration::from_millis(wall.saturating_sub(row.wall));
                    let nanos = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
                    Time::from_nanos(now.as_nanos().saturating_sub(nanos))
                }
            };
            rows.insert(row.id.clone(), SeenRow { row, since, stamp });
        }
        self.rows = rows;
        self.read_at = Some(now);
    }

    /// Returns the writes and removals that this process has to make after it has listed the rows.
    pub(super) fn changes(
        &mut self,
        now: Time,
        wall: u64,
        here: &[AgentHere],
        listed: &[(RegisterKey, Entry)],
    ) -> Vec<RowChange> {
        let mut changes = Vec::new();
        let decoded: Vec<_> = decoded(&self.name, listed).collect();
        for agent in here {
            let found = decoded.iter().find(|(_, row)| row.id == agent.id);
            self.note_other(now, agent, found.map(|(_, row)| row.incarnation));
            let row = PresentRecord {
                name: self.name.clone(),
                id: agent.id.clone(),
                incarnation: agent.incarnation,
                score: agent.score,
                wall: agent.wall,
                about: agent.about.clone(),
            };
            changes.push(RowChange::Write {
                id: agent.id.clone(),
                incarnation: agent.incarnation,
                expected: found.map(|((_, entry), _)| entry.clone()),
                value: row.encode().into_bytes(),
            });
        }
        for ((key, entry), row) in decoded {
            let is_here = here.iter().any(|agent| agent.id == row.id);
            let is_old = wall.saturating_sub(row.wall) > millis(REMOVED);
            // The row must be old by the wall clock and by the agent's own clock, because the wall clocks of hosts may
            // differ.
            if !is_here && is_old && !self.is_present(now, &row.id) {
                changes.push(RowChange::Remove {
                    key: key.clone(),
                    expected: entry.clone(),
                });
            }
        }
        self.written
            .retain(|id, _| here.iter().any(|agent| agent.id == *id));
        self.twice.retain(|id, (_, at)| {
            here.iter().any(|agent| agent.id == *id) && now.since(*at) <= ABSENT
        });
        changes
    }

    /// Notes that a row was written for this incarnation of the agent.
    pub(super) fn note_written(&mut self, id: AgentId, incarnation: Incarnation) {
        self.written.insert(id, incarnation);
    }

    /// Notes another incarnation in the row of an agent of this process. If the agent has already written its row,
    /// another process has an agent of the same name. If the agent has not written its row yet, the row is from an
    /// earlier incarnation of the same agent.
    fn note_other(&mut self, now: Time, agent: &AgentHere, found: Option<Incarnation>) {
        let has_written = self.written.get(&agent.id) == Some(&agent.incarnation);
        if let Some(other) = found.filter(|found| *found != agent.incarnation && has_written) {
            self.twice.insert(agent.id.clone(), (other, now));
        }
    }

    /// Returns the incarnation of another process's agent with this agent's name; `None` if no process has such an
    /// agent.
    pub(super) fn other_of(&self, id: &AgentId) -> Option<Incarnation> {
        self.twice.get(id).map(|(other, _)| *other)
    }

    /// Returns the agents that were present at the last reading. `None` if the rows were never read, or if the last
    /// reading is so old that every agent would count as absent: then it is unknown which agents are gone.
    pub(super) fn present(&self, now: Time) -> Option<Vec<StoreContender>> {
        let read_at = self.read_at.filter(|at| now.since(*at) <= ABSENT)?;
        let present = self.rows.values();
        let present = present.filter(|seen| read_at.since(seen.since) <= ABSENT);
        let shown = present.map(|seen| StoreContender {
            id: seen.row.id.clone(),
            score: seen.row.score,
            about: seen.row.about.clone(),
            unchanged: now.since(seen.since),
        });
        Some(shown.collect())
    }

    /// Returns the rank of the highest-ranked present agent of another process.
    pub(super) fn best_elsewhere(
        &self,
        now: Time,
        is_member: impl Fn(&AgentId) -> bool,
    ) -> Option<Rank> {
        let rows = self.rows.values().map(|seen| &seen.row);
        let elsewhere = rows.filter(|row| !self.written.contains_key(&row.id));
        let unknown = elsewhere.filter(|row| !is_member(&row.id));
        let present = unknown.filter(|row| self.is_present(now, &row.id));
        let ranks = present.filter_map(|row| {
            let (score, id) = (row.score?, row.id.clone());
            Some(Rank { score, id })
        });
        ranks.max()
    }

    /// Returns the change that removes the row that this process wrote for the agent `id`, if the row exists.
    pub(super) fn own(
        &mut self,
        id: &AgentId,
        listed: &[(RegisterKey, Entry)],
    ) -> Option<RowChange> {
        let incarnation = self.written.remove(id)?;
        let mut rows = decoded(&self.name, listed);
        let is_own = |row: &PresentRecord| row.id == *id && row.incarnation == incarnation;
        let ((key, expected), _) = rows.find(|(_, row)| is_own(row))?;
        Some(RowChange::Remove {
            key: key.clone(),
            expected: expected.clone(),
        })
    }

    /// Returns the clocks of all contenders except the agent `but`.
    pub(super) fn clocks(&self, now: Time, but: &AgentId) -> Vec<ContenderClock> {
        let others = self.rows.values().filter(|seen| seen.row.id != *but);
        let clocks = others.filter_map(|SeenRow { row, stamp, .. }| {
            let age = now.since(stamp.at);
            (age <= ABSENT).then(|| ContenderClock {
                id: row.id.clone(),
                score: row.score,
                wall: row.wall.saturating_add(millis(age)),
                // A row of the first reading is at most one round old if its agent is alive.
                within: stamp.within.unwrap_or(EVERY),
                is_alive: stamp.within.is_some(),
            })
        });
        clocks.collect()
    }

    fn is_present(&self, now: Time, id: &AgentId) -> bool {
        let seen = self.rows.get(id);
        seen.is_some_and(|seen| now.since(seen.since) <= ABSENT)
    }
}

/// Decodes the rows of the group. Entries of another form, or under a wrong key, are ignored.
fn decoded<'a>(
    name: &LeaseName,
    listed: &'a [(RegisterKey, Entry)],
) -> impl Iterator<Item = (&'a (RegisterKey, Entry), PresentRecord)> {
    listed.iter().filter_map(move |both| {
        let row = PresentRecord::decode(&both.1.value).ok()?;
        let last = both.0.as_str().rsplit('/').next();
        (row.name == *name && last == Some(row.id.as_str())).then_some((both, row))
    })
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Time between two rounds that read and write the rows.
pub(super) const EVERY: Duration = Duration::from_secs(30);

/// Time without a change of its row after which an agent is considered absent: three rounds.
const ABSENT: Duration = Duration::from_secs(90);

/// Time without a change after which a row is removed.
const REMOVED: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests;
