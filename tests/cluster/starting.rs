//! How a cluster starts, and which agent leads at first.

use actix_bully::{
    protocol::Term,
    testkit::cluster::{Cluster, ClusterError},
};

use super::{MS, five, leaders, leaders_after, refusal, settled, test};

#[test]
fn the_highest_in_rank_leads_and_all_others_follow() {
    test(|| async {
        let cluster = five().start().unwrap();
        let settled = cluster.settle().await.unwrap();
        assert_eq!(settled.leader().unwrap(), &"agent-5");
        assert_eq!((settled.took, settled.messages), (MS(1), 4));
        let [side] = settled.sides.as_slice() else {
            panic!("{settled:?}")
        };
        assert_eq!((side.agents.len(), side.term), (5, Term(1)));
        assert_eq!(
            cluster.believers(),
            settled.leaders().cloned().collect::<Vec<_>>()
        );
        assert_eq!(cluster.handle("1").unwrap().leader().unwrap().id, "agent-5");
        assert!(cluster.handle("agent-5").unwrap().is_leader());
        assert_eq!(
            settled.to_string(),
            "settled: agent-5 leads; 1ms, 4 messages"
        );
    });
}

#[test]
fn a_cluster_needs_agents_with_names_of_their_own() {
    test(|| async {
        assert!(refusal(Cluster::builder().start()).starts_with("a cluster needs an agent"));
        assert_eq!(
            refusal(Cluster::builder().agents(2).witness("agent-2").start()),
            "agent-2 is the name of an agent already: choose another name"
        );
        let wrong = Cluster::builder().agent("a b", 1).start().unwrap_err();
        assert!(matches!(wrong, ClusterError::Start { ref name, .. } if name == "a b"));
    });
}

#[test]
fn a_cluster_needs_a_system() {
    let wrong = Cluster::builder().agents(1).start().unwrap_err();
    let cause = std::error::Error::source(&wrong).expect("outside of a System");
    assert!(cause.to_string().contains("System"), "{cause}");
}

#[test]
fn one_alone_leads_itself() {
    test(|| async {
        let cluster = Cluster::builder().agent("only", 1).start().unwrap();
        let settled = cluster.settle().await.unwrap();
        assert_eq!((leaders(&settled), settled.messages), (vec!["only"], 0));
    });
}

#[test]
fn observers_and_witnesses_follow_and_never_lead() {
    test(|| async {
        let builder = Cluster::builder()
            .agent("a", 1)
            .witness("z-witness")
            .observer("z-observer");
        let mut cluster = settled(builder).await;
        assert_eq!(
            cluster.handle("z-observer").unwrap().leader().unwrap().id,
            "a"
        );
        assert_eq!(
            cluster.handle("z-witness").unwrap().leader().unwrap().id,
            "a"
        );
        cluster.crash("a").await.unwrap();
        let settled = cluster.settle().await.unwrap();
        assert_eq!((leaders(&settled), settled.sides.len()), (vec![], 1));
        assert_eq!(
            settled.to_string(),
            "settled: no agent leads; 0ns, 0 messages"
        );
        cluster.set_score("z-witness", 1).unwrap();
        assert_eq!(leaders_after(&cluster).await, "z-witness");
        for command in ["join-observer y", "join x none"] {
            cluster.apply(&command.parse().unwrap()).await.unwrap();
        }
        assert_eq!(leaders_after(&cluster).await, "z-witness");
    });
}
