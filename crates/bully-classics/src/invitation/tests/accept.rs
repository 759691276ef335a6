//! `Accept` and `Decline`: how agents form a group (`merge-those-below`, `count-acceptances`).

use super::*;

/// Returns an agent that found a group of three under HIGH, which has no score any more.
fn with_a_group_of_three() -> Kit {
    let mut me = Kit::asking();
    me.hear(HIGH, place(4, None, GroupRole::Coordinator { members: 2 }))
        .whatever();
    me.later(27).fire(InvitationTimer::Check).whatever();
    me
}

#[test]
fn members_that_others_bring_are_waited_for() {
    let mut me = with_a_group_of_three();
    assert_eq!(me.hear(HIGH, accept(5, ME)), NOTHING);
    assert_eq!(me.hear(LOW, accept(5, ME)), NOTHING);
    assert_eq!(
        me.hear(LOW, accept(5, ME)),
        NOTHING,
        "a copy brings no member"
    );
    assert_eq!(
        me.later(200).fire(InvitationTimer::Accepts).lines()[2],
        "eye high low: ready 5.me task 40"
    );
}

#[test]
fn when_only_agents_that_are_down_are_awaited_it_ends_soon() {
    let mut me = Kit::asking();
    for (name, score) in [(HIGH, None), (LOW, Some(1))] {
        me.hear(name, place(4, score, GroupRole::Free)).whatever();
    }
    me.later(27).fire(InvitationTimer::Check).whatever();
    assert_eq!(me.ends(LOW), NOTHING);
    assert_eq!(
        me.hear(HIGH, accept(5, ME)),
        ["set Accepts 27"],
        "its next incarnation may not be known yet"
    );
}

#[test]
fn an_agent_that_declines_brings_no_member() {
    let mut me = with_a_group_of_three();
    assert_eq!(
        me.hear(HIGH, decline(5, ME, 9)).lines()[1],
        "acquired the leadership in term 5"
    );
    let mut me = with_a_group_of_three();
    me.hear(HIGH, accept(5, ME)).whatever();
    me.hear(LOW, decline(5, ME, 9)).whatever();
    me.told(|m| {
        let up = Member::up(id("x"), MemberKind::Voter, None, Incarnation(1));
        m.join([up]);
    })
    .whatever();
    let said = me.hear("x", accept(5, ME));
    assert_eq!(said.lines()[2], "eye high x: ready 5.me task 40");
}

#[test]
fn a_copy_of_a_decline_counts_for_nothing() {
    let mut me = with_a_group_of_three();
    me.hear(HIGH, accept(5, ME)).whatever();
    for _ in 0..3 {
        assert_eq!(me.hear(LOW, decline(5, ME, 9)), NOTHING, "one answer lacks");
    }
}

#[test]
fn an_observers_decline_asks_for_a_new_number() {
    let after_a_check = |mut me: Kit, from| {
        me.later(60).fire(InvitationTimer::Check).whatever();
        let group = election(5, ME);
        me.hear(LOW, place(5, Some(1), GroupRole::Member { group }))
            .whatever();
        assert_eq!(me.hear(from, decline(5, ME, 30)), NOTHING);
        me.later(27).fire(InvitationTimer::Check)
    };
    assert_eq!(
        after_a_check(Kit::leading(), EYE),
        [
            "lost the leadership of term 5: reorganized",
            "persist 31",
            "low: invitation to 31.me score 5",
            "set Accepts 200"
        ]
    );
    assert_eq!(
        after_a_check(Kit::leading(), LOW),
        ["set Check 60"],
        "the decline of a voter changes no number"
    );
    assert_eq!(
        after_a_check(Kit::draining(), EYE),
        ["set Check 60"],
        "the leader steps down anyway"
    );
}
