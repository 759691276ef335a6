//! `StepDown` and `Drained`: what only a ring does when it hands over.

use super::*;

/// The nomination by which this member hands over.
fn hand_over(to: &str) -> Nominate {
    Nominate {
        election: election(MINE + 1, ME, Some(5)),
        winner: id(to),
        incarnation: Incarnation(1),
        passed: Bounded::of(id(ME)),
    }
}

#[test]
fn the_leadership_ends_then_the_successor_is_nominated() {
    let mut kit = Kit::leading();
    kit.step_down(Z).whatever();
    kit.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(RingTimer::Cooldown, COOLDOWN)
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Nominate, hand_over(Z))
        .nothing_else_happened();
}

#[test]
fn a_successor_that_has_ended_meanwhile_is_replaced() {
    let mut kit = Kit::draining();
    kit.ends(Z).whatever();
    kit.step(Input::Drained).whatever();
    let hop = kit.machine.core.hops.get(&Lap::Nominate).unwrap();
    assert_eq!((&hop.to, &hop.message), (&id(A), &hand_over(B).into()));
}

#[test]
fn a_successor_that_is_gone_is_found_out_by_the_nomination() {
    let mut kit = Kit::draining();
    kit.step(Input::Drained).whatever();
    let mut round = hand_over(Z);
    for name in [A, B] {
        round.passed.push(id(name));
    }
    let mut list = collect(MINE + 2, (ME, 5), &[]);
    list.entrants.push(Entrant {
        defers: true,
        ..entrant(ME, Some(5))
    });
    kit.hear(B, round)
        .sent(B, ack(Lap::Nominate, MINE + 1, ME, 0, MINE))
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, list)
        .nothing_else_happened();
}

#[test]
fn where_no_other_member_is_it_comes_back() {
    let mut kit = Kit::draining();
    for name in [A, B, Z] {
        kit.leaves(name).whatever();
    }
    kit.step(Input::Drained).whatever();
    assert_eq!(kit.role(), Role::Leader, "in a higher term");
    assert_eq!(kit.machine.view(kit.now).term, Term(MINE + 1));
}

#[test]
fn a_challenge_waits_for_the_end_of_the_cool_down() {
    let mut kit = Kit::cooling_down();
    assert_eq!(kit.leader().as_deref(), Some(Z));
    kit.later(COOLDOWN - 1)
        .fire(RingTimer::Cooldown)
        .set(RingTimer::Cooldown, 1)
        .nothing_else_happened();
    kit.later(1)
        .fire(RingTimer::Cooldown)
        .set(RingTimer::Slot, S) // it outranks z, and b is ahead of it
        .nothing_else_happened();
}

#[test]
fn an_agent_that_cools_down_has_the_last_slot_and_is_still_chosen_last() {
    let mut kit = Kit::cooling_down();
    kit.ends(Z)
        .has_no_leader(MINE + 1)
        .set(RingTimer::Slot, 9 * S) // after all that do not cool down, and b if it does
        .nothing_else_happened();
    let mut list = collect(MINE + 2, (ME, 5), &[]);
    list.entrants.push(Entrant {
        defers: true,
        ..entrant(ME, Some(5))
    });
    kit.later(9 * S)
        .fire(RingTimer::Slot)
        .set(RingTimer::Token, 3 * 2 * HOP)
        .passed(A, Lap::Collect, list)
        .nothing_else_happened();
}

#[test]
fn an_agent_that_cools_down_lets_no_suspect_go_first() {
    let mut kit = Kit::cooling_down();
    for name in [A, B] {
        kit.ends(name).whatever();
    }
    kit.later(LOST).fire(RingTimer::Silence).whatever();
    assert_eq!(kit.suspects(), [Z]);
    assert_eq!(kit.role(), Role::Leader, "no other member is there");
    // Neither the leader that is gone, nor a member that is skipped for another reason.
    let mut kit = Kit::cooling_down();
    kit.ends(A).whatever();
    kit.machine
        .core
        .suspects
        .insert(id(B), Some(Incarnation(1)));
    kit.ends(Z).whatever();
    assert_eq!(kit.role(), Role::Follower);
}
