//! Scores that change: scenarios 15 to 18, and 44 to 47.

use std::time::Duration;

use actix_bully::{
    elections::bully::Preemption,
    protocol::{Event, LostReason, Score},
    testkit::{cluster::Cluster, faults::Conditions},
};
use bully_sim::trace::What;

use super::{MS, Rules, acquired, both, leads, once, swift, wait};

#[test]
fn s15_a_follower_whose_score_rises_above_the_leaders_leads() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        cluster.set_score("2", 50).unwrap();
        leads(&cluster, "agent-2").await;
    });
}

#[test]
fn s16_a_leader_whose_score_falls_is_followed_by_the_best() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        cluster.set_score("5", 2).unwrap();
        leads(&cluster, "agent-4").await;
    });
}

#[test]
fn s16_a_leader_that_becomes_ineligible_hands_over() {
    swift(|seed| async move {
        let mut cluster = Rules::Swift.led(seed, 5).await;
        let before = cluster.now();
        cluster.withdraw_score("5").unwrap();
        leads(&cluster, "agent-4").await;
        let trace = cluster.trace();
        let lost = trace.entries().find(|entry| {
            matches!(&entry.what, What::Event { agent, event: Event::Lost { reason: LostReason::Resigned, .. } } if *agent == "agent-5")
        });
        let lost = lost.unwrap().at;
        let [(_, acquired)] = acquired(&cluster, before)[..] else {
            unreachable!("one hand-over");
        };
        assert!(
            lost <= acquired,
            "the leadership ends before the next one begins"
        );
        assert!(acquired.since(lost) <= 5 * Rules::Swift.delay());
    });
}

#[test]
fn s16_the_same_under_the_astra_rules() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        cluster.withdraw_score("5").unwrap();
        leads(&cluster, "agent-4").await;
    });
}

#[test]
fn s17_where_no_agent_is_eligible_no_agent_leads_until_one_becomes_so() {
    both(|rules, seed| async move {
        let builder = rules.builder(seed).witness("a").witness("b").witness("c");
        let mut cluster = builder.start().unwrap();
        rules.begin(&mut cluster, ["a", "b", "c"]);
        assert_eq!(cluster.settle().await.unwrap().leaders().count(), 0);
        cluster.set_score("b", 1).unwrap();
        rules.begin(&mut cluster, ["b"]);
        leads(&cluster, "b").await;
    });
}

#[test]
fn s18_a_score_that_oscillates_changes_the_leader_at_most_once_per_policy_time() {
    swift(|seed| async move {
        let after = Duration::from_secs(1);
        let builder = Rules::Swift.builder(seed).agents(5);
        let builder = builder.preemption(Preemption::After(after));
        let mut cluster = Rules::Swift.led_by(builder, "5").await;
        let before = cluster.now();
        for swing in 0..120 {
            cluster
                .set_score("4", if swing % 2 == 0 { 6 } else { 4 })
                .unwrap();
            wait(MS(50)).await;
        }
        let changes = acquired(&cluster, before).len();
        assert!(changes <= 6, "6 s, so {changes} are too many");
        cluster.settle().await.unwrap();
    });
}

/// The rule of the database: the priority, then the lag, the less the better; one that lags as far as
/// the bound is not eligible.
fn worth(priority: i32, lag: Duration) -> Option<Score> {
    let millis = i64::try_from(lag.as_millis()).unwrap();
    (lag < Duration::from_secs(5)).then(|| Score::from((priority, -millis)))
}

fn replicas(rules: Rules, seed: u64, replicas: [(&str, i32, u64); 3]) -> Cluster {
    let mut builder = rules.builder(seed);
    for (name, priority, lag) in replicas {
        builder = match worth(priority, MS(lag)) {
            Some(score) => builder.agent(name, score),
            None => builder.witness(name),
        };
    }
    let mut cluster = builder.start().unwrap();
    rules.begin(&mut cluster, ["a"]);
    cluster
}

#[test]
fn s44_the_highest_priority_is_offline_and_the_next_leads() {
    both(|rules, seed| async move {
        let mut cluster = replicas(rules, seed, [("a", 1, 0), ("b", 2, 0), ("c", 3, 0)]);
        leads(&cluster, "c").await;
        cluster.crash("c").await.unwrap();
        leads(&cluster, "b").await;
    });
}

#[test]
fn s45_among_equal_priorities_the_lower_lag_then_the_higher_name() {
    both(|rules, seed| async move {
        let cluster = replicas(rules, seed, [("a", 2, 300), ("b", 2, 200), ("c", 2, 900)]);
        leads(&cluster, "b").await;
        let cluster = replicas(rules, seed, [("a", 2, 200), ("b", 2, 200), ("c", 1, 0)]);
        leads(&cluster, "b").await;
    });
}

#[test]
fn s46_the_winner_becomes_ineligible_before_it_has_announced_itself() {
    once(|| async {
        let builder = Rules::Swift.builder(1).agents(5);
        let builder = builder.network(Conditions::delayed(MS(5)));
        let mut cluster = Rules::Swift.led_by(builder, "5").await;
        cluster.crash("5").await.unwrap();
        leads(&cluster, "agent-4").await;
        let before = cluster.now();
        cluster.restart("5").unwrap();
        wait(MS(7)).await; // the leader has yielded
        cluster.withdraw_score("5").unwrap();
        leads(&cluster, "agent-4").await;
        let winners = acquired(&cluster, before);
        assert!(
            winners.iter().all(|(name, _)| name == "agent-4"),
            "{winners:?}"
        );
    });
}

#[test]
fn s46_the_same_under_the_astra_rules() {
    once(|| async {
        let builder = Rules::Astra.builder(1).agents(5);
        let builder = builder.network(Conditions::delayed(MS(5)));
        let mut cluster = builder.start().unwrap();
        cluster.campaign("1").unwrap();
        wait(MS(500)).await; // all wait for agent 5, which sits out the deadline
        cluster.withdraw_score("5").unwrap();
        leads(&cluster, "agent-4").await;
    });
}

#[test]
fn s47_a_lag_at_the_bound_is_too_much() {
    both(|rules, seed| async move {
        let mut cluster = replicas(rules, seed, [("a", 1, 0), ("b", 2, 4_999), ("c", 3, 5_000)]);
        leads(&cluster, "b").await;
        assert_eq!(worth(3, MS(5_000)), None);
        cluster
            .set_score("c", worth(3, MS(4_999)).unwrap())
            .unwrap();
        rules.begin(&mut cluster, ["c"]);
        leads(&cluster, "c").await;
    });
}
