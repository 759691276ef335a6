//! The mark (the progress) of one schedule, in a record of its own in the store of a lease.
//!
//! ```text
//!   leader ── read, write ──▶ StoredMark ── read, swap ──▶ register: {"leader": .., "mark": {"begun": .., "done": ..}}
//!      ◀── held, refused ─────────┘ once the record says so
//! ```
//!
//! | rule | why |
//! |---|---|
//! | A new leader writes its term into the record before its first tick. | A late write of the former leader then finds another version of the record, and fails. |
//! | An answer leaves after the store has confirmed its content. | A tick begins only after its mark is stored. |
//! | A write without a confirmation gets no answer, and the record is read again. | The write may be applied later; then the next write fails, and the record is read again. |
//!
//! Decided here: when the record is read or written, and the answer to a leader. Not here: the leader's next step
//! (`machine/`); the content of a record (`mark_record.rs`); which operations run at one time (`mark_task.rs`); when a
//! record is removed (`forget.rs`).

use crate::{
    clock::WallTime,
    elections::lease::LeaseName,
    protocol::{AgentId, Round},
    register::{
        Entry, RegisterError, Swap,
        keeper::{MARK, entry_of_swap},
    },
};

use super::{
    age,
    mark_record::MarkRecord,
    message::{Answer, MarkRefusal, Question},
};

/// The mark of one schedule, as one agent sees it.
#[derive(Debug)]
pub(super) struct StoredMark {
    name: LeaseName,
    schedule: AgentId,
    /// The agent that asks: the store answers only its own agent.
    own: AgentId,
    seen: SeenRecord,
    /// The newest question, and its time by the leader's wall clock. A leader asks again, so an earlier question needs
    /// no answer.
    asked: Option<(Question, WallTime)>,
    under_way: MarkUnderWay,
    /// The round of the last question that only reads. The record is read once for each such round.
    read_for: Option<Round>,
}

#[derive(Debug)]
enum SeenRecord {
    /// The record was not read yet, or a write got no answer.
    Unread,
    Nothing,
    Stored(Entry, Box<MarkRecord>),
}

#[derive(Debug)]
enum MarkUnderWay {
    Nothing,
    Read,
    Swap(Vec<u8>, Box<MarkRecord>),
}

/// The next step for the driver of this mark.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarkStep {
    Nothing,
    Run(MarkOperation),
    Answer(Answer),
    /// The record belongs to another schedule or program, and is not changed. The value is the reason.
    Foreign(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkOperation {
    Read,
    Swap {
        expected: Option<Entry>,
        value: Vec<u8>,
    },
}

impl StoredMark {
    pub(super) const fn new(name: LeaseName, schedule: AgentId, own: AgentId) -> Self {
        Self {
            name,
            schedule,
            own,
            seen: SeenRecord::Unread,
            asked: None,
            under_way: MarkUnderWay::Nothing,
            read_for: None,
        }
    }

    /// Handles a question of the agent, which leads; `at` is the time of its wall clock.
    pub(super) fn ask(&mut self, question: Question, at: WallTime) -> MarkStep {
        // A leader that reads again may need a newer record: an operator may have removed the former record.
        if question.mark.is_none() && self.read_for != Some(question.round) {
            self.read_for = Some(question.round);
            self.seen = SeenRecord::Unread;
        }
        self.asked = Some((question, at));
        self.step()
    }

    /// Handles a read: the store has shown the record, or failed.
    pub(super) fn read(&mut self, shown: Result<Option<Entry>, RegisterError>) -> MarkStep {
        let shown = match shown {
            Ok(shown) => shown,
            Err(error) => return self.failed(&error),
        };
        self.show(shown)
    }

    /// Handles the result of a write: it was done, was not done, or its outcome is unknown.
    pub(super) fn swapped(&mut self, swap: Result<Swap, RegisterError>) -> MarkStep {
        match (
            swap,
            std::mem::replace(&mut self.under_way, MarkUnderWay::Nothing),
        ) {
            (Ok(Swap::Done(version)), MarkUnderWay::Swap(value, record)) => {
                self.seen = SeenRecord::Stored(entry_of_swap(version, value), record);
                self.step()
            }
            (Ok(Swap::Conflict(entry)), _) => self.show(entry),
            (Err(error), _) => self.failed(&error),
            (Ok(Swap::Done(_)), MarkUnderWay::Nothing | MarkUnderWay::Read) => MarkStep::Nothing,
        }
    }

    /// Handles a failure, and drops the question: the leader asks again.
    fn failed(&mut self, error: &RegisterError) -> MarkStep {
        self.under_way = MarkUnderWay::Nothing;
        self.seen = SeenRecord::Unread;
        self.asked = None;
        if matches!(error, RegisterError::Foreign { .. }) {
            return MarkStep::Foreign(error.to_string());
        }
        MarkStep::Nothing
    }

    fn show(&mut self, entry: Option<Entry>) -> MarkStep {
        self.under_way = MarkUnderWay::Nothing;
        self.seen = match entry {
            None => SeenRecord::Nothing,
            Some(entry) => match MarkRecord::decode(&self.name, &self.schedule, &entry.value) {
                Ok(record) => SeenRecord::Stored(entry, Box::new(record)),
                Err(reason) => {
                    self.seen = SeenRecord::Unread;
                    self.asked = None;
                    return MarkStep::Foreign(reason);
                }
            },
        };
        self.step()
    }

    fn step(&mut self) -> MarkStep {
        if !matches!(self.under_way, MarkUnderWay::Nothing) {
            return MarkStep::Nothing;
        }
        let Some((asked, at)) = &self.asked else {
            return MarkStep::Nothing;
        };
        let (expected, known) = match &self.seen {
            SeenRecord::Unread => {
                self.under_way = MarkUnderWay::Read;
                return MarkStep::Run(MarkOperation::Read);
            }
            SeenRecord::Nothing => (None, None),
            SeenRecord::Stored(entry, record) => (Some(entry.clone()), Some(&**record)),
        };
        let (round, leader) = (asked.round, asked.leader(&self.own));
        // The record has a later leader, so the asking agent is a former leader.
        if known.is_some_and(|known| known.leader > leader) {
            self.asked = None;
            let outcome = Err(MarkRefusal::Older);
            return MarkStep::Answer(Answer { round, outcome });
        }
        let known_mark = known.and_then(|known| known.mark);
        let mark = match (known_mark, asked.mark) {
            (Some(known), Some(told)) => Some(known.join(told)),
            (known, told) => known.or(told),
        };
        let noted = age::noted(known.map(|known| known.asked).unwrap_or_default(), *at);
        let has_all = |known: &MarkRecord| {
            known.leader == leader && known.mark == mark && known.asked == noted
        };
        if known.is_some_and(has_all) {
            self.asked = None;
            let outcome = Ok(mark.into());
            return MarkStep::Answer(Answer { round, outcome });
        }
        let record = Box::new(MarkRecord {
            record: MARK.to_owned(),
            cluster: self.name.cluster.clone(),
            group: self.name.group.clone(),
            schedule: self.schedule.clone(),
            leader,
            mark,
            asked: noted,
        });
        match serde_json::to_vec(&record) {
            Ok(value) => {
                self.under_way = MarkUnderWay::Swap(value.clone(), record);
                MarkStep::Run(MarkOperation::Swap { expected, value })
            }
            Err(reason) => MarkStep::Foreign(reason.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::{
        leader::schedule::message::{Known, LeaderNumber, Mark},
        protocol::{Incarnation, Term},
        register::{RegisterKey, Version},
    };

    /// Time within a day after the beginning of 1970, so that no question has to be noted.
    const NOW: WallTime = WallTime::from_millis(1_000);

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    fn stored_mark(own: &str) -> StoredMark {
        let name = LeaseName {
            cluster: id("shop"),
            group: id("jobs"),
        };
        StoredMark::new(name, id("nightly"), id(own))
    }

    fn round(counter: u64) -> Round {
        Round {
            incarnation: Incarnation(1),
            counter,
        }
    }

    const fn number(term: u64) -> LeaderNumber {
        LeaderNumber {
            term: Term(term),
            incarnation: Incarnation(7),
        }
    }

    fn question(term: u64, mark: Option<Mark>) -> Question {
        Question {
            round: round(term),
            ballot: number(term),
            schedule: id("nightly"),
            mark,
        }
    }

    fn read(term: u64) -> Question {
        question(term, None)
    }

    fn write(term: u64, millis: u64) -> Question {
        question(term, Some(Mark::at(WallTime::from_millis(millis))))
    }

    fn answer(term: u64, outcome: Result<Known, MarkRefusal>) -> MarkStep {
        let round = round(term);
        MarkStep::Answer(Answer { round, outcome })
    }

    fn mark(millis: u64) -> Known {
        Some(Mark::at(WallTime::from_millis(millis))).into()
    }

    fn entry(version: u64, value: &[u8]) -> Entry {
        let key: RegisterKey = "shop/jobs/schedule/nightly".parse().unwrap();
        Entry::new(&key, Version::from(version), value.to_vec()).unwrap()
    }

    /// Returns the expected entry and the value of the write.
    fn swap(step: MarkStep) -> (Option<Entry>, Vec<u8>) {
        let MarkStep::Run(MarkOperation::Swap { expected, value }) = step else {
            panic!("no swap: {step:?}");
        };
        (expected, value)
    }

    #[test]
    fn a_new_leader_reads_and_is_answered_once_its_term_is_stored() {
        let mut new = stored_mark("a");
        let step = new.ask(read(5), NOW);
        assert_eq!(step, MarkStep::Run(MarkOperation::Read));
        let (expected, value) = swap(new.read(Ok(None)));
        assert_eq!(expected, None);
        assert_eq!(
            String::from_utf8(value).unwrap(),
            r#"{"record":"actix-bully schedule 1","cluster":"shop","group":"jobs","schedule":"nightly","leader":{"number":{"term":5,"incarnation":7},"node":"a"},"mark":null,"asked":0}"#
        );
        let step = new.swapped(Ok(Swap::Done(Version::from(1))));
        assert_eq!(step, answer(5, Ok(None.into())));
    }

    #[test]
    fn a_write_of_a_former_leader_conflicts_and_is_refused() {
        let (mut former, mut new) = (stored_mark("a"), stored_mark("b"));
        former.ask(read(5), NOW);
        let (_, value) = swap(former.read(Ok(None)));
        former.swapped(Ok(Swap::Done(Version::from(1))));
        let (expected, _) = swap(former.ask(write(5, 20), NOW));
        assert_eq!(expected, Some(entry(1, &value)));

        new.ask(read(6), NOW);
        let (_, newer) = swap(new.read(Ok(Some(entry(1, &value)))));
        let conflict = Swap::Conflict(Some(entry(2, &newer)));
        let step = former.swapped(Ok(conflict));
        assert_eq!(step, answer(5, Err(MarkRefusal::Older)));
    }

    #[test]
    fn a_write_without_an_answer_is_no_answer_and_the_record_is_read_again() {
        let mut leader = stored_mark("a");
        leader.ask(read(5), NOW);
        let (_, value) = swap(leader.read(Ok(None)));
        leader.swapped(Ok(Swap::Done(Version::from(1))));
        let (_, begun) = swap(leader.ask(write(5, 20), NOW));
        let lost = RegisterError::unknown(io::Error::other("no answer"));
        assert_eq!(leader.swapped(Err(lost)), MarkStep::Nothing);
        // The leader asks again. The write was done, or it was not.
        for (shown, is_done) in [(entry(1, &value), false), (entry(2, &begun), true)] {
            let step = leader.ask(write(5, 20), NOW);
            assert_eq!(step, MarkStep::Run(MarkOperation::Read));
            let step = leader.read(Ok(Some(shown)));
            if is_done {
                assert_eq!(step, answer(5, Ok(mark(20))));
            } else {
                swap(step);
                let lost = RegisterError::unknown(io::Error::other("no answer"));
                leader.swapped(Err(lost));
            }
        }
    }

    #[test]
    fn a_mark_never_decreases() {
        let mut leader = stored_mark("a");
        leader.ask(write(5, 20), NOW);
        swap(leader.read(Ok(None)));
        leader.swapped(Ok(Swap::Done(Version::from(1))));
        let step = leader.ask(write(5, 10), NOW);
        assert_eq!(step, answer(5, Ok(mark(20))));
    }

    #[test]
    fn a_record_of_something_else_is_told_and_not_touched() {
        let of_jobs = r#"{"record":"actix-bully schedule 1","cluster":"shop","group":"jobs","schedule":"nightly","leader":{"number":{"term":5,"incarnation":7},"node":"a"},"mark":null,"asked":0}"#;
        for (value, said) in [
            ("hello".to_owned(), "expected value"),
            (of_jobs.replace("nightly", "hourly"), "shop/jobs/hourly"),
            (of_jobs.replace("shop", "bank"), "bank/jobs/nightly"),
            (of_jobs.replace("schedule 1", "schedule 2"), "schedule 2"),
            (of_jobs.replace("\"mark\"", "\"more\""), "unknown field"),
        ] {
            let mut leader = stored_mark("a");
            leader.ask(read(9), NOW);
            let step = leader.read(Ok(Some(entry(1, value.as_bytes()))));
            let MarkStep::Foreign(reason) = step else {
                panic!("{value}: {step:?}");
            };
            assert!(reason.contains(said), "{reason}");
        }
        let mut leader = stored_mark("a");
        leader.ask(read(9), NOW);
        swap(leader.read(Ok(Some(entry(1, of_jobs.as_bytes())))));
    }

    #[test]
    fn the_longest_names_fit_into_a_record() {
        let long = "n".repeat(AgentId::MAX_LEN);
        let name = LeaseName {
            cluster: id(&long),
            group: id(&long),
        };
        let mut leader = StoredMark::new(name, id(&long), id(&long));
        leader.ask(write(u64::MAX, u64::MAX), NOW);
        let (_, value) = swap(leader.read(Ok(None)));
        assert!(value.len() < crate::register::MOST_BYTES, "{}", value.len());
    }
}
