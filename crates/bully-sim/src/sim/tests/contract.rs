//! The check of every machine's events: the accepted events, and the broken rule for all other events.

use super::id;
use crate::sim::contract::{ContractState, TermOrder};
use bully_core::protocol::{Event, Incarnation, Leader, LostReason, Term};

/// Returns the event of one word: its kind and its term.
fn event(word: &str) -> Event {
    let (kind, term) = word.split_at(word.len() - 1);
    let term = Term(term.parse().unwrap());
    let (to, reason) = (None, LostReason::Resigned);
    match kind {
        "acquired" => Event::Acquired { term },
        "renewed" => Event::Renewed { term },
        "draining" => Event::Draining { term, to },
        "lost" => Event::Lost { term, reason },
        "none" => Event::NoLeader { term },
        _ => {
            let (id, incarnation) = (id("b"), Incarnation(1));
            Event::NewLeader(Leader {
                id,
                incarnation,
                term,
            })
        }
    }
}

/// Asserts that all events before the last one are accepted, and returns the result of the last one.
fn last(order: TermOrder, events: &str) -> Result<(), &'static str> {
    let mut state = ContractState::new(order);
    let (before, last) = events.rsplit_once(' ').unwrap_or(("", events));
    for word in before.split_whitespace() {
        assert_eq!(state.hears(&event(word)), Ok(()), "{events}");
    }
    state.hears(&event(last))
}

#[test]
fn a_leadership_is_acquired_renewed_drained_and_lost() {
    let events = "acquired1 renewed3 draining3 lost3 none3 follows4 acquired5";
    assert_eq!(last(TermOrder::Rising, events), Ok(()));
}

#[test]
fn each_event_out_of_its_place_is_named() {
    let without = "Renewed, Lost or Draining without leading in that term";
    let another = "NewLeader or NoLeader before Lost";
    for (events, rule) in [
        ("acquired1 acquired2", "Acquired twice without Lost"),
        ("acquired2 renewed2", "Renewed without a higher term"),
        ("acquired2 lost1", "Lost names another term than it led in"),
        ("acquired2 draining1", without),
        ("renewed1", without),
        ("lost1", without),
        ("draining1", without),
        ("acquired2 follows3", another),
        ("acquired2 none2", another),
        ("follows3 follows2", "NewLeader in a lower term than before"),
    ] {
        assert_eq!(last(TermOrder::Rising, events), Err(rule), "{events}");
    }
    assert_eq!(last(TermOrder::Any, "follows3 follows2"), Ok(()));
}
