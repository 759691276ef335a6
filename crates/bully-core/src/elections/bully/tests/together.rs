//! A few machines together. Messages are lost, late, doubled and reordered at first. When the network is calm, the
//! highest in rank is the only leader.
//!
//! The seeded simulator plays longer and larger histories. These tests find the races that one machine alone does not
//! show.

use super::*;

type World = crate::elections::fixture::World<Bully>;

/// Returns a group after a storm with faults and a calm time.
fn weathered(seed: u64, size: usize, config: Arc<BullyConfig>) -> World {
    let mut world = World::new(seed, size, config);
    for _ in 0..world.dice.below(25) {
        let pause = world.dice.below(400);
        let next = world.now.after(Duration::from_millis(pause));
        world.run(next);
        world.random_fault();
    }
    world.weather = Weather::Calm;
    world.cuts.clear();
    let end = world.now.after(Duration::from_secs(12));
    world.run(end);
    world
}

/// Returns the configuration with a cool-down that ends before the calm time.
fn with_a_short_cooldown(mut config: Arc<BullyConfig>) -> Arc<BullyConfig> {
    let settings = Arc::make_mut(&mut config);
    settings.cooldown = Duration::from_secs(2);
    settings.drain = Duration::from_millis(200);
    config
}

#[test]
fn after_any_storm_the_highest_in_rank_leads() {
    for seed in 0..150 {
        for size in 2..=4 {
            let world = weathered(seed, size, with_a_short_cooldown(lan()));
            let rightful = world.rightful();
            for (leader, changed) in world.leaders() {
                assert_eq!(leader, rightful, "seed {seed} of {size}");
                let settled = world.now.since(changed);
                assert!(settled > Duration::from_secs(4), "seed {seed} of {size}");
            }
        }
    }
}

#[test]
fn after_any_storm_one_leads_where_leaders_are_left_alone() {
    for seed in 0..80 {
        for size in 2..=4 {
            let world = weathered(seed, size, with_a_short_cooldown(never()));
            let leaders = world.leaders();
            let first = leaders.first().and_then(|(leader, _)| leader.clone());
            assert_eq!(first.is_some(), world.rightful().is_some(), "seed {seed}");
            for (leader, changed) in leaders {
                assert_eq!(leader, first, "seed {seed} of {size}");
                let settled = world.now.since(changed);
                assert!(settled > Duration::from_secs(4), "seed {seed} of {size}");
            }
        }
    }
}

#[test]
fn after_any_storm_the_highest_in_rank_leads_in_the_end_where_leaders_have_a_grace_period() {
    for seed in 0..80 {
        for size in 2..=4 {
            let world = weathered(seed, size, with_a_short_cooldown(after_a_second()));
            let rightful = world.rightful();
            for (leader, _) in world.leaders() {
                assert_eq!(leader, rightful, "seed {seed} of {size}");
            }
        }
    }
}
