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
