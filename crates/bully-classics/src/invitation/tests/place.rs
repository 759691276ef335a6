//! `CoordinatorReply`: a coordinator finds other coordinators (`look-for-others`). Also a coordinator that resigns.

use super::*;

fn coordinator(members: u32) -> GroupRole {
    GroupRole::Coordinator { members }
}

#[test]
fn one_found_above_is_given_a_step_to_invite_all() {
    let mut me = Kit::asking();
    me.hear(HIGH, place(4, Some(9), coordinator(0))).whatever();
    me.hear(LOW, place(4, Some(1), GroupRole::Free)).whatever();
    assert_eq!(me.later(27).fire(InvitationTimer::Check), ["set Check 18"]);
    assert_eq!(me.role(), Role::Leader);
    let said = me.later(18).fire(InvitationTimer::Check);
    assert_eq!(
        said.lines()[2],
        "low: invitation to 5.me score 5",
        "HIGH is not invited"
    );
}

#[test]
fn a_member_that_has_missed_the_task_gets_it_again() {
    let mut me = Kit::leading();
    me.later(60).fire(InvitationTimer::Check).whatever();
    let group = election(5, ME);
    let joins = GroupRole::Joining {
        group: group.clone(),
    };
    assert_eq!(
        me.hear(LOW, place(5, Some(1), joins)),
        ["low: ready 5.me task 40"]
    );
    assert_eq!(
        me.hear(LOW, place(5, Some(1), GroupRole::Member { group })),
        NOTHING
    );
    assert_eq!(me.later(27).fire(InvitationTimer::Check), ["set Check 60"]);
}

#[test]
fn of_the_old_members_those_that_answer_are_invited_again() {
    let mut me = Kit::leading();
    me.later(60).fire(InvitationTimer::Check).whatever();
    me.hear(HIGH, place(5, None, GroupRole::Free)).whatever();
    let silent = me.clone().later(27).fire(InvitationTimer::Check);
    assert_eq!(silent.lines()[2], "high: invitation to 6.me score 5");
    let group = election(5, ME);
    me.hear(LOW, place(5, Some(1), GroupRole::Member { group }))
        .whatever();
    assert_eq!(
        me.later(27).fire(InvitationTimer::Check).lines()[2],
        "high low: invitation to 6.me score 5"
    );
}

#[test]
fn the_others_wait_for_their_slots_when_a_coordinator_resigns() {
    let mut me = Kit::following();
    me.told(|m| m.set_score(&id(LOW), Some(6.into())))
        .whatever();
    let resign = Resign {
        group: election(7, HIGH),
        successor: None,
    };
    assert_eq!(
        me.hear(HIGH, resign),
        ["has no leader since term 7", "set Slot 54"],
        "after LOW, and not after HIGH"
    );
}
