//! The faults that the agents meet: the same for every election.
//!
//! If an election needs a store, the store is a sixth participant, on a host of the same network. The store is where
//! most agents reach it: with the larger side of a partition, in the middle of a chain, at the hub of a star, and never
//! on the host of the leader that is cut off. Loss, delays and one-way links between hosts also apply to the messages
//! to and from the store. In `random` the store shares the crashes, restarts and cuts of the host in the middle.

use std::time::Duration;

use actix_bully::{protocol::AgentId, testkit::faults::Conditions};
use bully_core::protocol::Election;
use bully_sim::{faults::SplitMix64, sim::World};

/// One case for five agents, of which e has the highest rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Start,
    Crash,
    TwoCrash,
    Recovery,
    HandOver,
    Flapping,
    Loss,
    Split,
    Deaf,
    Mute,
    DeafFollower,
    Chain,
    Star,
    Shattered,
    Random,
}

/// The way in which a case is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The time until all agents agree again, and the cost of it.
    Agreement,
    /// The events while the case lasts, and the time of healing after it.
    While(Duration),
}

/// Name of the store, if an election needs one.
pub(crate) const STORE: &str = "store";

const LASTS: Duration = Duration::from_secs(20);

impl Case {
    pub(crate) const ALL: [Self; 15] = [
        Self::Start,
        Self::Crash,
        Self::TwoCrash,
        Self::Recovery,
        Self::HandOver,
        Self::Flapping,
        Self::Loss,
        Self::Split,
        Self::Deaf,
        Self::Mute,
        Self::DeafFollower,
        Self::Chain,
        Self::Star,
        Self::Shattered,
        Self::Random,
    ];

    /// Returns a name for the command line and for programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Crash => "crash",
            Self::TwoCrash => "two-crash",
            Self::Recovery => "recovery",
            Self::HandOver => "hand-over",
            Self::Flapping => "flapping",
            Self::Loss => "loss",
            Self::Split => "split",
            Self::Deaf => "deaf",
            Self::Mute => "mute",
            Self::DeafFollower => "deaf-follower",
            Self::Chain => "chain",
            Self::Star => "star",
            Self::Shattered => "shattered",
            Self::Random => "random",
        }
    }

    /// Returns the description of the case, without its length.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Start => "five agents start",
            Self::Crash => "the leader crashes, and no agent is told",
            Self::TwoCrash => "the leader and the next in rank crash",
            Self::Recovery => "a crashed leader comes back",
            Self::HandOver => "the leader steps down",
            Self::Flapping => "the leader is cut off for 0.3 s every second",
            Self::Loss => "15 % of all messages are lost",
            Self::Split => "full partition: the leader and one more, against three",
            Self::Deaf => "one-way: the leader is heard, and hears no agent",
            Self::Mute => "one-way: the leader hears all, and no agent hears it",
            Self::DeafFollower => "one-way: the next in rank is heard, and hears no agent",
            Self::Chain => "each reaches its neighbours only",
            Self::Star => "all reach only the lowest in rank",
            Self::Shattered => "quorum loss: two, two and one",
            Self::Random => "random crashes and cuts",
        }
    }

    pub(crate) const fn look(self) -> Look {
        match self {
            Self::Start | Self::Crash | Self::TwoCrash | Self::Recovery | Self::HandOver => {
                Look::Agreement
            }
            Self::Flapping
            | Self::Loss
            | Self::Split
            | Self::Deaf
            | Self::Mute
            | Self::DeafFollower
            | Self::Chain
            | Self::Star
            | Self::Shattered
            | Self::Random => Look::While(LASTS),
        }
    }

    /// Returns whether the agents have a leader before the case.
    pub(crate) fn begins_settled(self) -> bool {
        self != Self::Start
    }

    /// Begins the case, while `leader` leads.
    pub(crate) fn happen<E: Election>(self, world: &mut World<E>, leader: &AgentId) {
        let (agents, store) = (agents(world), store(world));
        let others = || agents.iter().filter(|id| *id != leader);
        match self {
            Self::Start | Self::Flapping | Self::Random => {}
            Self::Crash => drop_off(world, [leader]),
            Self::TwoCrash => drop_off(world, others().max().into_iter().chain([leader])),
            Self::Recovery => {
                world.restart(leader);
            }
            Self::HandOver => {
                world.step_down(leader, None);
                world.drained(leader);
            }
            Self::Loss => {
                let lossy = Conditions::builder().delay(delays()).loss(150).build();
                world.set_conditions(lossy.unwrap_or_default());
            }
            Self::Split => {
                let with: Vec<&AgentId> = others().take(1).chain([leader]).collect();
                let apart: Vec<&AgentId> = others().skip(1).chain(&store).collect();
                world.partition([with, apart]);
            }
            Self::Deaf => {
                for other in others().chain(&store) {
                    world.cut_one_way(other, leader);
                }
            }
            Self::Mute => {
                for other in others().chain(&store) {
                    world.cut_one_way(leader, other);
                }
            }
            Self::DeafFollower => {
                if let Some(next) = others().max() {
                    let hosts = agents.iter().filter(|other| *other != next);
                    for other in hosts.chain(&store) {
                        world.cut_one_way(other, next);
                    }
                }
            }
            Self::Chain => {
                let placed = placed(&agents, store.as_ref(), MIDDLE);
                cut_unless(world, &placed, |one, other| one.abs_diff(other) <= 1);
            }
            Self::Star => {
                let placed = placed(&agents, store.as_ref(), HUB);
                cut_unless(world, &placed, |one, other| one.min(other) == HUB);
            }
            Self::Shattered => {
                let placed = placed(&agents, store.as_ref(), MIDDLE);
                world.partition([0, 1, 2].map(|side| {
                    let here = placed.iter().filter(move |(at, _)| at / 2 == side);
                    here.map(|(_, id)| *id).collect::<Vec<_>>()
                }));
            }
        }
    }

    /// Continues the case; called once every tenth of a second.
    pub(crate) fn go_on<E: Election>(
        self,
        world: &mut World<E>,
        leader: &AgentId,
        tick: u64,
        random: &mut SplitMix64,
    ) {
        match (self, tick % 10) {
            (Self::Flapping, 0) => world.isolate(leader),
            (Self::Flapping, 3) => world.heal(),
            (Self::Random, 0 | 4 | 7) => strike(world, random),
            _ => {}
        }
    }
}

/// Returns the delays of messages without a fault: 1 to 20 ms.
pub(crate) fn delays() -> std::ops::RangeInclusive<Duration> {
    Duration::from_millis(1)..=Duration::from_millis(20)
}

fn drop_off<'a, E: Election>(world: &mut World<E>, agents: impl IntoIterator<Item = &'a AgentId>) {
    for agent in agents {
        world.crash(agent);
    }
}

/// Returns all agents, without the store.
fn agents<E: Election>(world: &World<E>) -> Vec<AgentId> {
    let agents = world.agents().filter(|id| id.as_str() != STORE);
    agents.cloned().collect()
}

fn store<E: Election>(world: &World<E>) -> Option<AgentId> {
    world.agents().find(|id| id.as_str() == STORE).cloned()
}

/// Returns the host of the agent with the lowest rank, and the host of the third of five agents.
const HUB: usize = 0;
const MIDDLE: usize = 2;

/// Returns the hosts by rank, from 0, with their agents; one of them has the store as well.
fn placed<'a>(
    agents: &'a [AgentId],
    store: Option<&'a AgentId>,
    at: usize,
) -> Vec<(usize, &'a AgentId)> {
    let store = store.map(|store| (at, store));
    agents.iter().enumerate().chain(store).collect()
}

/// Cuts every pair on two hosts that must not reach each other.
fn cut_unless<E: Election>(
    world: &mut World<E>,
    placed: &[(usize, &AgentId)],
    reach: impl Fn(usize, usize) -> bool,
) {
    for (nth, (one, a)) in placed.iter().enumerate() {
        for (other, b) in placed.iter().skip(nth + 1) {
            if one != other && !reach(*one, *other) {
                world.cut(a, b);
            }
        }
    }
}

fn strike<E: Election>(world: &mut World<E>, random: &mut SplitMix64) {
    let agents = agents(world);
    let Some(agent) = random.pick(&agents).cloned() else {
        return;
    };
    let other = random.pick(&agents).filter(|other| **other != agent);
    // All participants on the host of an agent.
    let on = |agent: &AgentId| {
        let store = store(world).filter(|_| agents.get(MIDDLE) == Some(agent));
        [agent.clone()].into_iter().chain(store).collect::<Vec<_>>()
    };
    let here = on(&agent);
    match random.below(6) {
        0 => drop_off(world, &here),
        1 | 2 => {
            for one in here {
                world.restart(one);
            }
        }
        3 if here.len() < 2 => world.isolate(&agent),
        3 => {
            for other in agents.iter().filter(|other| **other != agent) {
                for one in &here {
                    world.cut(one, other);
                }
            }
        }
        4 => {
            let there = other.map(on).unwrap_or_default();
            for one in &here {
                for other in &there {
                    world.cut_one_way(one, other);
                }
            }
        }
        _ => world.heal(),
    }
}
