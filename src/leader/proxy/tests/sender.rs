//! The messages that a sender sends, their leader, and their known outcomes.

use std::time::Duration;

use super::{
    super::{
        exchange::{Answerer, Next, ProxyBounds, Refusal, Settled, Target},
        sender::Sender,
    },
    life,
};
use crate::protocol::{AgentId, Term, Time};

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn target(name: &str, term: u64) -> Target {
    Target {
        id: id(name),
        life: life(1, 1),
        term: Term(term),
    }
}

/// Returns an answer of the life that is the target of the messages.
fn peer(id: &AgentId, run: u64) -> Answerer<'_> {
    let life = life(1, 1);
    Answerer { id, life, run }
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn sender() -> Sender<&'static str> {
    let bounds = ProxyBounds {
        messages: 4,
        bytes: 100,
        patience: Duration::from_secs(2),
    };
    Sender::new(bounds)
}

fn push(sender: &mut Sender<&'static str>, message: &'static str) {
    sender.push(10, message).unwrap();
}

/// Returns a sender that has sent these messages to the leader `b`.
fn has_sent(messages: &[&'static str]) -> Sender<&'static str> {
    let mut sender = sender();
    for message in messages {
        push(&mut sender, message);
    }
    sender.see(ms(0), Some(target("b", 1)));
    sent(&mut sender, ms(0)).unwrap();
    sender
}

/// Sends messages now. Returns the leader, the run, the number of the first message, and the messages.
fn sent(
    sender: &mut Sender<&'static str>,
    now: Time,
) -> Option<(String, u64, u64, Vec<&'static str>)> {
    let (next, settled) = sender.next(now, 10, 1_000);
    assert_eq!(settled.unknown, []);
    let Next {
        to,
        run,
        first,
        count,
    } = next?;
    let items = sender.in_flight(count).map(|item| item.payload).collect();
    let asks = if count == 0 { "?" } else { "" };
    Some((format!("{}{asks}", to.id), run, first, items))
}

fn refuse(
    sender: &mut Sender<&'static str>,
    now: Time,
    (from, run): (&str, u64),
    next: u64,
    redirect: Option<Target>,
) {
    let from = id(from);
    let settled = sender.refused(
        now,
        &peer(&from, run),
        Some(next),
        Refusal::NotLeader,
        redirect,
    );
    assert_eq!(settled.unknown, []);
}

#[test]
fn a_leader_that_is_seen_counts_more_than_one_that_was_named_before() {
    let mut sender = has_sent(&["a"]);
    refuse(&mut sender, ms(1), ("b", 1), 0, Some(target("c", 2)));
    sender.see(ms(2), Some(target("d", 3)));
    let run = Some(("d".to_owned(), 2, 0, vec!["a"]));
    assert_eq!(sent(&mut sender, ms(2)), run);
}

#[test]
fn a_refused_message_goes_once_to_the_leader_that_the_refusal_names() {
    let mut sender = has_sent(&["a", "b", "c"]);
    refuse(&mut sender, ms(1), ("b", 1), 1, Some(target("c", 2)));
    let redirected = Some(("c".to_owned(), 2, 0, vec!["b", "c"]));
    assert_eq!(sent(&mut sender, ms(1)), redirected);
    refuse(&mut sender, ms(2), ("b", 1), 0, Some(target("d", 2)));
    assert_eq!(
        sent(&mut sender, ms(2)),
        None,
        "the refusal of a former run"
    );
    refuse(&mut sender, ms(3), ("c", 2), 0, Some(target("d", 3)));
    assert_eq!(sent(&mut sender, ms(4)), None, "not a second time");
    let again = Some(("b".to_owned(), 3, 0, vec!["b", "c"]));
    assert_eq!(sent(&mut sender, ms(100)), again, "to the present leader");
    refuse(&mut sender, ms(101), ("b", 3), 0, Some(target("c", 2)));
    assert_eq!(sent(&mut sender, ms(102)), None);
    sender.see(ms(103), Some(target("d", 3)));
    let last = Some(("d".to_owned(), 4, 0, vec!["b", "c"]));
    assert_eq!(sent(&mut sender, ms(103)), last);
}

#[test]
fn no_run_begins_before_what_is_in_flight_is_settled() {
    let mut sender = has_sent(&["a"]);
    push(&mut sender, "b");
    sender.see(ms(5), Some(target("c", 2)));
    let asked = Some(("b?".to_owned(), 1, 1, vec![]));
    assert_eq!(sent(&mut sender, ms(5)), asked, "at once");
    assert_eq!(sent(&mut sender, ms(5)), None);
    assert_eq!(sender.wakes_at(), Some(ms(205)));
    let settled = sender.acknowledged(ms(6), &peer(&id("b"), 1), 1);
    assert_eq!(settled.delivered, 1);
    let next = Some(("c".to_owned(), 2, 0, vec!["b"]));
    assert_eq!(sent(&mut sender, ms(6)), next);
    let fits = sender.push(90, "c");
    assert!(fits.is_ok(), "a delivered message takes no room");
}

#[test]
fn an_unanswered_message_is_unknown_and_not_sent_again() {
    let mut sender = has_sent(&["a", "b"]);
    push(&mut sender, "c");
    sent(&mut sender, ms(100)).unwrap();
    let (_, settled) = sender.next(ms(2_000), 10, 1_000);
    assert_eq!(settled.unknown.len(), 3);
    assert_eq!((sender.len(), sent(&mut sender, ms(2_001))), (0, None));
    push(&mut sender, "d");
    let next = Some(("b".to_owned(), 2, 0, vec!["d"]));
    assert_eq!(sent(&mut sender, ms(2_002)), next);
    let gone = sender.see_ends(|_| None);
    assert_eq!(gone.unknown.len(), 1, "unknown by its end");
}

/// Otherwise messages that are gone would fill the buffer for ever.
#[test]
fn a_message_that_is_gone_takes_no_room_in_the_buffer() {
    for way in ["given up", "delivered", "unknown"] {
        let mut sender = sender();
        let a = sender.push(100, "a").unwrap();
        assert_eq!(sender.push(1, "b"), Err("b"));
        if way == "given up" {
            assert!(sender.cancel(a));
        } else {
            sender.see(ms(0), Some(target("b", 1)));
            sent(&mut sender, ms(0)).unwrap();
        }
        if way == "delivered" {
            let peer = Answerer {
                id: &id("b"),
                life: life(1, 1),
                run: 1,
            };
            assert_eq!(sender.acknowledged(ms(1), &peer, 1).delivered, 1);
        } else if way == "unknown" {
            assert_eq!(sender.see_ends(|_| None).unknown.len(), 1);
        }
        let fits = sender.push(100, "c");
        assert!(fits.is_ok(), "{way}");
    }
}

#[test]
fn a_message_that_never_arrives_does_not_hold_up_the_others_for_ever() {
    let mut sender = sender();
    for message in ["a", "b"] {
        push(&mut sender, message);
    }
    assert_eq!(sender.wakes_at(), None, "only a leader lacks");
    sender.see(ms(0), Some(target("b", 1)));
    let from = id("b");
    let mut now = 0;
    let lost = loop {
        let (next, _) = sender.next(ms(now), 10, 1_000);
        let Some(Next {
            run, count: 1.., ..
        }) = next
        else {
            now += 1;
            continue;
        };
        let settled = sender.refused(ms(now), &peer(&from, run), Some(0), Refusal::Gap, None);
        if let Some(lost) = settled.undeliverable.first() {
            break (run, lost.payload);
        }
    };
    assert_eq!(lost, (4, "a"));
    assert_eq!(sender.len(), 1);
    let fits = sender.push(90, "c");
    assert!(fits.is_ok(), "its bytes are gone");
}

#[test]
fn a_leader_that_does_not_know_what_it_has_delivered_is_sent_nothing_for_a_moment() {
    let mut sender = has_sent(&["a"]);
    push(&mut sender, "b");
    let refused = sender.refused(ms(1), &peer(&id("b"), 1), None, Refusal::Gap, None);
    assert_eq!(refused.unknown.len(), 1);
    assert_eq!(sent(&mut sender, ms(10)), None);
    let next = Some(("b".to_owned(), 2, 0, vec!["b"]));
    assert_eq!(sent(&mut sender, ms(11)), next);
}

/// Each node has its own numbers of incarnations, so an agent may have the same number after a move.
#[test]
fn a_message_to_an_agent_that_moved_is_unknown_whatever_its_incarnation() {
    let mut sender = has_sent(&["a"]);
    let same = sender.see_ends(|_| Some(life(1, 1)));
    assert_eq!(same.unknown, [], "it has not moved");
    // The new endpoint knows nothing of this run, so its answer does not count.
    let from = id("b");
    let moved = Answerer {
        life: life(2, 1),
        ..peer(&from, 1)
    };
    let refused = sender.refused(ms(1), &moved, Some(0), Refusal::Gap, None);
    assert_eq!((refused, sender.len()), (Settled::default(), 1));
    let acknowledged = sender.acknowledged(ms(1), &moved, 1);
    assert_eq!(acknowledged, Settled::default());
    let gone = sender.see_ends(|_| Some(life(2, 1)));
    let unknown: Vec<_> = gone.unknown.iter().map(|item| item.payload).collect();
    assert_eq!((unknown, sender.len()), (vec!["a"], 0));
}

#[test]
fn a_leader_that_was_named_and_has_moved_is_followed_no_more() {
    let mut sender = has_sent(&["a"]);
    refuse(&mut sender, ms(1), ("b", 1), 0, Some(target("c", 2)));
    assert!(sender.wants(&id("c")));
    let gone = sender.see_ends(|_| Some(life(2, 1)));
    assert_eq!(gone.unknown, []);
    assert!(sender.wants(&id("b")), "the present leader");
}

#[test]
fn a_leader_without_room_is_sent_less_at_once_until_it_keeps_up() {
    let bounds = ProxyBounds {
        messages: 100,
        bytes: 10_000,
        patience: Duration::from_secs(2),
    };
    let mut sender = Sender::new(bounds);
    (0..100).for_each(|_| push(&mut sender, "x"));
    sender.see(ms(0), Some(target("b", 1)));
    let in_flight = |sender: &mut Sender<&'static str>, now| {
        let batches = std::iter::from_fn(|| sent(sender, now));
        let (mut run, mut count) = (0, 0);
        for (_, of, _, messages) in batches {
            (run, count) = (of, count + messages.len());
        }
        (run, count)
    };
    let from = id("b");
    let peer = |run| peer(&from, run);
    assert_eq!(in_flight(&mut sender, ms(0)), (1, 100));
    sender.refused(ms(1), &peer(1), Some(0), Refusal::Busy, None);
    assert_eq!(in_flight(&mut sender, ms(5)), (0, 0), "it has a pause");
    assert_eq!(in_flight(&mut sender, ms(20)), (2, 50));
    sender.refused(ms(21), &peer(2), Some(0), Refusal::Busy, None);
    sender.refused(ms(22), &peer(2), Some(0), Refusal::Busy, None);
    assert_eq!(in_flight(&mut sender, ms(35)), (0, 0), "a longer pause");
    assert_eq!(in_flight(&mut sender, ms(100)), (3, 25));
    sender.acknowledged(ms(101), &peer(3), 25);
    assert_eq!(in_flight(&mut sender, ms(101)), (3, 41));
    assert_eq!(sender.len(), 75, "nothing is lost");
}
