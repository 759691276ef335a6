//! The moment of a cluster, as the page shows it.
//!
//! Decided here: which few agents are asked for a diagnosis (the diagnoses of all agents would be long, and add
//! nothing); and the end of a lease is rounded to 20 ms, so that two readings of the same end are equal. Not here: the
//! contents of a moment (`moment.rs` of the dashboard).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    agent::{Finding, NotLeading},
    dashboard::moment::{AgentFacts, AgentState, PageMoment, Reason, coarse},
    protocol::{AgentId, Election, MemberKind, Time},
    testkit::cluster::{AgentSight, Cluster, Condition, Obstacle},
};
use bully_sim::faults::Separations;

/// Returns the present moment of the cluster, without diagnoses.
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
        network: Some(cluster.conditions().into()),
        ..PageMoment::default()
    }
}

/// Returns the reason why the leadership is not settled (a part of an election is still under way); `None` if it is
/// settled. `is_over` means that the last election has ended; then messages under way do not count.
pub(super) fn unsettled<E: Election>(cluster: &Cluster<E>, is_over: bool) -> Option<Reason> {
    let obstacle = cluster.settled_now().err()?;
    let is_shown = !(is_over && is_traffic(&obstacle));
    let text = match obstacle {
        Obstacle::Busy
        | Obstacle::UnderWay { .. }
        | Obstacle::Electing(_)
        | Obstacle::Draining(_) => format!("Not settled: {obstacle}"),
        Obstacle::Leaderless(_) | Obstacle::Astray { .. } | Obstacle::Divided(_) => {
            format!("Nothing is under way: {obstacle}")
        }
    };
    is_shown.then(|| text.into())
}

/// Explains why an agent leads, or why no agent leads, by the diagnoses of at most [`LEADERS`] leaders and of one agent
/// that knows no leader.
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
    let cut = cluster.separations();
    let apart: BTreeSet<AgentId> = cluster
        .sights()
        .filter(|sight| sight.condition != Condition::Up)
        .map(|sight| sight.handle.id().clone())
        .collect();
    let texts = asked.map(|sight| {
        let mut diagnosis = sight.handle.diagnosis();
        for finding in &mut diagnosis.findings {
            correct(finding, &cut, &apart);
        }
        Reason::from(diagnosis.to_string())
    });
    texts.collect()
}

const fn is_traffic(obstacle: &Obstacle) -> bool {
    matches!(obstacle, Obstacle::Busy | Obstacle::UnderWay { .. })
}

/// Corrects an agent's finding that a higher agent exists: only the page knows that this agent cannot take over.
fn correct(finding: &mut Finding, cut: &Separations, away: &BTreeSet<AgentId>) {
    let Finding::Outranked {
        leader,
        by,
        because: because @ NotLeading::Unknown,
    } = finding
    else {
        return;
    };
    let side = |id: &AgentId| cut.sides.get(id).copied().unwrap_or_default();
    let is_cut = |(from, to): &(AgentId, AgentId)| {
        (from == by && to == leader) || (from == leader && to == by)
    };
    let is_isolated = cut.isolated.contains(by) || cut.isolated.contains(leader);
    if away.contains(by) || is_isolated || side(by) != side(leader) || cut.cuts.iter().any(is_cut) {
        *because = NotLeading::Unreachable;
    }
}

const LEADERS: usize = 3;

/// Returns the agents that may lead, the highest first.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn because(cut: &Separations, away: &[&str]) -> NotLeading {
        let mut finding = Finding::Outranked {
            leader: "a".parse().unwrap(),
            by: "b".parse().unwrap(),
            because: NotLeading::Unknown,
        };
        let away = away.iter().map(|name| name.parse().unwrap()).collect();
        correct(&mut finding, cut, &away);
        let Finding::Outranked { because, .. } = finding else {
            unreachable!("it stays what it is")
        };
        because
    }

    #[test]
    fn no_agent_takes_over_soon_that_is_cut_off_or_hangs() {
        let id = |name: &str| -> AgentId { name.parse().unwrap() };
        let whole = Separations::default();
        assert_eq!(because(&whole, &[]), NotLeading::Unknown);
        assert_eq!(because(&whole, &["c"]), NotLeading::Unknown);
        assert_eq!(because(&whole, &["b"]), NotLeading::Unreachable);
        let mut sides = Separations::default();
        sides.sides.insert(id("b"), 1);
        assert_eq!(because(&sides, &[]), NotLeading::Unreachable);
        sides.sides.insert(id("a"), 1);
        assert_eq!(because(&sides, &[]), NotLeading::Unknown);
        for name in ["a", "b"] {
            let mut isolated = Separations::default();
            isolated.isolated.insert(id(name));
            assert_eq!(because(&isolated, &[]), NotLeading::Unreachable);
        }
        for (from, to) in [("a", "b"), ("b", "a")] {
            let mut cut = Separations::default();
            cut.cuts.push((id(from), id(to)));
            assert_eq!(because(&cut, &[]), NotLeading::Unreachable);
        }
        let mut elsewhere = Separations::default();
        elsewhere.cuts.push((id("a"), id("c")));
        assert_eq!(because(&elsewhere, &[]), NotLeading::Unknown);
    }
}
