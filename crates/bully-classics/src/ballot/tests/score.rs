//! `SetScore`: counts in the next ballot.

use super::*;

#[test]
fn a_score_moves_no_leadership_and_counts_in_the_next_ballot() {
    let mut me = Kit::leading();
    me.set_score(2).nothing_else_happened();
    assert_eq!(me.says().ballot, Some(ballot(8, ME)));

    let mut me = Kit::following();
    me.set_score(99).nothing_else_happened();
    me.answered(LOW, idle());
    me.over().whatever();
    assert_eq!(me.machine.own().unwrap().score, 99.into());
}

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
fn a_candidate_that_cannot_be_elected_any_more_gives_its_ballot_up() {
    let mut me = Kit::fresh();
    me.set_score(None).nothing_else_happened();
    let said = me.says();
    assert_eq!((said.ballot, said.eligible), (None, false));
    me.answered(LOW, idle());
    me.over()
        .asked(
            2,
            None,
            Standing {
                eligible: false,
                ..idle()
            },
        )
        .whatever();
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
