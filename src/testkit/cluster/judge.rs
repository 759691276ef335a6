//! Finds out whether it is settled who leads: what is easily seen comes first.

use std::{collections::BTreeSet, mem};

use super::{
    Cluster, Names, Obstacle, Side,
    book::open,
    seat::{Condition, Seat},
};
use crate::{
    agent::Status,
    protocol::{AgentId, Election, MemberKind, Role, Term},
};

/// An agent that runs, and what it believes at this moment.
struct Witness<'a> {
    /// Where it stands in the cluster.
    place: usize,
    id: &'a AgentId,
    now: Status,
    leads: bool,
    votes: bool,
    eligible: bool,
}

impl<'a> Witness<'a> {
    fn new<E: Election>((place, seat): (usize, &'a Seat<E>)) -> Option<Self> {
        (seat.condition() == Condition::Up).then(|| Self {
            place,
            id: seat.id(),
            now: seat.handle.current(),
            leads: seat.handle.is_leader(),
            votes: seat.kind == MemberKind::Voter,
            eligible: seat.kind == MemberKind::Voter && seat.score.is_some(),
        })
    }

    fn leader(&self) -> Option<&AgentId> {
        self.now.leader.as_ref().map(|leader| &leader.id)
    }
}

impl<E: Election> Cluster<E> {
    /// The sides as they are, if each has settled.
    pub(super) fn judge(&self) -> Result<Vec<Side>, Obstacle> {
        let seats = self.seats.iter().enumerate();
        let all: Vec<Witness<'_>> = seats.filter_map(Witness::new).collect();
        let ids: BTreeSet<&AgentId> = all.iter().map(|one| one.id).collect();

        let letters = open(&self.book).under_way(|id| ids.contains(id));
        if letters > 0 {
            return Err(Obstacle::UnderWay { letters });
        }
        let elects = |one: &&Witness<'_>| matches!(one.now.role, Role::Candidate | Role::Waiting);
        if let Some(names) = those(&all, elects) {
            return Err(Obstacle::Electing(names));
        }
        if let Some(names) = those(&all, |one| one.now.draining) {
            return Err(Obstacle::Draining(names));
        }
        self.astray(&all, &ids)?;
        let sides = self.components(all);
        sides.iter().map(|side| agree(side, self.least)).collect()
    }

    /// Nobody may follow an agent that is not there, or that it does not hear.
    fn astray(&self, all: &[Witness<'_>], ids: &BTreeSet<&AgentId>) -> Result<(), Obstacle> {
        let book = open(&self.book);
        let is_lost = |one: &&Witness<'_>| {
            one.leader().is_some_and(|leader| {
                let hears = leader == one.id || book.network.connects(leader, one.id);
                !hears || !ids.contains(leader)
            })
        };
        let Some(leader) = all.iter().find(is_lost).and_then(Witness::leader) else {
            return Ok(());
        };
        let same = |one: &&Witness<'_>| is_lost(one) && one.leader() == Some(leader);
        Err(Obstacle::Astray {
            agents: those(all, same).unwrap_or_default(),
            leader: leader.clone(),
        })
    }

    /// Those who reach each other, directly or by others, both ways.
    fn components<'a>(&self, all: Vec<Witness<'a>>) -> Vec<Vec<Witness<'a>>> {
        let book = open(&self.book);
        let linked = |one: &AgentId, other: &AgentId| {
            book.network.connects(one, other) && book.network.connects(other, one)
        };
        let mut sides: Vec<Vec<Witness<'a>>> = Vec::new();
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
        // In the order of the cluster, whoever linked them.
        for side in &mut sides {
            side.sort_unstable_by_key(|one| one.place);
        }
        sides.sort_unstable_by_key(|side| side.first().map(|one| one.place));
        sides
    }
}

/// Whether a side agrees on one leader, or has nobody who could be one, or too few voters.
fn agree(side: &[Witness<'_>], least: usize) -> Result<Side, Obstacle> {
    let agents: Vec<AgentId> = side.iter().map(|one| one.id.clone()).collect();
    let leaders: BTreeSet<&AgentId> = side.iter().filter_map(Witness::leader).collect();
    let leaderless = those(side, |one| one.leader().is_none());
    let voters = side.iter().filter(|one| one.votes).count();
    let elects = voters >= least && side.iter().any(|one| one.eligible);
    if leaders.is_empty() && !elects {
        return Ok(Side {
            agents,
            leader: None,
            term: Term::ZERO,
        });
    }
    if let Some(names) = leaderless {
        return Err(Obstacle::Leaderless(names));
    }
    let mut believers = side.iter().filter(|one| one.leads);
    match (believers.next(), believers.next()) {
        (Some(leader), None) if leaders.len() == 1 && leaders.contains(leader.id) => Ok(Side {
            agents,
            leader: Some(leader.id.clone()),
            term: leader.now.leading.unwrap_or_default(),
        }),
        _ => Err(Obstacle::Divided(agents.into_iter().collect())),
    }
}

/// The names of those to whom it applies, if there are any.
fn those(all: &[Witness<'_>], applies: impl Fn(&&Witness<'_>) -> bool) -> Option<Names> {
    let names: Names = all
        .iter()
        .filter(applies)
        .map(|one| one.id.clone())
        .collect();
    (!names.as_slice().is_empty()).then_some(names)
}
