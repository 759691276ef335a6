//! What must hold, at each step and in the end.
//!
//! Decided here: the invariants. A history that breaks one ends there.

use std::collections::BTreeMap;

use actix_bully::{
    protocol::{AgentId, Term},
    remote::{BridgeEvent, Counts, LinkStatus},
};

use crate::{
    host::{Host, Process, Setting},
    wire::Peaks,
};

/// What was broken, in words.
pub type Broken = String;

/// Looks at all hosts after each step.
#[derive(Debug, Default)]
pub struct Watch {
    /// Who led in which term, in quorum mode.
    led: BTreeMap<Term, AgentId>,
    /// The latest leader's term that a life of an agent followed.
    followed: BTreeMap<(AgentId, u64), Term>,
    /// Who leads now, by its own belief.
    leading: Vec<AgentId>,
}

impl Watch {
    /// Checks what has to hold at every moment; says who leads, if that is news.
    ///
    /// # Errors
    /// What is broken.
    pub fn step(&mut self, running: &[Process], is_quorum: bool) -> Result<Option<String>, Broken> {
        let leads = |process: &&Process| process.agent.is_leader();
        let leading: Vec<_> = running.iter().filter(leads).collect();
        if is_quorum {
            self.check_terms(running)?;
            self.check_leaders(&leading)?;
        }
        let ids: Vec<_> = leading.iter().map(|p| p.agent.id().clone()).collect();
        if ids == self.leading {
            return Ok(None);
        }
        let names: Vec<_> = ids.iter().map(AgentId::as_str).collect();
        let news = names.join(" ");
        self.leading = ids;
        Ok(Some(news))
    }

    fn check_leaders(&mut self, leading: &[&Process]) -> Result<(), Broken> {
        if let [one, other, ..] = leading {
            let (one, other) = (one.agent.id(), other.agent.id());
            return Err(format!("{one} and {other} lead at the same time"));
        }
        for process in leading {
            let id = process.agent.id();
            let Some(term) = process.agent.current().leading else {
                continue; // it has just ended; the next look will see it
            };
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

    fn check_terms(&mut self, running: &[Process]) -> Result<(), Broken> {
        for process in running {
            let status = process.agent.current();
            let Some(leader) = status.leader else {
                continue;
            };
            let (id, life) = (process.agent.id().clone(), status.incarnation.0);
            let last = self.followed.entry((id, life)).or_insert(leader.term);
            if leader.term < *last {
                let id = process.agent.id();
                return Err(format!("{id} follows {} after {last}", leader.term));
            }
            *last = leader.term;
        }
        Ok(())
    }
}

/// Whether every host runs, is linked to every other one, and all follow one leader.
#[must_use]
pub fn all_agree(running: &[Process]) -> bool {
    let mut leaders = running.iter().map(|process| process.agent.leader());
    let Some(Some(first)) = leaders.next() else {
        return false;
    };
    let leads = |process: &&Process| process.agent.is_leader();
    let mut leading = running.iter().filter(leads).map(|p| p.agent.id());
    leaders.all(|leader| leader.is_some_and(|leader| leader.id == first.id))
        && leading.next() == Some(&first.id)
        && leading.next().is_none()
}

/// Whether every host is linked to every other one.
#[must_use]
pub fn all_linked(running: &[Process]) -> bool {
    let is_linked = |link: LinkStatus| matches!(link, LinkStatus::Linked { .. });
    running
        .iter()
        .all(|process| process.bridge.peers().iter().all(|p| is_linked(p.link)))
}

/// What has to hold once all is repaired and quiet: one link for each pair, by the same name at
/// both ends, no stream beside them, and every agent a member everywhere.
///
/// # Errors
/// What is broken.
pub fn at_rest(setting: &Setting, hosts: &[(&Host, &Process)]) -> Result<(), Broken> {
    let others = hosts.len() - 1;
    let mut links = BTreeMap::new();
    for (host, process) in hosts {
        let name = host.name();
        let streams = setting.net.streams(name);
        if streams != others {
            return Err(format!("{name} has {streams} streams to {others} hosts"));
        }
        let members = process.group.members();
        if members.len() != hosts.len() {
            return Err(format!("{name} knows {} members", members.len()));
        }
        for peer in process.bridge.peers() {
            let LinkStatus::Linked { id } = peer.link else {
                return Err(format!("{name} has no link to {}", peer.node));
            };
            let (one, other) = (name.to_owned(), peer.node.to_string());
            let pair = (one.clone().min(other.clone()), one.max(other));
            if *links.entry(pair).or_insert(id) != id {
                return Err(format!("{name} and {} have two links", peer.node));
            }
            if peer.agents != 1 {
                return Err(format!("{name} knows {} of {}", peer.agents, peer.node));
            }
        }
    }
    Ok(())
}

/// What no honest peer may be accused of, whatever the network does.
///
/// # Errors
/// The first accusation.
pub fn honest(host: &str, counts: &Counts) -> Result<(), Broken> {
    let wrong = |(name, n): &(&'static str, u64)| *n > 0 && !MAY_BE.contains(name);
    match counts.iter().find(wrong) {
        Some((name, n)) => Err(format!("{host} counted {name}: {n}")),
        None => Ok(()),
    }
}

/// What no bridge may tell of honest peers.
///
/// # Errors
/// The event.
pub fn harmless(host: &str, event: &BridgeEvent) -> Result<(), Broken> {
    match event {
        BridgeEvent::NameTaken { .. }
        | BridgeEvent::Mismatch { .. }
        | BridgeEvent::Unproven { .. }
        | BridgeEvent::LeftOut { .. }
        | BridgeEvent::Missed { .. } => Err(format!("{host} told {event:?}")),
        _ => Ok(()),
    }
}

/// That nobody dials, or opens streams, without measure.
///
/// # Errors
/// What is too much.
pub fn bounded(peaks: Peaks, hosts: usize) -> Result<(), Broken> {
    if peaks.dials > MOST_DIALS {
        return Err(format!("{} dials of one peer in a second", peaks.dials));
    }
    if peaks.streams > MOST_STREAMS * (hosts - 1) {
        return Err(format!("{} streams of one host", peaks.streams));
    }
    Ok(())
}

/// Ends of links, and losses of letters, that a network or a crash can bring about.
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
    "former_life",
];

/// Of one peer in a second. Four at once (a link that breaks again and again), then the back-off:
/// waits from 0 up to 100, 200, 400, 800 ms, on both lives of a bridge that crashed in between.
const MOST_DIALS: usize = 20;

/// For each peer: the link, the one that replaces it, and those that are being made or closed.
const MOST_STREAMS: usize = 8;
