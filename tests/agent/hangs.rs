//! A leader that hangs, in every election: its handle says so, whatever the machine.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use actix::clock;
use actix_bully::{
    agent::{Agent, AgentBuilder, ElectionHandle},
    elections::{
        AnyBully, AnyConfig,
        ballot::{Ballot, BallotConfig},
        invitation::{InvitationConfig, InvitationElection},
        quorum::QuorumConfig,
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    group::Group,
    protocol::Timings,
    store::MemoryStore,
    testkit::{Inject, VirtualClock},
};
use bully_core::{elections::bully::BullyConfig, protocol::Election};

use crate::stage::{MS, id, play};

const NAMES: [&str; 3] = ["x", "y", "z"];

/// A leader hangs for ten minutes; for how long, of the first, its handle says that it leads.
async fn hangs<E: Election>(
    config: E::Config,
    build: impl Fn(AgentBuilder<E>) -> AgentBuilder<E>,
) -> Duration {
    // The leader of the one before hangs still.
    static SCENES: AtomicU32 = AtomicU32::new(0);
    let group = Group::new(&format!("g{}", SCENES.fetch_add(1, Relaxed))).unwrap();
    let agents: Vec<ElectionHandle<E>> = NAMES
        .into_iter()
        .zip([3, 2, 1])
        .map(|(name, score)| {
            let agent = Agent::with_config(name, config.clone()).score(score);
            build(agent).join(&group).start().unwrap()
        })
        .collect();
    agents[1].campaign().unwrap(); // where no agent begins by itself
    while !agents[0].is_leader() {
        clock::sleep(MS(1)).await;
    }
    clock::sleep(Duration::from_secs(5)).await;
    assert!(agents[0].is_leader(), "it is left alone");
    let began = clock::Instant::now();
    let long = clock::sleep(Duration::from_secs(600));
    agents[0].addr().do_send(Inject::hang(long));
    while agents[0].is_leader() && began.elapsed() < Duration::from_secs(60) {
        clock::sleep(MS(1)).await;
    }
    let took = began.elapsed();
    clock::sleep(Duration::from_secs(60)).await;
    let shown = agents[0].current().leading.is_some();
    assert_eq!(agents[0].is_leader(), shown, "one answer");
    took
}

#[test]
fn in_every_election_with_a_detector_a_leader_that_hangs_ends_in_time() {
    play(async {
        let timings = Timings::default();
        let (detection, lease) = (timings.detector().unwrap().detection, timings.lease());
        let bully = BullyConfig::default();
        let quorum = QuorumConfig::new(NAMES.map(id));
        let ballot = BallotConfig::new(NAMES.map(id));
        let two_rounds = ballot.round() * 2;
        let ring = RingConfig::default();
        let reorganization = ReorganizationConfig::default();
        let invitation = InvitationConfig::default();
        let took = [
            (
                "bully",
                hangs::<AnyBully>(AnyConfig::Available(Arc::new(bully)), |agent| agent).await,
                detection,
            ),
            (
                "quorum",
                hangs::<AnyBully>(AnyConfig::Quorum(Arc::new(quorum)), |agent| {
                    agent.store(MemoryStore::new()).clock(VirtualClock::new())
                })
                .await,
                lease,
            ),
            (
                "ballot",
                hangs::<Ballot>(Arc::new(ballot), |agent| agent.store(MemoryStore::new())).await,
                two_rounds,
            ),
            (
                "ring",
                hangs::<Ring>(Arc::new(ring), |agent| agent).await,
                detection,
            ),
            (
                "reorganization",
                hangs::<Reorganization>(Arc::new(reorganization), |agent| {
                    agent.store(MemoryStore::new())
                })
                .await,
                detection,
            ),
            (
                "invitation",
                hangs::<InvitationElection>(Arc::new(invitation), |agent| {
                    agent.store(MemoryStore::new())
                })
                .await,
                detection,
            ),
        ];
        for (election, took, bound) in took {
            assert!(
                took <= bound,
                "{election}: {took:?}, the bound is {bound:?}"
            );
        }
    });
}

/// Between elections nothing is sent, so a leader that is well has no steps either.
#[test]
fn the_strict_profile_has_no_detector_and_ends_with_the_agents_next_step() {
    play(async {
        let astra = AnyConfig::Astra(Arc::default());
        let took = hangs::<AnyBully>(astra, |agent| agent).await;
        assert_eq!(took, Duration::from_secs(60), "all that was looked at");
    });
}
