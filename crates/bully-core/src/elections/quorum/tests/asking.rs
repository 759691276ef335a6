//! A change of the voters that is in progress, and agents that may not ask for a change.

use super::{epochs::*, *};
use crate::elections::message::{AskChange, ChangeAnswer};
use crate::protocol::{ChangeError, VoterChange};

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

/// While this agent waits for consent to its own claim, it votes for another candidate.
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
