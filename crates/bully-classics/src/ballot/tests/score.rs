//! `SetScore`: counts in the next ballot.

use super::*;

#[test]
fn a_leader_that_cannot_be_elected_any_more_drains() {
    let mut me = Kit::leading();
    me.set_score(None)
        .drained(8, Some(HIGH))
        .set(BallotTimer::Drain, DRAIN)
        .nothing_else_happened();
    me.step(Input::Drained)
        .lost(8, LostReason::Resigned)
        .whatever();
    assert_eq!(
        me.machine.core.cooldown, None,
        "it may stand as soon as it has a score"
    );
}

#[test]
fn an_agent_that_becomes_eligible_takes_a_ballot_when_the_leadership_is_vacant() {
    let mut me = Kit::witness();
    me.set_score(5).nothing_else_happened();
    me.answered(LOW, idle());
    me.over()
        .wrote(1, None)
        .asked(2, None, standing(1, ME))
        .whatever();
}
