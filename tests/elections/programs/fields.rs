//! The demos of the Go document that have no messages: four replicas of a database, of which one becomes the primary, and
//! a ring of five nodes. As written, a function reads the fields of all nodes and assigns to them, also of dead nodes.
//!
//! In this crate, the replicas elect: first by the priority, then by the lag in whole milliseconds (a smaller lag is
//! better), then by the higher name. A replica that lags 5 s or more has no score.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        quorum::QuorumConfig,
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, Score},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::{bully::Bully, quorum::QuorumBully},
    protocol::Election,
};
use bully_sim::sim::{Participant, World};

use super::{SILENT, builder};
use crate::scenarios::play::play;

const MS: fn(u64) -> Duration = Duration::from_millis;
const TOO_FAR: Duration = Duration::from_secs(5);

/// Lag and priority of a replica.
type Replica = (Duration, i32);

/// The four replicas of the demo.
const DEMO: [Replica; 4] = [
    (Duration::from_millis(100), 1),
    (Duration::from_millis(50), 2),
    (Duration::from_millis(200), 1),
    (Duration::ZERO, 3),
];

/// `ElectPrimary` of the demo. Only the replicas `online` are candidates. Returns the primary after the call; without a
/// candidate the old primary stays.
fn elect_primary(replicas: &[Replica], online: &[usize], old: Option<usize>) -> Option<usize> {
    let eligible = online.iter().filter(|id| replicas[**id].0 < TOO_FAR);
    let better = |winner: usize, id: usize| {
        let ((lag, priority), (least, highest)) = (replicas[id], replicas[winner]);
        let wins = priority > highest
            || priority == highest && (lag < least || lag == least && id > winner);
        if wins { id } else { winner }
    };
    eligible.copied().reduce(better).or(old)
}

/// Returns the score of a replica, or `None` if it is not eligible.
fn score((lag, priority): Replica) -> Option<Score> {
    let millis = i64::try_from(lag.as_millis()).unwrap();
    (lag < TOO_FAR).then(|| Score::from((priority, -millis)))
}

/// Returns the outcome of each `settle` of the script, among replicas `0`, `1`, … with these scores.
fn elected<E: Election>(config: &E::Config, scores: &[Option<Score>], script: &str) -> Vec<String> {
    let replicas = scores.iter().enumerate().map(|(id, score)| {
        let id: AgentId = id.to_string().parse().unwrap();
        Participant::voter(id, *score, config.clone())
    });
    let world = World::builder(1).agents(replicas).detection(SILENT);
    let mut world: World<E> = world.conditions(Conditions::delayed(MS(10))).build();
    play(&mut world, script).steps
}

#[test]
fn the_database_demo_of_the_go_document() {
    let ours = |script| elected::<Bully>(&Arc::default(), &DEMO.map(score), script);
    let old = elect_primary(&DEMO, &[0, 1, 2], None);
    assert_eq!(old, Some(1), "3 is offline");
    // Replica 3 ranks highest and leads once it is up.
    assert_eq!(
        ours("crash 3; wait 10s; settle; restart 3; settle"),
        ["1", "3"]
    );

    // Without a candidate the demo returns `nil`, and the old primary does not learn that it may not be primary any more.
    let behind = DEMO.map(|(_, priority)| (TOO_FAR, priority));
    assert_eq!(elect_primary(&behind, &[0, 1, 2], old), Some(1));
    let withdraw = "crash 3; wait 10s; settle; score 0 none; score 2 none; score 1 none; settle; score 2 1; settle";
    assert_eq!(ours(withdraw), ["1", "=, none leads", "2"]);

    // The announcement assigns a field, even of a replica that is offline and cannot have heard it. Here two lead until a
    // replica that was cut off hears of the other one.
    assert_eq!(elect_primary(&DEMO, &[0, 2], old), Some(0));
    let cut = "crash 3; wait 10s; settle; isolate 1; settle; heal; settle";
    assert_eq!(ours(cut), ["1", "0 (0 2), two lead", "= (0 2)"]);
}

/// With a majority of the four replicas, the primary that is cut off has ended its leadership.
#[test]
fn with_a_quorum_an_offline_primary_ends_its_leadership() {
    let voters = ["0", "1", "2", "3"].map(|name| name.parse().unwrap());
    let config = Arc::new(QuorumConfig::new(voters));
    let steps = elected::<QuorumBully>(
        &config,
        &DEMO.map(score),
        "settle; isolate 3; settle; heal; wait 60s; settle",
    );
    assert_eq!(steps, ["3", "1, not all follow", "3"]);
}

#[test]
fn the_rule_of_the_demo_and_the_order_of_scores() {
    for (replicas, old, ours) in [
        // Two lags are almost never equal to the nanosecond, so as written the third criterion decides nothing.
        (
            &[(MS(50), 1), (MS(50) + Duration::from_nanos(1), 1)][..],
            0,
            "1",
        ),
        (&[(MS(50), 1), (MS(50), 1)], 1, "1"),
        // An order with the priority before the lag may cost 4.9 s of writes.
        (&[(MS(0), 1), (MS(4_900), 2)], 1, "1"),
        (&[(MS(300), 2), (MS(200), 2), (MS(900), 2)], 1, "1"),
        (&[(MS(200), 2), (MS(200), 2), (MS(0), 1)], 1, "1"),
        (&[(MS(0), 1), (MS(4_999), 2), (MS(5_000), 3)], 1, "1"),
        (&[(MS(0), 1), (MS(5_000), 2), (MS(5_000), 3)], 0, "0"),
    ] {
        let all: Vec<_> = (0..replicas.len()).collect();
        assert_eq!(
            elect_primary(replicas, &all, None),
            Some(old),
            "{replicas:?}"
        );
        let scores: Vec<_> = replicas.iter().copied().map(score).collect();
        assert_eq!(
            elected::<Bully>(&Arc::default(), &scores, "settle"),
            [ours],
            "{replicas:?}"
        );
    }
}

/// `startElection` of the ring: it collects the living nodes from the initiator on, and assigns the highest node to every
/// node as its leader.
fn elected_in_ring(dead: &[usize], initiator: usize) -> usize {
    let living = (0..5).filter(|id| *id == initiator || !dead.contains(id));
    living.max().unwrap()
}

#[test]
fn the_ring_demo_of_the_go_seed() {
    let ring = || -> World<Ring> {
        let config = Arc::new(RingConfig::default());
        builder(1, '0', &[0, 1, 2, 3, 4], &config).build()
    };
    assert_eq!(elected_in_ring(&[3, 4], 1), 2);
    let mut world = ring();
    let story = play(&mut world, "crash 3 4; campaign 1; settle");
    assert_eq!(story.steps, ["2"]);
    assert_eq!(
        [world.events("3"), world.events("4")],
        [&[]; 2],
        "the dead learn nothing"
    );
    // The election is a bully in a ring: a node that returns takes the leadership, which never happens in the seed.
    assert_eq!(play(&mut world, "restart 4; settle").steps, ["4"]);

    // The seed assumes that the node that begins is alive, so it elects its dead initiator.
    assert_eq!(elected_in_ring(&[4], 4), 4);
    let mut world = ring();
    play(&mut world, "crash 4");
    assert!(!world.campaign("4"));
    assert_eq!(play(&mut world, "settle").steps, ["3"]);
}
