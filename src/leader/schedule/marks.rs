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
    use super::*;
    use crate::{
        leader::schedule::message::{LeaderNumber, Mark},
        protocol::{Incarnation, Term},
        register::{RegisterKey, Version},
    };

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    /// Returns the mark of the schedule `nightly`, or of a schedule with the longest names, after a question.
    fn asked(is_long: bool, mark: Option<Mark>) -> StoredMark {
        let long = "n".repeat(AgentId::MAX_LEN);
        let names = ["shop", "jobs", "nightly", "a"];
        let names = names.map(|name| id(if is_long { &long } else { name }));
        let [cluster, group, schedule, own] = names;
        let name = LeaseName { cluster, group };
        let mut stored = StoredMark::new(name, schedule, own);
        stored.ask(question(mark), WallTime::from_millis(1_000));
        stored
    }

    fn question(mark: Option<Mark>) -> Question {
        Question {
            round: Round::default(),
            ballot: LeaderNumber {
                term: Term(u64::MAX),
                incarnation: Incarnation(7),
            },
            schedule: id("nightly"),
            mark,
        }
    }

    #[test]
    fn a_record_of_something_else_is_told_and_not_touched() {
        let of_jobs = r#"{"record":"actix-bully schedule 1","cluster":"shop","group":"jobs","schedule":"nightly","leader":{"number":{"term":5,"incarnation":7},"node":"a"},"mark":null,"asked":0}"#;
        let key: RegisterKey = "shop/jobs/schedule/nightly".parse().unwrap();
        let read = |value: String| {
            let entry = Entry::new(&key, Version::from(1_u64), value.into_bytes());
            asked(false, None).read(Ok(entry.ok()))
        };
        for (value, said) in [
            ("hello".to_owned(), "expected value"),
            (of_jobs.replace("nightly", "hourly"), "shop/jobs/hourly"),
            (of_jobs.replace("shop", "bank"), "bank/jobs/nightly"),
            (of_jobs.replace("schedule 1", "schedule 2"), "schedule 2"),
            (of_jobs.replace("\"mark\"", "\"more\""), "unknown field"),
        ] {
            let step = read(value);
            let is_told = matches!(&step, MarkStep::Foreign(reason) if reason.contains(said));
            assert!(is_told, "{said}: {step:?}");
        }
        let own = read(of_jobs.to_owned());
        assert!(matches!(own, MarkStep::Run(MarkOperation::Swap { .. })));
    }

    #[test]
    fn the_longest_names_fit_into_a_record() {
        let mark = Mark::at(WallTime::from_millis(u64::MAX));
        let step = asked(true, Some(mark)).read(Ok(None));
        let MarkStep::Run(MarkOperation::Swap { value, .. }) = step else {
            panic!("no swap: {step:?}");
        };
        assert!(value.len() < crate::register::MOST_BYTES, "{}", value.len());
    }

    /// The leader asks again. The write was done, or it was not.
    #[test]
    fn a_write_without_an_answer_is_no_answer_and_the_record_is_read_again() {
        let key: RegisterKey = "shop/jobs/schedule/nightly".parse().unwrap();
        let entry = |value: &[u8]| Entry::new(&key, Version::from(1_u64), value.to_vec()).ok();
        let mark = |millis| Some(Mark::at(WallTime::from_millis(millis)));
        for is_done in [false, true] {
            let mut leader = asked(false, mark(20));
            let MarkStep::Run(MarkOperation::Swap { value, .. }) = leader.read(Ok(None)) else {
                panic!("it writes its mark");
            };
            let lost = || RegisterError::unknown(std::io::Error::other("no answer"));
            assert_eq!(leader.swapped(Err(lost())), MarkStep::Nothing);
            // A mark never decreases.
            let step = leader.ask(question(mark(10)), WallTime::from_millis(1_000));
            assert_eq!(step, MarkStep::Run(MarkOperation::Read));
            let step = leader.read(Ok(is_done.then(|| entry(&value)).flatten()));
            let is_answer = matches!(
                step,
                MarkStep::Answer(Answer { outcome: Ok(ref known), .. }) if known.mark == mark(20)
            );
            assert_eq!(is_answer, is_done, "{step:?}");
        }
    }
}
