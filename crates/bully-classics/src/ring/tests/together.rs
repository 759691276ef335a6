//! A few machines together: a voter without a score still passes messages on.
//!
//! Each of the four members reaches only its two neighbours. So an announcement goes round only if every member passes
//! it on.

use super::*;

type World = bully_core::elections::fixture::World<Ring>;

/// Returns four members that are up and follow one leader.
fn neighbours(seed: u64) -> World {
    let mut world = World::new(seed, 4, Arc::new(lan()));
    world.weather = Weather::Calm;
    world.cuts.extend([(0, 2), (2, 0), (1, 3), (3, 1)]);
    settle(&mut world);
    world
}

fn settle(world: &mut World) {
    let end = world.now.after(Duration::from_secs(12));
    world.run(end);
}

#[test]
fn a_witness_follows_on_and_passes_on_what_goes_round() {
    for seed in 0..8 {
        for witness in 0..4 {
            let mut world = neighbours(seed);
            world.set_score(witness, None); // the leader, if it is the highest in rank
            settle(&mut world);
            let rightful = world.rightful();
            for at in 0..4 {
                world.give(at, Input::Campaign); // the witness refuses it
            }
            settle(&mut world);
            assert_eq!(world.leaders().len(), 4);
            for (leader, _) in world.leaders() {
                assert_eq!(leader, rightful, "seed {seed}, without a score: {witness}");
            }
        }
    }
}
