//! Agents that crash, hang and come back: scenarios 7 to 9, and 11 to 14.

use actix_bully::{
    elections::bully::Preemption,
    protocol::Role,
    testkit::{cluster::Cluster, faults::Conditions},
};

use super::{DEADLINE, MS, Rules, acquired, both, changes, leads, once, swift, wait};

#[test]
fn s07_the_leader_crashes_and_the_next_one_leads() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        cluster.crash("5").await.unwrap();
        let settled = leads(&cluster, "agent-4").await;
        match rules {
            Rules::Swift => {
                assert!(settled.took <= rules.delay(), "one message: {settled}");
                assert_eq!(settled.messages, 3, "n - 2");
            }
            Rules::Astra => assert!(settled.took <= DEADLINE + 2 * rules.delay()),
        }
    });
}

#[test]
fn s08_the_leader_crashes_when_half_of_the_others_know_of_it() {
    both(|rules, seed| async move {
        let builder = rules.builder(seed).agents(5);
        let mut cluster = builder.network(Conditions::delayed(MS(5))).start().unwrap();
        if rules == Rules::Astra {
            cluster.campaign("5").unwrap();
            wait(MS(1_999)).await; // T, but for a moment
        }
        cluster.cut_one_way("5", "3").unwrap();
        cluster.cut_one_way("5", "4").unwrap();
        wait(MS(7)).await;
        assert_eq!(cluster.handle("1").unwrap().leader().unwrap().id, "agent-5");
        assert_eq!(cluster.handle("2").unwrap().leader().unwrap().id, "agent-5");
        assert_eq!(cluster.handle("3").unwrap().leader(), None);
        cluster.crash("5").await.unwrap();
        cluster.heal();
        leads(&cluster, "agent-4").await;
    });
}

/// Agent 5 has told agent 1 to wait, and is about to announce itself.
async fn promised(rules: Rules, seed: u64) -> Cluster {
    let builder = rules.builder(seed).agents(5);
    let builder = builder.network(Conditions::delayed(MS(5)));
    match rules {
        Rules::Astra => {
            let mut cluster = builder.start().unwrap();
            cluster.campaign("1").unwrap();
            wait(MS(25)).await;
            cluster
        }
        Rules::Swift => {
            let mut cluster = rules.led_by(builder, "5").await;
            cluster.crash("5").await.unwrap();
            cluster.settle().await.unwrap();
            cluster.restart("5").unwrap();
            wait(MS(7)).await; // the leader has given way, and agent 5 does not know it yet
            cluster
        }
    }
}

#[test]
fn s09_the_superior_crashes_right_after_its_promise() {
    both(|rules, seed| async move {
        let mut cluster = promised(rules, seed).await;
        assert_eq!(cluster.handle("4").unwrap().current().role, Role::Waiting);
        cluster.crash("5").await.unwrap();
        let settled = leads(&cluster, "agent-4").await;
        assert!(
            settled.took <= DEADLINE + MS(2 * 5),
            "its end is known: {settled}"
        );
    });
}

#[test]
fn s09_the_superior_hangs_right_after_its_promise() {
    both(|rules, seed| async move {
        let mut cluster = promised(rules, seed).await;
        cluster.hang("5").await.unwrap();
        let settled = leads(&cluster, "agent-4").await;
        let longest = 5 * DEADLINE / 2 + DEADLINE + 4 * MS(50);
        assert!(
            settled.took <= longest,
            "2.5 T, then an election: {settled}"
        );
    });
}

#[test]
fn s11_all_but_the_lowest_crash_and_it_leads() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        cluster.crash_all(["2", "3", "4", "5"]).await.unwrap();
        leads(&cluster, "agent-1").await;
    });
}

#[test]
fn s12_all_crash_and_all_restart() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        let names = ["1", "2", "3", "4", "5"];
        cluster.crash_all(names).await.unwrap();
        assert_eq!(cluster.settle().await.unwrap().leaders().count(), 0);
        for name in names {
            cluster.restart(name).unwrap();
        }
        leads(&cluster, "agent-5").await;
        let term = cluster.handle("1").unwrap().leader().unwrap().term;
        assert!(term.0 > 1, "above every earlier one: {term}");
    });
}

#[test]
fn s13_the_highest_recovers_and_leads_again_with_one_change() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        cluster.crash("5").await.unwrap();
        leads(&cluster, "agent-4").await;
        let before = cluster.now();
        cluster.restart("5").unwrap();
        leads(&cluster, "agent-5").await;
        assert_eq!(acquired(&cluster, before).len(), 1);
    });
}

#[test]
fn s13_a_sticky_leader_stays_when_the_highest_recovers() {
    swift(|seed| async move {
        let builder = Rules::Swift.builder(seed).agents(5);
        let builder = builder.preemption(Preemption::Never);
        let mut cluster = Rules::Swift.led_by(builder, "5").await;
        cluster.crash("5").await.unwrap();
        leads(&cluster, "agent-4").await;
        let before = cluster.now();
        cluster.restart("5").unwrap();
        leads(&cluster, "agent-4").await;
        assert_eq!(
            changes(&cluster, before),
            1,
            "only agent 5 has learned something"
        );
    });
}

#[test]
fn s14_one_that_was_down_during_the_announcement_follows_without_an_election() {
    swift(|seed| async move {
        let mut cluster = Rules::Swift.led(seed, 5).await;
        cluster.crash_all(["1", "5"]).await.unwrap();
        leads(&cluster, "agent-4").await;
        let before = cluster.now();
        cluster.restart("1").unwrap();
        let settled = leads(&cluster, "agent-4").await;
        assert!(settled.took <= MS(180) + Rules::Swift.delay(), "{settled}");
        assert_eq!(changes(&cluster, before), 1, "no other agent hears of it");
        cluster.restart("5").unwrap();
        leads(&cluster, "agent-5").await;
    });
}

#[test]
fn s14_one_that_asks_in_vain_follows_by_the_next_heartbeat() {
    once(|| async {
        let mut cluster = Rules::Swift.led(1, 5).await;
        cluster.crash("1").await.unwrap();
        cluster.cut_one_way("1", "5").unwrap();
        cluster.restart("1").unwrap();
        let settled = leads(&cluster, "agent-5").await;
        assert!(settled.took <= MS(180) + Rules::Swift.delay(), "{settled}");
    });
}
