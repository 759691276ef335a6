//! An agent that stepped down a short while ago lets others go first; how long may a group be without a leader for that? The
//! same questions to every election that has a cool-down, against the bound that is stated beside its `cooldown`.
//!
//! A cool-down is 60 s, so that an agent that waits for its end is far beyond any bound.

use std::time::Duration;

use super::{Subject, Variant, Visit, in_each, play};

/// What happens before, the last command, the next leader, and whether all that are left cool down, so that the bound is
/// longer. Three agents lead in turn, or two and a witness.
struct Story(
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
    bool,
);

/// The dead leader is no company to one that cools down. All that are left cool down, and one of these leads: among them the
/// rank counts; a leader of a quorum is told no score by one that cools down, so that it names no such successor, and
/// after it has stepped down itself it does not know whether it goes second. Two step down one after the other. One
/// that does not cool down goes first, though the one that does has the higher rank.
const STORIES: [Story; 4] = [
    Story(
        "1 2 -",
        "campaign b; settle; step-down b a; settle",
        "crash a",
        &["b"],
        false,
    ),
    Story(
        "1 2 3",
        "campaign c; settle; step-down c b; settle; step-down b a; settle",
        "crash a",
        &["c", "b"],
        true,
    ),
    Story(
        "1 2 -",
        "campaign b; settle; step-down b a; settle",
        "step-down a",
        &["a", "b"],
        true,
    ),
    Story(
        "1 2 3",
        "campaign c; settle; step-down c b; settle",
        "crash b",
        &["a"],
        true,
    ),
];

struct CoolDowns;

impl Visit for CoolDowns {
    type Outcome = ();

    fn visit<E: Subject>(&self, variant: Variant) {
        let Some(variant) = variant.cooling_down_for_long() else {
            return;
        };
        for Story(scores, before, act, leaders, all_cool) in &STORIES {
            for seed in 0..9 {
                let mut world = variant.world::<E>(seed, scores, true);
                play(&mut world, before);
                let story = play(&mut world, &format!("{act}; settle"));
                let text = || format!("{}, {act}, seed {seed}: {story:?}", variant.name);
                let leader = world.agreed().unwrap_or_else(|| panic!("{}", text())).id;
                assert!(leaders.contains(&leader.as_str()), "{}", text());
                let n = scores.split(' ').count();
                let delay = if *all_cool || !E::IGNORES_THE_DEAD {
                    E::delay()
                } else {
                    Duration::ZERO
                };
                assert!(story.took <= variant.failover::<E>(n) + delay, "{}", text());
            }
        }
    }
}

#[test]
fn a_cool_down_delays_no_leader_for_longer_than_is_stated() {
    in_each(&CoolDowns);
}
