//! What settled means, and what it measures.

use std::time::Duration;

use actix_bully::testkit::cluster::Cluster;

use super::{MS, five, settled, test};

#[test]
fn without_a_starter_the_strict_rules_settle_nothing() {
    test(|| async {
        let cluster = Cluster::builder().agents(3).astra().start().unwrap();
        let refused = cluster.settle().await.unwrap_err();
        let says = "no leader is known at agent-1, agent-2, agent-3; under the ASTRA rules, command `campaign` at one of them";
        assert!(refused.to_string().ends_with(says), "{refused}");
    });
}

#[test]
fn a_timeout_can_be_set_and_time_passes_only_as_long() {
    test(|| async {
        let mut cluster = settled(five().timeout(MS(100))).await;
        cluster.hang("5").await.unwrap();
        let before = cluster.now();
        let refused = cluster.settle().await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the cluster is not settled within 100ms: \
             agent-1, agent-2, agent-3, agent-4 follow agent-5 and cannot hear it"
        );
        assert_eq!(cluster.now().since(before), MS(100));
    });
}

#[test]
fn messages_and_time_are_counted_from_the_last_thing_done() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.crash("5").await.unwrap();
        actix::clock::sleep(MS(500)).await;
        let late = cluster.settle().await.unwrap();
        assert_eq!(
            (late.took, late.messages),
            (MS(1), 3),
            "waiting is not counted"
        );
        cluster.heal();
        let nothing = cluster.settle().await.unwrap();
        assert_eq!((nothing.took, nothing.messages), (Duration::ZERO, 0));
    });
}
