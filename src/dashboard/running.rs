//! The moment of a running node, as the page shows it.
//!
//! Decided here: the node's own agents are shown from their own state, and the agents of other hosts from the knowledge
//! of their group; an election lasts from the loss of a leader to the next leader. No agent's mailbox is used, so an
//! agent that hangs is shown as well. Not here: the report for an operator ([`Operated`]).

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use super::{
    judged::{GroupFacts, Reason, Trouble, unrepeated},
    moment::{AgentFacts, AgentState, PageMoment, PeerFacts, coarse},
    said::{Happened, Said},
};
use crate::{
    agent::Lifecycle,
    group::ReachableMember,
    operate::{AgentReport, Explanation, MemberReport, Operated, Report},
    protocol::{AgentId, Presence},
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
    // Sorted by group and name, so that an agent's place in the ring does not change.
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
            follow(known, own);
            known.score = known.score.or(member.score);
            known.kind = member.kind;
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

/// Returns the groups of the node's own agents, with the trouble that these agents know of.
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
        // The latest time at which an agent of the group knew a leader.
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
        state: match own.lifecycle {
            Lifecycle::Running => AgentState::Up,
            Lifecycle::Down => AgentState::Restarting,
            Lifecycle::Ended => AgentState::Down,
        },
        role: Some(own.role),
        term: Some(own.term),
        incarnation: Some(own.incarnation),
        leader: own.leader.as_ref().map(|leader| leader.id.clone()),
        about: own
            .leader_about
            .clone()
            .filter(|_| own.leading.is_some())
            .or_else(|| {
                let listed = own.members.iter().find(|it| it.agent == own.agent);
                listed?.about.clone()
            }),
        leads: own.leading.is_some(),
        draining: own.draining,
        lease_until: lease_until.filter(|_| own.leading.is_some()),
        ..AgentFacts::named(own.agent.clone())
    }
}

/// Returns the facts of an agent on another host. It is shown as the leader if one of the node's agents follows it.
fn of_member(own: &AgentReport, member: &MemberReport, group: String) -> AgentFacts {
    let followed = own
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

/// Marks an agent of another host as the leader if the running agent `own` follows it, in the highest term.
fn follow(known: &mut AgentFacts, own: &AgentReport) {
    let leader = own.leader.as_ref();
    let followed = leader.filter(|leader| known.remote && leader.id == known.name);
    if let Some(leader) = followed
        && own.lifecycle == Lifecycle::Running
        && known.term < Some(leader.term)
    {
        (known.leads, known.term) = (true, Some(leader.term));
    }
}

/// Measures how long each group of a node is without a leader.
#[derive(Debug, Default)]
pub(crate) struct VacancyWatch {
    /// For each group without a leader, the time of the loss, and the number of the group's messages at that time.
    since: BTreeMap<String, (Duration, u64)>,
}

/// The number of messages that the node's agents have sent, by group.
pub(crate) type SentByGroup = BTreeMap<String, u64>;

impl VacancyWatch {
    /// Examines a moment. Returns the elections that have ended.
    pub(crate) fn look(&mut self, moment: &PageMoment, sent: &SentByGroup) -> Vec<Said> {
        let groups = moment.groups.iter();
        groups
            .filter_map(|group| self.look_at(moment, &group.name, sent))
            .collect()
    }

    fn look_at(&mut self, moment: &PageMoment, group: &str, sent: &SentByGroup) -> Option<Said> {
        // If the node has only one group, its agents do not contain the group's name.
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

/// Returns the number of messages that the node's agents have sent. The agents of a group report the same number.
fn sent(report: &Report) -> SentByGroup {
    let counts = report.agents.iter().map(|agent| {
        let sent = agent.messages.get("sent").copied();
        (agent.group.clone(), sent.unwrap_or_default())
    });
    counts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let json = r#"{"bridge":{"node":"host-1","listens":null,"peers":[{"node":"host-2","address":null,
            "link":"waiting","agents":1,"lost":0,"unlinked_ms":5.0,"last_error":"refused","echo_ms":null}],"counts":{}},
            "agents":[{"agent":"b","group":"g","lifecycle":"running","incarnation":"3","role":"follower","term":"7",
            "leader":{"id":"c","incarnation":"1","term":"7"},"leading":null,"draining":false,"work_panics":0,
            "work_stalls":0,"tie_broken":false,"member_count":3,"messages":{"sent":12},"members":[
            {"agent":"c","kind":"voter","score":3,"presence":"up","incarnation":"1"},
            {"agent":"b","kind":"voter","score":2,"presence":"up","incarnation":"3"},
            {"agent":"a","kind":"observer","score":null,"presence":"suspect","incarnation":null}]}]}"#;
        serde_json::from_str(json).unwrap()
    }

    fn explained() -> Explanation {
        let json = r#"{"text":"because","diagnosis":{"group":"g","leaderless_ms":400.0,"voters":{"reachable":1,"all":3,"needed":2}}}"#;
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_agent_of_another_host_leads_if_any_agent_of_the_node_follows_it() {
        let mut report = report();
        let mut first = report.agents[0].clone();
        first.agent = "aa".parse().unwrap();
        first.leader = None;
        report.agents.insert(0, first);
        let whys = [explained(), explained()];
        let leads = |report: &Report| {
            let moment = facts(report, &[None, None], &whys, Duration::ZERO);
            let leaders: Vec<_> = moment
                .leaders()
                .map(|agent| agent.name.to_string())
                .collect();
            leaders
        };
        assert_eq!(leads(&report), ["c"]);
        report.agents[1].lifecycle = Lifecycle::Down;
        assert!(leads(&report).is_empty(), "nobody that runs follows it");
    }

    #[test]
    fn an_agent_tells_since_when_its_group_has_no_leader_and_no_majority() {
        let mut report = report();
        report.agents[0].leader = None;
        let at = Duration::from_secs(1);
        let moment = facts(&report, &[None], &[explained()], at);
        let [group] = moment.groups.as_slice() else {
            unreachable!("{moment:?}")
        };
        assert_eq!(
            (group.name.as_str(), group.trouble),
            ("g", Trouble::FewVoters)
        );
        assert_eq!(group.since, Some(Duration::from_millis(600)));
        assert_eq!(
            (moment.why[0].group.as_str(), moment.why[0].text.as_str()),
            ("g", "because")
        );
    }

    #[test]
    fn agents_of_other_hosts_are_shown_as_their_group_knows_them() {
        let at = Duration::from_secs(1);
        let moment = facts(&report(), &[Some(at)], &[explained()], at);
        let [a, b, c] = moment.agents.as_slice() else {
            unreachable!("{moment:?}")
        };
        assert_eq!(
            (a.name.as_str(), a.state, a.remote),
            ("a", AgentState::Suspect, true)
        );
        assert_eq!((b.name.as_str(), b.leads, b.remote), ("b", false, false));
        assert_eq!(b.score, Some(2.into()), "from the members");
        assert_eq!(b.lease_until, None, "it does not lead");
        assert!(c.leads && c.remote && c.role.is_none());
        assert_eq!(c.term.map(|term| term.0), Some(7));
        assert_eq!(moment.peers[0].error.as_deref(), Some("refused"));
        assert!(b.group.is_empty(), "there is one group only");
        assert_eq!(sent(&report()), BTreeMap::from([("g".to_owned(), 12)]));
    }

    /// The election that ended: its cause, its leaders, its milliseconds and its messages.
    fn ended(said: &[Said]) -> Vec<(&str, Vec<&str>, u128, u64)> {
        let elections = said.iter().map(|said| {
            let Happened::Election {
                cause,
                leaders,
                took,
                messages,
            } = &said.what
            else {
                unreachable!("{said:?}")
            };
            let leaders = leaders.iter().map(AgentId::as_str).collect();
            (&**cause, leaders, took.as_millis(), *messages)
        });
        elections.collect()
    }

    #[test]
    fn an_election_lasts_until_there_is_a_leader() {
        let mut vacancy = VacancyWatch::default();
        let sent = |count| BTreeMap::from([("g".to_owned(), count)]);
        let led = facts(&report(), &[None], &[explained()], Duration::from_secs(9));
        let mut empty = PageMoment {
            at: Duration::from_secs(5),
            agents: Vec::new(),
            ..led.clone()
        };
        assert_eq!(vacancy.look(&led, &sent(1)), [], "it was led before");
        assert_eq!(vacancy.look(&empty, &sent(10)), []);
        empty.at = Duration::from_secs(6);
        assert_eq!(vacancy.look(&empty, &sent(11)), []);
        let over = vacancy.look(&led, &sent(14));
        assert_eq!(ended(&over), [("there was no leader", vec!["c"], 4_000, 4)]);
        assert_eq!(vacancy.look(&led, &sent(15)), []);
    }

    #[test]
    fn each_group_has_its_elections() {
        let mut vacancy = VacancyWatch::default();
        let mut report = report();
        let mut other = report.agents[0].clone();
        other.group = "h".to_owned();
        other.leader = None;
        report.agents.push(other);
        let whys = [explained(), explained()];
        let sent = |g: u64, h: u64| BTreeMap::from([("g".to_owned(), g), ("h".to_owned(), h)]);
        let mixed = facts(&report, &[None, None], &whys, Duration::from_secs(5));
        assert_eq!(vacancy.look(&mixed, &sent(1, 1)), [], "g is led");
        let mut led = mixed.clone();
        led.at = Duration::from_secs(7);
        for agent in &mut led.agents {
            agent.leads = agent.name.as_str() == "c";
        }
        let over = vacancy.look(&led, &sent(90, 4));
        assert_eq!(
            ended(&over),
            [("h: there was no leader", vec!["c"], 2_000, 3)]
        );
    }
}
