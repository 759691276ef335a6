//! Tests of agents around one register, which is cut off, crashes and comes back. At no instant two agents lead.

use actix::clock;
use actix_bully::{
    protocol::Timings,
    testkit::{
        cluster::{Cluster, ClusterBuilder, ClusterError},
        faults::Conditions,
    },
};
use bully_core::elections::lease::Simulated;

use super::{MS, leaders_after, plays, test};

fn three() -> ClusterBuilder<Simulated> {
    Cluster::around_register(|rules| rules.timings = Timings::lan())
        .agents(3)
        .network(Conditions::delayed(MS(1)))
}

#[test]
fn without_the_register_nobody_leads_and_with_it_somebody_does_again() {
    test(|| async {
        let mut cluster = three().start().unwrap();
        plays(&mut cluster, &[("", "agent-3"), ("isolate register", "")]).await;
        cluster.heal();
        assert!(!leaders_after(&cluster).await.is_empty());
    });
}

#[test]
fn a_leader_that_loses_the_register_is_followed_by_one_that_reaches_it_and_never_joined() {
    test(|| async {
        let mut cluster = three().start().unwrap();
        cluster.settle().await.unwrap();
        // The agents still reach each other, but the messages between them do not affect the lease.
        cluster.cut("agent-3", "register").unwrap();
        for _ in 0..2_000 {
            clock::sleep(MS(1)).await;
            let believers = cluster.believers();
            assert!(believers.len() <= 1, "{believers:?}");
        }
        let settled = cluster.settle().await.unwrap();
        assert_eq!(settled.leader().unwrap(), "agent-2");
        assert_eq!(cluster.handle("agent-3").unwrap().leader(), None);
    });
}

#[test]
fn a_register_that_crashes_keeps_what_it_held() {
    test(|| async {
        let mut cluster = three().start().unwrap();
        cluster.settle().await.unwrap();
        let before = cluster.handle("agent-1").unwrap().leader().unwrap();
        plays(&mut cluster, &[("crash register", "")]).await;
        cluster.restart("register").unwrap();
        assert!(!leaders_after(&cluster).await.is_empty());
        let after = cluster.handle("agent-1").unwrap().leader().unwrap();
        assert!(after.term > before.term, "{after:?} after {before:?}");
    });
}

#[test]
fn rules_that_do_not_fit_are_refused() {
    test(|| async {
        let cluster = Cluster::around_register(|rules| rules.poll = Some(MS(1)));
        let refused = cluster.agents(3).start().unwrap_err();
        assert!(matches!(refused, ClusterError::Start { .. }), "{refused}");
    });
}
