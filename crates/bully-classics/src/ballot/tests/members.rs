//! `Members`: a confirmed end vacates the leadership at once; a suspicion does nothing.

use super::*;

#[test]
fn the_confirmed_end_of_the_leader_is_answered_by_a_ballot() {
    let mut me = Kit::following();
    me.ends(HIGH)
        .has_no_leader(7)
        .wrote(8, Some(ballot(7, HIGH)))
        .asked(3, Some(ballot(7, HIGH)), standing(8, ME))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
}

/// Its incarnation may go on, and others may hear it: no ballot is taken before a round has shown that.
#[test]
fn a_leader_that_is_no_member_any_more_is_asked_for() {
    let mut me = Kit::following();
    me.leaves(HIGH)
        .has_no_leader(7)
        .asked(3, Some(ballot(7, HIGH)), idle())
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
    let mut alone = me.clone();
    alone.answered(LOW, idle());
    alone.over().wrote(8, Some(ballot(7, HIGH))).whatever();
    me.answered(LOW, hearing(7, HIGH));
    me.over().asked(4, Some(ballot(7, HIGH)), idle()).whatever();
}

#[test]
fn the_end_of_another_voter_changes_nothing_but_what_was_heard_of_it() {
    let mut me = Kit::following();
    me.answered(LOW, standing(9, LOW));
    me.answered(HIGH, leading(7, HIGH));
    me.ends(LOW).nothing_else_happened();
    assert!(me.over().events().is_empty(), "its ballot is gone with it");
}

#[test]
fn a_witness_and_an_observer_trust_no_agent_then() {
    let mut me = Kit::witness();
    me.answered(HIGH, standing(1, HIGH));
    me.over().whatever();
    me.ends(HIGH).has_no_leader(1).nothing_else_happened();
    let mut me = Kit::observer();
    me.hear(
        HIGH,
        Leads {
            ballot: ballot(7, HIGH),
        },
    )
    .whatever();
    me.ends(HIGH).has_no_leader(7).nothing_else_happened();
}

#[test]
fn an_observer_that_is_down_is_told_nothing() {
    let mut me = Kit::leading();
    me.ends(EYE).nothing_else_happened();
    me.answered(LOW, idle());
    let is_word = |e: &bully_core::protocol::EffectOf<Ballot>| {
        matches!(
            e,
            Effect::Send {
                message: BallotMessage::Leads(_),
                ..
            }
        )
    };
    assert!(!me.over().0.iter().any(is_word));
}
