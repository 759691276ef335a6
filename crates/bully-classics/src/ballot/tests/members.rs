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

#[test]
fn a_later_incarnation_of_the_leader_is_an_end_of_the_former_one() {
    let mut me = Kit::following();
    me.begins(HIGH, 2)
        .has_no_leader(7)
        .wrote(8, Some(ballot(7, HIGH)))
        .whatever();
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

/// As a bridge does when a peer is removed and added again.
#[test]
fn a_leader_that_is_met_again_in_the_same_incarnation_is_trusted_again() {
    let high = || Member::up(id(HIGH), MemberKind::Voter, Some(9.into()), Incarnation(1));
    let mut witness = Kit::witness();
    witness.answered(HIGH, standing(1, HIGH));
    witness.over().whatever();
    for (mut me, n) in [(Kit::following(), 7), (witness, 1)] {
        me.leaves(HIGH).whatever();
        me.told(|members| members.join([high()])).whatever();
        me.answered(HIGH, leading(n, HIGH));
        let trusts = me.over();
        assert!(matches!(trusts.events()[..], [Event::NewLeader(l)] if l.term == Term(n)));
        trusts.whatever();
    }
    let leads = Leads {
        ballot: ballot(7, HIGH),
    };
    let mut observer = Kit::observer();
    observer.hear(HIGH, leads.clone()).whatever();
    observer
        .leaves(HIGH)
        .has_no_leader(7)
        .nothing_else_happened();
    observer.told(|members| members.join([high()])).whatever();
    observer.hear(HIGH, leads).new_leader(HIGH, 7).whatever();
}

#[test]
fn a_suspicion_changes_nothing() {
    let mut me = Kit::following();
    me.is_suspected(HIGH).nothing_else_happened();
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
fn an_agent_that_is_cut_off_takes_no_ballot() {
    let mut me = Kit::cut_off();
    me.ends(HIGH).nothing_else_happened();
    let mut me = Kit::reborn();
    me.ends(HIGH).nothing_else_happened();
}

/// Others may not know yet, and say that they hear it.
#[test]
fn no_voter_waits_for_a_leader_whose_end_is_confirmed() {
    let mut me = Kit::following();
    me.ends(HIGH).whatever();
    me.answered(LOW, hearing(7, HIGH));
    let elected = me.over();
    assert_eq!(elected.events(), [&Event::Acquired { term: Term(8) }]);
    elected.whatever();
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
fn a_new_observer_is_told_with_the_next_round() {
    let mut me = Kit::leading();
    let spy = Member::up(id("spy"), MemberKind::Observer, None, Incarnation(1));
    me.told(|members| members.join([spy]))
        .nothing_else_happened();
    me.answered(LOW, idle());
    let effects = me.over();
    let told = Effect::Send {
        to: To::Set([EYE, "spy"].map(id).into()),
        message: Leads {
            ballot: ballot(8, ME),
        }
        .into(),
    };
    assert!(effects.0.contains(&told), "{effects:?}");
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
