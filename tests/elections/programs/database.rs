//! Plays the Go document's demo of a database: four replicas, one of which becomes the primary.
//!
//! As written, one function reads every replica and assigns to it. In this crate, each replica has a score, and the
//! replicas elect: first by the priority, then by the lag in whole milliseconds (a smaller lag is better), then by the
//! higher name. A replica that lags 5 s or more has no score. The locks of the demo, and its reads after unlocking, do
//! not occur here.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::quorum::QuorumConfig,
    protocol::{AgentId, Event, LostReason, Score},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::{
        bully::{Bully, BullyConfig},
        quorum::QuorumBully,
    },
    protocol::Election,
};
use bully_sim::{
    sim::{Participant, World},
    trace::Trace,
};

use crate::programs::kit::{DELAY, MS, SECONDS, SILENT, assert_sound};

const TOO_FAR: Duration = Duration::from_secs(5);

/// The demo, word for word.
mod as_written {
    use std::time::Duration;

    pub(super) struct Replica {
        pub(super) id: usize,
        pub(super) is_primary: bool,
        pub(super) is_online: bool,
        pub(super) data_lag: Duration,
        pub(super) priority: i32,
    }

    /// `ElectPrimary` of the demo; `None` stands for its `nil`.
    pub(super) fn elect_primary(replicas: &mut [Replica]) -> Option<usize> {
        let eligible = |r: &&Replica| r.is_online && r.data_lag < super::TOO_FAR;
        let candidates: Vec<&Replica> = replicas.iter().filter(eligible).collect();
        let (first, others) = candidates.split_first()?;
        let mut winner = first;
        for candidate in others {
            let better = candidate.priority > winner.priority
                || candidate.priority == winner.priority
                    && (candidate.data_lag < winner.data_lag
                        || candidate.data_lag == winner.data_lag && candidate.id > winner.id);
            if better {
                winner = candidate;
            }
        }
        let winner = winner.id;
        for replica in replicas {
            replica.is_primary = replica.id == winner;
        }
        Some(winner)
    }

    /// Returns online replicas with these lags and priorities.
    pub(super) fn cluster(replicas: &[(Duration, i32)]) -> Vec<Replica> {
        let replicas = replicas.iter().enumerate();
        let replica = |(id, (data_lag, priority)): (usize, &(Duration, i32))| Replica {
            id,
            is_primary: false,
            is_online: true,
            data_lag: *data_lag,
            priority: *priority,
        };
        replicas.map(replica).collect()
    }

    pub(super) fn primaries(replicas: &[Replica]) -> Vec<usize> {
        let primaries = replicas.iter().filter(|replica| replica.is_primary);
        primaries.map(|replica| replica.id).collect()
    }
}

use as_written::{cluster, elect_primary, primaries};

/// The four replicas of the demo, with lag and priority. The last replica is offline.
const DEMO: [(Duration, i32); 4] = [
    (Duration::from_millis(100), 1),
    (Duration::from_millis(50), 2),
    (Duration::from_millis(200), 1),
    (Duration::ZERO, 3),
];

/// Returns the score of a replica, or `None` if it is not eligible.
fn score(lag: Duration, priority: i32) -> Option<Score> {
    let millis = i64::try_from(lag.as_millis()).unwrap();
    (lag < TOO_FAR).then(|| Score::from((priority, -millis)))
}

fn ours(replicas: &[(Duration, i32)], worth: fn(Duration, i32) -> Option<Score>) -> World<Bully> {
    by(&Arc::new(BullyConfig::default()), replicas, worth)
}

/// Returns a world of replicas `0`, `1`, … with the scores that `worth` gives. Only silence shows a crash.
fn by<E: Election>(
    config: &E::Config,
    replicas: &[(Duration, i32)],
    worth: fn(Duration, i32) -> Option<Score>,
) -> World<E> {
    let replicas = replicas.iter().enumerate();
    let mut world = World::builder(1)
        .agents(replicas.map(|(id, (lag, priority))| {
            let id: AgentId = id.to_string().parse().unwrap();
            Participant::voter(id, worth(*lag, *priority), config.clone())
        }))
        .conditions(Conditions::delayed(DELAY))
        .detection(SILENT)
        .trace(Trace::new())
        .build();
    world.run_for(Duration::ZERO);
    world
}

#[track_caller]
fn elects<E: Election>(world: &mut World<E>, name: &str) {
    let primary = world.settle(SECONDS(10));
    assert_eq!(primary.as_ref().map(AgentId::as_str), Ok(name));
    assert_eq!(world.believers(), [name]);
    assert_sound(world);
}

fn demo() -> Vec<as_written::Replica> {
    let mut replicas = cluster(&DEMO);
    for replica in replicas.iter_mut().skip(3) {
        replica.is_online = false;
    }
    replicas
}

#[test]
fn the_database_demo_of_the_go_document() {
    let mut replicas = demo();
    assert_eq!(elect_primary(&mut replicas), Some(1));
    assert_eq!(primaries(&replicas), [1]);

    let mut world = ours(&DEMO, score);
    world.crash("3"); // offline, but its priority is known
    elects(&mut world, "1");
    assert_eq!(world.events("3"), [], "which was never told of any other");
    world.restart("3");
    elects(&mut world, "3"); // it ranks highest and leads once it is up
}

/// Without a candidate the demo returns `nil`, and its last line would panic when it prints the ID. The old primary
/// does not learn that it may not be primary any more.
#[test]
fn without_a_candidate_the_old_primary_stays() {
    let mut replicas = demo();
    elect_primary(&mut replicas);
    for replica in &mut replicas {
        replica.data_lag = TOO_FAR;
    }
    assert_eq!(elect_primary(&mut replicas), None);
    assert_eq!(primaries(&replicas), [1], "5 s behind");

    let mut world = ours(&DEMO, score);
    world.crash("3");
    elects(&mut world, "1");
    for name in ["0", "2", "1"] {
        world.set_score(name, score(TOO_FAR, 2));
    }
    world.run_for(SECONDS(1));
    assert_eq!(world.believers(), [""; 0]);
    let (_, last) = world.events("1").last().unwrap();
    let reason = LostReason::Resigned;
    assert!(matches!(last, Event::Lost { reason: why, .. } if *why == reason));
    assert!(world.views().all(|(_, view)| view.leader.is_none()));
    world.set_score("2", score(MS(4_999), 1));
    elects(&mut world, "2"); // a replica leads once it is eligible
}

/// As written, the announcement assigns a field, even of a replica that is offline and cannot have heard it.
#[test]
fn an_offline_primary_is_demoted_without_hearing_of_it() {
    let mut replicas = demo();
    elect_primary(&mut replicas);
    replicas[1].is_online = false;
    assert_eq!(elect_primary(&mut replicas), Some(0), "it lags less than 2");
    assert_eq!(primaries(&replicas), [0], "as if 1 knew");

    let mut world = ours(&DEMO, score);
    world.crash("3");
    elects(&mut world, "1");
    world.isolate("1");
    world.run_for(SECONDS(5));
    assert_eq!(
        world.believers(),
        ["0", "1"],
        "a replica that is cut off cannot know; without a quorum two lead until it hears"
    );
    world.heal();
    elects(&mut world, "1");
}

/// With a majority of the four replicas, two primaries never exist at the same time.
#[test]
fn with_a_quorum_an_offline_primary_ends_its_leadership_before_the_next_begins() {
    let mut replicas = cluster(&DEMO);
    assert_eq!(elect_primary(&mut replicas), Some(3));
    replicas[3].is_online = false;
    assert_eq!(elect_primary(&mut replicas), Some(1));

    let voters = ["0", "1", "2", "3"].map(|name| name.parse().unwrap());
    let config = QuorumConfig::new(voters);
    let mut world: World<QuorumBully> = by(&Arc::new(config), &DEMO, score);
    world.set_invariant(|world| {
        let contested = world.is_contested();
        let broken = contested.then(|| String::from("two primaries"));
        broken.map_or(Ok(()), Err)
    });
    elects(&mut world, "3");
    world.isolate("3");
    world.run_for(SECONDS(5));
    assert_eq!(world.believers(), ["1"]);
    world.heal();
    world.run_for(SECONDS(60)); // the leader's grace period for an agent of higher rank
    elects(&mut world, "3");
}

/// Two lags are almost never equal to the nanosecond, so as written the third criterion decides nothing.
#[test]
fn lags_that_are_equal_for_all_purposes_are_not_equal_as_written() {
    let lags = [(MS(50), 1), (MS(50) + Duration::from_nanos(1), 1)];
    assert_eq!(elect_primary(&mut cluster(&lags)), Some(0));
    elects(&mut ours(&lags, score), "1");
    let equal = [(MS(50), 1), (MS(50), 1)];
    assert_eq!(elect_primary(&mut cluster(&equal)), Some(1));
}

/// An order with the priority before the lag may cost 4.9 s of writes. In this crate the application chooses the order,
/// not the election.
#[test]
fn the_priority_may_cost_seconds_of_writes() {
    fn freshest(lag: Duration, priority: i32) -> Option<Score> {
        let seconds = i64::try_from(lag.as_secs()).unwrap();
        (lag < TOO_FAR).then(|| Score::from((-seconds, priority)))
    }
    let replicas = [(Duration::ZERO, 1), (MS(4_900), 2), (MS(900), 2)];
    assert_eq!(elect_primary(&mut cluster(&replicas[..2])), Some(1));
    elects(&mut ours(&replicas[..2], score), "1");
    elects(&mut ours(&replicas, freshest), "2");
}

/// The rows test the last criterion, and a lag equal to the bound, which is too far.
#[test]
fn the_other_parts_of_the_rule_are_the_same() {
    for (replicas, primary) in [
        ([(MS(300), 2), (MS(200), 2), (MS(900), 2)], 1),
        ([(MS(200), 2), (MS(200), 2), (MS(0), 1)], 1),
        ([(MS(0), 1), (MS(4_999), 2), (MS(5_000), 3)], 1),
        ([(MS(0), 1), (MS(5_000), 2), (MS(5_000), 3)], 0),
    ] {
        assert_eq!(elect_primary(&mut cluster(&replicas)), Some(primary));
        elects(&mut ours(&replicas, score), &primary.to_string());
    }
}
