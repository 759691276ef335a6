//! Rank-staggered delays: the order in which agents act when the leadership is vacant, and the time that each one
//! waits.
//!
//! The highest in rank has slot 0 and goes at once, the next one has slot 1 and waits for one step, and so on: so two
//! agents rarely hold an election at the same time. Decided here: the slot of an agent that cools down after a
//! step-down. It lets the others go first. But no agent knows which others cool down, and perhaps all of them do. So it
//! has a slot like every other agent, [`LAST`] slots further back: behind all that do not cool down, and among those
//! that cool down in order of rank. Not here: an agent's action in its slot.

use std::time::Duration;

/// The last slot of agents that do not cool down.
pub const LAST: usize = 8;

/// Returns the slot of an agent with `ahead` other agents before it; the first is 0.
pub fn behind(ahead: usize, cools_down: bool) -> usize {
    let back = if cools_down { LAST } else { 0 };
    ahead.min(LAST).saturating_add(back)
}

/// Returns the wait for that slot: one `step` for each slot before it.
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
