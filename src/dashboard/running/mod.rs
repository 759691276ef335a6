//! The moment of a running node, as the page shows it.
//!
//! Decided here: the node's own agents are shown by their own state, and agents of other hosts by the state that the
//! node's agents know; a leader on another host is shown with the longest lease that one of the node's agents knows; an
//! election lasts from the loss of a leader to the next leader. No message is sent to an agent, so an agent that hangs
//! is shown as well. Not here: the report for an operator ([`Operated`]).

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use super::{
    judged::unrepeated,
    moment::{AgentFacts, AgentState, GroupFacts, PageMoment, PeerFacts, Reason, Trouble, coarse},
    said::{Happened, Said},
};
use crate::{
    agent::Lifecycle,
    group::ReachableMember,
    operate::{AgentReport, Explanation, MemberReport, Operated, Report},
    protocol::{AgentId, Presence, Term},
};

/// Returns the moment of the node at the time `at` of the page's clock, and the number of messages that the node has
/// sent.
pub(crate) fn look(operated: &Operated, at: Duration) -> (PageMoment, SentByGroup) {
    let report = operated.brief_report();
    let leases = operated.leases();
    let mut moment = facts(&report, &leases, &operated.explain(), at);
    place(&mut moment.agents, &operated.reach());
    (moment, sent(&report))
}

fn facts(
    report: &Report,
    leases: &[Option<Duration>],
    why: &[Explanation],
    at: Duration,
) -> PageMoment {
    let several = report
        .agents
        .iter()
        .any(|agent| Some(&agent.group) != report.agents.first().map(|a| &a.group));
    let group = |name: &str| {
        if several {
            name.to_owned()
        } else {
            String::new()
        }
    };
    // Sorted by group and name, so that an agent's place in the page's picture does not change.
    let mut agents: BTreeMap<(String, AgentId), AgentFacts> = BTreeMap::new();
    for (own, lease) in report.agents.iter().zip(leases) {
        let facts = of_own(
            own,
            group(&own.group),
            lease.map(|left| coarse(at.saturating_add(left))),
        );
        agents.insert((own.group.clone(), own.agent.clone()), facts);
    }
    for own in &report.agents {
        for member in &own.members {
            let key = (own.group.clone(), member.agent.clone());
            let seen = || of_member(own, member, group(&own.group));
            let known = agents.entry(key).or_insert_with(seen);
            if known.about.is_none() {
                known.about.clone_from(&member.about);
            }
            known.score = known.score.or(member.score);
            known.kind = member.kind;
        }
    }
    follow(&mut agents, report);
    for (leader, (term, left)) in followed(report, leases) {
        let known = agents.get_mut(&leader);
        if let Some(known) = known.filter(|it| it.remote && it.leads && it.term == Some(term)) {
            known.lease_until = Some(coarse(at.saturating_add(left)));
            known.lease_out = left.is_zero();
        }
    }
    let peers = report.bridge.iter().flat_map(|bridge| &bridge.peers);
    let peers = peers.map(|peer| PeerFacts {
        node: peer.node.clone(),
        link: peer.link.clone(),
        error: peer.last_error.clone(),
    });
    PageMoment {
        at,
        agents: agents.into_values().collect(),
        peers: peers.collect(),
        groups: groups(report, why, at),
        why: unrepeated(why.iter().map(reason)),
        ..PageMoment::default()
    }
}

/// Adds to each agent of another host the name of its host, and whether messages reach the agent.
fn place(agents: &mut [AgentFacts], reach: &BTreeMap<&str, Vec<ReachableMember>>) {
    let mut known: BTreeMap<(&str, &AgentId), &ReachableMember> = BTreeMap::new();
    for (group, members) in reach {
        known.extend(members.iter().map(|each| ((*group, &each.member.id), each)));
    }
    let only = reach.keys().next().copied().unwrap_or_default();
    for agent in agents.iter_mut().filter(|agent| agent.remote) {
        let group = if agent.group.is_empty() {
            only
        } else {
            &agent.group
        };
        let Some(member) = known.get(&(group, &agent.name)) else {
            continue;
        };
        agent.host = member.node.as_deref().map(str::to_owned);
        if agent.state == AgentState::Up && !member.is_reachable {
            agent.state = AgentState::Unreachable;
        }
    }
}

/// Returns the groups of the node's own agents, with the trouble that these agents report.
fn groups(report: &Report, why: &[Explanation], at: Duration) -> Vec<GroupFacts> {
    let mut groups: BTreeMap<&str, GroupFacts> = BTreeMap::new();
    for (own, explained) in report.agents.iter().zip(why) {
        let group = groups.entry(&own.group).or_insert_with(|| GroupFacts {
            name: own.group.clone(),
            ..GroupFacts::default()
        });
        let told = &explained.diagnosis;
        let voters = |key: &str| told.pointer(key)?.as_u64();
        let few = voters("/voters/reachable").zip(voters("/voters/needed"));
        if few.is_some_and(|(reachable, needed)| reachable < needed) {
            group.trouble = Trouble::FewVoters;
        }
        // If several agents of the group report a time without a leader, the shortest time counts.
        let span = told.get("leaderless_ms").and_then(Value::as_f64);
        let span = span.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
        group.since = group.since.max(span.map(|span| at.saturating_sub(span)));
    }
    groups.into_values().collect()
}

fn reason(explained: &Explanation) -> Reason {
    let group = explained.diagnosis.get("group").and_then(Value::as_str);
    Reason {
        group: group.unwrap_or_default().to_owned(),
        text: explained.text.clone(),
    }
}

fn of_own(own: &AgentReport, group: String, lease_until: Option<Duration>) -> AgentFacts {
    AgentFacts {
        group,
        state: match own.status.lifecycle {
            Lifecycle::Running => AgentState::Up,
            Lifecycle::Down => AgentState::Restarting,
            Lifecycle::Ended => AgentState::Down,
        },
        role: Some(own.status.role),
        term: Some(own.status.term),
        incarnation: Some(own.status.incarnation),
        leader: own.status.leader.as_ref().map(|leader| leader.id.clone()),
        about: own
            .status
            .leader_about
            .clone()
            .filter(|_| own.status.leading.is_some()),
        leads: own.status.leading.is_some(),
        draining: own.status.draining,
        lease_until: lease_until.filter(|_| own.status.leading.is_some()),
        ..AgentFacts::named(own.agent.clone())
    }
}

/// Returns the facts of an agent on another host. It is shown as the leader if one of the node's agents follows it.
fn of_member(own: &AgentReport, member: &MemberReport, group: String) -> AgentFacts {
    let followed = own
        .status
        .leader
        .as_ref()
        .filter(|leader| leader.id == member.agent);
    AgentFacts {
        group,
        state: match member.presence {
            Presence::Unseen => AgentState::Unseen,
            Presence::Up => AgentState::Up,
            Presence::Suspect => AgentState::Suspect,
            Presence::Down => AgentState::Down,
        },
        term: followed.map(|leader| leader.term),
        incarnation: member.incarnation,
        about: member.about.clone(),
        leads: followed.is_some(),
        remote: true,
        ..AgentFacts::named(member.agent.clone())
    }
}

/// Returns the leaders that running agents of the node follow, each with its term and the remaining time of its lease.
/// If the agents know different times, the longest is returned.
fn followed(
    report: &Report,
    leases: &[Option<Duration>],
) -> BTreeMap<(String, AgentId), (Term, Duration)> {
    let mut longest = BTreeMap::new();
    for (own, left) in report.agents.iter().zip(leases) {
        let leader = own.status.leader.as_ref();
        let leader = leader.filter(|_| own.status.lifecycle == Lifecycle::Running);
        if let (Some(leader), Some(left)) = (leader, *left) {
            let known = longest.entry((own.group.clone(), leader.id.clone()));
            let known: &mut (Term, Duration) = known.or_default();
            *known = (*known).max((leader.term, left));
        }
    }
    longest
}

/// Marks an agent of another host as the leader if a running agent of this node follows it in the highest term. The
/// reports of all own agents are examined, because only one report lists the members that several own agents know.
fn follow(agents: &mut BTreeMap<(String, AgentId), AgentFacts>, report: &Report) {
    let running = report.agents.iter();
    for own in running.filter(|own| own.status.lifecycle == Lifecycle::Running) {
        let Some(leader) = &own.status.leader else {
            continue;
        };
        let known = agents.get_mut(&(own.group.clone(), leader.id.clone()));
        if let Some(known) = known.filter(|it| it.remote && it.term < Some(leader.term)) {
            (known.leads, known.term) = (true, Some(leader.term));
        }
    }
}

/// The time for which each group of a node has had no leader.
#[derive(Debug, Default)]
pub(crate) struct VacancyWatch {
    /// For each group without a leader, the time of the loss, and the number of the group's messages at the loss.
    since: BTreeMap<String, (Duration, u64)>,
}

/// The number of messages that the node's agents have sent, by group.
pub(crate) type SentByGroup = BTreeMap<String, u64>;

impl VacancyWatch {
    /// Examines the next moment. Returns an entry for each election that has ended.
    pub(crate) fn look(&mut self, moment: &PageMoment, sent: &SentByGroup) -> Vec<Said> {
        let groups = moment.groups.iter();
        groups
            .filter_map(|group| self.look_at(moment, &group.name, sent))
            .collect()
    }

    fn look_at(&mut self, moment: &PageMoment, group: &str, sent: &SentByGroup) -> Option<Said> {
        // If the node has only one group, the facts about its agents do not contain the group's name.
        let is_only = moment.groups.len() < 2;
        let of_group = moment
            .leaders()
            .filter(|agent| is_only || agent.group == group);
        let leaders: Vec<AgentId> = of_group.map(|agent| agent.name.clone()).collect();
        let sent = sent.get(group).copied().unwrap_or_default();
        if leaders.is_empty() {
            let since = self.since.entry(group.to_owned());
            since.or_insert((moment.at, sent));
            return None;
        }
        let (since, before) = self.since.remove(group)?;
        let cause = "there was no leader";
        Some(Said {
            at: moment.at,
            what: Happened::Election {
                cause: if is_only {
                    cause.to_owned()
                } else {
                    format!("{group}: {cause}")
                },
                leaders,
                took: moment.at.saturating_sub(since),
                messages: sent.saturating_sub(before),
            },
        })
    }
}

/// Returns the number of messages that the node's agents have sent, by group. All agents of a group report one number.
fn sent(report: &Report) -> SentByGroup {
    let counts = report.agents.iter().map(|agent| {
        let sent = agent.messages.get("sent").copied();
        (agent.group.clone(), sent.unwrap_or_default())
    });
    counts.collect()
}

#[cfg(test)]
mod tests;
