//! What is shown of a cluster.
//!
//! Decided here: which agents are asked why they lead or do not, because a diagnosis of each of two hundred agents says
//! no more and costs a page of text each; and that a lease is told to twenty milliseconds, so that its reading is no
//! change. Not here: what a moment is (`moment.rs` of the dashboard).

use std::collections::BTreeMap;

use crate::{
    dashboard::{
        judged::Reason,
        moment::{AgentFacts, AgentState, PageMoment, coarse},
    },
    protocol::{AgentId, Election, MemberKind, Time},
    testkit::cluster::{AgentSight, Cluster, Condition},
};

/// The cluster as it is now, without its diagnoses.
pub(super) fn moment<E: Election>(cluster: &Cluster<E>) -> PageMoment {
    let at = cluster.now().since(Time::ZERO);
    let cut = cluster.separations();
    let fact = |sight: AgentSight<'_, E>| {
        let now = sight.handle.current();
        let leads = sight.handle.is_leader();
        let left = leads.then(|| sight.handle.leadership_left()).flatten();
        let id = sight.handle.id();
        AgentFacts {
            kind: sight.kind,
            score: sight.score,
            state: match sight.condition {
                Condition::Up => AgentState::Up,
                Condition::Hung => AgentState::Hung,
                Condition::Restarting => AgentState::Restarting,
                Condition::Down => AgentState::Down,
            },
            role: Some(now.role),
            term: Some(now.term),
            incarnation: Some(now.incarnation),
            leader: now.leader.map(|leader| leader.id),
            leads,
            draining: now.draining,
            lease_until: left.map(|left| coarse(at.saturating_add(left))),
            side: cut.sides.get(id).copied().unwrap_or_default(),
            isolated: cut.isolated.contains(id),
            ..AgentFacts::named(id.clone())
        }
    };
    let agents: Vec<AgentFacts> = cluster.sights().map(fact).collect();
    let mut cuts = Vec::new();
    if !cut.cuts.is_empty() {
        let places = agents.iter().enumerate();
        let places: BTreeMap<&AgentId, usize> =
            places.map(|(at, agent)| (&agent.name, at)).collect();
        let place = |id: &AgentId| places.get(id).copied();
        let known = cut
            .cuts
            .iter()
            .filter_map(|(from, to)| place(from).zip(place(to)));
        cuts.extend(known);
    }
    PageMoment {
        at,
        agents,
        cuts,
        voters: cluster.voters_epoch(),
        network: Some(cluster.conditions().to_record()),
        ..PageMoment::default()
    }
}

/// Why this one leads, or nobody does: each leader's own word, that of an agent without one, and what keeps it from being
/// settled.
pub(super) fn why<E: Election>(cluster: &Cluster<E>) -> Vec<Reason> {
    let sights = || {
        cluster
            .sights()
            .filter(|sight| sight.condition == Condition::Up)
    };
    let leaders = sights()
        .filter(|sight| sight.handle.is_leader())
        .take(LEADERS);
    let lost = sights()
        .filter(|sight| sight.handle.leader().is_none())
        .take(1);
    let asked = leaders.chain(lost);
    let texts = asked.map(|sight| sight.handle.diagnosis().to_string());
    let unsettled = cluster.settled_now().err();
    let unsettled = unsettled.map(|obstacle| format!("Not settled: {obstacle}"));
    unsettled
        .into_iter()
        .chain(texts)
        .map(Reason::from)
        .collect()
}

const LEADERS: usize = 3;

/// The agents that may lead, the highest first.
pub(super) fn ranked<E: Election>(cluster: &Cluster<E>) -> Vec<AgentId> {
    let eligible = cluster
        .sights()
        .filter(|sight| sight.kind == MemberKind::Voter);
    let mut ranked: Vec<_> = eligible
        .filter_map(|sight| Some((sight.score?, sight.handle.id().clone())))
        .collect();
    ranked.sort_unstable_by(|one, other| other.cmp(one));
    ranked.into_iter().map(|(_, id)| id).collect()
}
