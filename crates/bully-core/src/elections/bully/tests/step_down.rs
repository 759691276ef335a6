//! `StepDown` and `Drained`: what only a bully does when it hands over.

use super::*;

/// When all others have missed it, behind those that do not cool down, and behind HIGH if it does.
const LAST_TURN: u64 = L + J + 9 * S;

#[test]
fn the_successor_that_is_asked_for_has_to_be_up() {
    let mut me = Kit::leading();
    me.is_suspected(HIGH).nothing_else_happened();
    me.step_down(HIGH).drained(MINE, Some(LOW)).whatever();
}

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
fn a_successor_that_is_gone_by_then_is_replaced() {
    let mut me = Kit::draining();
    me.ends(LOW).nothing_else_happened();
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, Some(HIGH)))
        .set(BullyTimer::Campaign, LAST_TURN)
        .nothing_else_happened();
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

#[test]
fn the_successor_is_not_asked_for_the_leadership_again() {
    let mut me = Kit::cooling_down();
    me.hear(LOW, elected(MINE + 1, 1))
        .followed(LOW, MINE + 1)
        .nothing_else_happened();
    me.later(H)
        .hear(LOW, heartbeat(MINE + 1, 1))
        .set(BullyTimer::Detect, L)
        .nothing_else_happened();
}

#[test]
fn the_term_that_was_handed_over_is_the_renewed_one() {
    let mut me = Kit::draining();
    me.hear(LOW, elected(MINE + 1, 1)).whatever();
    me.step(Input::Drained)
        .lost(MINE + 2, LostReason::Resigned)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE + 2, Some(LOW)))
        .set(BullyTimer::Campaign, LAST_TURN)
        .nothing_else_happened();
}
