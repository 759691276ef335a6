//! The moment of a running node, from a report that was written by hand.

use super::*;
use crate::protocol::{Incarnation, Member, MemberKind::Voter};

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
    first.status.leader = None;
    first.members[1].about = Some("port 7".parse().unwrap());
    report.agents.insert(0, first);
    // The first of them lists the members for both.
    report.agents[1].members.clear();
    let whys = [explained(), explained()];
    let leads = |report: &Report| {
        let moment = facts(report, &[None, None], &whys, Duration::ZERO);
        let leaders: Vec<_> = moment
            .leaders()
            .map(|agent| agent.name.to_string())
            .collect();
        let b = moment.agents.iter().find(|agent| agent.name == "b");
        assert_eq!(b.unwrap().about, Some("port 7".parse().unwrap()));
        leaders
    };
    assert_eq!(leads(&report), ["c"]);
    report.agents[1].status.lifecycle = Lifecycle::Down;
    assert!(leads(&report).is_empty(), "nobody that runs follows it");
}

#[test]
fn an_agent_tells_since_when_its_group_has_no_leader_and_no_majority() {
    let mut report = report();
    report.agents[0].status.leader = None;
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
    // Of several agents the one that missed a leader last.
    report.agents.push(report.agents[0].clone());
    let mut longer = explained();
    longer.diagnosis["leaderless_ms"] = 900.0.into();
    for whys in [[longer.clone(), explained()], [explained(), longer]] {
        let groups = facts(&report, &[None, None], &whys, at).groups;
        assert_eq!(groups[0].since, Some(Duration::from_millis(600)));
    }
    assert_eq!(
        (moment.why[0].group.as_str(), moment.why[0].text.as_str()),
        ("g", "because")
    );
}

#[test]
fn agents_of_other_hosts_are_shown_as_their_group_knows_them() {
    let at = Duration::from_secs(1);
    let mut moment = facts(&report(), &[Some(at)], &[explained()], at);
    let cut_off = |name: &str| ReachableMember {
        member: Member::up(name.parse().unwrap(), Voter, None, Incarnation(1)),
        node: Some("host-2".into()),
        is_reachable: false,
        epoch: None,
    };
    let reach = BTreeMap::from([("g", ["a", "b", "c"].map(cut_off).into())]);
    place(&mut moment.agents, &reach);
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
    let at_c = (c.state, c.host.as_deref(), b.state);
    assert_eq!(
        at_c,
        (AgentState::Unreachable, Some("host-2"), AgentState::Up)
    );
    assert_eq!(c.term.map(|term| term.0), Some(7));
    assert_eq!(
        (c.lease_until, c.lease_out),
        (Some(2 * at), false),
        "as its follower knows"
    );
    assert_eq!(moment.peers[0].error.as_deref(), Some("refused"));
    assert!(b.group.is_empty(), "there is one group only");
    assert_eq!(sent(&report()), BTreeMap::from([("g".to_owned(), 12)]));
}

#[test]
fn the_lease_of_a_leader_elsewhere_holds_as_long_as_any_of_its_followers_knows() {
    let mut report = report();
    let first = report.agents[0].clone();
    for name in ["b1", "b2", "b3"] {
        let agent = name.parse().unwrap();
        report.agents.push(AgentReport {
            agent,
            ..first.clone()
        });
    }
    // The first follows it in an earlier term, and one that is down knows nothing any more.
    report.agents[0].status.leader.as_mut().unwrap().term = Term(6);
    report.agents[3].status.lifecycle = Lifecycle::Down;
    let (at, ms) = (Duration::from_secs(1), Duration::from_millis);
    let whys = [(); 4].map(|()| explained());
    let shown = |leases: [Option<u64>; 4]| {
        let leases = leases.map(|left| left.map(ms));
        let moment = facts(&report, &leases, &whys, at);
        let leader = moment.leaders().next().unwrap();
        let left = leader.lease_until.map(|until| until.saturating_sub(at));
        (leader.name.to_string(), left, leader.lease_out)
    };
    let c = || "c".to_owned();
    for [one, other] in [[40, 60], [60, 40]] {
        let of = [Some(900), Some(one), Some(other), Some(900)];
        assert_eq!(shown(of), (c(), Some(ms(60)), false));
    }
    let over = [Some(900), Some(0), None, Some(900)];
    assert_eq!(shown(over), (c(), Some(ms(0)), true));
    assert_eq!(shown([None; 4]), (c(), None, false), "only its host knows");
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
    other.status.leader = None;
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
