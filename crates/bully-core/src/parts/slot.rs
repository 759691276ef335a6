//! Rank-staggered delays (`rank-staggered-slots` of the bully): the order in which agents act when the leadership is
//! vacant, and the wait of each agent.
//!
//! The highest-ranked agent has slot 0 and acts at once, the next agent has slot 1 and waits for one step, and so on.
//! So two agents rarely hold an election at the same time. In the same order the agents that rank above a leader ask
//! this leader (`ask-in-turn`). Decided here: the slot of an agent that cools down after a step-down. Such an agent
//! lets the other agents act first. But no agent knows which other agents cool down, and perhaps all agents cool down.
//! So an agent that cools down also has a slot, [`LAST`] slots further back: after all agents that do not cool down,
//! and in order of rank among the agents that cool down. Not here: an agent's action in its slot.

use std::time::Duration;

/// The last slot of agents that do not cool down. Chosen: agents below the eighth rank share it, so they may compete.
/// Each further slot makes the longest fail-over longer by step and jitter, 130 ms with the default timings.
pub const LAST: usize = 8;

/// Returns the slot of an agent that ranks below `ahead` other agents; the first slot is 0.
pub fn behind(ahead: usize, cools_down: bool) -> usize {
    let back = if cools_down { LAST } else { 0 };
    ahead.min(LAST).saturating_add(back)
}

/// Returns the wait for this slot: one `step` for each slot before it.
pub fn delay(step: Duration, slot: usize) -> Duration {
    step.saturating_mul(u32::try_from(slot).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_cools_down_goes_after_all_that_do_not_and_in_order_of_rank() {
        let slots = |cools_down| [0, 1, 7, 8, 9, 99].map(|ahead| behind(ahead, cools_down));
        assert_eq!(slots(false), [0, 1, 7, 8, 8, 8]);
        assert_eq!(slots(true), [8, 9, 15, 16, 16, 16]);
        let step = Duration::from_millis(4);
        assert_eq!(delay(step, behind(1, true)), Duration::from_millis(36));
        assert_eq!(delay(Duration::MAX, 2), Duration::MAX);
    }
}
