//! Networks that repeat, reorder, lose and delay, and messages that no agent sent: scenarios 19 to 27.

use std::{cell::Cell, time::Duration};

use actix_bully::{
    elections::{
        AnyMessage,
        bully::{Elected, Ok},
    },
    protocol::{AgentId, Leader, Round, Term, Time},
    testkit::{
        cluster::{AgentStatus, Cluster},
        faults::Conditions,
    },
};
use bully_core::elections::bully::{Heartbeat, Resign, Yield};

use super::{
    DEADLINE, MS, Rules, acquired, both, changes,
    forgeries::{are_dropped, beliefs, forge, heard, id},
    leads, once, swift, under, wait,
};

#[test]
fn s19_what_is_repeated_changes_nothing() {
    both(|rules, seed| async move {
        let network = Conditions::builder().delay(MS(1)..=rules.delay());
        let network = network.duplication(1_000).build().unwrap();
        let mut cluster = rules
            .led_by(rules.builder(seed).agents(5).network(network), "5")
            .await;
        cluster.crash("5").await.unwrap();
        leads(&cluster, "agent-4").await;
        cluster.restart("5").unwrap();
        leads(&cluster, "agent-5").await;
        let winners = acquired(&cluster, Time::ZERO);
        let winners: Vec<&str> = winners.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(winners, ["agent-5", "agent-4", "agent-5"]);
    });
}

#[test]
fn s20_messages_that_overtake_each_other_do_no_harm() {
    both(|rules, seed| async move {
        let network = Conditions::builder().delay(Duration::ZERO..=rules.delay());
        let network = network.in_any_order().build().unwrap();
        let mut cluster = rules
            .led_by(rules.builder(seed).agents(5).network(network), "5")
            .await;
        for name in ["5", "4"] {
            cluster.crash(name).await.unwrap();
            cluster.settle().await.unwrap();
            cluster.restart(name).unwrap();
            leads(&cluster, "agent-5").await;
        }
    });
}

#[test]
fn s21_with_15_percent_loss_it_takes_no_longer_than_ten_times() {
    let lost = Cell::new(0);
    swift(|seed| {
        let lost = &lost;
        async move {
            let network = Conditions::builder().delay(MS(1)..=Rules::Swift.delay());
            let network = network.loss(150).build().unwrap();
            let builder = Rules::Swift.builder(seed).agents(5).network(network);
            let mut cluster = builder.start().unwrap();
            let longest = 10 * (DEADLINE + 2 * Rules::Swift.delay());
            let begun = cluster.now();
            leads(&cluster, "agent-5").await;
            assert!(cluster.now().since(begun) <= longest);
            cluster.crash("5").await.unwrap();
            let begun = cluster.now();
            leads(&cluster, "agent-4").await;
            assert!(cluster.now().since(begun) <= longest);
            cluster.restart("5").unwrap();
            leads(&cluster, "agent-5").await;
            lost.set(lost.get() + cluster.with_network(|network| network.tally().lost));
        }
    });
    assert!(lost.get() >= 10, "{}", lost.get());
}

/// They have no heartbeats: what is lost is made up for by an agent that asks again.
#[test]
fn s21_under_the_astra_rules_an_agent_has_to_ask_again() {
    let again = Cell::new(0);
    under(Rules::Astra, |seed| {
        let again = &again;
        async move {
            let network = Conditions::builder().delay(MS(1)..=Rules::Astra.delay());
            let network = network.loss(150).build().unwrap();
            let builder = Rules::Astra.builder(seed).agents(5).network(network);
            let mut cluster = builder.start().unwrap();
            let round = DEADLINE + 2 * Rules::Astra.delay();
            cluster.campaign("1").unwrap();
            wait(round).await;
            while !agree(&cluster, "agent-5") {
                again.set(again.get() + 1);
                cluster.campaign("1").unwrap();
                wait(round).await;
            }
            assert!(cluster.now().since(Time::ZERO) <= 10 * round);
            assert!(cluster.with_network(|network| network.tally().lost) > 0);
        }
    });
    assert!(again.get() > 0, "the first time is not always enough");
}

fn agree(cluster: &Cluster, name: &str) -> bool {
    let follows = |agent: u32| cluster.handle(&agent.to_string()).unwrap().leader();
    let all = (1..=5).all(|agent| follows(agent).is_some_and(|leader| leader.id == name));
    all && cluster.believers() == [name]
}

/// What every agent shows, terms apart.
fn shown(agents: &[AgentStatus]) -> Vec<(bool, Option<AgentId>)> {
    let name = |leader: &Leader| leader.id.clone();
    let rows = agents.iter();
    rows.map(|agent| (agent.leads, agent.status.leader.as_ref().map(name)))
        .collect()
}

#[test]
fn s23_a_stale_ok_or_yield_has_no_effect_on_a_leader() {
    both(|rules, seed| async move {
        let cluster = rules.led(seed, 5).await;
        let before = cluster.now();
        let heard_before = heard(&cluster, "ok");
        let incarnation = cluster.handle("5").unwrap().current().incarnation;
        for counter in 0..4 {
            let round = Round {
                incarnation,
                counter,
            };
            let seen = Term(1);
            let ok = Ok {
                round,
                seen,
                ..Ok::default()
            };
            forge(&cluster, 4, 5, ok);
            let yields = Yield {
                round,
                seen,
                ..Yield::default()
            };
            forge(&cluster, 4, 5, yields);
        }
        wait(Duration::from_secs(10)).await;
        assert_eq!(heard(&cluster, "ok") - heard_before, 4);
        leads(&cluster, "agent-5").await;
        assert_eq!(changes(&cluster, before), 0);
    });
}

#[test]
fn s24_a_stale_announcement_from_below_has_no_effect() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        cluster.crash("5").await.unwrap();
        leads(&cluster, "agent-4").await;
        cluster.restart("5").unwrap();
        leads(&cluster, "agent-5").await;
        let before = beliefs(&cluster);
        let heard_before = heard(&cluster, "elected");
        let (term, score) = (Term(1), 1.into());
        for to in 2..=5 {
            let elected = Elected {
                term,
                score,
                ..Elected::default()
            };
            forge(&cluster, 1, to, elected);
            if rules == Rules::Swift {
                let heartbeat = Heartbeat {
                    term,
                    score,
                    ..Heartbeat::default()
                };
                forge(&cluster, 1, to, heartbeat);
            }
        }
        let moment = cluster.now();
        leads(&cluster, "agent-5").await;
        assert!(heard(&cluster, "elected") >= heard_before + 4);
        assert_eq!(shown(&beliefs(&cluster)), shown(&before));
        if rules == Rules::Swift {
            assert_eq!(changes(&cluster, moment), 0);
            assert_eq!(beliefs(&cluster), before);
        }
    });
}

#[test]
fn s24_a_resignation_that_is_not_the_leaders_has_no_effect() {
    swift(|seed| async move {
        let cluster = Rules::Swift.led(seed, 5).await;
        let before = cluster.now();
        for to in 2..=5 {
            let (term, successor) = (Term(1), Some(id(to)));
            let resign = Resign {
                term,
                successor,
                ..Resign::default()
            };
            forge(&cluster, 1, to, resign);
        }
        leads(&cluster, "agent-5").await;
        assert_eq!(heard(&cluster, "resign"), 4);
        assert_eq!(changes(&cluster, before), 0);
    });
}

#[test]
fn s25_one_that_missed_the_announcement_follows_by_the_next_heartbeat() {
    swift(|seed| async move {
        let mut cluster = Rules::Swift.led(seed, 5).await;
        cluster.cut_one_way("4", "1").unwrap();
        cluster.crash("5").await.unwrap();
        cluster.heal();
        wait(MS(40)).await;
        let settled = leads(&cluster, "agent-4").await;
        assert!(settled.took <= MS(180) + Rules::Swift.delay(), "{settled}");
    });
}

#[test]
fn s26_delays_above_the_deadline_do_no_lasting_harm() {
    both(|rules, seed| async move {
        let mut cluster = rules.led(seed, 5).await;
        let normal = cluster.conditions();
        let slow = Conditions::builder().delay(Duration::ZERO..=3 * DEADLINE);
        cluster.set_network(slow.in_any_order().build().unwrap());
        for name in ["1", "3", "5", "2"] {
            cluster.campaign(name).unwrap();
            wait(DEADLINE / 2).await;
        }
        cluster.crash("5").await.unwrap();
        wait(5 * DEADLINE).await;
        cluster.restart("5").unwrap();
        wait(5 * DEADLINE).await;
        cluster.set_network(normal);
        wait(3 * DEADLINE).await;
        rules.begin(&mut cluster, ["1"]);
        leads(&cluster, "agent-5").await;
    });
}

#[test]
fn s27_messages_from_strangers_and_former_incarnations_are_counted_and_dropped() {
    once(|| async {
        let mut cluster = Rules::Swift.led(1, 5).await;
        let (term, score) = (Term(99), 99.into());
        let message = || {
            let message = Elected {
                term,
                score,
                ..Elected::default()
            };
            AnyMessage::from(message)
        };
        are_dropped(&mut cluster, message).await;
    });
}
