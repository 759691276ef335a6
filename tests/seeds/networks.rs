//! Networks that repeat, reorder, lose and delay, and letters that nobody sent: scenarios 19 to 27.

use std::time::Duration;

use actix_bully::{
    cluster::{Cluster, ClusterStatus},
    elections::bully::{BullyMessage, Elected, Heartbeat, Ok, Resign, Yield},
    faults::Conditions,
    protocol::{AgentId, Incarnation, Leader, Round, Term, Time, To},
};

use super::{DEADLINE, MS, Rules, acquired, both, changes, leads, once, swift, wait};

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
fn s20_letters_that_overtake_each_other_do_no_harm() {
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
    swift(|seed| async move {
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
    });
}

/// Loses the first messages of a kind, those of one moment.
async fn lose_first(cluster: &mut Cluster, kind: &'static str, within: Duration) {
    let lost = cluster.with_network(|network| {
        network.ignore(kind);
        network.tally().ignored
    });
    let begun = cluster.now();
    while cluster.now().since(begun) < within {
        wait(MS(1)).await;
        if cluster.with_network(|network| network.tally().ignored) > lost {
            break;
        }
    }
    cluster.with_network(actix_bully::faults::Network::recover);
}

#[test]
fn s22_one_message_of_each_kind_is_lost() {
    for kind in ["elect", "ok", "yield", "elected", "heartbeat", "resign"] {
        swift(|seed| async move {
            let within = Duration::from_secs(3);
            let builder = Rules::Swift.builder(seed).agents(5);
            let mut cluster = builder.start().unwrap();
            lose_first(&mut cluster, kind, within).await;
            leads(&cluster, "agent-5").await;

            cluster.crash("5").await.unwrap();
            lose_first(&mut cluster, kind, within).await;
            leads(&cluster, "agent-4").await;

            cluster.restart("5").unwrap();
            lose_first(&mut cluster, kind, within).await;
            leads(&cluster, "agent-5").await;

            cluster.step_down("5", None).unwrap();
            lose_first(&mut cluster, kind, within).await;
            leads(&cluster, "agent-4").await;
        });
    }
}

fn id(number: u32) -> AgentId {
    AgentId::new(&format!("agent-{number}")).unwrap()
}

/// A letter that the agent never wrote, in its present life.
fn forge(cluster: &Cluster, from: u32, to: u32, message: impl Into<BullyMessage>) {
    let (from, to) = (id(from), To::One(id(to)));
    let members = cluster.group().members();
    let life = members.get(&from).and_then(|member| member.incarnation);
    cluster
        .group()
        .deliver(&from, life.unwrap(), &to, message.into());
}

/// What everybody believes, terms apart.
fn beliefs(status: &ClusterStatus) -> Vec<(bool, Option<AgentId>)> {
    let belief = |leader: &Leader| leader.id.clone();
    let rows = status.agents().iter();
    rows.map(|agent| (agent.leads, agent.leader.as_ref().map(belief)))
        .collect()
}

#[test]
fn s23_a_stale_ok_or_yield_has_no_effect_on_a_leader() {
    both(|rules, seed| async move {
        let cluster = rules.led(seed, 5).await;
        let before = cluster.now();
        let life = cluster.handle("5").unwrap().current().incarnation;
        for counter in 0..4 {
            let round = Round {
                incarnation: life,
                counter,
            };
            let seen = Term(1);
            forge(
                &cluster,
                4,
                5,
                Ok {
                    round,
                    seen,
                    refusal: None,
                },
            );
            let released = None;
            forge(
                &cluster,
                4,
                5,
                Yield {
                    round,
                    seen,
                    released,
                },
            );
        }
        wait(Duration::from_secs(10)).await;
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
        let before = cluster.status();
        let (term, score) = (Term(1), 1.into());
        for to in 2..=5 {
            let answer = None;
            forge(
                &cluster,
                1,
                to,
                Elected {
                    sent_at: None,
                    term,
                    score,
                    answer,
                },
            );
            if rules == Rules::Swift {
                forge(
                    &cluster,
                    1,
                    to,
                    Heartbeat {
                        term,
                        score,
                        sent_at: None,
                    },
                );
            }
        }
        let moment = cluster.now();
        leads(&cluster, "agent-5").await;
        assert_eq!(beliefs(&cluster.status()), beliefs(&before));
        if rules == Rules::Swift {
            assert_eq!(changes(&cluster, moment), 0);
            assert_eq!(cluster.status(), before);
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
            forge(&cluster, 1, to, Resign { term, successor });
        }
        leads(&cluster, "agent-5").await;
        assert_eq!(changes(&cluster, before), 0);
    });
}

#[test]
fn s25_who_missed_the_announcement_follows_by_the_next_heartbeat() {
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
fn s27_letters_from_strangers_and_former_lives_are_counted_and_dropped() {
    once(|| async {
        let mut cluster = Rules::Swift.led(1, 5).await;
        cluster.crash("4").await.unwrap();
        cluster.restart("4").unwrap();
        leads(&cluster, "agent-5").await;
        let (before, counted) = (cluster.status(), cluster.group().counters());

        let (term, score) = (Term(99), 99.into());
        let message = || -> BullyMessage {
            Elected {
                sent_at: None,
                term,
                score,
                answer: None,
            }
            .into()
        };
        let stranger = AgentId::new("stranger").unwrap();
        let group = cluster.group();
        group.deliver(&stranger, Incarnation(1), &To::All, message());
        group.deliver(&id(4), Incarnation(1), &To::All, message());
        let nobody = To::One(AgentId::new("nobody").unwrap());
        group.deliver(&id(4), Incarnation(2), &nobody, message());

        wait(MS(100)).await;
        leads(&cluster, "agent-5").await;
        assert_eq!(cluster.status(), before);
        let now = cluster.group().counters();
        assert_eq!(now.strangers - counted.strangers, 5);
        assert_eq!(now.stale - counted.stale, 4);
    });
}
