//! `StepDown` and `Drained`: what only a bully does when it hands over.

use super::*;

/// When all others have missed it, behind those that do not cool down, and behind HIGH if it does.
const LAST_TURN: u64 = L + J + 9 * S;

#[test]
fn the_leadership_ends_before_the_resignation_is_sent() {
    let mut me = Kit::draining();
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, Some(LOW)))
        .set(BullyTimer::Campaign, LAST_TURN)
        .nothing_else_happened();
    assert_eq!(me.view().leader, None);
}

#[test]
fn an_agent_that_steps_down_alone_comes_back_in_the_last_slot() {
    let mut me = Kit::draining();
    for name in [LOW, HIGH] {
        me.ends(name).nothing_else_happened();
    }
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, None))
        .set(BullyTimer::Campaign, 8 * S)
        .nothing_else_happened();
    me.later(8 * S)
        .fire(BullyTimer::Campaign)
        .led(MINE + 1)
        .nothing_else_happened();
}
