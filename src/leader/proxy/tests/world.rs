//! Agents that send to their leader and receive from each other, on links that lose, delay and repeat.
//!
//! `history.rs` has the events and the promises.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use fastrand::Rng;

use super::{
    super::{
        exchange::{Answerer, KeptMessage, Life, Next, ProxyBounds, Refusal, Settled, Target},
        receiver::{Arrival, Judgement, Receiver},
        sender::Sender,
    },
    said::{Said, What},
};
use crate::{
    group::NodeDigest,
    protocol::{AgentId, Incarnation, Term, Time},
};

pub(super) const AGENTS: usize = 3;

/// A leader: the number of the agent, and its term.
pub(super) type Seen = (usize, u64);

/// A change of an agent's view: the time, the agent, the term, and the leader of this term if the agent sees it.
pub(super) type Sight = (u64, usize, u64, Option<Seen>);

pub(super) struct Agent {
    pub(super) life: Life,
    /// Lives of all agents, as this agent knows them.
    pub(super) known: Vec<Life>,
    pub(super) sender: Sender<u64>,
    pub(super) receiver: Receiver,
    pub(super) leading: Option<u64>,
    pub(super) view: Option<Seen>,
    /// Term of the last change of the view.
    pub(super) seen: u64,
    /// Number of the next message, counted over all incarnations.
    pub(super) next: u64,
    /// Messages of which the sender learned that their outcome is unknown, or that they cannot be delivered.
    pub(super) excused: BTreeSet<u64>,
    /// Messages that were lost when the agent ended.
    pub(super) lost: BTreeSet<u64>,
}

pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) now: u64,
    pub(super) term: u64,
    pub(super) agents: Vec<Agent>,
    /// Messages on their way from each agent to each other, with their times of arrival.
    pub(super) links: Vec<VecDeque<(u64, Said)>>,
    /// Copies of messages, with their times of arrival.
    pub(super) again: Vec<(u64, usize, usize, Said)>,
    /// The next leader: the time at which it begins, the agent, and the term.
    pub(super) coming: Option<(u64, usize, u64)>,
    pub(super) views: Vec<Sight>,
    /// Changes of an agent's knowledge of another agent's life: the time, the agent, the other agent, and its new life.
    pub(super) lives: Vec<(u64, usize, usize, Life)>,
    /// Whether a former leader continues until it sees the next leader. Then the order is promised only for each
    /// leader.
    pub(super) has_rivals: bool,
    pub(super) delivered: BTreeSet<(usize, u64)>,
    /// Last message of each sender. If leaders have rivals, the last message of each life of the sender to each leader.
    last: BTreeMap<(usize, Option<(Life, Seen)>), u64>,
    pub(super) broken: Option<String>,
    pub(super) is_calm: bool,
}

pub(super) fn id(at: usize) -> AgentId {
    AgentId::new(&format!("a{at}")).unwrap()
}

impl Agent {
    /// Returns the target of a message to the leader. The leader's life is the last one that this agent knows.
    fn target(&self, (at, term): Seen) -> Target {
        Target {
            id: id(at),
            life: self.known[at],
            term: Term(term),
        }
    }
}

fn count<T>(items: &[T]) -> u64 {
    items.len().try_into().unwrap()
}

pub(super) fn bounds() -> ProxyBounds {
    ProxyBounds {
        messages: 24,
        bytes: 24,
        patience: Duration::from_millis(600),
    }
}

impl World {
    pub(super) fn new(seed: u64, has_rivals: bool) -> Self {
        let life = Life {
            node: NodeDigest(0),
            incarnation: Incarnation(1),
        };
        let agent = |_| Agent {
            life,
            known: vec![life; AGENTS],
            sender: Sender::new(bounds()),
            receiver: Receiver::default(),
            leading: None,
            view: None,
            seen: 0,
            next: 0,
            excused: BTreeSet::new(),
            lost: BTreeSet::new(),
        };
        Self {
            rng: Rng::with_seed(seed),
            now: 0,
            term: 0,
            agents: (0..AGENTS).map(agent).collect(),
            links: vec![VecDeque::new(); AGENTS * AGENTS],
            again: Vec::new(),
            coming: None,
            views: Vec::new(),
            lives: Vec::new(),
            has_rivals,
            delivered: BTreeSet::new(),
            last: BTreeMap::new(),
            broken: None,
            is_calm: false,
        }
    }

    fn time(&self) -> Time {
        Time::from_millis(self.now)
    }

    pub(super) fn leader(&self) -> Option<usize> {
        self.agents.iter().position(|agent| agent.leading.is_some())
    }

    pub(super) fn settle(&mut self, at: usize, settled: Settled<u64>) {
        let told = settled.unknown.into_iter().chain(settled.undeliverable);
        let told = told.map(|item: KeptMessage<u64>| item.payload);
        self.agents[at].excused.extend(told);
    }

    /// Delivers a message to the actor of a leader, for this life of the sender.
    fn deliver(&mut self, by: usize, (from, life): (usize, Life), message: u64) {
        let leads = self.agents[by].leading;
        let leader = leads.map(|term| (life, (by, term)));
        let last = self
            .last
            .insert((from, leader.filter(|_| self.has_rivals)), message);
        let what = match leads {
            None => "by an agent that does not lead",
            Some(_) if !self.delivered.insert((from, message)) => "once more",
            Some(_) if last.is_some_and(|last| last > message) => "after a later one",
            Some(_) => return,
        };
        let broken = format!("a{from}: {message} was delivered {what}, by a{by}");
        self.broken.get_or_insert(broken);
    }

    pub(super) fn push(&mut self, at: usize) {
        let me = id(at);
        let agent = &mut self.agents[at];
        let message = agent.next;
        agent.next += 1;
        if agent.sender.is_clear() && agent.sender.wants(&me) && agent.leading.is_some() {
            let life = agent.life;
            return self.deliver(at, (at, life), message);
        }
        if let Err(message) = agent.sender.push(1, message) {
            agent.excused.insert(message);
        }
    }

    fn pump(&mut self, at: usize) {
        loop {
            let now = self.time();
            let most = self.rng.usize(1..6);
            let (next, settled) = self.agents[at].sender.next(now, most, 100);
            self.settle(at, settled);
            let Some(next) = next else { return };
            let from = self.agents[at].life;
            let Next {
                to,
                run,
                first,
                count,
            } = next;
            let flight = self.agents[at].sender.in_flight(count);
            let items = flight.map(|item| item.payload).collect();
            self.send_batch(at, from, &to, run, first, items);
        }
    }

    fn send_batch(
        &mut self,
        at: usize,
        from: Life,
        to: &Target,
        run: u64,
        first: u64,
        items: Vec<u64>,
    ) {
        let there = (0..AGENTS).find(|there| id(*there) == to.id).unwrap();
        if there == at {
            return self.deliver_here(at, to, run, first, &items);
        }
        let what = What::Batch {
            term: to.term.0,
            first,
            items,
        };
        let to = to.life;
        let said = Said {
            from,
            to,
            run,
            what,
        };
        self.say(at, there, said);
    }

    /// Delivers messages to the sender's own agent, if it leads. They need no link.
    fn deliver_here(&mut self, at: usize, to: &Target, run: u64, first: u64, items: &[u64]) {
        let (now, me) = (self.time(), id(at));
        let from = Answerer {
            id: &me,
            life: to.life,
            run,
        };
        let settled = if self.agents[at].leading == Some(to.term.0) {
            for item in items {
                self.deliver(at, (at, self.agents[at].life), *item);
            }
            let next = first + count(items);
            self.agents[at].sender.acknowledged(now, &from, next)
        } else {
            let sender = &mut self.agents[at].sender;
            sender.refused(now, &from, Some(first), Refusal::NotLeader, None)
        };
        self.settle(at, settled);
    }

    fn say(&mut self, from: usize, to: usize, said: Said) {
        if !self.is_calm && self.rng.u8(..20) == 0 {
            return; // lost
        }
        if !self.is_calm && self.rng.u8(..6) == 0 {
            let at = self.now + self.rng.u64(..1_500);
            self.again.push((at, from, to, said.clone()));
        }
        let slow = if self.rng.u8(..30) == 0 { 900 } else { 20 };
        let link = &mut self.links[from * AGENTS + to];
        let last = link.back().map_or(0, |(at, _)| *at);
        link.push_back((last.max(self.now + self.rng.u64(1..slow)), said));
    }

    fn hear(&mut self, from: usize, to: usize, said: Said) {
        // An answer to a former life does not count.
        if !self.is_meant(said.to, to) {
            return;
        }
        let (now, who) = (self.time(), id(from));
        let peer = Answerer {
            id: &who,
            life: said.from,
            run: said.run,
        };
        let agent = &mut self.agents[to];
        let settled = match said.what {
            What::Batch { term, first, items } => {
                let arrival = Arrival {
                    from: said.from,
                    run: said.run,
                    first,
                    count: count(&items),
                };
                return self.receive((from, to), arrival, term, &items);
            }
            What::Ack { next } => agent.sender.acknowledged(now, &peer, next),
            What::Refuse { next, why, hint } => {
                let hint = hint.map(|hint| agent.target(hint));
                agent.sender.refused(now, &peer, next, why, hint)
            }
        };
        self.settle(to, settled);
    }

    fn is_meant(&self, meant: Life, at: usize) -> bool {
        meant == self.agents[at].life
    }

    /// Tells an agent another agent's new life. Messages to the former life count as ended.
    pub(super) fn learn(&mut self, at: usize, other: usize, life: Life) {
        let now = self.time();
        let agent = &mut self.agents[at];
        agent.known[other] = agent.known[other].max(life);
        let present = |whom: &AgentId| (0..AGENTS).find(|k| id(*k) == *whom);
        let known = &agent.known;
        let settled = agent.sender.see_ends(|whom| Some(known[present(whom)?]));
        let view = agent.view.map(|view| agent.target(view));
        if !agent.sender.sees(view.as_ref()) {
            agent.sender.see(now, view);
        }
        self.settle(at, settled);
    }

    fn receive(&mut self, (from, to): (usize, usize), arrival: Arrival, term: u64, items: &[u64]) {
        let (of, run) = (arrival.from, arrival.run);
        let agent = &mut self.agents[to];
        let (leads, hint, me) = (agent.leading == Some(term), agent.view, agent.life);
        let is_ready = self.is_calm || self.rng.u8(..20) != 0;
        let refuse = |next, why| What::Refuse { next, why, hint };
        let mut taken = Vec::new();
        let what = match agent.receiver.judge(&id(from), arrival) {
            Judgement::Ignore => return,
            Judgement::Refuse { next } => refuse(next, Refusal::Gap),
            Judgement::Take { session, skip } => {
                let news = items.iter().skip(usize::try_from(skip).unwrap());
                let mut refused = None;
                for item in news {
                    if !leads || !is_ready {
                        let why = if leads {
                            Refusal::NotReady
                        } else {
                            Refusal::NotLeader
                        };
                        refused = Some(refuse(session.close(), why));
                        break;
                    }
                    session.deliver();
                    taken.push(*item);
                }
                refused.unwrap_or_else(|| What::Ack {
                    next: session.next().unwrap(),
                })
            }
        };
        for item in taken {
            self.deliver(to, (from, of), item);
        }
        let answer = Said {
            from: me,
            to: of,
            run,
            what,
        };
        self.say(to, from, answer);
    }

    pub(super) fn step(&mut self) {
        self.now += 1;
        if let Some((_, next, term)) = self.coming.filter(|(at, ..)| *at <= self.now) {
            self.agents[next].leading = Some(term);
            self.coming = None;
        }
        let now = self.time();
        let (due, later) = std::mem::take(&mut self.views)
            .into_iter()
            .partition(|(at, ..)| *at <= self.now);
        self.views = later;
        for (_, agent, term, seen) in due {
            // An agent does not return to a former term.
            if term < self.agents[agent].seen {
                continue;
            }
            let leading = self.agents[agent].leading;
            self.agents[agent].leading = leading.filter(|own| *own >= term);
            self.agents[agent].seen = term;
            self.agents[agent].view = seen;
            let seen = seen.map(|seen| self.agents[agent].target(seen));
            self.agents[agent].sender.see(now, seen);
        }
        let (due, later) = std::mem::take(&mut self.lives)
            .into_iter()
            .partition(|(at, ..)| *at <= self.now);
        self.lives = later;
        for (_, agent, other, life) in due {
            self.learn(agent, other, life);
        }
        for from in 0..AGENTS {
            for to in 0..AGENTS {
                while let Some((at, said)) = self.links[from * AGENTS + to].pop_front() {
                    if at > self.now {
                        self.links[from * AGENTS + to].push_front((at, said));
                        break;
                    }
                    self.hear(from, to, said);
                }
            }
        }
        let (due, later) = std::mem::take(&mut self.again)
            .into_iter()
            .partition(|(at, ..)| *at <= self.now);
        self.again = later;
        for (_, from, to, said) in due {
            self.hear(from, to, said);
        }
        (0..AGENTS).for_each(|at| self.pump(at));
    }
}
