//! The invariants of a history, at each step and in the end.
//!
//! Decided here: which invariants exist. A history that breaks an invariant ends there.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use actix_bully::{
    agent::{BullyHandle, Lifecycle},
    protocol::{AgentId, Term},
    remote::{BridgeCounts, BridgeEvent, BridgeHandle, LinkStatus},
};

use crate::{
    host::Process,
    kinds::{Fault, Kinds},
    ledger::Ledger,
    member::Place,
    members::Members,
    plan::{Plan, Speed},
    setting::{NAMES, Setting},
    wire::Peaks,
    work::Start,
};

/// A broken invariant, in words.
pub type Broken = String;

/// Checks all hosts after each step.
#[derive(Debug, Default)]
pub struct Watch {
    /// The agent that led in each term, in quorum mode.
    led: BTreeMap<Term, AgentId>,
    /// The latest leader's term that each incarnation of an agent followed.
    followed: BTreeMap<(Start, u64), Term>,
    /// The starts of agents that considered themselves leader after the last step.
    leading: BTreeMap<Start, AgentId>,
    /// Time at which each incarnation was first seen, where voters have no disks.
    lives: BTreeMap<(Start, u64), Duration>,
    /// Whether fewer than a majority of the voters remembered their terms at some time since the last leader was
    /// elected, while clocks differ. Then the term of the next leader may be lower than the last one.
    has_forgotten: bool,
}

/// Every start of an agent in a process that runs, also each start that is over or was given up.
pub type Starts = Vec<(Start, BullyHandle)>;

pub fn starts(running: &[Process]) -> Starts {
    let mut all = Starts::new();
    for process in running {
        let Place { host, process: nth } = process.place;
        for (at, started) in process.starts.borrow().iter().enumerate() {
            all.push(((host, nth, at), started.agent.clone()));
        }
    }
    all
}

impl Watch {
    /// Checks the invariants of every moment. Returns the leader if the leader has changed. `worked` has the starts
    /// of agents whose work ran in this step.
    pub fn step(
        &mut self,
        starts: &Starts,
        worked: &BTreeSet<Start>,
        is_quorum: bool,
    ) -> Result<Option<String>, Broken> {
        let leads = |(_, agent): &&(Start, BullyHandle)| agent.is_leader();
        let leading: Vec<_> = starts.iter().filter(leads).collect();
        let believers = leading.iter().map(|(at, agent)| (*at, agent.id().clone()));
        let believers: BTreeMap<_, _> = believers.collect();
        if is_quorum {
            self.check_terms(starts)?;
            self.check_leaders(&leading)?;
            self.check_work(&believers, worked)?;
        }
        if believers == self.leading {
            return Ok(None);
        }
        let names: Vec<_> = believers.values().map(AgentId::as_str).collect();
        let leaders = names.join(" ");
        self.leading = believers;
        Ok(Some(leaders))
    }

    /// Counts the voters that remember, if no voter has a disk. A voter that has run for longer than a recovery takes
    /// does remember. It may have recovered earlier, so the count is a lower bound.
    pub fn forget(&mut self, now: Duration, starts: &Starts, plan: &Plan) {
        if !plan.is_diskless || plan.is_steady {
            return;
        }
        let whole = plan.begun(&Speed::Usual.timings());
        let mut remembering = BTreeSet::new();
        for (at, agent) in starts {
            let status = agent.current();
            let life = (*at, status.incarnation.0);
            let since = *self.lives.entry(life).or_insert(now);
            if status.lifecycle == Lifecycle::Running && now >= since + whole {
                remembering.insert(agent.id().clone());
            }
        }
        self.has_forgotten |= 2 * remembering.len() <= plan.agents;
    }

    fn check_leaders(&mut self, leading: &[&(Start, BullyHandle)]) -> Result<(), Broken> {
        if let [(_, one), (_, other), ..] = leading {
            let (one, other) = (one.id(), other.id());
            return Err(format!("{one} and {other} lead at the same time"));
        }
        for (_, agent) in leading {
            let id = agent.id();
            let Some(term) = agent.current().leading else {
                continue; // it has just ended; the next look will see it
            };
            let is_new = !self.led.contains_key(&term);
            if is_new && std::mem::take(&mut self.has_forgotten) {
                self.led.clear();
            }
            let latest = self.led.last_key_value();
            match latest {
                Some((last, other)) if *last > term || *last == term && other != id => {
                    return Err(format!("{id} leads in {term} after {other} in {last}"));
                }
                _ => drop(self.led.insert(term, id.clone())),
            }
        }
        Ok(())
    }

    /// Checks that no other agent worked while an agent led. An agent that considered itself leader before the step
    /// and after the step also considered itself leader during the step.
    fn check_work(
        &self,
        believers: &BTreeMap<Start, AgentId>,
        worked: &BTreeSet<Start>,
    ) -> Result<(), Broken> {
        let throughout = believers
            .iter()
            .filter(|(at, _)| self.leading.contains_key(at));
        for (leader, id) in throughout {
            if let Some((host, ..)) = worked.iter().find(|at| *at != leader) {
                let host = NAMES[*host];
                return Err(format!("another agent's work ran on {host} while {id} led"));
            }
        }
        Ok(())
    }

    fn check_terms(&mut self, starts: &Starts) -> Result<(), Broken> {
        for (at, agent) in starts {
            let status = agent.current();
            let Some(leader) = status.leader else {
                continue;
            };
            let incarnation = (*at, status.incarnation.0);
            let last = self.followed.entry(incarnation).or_insert(leader.term);
            if leader.term < *last {
                let id = agent.id();
                return Err(format!("{id} follows {} after {last}", leader.term));
            }
            *last = leader.term;
        }
        Ok(())
    }
}

/// Whether all agents follow one leader, and exactly one agent, which is this leader, considers itself leader.
pub fn all_agree(starts: &Starts, agents: &[BullyHandle]) -> bool {
    let mut leaders = agents.iter().map(BullyHandle::leader);
    let Some(Some(first)) = leaders.next() else {
        return false;
    };
    let mut leading = starts.iter().filter(|(_, agent)| agent.is_leader());
    leaders.all(|leader| leader.is_some_and(|leader| leader.id == first.id))
        && leading
            .next()
            .is_some_and(|(_, agent)| *agent.id() == first.id)
        && leading.next().is_none()
}

/// Whether every host is linked to every other host.
pub fn all_linked(running: &[Process]) -> bool {
    let is_linked = |link: LinkStatus| matches!(link, LinkStatus::Linked { .. });
    running
        .iter()
        .filter_map(|process| process.bridge.as_ref())
        .all(|bridge| bridge.peers().iter().all(|p| is_linked(p.link)))
}

/// Checks that all agents know the same list of voters for each epoch.
pub fn one_list(starts: &Starts, ledger: &Ledger) -> Result<(), Broken> {
    for (_, agent) in starts {
        if let Some(voters) = agent.voters() {
            ledger.lists(|lists| lists.knows(agent.id(), voters.epoch, &voters.ids))?;
        }
    }
    Ok(())
}

/// Whether all agents know the latest list, and their leader is on this list.
pub fn all_know(agents: &[BullyHandle], ledger: &Ledger) -> bool {
    ledger.lists(|lists| {
        let (epoch, names) = lists.latest();
        agents.iter().all(|agent| {
            agent
                .voters()
                .is_some_and(|voters| voters.epoch == epoch && *voters.ids == *names)
                && agent
                    .leader()
                    .is_some_and(|leader| names.contains(&leader.id))
        })
    })
}

/// Checks the invariants of the time after the repair, when all is quiet: each pair of hosts has one link, which has
/// the same name at both ends; no host has another stream; every host knows every agent as a member.
pub(crate) fn in_calm(
    setting: &Setting,
    running: &[Process],
    members: &Members,
) -> Result<(), Broken> {
    let others = running.len() - 1;
    let mut links = BTreeMap::new();
    for process in running {
        let name = NAMES[process.place.host];
        let streams = setting.net.streams(name);
        if streams != others {
            return Err(format!("{name} has {streams} streams to {others} hosts"));
        }
        let known = process.group.members().len();
        if known != setting.plan.agents {
            return Err(format!("{name} knows {known} members"));
        }
        for peer in process.bridge.iter().flat_map(BridgeHandle::peers) {
            let LinkStatus::Linked { id } = peer.link else {
                return Err(format!("{name} has no link to {}", peer.node));
            };
            let (one, other) = (name.to_owned(), peer.node.to_string());
            let there = NAMES.iter().position(|name| *name == other);
            let pair = (one.clone().min(other.clone()), one.max(other));
            if *links.entry(pair).or_insert(id) != id {
                return Err(format!("{name} and {} have two links", peer.node));
            }
            let agents = members.at_home(there.unwrap_or(usize::MAX)).count();
            if peer.agents != agents {
                let (found, node) = (peer.agents, peer.node);
                return Err(format!("{name} knows {found} of {agents} agents of {node}"));
            }
        }
    }
    Ok(())
}

/// Checks that a bridge has counted nothing against honest peers, unless a fault of this history can cause it. The
/// network alone never causes such a count. `hears` is whether agents ran on this host all the time since there are
/// two epochs: a host without agents knows no epoch, so it cannot vouch for a message of a peer and does not deliver
/// the message.
pub fn honest(
    host: &str,
    counts: &BridgeCounts,
    happened: &Kinds,
    plan: &Plan,
    hears: bool,
) -> Result<(), Broken> {
    let is_due = |name: &str| match name {
        // Without disks a term is refused if it is far from the clock.
        "unvouched_term" => !hears || has(happened, &[Fault::WallAhead, Fault::WallBack]),
        // An agent with other rules is removed, and its messages may be read after its removal.
        "refused_name" => {
            // A message of a former process is read late, just after the agent of this name has left.
            let is_late = has(happened, &[Fault::SlowReader, Fault::Hold]);
            let has_left = has(happened, &[Fault::RestartAgent]);
            has(happened, &MOVES) || may_differ(happened) || is_late && has_left
        }
        // A later process waits until the link of the former process has ended.
        "name_held" => plan.is_diskless,
        // Copies of notices, and notices of strangers: the other checks notice any harm of them.
        name if name.starts_with("notice_") => plan.has_sentinels(),
        "mismatch" => may_differ(happened),
        _ => MAY_BE.contains(&name),
    };
    let wrong = |(name, n): &(&'static str, u64)| *n > 0 && !is_due(name);
    match counts.iter().find(wrong) {
        Some((name, n)) => Err(format!("{host} counted {name}: {n}")),
        None => Ok(()),
    }
}

/// Checks that a bridge reports no harmful event about honest peers, unless a fault of this history can cause the
/// event.
pub fn harmless(host: &str, event: &BridgeEvent, happened: &Kinds) -> Result<(), Broken> {
    match event {
        BridgeEvent::NameTaken { .. } if has(happened, &MOVES) => Ok(()),
        BridgeEvent::Mismatch { .. } if may_differ(happened) => Ok(()),
        BridgeEvent::NameTaken { .. }
        | BridgeEvent::Mismatch { .. }
        | BridgeEvent::Refused { name: "secret", .. }
        | BridgeEvent::LeftOut { .. }
        | BridgeEvent::Missed { .. } => Err(format!("{host} told {event:?}")),
        _ => Ok(()),
    }
}

/// Checks that the number of dials and of open streams of each host is bounded.
pub fn bounded(peaks: Peaks, hosts: usize) -> Result<(), Broken> {
    if peaks.dials > MOST_DIALS {
        return Err(format!("{} dials of one peer in a second", peaks.dials));
    }
    if peaks.streams > MOST_STREAMS * (hosts - 1) {
        return Err(format!("{} streams of one host", peaks.streams));
    }
    Ok(())
}

fn has(happened: &Kinds, any: &[Fault]) -> bool {
    any.iter().any(|kind| happened.contains(kind))
}

/// Whether two hosts may have different rules for a while.
fn may_differ(happened: &Kinds) -> bool {
    has(happened, &[Fault::OtherVoters, Fault::NextEpoch])
}

/// Faults after which two hosts may announce the same name for a while.
pub const MOVES: [Fault; 4] = [
    Fault::Move,
    Fault::MoveUnseen,
    Fault::MoveFromDead,
    Fault::LateRosters,
];

/// Ends of links and losses of messages that a network or a crash can cause.
const MAY_BE: [&str; 11] = [
    "handshake_timeout",
    "frame_timeout",
    "stale",
    "slow_peer",
    "silent",
    "replaced",
    "lost",
    "goodbye",
    "leaving",
    "unknown_agent",
    "former_incarnation",
];

/// Most dials of one peer in a second. Four dials come at once if a link breaks again and again. Then the back-off
/// waits from 0 up to 100, 200, 400 and 800 ms. Both incarnations of a bridge that crashed in between may dial.
const MOST_DIALS: usize = 20;

/// Most streams for each peer: the link, the link that replaces it, and streams that are being opened or closed.
const MOST_STREAMS: usize = 8;
