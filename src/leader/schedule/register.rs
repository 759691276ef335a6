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
        protocol::{Incarnation, Round},
    };

    const fn days(days: u64) -> u64 {
        days * 24 * 3_600
    }

    /// Asks the agent on the thousandth day. `mark` has the seconds of a due time. Returns the mark that it keeps.
    fn ask(
        record: &mut ScheduleRecord,
        schedule: &str,
        mark: Option<u64>,
    ) -> Result<Option<u64>, MarkRefusal> {
        let question = Question {
            round: Round::default(),
            ballot: LeaderNumber {
                term: Term(1),
                incarnation: Incarnation(1),
            },
            schedule: AgentId::new(schedule).unwrap(),
            mark: mark.map(|seconds| Mark::at(WallTime::from_millis(seconds * 1_000))),
        };
        let now = WallTime::from_millis(days(1_000) * 1_000);
        let from = AgentId::new("a").unwrap();
        let known = record.answer(&from, &question, now).outcome?;
        Ok(known.mark.map(|mark| mark.begun.as_millis() / 1_000))
    }

    #[test]
    fn a_mark_that_no_leader_has_asked_for_in_30_days_gives_way() {
        let mut record = ScheduleRecord::default();
        let write = |record: &mut ScheduleRecord, schedule: &str, day| {
            ask(record, schedule, Some(days(day)))
        };
        for schedule in 0..MOST {
            write(&mut record, &schedule.to_string(), 1).unwrap();
        }
        // The schedule runs once a year, and its leader asks for its mark.
        write(&mut record, "1", 25).unwrap();
        write(&mut record, "10", 1).unwrap(); // a write asks for it as well
        assert_eq!(ask(&mut record, "0", None), Ok(Some(days(1))));
        assert_eq!(write(&mut record, "more", 31), Err(MarkRefusal::Full));
        assert_eq!(write(&mut record, "more", 32), Ok(Some(days(32))));
        assert_eq!(record.marks.len(), MOST);
        assert_eq!(ask(&mut record, "0", None), Ok(Some(days(1))));
        let first = ask(&mut record, "100", None);
        assert_eq!(first, Ok(None), "the first of the other schedules");
        assert!(!record.written.contains_key(&AgentId::new("100").unwrap()));
    }

    #[test]
    fn a_mark_that_is_kept_may_be_sent_again_however_far_ahead_it_is() {
        let mut record = ScheduleRecord::default();
        let ahead = Mark::at(WallTime::from_millis(days(2_000) * 1_000));
        let refused = ask(&mut record, "x", Some(days(2_000)));
        assert_eq!(refused, Err(MarkRefusal::Early));
        record.marks.insert(AgentId::new("x").unwrap(), ahead);
        let kept = ask(&mut record, "x", Some(days(2_000)));
        assert_eq!(kept, Ok(Some(days(2_000))));
    }

    #[test]
    fn a_schedule_is_started_if_its_mark_fits_beside_the_others() {
        let mut record = ScheduleRecord::default();
        let now = WallTime::from_millis(100_000);
        for schedule in 0..MOST - 1 {
            ask(&mut record, &schedule.to_string(), Some(1)).unwrap();
        }
        let id = |name: &str| AgentId::new(name).unwrap();
        let fits = |more, started: [&str; 2], now| {
            record.has_room(&id(more), &started.map(id).into(), now)
        };
        assert!(fits("more", ["0", "1"], now));
        assert!(!fits("more", ["0", "other"], now));
        let later = now.after(age::FORGOTTEN);
        let all_give_way = fits("more", ["0", "other"], later);
        assert!(all_give_way && fits("0", ["1", "other"], now));
    }
}
