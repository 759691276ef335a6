//! `Resign`: the leadership is vacant at once; the one that is named goes first.

use super::*;

fn resign(n: u64, successor: Option<&str>) -> Resign {
    Resign {
        ballot: ballot(n, HIGH),
        successor: successor.map(id),
    }
}

#[test]
fn the_successor_takes_a_ballot_above_those_that_others_may_take() {
    let mut me = Kit::following();
    me.hear(HIGH, resign(7, Some(ME)))
        .has_no_leader(7)
        .wrote(9, Some(ballot(7, HIGH)))
        .asked(3, Some(ballot(7, HIGH)), standing(9, ME))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
}

#[test]
fn a_successor_that_does_not_come_is_not_waited_for() {
    let mut me = Kit::following();
    me.hear(HIGH, resign(7, Some(LOW))).whatever();
    me.answered(LOW, hearing(7, HIGH)); // it missed the resignation
    me.over().wrote(8, Some(ballot(7, HIGH))).whatever();
}

#[test]
fn a_successor_that_cannot_be_elected_or_is_cut_off_takes_nothing() {
    let mut me = Kit::witness();
    me.hear(HIGH, resign(7, Some(ME))).whatever();
    assert_eq!(me.machine.own(), None);
    let mut me = Kit::cut_off();
    me.hear(HIGH, resign(7, Some(ME))).whatever();
    assert_eq!(me.machine.own(), None);
}

#[test]
fn a_resignation_of_an_ended_leadership_changes_nothing() {
    let mut me = Kit::following();
    me.hear(HIGH, resign(6, Some(ME))).nothing_else_happened();
    me.hear(LOW, resign(7, Some(ME))).nothing_else_happened();
    me.hear(HIGH, resign(7, None)).whatever();
    me.hear(HIGH, resign(7, None)).nothing_else_happened();
}

#[test]
fn a_resigned_ballot_is_not_elected_again() {
    let mut me = Kit::following();
    me.hear(HIGH, resign(7, None)).whatever();
    me.answered(HIGH, leading(7, HIGH)); // it was under way for longer
    let vacant = me.over();
    assert!(vacant.events().is_empty());
    vacant.wrote(8, Some(ballot(7, HIGH))).whatever();
}

#[test]
fn an_observer_trusts_no_agent_then() {
    let mut me = Kit::observer();
    me.hear(
        HIGH,
        Leads {
            ballot: ballot(7, HIGH),
        },
    )
    .whatever();
    me.hear(HIGH, resign(7, Some(LOW)))
        .has_no_leader(7)
        .nothing_else_happened();
    me.hear(
        HIGH,
        Leads {
            ballot: ballot(7, HIGH),
        },
    )
    .nothing_else_happened();
}
