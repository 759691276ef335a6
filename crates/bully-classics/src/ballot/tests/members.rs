//! `Members`: an agent stops following a leader that is gone, and tells its observers.

use super::*;

/// The incarnation of that leader may continue, and other voters may hear it. So the agent takes no ballot before a
/// round has ended in which no voter hears that leader.
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
fn the_end_of_another_voter_ends_only_its_last_answer() {
    let mut me = Kit::following();
    me.answered(LOW, standing(9, LOW));
    me.answered(HIGH, leading(7, HIGH));
    me.ends(LOW).nothing_else_happened();
    assert!(me.over().events().is_empty(), "LOW's ballot is gone");
}

#[test]
fn an_observer_that_is_down_is_told_nothing() {
    let mut me = Kit::leading();
    me.ends(EYE).nothing_else_happened();
    me.answered(LOW, idle());
    let said = me.over().lines();
    assert!(!said.iter().any(|line| line.contains("leads")), "{said:?}");
}
