//! `Agent<Ballot>` on a System in virtual time: what its start needs, and which messages it drops.

use std::sync::Arc;

use actix_bully::{
    agent::{Agent, StartError},
    elections::ballot::{Ballot, BallotConfig},
    group::Group,
    protocol::Timings,
    store::MemoryStore,
    testkit::cluster::Cluster,
};
use bully_classics::ballot::{BallotNumber, Resign};
use bully_core::protocol::MembershipError;

use crate::ballot::{common::virtual_system, kit::id, strangers};

const VOTERS: [&str; 3] = ["a", "b", "c"];

fn rules() -> Arc<BallotConfig> {
    let config = BallotConfig {
        timings: Timings::lan(),
        ..BallotConfig::new(VOTERS.map(id))
    };
    Arc::new(config)
}

#[test]
fn what_it_needs_is_asked_for() {
    virtual_system().block_on(async {
        let group = Group::new("ballots").unwrap();
        let builder = |name: &str| Agent::<Ballot>::with_config(name, rules()).join(&group);
        let forgetful = builder("a").start().unwrap_err();
        assert!(matches!(forgetful, StartError::NoStore));
        let stranger = builder("x").store(MemoryStore::new()).start().unwrap_err();
        let unlisted = matches!(
            stranger,
            StartError::Membership(MembershipError::NotListed { .. })
        );
        assert!(unlisted);
        assert!(group.members().is_empty(), "a refusal changes nothing");
    });
}

#[test]
fn s27_messages_of_strangers_and_former_incarnations_are_counted_and_dropped() {
    virtual_system().block_on(async {
        let names = (1..=5).map(strangers::id);
        let config = BallotConfig {
            timings: Timings::lan(),
            ..BallotConfig::new(names)
        };
        let builder = Cluster::<Ballot>::with_config(Arc::new(config));
        let mut cluster = builder.agents(5).needs_voters(3).start().unwrap();
        let resign = || {
            let ballot = BallotNumber {
                n: 1,
                score: 5.into(),
                id: strangers::id(5),
            };
            let successor = None;
            Resign { ballot, successor }.into()
        };
        strangers::are_dropped(&mut cluster, resign).await;
    });
}
