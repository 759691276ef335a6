//! A voter without a record: when it abstains, and when it need not.

use super::{memory::comes_with, *};
use crate::elections::message::{QuorumMessage as Message, Recall};

/// Returns a voter that began with an empty record. LOW, one of the two voters with stores, has answered that it knows
/// of no election.
fn late(config: QuorumConfig) -> Kit {
    let mut me = Kit::began(config, MemberKind::Voter, Some(5)).started();
    comes_with(&mut me, LOW, 1, 7).whatever();
    comes_with(&mut me, HIGH, 1, 9).whatever();
    me.hear(LOW, recalled(Heard::default())).whatever();
    me
}

/// One voter does not excuse a late voter: HIGH has not answered yet, and may know it.
pub(super) fn a_late_voter_abstains(config: QuorumConfig) -> bool {
    !late(config).hear(LOW, claim(2, 1)).writes()
}

#[test]
fn a_voter_without_a_record_abstains_when_it_hears_a_claim_of_a_later_election() {
    let mut me = late(config());
    me.hear(LOW, claim(2, 1)).whatever();
    me.later(P - 1);
    assert!(!me.hear(LOW, claim(3, 1)).writes(), "not yet");
    me.later(1);
    assert!(me.hear(LOW, claim(3, 1)).writes(), "once");
    me.later(W);
    assert!(me.hear(LOW, claim(4, 1)).writes(), "not again");
}

/// Otherwise each voter that starts after the first election would lengthen a fail-over by a promise.
#[test]
fn a_late_voter_that_no_other_one_knows_does_not_abstain() {
    let mut me = late(config());
    me.hear(HIGH, recalled(Heard::default())).whatever();
    me.hear(HIGH, elected(1, 9)).whatever();
    me.hear(HIGH, resign(1, Some(LOW))).whatever();
    assert!(me.hear(LOW, claim(2, 1)).writes());
}

#[test]
fn a_voter_without_a_store_excuses_no_other_one() {
    let mut me = Kit::began(config(), MemberKind::Voter, Some(5)).started();
    comes_with(&mut me, LOW, 1, 7).whatever();
    me.hear(LOW, recalled(Heard::default())).whatever();
    me.hear(HIGH, recalled(Heard::default())).whatever();
    assert!(!me.hear(LOW, claim(2, 1)).writes());
}

#[test]
fn one_voter_that_knows_of_a_later_election_does_not_excuse_it() {
    let mut me = late(config());
    let knows = Recalled {
        seen: Term(2),
        ..recalled(Heard::default())
    };
    me.hear(HIGH, knows).whatever();
    assert!(!me.hear(LOW, claim(3, 1)).writes());
}

/// A lease that rests on its leader alone was never promised anything.
#[test]
fn with_a_lease_quorum_of_one_nobody_is_late() {
    let config = valid(QuorumConfig {
        vote_quorum: Some(3),
        lease_quorum: Some(1),
        ..QuorumConfig::new([LOW, ME, HIGH].map(id))
    });
    assert!(late(config).hear(LOW, claim(2, 1)).writes());
}

/// The leader of the first term hears the second incarnation of LOW. Then a message of LOW's first incarnation arrives.
pub(super) fn an_incarnation_that_was_denied_is_not_heard(config: QuorumConfig) -> bool {
    let mut me = Kit::known(config, Some(5));
    let answer = me.hear_incarnation(LOW, 2, Recall { seen: Term(0) });
    let denies = matches!(
        answer.messages()[..],
        [Message::Recalled(Recalled { heard, .. })] if heard.incarnation.is_none()
    );
    assert!(denies, "no earlier incarnation is known");
    !me.hear_incarnation(LOW, 1, claim(OLD + 1, 1)).writes()
}

/// The wall clock of LOW was set back, or its file was moved to a host whose clock is behind.
#[test]
fn an_earlier_incarnation_of_the_same_store_is_heard() {
    for (store, is_heard) in [(7, true), (8, false)] {
        let mut me = Kit::known(config(), Some(5));
        comes_with(&mut me, LOW, 2, 7).whatever();
        me.hear_incarnation(LOW, 2, Recall { seen: Term(0) })
            .whatever();
        comes_with(&mut me, LOW, 1, store).whatever();
        let claimed = me.hear_incarnation(LOW, 1, claim(OLD + 1, 1));
        assert_eq!(claimed.writes(), is_heard, "store {store}");
        let is_told = claimed.tells(
            |told| matches!(told, VotersEvent::OtherStore { later, .. } if *later == Some(Incarnation(2))),
        );
        assert_eq!(is_told, !is_heard);
    }
}
