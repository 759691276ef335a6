//! A few machines together: at every instant, their promise holds.

use super::*;

#[test]
fn at_most_one_leads_while_messages_keep_to_the_delay_bound() {
    for seed in 0..60 {
        for size in 2..=4 {
            let mut world = World::<Astra>::new(seed, size, Arc::default());
            world.weather = Weather::Calm;
            for at in 0..size {
                world.give(at, Input::Campaign);
            }
            for _ in 0..world.dice.below(12) {
                let pause = world.dice.below(3_000);
                world.watch(pause);
                match world.dice.below(5) {
                    0 => world.crash(),
                    1 => world.revive_one(),
                    2 => world.another_score(),
                    _ => {
                        let at = world.dice.index(size);
                        world.give(at, Input::Campaign);
                    }
                }
            }
            world.watch(20_000);
            for at in 0..size {
                world.give(at, Input::Campaign); // a leader announces itself again
            }
            world.watch(20_000);
            let rightful = world.rightful();
            for (leader, _) in world.leaders() {
                assert_eq!(leader, rightful, "seed {seed} of {size}");
            }
        }
    }
}
