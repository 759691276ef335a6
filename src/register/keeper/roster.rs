//! Who could take the lease: the rows that agents of this and of other processes write, without a store or a runtime.
//!
//! Decided here: how often rows are written and read, since when a row counts as absent, when it is removed, and when two
//! processes have one name. Not here: how a store is asked (`presence.rs`). No rule of an election depends on it.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    elections::lease::{LeaseName, PresentRecord, RegisterRecord},
    protocol::{AgentId, Incarnation, Score, Time},
    register::{Entry, RegisterKey},
};

/// An agent of this process, as its row says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentHere {
    pub(super) id: AgentId,
    pub(super) incarnation: Incarnation,
    pub(super) score: Option<Score>,
    /// By the clock of its schedules, in milliseconds since 1970.
    pub(super) wall: u64,
}

/// The clock of a contender, as its row shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContenderClock {
    pub(crate) id: AgentId,
    pub(crate) score: Option<Score>,
    /// What the clock shows now, in milliseconds since 1970, if the row was read as soon as it was written.
    pub(crate) wall: u64,
    /// The longest time that the row may have been there before it was read: the clock shows that much more at most.
    pub(crate) within: Duration,
    /// Whether the row was seen to be written. One that was found may be of an agent that is gone.
    pub(crate) is_alive: bool,
}

/// What is to be written or removed, after the rows were read.
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

/// See the [module](self).
#[derive(Debug)]
pub(super) struct PresentRoster {
    name: LeaseName,
    rows: BTreeMap<AgentId, SeenRow>,
    /// The incarnations of agents of this process that a row was written for.
    written: BTreeMap<AgentId, Incarnation>,
    /// The other incarnation that was seen in the row of an agent of this process, and when.
    twice: BTreeMap<AgentId, (Incarnation, Time)>,
    /// When the rows were read last.
    read_at: Option<Time>,
}

#[derive(Debug)]
struct SeenRow {
    row: PresentRecord,
    /// When it was first seen as it is; earlier by what its own stamp says where it was found.
    since: Time,
    stamp: SeenStamp,
}

/// When a row was first read as it is.
#[derive(Clone, Copy, Debug)]
struct SeenStamp {
    at: Time,
    /// It was written in that time before; `None` of a row that was there at the first reading.
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

    /// The store has listed the rows. `wall` is this host's clock, in milliseconds since 1970.
    ///
    /// How long a row is unchanged is measured by one's own clock: wall clocks of hosts differ. Only of a row that is seen
    /// for the first time nothing else is known than its stamp.
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

    /// What this process writes and removes now, after it has listed the rows.
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

    /// A row was written for that incarnation.
    pub(super) fn note_written(&mut self, id: AgentId, incarnation: Incarnation) {
        self.written.insert(id, incarnation);
    }

    /// An agent that has written its row and finds another incarnation there is not alone with its name. One that has not
    /// written finds its predecessor's.
    fn note_other(&mut self, now: Time, agent: &AgentHere, found: Option<Incarnation>) {
        let has_written = self.written.get(&agent.id) == Some(&agent.incarnation);
        if let Some(other) = found.filter(|found| *found != agent.incarnation && has_written) {
            self.twice.insert(agent.id.clone(), (other, now));
        }
    }

    /// The other incarnation of that agent of this process, if another process has its name.
    pub(super) fn other_of(&self, id: &AgentId) -> Option<Incarnation> {
        self.twice.get(id).map(|(other, _)| *other)
    }

    /// The agents that were there when the rows were read last, with their scores. `None` if they were not read yet, or
    /// for so long that every row would count as absent: who cannot read knows nobody to be gone.
    pub(super) fn present(&self, now: Time) -> Option<Vec<(AgentId, Option<Score>)>> {
        let read_at = self.read_at.filter(|at| now.since(*at) <= ABSENT)?;
        let present = self.rows.values();
        let present = present.filter(|seen| read_at.since(seen.since) <= ABSENT);
        let shown = present.map(|seen| (seen.row.id.clone(), seen.row.score));
        Some(shown.collect())
    }

    /// The clocks of the contenders but that one.
    pub(super) fn clocks(&self, now: Time, but: &AgentId) -> Vec<ContenderClock> {
        let others = self.rows.values().filter(|seen| seen.row.id != *but);
        let clocks = others.filter_map(|SeenRow { row, stamp, .. }| {
            let age = now.since(stamp.at);
            (age <= ABSENT).then(|| ContenderClock {
                id: row.id.clone(),
                score: row.score,
                wall: row.wall.saturating_add(millis(age)),
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

/// The rows of that group under their own names; what else is there is left alone.
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

/// How often the rows are read, and written.
pub(super) const EVERY: Duration = Duration::from_secs(30);

/// A row that is unchanged for longer is of an agent that is gone.
const ABSENT: Duration = Duration::from_secs(90);

/// A row that is older is removed.
const REMOVED: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::register::{self, Register as _};

    const WALL: u64 = 1_764_230_400_000;

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    fn roster() -> PresentRoster {
        PresentRoster::new(&LeaseName {
            cluster: id("shop"),
            group: id("cron"),
        })
    }

    fn row(name: &str, incarnation: u64, wall: u64, version: u64) -> (RegisterKey, Entry) {
        let row = PresentRecord {
            name: roster().name,
            id: id(name),
            incarnation: Incarnation(incarnation),
            score: Some(Score::from(3)),
            wall,
        };
        let key: RegisterKey = format!("shop/cron/present/{name}").parse().unwrap();
        let value = row.encode().into_bytes();
        let entry = Entry::new(&key, register::Version::from(version), value).unwrap();
        (key, entry)
    }

    fn here(incarnation: u64) -> AgentHere {
        AgentHere {
            id: id("a"),
            incarnation: Incarnation(incarnation),
            score: None,
            wall: WALL,
        }
    }

    const fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    fn names(roster: &PresentRoster, now: Time) -> Vec<String> {
        let present = roster.present(now).unwrap().into_iter();
        present.map(|(id, _)| id.to_string()).collect()
    }

    #[test]
    fn a_row_that_is_unchanged_for_ninety_seconds_is_absent() {
        let mut roster = roster();
        assert_eq!(roster.present(at(1_000)), None, "nothing was read");
        roster.list(at(1_000), WALL, &[row("b", 1, WALL, 1)]);
        roster.list(at(1_030), WALL + 30_000, &[row("b", 1, WALL, 1)]);
        roster.list(at(1_090), WALL + 90_000, &[row("b", 1, WALL, 1)]);
        assert_eq!(names(&roster, at(1_090)), ["b"]);
        roster.list(at(1_091), WALL + 91_000, &[row("b", 1, WALL, 1)]);
        assert!(names(&roster, at(1_091)).is_empty());
        // Its clock stands still, or is hours behind: that it writes is enough.
        roster.list(at(1_092), WALL + 92_000, &[row("b", 1, WALL - 1, 2)]);
        assert_eq!(names(&roster, at(1_182)), ["b"]);
    }

    /// The store cannot be listed any more.
    #[test]
    fn without_a_read_nobody_is_found_to_be_gone_and_after_ninety_seconds_nothing_is_known() {
        let mut roster = roster();
        roster.list(at(1_000), WALL, &[row("b", 1, WALL - 80_000, 1)]);
        assert_eq!(names(&roster, at(1_090)), ["b"]);
        assert_eq!(roster.present(at(1_091)), None);
    }

    #[test]
    fn of_a_row_that_is_found_the_stamp_says_how_old_it_is() {
        let mut roster = roster();
        let rows = [row("b", 1, WALL - 89_000, 1), row("c", 1, WALL - 91_000, 2)];
        roster.list(at(1_000), WALL, &rows);
        assert_eq!(names(&roster, at(1_000)), ["b"]);
    }

    #[test]
    fn a_row_that_was_seen_to_be_written_shows_the_clock_of_its_agent() {
        let mut roster = roster();
        let clocks = |roster: &PresentRoster, now| {
            let clocks = roster.clocks(at(now), &id("a")).into_iter();
            let shown = clocks.map(|clock| (clock.wall, clock.within.as_secs(), clock.is_alive));
            shown.collect::<Vec<_>>()
        };
        // Its clock is a day behind, or it is gone for a day.
        let day = WALL - millis(REMOVED);
        roster.list(
            at(1_000),
            WALL,
            &[row("a", 1, WALL, 1), row("b", 1, day, 2)],
        );
        assert_eq!(clocks(&roster, 1_010), [(day + 10_000, 30, false)]);
        roster.list(at(1_012), WALL, &[row("b", 1, day + 9_000, 3)]);
        assert_eq!(clocks(&roster, 1_020), [(day + 17_000, 12, true)]);
        roster.list(
            at(1_020),
            WALL,
            &[row("b", 1, day + 9_000, 3), row("c", 1, WALL, 4)],
        );
        assert_eq!(
            clocks(&roster, 1_020),
            [(day + 17_000, 12, true), (WALL, 8, true)]
        );
        assert_eq!(clocks(&roster, 1_103).len(), 1, "one writes no more");
    }

    #[test]
    fn a_row_of_a_day_ago_is_removed_and_what_is_no_row_stays() {
        let mut roster = roster();
        let day = millis(REMOVED);
        let mut foreign = row("x", 1, WALL - day - 1, 3);
        foreign.0 = "shop/cron/present/y".parse().unwrap();
        let rows = [
            row("b", 1, WALL - day, 1),
            row("c", 1, WALL - day - 1, 2),
            foreign,
        ];
        roster.list(at(100_000), WALL, &rows);
        let changes = roster.changes(at(100_000), WALL, &[], &rows);
        let (key, expected) = rows[1].clone();
        assert_eq!(changes, [RowChange::Remove { key, expected }]);
    }

    #[test]
    fn two_incarnations_that_alternate_are_two_of_one_name_and_a_restart_is_not() {
        let mut roster = roster();
        let rows = [row("a", 1, WALL, 1)];
        let changes = roster.changes(at(1_000), WALL, &[here(2)], &rows);
        let RowChange::Write { expected, .. } = &changes[0] else {
            panic!("{changes:?}");
        };
        assert_eq!(expected.as_ref(), Some(&rows[0].1));
        roster.note_written(id("a"), Incarnation(2));
        assert_eq!(roster.other_of(&id("a")), None, "its predecessor's");
        roster.changes(at(1_030), WALL, &[here(2)], &[row("a", 2, WALL, 2)]);
        assert_eq!(roster.other_of(&id("a")), None);
        roster.changes(at(1_060), WALL, &[here(2)], &[row("a", 1, WALL, 3)]);
        assert_eq!(roster.other_of(&id("a")), Some(Incarnation(1)));
        roster.changes(at(1_151), WALL, &[here(2)], &[row("a", 2, WALL, 4)]);
        assert_eq!(roster.other_of(&id("a")), None, "ninety seconds ago");
    }

    /// The register in memory lists what is below a key, so a whole round can be played on it.
    #[test]
    fn a_round_on_a_register_shows_who_is_there() {
        let store = register::MemoryRegister::new();
        let prefix: RegisterKey = "shop/cron/present".parse().unwrap();
        let listed = || {
            store
                .list(&prefix)
                .unwrap()
                .now_or_never()
                .unwrap()
                .unwrap()
        };
        let mut roster = roster();
        for change in roster.changes(at(1), WALL, &[here(1)], &listed()) {
            let RowChange::Write {
                id,
                expected,
                value,
                ..
            } = change
            else {
                panic!("{change:?}");
            };
            let key = format!("shop/cron/present/{id}").parse().unwrap();
            let swap = store.swap(&key, expected.as_ref(), value);
            swap.now_or_never().unwrap().unwrap();
        }
        roster.list(at(2), WALL, &listed());
        assert_eq!(roster.present(at(2)), Some(vec![(id("a"), None)]));
    }
}
