//! `Start`: `recover-on-start` and `ask-those-above`, boot and recovery alike.

use super::*;

#[test]
fn an_incarnation_begins_with_a_new_count_and_a_question_to_all_above() {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    assert_eq!(
        me.start(),
        ["persist 4", "high: are you there? 4.me", "set Answer 200"]
    );
    assert_eq!(
        (me.machine.status(), me.role()),
        (PaperStatus::Election, Role::Candidate)
    );
    assert_eq!(me.machine.coordinator(), None);
}

#[test]
fn the_count_exceeds_what_the_snapshot_knows() {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    me.members.note_leader(Leader {
        id: id(LOW),
        incarnation: Incarnation(1),
        term: Term(9),
    });
    assert_eq!(me.start().lines()[0], "persist 10");
}

#[test]
fn the_highest_halts_at_once() {
    let mut me = Kit::began(MemberKind::Voter, Some(10));
    assert_eq!(
        me.start(),
        [
            "persist 4",
            "high low: halt 4.me score 10",
            "set Answer 200"
        ]
    );
}

#[test]
fn one_alone_leads_at_once() {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    for other in [LOW, HIGH, EYE] {
        me.members.leave(&id(other));
    }
    assert_eq!(
        me.start(),
        [
            "persist 4",
            "set Check 60",
            "acquired the leadership in term 4"
        ]
    );
    assert_eq!(me.machine.task(), Some(Task(40)));
}

#[test]
fn at_the_end_of_the_counts_no_election_is_held() {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    me.machine.core.numbers.seen = LAST_COUNT;
    assert_eq!(me.start(), NOTHING);
}
