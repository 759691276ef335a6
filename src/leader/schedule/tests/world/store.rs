//! One store for the marks: its operations are late, lost, or done after the agent gave them up.

use std::io;

use super::{
    super::super::{
        interface::Rule,
        marks::{MarkOperation, MarkStep, StoredMark},
        message::{Answer, Mark, Question},
    },
    Flaw, Happening, World, id,
};
use crate::{
    elections::lease::LeaseName,
    protocol::AgentId,
    register::{Entry, RegisterError, RegisterKey, Swap, Version},
};

/// Milliseconds after which an agent gives an operation up.
const LIMIT: u64 = 300;

#[derive(Debug, Default)]
pub(super) struct Store {
    register: Option<Entry>,
    versions: u64,
    /// Number of operations that were done after the agent gave them up.
    given_up: u32,
}

/// The mark as an agent sees it, and the number of the operation for which the agent waits.
pub(super) struct Held {
    mark: StoredMark,
    operation: u64,
}

/// An operation of the store: the agent that started it, its number, and its progress.
pub(super) struct Operation {
    host: usize,
    number: u64,
    what: Progress,
}

enum Progress {
    Asked(MarkOperation),
    Read(Result<Option<Entry>, RegisterError>),
    Swapped(Result<Swap, RegisterError>),
}

impl Held {
    pub(super) fn new(rule: &Rule, host: usize) -> Self {
        let name = |name| AgentId::new(name).unwrap();
        let lease = LeaseName {
            cluster: name("shop"),
            group: name("jobs"),
        };
        Self {
            mark: StoredMark::new(lease, rule.name.clone(), id(host)),
            operation: 0,
        }
    }
}

impl World {
    pub(in super::super) const fn given_up(&self) -> u32 {
        self.store.given_up
    }

    pub(super) fn operate(&mut self, operation: Operation) {
        let Operation { host, number, what } = operation;
        let what = match what {
            Progress::Asked(what) => {
                let what = self.apply(what);
                if self.is_calm || self.rng.u32(..12) > 0 {
                    let after = self.latency();
                    let answer = Operation { host, number, what };
                    self.push(after, Happening::InStore(answer));
                }
                return;
            }
            Progress::Read(_) | Progress::Swapped(_) => what,
        };
        let held = self.hosts[host].life.as_mut().map(|life| &mut life.held);
        let Some(held) = held.filter(|held| held.operation == number) else {
            return;
        };
        held.operation = 0;
        let step = match what {
            Progress::Asked(_) => return,
            Progress::Read(read) => held.mark.read(read),
            Progress::Swapped(swap) => held.mark.swapped(swap),
        };
        self.follow(host, step);
    }

    fn apply(&mut self, what: MarkOperation) -> Progress {
        let store = &mut self.store;
        match what {
            MarkOperation::Read => Progress::Read(Ok(store.register.clone())),
            MarkOperation::Swap { expected, value } if expected == store.register => {
                store.versions += 1;
                let version = Version::from(store.versions);
                let key: RegisterKey = "x".parse().unwrap();
                store.register = Some(Entry::new(&key, version.clone(), value).unwrap());
                Progress::Swapped(Ok(Swap::Done(version)))
            }
            MarkOperation::Swap { .. } => {
                Progress::Swapped(Ok(Swap::Conflict(store.register.clone())))
            }
        }
    }

    /// Returns the time of an operation. Sometimes it is longer than the agent waits.
    fn latency(&mut self) -> u64 {
        let is_slow = !self.is_calm && self.rng.u32(..12) == 0;
        self.rng.u64(1..if is_slow { 4_000 } else { 60 })
    }

    fn follow(&mut self, host: usize, step: MarkStep) {
        let what = match step {
            MarkStep::Nothing => return,
            MarkStep::Foreign(reason) => panic!("the record is of this schedule: {reason}"),
            MarkStep::Answer(answer) => return self.answer(host, host, answer),
            MarkStep::Run(what) => Progress::Asked(what),
        };
        self.events += 1;
        let number = self.events;
        if let Some(life) = &mut self.hosts[host].life {
            life.held.operation = number;
        }
        let is_lost = self.cut.contains(&host) || !self.is_calm && self.rng.u32(..12) == 0;
        if !is_lost {
            let after = self.latency();
            self.store.given_up += u32::from(after > LIMIT);
            self.push(after, Happening::InStore(Operation { host, number, what }));
        }
        let timed_out = RegisterError::unknown(io::Error::from(io::ErrorKind::TimedOut));
        let what = Progress::Swapped(Err(timed_out));
        self.push(LIMIT, Happening::InStore(Operation { host, number, what }));
    }

    pub(super) fn ask_store(&mut self, host: usize, question: Question) {
        let round = question.round;
        if question.mark.is_none() && self.is_broken(Flaw::ReadsOnly) {
            let known = self.store.register.as_ref().map(|entry| {
                let record: serde_json::Value = serde_json::from_slice(&entry.value).unwrap();
                serde_json::from_value::<Option<Mark>>(record["mark"].clone()).unwrap()
            });
            let outcome = Ok(known.flatten().into());
            return self.answer(host, host, Answer { round, outcome });
        }
        if question.mark.is_some() && self.is_broken(Flaw::RunsFirst) {
            let outcome = Ok(question.mark.into());
            self.answer(host, host, Answer { round, outcome });
        }
        let wall = self.wall(host);
        if let Some(life) = &mut self.hosts[host].life {
            let step = life.held.mark.ask(question, wall);
            self.follow(host, step);
        }
    }
}
