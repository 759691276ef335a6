//! Agents that send to their leader and take from each other, on links that lose, delay and repeat.
//!
//! What happens to them, and what must hold: `history.rs`.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use fastrand::Rng;

use super::super::{
    Overflow,
    defect::ProxyDefect,
    exchange::{Answerer, KeptMessage, Next, ProxyBounds, Refusal, Settled, Target},
    receiver::{Arrival, Judgement, Receiver},
    sender::Sender,
};
use crate::protocol::{AgentId, Incarnation, Term, Time};

pub(super) const AGENTS: usize = 3;

/// What crosses.
#[derive(Clone)]
pub(super) enum Said {
    Batch {
        from: u64,
        to: u64,
        run: u64,
        term: u64,
        first: u64,
        items: Vec<u64>,
    },
    Ack {
        from: u64,
        to: u64,
        run: u64,
        next: u64,
    },
    Refuse {
        from: u64,
        to: u64,
        run: u64,
        next: Option<u64>,
        why: Refusal,
        hint: Option<Seen>,
    },
}

/// A leader: which agent, its incarnation, its term.
pub(super) type Seen = (usize, u64, u64);

/// At that time an agent sees what became of a term.
pub(super) type Sight = (u64, usize, u64, Option<Seen>);

pub(super) struct Agent {
    pub(super) incarnation: u64,
    pub(super) sender: Sender<u64>,
    pub(super) receiver: Receiver,
    pub(super) leading: Option<u64>,
    pub(super) view: Option<Seen>,
    /// The term of that.
    pub(super) seen: u64,
    /// Its next message has this number, in all incarnations.
    pub(super) next: u64,
    /// Messages that it was told not to count on.
    pub(super) excused: BTreeSet<u64>,
    /// Messages that were lost with it.
    pub(super) lost: BTreeSet<u64>,
}

pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) now: u64,
    pub(super) term: u64,
    pub(super) agents: Vec<Agent>,
    /// What is on its way from one agent to another, with its time of arrival.
    pub(super) links: Vec<VecDeque<(u64, Said)>>,
    /// What comes once more, at any time.
    pub(super) again: Vec<(u64, usize, usize, Said)>,
    /// Who is to lead, from when on, and who sees what from when on.
    pub(super) coming: Option<(u64, usize, u64)>,
    pub(super) views: Vec<Sight>,
    pub(super) delivered: Vec<Vec<u64>>,
    pub(super) defect: Option<ProxyDefect>,
    pub(super) is_calm: bool,
}

pub(super) fn id(at: usize) -> AgentId {
    AgentId::new(&format!("a{at}")).unwrap()
}

fn target((at, incarnation, term): (usize, u64, u64)) -> Target {
    Target {
        former: None,
        id: id(at),
        incarnation: Incarnation(incarnation),
        term: Term(term),
    }
}

fn count<T>(items: &[T]) -> u64 {
    items.len().try_into().unwrap()
}

pub(super) fn bounds() -> ProxyBounds {
    ProxyBounds {
        messages: 24,
        bytes: 24,
        overflow: Overflow::DropOldest,
        patience: Duration::from_millis(600),
    }
}

impl World {
    pub(super) fn new(seed: u64, defect: Option<ProxyDefect>) -> Self {
        let agent = |_| Agent {
            incarnation: 1,
            sender: Sender::new(bounds(), defect),
            receiver: Receiver::new(defect),
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
            delivered: vec![Vec::new(); AGENTS],
            defect,
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

    fn deliver(&mut self, from: usize, message: u64) {
        self.delivered[from].push(message);
    }

    pub(super) fn push(&mut self, at: usize) {
        let me = id(at);
        let agent = &mut self.agents[at];
        let message = agent.next;
        agent.next += 1;
        if agent.sender.is_clear() && agent.sender.wants(&me) && agent.leading.is_some() {
            return self.deliver(at, message);
        }
        match agent.sender.push(1, message, bounds().overflow) {
            Ok((_, dropped)) => agent
                .excused
                .extend(dropped.into_iter().map(|item| item.payload)),
            Err(message) => {
                agent.excused.insert(message);
            }
        }
    }

    fn pump(&mut self, at: usize) {
        loop {
            let now = self.time();
            let most = self.rng.usize(1..6);
            let (next, settled) = self.agents[at].sender.next(now, most, 100);
            self.settle(at, settled);
            let Some(next) = next else { return };
            let from = self.agents[at].incarnation;
            match next {
                Next::Batch {
                    to,
                    run,
                    first,
                    count,
                } => {
                    let flight = self.agents[at].sender.in_flight(count);
                    let items = flight.map(|item| item.payload).collect();
                    self.send_batch(at, from, &to, run, first, items);
                }
                Next::Probe { to, run, next } => {
                    self.send_batch(at, from, &to, run, next, Vec::new());
                }
            }
        }
    }

    fn send_batch(
        &mut self,
        at: usize,
        from: u64,
        to: &Target,
        run: u64,
        first: u64,
        items: Vec<u64>,
    ) {
        let there = (0..AGENTS).find(|there| id(*there) == to.id).unwrap();
        if there == at {
            return self.deliver_here(at, to, run, first, &items);
        }
        let said = Said::Batch {
            from,
            to: to.incarnation.0,
            run,
            term: to.term.0,
            first,
            items,
        };
        self.say(at, there, said);
    }

    /// The own agent leads, or did: nothing crosses.
    fn deliver_here(&mut self, at: usize, to: &Target, run: u64, first: u64, items: &[u64]) {
        let (now, me) = (self.time(), id(at));
        let from = Answerer {
            id: &me,
            incarnation: to.incarnation,
            run,
        };
        let settled = if self.agents[at].leading == Some(to.term.0) {
            for item in items {
                self.deliver(at, *item);
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
        match said {
            Said::Batch {
                from: incarnation,
                to: meant,
                run,
                term,
                first,
                items,
            } => {
                if self.agents[from].incarnation == incarnation
                    && self.agents[to].incarnation == meant
                {
                    let arrival = Arrival {
                        incarnation: Incarnation(incarnation),
                        run,
                        first,
                        count: count(&items),
                    };
                    self.receive((from, to), arrival, term, &items);
                }
            }
            // An answer to a former incarnation is none to this one.
            Said::Ack { to: meant, .. } | Said::Refuse { to: meant, .. }
                if meant != self.agents[to].incarnation => {}
            Said::Ack {
                from: incarnation,
                run,
                next,
                ..
            } => {
                let (now, who) = (self.time(), id(from));
                let peer = Answerer {
                    id: &who,
                    incarnation: Incarnation(incarnation),
                    run,
                };
                let settled = self.agents[to].sender.acknowledged(now, &peer, next);
                self.settle(to, settled);
            }
            Said::Refuse {
                from: incarnation,
                run,
                next,
                why,
                hint,
                ..
            } => {
                let (now, who) = (self.time(), id(from));
                let peer = Answerer {
                    id: &who,
                    incarnation: Incarnation(incarnation),
                    run,
                };
                let sender = &mut self.agents[to].sender;
                let settled = sender.refused(now, &peer, next, why, hint.map(target));
                self.settle(to, settled);
            }
        }
    }

    fn receive(&mut self, (from, to): (usize, usize), arrival: Arrival, term: u64, items: &[u64]) {
        let (of, run) = (arrival.incarnation.0, arrival.run);
        let agent = &mut self.agents[to];
        let (leads, hint, me) = (agent.leading == Some(term), agent.view, agent.incarnation);
        let is_ready = self.is_calm || self.rng.u8(..20) != 0;
        let refuse = |next, why| Said::Refuse {
            from: me,
            to: of,
            run,
            next,
            why,
            hint,
        };
        let mut taken = Vec::new();
        let answer = match agent.receiver.judge(&id(from), arrival) {
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
                refused.unwrap_or_else(|| Said::Ack {
                    from: me,
                    to: of,
                    run,
                    next: session.next().unwrap(),
                })
            }
        };
        for item in taken {
            self.deliver(from, item);
        }
        self.say(to, from, answer);
    }

    pub(super) fn step(&mut self) {
        self.now += 1;
        if let Some((at, next, term)) = self.coming.filter(|(at, ..)| *at <= self.now) {
            let _ = at;
            self.agents[next].leading = Some(term);
            self.coming = None;
        }
        let now = self.time();
        let (due, later) = std::mem::take(&mut self.views)
            .into_iter()
            .partition(|(at, ..)| *at <= self.now);
        self.views = later;
        for (_, agent, term, seen) in due {
            // An agent does not go back to a former term.
            if term < self.agents[agent].seen {
                continue;
            }
            self.agents[agent].seen = term;
            self.agents[agent].view = seen;
            self.agents[agent].sender.see(now, seen.map(target));
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
