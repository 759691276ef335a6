//! An agent's handle changes the voters of a group, across hosts that do not all know each other.

use std::{path::Path, sync::Arc, time::Duration};

use actix::clock::Instant;
use actix_bully::{
    agent::{BullyAgent, BullyHandle, VotersError},
    elections::quorum::QuorumConfig,
    protocol::{ChangeError, Contact, NewVoter},
    remote::{MayBe, NodeIncarnation, Peer, Rights, transport::Pipes},
    testkit::VirtualClock,
};

use super::{
    kit::{Host, address, builder, id, others, scene, until},
    voters::{all_follow_alone, believer, of_epoch},
};

const LIMIT: Duration = Duration::from_secs(30);

/// Starts a host whose agent is a learner, unless its list or a decreed list names the agent.
fn host(pipes: &Pipes, name: &str, peers: &[&str], incarnation: u64, folder: &Path) -> Host {
    let bridge = builder(pipes, name, peers).incarnation(NodeIncarnation(incarnation));
    let config = QuorumConfig {
        learner: true,
        ..of_epoch(0)
    };
    Host::of_voter(bridge, folder, config)
}

/// Starts three hosts that follow `c1`, and a fourth host with a learner. The fourth host knows the three hosts, and
/// none of them knows the fourth.
async fn four(pipes: &Pipes, folder: &Path) -> [Host; 4] {
    let [a, b, c] = ["a", "b", "c"].map(|name| host(pipes, name, &others(name), 1_000, folder));
    all_follow_alone(&[&a, &b, &c], "c1").await;
    let d = host(pipes, "d", &["a", "b", "c"], 1_000, folder);
    [a, b, c, d]
}

fn at(name: &str) -> NewVoter {
    let contact = Contact {
        node: name.to_owned(),
        address: address(name),
    };
    NewVoter {
        id: id(&format!("{name}1")),
        contact: Some(contact),
    }
}

fn agent(host: &Host) -> &BullyHandle {
    &host.agents[0]
}

/// Waits until all hosts have this list and follow one leader.
async fn settled(hosts: &[&Host], epoch: u64, names: &[&str]) {
    let names: Vec<_> = names.iter().map(|name| id(name)).collect();
    let knows = |host: &&Host| {
        let voters = agent(host).voters().unwrap();
        voters.epoch == epoch && *voters.ids == *names
    };
    let is_settled = || {
        let leader = believer(hosts);
        leader.is_some_and(|leader| {
            hosts
                .iter()
                .all(|host| knows(host) && host.follows(&leader))
        })
    };
    until("one list and one leader", is_settled).await;
}

#[test]
fn a_voter_on_a_host_that_nobody_knows_is_added_by_its_contact_at_any_agent() {
    scene(async |pipes, folder| {
        let [a, b, c, d] = four(pipes, folder).await;
        assert!(!a.is_linked("d") && !b.is_linked("d") && !c.is_linked("d"));
        let changed = agent(&a).add_voter(at("d"), LIMIT).await.unwrap();
        assert_eq!((changed.epoch, changed.already), (1, false));
        settled(&[&a, &b, &c, &d], 1, &["a1", "b1", "c1", "d1"]).await;
        until("linked by decree", || a.is_linked("d") && b.is_linked("d")).await;
        let again = agent(&b).add_voter(at("d"), LIMIT).await.unwrap();
        assert!(again.already);
    });
}

#[test]
fn a_voter_that_is_not_there_is_refused_when_the_time_is_over_and_at_once_without_a_contact() {
    scene(async |pipes, folder| {
        let [a, b, c, d] = four(pipes, folder).await;
        let (absent, within) = (at("e"), Duration::from_millis(4_200));
        let started = Instant::now();
        let refused = agent(&b).add_voter(absent.clone(), within).await;
        let not_seen = Err(VotersError::Refused(ChangeError::NotSeen {
            id: absent.id.clone(),
        }));
        assert_eq!(refused, not_seen);
        assert!(started.elapsed() >= within);
        let looks = |of: &Host| {
            of.bridge
                .peers()
                .iter()
                .any(|peer| peer.node.as_str() == "e")
        };
        assert!(looks(&c));
        assert_eq!(
            a.bridge.peers().len(),
            2,
            "the leader's host alone looks for it"
        );

        let unknown = NewVoter {
            contact: None,
            ..absent
        };
        assert_eq!(agent(&b).add_voter(unknown, LIMIT).await, not_seen);
        assert!(started.elapsed() < LIMIT);
        agent(&b).add_voter(at("d"), LIMIT).await.unwrap();
        settled(&[&a, &b, &c, &d], 1, &["a1", "b1", "c1", "d1"]).await;
        assert!(!looks(&c));
    });
}

#[test]
fn an_observer_may_ask_for_a_change_of_the_voters_if_the_agents_of_its_host_may_vote() {
    for (e_may_be, changed) in [
        (MayBe::Observer, Err(ChangeError::NotAllowed)),
        (MayBe::Voter, Ok(1)),
    ] {
        scene(async |pipes, folder| {
            let hosts = ["a", "b", "c"].map(|name| {
                let rights = Rights::none().grant("g", "e*", e_may_be);
                let e = Peer::new("e", &address("e")).allow(rights);
                let bridge = builder(pipes, name, &others(name)).peer(e);
                Host::of_voter(bridge, folder, of_epoch(0))
            });
            let e = Host::start(pipes, "e", &["a", "b", "c"]);
            let observer = BullyAgent::builder("e1").quorum_config(Arc::new(of_epoch(0)));
            let observer = observer
                .observer()
                .clock(VirtualClock::new())
                .join(&e.group);
            let observer = observer.start().unwrap();
            until("it observes", || observer.leader().is_some()).await;
            let answer = observer.remove_voter(id("a1"), LIMIT).await;
            let expected = changed.clone().map_err(VotersError::Refused);
            assert_eq!(answer.map(|changed| changed.epoch), expected);
            let knows =
                |agent: &BullyHandle| agent.voters().unwrap().epoch == changed.clone().unwrap_or(0);
            until("all know", || {
                knows(&observer) && hosts.iter().all(|host| knows(agent(host)))
            })
            .await;
            for host in &hosts {
                let closed = host.bridge.counters().get("role");
                assert_eq!(
                    (closed, host.is_linked("e")),
                    (Some(0), true),
                    "{e_may_be:?}"
                );
            }
        });
    }
}
