//! A seeded world of leaders and one store: its operations are late, lost, or done after they were given up; agents crash.

use std::{
    collections::{BTreeMap, BTreeSet},
    io, mem,
};

use fastrand::Rng;

use super::super::super::{
    clock_watch::LOOK,
    interface::{DueTick, Now, Rule, ScheduleEffect, ScheduleInput, TickCounts, TickFailed},
    machine::ScheduleMachine,
    marks::{MarkOperation, MarkStep, StoredMark},
    message::{LeaderNumber, Mark, ScheduleMessage},
    poll::{Audience, PollOutcome},
};
use crate::{
    clock::WallTime,
    elections::lease::LeaseName,
    protocol::{AgentId, Incarnation, Round, Term, Time},
    register::{Entry, RegisterError, RegisterKey, Swap, Version},
};

pub(super) const AGENTS: usize = 3;
pub(super) const DAWN: u64 = 1_000_000;
/// After so many milliseconds an operation is given up.
const LIMIT: u64 = 300;

/// A rule that is not kept, to see that these histories find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// A new leader reads, and does not write its term.
    ReadsOnly,
    /// A tick begins before its mark is stored.
    RunsFirst,
}

struct Host<'a> {
    /// Milliseconds by which its clock is ahead.
    ahead: i64,
    incarnation: u64,
    life: Option<Life<'a>>,
}

struct Life<'a> {
    mark: StoredMark,
    /// The number of the operation that it waits for.
    operation: u64,
    leads: Option<(u64, ScheduleMachine<'a>)>,
    look_at: u64,
    rounds: u64,
}

enum Happening {
    /// The store does it; the answer of the operation of that number may be lost.
    Applies {
        host: usize,
        operation: u64,
        what: MarkOperation,
    },
    Answers {
        host: usize,
        operation: u64,
        done: Done,
    },
    Look {
        host: usize,
        leadership: u64,
    },
    Ends {
        host: usize,
        leadership: u64,
        tick: DueTick,
        is_well: bool,
    },
}

enum Done {
    Read(Result<Option<Entry>, RegisterError>),
    Swap(Result<Swap, RegisterError>),
}

pub(super) struct World<'a> {
    rule: &'a Rule,
    flaw: Option<Flaw>,
    pub(super) rng: Rng,
    pub(super) now: u64,
    register: Option<Entry>,
    versions: u64,
    hosts: Vec<Host<'a>>,
    queue: BTreeMap<(u64, u64), Happening>,
    events: u64,
    term: u64,
    pub(super) is_calm: bool,
    pub(super) begun: Vec<(DueTick, WallTime)>,
    pub(super) done: BTreeSet<WallTime>,
    pub(super) origin: Option<WallTime>,
    pub(super) given_up: u32,
}

fn id(host: usize) -> AgentId {
    AgentId::new(&host.to_string()).unwrap()
}

fn name() -> LeaseName {
    let name = |name| AgentId::new(name).unwrap();
    LeaseName {
        cluster: name("shop"),
        group: name("jobs"),
    }
}

impl<'a> World<'a> {
    pub(super) fn new(rule: &'a Rule, flaw: Option<Flaw>, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let hosts = (0..AGENTS).map(|_| Host {
            ahead: rng.i64(-2_000..=2_000),
            incarnation: 0,
            life: None,
        });
        let mut world = Self {
            rule,
            flaw,
            hosts: hosts.collect(),
            rng,
            now: 0,
            register: None,
            versions: 0,
            queue: BTreeMap::new(),
            events: 0,
            term: 0,
            is_calm: false,
            begun: Vec::new(),
            done: BTreeSet::new(),
            origin: None,
            given_up: 0,
        };
        (0..AGENTS).for_each(|host| world.start(host));
        world
    }

    pub(super) fn moment(&self, host: usize) -> Now {
        let wall = (DAWN + self.now).saturating_add_signed(self.hosts[host].ahead);
        Now {
            wall: WallTime::from_millis(wall),
            time: Time::from_millis(self.now),
        }
    }

    fn push(&mut self, after: u64, happening: Happening) {
        self.events += 1;
        self.queue
            .insert((self.now + after, self.events), happening);
    }

    pub(super) fn start(&mut self, host: usize) {
        let of = &mut self.hosts[host];
        if of.life.is_none() {
            of.incarnation += 1;
            of.life = Some(Life {
                mark: StoredMark::new(name(), self.rule.name.clone()),
                operation: 0,
                leads: None,
                look_at: u64::MAX,
                rounds: 0,
            });
        }
    }

    fn number(&self, host: usize, term: Term) -> LeaderNumber {
        let incarnation = Incarnation(self.hosts[host].incarnation);
        LeaderNumber { term, incarnation }
    }

    /// An agent is elected; those before believe on.
    pub(super) fn elect(&mut self, host: usize) {
        self.term += 1;
        let (term, rule, ballot) = (self.term, self.rule, self.number(host, Term(self.term)));
        let Some(life) = &mut self.hosts[host].life else {
            return;
        };
        life.rounds += 1 << 20;
        life.look_at = u64::MAX;
        let rounds = Round {
            incarnation: ballot.incarnation,
            counter: life.rounds,
        };
        let machine = ScheduleMachine::new(
            rule,
            id(host),
            ballot,
            alone(host),
            rounds,
            TickCounts::default(),
        );
        life.leads = Some((term, machine));
        self.lead(host, term, ScheduleInput::Start);
    }

    pub(super) fn crash(&mut self, host: usize) {
        self.hosts[host].life = None;
    }

    pub(super) fn step_down(&mut self, host: usize) {
        if let Some(leadership) = self.leads(host) {
            self.lead(host, leadership, ScheduleInput::StepDown);
        }
    }

    pub(super) fn depose(&mut self, host: usize) {
        if let Some(life) = &mut self.hosts[host].life {
            life.leads = None;
        }
    }

    fn leads(&self, host: usize) -> Option<u64> {
        let leads = self.hosts[host].life.as_ref()?.leads.as_ref();
        leads.map(|(term, _)| *term)
    }

    pub(super) fn run_for(&mut self, millis: u64) {
        let end = self.now + millis;
        while let Some(next) = self.queue.first_entry() {
            if next.key().0 > end {
                break;
            }
            self.now = next.key().0;
            let happening = next.remove();
            self.happen(happening);
        }
        self.now = end;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Applies {
                host,
                operation,
                what,
            } => {
                let done = self.apply(what);
                if self.is_calm || self.rng.u32(..12) > 0 {
                    let after = self.latency();
                    let answers = Happening::Answers {
                        host,
                        operation,
                        done,
                    };
                    self.push(after, answers);
                }
            }
            Happening::Answers {
                host,
                operation,
                done,
            } => {
                let life = self.hosts[host].life.as_mut();
                if let Some(life) = life.filter(|life| life.operation == operation) {
                    life.operation = 0;
                    let step = match done {
                        Done::Read(read) => life.mark.read(read),
                        Done::Swap(swap) => life.mark.swapped(swap),
                    };
                    self.follow(host, step);
                }
            }
            Happening::Look { host, leadership } => self.look(host, leadership),
            Happening::Ends {
                host,
                leadership,
                tick,
                is_well,
            } => {
                if self.leads(host) == Some(leadership) {
                    if is_well {
                        self.done.insert(tick.due);
                    }
                    let end = is_well.then_some(()).ok_or(TickFailed);
                    self.lead(host, leadership, ScheduleInput::Ended(end));
                }
            }
        }
    }

    fn look(&mut self, host: usize, leadership: u64) {
        let now = self.now;
        if self.leads(host) != Some(leadership) {
            return;
        }
        let life = self.hosts[host].life.as_mut();
        let Some(life) = life.filter(|life| life.look_at == now) else {
            return;
        };
        life.look_at = u64::MAX;
        let look = ScheduleInput::Look {
            audience: alone(host),
            ballot: self.number(host, Term(leadership)),
        };
        self.lead(host, leadership, look);
    }

    fn apply(&mut self, what: MarkOperation) -> Done {
        match what {
            MarkOperation::Read => Done::Read(Ok(self.register.clone())),
            MarkOperation::Swap { expected, value } if expected == self.register => {
                self.versions += 1;
                let version = Version::from(self.versions);
                let key: RegisterKey = "x".parse().unwrap();
                let entry = Entry::new(&key, version.clone(), value);
                self.register = Some(entry.unwrap());
                Done::Swap(Ok(Swap::Done(version)))
            }
            MarkOperation::Swap { .. } => Done::Swap(Ok(Swap::Conflict(self.register.clone()))),
        }
    }

    /// Now and then longer than an operation is waited for.
    fn latency(&mut self) -> u64 {
        let is_slow = !self.is_calm && self.rng.u32(..12) == 0;
        self.rng.u64(1..if is_slow { 4_000 } else { 60 })
    }

    fn follow(&mut self, host: usize, step: MarkStep) {
        match step {
            MarkStep::Nothing => {}
            MarkStep::Foreign(reason) => panic!("the record is of this schedule: {reason}"),
            MarkStep::Answer(round, outcome) => self.answer(host, round, outcome),
            MarkStep::Run(what) => {
                self.events += 1;
                let operation = self.events;
                if let Some(life) = &mut self.hosts[host].life {
                    life.operation = operation;
                }
                let given_up = RegisterError::unknown(io::Error::from(io::ErrorKind::TimedOut));
                let done = Done::Swap(Err(given_up));
                if self.is_calm || self.rng.u32(..12) > 0 {
                    let after = self.latency();
                    self.given_up += u32::from(after > LIMIT);
                    let applies = Happening::Applies {
                        host,
                        operation,
                        what,
                    };
                    self.push(after, applies);
                }
                let answers = Happening::Answers {
                    host,
                    operation,
                    done,
                };
                self.push(LIMIT, answers);
            }
        }
    }

    fn answer(&mut self, host: usize, round: Round, outcome: PollOutcome) {
        if let Some(leadership) = self.leads(host) {
            let answer = ScheduleInput::Answer {
                from: id(host),
                round,
                outcome,
            };
            self.lead(host, leadership, answer);
        }
    }

    fn lead(&mut self, host: usize, leadership: u64, input: ScheduleInput) {
        let moment = self.moment(host);
        let mut effects = Vec::new();
        let life = self.hosts[host].life.as_mut();
        let leads = life.and_then(|life| life.leads.as_mut());
        let Some((_, machine)) = leads.filter(|(term, _)| *term == leadership) else {
            return;
        };
        machine.handle(moment, input, &mut effects);
        if machine.is_established() && self.origin.is_none() {
            self.origin = Some(machine.last());
        }
        let wake = machine.wake(moment);
        for effect in mem::take(&mut effects) {
            self.effect(host, leadership, moment.wall, effect);
        }
        let Some(wake) = wake else { return };
        let after = u64::try_from(wake.min(LOOK).as_millis()).unwrap().max(1);
        if let Some(life) = &mut self.hosts[host].life
            && life.look_at > self.now + after
        {
            life.look_at = self.now + after;
            self.push(after, Happening::Look { host, leadership });
        }
    }

    fn effect(&mut self, host: usize, leadership: u64, at: WallTime, effect: ScheduleEffect) {
        match effect {
            ScheduleEffect::Say { to, said } => {
                assert_eq!(to, [id(host)], "the store is asked by the agent alone");
                self.say(host, &said);
            }
            ScheduleEffect::Run(tick) => {
                self.begun.push((tick, at));
                let is_well = self.is_calm || self.rng.u32(..10) > 0;
                let after = self.rng.u64(1..if self.is_calm { 50 } else { 3_000 });
                let ends = Happening::Ends {
                    host,
                    leadership,
                    tick,
                    is_well,
                };
                self.push(after, ends);
            }
            ScheduleEffect::Finish => self.depose(host),
        }
    }

    fn say(&mut self, host: usize, said: &ScheduleMessage) {
        match (self.flaw, said) {
            (Some(Flaw::ReadsOnly), ScheduleMessage::Read(read)) => {
                let known = self.register.as_ref().map(|entry| {
                    let record: serde_json::Value = serde_json::from_slice(&entry.value).unwrap();
                    serde_json::from_value::<Option<Mark>>(record["mark"].clone()).unwrap()
                });
                return self.answer(host, read.round, Ok(known.flatten().into()));
            }
            (Some(Flaw::RunsFirst), ScheduleMessage::Write(write)) => {
                self.answer(host, write.round, Ok(Some(write.mark).into()));
            }
            (Some(_) | None, _) => {}
        }
        let wall = self.moment(host).wall;
        if let Some(life) = &mut self.hosts[host].life {
            let step = life.mark.ask(&id(host), said, wall);
            self.follow(host, step);
        }
    }

    /// How often each due time began.
    pub(super) fn times(&self) -> BTreeMap<WallTime, u32> {
        let mut times = BTreeMap::new();
        for (tick, _) in &self.begun {
            *times.entry(tick.due).or_default() += 1;
        }
        times
    }
}

/// The store alone is asked, by the agent itself.
fn alone(host: usize) -> Audience {
    Audience::Reachable([id(host)].into())
}
