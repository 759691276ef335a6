//! `StepDown` and `Drained`: leaving is polite.

use super::*;

/// When all others have missed it, behind those who do not rest, and behind HIGH if it does.
const LAST_TURN: u64 = L + J + 9 * S;

fn drains(seen: Seen, to: Option<&str>) {
    seen.notified(Event::Draining {
        term: Term(MINE),
        to: to.map(id),
    })
    .set(Timer::Drain, DRAIN)
    .nothing_else_happened();
}

fn step_down(to: Option<&str>) -> InputOf<Bully> {
    Input::StepDown { to: to.map(id) }
}

#[test]
fn an_agent_that_does_not_lead_has_nothing_to_hand_over() {
    for (role, mut me) in Kit::roles() {
        if me.role() == Role::Leader {
            continue;
        }
        let before = me.machine.state.clone();
        me.step(step_down(None)).nothing_else_happened();
        me.step(step_down(Some(LOW))).nothing_else_happened();
        me.step(Input::Drained).nothing_else_happened();
        assert_eq!(me.machine.state, before, "{role}");
    }
}

#[test]
fn the_successor_wished_for_is_named_if_it_may_lead() {
    drains(Kit::leading().step(step_down(Some(LOW))), Some(LOW));
    for unfit in [ME, EYE, STRANGER] {
        drains(Kit::leading().step(step_down(Some(unfit))), Some(HIGH));
    }
}

#[test]
fn otherwise_the_highest_in_rank_that_is_up_is_named() {
    drains(Kit::leading().step(step_down(None)), Some(HIGH));
    let mut me = Kit::leading();
    me.told(|m| m.suspect(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
    drains(me.step(step_down(Some(HIGH))), Some(LOW));
}

#[test]
fn to_step_down_twice_changes_nothing() {
    Kit::draining()
        .step(step_down(Some(HIGH)))
        .nothing_else_happened();
}

#[test]
fn a_leader_that_does_not_step_down_is_not_drained() {
    let mut me = Kit::leading();
    me.step(Input::Drained).nothing_else_happened();
    assert_eq!(me.role(), Role::Leader);
}

#[test]
fn the_leadership_ends_before_the_resignation_is_sent() {
    let mut me = Kit::draining();
    me.step(Input::Drained)
        .lost(LostReason::Resigned)
        .set(Timer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, Some(LOW)))
        .set(Timer::Campaign, LAST_TURN)
        .nothing_else_happened();
    assert_eq!(me.view().leader, None);
}

#[test]
fn the_work_that_takes_too_long_is_not_waited_for() {
    let mut me = Kit::draining();
    me.later(DRAIN)
        .fire(Timer::Drain)
        .lost(LostReason::Resigned)
        .set(Timer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, Some(LOW)))
        .set(Timer::Campaign, LAST_TURN)
        .nothing_else_happened();
}

#[test]
fn a_successor_that_is_gone_by_then_is_replaced() {
    let mut me = Kit::draining();
    me.told(|m| m.down(&id(LOW), Incarnation(1)))
        .nothing_else_happened();
    me.step(Input::Drained)
        .lost(LostReason::Resigned)
        .set(Timer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, Some(HIGH)))
        .set(Timer::Campaign, LAST_TURN)
        .nothing_else_happened();
}

#[test]
fn an_agent_that_steps_down_alone_comes_back_in_the_last_slot() {
    let mut me = Kit::draining();
    for name in [LOW, HIGH] {
        me.told(|m| m.down(&id(name), Incarnation(1)))
            .nothing_else_happened();
    }
    me.step(Input::Drained)
        .lost(LostReason::Resigned)
        .set(Timer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, None))
        .set(Timer::Campaign, 8 * S)
        .nothing_else_happened();
    me.later(8 * S)
        .fire(Timer::Campaign)
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
        .set(Timer::Detect, L)
        .nothing_else_happened();
}

#[test]
fn the_term_that_was_handed_over_is_the_renewed_one() {
    let mut me = Kit::draining();
    me.hear(LOW, elected(MINE + 1, 1)).whatever();
    me.step(Input::Drained)
        .notified(Event::Lost {
            term: Term(MINE + 2),
            reason: LostReason::Resigned,
        })
        .set(Timer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE + 2, Some(LOW)))
        .set(Timer::Campaign, LAST_TURN)
        .nothing_else_happened();
}
