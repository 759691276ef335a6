//! Tests of scores that change more often than an election takes. A group by the plain ASTRA rules has a leader all the
//! same.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

use std::{sync::Arc, time::Duration};

use actix_bully::{
    protocol::{AgentId, Score},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::astra::{Astra, AstraConfig},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, TermOrder, World};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const MS: fn(u64) -> Duration = Duration::from_millis;

/// Returns a world of five agents in which the agent with the highest score leads.
fn world(seed: u64, config: AstraConfig) -> World<Astra> {
    let config = Arc::new(config);
    let voter = |(name, score): (&&str, u32)| {
        let id = AgentId::new(name).unwrap();
        Participant::voter(id, Some(Score::from(score)), Arc::clone(&config))
    };
    let delay = Conditions::builder().delay(MS(0)..=MS(20)).build().unwrap();
    let mut world = World::builder(seed)
        .agents(NAMES.iter().zip(1..).map(voter))
        .conditions(delay)
        .term_order(TermOrder::Any)
        .build();
    world.set_invariant(|world| {
        let one = !world.is_contested();
        one.then_some(()).ok_or_else(|| String::from("two lead"))
    });
    world.run_for(MS(1)); // they start
    for name in NAMES {
        world.campaign(name);
    }
    world.run_for(MS(10_000));
    assert_eq!(world.believers().len(), 1);
    world
}

/// Gives each agent another score twice a second, for a minute. Returns the leaders at 120 moments.
fn leaders_meanwhile(world: &mut World<Astra>, seed: u64) -> Vec<AgentId> {
    let mut random = SplitMix64::new(seed);
    let mut leaders = Vec::new();
    for _ in 0..120 {
        for name in NAMES {
            let score = i64::try_from(random.below(1_000)).unwrap();
            world.set_score(name, Some(Score::from(score)));
        }
        world.run_for(MS(250));
        leaders.extend(world.believers());
        world.run_for(MS(250));
    }
    leaders
}

/// `follow-score`, `lead-on`, `lead-after-the-former`
#[test]
fn a_leader_is_there_at_each_moment_and_the_best_one_once_scores_rest() {
    let mut moved = 0;
    for seed in 0..20 {
        let mut world = world(seed, AstraConfig::default());
        let mut leaders = leaders_meanwhile(&mut world, seed);
        assert_eq!(world.violation(), None, "seed {seed}");
        assert_eq!(leaders.len(), 120, "seed {seed}");
        leaders.dedup();
        moved += leaders.len() - 1;
        let best = NAMES.iter().max_by_key(|name| (world.score(name), **name));
        let leader = world.settle(MS(20_000)).unwrap();
        assert_eq!(leader, *best.unwrap(), "seed {seed}");
    }
    assert!(
        moved >= 20,
        "a better agent leads after a deadline: {moved}"
    );
}

/// A better agent asks the leader, but the leader's score rises before the better agent announces itself. The leader
/// stays leader, and all agents follow it.
#[test]
fn a_leader_that_is_best_again_leads_on_and_all_follow_it() {
    for seed in 0..20 {
        let mut world = world(seed, AstraConfig::default());
        world.set_score("a", Some(Score::from(9)));
        world.run_for(MS(1_000));
        world.set_score("e", Some(Score::from(10)));
        for _ in 0..50 {
            world.run_for(MS(100));
            assert_eq!(world.believers(), ["e"], "seed {seed}");
        }
        assert_eq!(world.settle(MS(1)).unwrap(), "e", "seed {seed}");
    }
}
