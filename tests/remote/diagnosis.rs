//! The reasons why a group across hosts has no leader, as each host reports them about the others.

use std::path::Path;

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, Diagnosis, Finding, VoterCount},
    elections::quorum::QuorumConfig,
    protocol::Timings,
    remote::{NodeIncarnation, transport::Pipes},
};

use super::{
    kit::{Host, MS, address, all_follow, are_linked, builder, id, pair, scene, until},
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
    scene(async |pipes, folder| {
        let [a, b, c] = ["a", "b", "c"].map(|name| host(pipes, name, 1_000, folder));
        all_follow(&[&a, &b], "c1").await;
        let well = a.agents[0].diagnosis();
        assert_eq!(counted(well.voters), Some((3, 3, 2)), "{well}");
        let shown = serde_json::to_value(&well).unwrap();
        let echoes = [0, 1].map(|peer| &shown["peers"][peer]["echo_ms"]);
        assert!(echoes.iter().all(|echo| echo.is_number()), "{shown}");

        b.stop().await;
        c.stop().await;
        sleep(MS(5_000)).await;
        let alone = a.agents[0].diagnosis();
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

        let b = host(pipes, "b", 2_000, folder);
        all_follow(&[&a, &b], "b1").await;
        let two = a.agents[0].diagnosis();
        assert_eq!(counted(two.voters), Some((2, 3, 2)), "{two}");
        let error = a.bridge.peers()[0].last_error.clone();
        assert_eq!(error, None, "an error ends with the link");
    });
}

fn config(epoch: u64, voters: &[&str]) -> QuorumConfig {
    QuorumConfig {
        timings: Timings::lan(),
        epoch,
        ..QuorumConfig::new(voters.iter().map(|name| id(name)))
    }
}

/// Starts the hosts `a` and `b`, each with a voter of its configuration.
fn configured(pipes: &Pipes, folder: &Path, config: [QuorumConfig; 2]) -> [Host; 2] {
    let mut hosts = pair(pipes, |bridge| bridge);
    for ((host, name), config) in hosts.iter_mut().zip(["a1", "b1"]).zip(config) {
        host.voter(name, 1, folder, config);
    }
    hosts
}

#[test]
fn a_list_that_was_only_typed_is_told_by_the_host_of_the_older_one_and_by_that_of_the_newer_one() {
    scene(async |pipes, folder| {
        let typed = [config(4, &["a1", "b1"]), config(5, &["b1", "c1"])];
        let [a, b] = configured(pipes, folder, typed);
        are_linked(&a, &b).await;
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
    scene(async |pipes, folder| {
        let lists = [config(0, &["a1", "b1"]), config(0, &["a1", "b1", "c1"])];
        let [a, b] = configured(pipes, folder, lists);
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
        // This process has a store of its own.
        let bridge = builder(pipes, "b", &["a"]).incarnation(NodeIncarnation(2_000));
        let mut b = Host::with(|group| bridge.carry(group));
        let folder = tempfile::tempdir().unwrap();
        b.voter("b1", 1, folder.path(), config(0, &["a1", "b1"]));
        all_follow(&[&a, &b], "b1").await;
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

/// Waits until the diagnosis of a host contains all these parts.
async fn says(what: &str, host: &Host, parts: &[&str]) {
    let told = || host.agents[0].diagnosis().to_string();
    until(what, || parts.iter().all(|part| told().contains(part))).await;
}

#[test]
fn a_peer_without_the_group_is_told_with_the_one_that_it_has() {
    scene(async |pipes, _| {
        let mut a = Host::start(pipes, "a", &["b"]);
        let other = Group::new("gg").unwrap();
        let bridge = builder(pipes, "b", &["a"]).carry(&other);
        let _bridge = bridge.start().unwrap();
        let agent = BullyAgent::builder("b1").join(&other).start().unwrap();
        a.agent("a1", 1);
        let parts = ["b is linked and has no agent of this group, but of gg"];
        says("b has another group", &a, &parts).await;
        // Both agents lead, so only the diagnosis shows that they do not know each other.
        assert!(a.agents[0].is_leader() && agent.is_leader());
    });
}

#[test]
fn timings_that_differ_are_told_at_both_ends() {
    scene(async |pipes, _| {
        let [mut a, mut b] = pair(pipes, |bridge| bridge);
        a.agent("a1", 1);
        let slow = BullyAgent::builder("b1").score(2);
        b.agents.push(slow.join(&b.group).start().unwrap());
        for (host, node) in [(&a, "b"), (&b, "a")] {
            let other = format!("{node} has other timings");
            let parts = [&*other, "detection after 250ms", "detection after 900ms"];
            says("their timings differ", host, &parts).await;
        }
        all_follow(&[&a, &b], "b1").await;
    });
}
