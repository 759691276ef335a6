//! Whatever a cluster can do, it can do to the elections of the literature: commands, and who leads after each.

use std::sync::Arc;

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    protocol::{LostReason, Timings},
    testkit::{
        cluster::{Cluster, ClusterBuilder},
        faults::Conditions,
    },
};
use bully_core::protocol::Election;

use super::{MS, plays, test};

/// Five agents, one that only follows, and a voter that never leads.
fn five_by<E: Election>(config: E::Config) -> ClusterBuilder<E> {
    let network = Conditions::builder().delay(MS(1)..=MS(9)).build().unwrap();
    let builder = Cluster::with_config(config).agents(5).observer("eye");
    builder.witness("judge").network(network).seed(7)
}

#[test]
fn a_ring_has_a_leader_on_each_side_of_a_partition() {
    test(|| async {
        let config = Arc::new(RingConfig::default());
        let mut cluster = five_by::<Ring>(config).start().unwrap();
        let steps = [
            ("", "agent-5"),
            ("crash 5", "agent-4"),
            ("restart 5", "agent-5"),
            ("partition 1 2", "agent-2 agent-5"),
            ("heal", "agent-5"),
            ("step-down 5", "agent-4"),
        ];
        plays(&mut cluster, &steps).await;
    });
}

#[test]
fn the_leader_of_a_ballot_is_sticky_and_the_majority_alone_has_one() {
    test(|| async {
        let config = BallotConfig {
            timings: Timings::lan(),
            ..BallotConfig::new((1..=5).map(|n| format!("agent-{n}").parse().unwrap()))
        };
        let builder = Cluster::<Ballot>::with_config(Arc::new(config)).agents(5);
        let builder = builder.observer("eye").needs_voters(3);
        let mut cluster = builder.start().unwrap();
        let steps = [
            ("", "agent-5"),
            ("crash 5", "agent-4"),
            ("restart 5; wait 500ms", "agent-4"),
            ("hang 4", "agent-5"),
            ("resume 4", "agent-5"),
            ("partition 4 5", "agent-3"),
            ("heal", "agent-3"),
        ];
        plays(&mut cluster, &steps).await;
    });
}

#[test]
fn a_reorganization_puts_all_in_order_again_when_an_agent_recovers() {
    test(|| async {
        let config = Arc::new(ReorganizationConfig::new(Timings::lan()));
        let mut cluster = five_by::<Reorganization>(config).start().unwrap();
        let steps = [
            ("", "agent-5"),
            ("crash 5", "agent-4"),
            ("restart 5", "agent-5"),
            ("partition 1 2", "agent-2 agent-5"),
            ("heal", "agent-5"),
            ("step-down 5 4", "agent-4"),
        ];
        plays(&mut cluster, &steps).await;
        let text = cluster.trace().to_text();
        let reason = LostReason::Reorganized.to_string();
        assert!(text.contains(&reason), "a recovery reorganizes all");
    });
}

#[test]
fn invited_groups_are_merged_after_a_partition() {
    test(|| async {
        let config = Arc::new(InvitationConfig::new(Timings::lan()));
        let mut cluster = five_by::<InvitationElection>(config).start().unwrap();
        let steps = [
            ("", "agent-5"),
            ("crash 5", "agent-4"),
            ("restart 5", "agent-5"),
            ("partition 1 2; wait 2s", "agent-2 agent-5"),
            ("heal", "agent-5"),
        ];
        plays(&mut cluster, &steps).await;
    });
}
