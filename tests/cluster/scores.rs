//! Scores, hand-overs and elections on demand.

use actix_bully::elections::bully::Preemption;

use super::{five, plays, refusal, settled, test};

#[test]
fn scores_and_hand_overs() {
    test(|| async {
        let mut cluster = settled(five()).await;
        let steps = [
            ("score 2 50", "agent-2"),
            ("score 2 none", "agent-5"),
            ("step-down 5", "agent-4"),
        ];
        plays(&mut cluster, &steps).await;
        assert_eq!(cluster.status().agents()[1].score, None);
        assert_eq!(
            refusal(cluster.step_down("5", None)),
            "agent-5 does not lead: command an agent that considers itself leader (agent-4)"
        );
        plays(&mut cluster, &[("campaign 5", "agent-5")]).await;
        // A score that is set while an agent is down counts in its next incarnation.
        plays(
            &mut cluster,
            &[("crash 1; score 1 9; restart 1", "agent-1")],
        )
        .await;
        let mut sticky = settled(five().preemption(Preemption::Never)).await;
        plays(&mut sticky, &[("step-down 5 3", "agent-3")]).await; // it is named
    });
}
