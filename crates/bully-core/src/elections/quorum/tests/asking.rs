//! A change of the voters that is under way, and who may not ask for one.

use super::{epochs::*, *};
use crate::elections::message::{AskChange, ChangeAnswer};
use crate::protocol::{ChangeError, MinimumRole, PeerMessage, VoterChange};

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
fn an_observer_gets_a_refusal_from_the_leader_and_no_answer_from_others() {
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
    let asked = QuorumMessage::from(ask(remove(HIGH), false));
    assert_eq!(asked.needs(&id(EYE)), MinimumRole::Voter);
    assert_eq!(asked.unentitled(), Some(ask(remove(HIGH), true).into()));
    let sealed = QuorumMessage::from(sealed(MINE));
    assert_eq!(
        (sealed.needs(&id(EYE)), sealed.unentitled()),
        (MinimumRole::Voter, None)
    );
}

/// While the questions are under way, another candidate gets this agent's vote.
#[test]
fn an_agent_that_has_voted_in_the_term_meanwhile_claims_it_no_more() {
    let mut me = Kit::asking();
    me.hear(LOW, claim(MINE, 1)).whatever();
    assert_eq!(me.durable(), (MINE, Some(LOW.to_owned())));
    for name in [LOW, HIGH] {
        let effects = me.hear(name, yields(1));
        assert!(!effects.writes(), "{effects:?}");
        effects.whatever();
    }
    assert_eq!(me.durable(), (MINE, Some(LOW.to_owned())));
}

#[test]
fn an_agent_with_a_slot_reports_when_it_comes() {
    let waits = |me: &Kit| me.machine.prospects().waits_until;
    let me = Kit::vacant();
    let State::Vacant(vacant) = &me.machine.state else {
        panic!("no leader is known");
    };
    assert_eq!(waits(&me), Some(vacant.due));
    assert_eq!(waits(&Kit::witness()), None, "it is never elected");
    assert_eq!(waits(&Kit::following()), None);
    assert_eq!(waits(&Kit::asking()), None, "its slot has come");
}
