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
fn where_no_other_member_is_it_comes_back() {
    let mut kit = Kit::draining();
    for name in [A, B, Z] {
        kit.leaves(name).whatever();
    }
    kit.step(Input::Drained).whatever();
    assert_eq!(kit.role(), Role::Leader, "in a higher term");
    assert_eq!(kit.machine.view(kit.now).term, Term(MINE + 1));
}
