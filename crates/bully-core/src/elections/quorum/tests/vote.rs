//! `Claim` and `ClaimReply`: one vote per voter and term. Also the quarantine after a start.

use super::*;

#[test]
fn a_majority_is_more_than_half() {
    for (voters, majority) in [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)] {
        let names = (0..voters).map(|number| id(&format!("v{number}")));
        let config = QuorumConfig::new(names);
        let quorums = (config.vote_quorum(), config.lease_quorum());
        assert_eq!(quorums, (majority, majority));
    }
}

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

/// `abstain-after-restart`, scenario 59
#[test]
fn a_voter_that_may_have_promised_something_abstains() {
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), vote(OLD, LOW, P));
    me.begin()
        .set(BullyTimer::Election, P + S)
        .nothing_else_happened();
    let effects = me.later(P - 1).hear(LOW, elect(9, 1));
    assert_eq!(effects.messages(), [&alive(1, 9, 1).into()]);
    me.hear(LOW, claim(9, 1))
        .refused(LOW, 9, OLD, 1)
        .nothing_else_happened();
    me.later(1).hear(LOW, claim(9, 1)).wrote(9, LOW).whatever();
}
