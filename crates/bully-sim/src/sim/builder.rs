//! The settings of a world.

use std::{collections::BTreeSet, time::Duration};

use super::{
    Detection, Participant, World,
    contract::TermOrder,
    drive::Driver,
    node::{KnownMembers, Node, NodeIndex},
    queue::EventQueue,
    transit::{Directory, Transit},
    world::Scheduled,
};
use crate::{
    faults::{Conditions, Network, SplitMix64},
    trace::Trace,
};
use bully_core::{
    driver::MemberReports as _,
    protocol::{After, Election, Incarnation, Member, Members, Rank, Storage, StoreId, Time},
    record::{Header, RecordedAgent},
};

/// Builds a [`World`].
#[derive(Debug)]
#[must_use]
pub struct WorldBuilder<E: Election> {
    seed: u64,
    participants: Vec<Participant<E>>,
    conditions: Conditions,
    detection: Detection,
    lateness: After,
    starts_within: Duration,
    drains_in: Option<Duration>,
    term_order: TermOrder,
    trace: Trace,
    reproduce: String,
}

impl<E: Election> WorldBuilder<E> {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            participants: Vec::new(),
            conditions: Conditions::default(),
            detection: Detection::default(),
            lateness: Duration::ZERO.into(),
            starts_within: Duration::ZERO,
            drains_in: Some(Duration::ZERO),
            term_order: TermOrder::default(),
            trace: Trace::off(),
            reproduce: String::new(),
        }
    }

    /// Adds an agent. If two agents have the same name, the first agent counts.
    pub fn agent(self, participant: Participant<E>) -> Self {
        self.agents([participant])
    }

    /// Adds the given agents.
    pub fn agents(mut self, participants: impl IntoIterator<Item = Participant<E>>) -> Self {
        self.participants.extend(participants);
        self
    }

    /// Sets the conditions of the network. Default: perfect links without delay.
    pub fn conditions(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// Sets how agents learn of each other's crashes. Default: confirmed and at once.
    pub fn detection(mut self, detection: Detection) -> Self {
        self.detection = detection;
        self
    }

    /// Sets how late timers fire; they never fire early. Default: on time.
    pub fn lateness(mut self, range: impl Into<After>) -> Self {
        self.lateness = range.into();
        self
    }

    /// Sets the time within which the agents start one by one. Default: zero, all start at once.
    pub fn starts_within(mut self, span: Duration) -> Self {
        self.starts_within = span;
        self
    }

    /// Sets the time that the work of a leader needs to end after a step-down; `None`: the work does not end by itself.
    /// Default: zero.
    pub fn drains_in(mut self, span: Option<Duration>) -> Self {
        self.drains_in = span;
        self
    }

    /// Sets whether the check of the contract includes the order of the terms. Default: the order is included.
    pub fn term_order(mut self, order: TermOrder) -> Self {
        self.term_order = order;
        self
    }

    /// Sets the trace that records the run. Default: nothing is recorded.
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = trace;
        self
    }

    /// Sets the command that repeats this run. The command is printed with a broken promise.
    pub fn reproduce(mut self, command: impl Into<String>) -> Self {
        self.reproduce = command.into();
        self
    }

    /// Returns the world at time 0. No agent has started.
    pub fn build(self) -> World<E> {
        let mut random = SplitMix64::new(self.seed);
        let mut directory = Directory::default();
        let network = Network::new(random.next_u64(), self.conditions);
        let mut members = Members::new(matches!(self.detection, Detection::Certain(_)));
        let together = self.starts_within.is_zero();
        let (made, stores) = stores_of(&self.participants);
        members.join(self.participants.iter().zip(&made).map(|(p, store)| {
            let (id, kind, score) = (p.id.clone(), p.kind, p.score);
            let mut member = Member::unseen(id, kind, score);
            member.store = *store;
            if together {
                member.mark_up(Incarnation(1));
            }
            member
        }));
        for participant in &self.participants {
            directory.enter(&participant.id);
        }
        let mut trace = self.trace;
        let mut order: Vec<Rank> = members.by_rank().filter_map(Member::rank).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        trace.set_order(order.into_iter().map(|rank| rank.id));
        trace.begin(|| header(&self.participants, self.seed));
        let registry = KnownMembers::of(members, &directory);
        let mut queue = EventQueue::default();
        let mut nodes: Vec<Node<E>> = Vec::new();
        for (participant, store) in self.participants.into_iter().zip(made) {
            let at = NodeIndex(nodes.len());
            if directory.find(participant.id.as_str()) != Some(at) {
                continue;
            }
            let (min, max) = (Duration::ZERO, self.starts_within);
            queue.push(
                Time::ZERO.after(random.span(After { min, max })),
                Scheduled::Start(at),
            );
            let node = Node::new(participant, Time::ZERO, registry.clone());
            nodes.push(Node { store, ..node });
        }
        World {
            seed: self.seed,
            now: Time::ZERO,
            to_start: nodes.len(),
            nodes,
            transit: Transit::new(queue, network, directory, trace),
            driver: Driver::new(self.lateness, self.drains_in, self.term_order),
            random,
            registry,
            detection: self.detection,
            apart: BTreeSet::new(),
            forgotten: BTreeSet::new(),
            invariant: None,
            violation: None,
            reproduce: self.reproduce,
            steps: 0,
            stores,
        }
    }
}

/// Makes a store for each participant whose election asks for a record. Returns the stores in the order of the
/// participants, and the number of stores.
fn stores_of<E: Election>(participants: &[Participant<E>]) -> (Vec<Option<StoreId>>, u64) {
    let mut stores = 0_u64;
    let made = participants.iter().map(|p| {
        let asked = E::requirements(&p.config, &p.id, p.kind).ok();
        let has_store = asked.is_some_and(|asked| asked.storage == Storage::Record);
        stores = stores.saturating_add(u64::from(has_store));
        has_store.then_some(StoreId::new(stores))
    });
    (made.collect(), stores)
}

fn header<E: Election>(participants: &[Participant<E>], seed: u64) -> Header {
    let agents = participants.iter().map(|participant| RecordedAgent {
        name: participant.id.clone(),
        kind: participant.kind,
        score: participant.score,
    });
    let first = participants.first();
    let timings = first.and_then(|participant| E::timings(&participant.config));
    Header::of(agents, seed, timings)
}
