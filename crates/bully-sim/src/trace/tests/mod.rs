//! The entries that a trace keeps, and their text.

use super::{Happening, Trace, What};
use crate::sim::tests::{id, toy::Say};
use bully_core::protocol::{Event, Incarnation, Leader, PeerMessage, Role, Term, Time};

const AT: fn(u64) -> Time = Time::from_millis;

/// Adds a run of three agents: c leads, b is cut off, c crashes.
fn story(mut trace: Trace) -> Trace {
    let [a, b, c] = ["a", "b", "c"].map(id);
    for agent in [&a, &b, &c] {
        trace.happened(AT(0), agent, Happening::Started);
    }
    trace.role(AT(0), &c, Role::Candidate);
    trace.sent(AT(0), &c, &a, &Say::Elected(Term(1)), [AT(2)]);
    trace.sent(AT(0), &c, &b, &Say::Elected(Term(1)), [AT(2)]);
    trace.delivered(AT(2), &c, &a, &Say::Elected(Term(1)));
    trace.mark(AT(2), || String::from("cut b -> c"));
    trace.sent(AT(2), &a, &c, &Say::Elected(Term(2)), [AT(3), AT(5)]);
    trace.lost(AT(2), &b, &c, &Say::Elected(Term(2)), "cut");
    trace.delivered(AT(3), &a, &c, &Say::Elected(Term(2)));
    trace.role(AT(3), &c, Role::Leader);
    trace.lost(AT(3), &c, &b, &Say::Beat(Term(1)), "bad luck");
    trace.event(AT(3), &c, &Event::Acquired { term: Term(1) });
    let leader = Leader {
        id: c.clone(),
        incarnation: Incarnation(1),
        term: Term(1),
    };
    for agent in [&a, &b] {
        trace.event(AT(4), agent, &Event::NewLeader(leader.clone()));
    }
    trace.happened(AT(4), &c, Happening::Crashed);
    trace.dropped(AT(5), &a, &c, &Say::Elected(Term(2)), "no receiver");
    trace
}

#[test]
fn a_run_reads_as_text() {
    let text = story(Trace::new()).to_text();
    let expected = "(times in ms)
    0.000  a, b       starts
    0.000  c          starts; candidate
    0.000  c -> a, b  elected term 1  +2.000
    2.000  ==         cut b -> c
    2.000  a -> c     elected term 2  +1.000  +3.000
    2.000  b -x c     elected term 2  lost: cut
    3.000  c          acquired the leadership in term 1
    4.000  a, b       follows c in term 1
    4.000  c          crashes
    5.000  c x- a     elected term 2  dropped: no receiver
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn arrivals_and_heartbeats_are_kept_on_demand() {
    let text = story(Trace::new().with_deliveries().with_repeated()).to_text();
    assert!(
        text.contains("    2.000  a <- c     elected term 1\n"),
        "\n{text}"
    );
    assert!(
        text.contains("    3.000  c -x b     beat term 1  lost: bad luck\n"),
        "\n{text}"
    );
}

#[test]
fn a_run_draws_as_a_diagram() {
    let mut trace = story(Trace::new());
    trace.set_order([id("c")]);
    let text = trace.to_mermaid();
    let expected = "sequenceDiagram
    title times in ms
    participant p0 as c
    participant p1 as a
    participant p2 as b
    Note over p1: 0.000 starts
    Note over p2: 0.000 starts
    Note over p0: 0.000 starts#59; candidate
    p0->>p1: elected term 1  +2.000
    p0->>p2: elected term 1  +2.000
    Note over p0,p2: 2.000 cut b -#gt; c
    p1->>p0: elected term 2  +1.000  +3.000
    p2-xp0: elected term 2  lost: cut
    Note over p0: 3.000 acquired the leadership in term 1
    Note over p1: 4.000 follows c in term 1
    Note over p2: 4.000 follows c in term 1
    Note over p0: 4.000 crashes
    Note over p0: elected term 2  dropped: no receiver
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn messages_are_counted_by_kind() {
    for trace in [story(Trace::counting()), story(Trace::new())] {
        let elected = trace.count_of("elected");
        let counted = (
            elected.sent,
            elected.lost,
            elected.delivered,
            elected.dropped,
        );
        assert_eq!(counted, (4, 1, 2, 1));
        assert_eq!(trace.count_of("beat").sent, 1);
        assert_eq!(
            trace.kinds().map(|(kind, _)| kind).collect::<Vec<_>>(),
            ["beat", "elected"]
        );
    }
}

#[test]
fn election_messages_are_counted_from_a_checkpoint_without_heartbeats() {
    let mut trace = story(Trace::counting());
    assert_eq!(
        trace.election_messages_since(super::Checkpoint::default()),
        4
    );
    let then = trace.checkpoint();
    trace.sent(AT(6), &id("a"), &id("b"), &Say::Beat(Term(1)), [AT(6)]);
    assert_eq!(trace.election_messages_since(then), 0);
    trace.sent(AT(6), &id("a"), &id("b"), &Say::Elected(Term(1)), [AT(6)]);
    assert_eq!(trace.election_messages_since(then), 1);
}

#[test]
fn a_bounded_trace_forgets_the_oldest_and_says_so() {
    let trace = story(Trace::new().bounded(2));
    let expected = "(13 earlier entries are forgotten)
(times in ms)
    4.000  c       crashes
    5.000  c x- a  elected term 2  dropped: no receiver
";
    assert_eq!(
        (trace.to_text().as_str(), trace.forgotten()),
        (expected, 13)
    );
    assert_eq!(trace.entries().len(), 2);
}

#[test]
fn a_trace_that_is_off_keeps_and_counts_nothing() {
    let mut trace = story(Trace::off());
    trace.mark(AT(9), || panic!("made although no trace is kept"));
    trace.settled(AT(9), || panic!("made although no trace is kept"));
    assert_eq!((trace.to_text().as_str(), trace.kinds().len()), ("", 0));
    assert!(!trace.is_on());
    let mut trace = Trace::new();
    trace.settled(AT(9), || What::Ended);
    assert_eq!(trace.entries().len(), 1);
}

/// Returns the digest of a run with one message, its arrivals and one event.
fn digest<M: PeerMessage>(to: &str, message: &M, arrives: &[u64], event: &Event) -> u64 {
    let mut trace = Trace::digesting();
    let (from, to) = (id("c"), id(to));
    let arrives = arrives.iter().map(|at| AT(*at));
    trace.sent(AT(1), &from, &to, message, arrives);
    trace.event(AT(9), &to, event);
    assert_eq!((trace.is_on(), trace.entries().len()), (false, 0));
    trace.digest().unwrap()
}

#[test]
fn a_digest_tells_runs_apart_by_what_happened() {
    let gone = |term| Event::NoLeader { term: Term(term) };
    let (first, second) = (gone(1), gone(2));
    let base = digest("a", &Say::Elected(Term(1)), &[2], &first);
    let other_field = digest("a", &Say::Elected(Term(2)), &[2], &first);
    assert_eq!(base, other_field, "only kind and term count");
    let others = [
        digest("b", &Say::Elected(Term(1)), &[2], &first),
        digest("a", &Say::Beat(Term(1)), &[2], &first),
        digest("a", &Say::Elected(Term(1)), &[3], &first),
        digest("a", &Say::Elected(Term(1)), &[2, 3], &first),
        digest("a", &Say::Elected(Term(1)), &[2], &second),
    ];
    assert!(!others.contains(&base), "{base}: {others:?}");
}

#[test]
fn a_digest_counts_each_kind_of_entry() {
    let (a, c) = (id("a"), id("c"));
    let of = |say: &dyn Fn(&mut Trace)| {
        let mut trace = Trace::digesting();
        say(&mut trace);
        trace.digest().unwrap()
    };
    let all = [
        of(&|_| {}),
        of(&|trace| trace.sent(AT(1), &a, &c, &Say::Beat(Term(1)), [])),
        of(&|trace| trace.lost(AT(1), &a, &c, &Say::Beat(Term(1)), "cut")),
        of(&|trace| trace.delivered(AT(1), &a, &c, &Say::Beat(Term(1)))),
        of(&|trace| trace.dropped(AT(1), &a, &c, &Say::Beat(Term(1)), "down")),
        of(&|trace| trace.role(AT(1), &a, Role::Leader)),
        of(&|trace| trace.role(AT(1), &a, Role::Candidate)),
        of(&|trace| trace.happened(AT(1), &a, Happening::Crashed)),
        of(&|trace| trace.mark(AT(1), || String::from("cut"))),
        of(&|trace| trace.mark(AT(2), || String::from("cut"))),
    ];
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "{all:?}");
    assert_eq!(Trace::new().digest(), None);
}
