//! `Start`, and the slot that follows: `form-by-rank`.

use super::*;

#[test]
fn an_agent_that_is_not_the_first_is_free_until_its_slot_comes() {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    assert_eq!(me.start(), ["set Slot 54"]);
    assert_eq!(
        (me.machine.status(), me.role()),
        (PaperStatus::Election, Role::Follower)
    );
    assert_eq!(me.later(53).fire(InvitationTimer::Slot), ["set Slot 1"]);
    assert_eq!(me.later(1).fire(InvitationTimer::Slot), FORMED);
}

/// A group of one, and the first check.
const FORMED: [&str; 5] = [
    "persist 4",
    "set Check 60",
    "acquired the leadership in term 4",
    "all: are you coordinator? of 4.me",
    "set Check 27",
];

#[test]
fn the_first_forms_a_group_of_one_at_once() {
    let mut me = Kit::began(MemberKind::Voter, Some(10));
    assert_eq!(me.start(), FORMED);
    assert_eq!(
        (me.machine.status(), me.role()),
        (PaperStatus::Normal, Role::Leader)
    );
    assert_eq!(me.machine.task(), Some(Task(40)));
}

#[test]
fn the_number_exceeds_what_the_snapshot_knows() {
    let mut me = Kit::began(MemberKind::Voter, Some(10));
    me.members.note_leader(Leader {
        id: id(LOW),
        incarnation: Incarnation(1),
        term: Term(9),
    });
    assert_eq!(me.start().lines()[0], "persist 10");
}
