//! Partitions, cuts, and bad networks.

use std::time::Duration;

use actix_bully::{
    protocol::AgentId,
    testkit::{cluster::ClusterError, faults::Conditions},
};
use bully_sim::trace::{Trace, What};

use super::{MS, five, leaders, leaders_after, plays, refusal, settled, test};

#[test]
fn each_side_of_a_partition_has_a_leader_and_healing_leaves_one() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.partition([["1", "2"]]).unwrap();
        let sides = cluster.settle().await.unwrap();
        assert_eq!(leaders(&sides), ["agent-2", "agent-5"]);
        assert_eq!(sides.leader(), None, "there are two");
        assert_eq!(sides.sides[0].agents.len(), 2);
        assert_eq!(cluster.believers().len(), 2);
        cluster.heal();
        assert_eq!(leaders_after(&cluster).await, "agent-5");

        let twice = cluster.partition([["1", "2"], ["2", "3"]]);
        assert_eq!(
            refusal(twice),
            "agent-2 is named twice: name each agent once"
        );
        assert_eq!(
            leaders_after(&cluster).await,
            "agent-5",
            "nothing was changed"
        );
    });
}

#[test]
fn who_is_isolated_leads_itself() {
    test(|| async {
        let mut cluster = settled(five()).await;
        let steps = [
            ("isolate 5", "agent-4 agent-5"),
            ("heal", "agent-5"),
            ("isolate 5", "agent-4 agent-5"),
            ("cut 5 1; rejoin 5; mend 1 5", "agent-5"),
        ];
        plays(&mut cluster, &steps).await;
        assert!(matches!(
            cluster.rejoin("6"),
            Err(ClusterError::Unknown { .. })
        ));
    });
}

#[test]
fn a_cut_one_way_is_one_way() {
    test(|| async {
        let mut cluster = settled(five()).await;
        assert!(matches!(
            cluster.cut("1", "1"),
            Err(ClusterError::Refused { .. })
        ));
        cluster.cut_one_way("1", "5").unwrap();
        let unheard = cluster.settle().await.unwrap();
        assert_eq!((leaders(&unheard), unheard.messages), (vec!["agent-5"], 0));
        cluster.heal();
        cluster.cut_one_way("5", "1").unwrap();
        let Err(ClusterError::NotSettled { waited, obstacle }) = cluster.settle().await else {
            panic!("one never hears the other");
        };
        assert!(waited > MS(5_000), "{waited:?}");
        assert!(obstacle.starts_with("no agreement among "), "{obstacle}");
        let believers = cluster.believers();
        let believers: Vec<_> = believers.iter().map(AgentId::as_str).collect();
        assert_eq!(
            believers,
            ["agent-1", "agent-5"],
            "one never hears the other"
        );
        cluster.heal();
        assert_eq!(leaders_after(&cluster).await, "agent-5");
    });
}

#[test]
fn a_cut_between_followers_changes_nothing() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.cut("1", "2").unwrap();
        let nothing = cluster.settle().await.unwrap();
        assert_eq!((nothing.took, nothing.messages), (Duration::ZERO, 0));
        assert_eq!(
            nothing.sides.len(),
            1,
            "they reach each other by the others"
        );
    });
}

#[test]
fn messages_of_one_pair_stay_in_order_on_the_grid() {
    test(|| async {
        let bad = Conditions::builder()
            .delay(MS(0)..=MS(30))
            .loss(100)
            .duplication(300);
        let trace = Trace::new().with_deliveries().with_repeated();
        let mut cluster = settled(five().network(bad.build().unwrap()).trace(trace)).await;
        for name in ["5", "4", "5"] {
            cluster.crash(name).await.unwrap();
            cluster.settle().await.unwrap();
            cluster.restart(name).unwrap();
            cluster.settle().await.unwrap();
        }
        let trace = cluster.trace();
        let mut seen = std::collections::BTreeMap::new();
        let mut arrivals = 0;
        for entry in trace.entries() {
            let What::Sent { message, arrives } = &entry.what else {
                continue;
            };
            for at in arrives {
                arrivals += 1;
                assert_eq!(at.as_nanos() % 1_000_000, 0, "whole milliseconds");
                let last = seen.insert((message.from.clone(), message.to.clone()), *at);
                assert!(last <= Some(*at), "{message:?} overtakes");
            }
        }
        assert!(arrivals > 30, "{arrivals}");
    });
}

#[test]
fn the_network_can_be_as_bad_as_is_wanted() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.with_network(|network| network.ignore("elected"));
        cluster.crash("5").await.unwrap();
        assert_eq!(
            leaders_after(&cluster).await,
            "agent-4",
            "the heartbeat tells as well"
        );
        let lost = cluster.trace().count_of("elected").lost;
        assert!(lost >= 3, "{lost}");
    });
}
