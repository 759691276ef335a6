//! The check of every machine's events: the accepted events, and the broken rule for all other events.

use super::id;
use crate::sim::contract::{ContractState, TermOrder};
use bully_core::protocol::{Event, Incarnation, Leader, LostReason, Term};

fn acquired(term: u64) -> Event {
    Event::Acquired { term: Term(term) }
}

fn renewed(term: u64) -> Event {
    Event::Renewed { term: Term(term) }
}

fn draining(term: u64) -> Event {
    let (term, to) = (Term(term), None);
    Event::Draining { term, to }
}

fn lost(term: u64) -> Event {
    let (term, reason) = (Term(term), LostReason::Resigned);
    Event::Lost { term, reason }
}

fn no_leader(term: u64) -> Event {
    Event::NoLeader { term: Term(term) }
}

fn follows(term: u64) -> Event {
    Event::NewLeader(Leader {
        id: id("b"),
        incarnation: Incarnation(1),
        term: Term(term),
    })
}

/// Asserts that all events before the last one are accepted, and returns the result of the last one.
fn last(order: TermOrder, events: &[Event]) -> Result<(), &'static str> {
    let mut state = ContractState::new(order);
    let (last, before) = events.split_last().unwrap();
    for event in before {
        assert_eq!(state.hears(event), Ok(()), "{events:?}");
    }
    state.hears(last)
}

#[test]
fn a_leadership_is_acquired_renewed_drained_and_lost() {
    let events = [
        acquired(1),
        renewed(3),
        draining(3),
        lost(3),
        no_leader(3),
        follows(4),
        acquired(5),
    ];
    assert_eq!(last(TermOrder::Rising, &events), Ok(()));
}

#[test]
fn each_event_out_of_its_place_is_named() {
    let without = "Renewed, Lost or Draining without leading in that term";
    let another = "NewLeader or NoLeader before Lost";
    for (events, rule) in [
        (
            &[acquired(1), acquired(2)][..],
            "Acquired twice without Lost",
        ),
        (&[acquired(2), renewed(2)], "Renewed without a higher term"),
        (
            &[acquired(2), lost(1)],
            "Lost names another term than it led in",
        ),
        (&[acquired(2), draining(1)], without),
        (&[renewed(1)], without),
        (&[lost(1)], without),
        (&[draining(1)], without),
        (&[acquired(2), follows(3)], another),
        (&[acquired(2), no_leader(2)], another),
        (
            &[follows(3), follows(2)],
            "NewLeader in a lower term than before",
        ),
    ] {
        assert_eq!(last(TermOrder::Rising, events), Err(rule), "{events:?}");
    }
    assert_eq!(last(TermOrder::Any, &[follows(3), follows(2)]), Ok(()));
}
