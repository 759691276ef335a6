//! Why a group across hosts has no leader: what each host can tell of the others.

use std::path::Path;

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, Diagnosis, Finding, VoterCount},
    elections::quorum::QuorumConfig,
    protocol::Timings,
    remote::{NodeIncarnation, Peer, RemoteBridge, transport::Pipes},
};

use super::{
    kit::{Host, MS, address, builder, id, patient, play, until},
    voters::host,
};

fn has(diagnosis: &Diagnosis, is_it: impl Fn(&Finding) -> bool) -> bool {
    diagnosis.findings.iter().any(is_it)
}

fn counted(voters: Option<VoterCount>) -> Option<(u32, u32, u32)> {
    voters.map(|voters| (voters.reachable, voters.all, voters.needed))
}

#[test]
fn a_voter_that_is_alone_says_how_many_are_needed_and_why_the_others_are_away() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| host(&pipes, name, 1_000, folder));
        until("c1 leads", || a.follows("c1") && b.follows("c1")).await;
        let well = a.agents[0].diagnosis();
        assert_eq!(counted(well.voters), Some((3, 3, 2)), "{well}");
        assert!(
            matches!(&well.findings[..], [Finding::HighestLeads { leader }] if *leader == id("c1")),
            "{well}"
        );
        let shown = serde_json::to_value(&well).unwrap();
        let echoes = [0, 1].map(|peer| &shown["peers"][peer]["echo_ms"]);
        assert!(echoes.iter().all(|echo| echo.is_number()), "{shown}");
        assert_eq!(well.leaderless_for, None);

        b.stop().await;
        c.stop().await;
        sleep(MS(5_000)).await;
        let alone = a.agents[0].diagnosis();
        assert_eq!(alone.leader, None);
        assert_eq!(counted(alone.voters), Some((1, 3, 2)), "{alone}");
        assert!(alone.leaderless_for.unwrap() > MS(3_000), "{alone}");
        let missing = vec![id("b1"), id("c1")];
        let few =
            matches!(&alone.findings[0], Finding::FewVoters { missing: m, .. } if *m == missing);
        assert!(few, "{alone}");
        let away = |node: &str| {
            has(&alone, |finding| {
                matches!(finding, Finding::PeerUnlinked { node: n, address: Some(at), error: Some(_), advice: Some(_), since }
                    if n == node && *at == address(node) && *since >= MS(4_900))
            })
        };
        assert!(away("b") && away("c"), "{alone}");
        let peers = a.bridge.peers();
        assert!(
            peers
                .iter()
                .all(|p| p.last_error.is_some() && p.unlinked_for >= Some(MS(4_900)))
        );

        let b = host(&pipes, "b", 2_000, folder);
        until("b1 leads", || a.follows("b1") && b.follows("b1")).await;
        let two = a.agents[0].diagnosis();
        assert_eq!(counted(two.voters), Some((2, 3, 2)), "{two}");
        assert!(!has(&two, |finding| matches!(
            finding,
            Finding::FewVoters { .. }
        )));
        assert_eq!(
            a.bridge.peers()[0].last_error,
            None,
            "an error ends with the link"
        );
    });
}

#[test]
fn a_partition_is_told_by_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| host(&pipes, name, 1_000, folder));
        until("c1 leads", || a.follows("c1") && b.follows("c1")).await;
        pipes.partition("a", "c");
        pipes.partition("b", "c");
        until("b1 leads", || a.follows("b1") && b.follows("b1")).await;
        sleep(MS(5_000)).await;
        let lost = c.agents[0].diagnosis();
        assert_eq!(counted(lost.voters), Some((1, 3, 2)), "{lost}");
        let kept = a.agents[0].diagnosis();
        assert_eq!(counted(kept.voters), Some((2, 3, 2)), "{kept}");
        let above =
            |finding: &Finding| matches!(finding, Finding::Outranked { by, .. } if *by == id("c1"));
        assert!(has(&kept, above), "why b1 leads: {kept}");
    });
}

fn quorum_host(pipes: &Pipes, name: &'static str, folder: &Path, voters: &[&str]) -> Host {
    let peers: Vec<_> = ["a", "b"].into_iter().filter(|n| *n != name).collect();
    let mut host = Host::start(pipes, name, &peers);
    let config = QuorumConfig {
        timings: Timings::lan(),
        ..QuorumConfig::new(voters.iter().map(|name| id(name)))
    };
    host.voter(&format!("{name}1"), 1, folder, config);
    host
}

#[test]
fn a_list_that_was_only_typed_is_told_by_the_host_of_the_older_one_and_by_that_of_the_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let typed = |name: &'static str, other, epoch, voters: &[&str]| {
            let mut host = Host::start(&pipes, name, &[other]);
            let config = QuorumConfig {
                timings: Timings::lan(),
                epoch,
                ..QuorumConfig::new(voters.iter().map(|name| id(name)))
            };
            host.voter(&format!("{name}1"), 1, folder, config);
            host
        };
        let a = typed("a", "b", 4, &["a1", "b1"]);
        let b = typed("b", "a", 5, &["b1", "c1"]);
        until("they meet", || a.is_linked("b") && b.is_linked("a")).await;
        sleep(MS(3_000)).await;
        let [older, newer] = [&a, &b].map(|host| host.agents[0].diagnosis());
        let is_older = |finding: &Finding| matches!(finding, Finding::ListOlder { node, theirs: 5, mine: 4 } if node == "b");
        assert!(has(&older, is_older), "{older}");
        let is_newer = |finding: &Finding| matches!(finding, Finding::OtherListOlder { node, theirs: 4, mine: 5 } if node == "a");
        assert!(has(&newer, is_newer), "{newer}");
        assert!(
            !has(&newer, |f| matches!(f, Finding::ListOlder { .. })),
            "{newer}"
        );
        let is_other = |finding: &Finding| matches!(finding, Finding::OtherListOlder { .. });
        assert!(!has(&older, is_other), "{older}");
        assert_eq!((older.leader, newer.leader), (None, None));
    });
}

#[test]
fn a_refused_configuration_names_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let a = quorum_host(&pipes, "a", folder, &["a1", "b1"]);
        let b = quorum_host(&pipes, "b", folder, &["a1", "b1", "c1"]);
        sleep(MS(3_000)).await;
        for (host, other, [theirs_is, mine_is], all) in [
            (&a, "b", ["3 voters", "2 voters"], 2),
            (&b, "a", ["2 voters", "3 voters"], 3),
        ] {
            let found = host.agents[0].diagnosis();
            let differ = matches!(&found.findings[0], Finding::RulesDiffer { node, theirs, mine }
                if node == other && theirs.contains(theirs_is) && mine.contains(mine_is));
            assert!(differ, "{found}");
            assert_eq!(counted(found.voters), Some((1, all, 2)));
        }
        b.stop().await;
        let folder = tempfile::tempdir().unwrap();
        let b = Host::with(|group| {
            let incarnation = NodeIncarnation(2_000);
            builder(&pipes, "b", &["a"])
                .incarnation(incarnation)
                .carry(group)
        });
        let mut b = b;
        let config = QuorumConfig {
            timings: Timings::lan(),
            ..QuorumConfig::new(["a1", "b1"].map(id))
        };
        b.voter("b1", 1, folder.path(), config);
        until("b1 leads", || a.follows("b1") && b.follows("b1")).await;
        let found = a.agents[0].diagnosis();
        assert!(
            matches!(
                &found.findings[..],
                [Finding::HighestLeads { .. }, Finding::EvenVoters { .. }]
            ),
            "{found}"
        );
    });
}

#[test]
fn a_name_that_two_hosts_give_to_their_agents_is_told_of() {
    play(async {
        let pipes = Pipes::new();
        let mut a = Host::start(&pipes, "a", &["b"]);
        let mut b = Host::start(&pipes, "b", &["a"]);
        pipes.partition("a", "b");
        a.agent("x", 1);
        b.agent("x", 2);
        sleep(MS(1_000)).await;
        pipes.heal("a", "b");
        until("linked", || a.is_linked("b") && b.is_linked("a")).await;
        sleep(MS(1_000)).await;
        let twice = |host: &Host, peer: &str| {
            has(
                &host.agents[0].diagnosis(),
                |finding| matches!(finding, Finding::AgentNameTwice { node, agent } if node == peer && *agent == id("x")),
            )
        };
        assert!(twice(&a, "b") && twice(&b, "a"));
    });
}

#[test]
fn the_older_of_two_processes_of_one_node_name_says_so() {
    play(async {
        let pipes = Pipes::new();
        let mut old = Host::start(&pipes, "a", &["b"]);
        old.agent("a1", 1);
        let mut b = Host::start(&pipes, "b", &["a"]);
        b.agent("b1", 2);
        until("linked", || old.is_linked("b")).await;
        let new = Host::with(|group| {
            RemoteBridge::builder("a")
                .cluster("test")
                .transport(pipes.host("elsewhere"))
                .incarnation(NodeIncarnation(2_000))
                .restart_policy(patient())
                .peer(Peer::new("b", &address("b")))
                .carry(group)
        });
        until("linked", || new.is_linked("b")).await;
        until("it is told", || {
            has(
                &old.agents[0].diagnosis(),
                |finding| matches!(finding, Finding::NodeNameTwice { node, .. } if node == "b"),
            )
        })
        .await;
    });
}

/// What a host's diagnosis says of a peer, once it says all of these parts.
async fn says(what: &str, host: &Host, parts: &[&str]) {
    let told = || host.agents[0].diagnosis().to_string();
    until(what, || parts.iter().all(|part| told().contains(part))).await;
}

#[test]
fn a_peer_of_another_cluster_is_told_at_both_ends() {
    play(async {
        let pipes = Pipes::new();
        let mut a = Host::start(&pipes, "a", &["b"]);
        let mut b = Host::with(|group| builder(&pipes, "b", &["a"]).cluster("other").carry(group));
        a.agent("a1", 1);
        b.agent("b1", 2);
        for host in [&a, &b] {
            let parts = ["another cluster", "give both nodes the same cluster"];
            says("it is of another cluster", host, &parts).await;
        }
    });
}

#[test]
fn a_peer_without_the_group_is_told_with_the_one_that_it_has() {
    play(async {
        let pipes = Pipes::new();
        let mut a = Host::start(&pipes, "a", &["b"]);
        let other = Group::new("gg").unwrap();
        let bridge = builder(&pipes, "b", &["a"]).carry(&other);
        let _bridge = bridge.start().unwrap();
        let agent = BullyAgent::builder("b1").join(&other).start().unwrap();
        a.agent("a1", 1);
        let parts = ["b is linked and has no agent of this group, but of gg"];
        says("b has another group", &a, &parts).await;
        // Both lead, so nothing but this says that they do not know each other.
        assert!(a.agents[0].is_leader() && agent.is_leader());
    });
}

#[test]
fn timings_that_differ_are_told_at_both_ends() {
    play(async {
        let pipes = Pipes::new();
        let [mut a, mut b] =
            [("a", ["b"]), ("b", ["a"])].map(|(name, peers)| Host::start(&pipes, name, &peers));
        a.agent("a1", 1);
        let slow = BullyAgent::builder("b1").score(2);
        b.agents.push(slow.join(&b.group).start().unwrap());
        for (host, node) in [(&a, "b"), (&b, "a")] {
            let other = format!("{node} has other timings");
            let parts = [&*other, "detection after 250ms", "detection after 900ms"];
            says("their timings differ", host, &parts).await;
        }
        until("b1 leads all the same", || {
            a.follows("b1") && b.follows("b1")
        })
        .await;
    });
}
