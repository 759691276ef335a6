//! An agent's handle changes the voters of a group, across hosts that do not all know each other.

use std::{cell::Cell, path::Path, time::Duration};

use actix::clock::{Instant, sleep};
use actix_bully::{
    agent::{BullyHandle, VotersError},
    elections::quorum::QuorumConfig,
    protocol::{ChangeError, Contact, NewVoter, Timings},
    remote::{BridgeBuilder, NodeIncarnation, transport::Pipes},
};

use super::{
    far::Distance,
    kit::{Host, MS, address, builder, id, others, scene, until},
    voters::{all_follow_alone, believer, of_epoch},
};

const LIMIT: Duration = Duration::from_secs(30);

/// Starts a host whose agent is a learner, unless its list or a decreed list names the agent.
fn host(pipes: &Pipes, name: &str, peers: &[&str], incarnation: u64, folder: &Path) -> Host {
    let bridge = builder(pipes, name, peers).incarnation(NodeIncarnation(incarnation));
    learner(bridge, folder)
}

fn learner(bridge: BridgeBuilder, folder: &Path) -> Host {
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

/// No voter is dead, so the next leader waits for no promise. A change then costs less time than an election after a
/// silent end, even if messages are as slow as the timings allow.
#[test]
fn no_agent_leads_for_less_than_an_election_while_the_voters_change() {
    let folder = tempfile::tempdir().unwrap();
    scene(async |pipes, _| {
        let distance = Distance::default();
        distance.set(Timings::lan().delay_bound());
        let hosts = ["a", "b", "c"].map(|name| {
            let bridge = builder(pipes, name, &others(name));
            let bridge = bridge.transport(distance.host(pipes, name));
            learner(bridge, folder.path())
        });
        let [a, b, c] = &hosts;
        settled(&[a, b, c], 0, &["a1", "b1", "c1"]).await;
        let changed = agent(a).remove_voter(id("c1"), LIMIT);
        let made = async {
            changed.await.unwrap();
            settled(&[a, b, c], 1, &["a1", "b1"]).await;
        };
        let is_made = Cell::new(false);
        let watch = async {
            let (mut began, mut longest) = (Instant::now(), Duration::ZERO);
            while !is_made.get() {
                sleep(MS(1)).await;
                if believer(&[a, b, c]).is_some() {
                    began = Instant::now();
                }
                longest = longest.max(began.elapsed());
            }
            longest
        };
        let note = async {
            made.await;
            is_made.set(true);
        };
        let ((), longest) = futures::future::join(note, watch).await;
        let election = Timings::lan().worst_case_quorum_failover(0);
        assert!(longest > MS(1), "the leadership ended: {longest:?}");
        assert!(longest < election, "{longest:?} of {election:?}");
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
        assert!(
            c.bridge
                .peers()
                .iter()
                .any(|peer| peer.node.as_str() == "e")
        );
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
        assert!(
            c.bridge
                .peers()
                .iter()
                .all(|peer| peer.node.as_str() != "e")
        );
    });
}
