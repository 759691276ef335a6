//! The agents of a history, and the rule that each agent runs on the host to which it belongs.
//!
//! Decided here: an agent is started when its host runs and the agent has left its old place or was given up there. A
//! start that is refused is tried again a little later.

use std::{cell::RefCell, rc::Rc, time::Duration};

use fastrand::Rng;

use crate::{
    disk::Disk,
    host::{Host, Order, Outcome},
    member::{Member, Place, State},
    setting::{Setting, agent_of},
    voters::NEW_NAME,
};

pub(crate) struct Members {
    members: RefCell<Vec<Rc<Member>>>,
    hosts: Vec<Rc<Host>>,
}

impl Members {
    /// Creates the agents, none of which runs yet. Each agent belongs to a host of its own, if there are enough
    /// hosts.
    pub(crate) fn new(setting: &Setting, hosts: &[Rc<Host>]) -> Self {
        let plan = &setting.plan;
        let member = |index: usize| {
            let id = agent_of(index);
            let seed = setting.seed.wrapping_mul(31).wrapping_add(index as u64);
            let disk = Disk::new(id.clone(), seed, plan.disk, &setting.ledger);
            let disk = if plan.is_one_process() {
                disk.in_memory()
            } else {
                disk
            };
            let home = index % hosts.len();
            Rc::new(Member::new(id, index, home, disk, plan.speeds[index]))
        };
        Self {
            members: RefCell::new((0..plan.agents).map(member).collect()),
            hosts: hosts.to_vec(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Rc<Member>> + Clone + use<> {
        self.members.borrow().clone().into_iter()
    }

    /// Returns the agents that belong to a host.
    pub(crate) fn at_home(&self, k: usize) -> impl Iterator<Item = Rc<Member>> + use<> {
        self.iter().filter(move |member| member.home.get() == k)
    }

    /// Draws one of the agents that run on a host.
    pub(crate) fn running_on(&self, k: usize, rng: &mut Rng) -> Option<Rc<Member>> {
        let is_there = |member: &Rc<Member>| member.place().is_some_and(|place| place.host == k);
        let mut there = self.iter().filter(is_there);
        match there.clone().count() {
            0 | 1 => there.next(),
            several => there.nth(rng.usize(..several)),
        }
    }

    /// Whether all agents run on the hosts to which they belong.
    pub(crate) fn all_run(&self) -> bool {
        let is_home = |member: Rc<Member>| {
            let place = member.place();
            place.is_some_and(|place| place.host == member.home.get() && self.is_there(place))
        };
        self.iter().all(is_home)
    }

    /// Reads the outcomes of orders, and starts the agents that have to start. `is_ready` is whether a host can be
    /// ordered to start an agent. Returns the new events.
    pub(crate) fn tend(&self, now: Duration, is_ready: impl Fn(usize) -> bool) -> Vec<MemberEvent> {
        let mut events = Vec::new();
        for host in &self.hosts {
            for outcome in host.outcomes.take() {
                self.hear(now, host, outcome, &mut events);
            }
        }
        for member in self.iter() {
            let was_there = match member.state.get() {
                State::Absent { until } => {
                    if now >= until {
                        let member = self.present(member, &mut events);
                        self.start(&member, &is_ready);
                    }
                    continue;
                }
                State::Starting(place) | State::Runs(place) | State::Leaving(place) => place,
            };
            if !self.is_there(was_there) {
                member.state.set(State::ABSENT);
            }
        }
        events
    }

    fn hear(&self, now: Duration, host: &Host, outcome: Outcome, events: &mut Vec<MemberEvent>) {
        let (Outcome::Started(at) | Outcome::Refused(at, _) | Outcome::Left(at, _)) = outcome;
        let member = Rc::clone(&self.members.borrow()[at]);
        let here = |place: Place| place.host == host.index && self.is_there(place);
        match (outcome, member.state.get()) {
            (Outcome::Started(_), State::Starting(place)) if here(place) => {
                member.state.set(State::Runs(place));
                if place.host != at % self.hosts.len() {
                    events.push(("start away from its first host", String::new()));
                }
            }
            (Outcome::Refused(_, why), State::Starting(place)) if here(place) => {
                let until = now + AGAIN;
                member.state.set(State::Absent { until });
                events.push(("start refused", format!("{}: {why}", member.id)));
            }
            (Outcome::Left(_, is_polite), State::Leaving(place)) if here(place) => {
                member.state.set(State::ABSENT);
                let what = if is_polite {
                    "one that was asked to leave left"
                } else {
                    "one that was asked to leave was given up"
                };
                events.push((what, member.id.to_string()));
            }
            // The process has ended meanwhile.
            _ => {}
        }
    }

    /// Returns the agent that starts in this place. If `member` is lost, this is a new agent with its own name and
    /// store.
    fn present(&self, member: Rc<Member>, events: &mut Vec<MemberEvent>) -> Rc<Member> {
        if !member.is_lost.get() {
            return member;
        }
        let next = Rc::new(member.successor());
        events.push((NEW_NAME, format!("{} for {}", next.id, member.id)));
        self.members.borrow_mut()[member.index] = Rc::clone(&next);
        next
    }

    fn start(&self, member: &Rc<Member>, is_ready: impl Fn(usize) -> bool) {
        let home = member.home.get();
        let process = self.hosts[home].process.borrow();
        let Some(process) = process.as_ref().filter(|_| is_ready(home)) else {
            return;
        };
        member.state.set(State::Starting(process.place));
        process.order(Order::Start(Rc::clone(member)));
    }

    fn is_there(&self, place: Place) -> bool {
        let process = self.hosts[place.host].process.borrow();
        process.as_ref().is_some_and(|there| there.place == place)
    }
}

/// An event of an agent, and its details.
pub(crate) type MemberEvent = (&'static str, String);

/// Time after a refused start before the next try.
const AGAIN: Duration = Duration::from_millis(50);
