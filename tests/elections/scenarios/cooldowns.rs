//! An agent that stepped down a short while ago lets other agents go first. The test checks how long a group may have
//! no leader for that reason. It plays the same stories with every election that has a cool-down, against the bound in
//! the documentation of its `cooldown`.
//!
//! A cool-down lasts 60 s, so an agent that waits until its cool-down ends exceeds every bound by far.

use std::time::Duration;

use super::{Subject, Variant, Visit, in_each, play};

/// The scores, the script before, the last command, the agents that may lead next, and whether all remaining agents
/// cool down, which makes the bound longer. A group has three candidates, or two candidates and a witness.
struct Story(
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
    bool,
);

/// In the first story the leader dies, and the only other candidate cools down. This candidate does not wait for the
/// dead leader.
///
/// In the second and third story all remaining agents cool down, and the rank decides among them. In a quorum, however,
/// an agent that cools down does not send its score to the leader. So the leader cannot name this agent as its
/// successor, and after its own step-down the leader does not know whether the agent ranks higher. Either agent may
/// lead then.
///
/// In the fourth story an agent that does not cool down goes first, although the agent that cools down has the higher
/// rank.
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
