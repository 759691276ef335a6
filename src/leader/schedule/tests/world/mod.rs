//! A seeded world of agents. Messages are lost, delayed, doubled and overtake each other. Agents crash and return with
//! their stored records. Their clocks differ, and are set. Several agents may believe that they lead.
//!
//! So the world has every leadership that an election may bring, and more. The voters keep the marks, or one store does
//! (`store.rs`). Due times come from a rule, or from a stream at each agent (`stream.rs`). `voters.rs` has the records
//! of the agents, and `faults.rs` the faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    time::Duration,
};

use fastrand::Rng;

use super::super::{
    clock_watch::LOOK,
    interface::{DueTick, Now, Rule, ScheduleEffect, ScheduleInput, TickFailed},
    lists::VoterLists,
    machine::ScheduleMachine,
    message::{Answer, LeaderNumber, Mark, ScheduleMessage},
    register::ScheduleRecord,
    replica::Replica,
};
use crate::{
    agent::schedules::ScheduleStatus,
    clock::WallTime,
    protocol::{AgentId, Epochs, Incarnation, Round, Term, Time},
};

mod faults;
mod setup;
mod store;
mod stream;
mod voters;

pub(super) use setup::{Flaw, Marks, Setup, Source};
use store::{Held, Store};
use stream::SharedWindow;
pub(super) use stream::every;

pub(super) const AGENTS: usize = 5;

/// One agent: its durable record, and the state that it loses in a crash.
struct Host {
    /// Milliseconds by which the agent's clock is ahead.
    ahead: i64,
    incarnation: u64,
    disk: ScheduleRecord,
    life: Option<Life>,
}

struct Life {
    replica: Replica,
    lists: VoterLists,
    held: Held,
    rule: &'static Rule,
    window: Option<SharedWindow>,
    /// The leadership in which the agent believes, with its number.
    leads: Option<(u64, ScheduleMachine<'static>)>,
    /// Time at which the leader looks again.
    look_at: u64,
    rounds: u64,
}

enum Happening {
    Arrives {
        from: usize,
        to: usize,
        said: ScheduleMessage,
    },
    /// A write of this incarnation has ended.
    Stored {
        host: usize,
        incarnation: u64,
        record: ScheduleRecord,
        is_stored: bool,
    },
    /// The store executes an operation, or its answer arrives.
    InStore(store::Operation),
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

#[derive(Clone, Copy, Debug)]
pub(super) struct BegunTick {
    pub(super) tick: DueTick,
    /// Time of the begin, by the leader's clock.
    pub(super) at: WallTime,
}

pub(super) struct World {
    setup: Setup,
    pub(super) rng: Rng,
    pub(super) now: u64,
    hosts: Vec<Host>,
    store: Store,
    queue: BTreeMap<(u64, u64), Happening>,
    events: u64,
    term: u64,
    epoch: u64,
    /// The voters of the present epoch.
    pub(super) voters: BTreeSet<usize>,
    pub(super) is_calm: bool,
    /// Agents that are cut off from all other agents and from the store.
    cut: BTreeSet<usize>,
    pub(super) begun: Vec<BegunTick>,
    pub(super) done: BTreeSet<WallTime>,
    /// Due times after this one must run. The first acknowledged leadership sets it.
    pub(super) origin: Option<WallTime>,
}

const DAWN: u64 = 1_000_000;

const LEARNED: Epochs = Epochs::Learned { term_bits: 40 };

pub(super) fn id(host: usize) -> AgentId {
    AgentId::new(&host.to_string()).unwrap()
}

impl World {
    pub(super) fn new(setup: Setup, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let hosts = (0..AGENTS).map(|_| Host {
            ahead: rng.i64(-4_000..=4_000),
            incarnation: 0,
            disk: ScheduleRecord::default(),
            life: None,
        });
        let mut world = Self {
            setup,
            store: Store::default(),
            hosts: hosts.collect(),
            rng,
            now: 0,
            queue: BTreeMap::new(),
            events: 0,
            term: 0,
            epoch: 0,
            voters: (0..AGENTS).collect(),
            is_calm: false,
            cut: BTreeSet::new(),
            begun: Vec::new(),
            done: BTreeSet::new(),
            origin: None,
        };
        (0..AGENTS).for_each(|host| world.start(host));
        world
    }

    pub(super) fn wall(&self, host: usize) -> WallTime {
        let time = DAWN + self.now;
        WallTime::from_millis(time.saturating_add_signed(self.hosts[host].ahead))
    }

    fn moment(&self, host: usize) -> Now {
        Now {
            wall: self.wall(host),
            time: Time::from_millis(self.now),
        }
    }

    fn push(&mut self, after: u64, happening: Happening) {
        self.events += 1;
        self.queue
            .insert((self.now + after, self.events), happening);
    }

    fn is_broken(&self, flaw: Flaw) -> bool {
        self.setup.flaw == Some(flaw)
    }

    // ---- faults ---------------------------------------------------------------------------------

    pub(super) fn start(&mut self, host: usize) {
        let (epoch, list) = (self.epoch, self.list());
        let (rule, window) = self.setup.rule();
        let forgets = self.is_broken(Flaw::ForgetsRecord);
        let at = host;
        let host = &mut self.hosts[host];
        if host.life.is_none() {
            host.incarnation += 1;
            if forgets {
                host.disk = ScheduleRecord::default();
            }
            // The agent learns only the present list, not the changes while it was down.
            let mut lists = VoterLists::new(LEARNED, host.disk.lists.clone());
            lists.note(epoch, list);
            host.life = Some(Life {
                replica: Replica::new(host.disk.clone()),
                lists,
                held: Held::new(rule, at),
                rule,
                window,
                leads: None,
                look_at: u64::MAX,
                rounds: 0,
            });
        }
    }

    /// Elects an agent. Former leaders still believe that they lead.
    pub(super) fn elect(&mut self, host: usize) {
        if !self.voters.contains(&host) {
            return;
        }
        self.depose(host);
        self.term += 1;
        let number = self.epoch << 40 | self.term;
        let audience = self.audience(host, Term(number));
        let incarnation = Incarnation(self.hosts[host].incarnation);
        let Some(life) = &mut self.hosts[host].life else {
            return;
        };
        let ballot = LeaderNumber {
            term: Term(number),
            incarnation,
        };
        let rounds = Round {
            incarnation,
            counter: life.rounds,
        };
        life.rounds += 1 << 20;
        life.look_at = u64::MAX;
        life.leads = Some((
            number,
            ScheduleMachine::new(
                life.rule,
                id(host),
                ballot,
                audience,
                rounds,
                ScheduleStatus::default(),
            ),
        ));
        self.lead(host, number, ScheduleInput::Start);
    }

    pub(super) fn step_down(&mut self, host: usize) {
        if let Some(number) = self.leads(host) {
            self.lead(host, number, ScheduleInput::StepDown);
        }
    }

    /// Ends the leadership of an agent at once.
    pub(super) fn depose(&mut self, host: usize) {
        if let Some(life) = &mut self.hosts[host].life {
            life.leads = None;
            if let Some(window) = &life.window {
                window.lock().follow();
            }
        }
    }

    fn leads(&self, host: usize) -> Option<u64> {
        let leads = self.hosts[host].life.as_ref()?.leads.as_ref();
        leads.map(|(number, _)| *number)
    }

    // ---- one step -------------------------------------------------------------------------------

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
            Happening::Arrives { from, to, said } => self.arrive(from, to, said),
            Happening::Stored {
                host,
                incarnation,
                record,
                is_stored,
            } => {
                if is_stored && self.hosts[host].incarnation == incarnation {
                    // If the host crashed during a write, the record may be on the disk or not.
                    self.hosts[host].disk = record;
                }
                self.stored(host, incarnation, is_stored);
            }
            Happening::InStore(operation) => self.operate(operation),
            Happening::Look { host, leadership } => {
                let now = self.now;
                (0..AGENTS).for_each(|host| self.tell(host));
                if self.leads(host) != Some(leadership) {
                    return;
                }
                match &mut self.hosts[host].life {
                    Some(life) if life.look_at == now => life.look_at = u64::MAX,
                    Some(_) | None => return,
                }
                let number = LeaderNumber {
                    term: Term(leadership),
                    incarnation: Incarnation(self.hosts[host].incarnation),
                };
                let audience = self.audience(host, Term(leadership));
                let look = ScheduleInput::Look {
                    audience,
                    ballot: number,
                };
                self.lead(host, leadership, look);
            }
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
                    let end = is_well
                        .then_some(())
                        .ok_or_else(|| TickFailed("no disk".to_owned()));
                    self.lead(host, leadership, ScheduleInput::Ended(end));
                }
            }
        }
    }

    fn answer(&mut self, from: usize, to: usize, answer: Answer) {
        if let Some(number) = self.leads(to) {
            let answer = ScheduleInput::Answer(id(from), answer);
            self.lead(to, number, answer);
        }
    }

    fn lead(&mut self, host: usize, number: u64, input: ScheduleInput) {
        let moment = self.moment(host);
        let mut effects = Vec::new();
        let Some(life) = &mut self.hosts[host].life else {
            return;
        };
        let leads = life.leads.as_mut();
        let Some((_, machine)) = leads.filter(|(leads, _)| *leads == number) else {
            return;
        };
        machine.handle(moment, input, &mut effects);
        if let Some(window) = &life.window {
            window.lock().lead(machine.frontier());
        }
        if machine.is_established() && self.origin.is_none() {
            self.origin = Some(machine.last());
        }
        // A stream may report a due time at any time.
        let wake = machine.wake(moment);
        let wake = wake.or_else(|| life.window.as_ref().map(|_| LOOK));
        for effect in mem::take(&mut effects) {
            self.effect(host, number, moment.wall, effect);
        }
        if let Some(wake) = wake {
            let after = u64::try_from(wake.min(LOOK).as_millis()).unwrap().max(1);
            match &mut self.hosts[host].life {
                Some(life) if life.look_at > self.now + after => life.look_at = self.now + after,
                Some(_) | None => return,
            }
            let look = Happening::Look {
                host,
                leadership: number,
            };
            self.push(after, look);
        }
    }

    fn effect(&mut self, host: usize, number: u64, at: WallTime, effect: ScheduleEffect) {
        match effect {
            ScheduleEffect::Ask(to, question) if self.setup.marks == Marks::InStore => {
                assert_eq!(to, [id(host)], "only the agent itself asks the store");
                self.ask_store(host, question);
            }
            ScheduleEffect::Ask(to, mut question) => {
                if self.is_broken(Flaw::BeginsAsDone) {
                    question.mark = question.mark.map(|mark| Mark {
                        done: Some(mark.finished()),
                        ..mark
                    });
                }
                let said = ScheduleMessage::Ask(question);
                for to in to {
                    self.send(host, to.as_str().parse().unwrap(), &said);
                }
            }
            ScheduleEffect::Run(tick) => {
                self.begun.push(BegunTick { tick, at });
                let is_well = self.is_calm || self.rng.u32(..10) > 0;
                // Sometimes the work takes longer than the interval.
                let after = self.rng.u64(1..if self.is_calm { 50 } else { 3_000 });
                let ends = Happening::Ends {
                    host,
                    leadership: number,
                    tick,
                    is_well,
                };
                self.push(after, ends);
            }
            ScheduleEffect::Finish => self.depose(host),
        }
    }
}

pub(super) const INTERVAL: Duration = Duration::from_secs(1);
