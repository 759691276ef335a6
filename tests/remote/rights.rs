//! The requests that a host may make across hosts if its agents only observe.

use std::{path::Path, sync::Arc};

use actix_bully::{
    agent::{BullyAgent, BullyHandle, VotersError},
    elections::quorum::QuorumConfig,
    protocol::{ChangeError, Timings},
    remote::{MayBe, Peer, Rights, transport::Pipes},
    testkit::VirtualClock,
};

use super::kit::{Host, MS, address, builder, id, others, scene, until};

const VOTERS: [&str; 3] = ["a1", "b1", "c1"];
const HOSTS: [&str; 3] = ["a", "b", "c"];

fn config() -> QuorumConfig {
    QuorumConfig {
        timings: Timings::lan(),
        ..QuorumConfig::new(VOTERS.map(id))
    }
}

/// Starts a host with one voter. The host allows the agents of the node `e` to have the role `e` at most.
fn voter(pipes: &Pipes, name: &'static str, folder: &Path, e: MayBe) -> Host {
    let rights = Rights::none().grant("g", "e*", e);
    let peer = Peer::new("e", &address("e")).allow(rights);
    let bridge = builder(pipes, name, &others(name)).peer(peer);
    Host::of_voter(bridge, folder, config())
}

/// Starts a host whose agent has no store and no vote.
fn observer(pipes: &Pipes) -> (Host, BullyHandle) {
    let host = Host::start(pipes, "e", &HOSTS);
    let agent = BullyAgent::builder("e1")
        .quorum_config(Arc::new(config()))
        .observer()
        .clock(VirtualClock::new())
        .join(&host.group)
        .start()
        .unwrap();
    (host, agent)
}

#[test]
fn an_observer_may_ask_for_a_change_of_the_voters_if_the_agents_of_its_host_may_vote() {
    for (e_may_be, changed) in [
        (MayBe::Observer, Err(ChangeError::NotAllowed)),
        (MayBe::Voter, Ok(1)),
    ] {
        scene(async |pipes, folder| {
            let hosts = HOSTS.map(|name| voter(pipes, name, folder, e_may_be));
            let (e, agent) = observer(pipes);
            until("it observes", || agent.leader().is_some()).await;
            let answer = agent.remove_voter(id("a1"), MS(5_000)).await;
            let epoch = answer.map(|changed| changed.epoch);
            let expected = changed.clone().map_err(VotersError::Refused);
            assert_eq!(epoch, expected, "{e_may_be:?}");
            let epoch = changed.unwrap_or(0);
            let knows = |agent: &BullyHandle| agent.voters().is_some_and(|now| now.epoch == epoch);
            until(&format!("{e_may_be:?}: all know"), || {
                knows(&agent) && hosts.iter().flat_map(|host| &host.agents).all(knows)
            })
            .await;
            for (host, name) in hosts.iter().zip(HOSTS) {
                let closed = host.bridge.counters().get("role").unwrap();
                assert_eq!((closed, e.is_linked(name)), (0, true), "{e_may_be:?}");
            }
        });
    }
}
