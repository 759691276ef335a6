//! When it is settled who leads, and what stands in the way until then.
//!
//! Decided here: *settled* means that on each side of the network the agents that run agree on one
//! of them, that this one believes it leads and nobody else there does, and that nothing of an
//! election is under way. A side on which nobody may be elected is settled without a leader.

use std::{collections::BTreeMap, fmt, time::Duration};

use actix::clock::sleep;

use super::{
    Cluster, Names,
    book::open,
    seat::{Condition, Seat},
};
use crate::{
    clock::Clock,
    protocol::{AgentId, Election, MemberKind, Role, Term},
};

/// Who leads, and what it took since something was last done to the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// The sides of the network; one unless it is separated. Agents that are down or hang are on
    /// none.
    pub sides: Vec<Side>,
    /// Until the last agent changed its mind about who leads.
    pub took: Duration,
    /// How many messages of elections were sent; heartbeats do not count.
    pub messages: u64,
}

impl Settled {
    /// Who leads, a leader for each side that has one.
    pub fn leaders(&self) -> impl Iterator<Item = &AgentId> {
        self.sides.iter().filter_map(|side| side.leader.as_ref())
    }

    /// Who leads, if there is exactly one leader.
    pub fn leader(&self) -> Option<&AgentId> {
        let mut leaders = self.leaders();
        leaders.next().filter(|_| leaders.next().is_none())
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaders: Names = self.leaders().cloned().collect();
        match leaders.as_slice() {
            [] => f.write_str("settled: nobody leads")?,
            [one] => write!(f, "settled: {one} leads")?,
            _ => write!(f, "settled: {leaders} lead, each on its side")?,
        }
        let s = if self.messages == 1 { "" } else { "s" };
        write!(f, "; {:?}, {} message{s}", self.took, self.messages)
    }
}

/// Agents that run and reach each other, some perhaps by others only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// Who they are.
    pub agents: Vec<AgentId>,
    /// Whom they follow; `None` where nobody may be elected.
    pub leader: Option<AgentId>,
    /// The term of that leadership.
    pub term: Term,
}

/// It is not settled who leads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not settled within {waited:?}: {obstacle}")]
#[non_exhaustive]
pub struct NotSettled {
    /// For how long it was waited.
    pub waited: Duration,
    /// What stood in the way at last.
    pub obstacle: Obstacle,
}

/// What stands in the way of a settlement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// Something happened a moment ago.
    Busy,
    /// Letters of an election are under way.
    UnderWay {
        /// How many.
        letters: usize,
    },
    /// These hold an election, or wait for the outcome of one.
    Electing(Names),
    /// A leader is handing over.
    Draining(Names),
    /// These know no leader, though one of them could be elected.
    Leaderless(Names),
    /// These follow one who is not there, or whom they do not hear.
    Astray {
        /// Who.
        agents: Names,
        /// Whom they follow.
        leader: AgentId,
    },
    /// These reach each other and do not follow the same leader.
    Divided(Names),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("there is something going on all the time"),
            Self::UnderWay { letters } => write!(f, "{letters} letters are under way"),
            Self::Electing(names) => write!(f, "still electing: {names}"),
            Self::Draining(names) => write!(f, "still handing over: {names}"),
            Self::Leaderless(names) => write!(
                f,
                "no leader at {names}; under the strict rules one has to `campaign`"
            ),
            Self::Astray { agents, leader } => {
                write!(f, "{agents} cannot hear {leader}, whom they follow")
            }
            Self::Divided(names) => write!(f, "no agreement among {names}"),
        }
    }
}

impl<E: Election> Cluster<E> {
    /// Waits until it is settled who leads.
    ///
    /// Time and messages are counted from what was last done to the cluster. Returns a moment after
    /// the last event; that moment does not count.
    ///
    /// # Errors
    /// [`NotSettled`] when nothing comes of it: after a while that follows from the timings, see
    /// [`patience`](super::ClusterBuilder::patience). Only time has passed.
    pub async fn settle(&self) -> Result<Settled, NotSettled> {
        let begun = self.clock.now();
        let mut seen = None;
        let mut obstacle = Obstacle::Busy;
        loop {
            sleep(MOMENT).await; // everybody who has something to do has done it
            let activity = open(&self.book).activity();
            if seen == Some(activity) {
                match self.sides() {
                    Ok(sides) => {
                        let book = open(&self.book);
                        let (took, messages) = (book.took(), book.messages());
                        return Ok(Settled {
                            sides,
                            took,
                            messages,
                        });
                    }
                    Err(found) => obstacle = found,
                }
            }
            seen = Some(activity);
            let waited = self.clock.now().since(begun);
            if waited >= self.patience {
                return Err(NotSettled { waited, obstacle });
            }
        }
    }

    /// The sides as they are, if each has settled.
    fn sides(&self) -> Result<Vec<Side>, Obstacle> {
        let live: Vec<&Seat<E>> = self
            .seats
            .iter()
            .filter(|seat| seat.condition() == Condition::Up)
            .collect();
        let names = |is: &dyn Fn(&Seat<E>) -> bool| -> Names {
            let those = live.iter().filter(|seat| is(seat));
            those.map(|seat| seat.id().clone()).collect()
        };
        let listens = |id: &AgentId| live.iter().any(|seat| seat.id() == id);
        let letters = open(&self.book).under_way(listens);
        if letters > 0 {
            return Err(Obstacle::UnderWay { letters });
        }
        let electing =
            names(&|seat| matches!(seat.handle.current().role, Role::Candidate | Role::Waiting));
        if !electing.as_slice().is_empty() {
            return Err(Obstacle::Electing(electing));
        }
        let draining = names(&|seat| seat.handle.current().draining);
        if !draining.as_slice().is_empty() {
            return Err(Obstacle::Draining(draining));
        }
        let sides = self.components(&live);
        let book = open(&self.book);
        let hears = |one: &AgentId, other: &AgentId| book.network.connects(other, one);
        sides.iter().map(|side| agree(side, hears)).collect()
    }

    /// Those who reach each other, directly or by others, both ways.
    fn components<'a>(&self, live: &[&'a Seat<E>]) -> Vec<Vec<&'a Seat<E>>> {
        let book = open(&self.book);
        let mut sides: Vec<Vec<&'a Seat<E>>> = Vec::new();
        for seat in live {
            let linked = |side: &Vec<&Seat<E>>| {
                side.iter().any(|other| {
                    book.network.connects(seat.id(), other.id())
                        && book.network.connects(other.id(), seat.id())
                })
            };
            let (mine, others): (Vec<_>, Vec<_>) = sides.into_iter().partition(linked);
            let mut joined: Vec<&Seat<E>> = mine.into_iter().flatten().collect();
            joined.push(seat);
            sides = others;
            sides.push(joined);
        }
        // In the order of the cluster, whoever linked them.
        let place = |seat: &&Seat<E>| live.iter().position(|other| other.id() == seat.id());
        for side in &mut sides {
            side.sort_by_key(place);
        }
        sides.sort_by_key(|side| side.first().and_then(place));
        sides
    }
}

fn agree<E: Election>(
    side: &[&Seat<E>],
    hears: impl Fn(&AgentId, &AgentId) -> bool,
) -> Result<Side, Obstacle> {
    let all = || -> Names { side.iter().map(|seat| seat.id().clone()).collect() };
    let agents = all().as_slice().to_vec();
    let mut follow: BTreeMap<Option<AgentId>, Vec<AgentId>> = BTreeMap::new();
    for seat in side {
        let leader = seat.handle.leader().map(|leader| leader.id);
        follow.entry(leader).or_default().push(seat.id().clone());
    }
    let eligible = |seat: &&Seat<E>| seat.kind == MemberKind::Voter && seat.score.is_some();
    if let Some(lost) = follow.get(&None) {
        if follow.len() == 1 && !side.iter().any(eligible) {
            let term = Term::ZERO;
            return Ok(Side {
                agents,
                leader: None,
                term,
            });
        }
        return Err(Obstacle::Leaderless(lost.iter().cloned().collect()));
    }
    let there = |id: &AgentId| side.iter().find(|seat| seat.id() == id);
    for (leader, followers) in &follow {
        let Some(leader) = leader else { continue };
        let astray = |id: &&AgentId| there(leader).is_none() || *id != leader && !hears(id, leader);
        let agents: Names = followers.iter().filter(astray).cloned().collect();
        if !agents.as_slice().is_empty() {
            let leader = leader.clone();
            return Err(Obstacle::Astray { agents, leader });
        }
    }
    let believers = side.iter().filter(|seat| seat.handle.is_leader()).count();
    let mut leaders = follow.into_keys().flatten();
    match (leaders.next(), leaders.next()) {
        (Some(leader), None) if believers == 1 => {
            let reign = there(&leader).filter(|seat| seat.handle.is_leader());
            let Some(term) = reign.and_then(|seat| seat.handle.current().leading) else {
                return Err(Obstacle::Divided(all()));
            };
            let leader = Some(leader);
            Ok(Side {
                agents,
                leader,
                term,
            })
        }
        _ => Err(Obstacle::Divided(all())),
    }
}

/// How often it is looked.
const MOMENT: Duration = Duration::from_millis(1);
