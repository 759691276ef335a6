//! Finds out whether it is settled which agents lead. Cheap checks come first.

use std::{collections::BTreeSet, mem};

use super::{
    Cluster, Obstacle,
    agent::{ClusterAgent, Condition},
    journal::open,
    settle::listed,
};
use crate::{
    agent::Status,
    protocol::{AgentId, Election, MemberKind, Requirements, Role, Term},
    record::RecordedSide,
};

/// An agent that runs, and its present leader.
struct RunningAgent<'a> {
    /// Position of the agent in the cluster.
    position: usize,
    id: &'a AgentId,
    now: Status,
    leads: bool,
    votes: bool,
    eligible: bool,
}

impl<'a> RunningAgent<'a> {
    fn new<E: Election>(
        (position, agent): (usize, &'a ClusterAgent<E>),
        register: Option<&AgentId>,
        list: Option<&Requirements>,
    ) -> Option<Self> {
        if agent.condition() != Condition::Up {
            return None;
        }
        let mut now = agent.handle.current();
        let votes = agent.kind_by(list) == MemberKind::Voter;
        if register == Some(agent.id()) {
            now.leader = None; // the register names the holder of the lease, but follows no agent
        }
        if agent.handle.awaits_turn() {
            now.role = Role::Waiting; // it leads, or follows its leader, only until the better agent asks
        }
        Some(Self {
            position,
            id: agent.id(),
            now,
            leads: agent.handle.is_leader(),
            votes,
            eligible: votes && agent.score().is_some(),
        })
    }

    fn leader(&self) -> Option<&AgentId> {
        self.now.leader.as_ref().map(|leader| &leader.id)
    }
}

impl<E: Election> Cluster<E> {
    /// Returns the present sides if each side is settled.
    pub(super) fn judge(&self) -> Result<Vec<RecordedSide>, Obstacle> {
        let agents = self.agents.iter().enumerate();
        let register = self.register.as_ref();
        let list = self.list();
        let running = agents.filter_map(|agent| RunningAgent::new(agent, register, list.as_ref()));
        let all: Vec<RunningAgent<'_>> = running.collect();
        let ids: BTreeSet<&AgentId> = all.iter().map(|one| one.id).collect();

        let messages = open(&self.journal).under_way(|id| ids.contains(id));
        if messages > 0 {
            return Err(Obstacle::UnderWay { messages });
        }
        let elects =
            |one: &&RunningAgent<'_>| matches!(one.now.role, Role::Candidate | Role::Waiting);
        if let Some(names) = names_where(&all, elects) {
            return Err(Obstacle::Electing(names));
        }
        if let Some(names) = names_where(&all, |one| one.now.draining) {
            return Err(Obstacle::Draining(names));
        }
        self.astray(&all, &ids)?;
        let sides = self.components(all);
        let least = self.needed(list.as_ref());
        sides.iter().map(|side| self.agree(side, least)).collect()
    }

    fn is_register(&self, one: &RunningAgent<'_>) -> bool {
        self.register.as_ref() == Some(one.id)
    }

    /// Checks that no agent follows an absent agent, or an agent whose messages do not reach it.
    fn astray(&self, all: &[RunningAgent<'_>], ids: &BTreeSet<&AgentId>) -> Result<(), Obstacle> {
        let journal = open(&self.journal);
        let is_lost = |one: &&RunningAgent<'_>| {
            one.leader().is_some_and(|leader| {
                // In a cluster with a lease, agents learn of the leader from the register.
                let from = self.register.as_ref().unwrap_or(leader);
                let hears = leader == one.id || journal.network.connects(from, one.id);
                !hears || !ids.contains(leader)
            })
        };
        let Some(leader) = all.iter().find(is_lost).and_then(RunningAgent::leader) else {
            return Ok(());
        };
        let same = |one: &&RunningAgent<'_>| is_lost(one) && one.leader() == Some(leader);
        Err(Obstacle::Astray {
            agents: names_where(all, same).unwrap_or_default(),
            leader: leader.clone(),
        })
    }

    /// Returns the sides: agents that reach each other in both directions, directly or through other agents.
    fn components<'a>(&self, all: Vec<RunningAgent<'a>>) -> Vec<Vec<RunningAgent<'a>>> {
        let journal = open(&self.journal);
        let linked = |one: &AgentId, other: &AgentId| {
            let register = self.register.as_ref();
            let is_used = register.is_none_or(|register| one == register || other == register);
            let network = &journal.network;
            is_used && network.connects(one, other) && network.connects(other, one)
        };
        let mut sides: Vec<Vec<RunningAgent<'a>>> = Vec::new();
        for one in all {
            let id = one.id;
            let mut mine = vec![one];
            sides.retain_mut(|side| {
                let is_mine = side.iter().any(|other| linked(id, other.id));
                if is_mine {
                    side.append(&mut mine);
                    mem::swap(side, &mut mine);
                }
                !is_mine
            });
            sides.push(mine);
        }
        // The sides and their agents are sorted by the positions in the cluster, because joining two sides mixes up the
        // order.
        for side in &mut sides {
            side.sort_unstable_by_key(|one| one.position);
        }
        sides.sort_unstable_by_key(|side| side.first().map(|one| one.position));
        sides
    }

    /// Checks that a side agrees on one leader. A side without an eligible agent, or with too few voters, needs no
    /// leader.
    fn agree(&self, side: &[RunningAgent<'_>], least: usize) -> Result<RecordedSide, Obstacle> {
        let agents: Vec<AgentId> = side.iter().map(|one| one.id.clone()).collect();
        let leaders: BTreeSet<&AgentId> = side.iter().filter_map(RunningAgent::leader).collect();
        let leaderless = names_where(side, |one| !self.is_register(one) && one.leader().is_none());
        let voters = side.iter().filter(|one| one.votes).count();
        let reaches = self.register.is_none() || side.iter().any(|one| self.is_register(one));
        let elects = reaches && voters >= least && side.iter().any(|one| one.eligible);
        if leaders.is_empty() && !elects {
            return Ok(RecordedSide {
                agents,
                leader: None,
                term: Term::ZERO,
            });
        }
        if !reaches {
            return Err(Obstacle::Busy); // the lease has not ended yet
        }
        if let Some(names) = leaderless {
            return Err(Obstacle::Leaderless(names));
        }
        let mut believers = side.iter().filter(|one| one.leads);
        match (believers.next(), believers.next()) {
            (Some(leader), None) if leaders.len() == 1 && leaders.contains(leader.id) => {
                Ok(RecordedSide {
                    agents,
                    leader: Some(leader.id.clone()),
                    term: leader.now.leading.unwrap_or_default(),
                })
            }
            _ => Err(Obstacle::Divided(listed(&agents))),
        }
    }
}

/// Returns the names of the agents for which `applies` is true; `None` if it is true for no agent.
fn names_where(
    all: &[RunningAgent<'_>],
    applies: impl Fn(&&RunningAgent<'_>) -> bool,
) -> Option<String> {
    let mut names = all.iter().filter(applies).map(|one| one.id).peekable();
    names.peek().is_some().then(|| listed(names))
}
