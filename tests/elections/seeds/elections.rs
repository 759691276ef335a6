//! Elections without a failure: scenarios 1 to 6, and 10.

use actix_bully::{
    protocol::Time,
    testkit::{cluster::Cluster, faults::Conditions},
};

use super::{DEADLINE, MS, Rules, acquired, both, changes, leads, once};

#[test]
fn s01_one_alone_leads_within_the_deadline() {
    both(|rules, seed| async move {
        let mut cluster = rules.builder(seed).agents(1).start().unwrap();
        rules.begin(&mut cluster, ["1"]);
        let settled = leads(&cluster, "agent-1").await;
        assert!(settled.took <= DEADLINE);
        assert_eq!(settled.messages, 0);
    });
}

#[test]
fn s02_two_start_together_and_the_higher_leads() {
    both(|rules, seed| async move {
        let mut cluster = rules.builder(seed).agents(2).start().unwrap();
        rules.begin(&mut cluster, ["1", "2"]);
        leads(&cluster, "agent-2").await;
    });
}

#[test]
fn s03_all_start_together_and_the_highest_leads() {
    both(|rules, seed| async move {
        let mut cluster = rules.builder(seed).agents(5).start().unwrap();
        rules.begin(&mut cluster, ["1", "2", "3", "4", "5"]);
        let settled = leads(&cluster, "agent-5").await;
        // All ask all, the higher of each two answers, and one tells the others.
        assert!(settled.messages <= 20 + 10 + 4, "{settled}");
        assert_eq!(acquired(&cluster, Time::ZERO).len(), 1);
    });
}

#[test]
fn s04_of_equal_scores_the_larger_name_leads() {
    both(|rules, seed| async move {
        for starters in [
            vec!["a", "b", "c"],
            vec!["a", "c"],
            vec!["a"],
            vec!["b", "a"],
        ] {
            let builder = rules
                .builder(seed)
                .agent("b", 7)
                .agent("a", 7)
                .agent("c", 7);
            let mut cluster = builder.start().unwrap();
            rules.begin(&mut cluster, starters);
            leads(&cluster, "c").await;
            assert_eq!(acquired(&cluster, Time::ZERO).len(), 1);
        }
    });
}

fn astra_with_delay(agents: u32, millis: u64) -> Cluster {
    let network = Conditions::delayed(MS(millis));
    let builder = Cluster::builder().agents(agents).astra();
    builder.network(network).start().unwrap()
}

#[test]
fn s05_from_the_lowest_starter_it_takes_exactly_one_and_a_half_n_n_minus_1_messages() {
    for agents in 2..=9_u32 {
        once(|| async move {
            let mut cluster = astra_with_delay(agents, 7);
            cluster.campaign("1").unwrap();
            let settled = leads(&cluster, &format!("agent-{agents}")).await;
            let n = u64::from(agents);
            assert_eq!(settled.messages, 3 * n * (n - 1) / 2);
            assert_eq!(settled.took, DEADLINE + MS(2 * 7), "T + 2 d");
        });
    }
}

#[test]
fn s05_the_lowest_starts_alone_and_the_highest_leads() {
    both(|rules, seed| async move {
        let mut cluster = rules.builder(seed).agents(5).start().unwrap();
        cluster.campaign("1").unwrap();
        leads(&cluster, "agent-5").await;
    });
}

#[test]
fn s06_from_the_highest_starter_it_takes_exactly_2_n_minus_1_messages() {
    for agents in 2..=9_u32 {
        once(|| async move {
            let mut cluster = astra_with_delay(agents, 7);
            cluster.campaign(&agents.to_string()).unwrap();
            let settled = leads(&cluster, &format!("agent-{agents}")).await;
            assert_eq!(settled.messages, u64::from(2 * (agents - 1)));
            assert_eq!(settled.took, DEADLINE + MS(7), "T + d");
        });
    }
}

#[test]
fn s06_the_highest_starts_alone_and_leads() {
    both(|rules, seed| async move {
        let mut cluster = rules.builder(seed).agents(5).start().unwrap();
        cluster.campaign("5").unwrap();
        let settled = leads(&cluster, "agent-5").await;
        assert!(settled.messages <= 8, "{settled}");
    });
}

#[test]
fn s10_one_that_starts_another_election_ends_following_the_winner() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        let before = cluster.now();
        cluster.campaign("1").unwrap();
        let settled = leads(&cluster, "agent-5").await;
        assert_eq!(
            acquired(&cluster, before),
            [],
            "the leader stays what it is"
        );
        if rules == Rules::Swift {
            assert_eq!(settled.messages, 2, "a question and an answer");
            assert_eq!(changes(&cluster, before), 0, "no other agent hears of it");
        }
    });
}
