//! Commands of a cluster (crashes, hangs, cuts, scores and hand-overs), the commands that it refuses, and the leaders
//! after each step.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        bully::Preemption,
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, Term, Timings},
    supervisor::RestartPolicy,
    testkit::{
        cluster::{Cluster, ClusterBuilder, ClusterError, Condition},
        faults::Conditions,
    },
};
use bully_core::protocol::Election;
use bully_sim::trace::{Trace, What};

use super::{MS, five, leaders, leaders_after, plays, refusal, settled, test};

const DOWN: &str = "refused: agent-5 is down: restart it first";
const FIVE: &str = "name one of agent-1, agent-2, agent-3, agent-4, agent-5";

fn story<E: Election>(builder: ClusterBuilder<E>, steps: &[(&str, &str)]) {
    test(|| async {
        let mut cluster = builder.start().unwrap();
        plays(&mut cluster, steps).await;
    });
}

#[test]
fn what_is_down_cannot_be_ended_and_what_is_up_cannot_be_restarted() {
    let unknown = |name: &str, others: &str| {
        format!("refused: the cluster has no agent \"{name}\": {others}")
    };
    let nine = unknown("9", FIVE);
    let left = unknown("5", "name one of agent-1, agent-2, agent-3, agent-4");
    let twice = "refused: agent-4 is named twice: name each agent once";
    let again = "refused: agent-5 is the name of an agent already: choose another name";
    let steps = [
        ("", "agent-5"),
        (
            "restart 5",
            "refused: agent-5 is up: crash or stop it first",
        ),
        ("crash 5", "agent-4"),
        ("crash 5", DOWN),
        ("stop 5", DOWN),
        ("hang 5", DOWN),
        ("leave 5", DOWN),
        ("campaign 5", DOWN),
        ("step-down 5", DOWN),
        ("crash 9", &nine),
        ("restart 5", "agent-5"),
        // A command crashes all agents that it names, or none.
        ("crash 4 9", &nine),
        ("crash 4 agent-4", twice),
        ("", "agent-5"),
        ("crash 4 5", "agent-3"),
        ("restart 4 5; stop 5", "agent-4"),
        ("restart 5", "agent-5"),
        ("leave 5", "agent-4"),
        ("crash 5", &left),
        ("join 5 5", "agent-5"),
        ("join 5 5", again),
        ("hang 5; crash 5", "agent-4"),
    ];
    story(five(), &steps);
}

#[test]
fn a_hung_leader_is_replaced_and_gives_way_or_not_when_it_goes_on() {
    let hangs = "refused: agent-5 hangs: resume it first";
    let steps = [
        ("", "agent-5"),
        ("hang 5", "agent-4"),
        ("hang 5", hangs),
        ("stop 5", hangs),
        ("resume 5", "agent-4"),
        (
            "resume 5",
            "refused: agent-5 does not hang: there is nothing to resume",
        ),
        ("step-down 4 3", "agent-3"), // the command names agent-3 as successor
    ];
    story(five().preemption(Preemption::Never), &steps);
}

/// The other agents learn of a stop at once, but the leader names no successor.
#[test]
fn a_stopped_leader_is_replaced_at_once_and_does_not_hand_over() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.stop("5").await.unwrap();
        let next = cluster.settle().await.unwrap();
        assert_eq!((leaders(&next), next.took), (vec!["agent-4"], MS(1)));
        let trace = cluster.trace();
        assert_eq!(trace.count_of("resign").sent, 0);
        let text = trace.to_text();
        let is_stop = |line: &str| line.contains("agent-5") && line.contains(" stops;");
        assert!(text.lines().any(is_stop), "{text}");
    });
}

#[test]
fn each_side_of_a_partition_has_a_leader_and_healing_leaves_one() {
    let six = format!("refused: the cluster has no agent \"6\": {FIVE}");
    let steps = [
        ("partition 1 2", "agent-2 agent-5"),
        ("heal", "agent-5"),
        (
            "partition 1 2 | 2 3",
            "refused: agent-2 is named twice: name each agent once",
        ),
        ("", "agent-5"), // the refused command changed nothing
        ("isolate 5", "agent-4 agent-5"),
        ("heal", "agent-5"),
        ("isolate 5", "agent-4 agent-5"),
        ("cut 5 1; rejoin 5; mend 1 5", "agent-5"),
        ("rejoin 6", &six),
        ("cut 1 2", "agent-5"), // agent-1 and agent-2 stay connected through the other agents
        ("heal; cut 1 > 5", "agent-5"),
    ];
    story(five(), &steps);
}

#[test]
fn scores_and_hand_overs() {
    let steps = [
        ("score 2 50", "agent-2"),
        ("score 2 none", "agent-5"),
        ("step-down 5", "agent-4"),
        (
            "step-down 5",
            "refused: agent-5 does not lead: command an agent that considers itself leader (agent-4)",
        ),
        ("campaign 5", "agent-5"),
        // A score that is set while an agent is down counts in its next incarnation.
        ("crash 1; score 1 9; restart 1", "agent-1"),
    ];
    story(five(), &steps);
}

#[test]
fn observers_and_witnesses_follow_and_never_lead() {
    let builder = Cluster::builder();
    let steps = [
        ("", "a"),
        ("crash a", ""),
        ("score z-witness 1", "z-witness"),
        ("join-observer y; join x none", "z-witness"),
    ];
    let builder = builder.agent("a", 1).witness("z-witness");
    story(builder.observer("z-observer"), &steps);
}

/// Returns a cluster of five agents, an observer that only follows, and a witness: a voter that never leads.
fn five_by<E: Election>(config: E::Config) -> ClusterBuilder<E> {
    let network = Conditions::builder().delay(MS(1)..=MS(9)).build().unwrap();
    let builder = Cluster::with_config(config).agents(5).observer("eye");
    builder.witness("judge").network(network).seed(7)
}

/// A cluster accepts the same commands with the elections of the literature.
#[test]
fn the_elections_of_the_literature() {
    let both = [
        ("", "agent-5"),
        ("crash 5", "agent-4"),
        ("restart 5", "agent-5"),
        ("partition 1 2; wait 2s", "agent-2 agent-5"),
        ("heal", "agent-5"),
        ("step-down 5 4", "agent-4"),
    ];
    story(five_by::<Ring>(Arc::new(RingConfig::default())), &both);
    let config = Arc::new(ReorganizationConfig::new(Timings::lan()));
    story(five_by::<Reorganization>(config), &both);
    let config = Arc::new(InvitationConfig::new(Timings::lan()));
    story(five_by::<InvitationElection>(config), &both[..5]);
    let config = BallotConfig {
        timings: Timings::lan(),
        ..BallotConfig::new((1..=5).map(|n| format!("agent-{n}").parse().unwrap()))
    };
    let builder = Cluster::<Ballot>::with_config(Arc::new(config)).agents(5);
    // The leader of a ballot is sticky, and only a side with a majority has a leader.
    let steps = [
        ("", "agent-5"),
        ("crash 5", "agent-4"),
        ("restart 5; wait 500ms", "agent-4"),
        ("hang 4", "agent-5"),
        ("resume 4", "agent-5"),
        ("partition 4 5", "agent-3"),
        ("heal", "agent-3"),
    ];
    story(builder.observer("eye").needs_voters(3), &steps);
}

/// `settle` counts the messages and the time from the last command until the cluster is settled. A wait after that does
/// not count.
#[test]
fn settled_says_who_leads_where_and_what_it_took() {
    test(|| async {
        let mut cluster = five().start().unwrap();
        let settled = cluster.settle().await.unwrap();
        assert_eq!(
            settled.to_string(),
            "settled: agent-5 leads; 1ms, 4 messages"
        );
        let [side] = settled.sides.as_slice() else {
            panic!("{settled:?}")
        };
        assert_eq!((side.agents.len(), side.term), (5, Term(1)));
        cluster.crash("5").await.unwrap();
        actix::clock::sleep(MS(500)).await;
        let late = cluster.settle().await.unwrap();
        assert_eq!(
            (leaders(&late), late.took, late.messages),
            (vec!["agent-4"], MS(1), 3)
        );
        cluster.partition([["1", "2"]]).unwrap();
        let sides = cluster.settle().await.unwrap();
        assert_eq!((sides.leader(), sides.sides[0].agents.len()), (None, 2));
        cluster.heal();
        cluster.settle().await.unwrap();
        cluster.heal();
        let nothing = cluster.settle().await.unwrap();
        assert_eq!((nothing.took, nothing.messages), (Duration::ZERO, 0));
        cluster.crash_all(["1", "2", "3", "4"]).await.unwrap();
        let none = cluster.settle().await.unwrap();
        assert_eq!(none.to_string(), "settled: no agent leads; 0ns, 0 messages");
    });
}

#[test]
fn a_cluster_that_is_not_settled_says_why() {
    test(|| async {
        let mut cluster = settled(five().timeout(MS(100))).await;
        cluster.hang("5").await.unwrap();
        let before = cluster.now();
        assert_eq!(
            refusal(cluster.settle().await),
            "the cluster is not settled within 100ms: \
             agent-1, agent-2, agent-3, agent-4 follow agent-5 and cannot hear it"
        );
        assert_eq!(cluster.now().since(before), MS(100));

        let astra = Cluster::builder().agents(3).astra().start().unwrap();
        let says = "no leader is known at agent-1, agent-2, agent-3; under the ASTRA rules, command `campaign` at one of them";
        let refused = refusal(astra.settle().await);
        assert!(refused.ends_with(says), "{refused}");

        let mut cluster = settled(five()).await;
        let itself = cluster.cut("1", "1");
        assert!(matches!(itself, Err(ClusterError::Refused { .. })));
        cluster.cut_one_way("5", "1").unwrap();
        let Err(ClusterError::NotSettled { waited, obstacle }) = cluster.settle().await else {
            panic!("one never hears the other");
        };
        assert!(waited > MS(5_000), "{waited:?}");
        assert!(obstacle.starts_with("no agreement among "), "{obstacle}");
        let believers = cluster.believers();
        let believers: Vec<_> = believers.iter().map(AgentId::as_str).collect();
        assert_eq!(believers, ["agent-1", "agent-5"]);
    });
}

#[test]
fn a_cluster_needs_a_system_and_agents_with_names_of_their_own() {
    let wrong = Cluster::builder().agents(1).start().unwrap_err();
    let cause = std::error::Error::source(&wrong).expect("outside of a System");
    assert!(cause.to_string().contains("System"), "{cause}");
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
fn a_supervised_agent_comes_back_by_itself() {
    test(|| async {
        let policy = RestartPolicy::builder().max_restarts(1).build().unwrap();
        let mut cluster = settled(five().supervised(policy)).await;
        let coming =
            "refused: agent-5 is down and will be restarted by its supervisor: let time pass";
        let steps = [
            ("crash 5", "agent-4"),
            ("restart 5", coming),
            ("crash 5", coming),
        ];
        plays(&mut cluster, &steps).await;
        let condition = cluster.status().agents()[4].condition;
        assert_eq!(condition, Condition::Restarting);
        actix::clock::sleep(MS(100)).await;
        let back = cluster.settle().await.unwrap();
        assert_eq!(leaders(&back), ["agent-5"]);
        assert!(back.took < MS(10), "from its return: {:?}", back.took);
        plays(&mut cluster, &[("crash 5", "agent-4")]).await;
        let text = cluster.trace().to_text();
        let (crashes, restarts) = (text.matches("crashes"), text.matches("restarts"));
        assert_eq!((crashes.count(), restarts.count()), (2, 1), "{text}");
        // The supervisor has given up, so a command may restart the agent.
        plays(&mut cluster, &[("restart 5", "agent-5")]).await;
    });
}

#[test]
fn messages_of_one_pair_stay_in_order_on_the_grid() {
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
            let What::Sent { message, arrives } = &entry.what else {
                continue;
            };
            for at in arrives {
                arrivals += 1;
                assert_eq!(at.as_nanos() % 1_000_000, 0, "whole milliseconds");
                let last = seen.insert((message.from.clone(), message.to.clone()), *at);
                assert!(last <= Some(*at), "{message:?} overtakes");
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
        // A heartbeat also announces the leader.
        assert_eq!(leaders_after(&cluster).await, "agent-4");
        let lost = cluster.trace().count_of("elected").lost;
        assert!(lost >= 3, "{lost}");
    });
}
