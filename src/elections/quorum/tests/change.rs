//! Commands to change the voters: who may be added, what is refused, and how the answer gets back.

use super::{epochs::*, *};
use crate::protocol::{ChangeError, VoterChange};

#[test]
fn what_a_leader_refuses_is_said_with_its_reason() {
    let mut me = Kit::leading();
    let replace = |old: &str, new: &str| VoterChange::Replace {
        old: id(old),
        new: voter(new),
    };
    let cases = [
        (
            VoterChange::Add(voter("new")),
            ChangeError::NotSeen { id: id("new") },
        ),
        (
            replace("new", "newer"),
            ChangeError::NotAVoter { id: id("new") },
        ),
        (
            replace(LOW, HIGH),
            ChangeError::AlreadyAVoter { id: id(HIGH) },
        ),
    ];
    for (asked, reason) in cases {
        let refused = answered(asked.clone(), Err(reason));
        me.change(asked).notified(refused).nothing_else_happened();
    }
}

/// A learner has a store, and its name is not listed.
fn learner() -> Kit {
    let voters = [LOW, HIGH, "other"].map(id);
    let config = QuorumConfig {
        learner: true,
        ..valid(QuorumConfig::new(voters))
    };
    Kit::began(config, MemberKind::Voter, Some(5)).started()
}

#[test]
fn a_learner_follows_and_says_that_it_is_there_and_acknowledges_nothing() {
    let mut me = learner();
    me.hear(HIGH, heartbeat(OLD, 9))
        .new_leader(HIGH, OLD)
        .set(BullyTimer::Election, P)
        .sent(HIGH, enlist(OLD))
        .nothing_else_happened();
    me.later(H);
    me.hear(HIGH, heartbeat(OLD, 9))
        .set(BullyTimer::Election, P)
        .sent(HIGH, enlist(OLD))
        .nothing_else_happened();
    assert_eq!(me.machine.core.voter.promise, None);
    // An observer says nothing of the kind.
    let mut me = Kit::observer();
    let heard = me.hear(HIGH, heartbeat(OLD, 9));
    assert!(heard.messages().is_empty());
    heard.whatever();
}

#[test]
fn a_voter_that_is_not_listed_is_refused_unless_it_is_a_learner() {
    let voters = || valid(QuorumConfig::new([LOW, HIGH, "other"].map(id)));
    let asks = |config: QuorumConfig, kind| {
        QuorumBully::requirements(&Arc::new(config), &id(ME), kind).map(|asks| asks.storage)
    };
    let learner = || QuorumConfig {
        learner: true,
        ..voters()
    };
    assert!(asks(voters(), MemberKind::Voter).is_err());
    let kept = asks(learner(), MemberKind::Voter);
    assert_eq!(kept, Ok(crate::protocol::Storage::Record));
    let none = asks(learner(), MemberKind::Observer);
    assert_eq!(none, Ok(crate::protocol::Storage::Nothing));
    let diskless = QuorumConfig {
        diskless: Some(crate::elections::quorum::Diskless::default()),
        ..learner()
    };
    assert!(asks(diskless, MemberKind::Voter).is_err());
}

#[test]
fn only_a_learner_that_was_heard_of_late_is_made_a_voter() {
    let not_seen = || Err(ChangeError::NotSeen { id: id(EYE) });
    let mut me = Kit::leading();
    let refused = answered(add(EYE), not_seen());
    me.change(add(EYE))
        .notified(refused.clone())
        .nothing_else_happened();
    me.hear(EYE, enlist(MINE - 1)).nothing_else_happened();
    me.change(add(EYE))
        .notified(refused)
        .nothing_else_happened();
    me.hear(EYE, enlist(MINE)).nothing_else_happened();
    me.change(add(EYE)).drained(MINE, None).whatever();

    let mut me = Kit::leading().after(EYE, enlist(MINE));
    for _ in 0..6 {
        me.later(H).acked(LOW, 1).whatever();
    }
    me.change(add(EYE))
        .notified(answered(add(EYE), not_seen()))
        .nothing_else_happened();
}
