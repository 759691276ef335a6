//! What is remembered of the events that the agents of a process were told, in virtual time.

use super::*;
use crate::protocol::{Event, Incarnation, Leader};

pub(super) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

pub(super) const fn at(millis: u64) -> SeenAt {
    SeenAt {
        now: Time::from_millis(millis),
        unix_ms: 1_000_000 + millis,
    }
}

pub(super) fn follows(name: &str, term: u64) -> Event {
    Event::NewLeader(Leader {
        id: id(name),
        incarnation: Incarnation(1),
        term: Term(term),
    })
}

pub(super) const fn lost(term: u64, reason: LostReason) -> Event {
    Event::Lost {
        term: Term(term),
        reason,
    }
}

/// No end of an agent is confirmed.
pub(super) fn note(past: &KeptHistory, by: &str, millis: u64, event: &Event) {
    counted(past, || {
        past.book().note(&id(by), || at(millis), event, |_| false);
    });
}

fn ended(past: &KeptHistory, by: &str, has_others: bool) {
    counted(past, || past.book().ended(&id(by), || has_others));
}

/// A file is written when the number of changes is another one, so each change counts.
fn counted(past: &KeptHistory, change: impl FnOnce()) {
    let now = || {
        let book = past.book();
        let found = book.read("orders").findings.len();
        (book.revision(), (book.last(2), found))
    };
    let before = now();
    change();
    let after = now();
    assert!(
        before.0 != after.0 || before.1 == after.1,
        "not saved: {before:?}, {after:?}"
    );
}

/// Leader, term, end and the time without a leader of each leadership.
pub(super) fn shown(past: &KeptHistory) -> Vec<(String, u64, Option<LeadershipEnd>, Option<u64>)> {
    let history = past.book().read("orders");
    let rows = history.leaderships.into_iter();
    rows.map(|one| (one.leader.to_string(), one.term.0, one.end, one.without_ms))
        .collect()
}

fn row(
    leader: &str,
    term: u64,
    end: impl Into<Option<LeadershipEnd>>,
    without: impl Into<Option<u64>>,
) -> (String, u64, Option<LeadershipEnd>, Option<u64>) {
    (leader.to_owned(), term, end.into(), without.into())
}

#[test]
fn a_leadership_lasts_until_it_is_lost_missed_or_another_one_begins() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("b", 1));
    note(&past, "a", 10, &follows("b", 1));
    note(&past, "a", 100, &Event::NoLeader { term: Term(1) });
    note(&past, "a", 340, &follows("c", 2));
    note(&past, "a", 400, &follows("b", 3));
    note(&past, "a", 500, &follows("b", 4));
    note(&past, "a", 600, &Event::Acquired { term: Term(5) });
    note(&past, "a", 650, &lost(5, LostReason::Resigned));
    note(&past, "a", 655, &follows("c", 6));
    assert_eq!(
        shown(&past),
        [
            row("b", 1, LeadershipEnd::Gone, None),
            row("c", 2, LeadershipEnd::Replaced, 240),
            row("b", 3, LeadershipEnd::Renewed, 0),
            row("b", 4, LeadershipEnd::Replaced, 0),
            row("a", 5, LeadershipEnd::Lost(LostReason::Resigned), 0),
            row("c", 6, None, 5),
        ]
    );
    let first = past.book().read("orders").leaderships.swap_remove(0);
    assert_eq!(
        (first.from_unix_ms, first.until_unix_ms),
        (1_000_000, Some(1_000_100))
    );
    past.book().note(
        &id("a"),
        || at(700),
        &Event::NoLeader { term: Term(6) },
        |_| true,
    );
    assert_eq!(shown(&past)[5], row("c", 6, LeadershipEnd::Down, 5));
}

/// It knows why, whichever of both hears of it first.
#[test]
fn the_end_reported_by_a_leader_of_this_process_counts() {
    for is_first in [true, false] {
        let past = KeptHistory::default();
        note(&past, "a", 0, &follows("b", 1));
        note(&past, "b", 1, &Event::Acquired { term: Term(1) });
        let said = || note(&past, "b", 50, &lost(1, LostReason::LeaseExpired));
        if is_first {
            said();
        }
        note(&past, "a", 60, &Event::NoLeader { term: Term(1) });
        if !is_first {
            said();
        }
        let end = LeadershipEnd::Lost(LostReason::LeaseExpired);
        assert_eq!(shown(&past), [row("b", 1, end, None)], "first: {is_first}");
    }
}

/// The other agent may see the next leader before the former one says why it has stopped.
#[test]
fn the_reason_of_a_former_leader_counts_after_the_next_leadership_has_begun() {
    for next_ends in [false, true] {
        let past = KeptHistory::default();
        note(&past, "a", 0, &follows("b", 1));
        note(&past, "a", 60, &follows("c", 2));
        if next_ends {
            note(&past, "a", 70, &Event::NoLeader { term: Term(2) });
        }
        note(&past, "b", 80, &lost(1, LostReason::LeaseExpired));
        let end = LeadershipEnd::Lost(LostReason::LeaseExpired);
        assert_eq!(shown(&past)[0], row("b", 1, end, None), "{next_ends}");
        let next = next_ends.then_some(LeadershipEnd::Gone);
        assert_eq!(shown(&past)[1], row("c", 2, next, 0), "{next_ends}");
    }
}

/// Two agents that do not agree would make a change of each event.
#[test]
fn one_agent_is_heard_and_the_next_one_when_it_has_ended() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("a", 1));
    note(&past, "b", 5, &follows("x", 1));
    assert_eq!(shown(&past), [row("a", 1, None, None)]);
    ended(&past, "a", true);
    note(&past, "b", 900, &follows("a", 1));
    assert_eq!(shown(&past).len(), 1, "it goes on");
    note(&past, "b", 950, &follows("b", 2));
    assert_eq!(
        shown(&past),
        [
            row("a", 1, LeadershipEnd::Replaced, None),
            row("b", 2, None, 0)
        ]
    );
    ended(&past, "b", true);
    note(&past, "c", 10, &Event::NoLeader { term: Term(2) });
    ended(&past, "c", true);
    note(&past, "d", 20, &follows("d", 3));
    assert_eq!(
        shown(&past)[2],
        row("d", 3, None, None),
        "its clock is another one"
    );
}

#[test]
fn a_thousand_leaderships_are_kept_in_their_room_whatever_they_are_called() {
    for (length, kept) in [(5, 1_000), (256, 300)] {
        let past = KeptHistory::default();
        for term in 1..=3_000 {
            let name = format!("{term:0length$}");
            note(&past, "a", term, &follows(&name, term));
        }
        let rows = shown(&past);
        assert!(rows.len() >= kept, "{} of {length} bytes", rows.len());
        assert!(rows.len() <= 1_000);
        assert_eq!(rows.last().map(|row| row.1), Some(3_000));
        let text = past.book().read("orders").to_lines();
        assert!(text.len() < MOST_OF_FILE, "{} bytes", text.len());
        let other = KeptHistory::default();
        assert_eq!(other.restore("orders", &text), Some(0));
        assert_eq!(other.book().read("orders").leaderships.len(), rows.len());
    }
}

#[test]
fn the_room_of_a_history_is_free_again_when_its_group_has_ended() {
    // All of them together are more than a process may keep.
    for group in 0..40 {
        let past = KeptHistory::default();
        for term in 1..=1_000 {
            let name = format!("{term:0256}");
            past.book()
                .note(&id("a"), || at(term), &follows(&name, term), |_| false);
        }
        assert!(past.book().last(300).len() == 300, "group {group}");
    }
}

fn found(past: &KeptHistory, millis: u64, text: &str) {
    let found = [("no_leader", text)].into_iter();
    counted(past, || past.book().found(&id("a"), millis, found));
}

#[test]
fn a_finding_lasts_as_long_as_it_is_found_and_goes_after_half_an_hour() {
    let past = KeptHistory::default();
    found(&past, 0, "no leader for 1 s");
    found(&past, 5_000, "no leader for 6 s");
    found(&past, 60_000, "no leader for 1 s");
    let spans = |past: &KeptHistory| {
        let findings = past.book().read("orders").findings.into_iter();
        findings
            .map(|one| (one.from_unix_ms, one.until_unix_ms, one.text))
            .collect::<Vec<_>>()
    };
    let first = (0, 5_000, "no leader for 6 s".to_owned());
    let second = (60_000, 60_000, "no leader for 1 s".to_owned());
    assert_eq!(spans(&past), [first, second.clone()]);
    let later = 5_000 + 1_800_001;
    counted(&past, || {
        past.book().found(&id("a"), later, std::iter::empty());
    });
    assert_eq!(spans(&past), [second]);
}

#[test]
fn the_oldest_findings_make_room_before_any_leadership_does_and_long_sentences_are_cut() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("b", 1));
    for number in 0..2_000_u64 {
        let kind = format!("kind{number}");
        let text = "ä".repeat(900);
        past.book()
            .found(&id("a"), number, [(&*kind, &*text)].into_iter());
    }
    let history = past.book().read("orders");
    assert_eq!(history.leaderships.len(), 1);
    let last = history.findings.last().unwrap();
    assert_eq!((&*last.kind, last.text.len()), ("kind1999", 400));
    assert!(history.findings.len() < 600, "{}", history.findings.len());
}

#[test]
fn a_file_of_a_process_before_comes_first_and_its_last_leadership_ended_unseen() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("b", 1));
    found(&past, 0, "it stands still");
    let text = past.book().read("orders").to_lines();
    let torn = &text[..text.len() - 9];
    let next = KeptHistory::default();
    note(&next, "a", 0, &follows("b", 2));
    assert_eq!(next.restore("orders", torn), Some(1), "its last line");
    let both = [
        row("b", 1, LeadershipEnd::Unseen, None),
        row("b", 2, None, None),
    ];
    assert_eq!(shown(&next), both);
    assert_eq!(next.restore("orders", &text), None, "it was read");
    assert_eq!(shown(&next), both);
    let read = |group: &str, text: &str| KeptHistory::default().restore(group, text);
    assert_eq!(read("invoices", &text), Some(3), "of another group");
    assert_eq!(read("orders", ""), Some(0));
    assert_eq!(read("orders", "\u{0}\n{}\n"), Some(2));
}

#[test]
fn a_leadership_that_outlasts_a_process_is_one() {
    let before = KeptHistory::default();
    note(&before, "a", 0, &Event::NoLeader { term: Term(0) });
    note(&before, "a", 240, &follows("b", 1));
    let text = before.book().read("orders").to_lines();
    // Whether the file or the leader is seen first.
    for is_first in [true, false] {
        let past = KeptHistory::default();
        let restore = || past.restore("orders", &text);
        let follow = || note(&past, "a", 9_000, &follows("b", 1));
        if is_first {
            restore();
            follow();
        } else {
            follow();
            restore();
        }
        assert_eq!(shown(&past), [row("b", 1, None, 240)]);
        let row = past.book().read("orders").leaderships.swap_remove(0);
        assert_eq!(row.from_unix_ms, 1_000_240, "file first: {is_first}");
    }
}

#[test]
fn an_agent_that_ended_before_the_other_one_does_not_take_over() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("a", 1));
    note(&past, "b", 10, &Event::Acquired { term: Term(2) });
    ended(&past, "b", true);
    ended(&past, "a", true);
    note(&past, "c", 20, &follows("c", 3));
    assert_eq!(shown(&past).last(), Some(&row("c", 3, None, 0)));
}

/// It has said that the leadership is over, and says so once.
#[test]
fn an_end_that_the_other_agent_saw_is_not_forgotten() {
    for end in [
        Event::NoLeader { term: Term(2) },
        lost(2, LostReason::LeaseExpired),
    ] {
        let past = KeptHistory::default();
        note(&past, "a", 0, &follows("a", 1));
        note(&past, "b", 10, &follows("c", 2));
        note(&past, "b", 15, &end);
        ended(&past, "a", true);
        note(&past, "b", 20, &follows("b", 3));
        let terms: Vec<u64> = shown(&past).iter().map(|row| row.1).collect();
        assert_eq!(terms, [1, 3], "{end:?}");
    }
}

/// The others of its group are in other processes.
#[test]
fn without_an_agent_a_leadership_is_out_of_sight_until_it_is_seen_again() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("b", 1));
    ended(&past, "a", false);
    assert_eq!(shown(&past), [row("b", 1, LeadershipEnd::Unseen, None)]);
    note(&past, "a", 900, &follows("b", 1));
    assert_eq!(shown(&past), [row("b", 1, None, None)], "it went on");
    ended(&past, "a", false);
    note(&past, "a", 9_000, &follows("c", 4));
    let (before, after) = (
        row("b", 1, LeadershipEnd::Unseen, None),
        row("c", 4, None, None),
    );
    assert_eq!(shown(&past), [before, after], "nothing in between is known");
    ended(&past, "a", true);
    ended(&past, "b", false);
    let last = shown(&past).pop();
    assert_eq!(last, Some(row("c", 4, LeadershipEnd::Unseen, None)));
}

/// It is told once, and the agent whose view counted may end before it is told the same.
#[test]
fn a_leader_that_another_agent_saw_first_is_not_forgotten() {
    let past = KeptHistory::default();
    note(&past, "a", 0, &follows("a", 1));
    note(&past, "a", 10, &lost(1, LostReason::Ended));
    note(&past, "b", 15, &Event::Acquired { term: Term(2) });
    assert_eq!(shown(&past).len(), 1, "one view counts");
    ended(&past, "a", true);
    let first = row("a", 1, LeadershipEnd::Lost(LostReason::Ended), None);
    assert_eq!(shown(&past), [first, row("b", 2, None, None)]);
    note(&past, "c", 20, &follows("c", 3));
    note(&past, "b", 25, &follows("c", 3));
    note(&past, "b", 30, &follows("d", 4));
    ended(&past, "b", true);
    let terms: Vec<u64> = shown(&past).iter().map(|row| row.1).collect();
    assert_eq!(terms, [1, 2, 3, 4]);
}

#[test]
fn a_clock_that_is_set_back_ends_no_finding_before_it_began_and_counts_no_leadership_twice() {
    let past = KeptHistory::default();
    note(&past, "a", 100_000, &follows("b", 1));
    found(&past, 50_000, "it stands still");
    found(&past, 45_000, "it stands still");
    let finding = past.book().read("orders").findings.swap_remove(0);
    assert_eq!(
        (finding.from_unix_ms, finding.until_unix_ms),
        (50_000, 50_000)
    );
    assert_eq!(past.book().began_in(1_040_000..=1_100_000), 1);
    assert_eq!(past.book().began_in(900_000..=960_000), 0, "it lies ahead");
}
