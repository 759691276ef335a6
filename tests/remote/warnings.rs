//! What a bridge warns of in the log: strangers when it starts, two leaders when it reaches others.

use std::{future::Future, io, sync::Arc};

use actix_bully::{
    agent::{Agent, AgentBuilder, BullyAgent},
    elections::{
        ballot::{Ballot, BallotConfig},
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    group::Group,
    remote::{
        BridgeBuilder, Challenge, Closed, Credential, Proof, RemoteMessage, transport::Pipes,
    },
};
use bully_core::protocol::Election;

use super::{
    elections::store,
    kit::{Host, MS, builder, id, play, until},
    logging,
};

/// Some kind of proof.
#[derive(Debug)]
struct Password;

impl Credential for Password {
    fn challenge(&self) -> io::Result<Challenge> {
        Ok(Challenge([1; 32]))
    }

    fn prove(&self, _: &[u8]) -> Vec<Proof> {
        vec![Proof([2; 32])]
    }

    fn accepts(&self, _: &[u8], proofs: &[Proof]) -> bool {
        proofs == [Proof([2; 32])]
    }
}

/// Plays a scene, and collects the warnings with these words in them.
pub(crate) fn warnings(words: &str, scene: impl Future<Output = ()>) -> Vec<String> {
    logging::logged(tracing::Level::WARN, |lines| {
        play(scene);
        lines.about(words)
    })
}

/// The warnings about strangers at the start of a bridge.
fn of_strangers(set: impl FnOnce(BridgeBuilder) -> BridgeBuilder) -> Vec<String> {
    warnings("do not prove their names", async {
        let pipes = Pipes::new();
        drop(Host::with(|group| {
            set(builder(&pipes, "a", &["b"])).carry(group)
        }));
    })
}

/// What each of three hosts says when their agents know of each other.
fn of_two_leaders<E>(agent: impl Fn(&str) -> AgentBuilder<E>) -> Vec<String>
where
    E: Election<Message: RemoteMessage>,
{
    warnings("group reaches other hosts", async {
        let pipes = Pipes::new();
        let mut hosts = Vec::new();
        for name in HOSTS {
            let group = Group::new("g").unwrap();
            let peers = HOSTS.into_iter().filter(|peer| *peer != name);
            let peers: Vec<&str> = peers.collect();
            let bridge = builder(&pipes, name, &peers).carry(&group).start().unwrap();
            let agent = agent(name).join(&group).start().unwrap();
            hosts.push((group, bridge, agent));
        }
        until("all know of each other", || {
            let mut members = hosts.iter().map(|(group, ..)| group.members().len());
            members.all(|members| members == HOSTS.len())
        })
        .await;
    })
}

const HOSTS: [&str; 3] = ["a", "b", "c"];

/// Each host says it once, however many links it has, and says what it is about.
#[track_caller]
fn assert_warns(said: &[String], why: &str) {
    assert_eq!(said.len(), HOSTS.len(), "{said:#?}");
    for line in said {
        for words in ["WARN", "group=\"g\"", why, ".quorum("] {
            assert!(line.contains(words), "{words}: {line}");
        }
    }
}

const PER_SIDE: &str = "each side of a partition elects a leader";

#[test]
fn a_bridge_whose_peers_prove_nothing_says_so_in_one_line() {
    let said = of_strangers(|builder| builder);
    assert_eq!(said.len(), 1, "{said:?}");
    for word in ["WARN", "node=a", ".secret(", ".tls("] {
        assert!(said[0].contains(word), "{said:?}");
    }
    assert!(of_strangers(|builder| builder.credential(Password)).is_empty());
}

#[test]
fn a_bully_that_reaches_other_hosts_warns_of_two_leaders() {
    assert_warns(&of_two_leaders(BullyAgent::builder), PER_SIDE);
}

#[test]
fn a_strict_bully_that_reaches_other_hosts_warns_of_two_leaders() {
    let said = of_two_leaders(|name| BullyAgent::builder(name).astra());
    assert_warns(&said, PER_SIDE);
}

#[test]
fn a_ring_that_reaches_other_hosts_warns_of_two_leaders() {
    let config = Arc::new(RingConfig::default());
    let said = of_two_leaders(|name| Agent::<Ring>::with_config(name, Arc::clone(&config)));
    assert_warns(&said, PER_SIDE);
}

#[test]
fn a_reorganization_that_reaches_other_hosts_warns_of_two_leaders() {
    let folder = tempfile::tempdir().unwrap();
    let config = Arc::new(ReorganizationConfig::default());
    let said = of_two_leaders(|name| {
        let agent = Agent::<Reorganization>::with_config(name, Arc::clone(&config));
        agent.store(store(folder.path(), name))
    });
    assert_warns(&said, PER_SIDE);
}

#[test]
fn invitations_that_reach_other_hosts_warn_of_two_leaders() {
    let folder = tempfile::tempdir().unwrap();
    let config = Arc::new(InvitationConfig::default());
    let said = of_two_leaders(|name| {
        let agent = Agent::<InvitationElection>::with_config(name, Arc::clone(&config));
        agent.store(store(folder.path(), name))
    });
    assert_warns(&said, PER_SIDE);
}

/// A minority has no leader in the end, but until then it may have one, and nothing is said of when.
#[test]
fn ballots_that_reach_other_hosts_warn_of_two_leaders() {
    let folder = tempfile::tempdir().unwrap();
    let config = Arc::new(BallotConfig::new(HOSTS.map(id)));
    let said = of_two_leaders(|name| {
        let agent = Agent::<Ballot>::with_config(name, Arc::clone(&config));
        agent.store(store(folder.path(), name))
    });
    assert_warns(&said, "two of its agents may lead at once");
}

#[test]
fn a_quorum_that_reaches_other_hosts_warns_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let said = of_two_leaders(|name| {
        let agent = BullyAgent::builder(name).quorum(HOSTS);
        agent.store(store(folder.path(), name))
    });
    assert!(said.is_empty(), "{said:#?}");
}

#[test]
fn an_ordinary_stop_and_a_link_that_replaces_another_are_no_warnings() {
    let told = warnings("link ", async {
        let pipes = Pipes::new();
        // Both dial, so that one of two links replaces the other.
        let a = Host::start(&pipes, "a", &["b"]);
        let b = Host::start(&pipes, "b", &["a"]);
        until("they are linked", || a.is_linked("b") && b.is_linked("a")).await;
        b.bridge.drain(MS(1_000)).await.unwrap();
        until("b has said goodbye", || !a.is_linked("b")).await;
    });
    assert_eq!(told, Vec::<String>::new());
}

#[test]
fn a_link_that_is_refused_is_warned_of_with_what_to_do() {
    let told = warnings("link refused", async {
        let pipes = Pipes::new();
        let a = Host::start(&pipes, "a", &["b"]);
        let other = builder(&pipes, "b", &["a"]).cluster("other");
        let b = Host::with(|group| other.carry(group));
        until("both have refused", || {
            let refused = |host: &Host| host.bridge.counters().closed(Closed::Cluster) > 0;
            refused(&a) && refused(&b)
        })
        .await;
    });
    let advice = "give both nodes the same cluster";
    assert!(told.len() >= 2, "{told:?}");
    assert!(told.iter().all(|line| line.contains(advice)), "{told:?}");
}
