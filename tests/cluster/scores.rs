//! Scores, hand-overs and elections on demand.

use actix_bully::elections::bully::Preemption;

use super::{five, leaders_after, refusal, settled, test};

#[test]
fn scores_and_hand_overs() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.set_score("2", 50).unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-2");
        cluster.withdraw_score("2").unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-5");
        assert_eq!(cluster.status().agents()[1].score, None);
        cluster.step_down("5", None).unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-4");
        assert_eq!(
            refusal(cluster.step_down("5", None)),
            "agent-5 does not lead: command an agent that considers itself leader (agent-4)"
        );
        cluster.campaign("5").unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-5", "it is told to");
    });
}

#[test]
fn a_successor_can_be_named() {
    test(|| async {
        let mut cluster = settled(five().preemption(Preemption::Never)).await;
        cluster.step_down("5", Some("3")).unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-3");
    });
}

#[test]
fn a_score_set_while_down_counts_in_the_next_incarnation() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.crash("1").await.unwrap();
        cluster.set_score("1", 9).unwrap();
        cluster.restart("1").unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-1");
    });
}
