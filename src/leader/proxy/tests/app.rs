//! A proxy as an application of the simulator's agents: its sender and its receiver, with the frames that cross.
//!
//! What is promised of it: `simulated.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{
    super::{
        exchange::{Answerer, Life, Next, Refusal, Settled, Target},
        frame::{ANSWER, RUN, RunAnswer, RunHead, write_message},
        receiver::{Arrival, Judgement, Receiver},
        sender::Sender,
    },
    world::bounds,
};
use crate::{
    group::NodeDigest,
    leader::tests::{AppEffect, Application, Here, Said},
    protocol::{AgentId, Incarnation, Presence, Term, Time},
};

/// What crosses, as it crosses.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct Packet {
    kind: u8,
    body: Vec<u8>,
}

/// How many may lead at once, which decides over what the order is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rivals {
    /// One at a time: the order holds over all leaders.
    None,
    /// It holds for each of them.
    Some,
}

/// What all agents of a history know, and the checker.
#[derive(Clone, Debug)]
pub(super) struct Post {
    rivals: Rivals,
    book: Arc<Mutex<Book>>,
}

/// Within which the order is promised: a start of a sender, and a leader, where there may be several.
type InOrder = (AgentId, Incarnation, Option<(AgentId, Term)>);

/// What became of the messages of a history. Each has a number, which is its sender's own over all incarnations.
#[derive(Debug, Default)]
pub(super) struct Book {
    next: BTreeMap<AgentId, u64>,
    delivered: BTreeSet<(AgentId, u64)>,
    last: BTreeMap<InOrder, u64>,
    /// Of those that were delivered, so many had crossed.
    pub(super) crossed: u64,
    pub(super) unknown: u64,
    broken: Option<String>,
}

impl Post {
    pub(super) fn new(rivals: Rivals) -> Self {
        Self {
            rivals,
            book: Arc::default(),
        }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A leader's actor gets a message.
    fn deliver(&self, here: &Here<'_>, (from, incarnation): (&AgentId, Incarnation), number: u64) {
        let mut book = self.book();
        let leader = match self.rivals {
            Rivals::None => None,
            Rivals::Some => here.leading.map(|term| (here.id.clone(), term)),
        };
        let what = match here.leading {
            None => Some("by an agent that does not lead"),
            _ if !book.delivered.insert((from.clone(), number)) => Some("once more"),
            Some(_) => {
                let last = book
                    .last
                    .insert((from.clone(), incarnation, leader), number);
                last.is_some_and(|last| last > number)
                    .then_some("after a later one")
            }
        };
        book.crossed += u64::from(from != here.id);
        if let Some(what) = what {
            let broken = format!(
                "{from}: message {number} was delivered {what}, by {}",
                here.id
            );
            book.broken.get_or_insert(broken);
        }
    }
}

impl Book {
    pub(super) fn delivered(&self) -> usize {
        self.delivered.len()
    }
}

/// See the [module](self).
pub(super) struct Clerk {
    post: Post,
    sender: Sender<u64>,
    receiver: Receiver,
    next_at: Time,
}

/// A message of the application comes so often.
const EVERY: Duration = Duration::from_millis(40);

/// An agent of the simulator has one node.
fn life(incarnation: Incarnation) -> Life {
    Life {
        node: NodeDigest::default(),
        incarnation,
    }
}

impl Clerk {
    /// The endpoint of an agent, unless its end is confirmed.
    fn endpoint(here: &Here<'_>, id: &AgentId) -> Option<Incarnation> {
        if id == here.id {
            return Some(here.incarnation);
        }
        let member = here.members.get(id)?;
        let is_there = member.presence != Presence::Down;
        member.incarnation.filter(|_| is_there)
    }

    fn target(here: &Here<'_>, id: &AgentId, term: Term) -> Option<Target> {
        let incarnation = Self::endpoint(here, id)?;
        Some(Target {
            id: id.clone(),
            life: life(incarnation),
            term,
        })
    }

    /// A step of the sender. What it counts as delivered then has to have been.
    fn step(&mut self, here: &Here<'_>, step: impl FnOnce(&mut Sender<u64>) -> Settled<u64>) {
        let flight: Vec<u64> = self
            .sender
            .in_flight(usize::MAX)
            .map(|item| item.payload)
            .collect();
        let settled = step(&mut self.sender);
        let delivered = usize::try_from(settled.delivered).unwrap();
        let mut book = self.post.book();
        book.unknown += u64::try_from(settled.unknown.len()).unwrap();
        let is_lost = |number: &&u64| !book.delivered.contains(&(here.id.clone(), **number));
        if let Some(number) = flight.iter().take(delivered).find(is_lost) {
            let id = here.id;
            let broken =
                format!("{id}: message {number} was delivered to nobody, and {id} counts on it");
            book.broken.get_or_insert(broken);
        }
    }

    /// The application has one message more.
    fn push(&mut self, here: &Here<'_>) {
        let number = {
            let mut book = self.post.book();
            let next = book.next.entry(here.id.clone()).or_default();
            *next += 1;
            *next
        };
        if self.sender.is_clear() && self.sender.wants(here.id) && here.leading.is_some() {
            return self.post.deliver(here, (here.id, here.incarnation), number);
        }
        self.sender.push(1, number, bounds().overflow).ok(); // what has no room is told its sender
    }

    fn send(&mut self, here: &Here<'_>, next: &Next, out: &mut Vec<AppEffect<Self>>) {
        let (to, run, first, count) = match next {
            Next::Batch {
                to,
                run,
                first,
                count,
            } => (to, *run, *first, *count),
            Next::Probe { to, run, next } => (to, *run, *next, 0),
        };
        let flight = self.sender.in_flight(count).map(|item| item.payload);
        let items: Vec<u64> = flight.collect();
        if to.id == *here.id {
            return self.deliver_here(here, to, (run, first), &items);
        }
        let mut body = Vec::new();
        let head = RunHead {
            from: life(here.incarnation),
            to: to.life,
            run,
            term: to.term,
            first,
        };
        head.write(&mut body);
        for item in items {
            write_message(0, &item.to_le_bytes(), &mut body);
        }
        out.push(AppEffect::Send(to.id.clone(), Packet { kind: RUN, body }));
    }

    /// The own agent leads, or did: nothing crosses.
    fn deliver_here(
        &mut self,
        here: &Here<'_>,
        to: &Target,
        (run, first): (u64, u64),
        items: &[u64],
    ) {
        let from = Answerer {
            id: here.id,
            life: to.life,
            run,
        };
        if here.leading != Some(to.term) {
            let why = Refusal::NotLeader;
            return self.step(here, |sender| {
                sender.refused(here.now, &from, Some(first), why, None)
            });
        }
        for item in items {
            self.post.deliver(here, (here.id, here.incarnation), *item);
        }
        let next = first + u64::try_from(items.len()).unwrap();
        self.step(here, |sender| sender.acknowledged(here.now, &from, next));
    }

    /// Messages of another agent's proxy, or its question; what is answered.
    fn take(
        &mut self,
        here: &Here<'_>,
        (from, incarnation): (&AgentId, Incarnation),
        body: &[u8],
    ) -> Option<RunAnswer> {
        let (head, messages) = RunHead::read(body)?;
        if head.to != life(here.incarnation) {
            return None; // for a former incarnation
        }
        let arrival = Arrival {
            from: head.from,
            run: head.run,
            first: head.first,
            count: messages.len(),
        };
        let post = &self.post;
        let (refusal, next) = match self.receiver.judge(from, arrival) {
            Judgement::Ignore => return None,
            Judgement::Refuse { next } => (Some(Refusal::Gap), next),
            Judgement::Take { session, skip } => {
                let mut refused = None;
                for (_, bytes) in messages.skip(usize::try_from(skip).unwrap()) {
                    if here.leading != Some(head.term) {
                        refused = Some((Some(Refusal::NotLeader), session.close()));
                        break;
                    }
                    let number = u64::from_le_bytes(bytes.try_into().unwrap());
                    post.deliver(here, (from, incarnation), number);
                    session.deliver();
                }
                refused.unwrap_or_else(|| (None, session.next()))
            }
        };
        let sees = here
            .leader
            .clone()
            .filter(|_| refusal == Some(Refusal::NotLeader));
        Some(RunAnswer {
            from: head.to,
            to: head.from,
            run: head.run,
            refusal,
            next,
            leader: sees.map(|(id, _, term)| (id, term)),
        })
    }

    /// A leader says how far it has come.
    fn hear(&mut self, here: &Here<'_>, from: &AgentId, body: &[u8]) {
        let Some(answer) =
            RunAnswer::read(body).filter(|answer| answer.to == life(here.incarnation))
        else {
            return;
        };
        let from = Answerer {
            id: from,
            life: answer.from,
            run: answer.run,
        };
        let redirect = answer.leader;
        let redirect = redirect.and_then(|(id, term)| Self::target(here, &id, term));
        self.step(here, |sender| match (answer.refusal, answer.next) {
            (None, Some(next)) => sender.acknowledged(here.now, &from, next),
            (None, None) => Settled::default(),
            (Some(why), next) => sender.refused(here.now, &from, next, why, redirect),
        });
    }
}

impl Application for Clerk {
    type Message = Packet;
    /// A proxy keeps nothing over a crash.
    type Record = ();
    type Shared = Post;

    fn start(here: &Here<'_>, post: &Post, (): ()) -> Self {
        Self {
            post: post.clone(),
            sender: Sender::new(bounds()),
            receiver: Receiver::default(),
            next_at: here.now,
        }
    }

    fn receive(
        &mut self,
        here: &Here<'_>,
        from: (&AgentId, Incarnation),
        Packet { kind, body }: Packet,
        out: &mut Vec<AppEffect<Self>>,
    ) {
        if kind == ANSWER {
            return self.hear(here, from.0, &body);
        }
        if let Some(answer) = self.take(here, from, &body) {
            let (kind, body) = (ANSWER, answer.write());
            out.push(AppEffect::Send(from.0.clone(), Packet { kind, body }));
        }
    }

    fn look(&mut self, here: &Here<'_>, out: &mut Vec<AppEffect<Self>>) {
        self.step(here, |sender| {
            sender.see_ends(|id| Self::endpoint(here, id).map(life))
        });
        let leader = here.leader.as_ref().and_then(|(id, _, term)| {
            let own = here.leading.filter(|_| id == here.id);
            Self::target(here, id, own.unwrap_or(*term))
        });
        if !self.sender.sees(leader.as_ref()) {
            self.sender.see(here.now, leader);
        }
        while self.next_at <= here.now {
            self.next_at = self.next_at.after(EVERY);
            self.push(here);
        }
        loop {
            let mut next = None;
            self.step(here, |sender| {
                let (wanted, settled) = sender.next(here.now, 5, 100);
                next = wanted;
                settled
            });
            match next {
                Some(next) => self.send(here, &next, out),
                None => break,
            }
        }
    }

    fn wakes_in(&self, here: &Here<'_>) -> Option<Duration> {
        let next = self.sender.wakes_at().into_iter().chain([self.next_at]);
        let next = next.min()?.since(here.now);
        Some(next.max(Duration::from_millis(1)))
    }

    fn broken(post: &Post) -> Option<String> {
        post.book().broken.clone()
    }
}

impl Said for Packet {
    fn kind(&self) -> &'static str {
        if self.kind == RUN { "run" } else { "answer" }
    }
}

impl fmt::Debug for Clerk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clerk")
            .field("receiver", &self.receiver)
            .finish_non_exhaustive()
    }
}
