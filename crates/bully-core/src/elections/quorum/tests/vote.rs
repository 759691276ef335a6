//! `Claim` and `ClaimReply`: one vote per voter and term.

use super::*;

/// `VoteOnce`, scenario 73: of two agents that claim the same term, at most one is elected.
#[test]
fn a_voter_votes_once_in_a_term() {
    let mut me = Kit::vacant().after(LOW, claim(4, 1));
    me.hear(HIGH, claim(4, 9))
        .refused(HIGH, 4, 4, 0)
        .nothing_else_happened();
    let again = me.hear(LOW, claim(4, 1));
    assert!(!again.writes(), "the same vote again");
    again
        .set(BullyTimer::Election, W)
        .sent(LOW, grants(4).of(LOW))
        .nothing_else_happened();
}

#[test]
fn a_released_promise_binds_no_voter() {
    let released = |term| Claim {
        released: Some(leader(HIGH, term)),
        ..claim(OLD + 1, 1)
    };
    let mut me = Kit::following();
    me.hear(LOW, released(OLD - 1))
        .refused(LOW, OLD + 1, OLD, P)
        .nothing_else_happened();
    me.hear(LOW, released(OLD)).wrote(OLD + 1, LOW).whatever();
    assert_eq!(me.machine.core.voter.promise, None);
}

/// A later incarnation of the holder asks. The promise to the former incarnation is still valid.
#[test]
fn a_new_incarnation_waits_for_the_promise_to_the_old_one() {
    let mut me = Kit::following();
    me.begins(HIGH, 2).has_no_leader(OLD).whatever();
    assert!(!me.hear_incarnation(HIGH, 2, claim(9, 9)).writes());
    me.hear(LOW, claim(10, 1))
        .refused(LOW, 10, OLD, P)
        .nothing_else_happened();
    me.later(P);
    assert!(me.hear_incarnation(HIGH, 2, claim(11, 9)).writes());
}

#[test]
fn a_record_says_what_was_promised_and_has_room() {
    let vote = Vote {
        term: Term(7),
        voted_for: Some(candidate("api-2", 5)),
        promise: crate::elections::message::Micros(300_000),
        ..Vote::default()
    };
    let text = serde_json::to_string(&vote).unwrap();
    assert_eq!(
        text,
        r#"{"term":7,"voted_for":{"id":"api-2","incarnation":5},"promise":300000,"incarnation":null,"others":{},"voters":null}"#
    );
    assert_eq!(serde_json::from_str::<Vote>(&text).unwrap(), vote);
    for (reserved, other) in [("voters", "7"), ("voters", "[]")] {
        let other = text.replace(
            &format!("\"{reserved}\":null"),
            &format!("\"{reserved}\":{other}"),
        );
        assert!(serde_json::from_str::<Vote>(&other).is_err(), "{other}");
    }
}
