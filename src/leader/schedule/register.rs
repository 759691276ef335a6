//! The marks (the progress of schedules) that one agent keeps, and the leader that it obeys.
//!
//! Decided here: the answers to a leader, the number of marks, and which mark is replaced. No leader is obeyed after a
//! later leader was heard. A mark only grows. A due time that is far ahead of the agent's clock is not kept: otherwise
//! one host with a wrong clock would use up the due times of a year. Not here: an answer is sent only after its content
//! is stored (`replica.rs`).

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    clock::WallTime,
    protocol::{AgentId, Term},
};

use super::{
    age,
    lists::QuorumList,
    message::{Answer, Known, LeaderBallot, Mark, MarkOutcome, MarkRefusal, Question},
};

/// The data that one agent must not forget about the schedules: the latest leader that it heard, and the mark of each
/// schedule. The store of [`SchedulesBuilder::store`](super::SchedulesBuilder::store) keeps this record, for example
/// `FileStore::<ScheduleRecord>::open(..)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleRecord {
    pub(super) promised: Option<LeaderBallot>,
    pub(super) marks: BTreeMap<AgentId, Mark>,
    /// The term in which each mark was last written.
    pub(super) written: BTreeMap<AgentId, Term>,
    /// Time at which a leader last asked for each mark, with the precision of a day. It is the latest due time among
    /// the marks that were kept then, and not the time of a clock.
    pub(super) asked: BTreeMap<AgentId, WallTime>,
    /// The lists of voters that this agent has known, by their epochs.
    pub(super) lists: BTreeMap<u64, QuorumList>,
}

/// Largest number of schedules of which an agent keeps the marks. Nothing else limits a leader's schedules.
pub(super) const MOST: usize = 256;

/// Longest time by which a due time may be ahead of the clock of the agent that keeps it. A leader whose clock is wrong
/// must not use up the due times of a year.
pub(crate) const AHEAD: Duration = Duration::from_secs(10);

impl ScheduleRecord {
    /// Answers the question of the leader `from`.
    pub(super) fn answer(&mut self, from: &AgentId, asked: &Question, now: WallTime) -> Answer {
        let round = asked.round;
        let outcome = self.judge(asked.leader(from), asked, now);
        Answer { round, outcome }
    }

    fn judge(&mut self, leader: LeaderBallot, asked: &Question, now: WallTime) -> MarkOutcome {
        let term = leader.number.term;
        self.obey(leader)?;
        let schedule = &asked.schedule;
        if let Some(mark) = asked.mark {
            let mark = self.keep(schedule, mark, now)?;
            self.written.insert(schedule.clone(), term);
            self.note_asked(schedule);
            return Ok(Some(mark).into());
        }
        self.note_asked(schedule);
        let lists = self.lists.iter().filter(|_| self.lists.len() > 1);
        Ok(Known {
            mark: self.marks.get(schedule).copied(),
            written: self.written.get(schedule).copied(),
            lists: lists.map(|(of, list)| (*of, list.clone())).collect(),
        })
    }

    fn obey(&mut self, ballot: LeaderBallot) -> Result<(), MarkRefusal> {
        if self.promised.as_ref().is_some_and(|held| *held > ballot) {
            return Err(MarkRefusal::Older);
        }
        self.promised = Some(ballot);
        Ok(())
    }

    fn keep(&mut self, schedule: &AgentId, told: Mark, now: WallTime) -> Result<Mark, MarkRefusal> {
        let known = self.marks.get(schedule).copied();
        let mark = told.join(known.unwrap_or(told));
        let is_new = known.is_none_or(|known| mark.begun > known.begun);
        // A mark that is already kept may be sent again, whatever the clock shows now.
        if is_new && mark.begun > now.after(AHEAD) {
            return Err(MarkRefusal::Early);
        }
        if known.is_none() && self.marks.len() >= MOST {
            self.make_room(mark.begun)?;
        }
        self.marks.insert(schedule.clone(), mark);
        Ok(mark)
    }

    /// Returns the latest due time among the kept marks, in place of the time of a clock. One wrong clock cannot move
    /// this time so far that a mark seems old.
    fn newest(&self) -> WallTime {
        let begun = self.marks.values().map(|mark| mark.begun);
        begun.max().unwrap_or_default()
    }

    fn note_asked(&mut self, schedule: &AgentId) {
        if !self.marks.contains_key(schedule) {
            return;
        }
        let now = self.newest();
        let asked = self.asked.entry(schedule.clone()).or_default();
        *asked = age::noted(*asked, now);
    }

    fn asked_at(&self, schedule: &AgentId, mark: &Mark) -> WallTime {
        let asked = self.asked.get(schedule).copied();
        asked.unwrap_or_default().max(mark.begun)
    }

    /// Forgets the mark whose last question by a leader is the oldest, if that question is old enough.
    fn make_room(&mut self, begun: WallTime) -> Result<(), MarkRefusal> {
        let now = self.newest().max(begun);
        let asked = self.marks.iter();
        let asked = asked.map(|(schedule, mark)| (self.asked_at(schedule, mark), schedule));
        let (at, oldest) = asked.min().ok_or(MarkRefusal::Full)?;
        if !age::is_forgotten(at, now) {
            return Err(MarkRefusal::Full);
        }
        let oldest = oldest.clone();
        self.marks.remove(&oldest);
        self.written.remove(&oldest);
        self.asked.remove(&oldest);
        Ok(())
    }

    /// Returns whether one more mark fits beside the marks that are kept and the marks of schedules that this agent
    /// started.
    pub(super) fn has_room(
        &self,
        more: &AgentId,
        started: &BTreeSet<AgentId>,
        now: WallTime,
    ) -> bool {
        let now = self.newest().max(now);
        let is_asked = |(schedule, mark): &(&AgentId, &Mark)| {
            !age::is_forgotten(self.asked_at(schedule, mark), now)
        };
        let kept = self.marks.iter().filter(is_asked);
        let kept = kept.map(|(schedule, _)| schedule);
        let all: BTreeSet<_> = kept.chain(started).chain([more]).collect();
        all.len() <= MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        leader::schedule::message::LeaderNumber,
        protocol::{Incarnation, Round, Term},
    };

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    const fn number(term: u64) -> LeaderNumber {
        LeaderNumber {
            term: Term(term),
            incarnation: Incarnation(1),
        }
    }

    fn question(term: u64, schedule: &str, mark: Option<u64>) -> Question {
        Question {
            round: Round::default(),
            ballot: number(term),
            schedule: id(schedule),
            mark: mark.map(|seconds| Mark::at(WallTime::from_millis(seconds * 1_000))),
        }
    }

    /// Asks the agent, and returns the mark that it keeps.
    fn ask(
        record: &mut ScheduleRecord,
        question: &Question,
        now: u64,
    ) -> Result<Option<u64>, MarkRefusal> {
        let now = WallTime::from_millis(now * 1_000);
        let known = record.answer(&id("a"), question, now).outcome?;
        Ok(known.mark.map(|mark| mark.begun.as_millis() / 1_000))
    }

    fn read(
        record: &mut ScheduleRecord,
        term: u64,
        schedule: &str,
    ) -> Result<Option<u64>, MarkRefusal> {
        ask(record, &question(term, schedule, None), 100)
    }

    fn write(
        record: &mut ScheduleRecord,
        term: u64,
        schedule: &str,
        seconds: u64,
    ) -> Result<Option<u64>, MarkRefusal> {
        ask(record, &question(term, schedule, Some(seconds)), 100)
    }

    #[test]
    fn a_written_mark_is_read_and_never_decreases() {
        let mut record = ScheduleRecord::default();
        assert_eq!(read(&mut record, 1, "x"), Ok(None));
        assert_eq!(write(&mut record, 1, "x", 50), Ok(Some(50)));
        assert_eq!(write(&mut record, 1, "x", 40), Ok(Some(50)));
        assert_eq!(read(&mut record, 1, "x"), Ok(Some(50)));
        assert_eq!(read(&mut record, 1, "y"), Ok(None));
    }

    #[test]
    fn no_leader_is_obeyed_after_a_later_one_was_heard() {
        let mut record = ScheduleRecord::default();
        assert_eq!(write(&mut record, 1, "x", 50), Ok(Some(50)));
        // One question of a later leader is enough, for any schedule.
        assert_eq!(read(&mut record, 2, "y"), Ok(None));
        assert_eq!(write(&mut record, 1, "x", 60), Err(MarkRefusal::Older));
        assert_eq!(read(&mut record, 1, "x"), Err(MarkRefusal::Older));
        assert_eq!(write(&mut record, 3, "x", 60), Ok(Some(60)));
        assert_eq!(read(&mut record, 2, "x"), Err(MarkRefusal::Older));
    }

    #[test]
    fn a_due_time_far_ahead_is_not_kept() {
        let mut record = ScheduleRecord::default();
        assert_eq!(write(&mut record, 1, "x", 110), Ok(Some(110)));
        assert_eq!(write(&mut record, 1, "x", 111), Err(MarkRefusal::Early));
        assert_eq!(read(&mut record, 1, "x"), Ok(Some(110)));
        // A kept mark may be sent again, whatever the clock shows now.
        let mark = Mark::at(WallTime::from_millis(500_000));
        record.marks.insert(id("x"), mark);
        assert_eq!(write(&mut record, 1, "x", 500), Ok(Some(500)));
    }

    #[test]
    fn the_number_of_kept_schedules_is_limited() {
        let mut record = ScheduleRecord::default();
        for schedule in 0..MOST {
            assert_eq!(write(&mut record, 1, &schedule.to_string(), 1), Ok(Some(1)));
        }
        assert_eq!(write(&mut record, 1, "more", 1), Err(MarkRefusal::Full));
        assert_eq!(write(&mut record, 1, "0", 2), Ok(Some(2)));
    }

    #[test]
    fn a_mark_that_no_leader_has_asked_for_in_30_days_gives_way() {
        let days = |days: u64| days * 24 * 3_600;
        let mut record = ScheduleRecord::default();
        let write = |record: &mut ScheduleRecord, schedule: &str, day| {
            let write = question(1, schedule, Some(days(day)));
            ask(record, &write, days(1_000))
        };
        for schedule in 0..MOST {
            write(&mut record, &schedule.to_string(), 1).unwrap();
        }
        // The schedule runs once a year, and its leader asks for its mark.
        write(&mut record, "1", 25).unwrap();
        write(&mut record, "10", 1).unwrap(); // a write asks for it as well
        assert_eq!(read(&mut record, 1, "0"), Ok(Some(days(1))));
        assert_eq!(write(&mut record, "more", 31), Err(MarkRefusal::Full));
        assert_eq!(write(&mut record, "more", 32), Ok(Some(days(32))));
        assert_eq!(record.marks.len(), MOST);
        assert_eq!(read(&mut record, 1, "0"), Ok(Some(days(1))));
        assert_eq!(
            read(&mut record, 1, "100"),
            Ok(None),
            "the first of the other schedules"
        );
        assert!(!record.written.contains_key(&id("100")));
    }

    #[test]
    fn a_schedule_is_started_if_its_mark_fits_beside_the_others() {
        let mut record = ScheduleRecord::default();
        let now = WallTime::from_millis(100_000);
        for schedule in 0..MOST - 1 {
            write(&mut record, 1, &schedule.to_string(), 1).unwrap();
        }
        let started = |names: &[&str]| names.iter().map(|name| id(name)).collect();
        let fits = |names: &[&str], now| record.has_room(&id("more"), &started(names), now);
        assert!(fits(&["0", "1"], now));
        assert!(!fits(&["0", "other"], now));
        assert!(
            fits(&["0", "other"], now.after(age::FORGOTTEN)),
            "all other schedules give way"
        );
        assert!(
            record.has_room(&id("0"), &started(&["other"]), now),
            "it is kept"
        );
    }

    #[test]
    fn a_record_is_stored_as_it_is() {
        let mut record = ScheduleRecord::default();
        write(&mut record, 3, "x", 50).unwrap();
        let stored = serde_json::to_string(&record).unwrap();
        assert_eq!(
            serde_json::from_str::<ScheduleRecord>(&stored).unwrap(),
            record
        );
    }
}
