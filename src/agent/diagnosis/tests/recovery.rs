//! A recovering voter without a disk, and clocks that differ.

use super::*;
use crate::protocol::{ClockGap, Recovering};

/// Returns the sentence about a recovery. `recover` is the number of other voters that recover too; the other lists are
/// names.
fn recovers(
    left: u64,
    recover: u32,
    (remember, silent): (&[&str], &[&str]),
    restarts: Option<u32>,
) -> String {
    let mut facts = vacant();
    let names = |names: &[&str]| names.iter().copied().map(id).collect::<Vec<_>>();
    let remembering = u32::try_from(remember.len()).unwrap();
    facts.signs.prospects.edit().waits_until = Some(Time::from_millis(90_000));
    facts.signs.prospects.edit().recovers = Some(Box::new(Recovering {
        until: NOW.after(MS(left)),
        answers: remembering + recover,
        recover,
        needed: 2,
        remember: names(remember),
        silent: names(silent),
        restarts,
    }));
    let [finding] = &found(&facts)[..] else {
        panic!("it has no slot, so that nothing else is said of it");
    };
    let begins = "this agent has no record of its votes, and recovers: ";
    let text = finding.to_string();
    text.strip_prefix(begins).unwrap().to_owned()
}

#[test]
fn a_voter_without_a_record_says_how_far_it_is() {
    assert_eq!(
        recovers(1_200, 0, (&[], &["a", "b"]), None),
        "it abstains for 1.2 s, and asks the other voters for their memory"
    );
    assert_eq!(
        recovers(0, 2, (&[], &[]), Some(0)),
        "it needs 2 other voters that remember: 2 have answered, 0 of them remember, and 2 recover themselves"
    );
}

#[test]
fn a_recovery_that_waits_names_the_voters_that_have_to_act() {
    assert_eq!(
        recovers(0, 0, (&[], &["a", "b"]), None),
        "it needs 2 other voters that remember: 0 have answered, 0 of them remember: start a, b, or mend the links"
    );
    assert_eq!(
        recovers(0, 0, (&["b"], &["c"]), Some(1)),
        "it needs 2 other voters that remember: 1 have answered, 1 of them remember: start c, or mend the links; \
         if that is impossible, restart b: then the group continues by the clocks, and fences depend on the clocks alone"
    );
    let one_of_two = recovers(0, 1, (&["b", "d"], &["c"]), Some(1));
    assert!(
        !one_of_two.contains("restart"),
        "enough remember: {one_of_two}"
    );
    let mut many = recovers(0, 1, (&["b"], &["c", "d"]), Some(1));
    assert!(
        many.contains("and 1 recover themselves: start c, d"),
        "{many}"
    );
    many = recovers(0, 0, (&["b"], &["c"]), Some(0));
    assert!(!many.contains("start"), "it goes on by itself: {many}");
}

#[test]
fn some_of_the_voters_that_remember_have_to_restart() {
    let mut facts = vacant();
    facts.signs.prospects.edit().recovers = Some(Box::new(Recovering {
        until: NOW,
        answers: 3,
        recover: 1,
        needed: 3,
        remember: ["b", "d"].map(id).into(),
        silent: ["e", "f"].map(id).into(),
        restarts: Some(1),
    }));
    let text = found(&facts)[0].to_string();
    assert!(text.contains("restart 1 of b, d: then"), "{text}");
}

#[test]
fn clocks_that_are_apart_are_named_with_their_difference() {
    let mut facts = vacant();
    for (is_ahead, word) in [(true, "ahead of"), (false, "behind")] {
        facts.signs.prospects.edit().clock_gap = Some(Box::new(ClockGap {
            voter: id("b"),
            is_ahead,
            by: MS(3_600_000),
        }));
        let text = found(&facts)[0].to_string();
        let said = format!("the wall clock of the voter b is 3600.0 s {word} the clock here, and");
        assert!(text.starts_with(&said), "{text}");
    }
}
