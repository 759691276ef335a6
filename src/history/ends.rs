//! Tests of the ends of leaderships: how the knowledge of an agent's machine changes the end in the history.

use super::{
    tests::{at, follows, id, lost, note, shown},
    *,
};
use crate::protocol::{Event, Incarnation, Leader, LeaderEnd};

fn led(name: &str, term: u64) -> Leader {
    Leader {
        id: id(name),
        incarnation: Incarnation(1),
        term: Term(term),
    }
}

/// Returns the history of a follower that misses the leader of term 1 at 900 ms, where its machine knows `end`, and
/// that hears the next leader at 910 ms.
fn missed(end: LeaderEnd, is_told_down: bool, hears_the_next_first: bool) -> [Leadership; 2] {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("b", 1));
    past.book().know_end(&id("a"), &led("b", 1), end);
    if !hears_the_next_first {
        let gone = Event::NoLeader { term: Term(1) };
        past.book()
            .note(&id("a"), || at(900), &gone, |_| is_told_down);
    }
    note(&past, "a", 910, &follows("c", 2));
    past.book().read("orders").leaderships.try_into().unwrap()
}

#[test]
fn the_time_without_a_leader_counts_from_the_last_sign_of_life_of_a_silent_one() {
    let silent = LeaderEnd::Silent {
        since: Time::from_millis(100),
    };
    for hears_the_next_first in [false, true] {
        let [first, next] = missed(silent, false, hears_the_next_first);
        assert_eq!(first.end, Some(LeadershipEnd::Gone));
        assert_eq!(first.until_unix_ms, Some(1_000_100));
        assert_eq!((next.from_unix_ms, next.without_ms), (1_000_910, Some(810)));
    }
}

#[test]
fn an_end_that_was_told_counts_from_then_and_has_its_reason() {
    let of = |end, hears_the_next_first| {
        let [first, next] = missed(end, true, hears_the_next_first);
        (first.end.unwrap(), next.without_ms.unwrap())
    };
    let (resigned, ended) = (LeaderEnd::Resigned, LeaderEnd::Ended);
    assert_eq!(of(resigned, false), (LeadershipEnd::HandedOver, 10));
    assert_eq!(of(resigned, true), (LeadershipEnd::HandedOver, 0));
    assert_eq!(of(ended, false), (LeadershipEnd::Down, 10));
    assert_eq!(of(ended, true), (LeadershipEnd::Down, 0));
    let replaced = LeaderEnd::Replaced;
    assert_eq!(of(replaced, true), (LeadershipEnd::Replaced, 0));
    assert_eq!(of(replaced, false), (LeadershipEnd::Down, 10));
}

#[test]
fn a_leader_that_stood_still_led_until_its_lease_ended() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &Event::Acquired { term: Term(1) });
    let since = Time::from_millis(600);
    past.book()
        .know_end(&id("a"), &led("a", 1), LeaderEnd::Silent { since });
    note(&past, "a", 8_000, &lost(1, LostReason::LeaseExpired));
    let history = past.book().read("orders");
    assert_eq!(history.leaderships[0].until_unix_ms, Some(1_000_600));
}

/// An end counts only if the agent that writes the history noticed it, and only for the open leadership.
#[test]
fn the_knowledge_of_another_end_changes_nothing() {
    for (by, leader) in [("x", led("b", 1)), ("a", led("b", 7)), ("a", led("z", 1))] {
        let past = KeptHistory::default();
        note(&past, "a", 0, &follows("b", 1));
        past.book().know_end(&id(by), &leader, LeaderEnd::Resigned);
        note(&past, "a", 900, &Event::NoLeader { term: Term(1) });
        assert_eq!(shown(&past)[0].2, Some(LeadershipEnd::Gone), "{by}");
    }
}
