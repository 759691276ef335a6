//! `Members`: a certain end vacates the seat at once; a guess does nothing.

use super::*;

#[test]
fn the_certain_end_of_the_leader_is_answered_by_a_ballot() {
    let mut me = Kit::following();
    me.told(|members| members.down(&id(HIGH), Incarnation(1)))
        .leaderless(7)
        .wrote(8, Some(ballot(7, HIGH)))
        .asked(3, Some(ballot(7, HIGH)), standing(8, ME))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
}

#[test]
fn a_later_life_of_the_leader_and_its_leaving_are_ends() {
    for change in [
        |members: &mut Members| members.up(&id(HIGH), Incarnation(2)),
        |members: &mut Members| members.leave(&id(HIGH)),
    ] {
        let mut me = Kit::following();
        me.told(change)
            .leaderless(7)
            .wrote(8, Some(ballot(7, HIGH)))
            .whatever();
    }
}

#[test]
fn a_guess_changes_nothing() {
    let mut me = Kit::following();
    me.told(|members| members.suspect(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
}

#[test]
fn the_end_of_somebody_else_changes_nothing_but_what_was_heard_of_it() {
    let mut me = Kit::following();
    me.answered(LOW, standing(9, LOW));
    me.answered(HIGH, leading(7, HIGH));
    me.told(|members| members.down(&id(LOW), Incarnation(1)))
        .nothing_else_happened();
    assert!(me.over().events().is_empty(), "its ballot is gone with it");
}

#[test]
fn who_is_cut_off_takes_no_ballot() {
    let mut me = Kit::cut_off();
    me.told(|members| members.down(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
    let mut me = Kit::reborn();
    me.told(|members| members.down(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
}

/// Others may not know yet, and say that they hear it.
#[test]
fn nobody_is_held_back_for_a_leader_that_has_certainly_ended() {
    let mut me = Kit::following();
    me.told(|members| members.down(&id(HIGH), Incarnation(1)))
        .whatever();
    me.round += 1;
    me.answered(LOW, hearing(7, HIGH));
    let elected = me.over();
    assert_eq!(elected.events(), [&Event::Acquired { term: Term(8) }]);
    elected.whatever();
}

#[test]
fn a_witness_and_an_observer_trust_nobody_then() {
    let mut me = Kit::witness();
    me.answered(HIGH, standing(1, HIGH));
    me.over().whatever();
    me.told(|members| members.down(&id(HIGH), Incarnation(1)))
        .leaderless(1)
        .nothing_else_happened();
    let mut me = Kit::observer();
    me.hear(
        HIGH,
        Leads {
            ballot: ballot(7, HIGH),
        },
    )
    .whatever();
    me.told(|members| members.down(&id(HIGH), Incarnation(1)))
        .leaderless(7)
        .nothing_else_happened();
}

#[test]
fn a_new_observer_is_told_with_the_next_round() {
    let mut me = Kit::leading();
    let spy = Member::up(id("spy"), MemberKind::Observer, None, Incarnation(1));
    me.told(|members| members.join([spy]))
        .nothing_else_happened();
    me.answered(LOW, idle());
    let seen = me.over();
    let told = Effect::Send {
        to: To::Set([EYE, "spy"].map(id).into()),
        message: Leads {
            ballot: ballot(8, ME),
        }
        .into(),
    };
    assert!(seen.0.contains(&told), "{seen:?}");
}
