//! What can be done to a cluster, what it refuses, and that two runs are the same.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "in the helpers of tests"
)]

mod common;

use std::{future::Future, time::Duration};

use actix_bully::{
    cluster::{
        Answer, Cluster, ClusterBuilder, ClusterError, Command, Condition, Names, NotSettled,
        Obstacle, Script, Settled,
    },
    elections::bully::{BullyConfig, Preemption},
    faults::Conditions,
    protocol::{AgentId, Role, Term, Timings},
    supervisor::RestartPolicy,
    trace::{Trace, What},
};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// In virtual time, and never for long.
fn test<F: Future<Output = ()>>(body: impl FnOnce() -> F) {
    common::virtual_system().block_on(async {
        let body = body();
        let ended = actix::clock::timeout(Duration::from_secs(3_600), body).await;
        ended.expect("it ends within an hour");
    });
}

fn five() -> ClusterBuilder {
    Cluster::builder()
        .agents(5)
        .network(Conditions::delayed(MS(1)))
}

async fn settled(builder: ClusterBuilder) -> Cluster {
    let cluster = builder.start().unwrap();
    cluster.settle().await.unwrap();
    cluster
}

fn leaders(settled: &Settled) -> Vec<&str> {
    settled.leaders().map(AgentId::as_str).collect()
}

async fn who_leads(cluster: &Cluster) -> String {
    let settled = cluster.settle().await.unwrap();
    leaders(&settled).join(" ")
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, ClusterError>) -> String {
    outcome.expect_err("refused").to_string()
}

// ---- starting --------------------------------------------------------------------------------

#[test]
fn the_highest_leads_and_everybody_follows() {
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
        assert_eq!(cluster.leader_of("1").unwrap().unwrap().id, "agent-5");
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
            "there is an agent agent-2 already: choose another name"
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
        assert_eq!(cluster.leader_of("z-observer").unwrap().unwrap().id, "a");
        assert_eq!(cluster.leader_of("z-witness").unwrap().unwrap().id, "a");
        cluster.crash("a").await.unwrap();
        let settled = cluster.settle().await.unwrap();
        assert_eq!((leaders(&settled), settled.sides.len()), (vec![], 1));
        assert_eq!(
            settled.to_string(),
            "settled: nobody leads; 0ns, 0 messages"
        );
        cluster.set_score("z-witness", 1).unwrap();
        assert_eq!(who_leads(&cluster).await, "z-witness");
        cluster.join_observer("y").unwrap();
        cluster.join_witness("x").unwrap();
        assert_eq!(who_leads(&cluster).await, "z-witness");
    });
}

// ---- ends and beginnings ---------------------------------------------------------------------

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
        cluster.restart("5").unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-5");
        cluster.crash_all(["4", "5"]).await.unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-3");
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
        let unknown = refusal(cluster.crash("nobody").await);
        assert_eq!(
            unknown,
            "there is no agent \"nobody\" here, but agent-1, agent-2, agent-3, agent-4, agent-5"
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
        assert_eq!(who_leads(&cluster).await, "agent-4");
        assert_eq!(cluster.status().agents().len(), 4);
        assert!(matches!(
            cluster.handle("5"),
            Err(ClusterError::Unknown { .. })
        ));
        assert_eq!(cluster.group().members().len(), 4);
        cluster.join("5", 5).unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-5");
        assert_eq!(
            refusal(cluster.join("5", 5)),
            "there is an agent agent-5 already: choose another name"
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
            "its belief ran out while it hung"
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
        assert_eq!(who_leads(&cluster).await, "agent-4");
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
        assert_eq!(who_leads(&cluster).await, "agent-4");
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
        assert_eq!(who_leads(&cluster).await, "agent-4");
        let text = cluster.trace().to_text();
        assert_eq!(
            text.matches("crashes").count(),
            2,
            "each is recorded once:\n{text}"
        );
        assert_eq!(text.matches("restarts").count(), 1, "{text}");
        cluster.restart("5").unwrap();
        assert_eq!(
            who_leads(&cluster).await,
            "agent-5",
            "after its supervisor gave up"
        );
    });
}

// ---- wishes ----------------------------------------------------------------------------------

#[test]
fn scores_and_hand_overs() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.set_score("2", 50).unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-2");
        cluster.withdraw_score("2").unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-5");
        assert_eq!(cluster.status().agents()[1].score, None);
        cluster.step_down("5", None).unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-4");
        assert_eq!(
            refusal(cluster.step_down("5", None)),
            "agent-5 does not lead; who believes to lead: agent-4"
        );
        cluster.campaign("5").unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-5", "it is told to");
    });
}

#[test]
fn an_heir_can_be_named() {
    test(|| async {
        let mut cluster = settled(five().preemption(Preemption::Never)).await;
        cluster.step_down("5", Some("3")).unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-3");
    });
}

#[test]
fn a_score_set_while_down_counts_in_the_next_life() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.crash("1").await.unwrap();
        cluster.set_score("1", 9).unwrap();
        cluster.restart("1").unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-1");
    });
}

// ---- the network -----------------------------------------------------------------------------

#[test]
fn each_side_of_a_partition_has_a_leader_and_healing_leaves_one() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.partition([["1", "2"]]).unwrap();
        let sides = cluster.settle().await.unwrap();
        assert_eq!(leaders(&sides), ["agent-2", "agent-5"]);
        assert_eq!(sides.leader(), None, "there are two");
        assert_eq!(sides.sides[0].agents.len(), 2);
        assert_eq!(cluster.believers().len(), 2);
        cluster.heal();
        assert_eq!(who_leads(&cluster).await, "agent-5");

        let twice = cluster.partition([["1", "2"], ["2", "3"]]);
        assert_eq!(
            refusal(twice),
            "agent-2 is named twice: name each agent once"
        );
        assert_eq!(who_leads(&cluster).await, "agent-5", "nothing was changed");
    });
}

#[test]
fn who_is_isolated_leads_itself() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.isolate("5").unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-4 agent-5");
        cluster.heal();
        assert_eq!(who_leads(&cluster).await, "agent-5");
    });
}

#[test]
fn a_cut_one_way_is_one_way() {
    test(|| async {
        let mut cluster = settled(five()).await;
        assert!(matches!(
            cluster.cut("1", "1"),
            Err(ClusterError::Twice { .. })
        ));
        cluster.cut_one_way("1", "5").unwrap();
        let unheard = cluster.settle().await.unwrap();
        assert_eq!((leaders(&unheard), unheard.messages), (vec!["agent-5"], 0));
        cluster.heal();
        cluster.cut_one_way("5", "1").unwrap();
        let NotSettled {
            waited, obstacle, ..
        } = cluster.settle().await.unwrap_err();
        assert!(waited > MS(5_000), "{waited:?}");
        assert!(matches!(obstacle, Obstacle::Divided(_)), "{obstacle}");
        let believers: Names = cluster.believers().into_iter().collect();
        assert_eq!(
            believers.to_string(),
            "agent-1, agent-5",
            "one never hears the other"
        );
        cluster.heal();
        assert_eq!(who_leads(&cluster).await, "agent-5");
    });
}

#[test]
fn a_cut_between_followers_changes_nothing() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.cut("1", "2").unwrap();
        let nothing = cluster.settle().await.unwrap();
        assert_eq!((nothing.took, nothing.messages), (Duration::ZERO, 0));
        assert_eq!(
            nothing.sides.len(),
            1,
            "they reach each other by the others"
        );
    });
}

#[test]
fn letters_of_one_pair_stay_in_order_on_the_grid() {
    test(|| async {
        let bad = Conditions::builder()
            .delay(MS(0)..=MS(30))
            .loss(100)
            .duplication(300);
        let trace = Trace::new().with_deliveries().with_repeated();
        let mut cluster = settled(five().network(bad.build().unwrap()).trace(trace)).await;
        for name in ["5", "4", "5"] {
            cluster.crash(name).await.unwrap();
            cluster.settle().await.unwrap();
            cluster.restart(name).unwrap();
            cluster.settle().await.unwrap();
        }
        let trace = cluster.trace();
        let mut seen = std::collections::BTreeMap::new();
        let mut arrivals = 0;
        for entry in trace.entries() {
            let What::Sent { mail, arrives } = &entry.what else {
                continue;
            };
            for at in arrives {
                arrivals += 1;
                assert_eq!(at.as_nanos() % 1_000_000, 0, "whole milliseconds");
                let last = seen.insert((mail.from.clone(), mail.to.clone()), *at);
                assert!(last <= Some(*at), "{mail:?} overtakes");
            }
        }
        assert!(arrivals > 30, "{arrivals}");
    });
}

#[test]
fn the_network_can_be_as_bad_as_is_wanted() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.with_network(|network| network.ignore("elected"));
        cluster.crash("5").await.unwrap();
        assert_eq!(
            who_leads(&cluster).await,
            "agent-4",
            "the heartbeat tells as well"
        );
        let lost = cluster.trace().count_of("elected").lost;
        assert!(lost >= 3, "{lost}");
    });
}

// ---- settling --------------------------------------------------------------------------------

#[test]
fn without_a_starter_the_strict_rules_settle_nothing() {
    test(|| async {
        let cluster = Cluster::builder().agents(3).strict().start().unwrap();
        let refused = cluster.settle().await.unwrap_err();
        assert_eq!(
            refused.obstacle.to_string(),
            "no leader at agent-1, agent-2, agent-3; under the strict rules one has to `campaign`"
        );
    });
}

#[test]
fn patience_can_be_set_and_time_passes_only_as_long() {
    test(|| async {
        let mut cluster = settled(five().patience(MS(100))).await;
        cluster.hang("5").await.unwrap();
        let before = cluster.now();
        let refused = cluster.settle().await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "not settled within 100ms: \
             agent-1, agent-2, agent-3, agent-4 cannot hear agent-5, whom they follow"
        );
        assert_eq!(cluster.now().since(before), MS(100));
    });
}

#[test]
fn messages_and_time_are_counted_from_the_last_thing_done() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.crash("5").await.unwrap();
        actix::clock::sleep(MS(500)).await;
        let late = cluster.settle().await.unwrap();
        assert_eq!(
            (late.took, late.messages),
            (MS(1), 3),
            "waiting is not counted"
        );
        cluster.heal();
        let nothing = cluster.settle().await.unwrap();
        assert_eq!((nothing.took, nothing.messages), (Duration::ZERO, 0));
    });
}

// ---- commands --------------------------------------------------------------------------------

#[test]
fn every_command_does_what_its_verb_does() {
    test(|| async {
        let script: Script = "settle; crash 5; settle; restart 5; settle; stop 4; restart 4; hang 5; \
             settle; resume 5; settle; join 6; settle; leave 6; settle; partition 1 | 2 3; settle; heal; settle; \
             cut 1 2; cut 1 > 3; isolate 4; heal; delay 1ms..2ms; loss 1%; duplicate 1%; \
             loss 0%; duplicate 0%; score 1 10; settle; score 1 none; settle; step-down 5 2; settle; \
             campaign 5; settle; join 7 none; wait 5ms; settle; status; trace; help"
            .parse()
            .unwrap();
        let mut cluster = five().start().unwrap();
        let mut last = None;
        for command in script {
            let said = command.to_string();
            match cluster.run(command).await {
                Ok(Answer::Settled(settled)) => last = settled.leader().cloned(),
                Ok(_) => {}
                Err(wrong) => panic!("{said}: {wrong}"),
            }
        }
        assert_eq!(last.unwrap(), "agent-5");
        assert_eq!(cluster.conditions().delay().max, MS(2));
        let help = cluster.run(Command::Help).await.unwrap().to_string();
        assert!(help.contains("partition 1 2 | 3 4 5"));
        assert!(matches!(cluster.run(Command::Quit).await, Ok(Answer::Quit)));
        let wrong = cluster.run("delay 2ms".parse().unwrap()).await.unwrap();
        assert_eq!(wrong.to_string(), "");
    });
}

#[test]
fn what_was_done_is_recorded_as_it_would_be_typed() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.partition([["1", "2"], ["3", "4"]]).unwrap();
        cluster.set_score("1", (7, -3)).unwrap();
        cluster.cut_one_way("1", "2").unwrap();
        let text = cluster.trace().to_text();
        for typed in [
            "partition agent-1 agent-2 | agent-3 agent-4",
            "score agent-1 7,-3",
            "cut agent-1 > agent-2",
        ] {
            assert!(text.contains(typed), "{text}");
            assert!(typed.parse::<Command>().is_ok());
        }
    });
}

#[test]
fn the_status_is_an_aligned_table() {
    test(|| async {
        let builder = Cluster::builder()
            .agent("a", (3, -20))
            .witness("witness")
            .observer("o");
        let mut cluster = settled(builder).await;
        cluster.join("late", 1).unwrap();
        cluster.crash("late").await.unwrap();
        cluster.settle().await.unwrap();
        assert_eq!(
            cluster.status().to_string(),
            "AGENT    SCORE     STATE  ROLE      TERM  LEADER\n\
             a        (3, -20)  up     leader    1     a\n\
             witness  none      up     follower  1     a\n\
             o        observer  up     follower  1     a\n\
             late     1         down   -         -     -"
        );
        assert_eq!(cluster.status().agents()[0].role, Role::Leader);
    });
}

// ---- runs that are the same ------------------------------------------------------------------

/// A bit of everything, as bad as it gets.
async fn a_bad_day(seed: u64) -> String {
    let bad = Conditions::builder()
        .delay(MS(0)..=MS(25))
        .loss(100)
        .duplication(100)
        .in_any_order();
    let trace = Trace::new().with_deliveries().with_repeated();
    let mut cluster = Cluster::builder()
        .agents(5)
        .observer("observer")
        .supervised(RestartPolicy::default())
        .network(bad.build().unwrap())
        .trace(trace)
        .seed(seed)
        .start()
        .unwrap();
    let script: Script =
        "settle; crash 4 5; wait 300ms; hang 3; partition 1 2 | 3; wait 2s; resume 3; \
         join 6 3; heal; score 1 9; settle; leave 1; isolate 5; wait 1s; heal; settle; status"
            .parse()
            .unwrap();
    for command in script {
        // Whatever comes of it, it has to be the same again.
        drop(cluster.run(command).await);
    }
    cluster.trace().to_text()
}

#[test]
fn the_same_seed_gives_the_same_run_byte_for_byte() {
    let run = || common::virtual_system().block_on(a_bad_day(7));
    let first = run();
    assert!(first.lines().count() > 200, "{first}");
    for _ in 0..50 {
        assert_eq!(run(), first);
    }
    let other = common::virtual_system().block_on(a_bad_day(8));
    assert_ne!(other, first);
}

#[test]
fn a_run_on_the_real_clock_settles_too() {
    actix::System::new().block_on(async {
        let mut cluster = Cluster::builder()
            .agents(5)
            .timings(Timings::in_process())
            .start()
            .unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-5");
        cluster.hang("5").await.unwrap();
        assert_eq!(who_leads(&cluster).await, "agent-4");
    });
}

#[test]
fn a_dropped_cluster_ends_its_agents() {
    test(|| async {
        let mut cluster = settled(five().rules(BullyConfig::default())).await;
        cluster.hang("4").await.unwrap();
        let handles: Vec<_> = ["1", "4", "5"]
            .map(|name| cluster.handle(name).unwrap().clone())
            .into();
        drop(cluster);
        actix::clock::sleep(MS(1)).await;
        for handle in handles {
            assert!(!handle.addr().connected(), "{handle:?}");
            assert!(!handle.is_leader());
        }
    });
}
