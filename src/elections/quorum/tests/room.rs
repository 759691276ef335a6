//! A change of the voters and the stores that have no room for a list, those of format 1; and who may not ask for one.

use super::{epochs::*, *};
use crate::elections::message::{AskChange, ChangeAnswer, Enlist};
use crate::protocol::{ChangeError, MinimumRole, PeerMessage, VoterChange};

fn without_room(name: &str) -> ChangeError {
    ChangeError::NotUpgraded { id: id(name) }
}

#[test]
fn a_voter_whose_store_has_no_room_is_kept_in_no_new_list() {
    let me = Kit::heard();
    let said = roomless(&me);
    let mut me = me.after(LOW, said);
    me.change(remove(HIGH))
        .notified(answered(remove(HIGH), Err(without_room(LOW))))
        .nothing_else_happened();
    me.change(remove(LOW)).drained(MINE, None).whatever();

    let me = Kit::heard();
    let said = roomless(&me);
    let mut me = me.after(LOW, said);
    me.acked(LOW, 1).whatever(); // it was upgraded, and started again
    me.change(remove(HIGH)).drained(MINE, None).whatever();
}

#[test]
fn a_learner_whose_store_has_no_room_becomes_no_voter() {
    let term = Term(MINE);
    for keeps_lists in [false, true] {
        let said = Enlist { term, keeps_lists };
        let mut me = Kit::heard().after(EYE, said);
        let seen = me.change(add(EYE));
        if keeps_lists {
            seen.drained(MINE, None).whatever();
        } else {
            seen.notified(answered(add(EYE), Err(without_room(EYE))))
                .nothing_else_happened();
        }
    }
}

/// It would seal first, also where it is the one that goes.
#[test]
fn a_leader_whose_own_store_has_no_room_changes_nothing() {
    let mut me = Kit::heard();
    me.machine.core.me.keeps_lists = false;
    for asked in [remove(LOW), remove(ME)] {
        me.change(asked.clone())
            .notified(answered(asked, Err(without_room(ME))))
            .nothing_else_happened();
    }
}

/// It was away when the leader asked. Its agent would end if it had to keep the list.
#[test]
fn a_voter_whose_store_has_no_room_seals_nothing() {
    let mut me = Kit::following();
    me.machine.core.me.keeps_lists = false;
    me.hear(HIGH, seal(OLD, &[ME, HIGH]))
        .nothing_else_happened();
    me.machine.core.me.keeps_lists = true;
    assert!(me.hear(HIGH, seal(OLD, &[ME, HIGH])).writes());
}

/// One that is removed has no vote to remember. A voter cannot go without a record, and its store will say so.
#[test]
fn a_list_that_has_no_room_is_written_by_its_voters_only() {
    for (next, writes) in [([LOW, HIGH], false), ([ME, HIGH], true)] {
        let mut me = Kit::following();
        me.machine.core.me.keeps_lists = false;
        let seen = me.hear(HIGH, install(1, &next));
        assert_eq!(seen.writes(), writes, "{next:?}");
        assert_eq!(me.machine.core.config.epoch, 1);
    }
}

#[test]
fn a_change_under_way_is_not_refused_for_what_happened_since() {
    let mut me = Kit::heard().after(EYE, enlist(MINE));
    me.change(add(EYE)).drained(MINE, None).whatever();
    // The learner is gone: a change that is not begun yet would be refused for that.
    let core = &mut me.machine.core;
    assert!(core.me.is_up(&id(EYE)));
    let State::Leading(leading) = &mut me.machine.state else {
        panic!("it leads");
    };
    leading.learners.clear();
    me.hear(LOW, ask(add(EYE), false)).nothing_else_happened();
    me.change(add(EYE)).nothing_else_happened();
    let refused = answered(remove(LOW), Err(ChangeError::UnderWay));
    me.change(remove(LOW))
        .notified(refused)
        .nothing_else_happened();
}

fn ask(change: VoterChange, is_unentitled: bool) -> AskChange {
    AskChange {
        term: Term(MINE),
        change: Box::new(change),
        is_unentitled,
    }
}

#[test]
fn who_may_only_observe_gets_a_refusal_from_the_leader_and_nothing_from_others() {
    let refusal = ChangeAnswer {
        term: Term(MINE),
        change: Box::new(remove(HIGH)),
        outcome: Err(ChangeError::NotAllowed),
    };
    Kit::heard()
        .hear(EYE, ask(remove(HIGH), true))
        .sent(EYE, refusal)
        .nothing_else_happened();
    Kit::following()
        .hear(EYE, ask(remove(HIGH), true))
        .nothing_else_happened();
    Kit::heard()
        .hear(EYE, ask(remove(HIGH), false))
        .drained(MINE, None)
        .whatever();
}

/// What a bridge makes of it where the sender may only observe.
#[test]
fn a_question_without_the_right_to_ask_it_is_still_heard() {
    let asked = BullyMessage::from(ask(remove(HIGH), false));
    assert_eq!(asked.needs(&id(EYE)), MinimumRole::Voter);
    assert_eq!(asked.unentitled(), Some(ask(remove(HIGH), true).into()));
    let sealed = BullyMessage::from(sealed(MINE));
    assert_eq!(
        (sealed.needs(&id(EYE)), sealed.unentitled()),
        (MinimumRole::Voter, None)
    );
}
