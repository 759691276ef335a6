//! Crashes, stops, hangs, restarts and supervision.

use actix_bully::{
    elections::bully::Preemption,
    supervisor::RestartPolicy,
    testkit::cluster::{Cluster, ClusterError, Condition},
};

use super::{MS, five, leaders, leaders_after, plays, refusal, settled, test};

#[test]
fn a_crashed_leader_is_followed_by_the_next_and_leads_again_after_a_restart() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.crash("agent-5").await.unwrap();
        let next = cluster.settle().await.unwrap();
        assert_eq!(
            (leaders(&next), next.took, next.messages),
            (vec!["agent-4"], MS(1), 3)
        );
        let steps = [("restart 5", "agent-5"), ("crash 4 5", "agent-3")];
        plays(&mut cluster, &steps).await;
        assert_eq!(cluster.status().agents()[4].condition, Condition::Down);
    });
}

#[test]
fn what_is_down_cannot_be_ended_and_what_is_up_cannot_be_restarted() {
    test(|| async {
        let mut cluster = settled(five()).await;
        assert_eq!(
            refusal(cluster.restart("5")),
            "agent-5 is up: crash or stop it first"
        );
        cluster.crash("5").await.unwrap();
        let down = "agent-5 is down: restart it first";
        assert_eq!(refusal(cluster.crash("5").await), down);
        assert_eq!(refusal(cluster.stop("5").await), down);
        assert_eq!(refusal(cluster.hang("5").await), down);
        assert_eq!(refusal(cluster.leave("5").await), down);
        assert_eq!(refusal(cluster.campaign("5")), down);
        assert_eq!(refusal(cluster.step_down("5", None)), down);
        let unknown = refusal(cluster.crash("agent-9").await);
        assert_eq!(
            unknown,
            "the cluster has no agent \"agent-9\": name one of agent-1, agent-2, agent-3, agent-4, agent-5"
        );
        assert!(cluster.handle("9").is_err());
    });
}

#[test]
fn several_crash_together_or_not_at_all() {
    test(|| async {
        let mut cluster = settled(five()).await;
        assert!(cluster.crash_all(["4", "9"]).await.is_err());
        assert_eq!(
            refusal(cluster.crash_all(["4", "agent-4"]).await),
            "agent-4 is named twice: name each agent once"
        );
        let up = |c: &Cluster| {
            c.status()
                .agents()
                .iter()
                .all(|a| a.condition == Condition::Up)
        };
        assert!(up(&cluster));
    });
}

#[test]
fn a_stopped_leader_does_not_hand_over_and_is_missed_at_once() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.stop("5").await.unwrap();
        let next = cluster.settle().await.unwrap();
        assert_eq!((leaders(&next), next.took), (vec!["agent-4"], MS(1)));
        assert!(
            cluster
                .trace()
                .to_text()
                .contains("agent-5                           stops")
        );
    });
}

#[test]
fn a_leaver_hands_over_and_is_a_member_no_more() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.leave("5").await.unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-4");
        assert_eq!(cluster.status().agents().len(), 4);
        assert!(matches!(
            cluster.handle("5"),
            Err(ClusterError::Unknown { .. })
        ));
        assert_eq!(cluster.group().members().len(), 4);
        cluster.join("5", 5).unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-5");
        assert_eq!(
            refusal(cluster.join("5", 5)),
            "agent-5 is the name of an agent already: choose another name"
        );
    });
}

#[test]
fn a_hung_leader_is_replaced_and_gives_way_or_not_when_it_goes_on() {
    test(|| async {
        let mut cluster = settled(five().preemption(Preemption::Never)).await;
        cluster.hang("5").await.unwrap();
        assert_eq!(cluster.status().agents()[4].condition, Condition::Hung);
        let next = cluster.settle().await.unwrap();
        assert_eq!(leaders(&next), ["agent-4"]);
        assert!(next.took >= MS(900), "noticed by silence: {:?}", next.took);
        assert_eq!(
            cluster.believers().len(),
            1,
            "its leadership ran out while it hung"
        );
        assert_eq!(
            refusal(cluster.hang("5").await),
            "agent-5 hangs: resume it first"
        );
        assert_eq!(
            refusal(cluster.stop("5").await),
            "agent-5 hangs: resume it first"
        );
        cluster.resume("5").unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-4");
        let gone_on = refusal(cluster.resume("5"));
        assert_eq!(gone_on, "agent-5 does not hang: there is nothing to resume");
    });
}

#[test]
fn who_hangs_can_still_crash() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.hang("5").await.unwrap();
        cluster.crash("5").await.unwrap();
        let next = cluster.settle().await.unwrap();
        assert_eq!((leaders(&next), next.took), (vec!["agent-4"], MS(1)));
    });
}

#[test]
fn a_supervised_agent_comes_back_by_itself() {
    test(|| async {
        let policy = RestartPolicy::builder().max_restarts(1).build().unwrap();
        let mut cluster = settled(five().supervised(policy)).await;
        cluster.crash("5").await.unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-4");
        assert_eq!(
            cluster.status().agents()[4].condition,
            Condition::Restarting
        );
        let coming = "agent-5 is down and will be restarted by its supervisor: let time pass";
        assert_eq!(refusal(cluster.restart("5")), coming);
        assert_eq!(refusal(cluster.crash("5").await), coming);
        actix::clock::sleep(MS(100)).await;
        let back = cluster.settle().await.unwrap();
        assert_eq!(leaders(&back), ["agent-5"]);
        assert!(
            back.took < MS(10),
            "measured from its return: {:?}",
            back.took
        );

        cluster.crash("5").await.unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-4");
        let text = cluster.trace().to_text();
        assert_eq!(
            text.matches("crashes").count(),
            2,
            "each is recorded once:\n{text}"
        );
        assert_eq!(text.matches("restarts").count(), 1, "{text}");
        cluster.restart("5").unwrap();
        assert_eq!(
            leaders_after(&cluster).await,
            "agent-5",
            "after its supervisor gave up"
        );
    });
}
