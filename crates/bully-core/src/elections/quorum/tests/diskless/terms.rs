//! `term-by-the-clock`, `no-term-ahead`, and the requirements that all members of a group share.

use super::*;

/// Largest accepted lead of another clock, in milliseconds.
const AHEAD: u64 = 10_000;

/// Returns the term of the agent's first claim.
fn claimed(config: QuorumConfig, remembered: u64) -> u64 {
    let mut me = recovered(config, remembered);
    me.later(2 * S + 10).fire(BullyTimer::Election).whatever();
    let rounds = me.machine.core.rounds;
    me.hear(LOW, yields_at(rounds, remembered)).whatever();
    let effects = me.hear(HIGH, yields_at(rounds, remembered));
    match effects.messages()[..] {
        [QuorumMessage::Claim(claim)] => claim.term.0,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_claim_names_the_term_of_the_clock_or_the_term_after_the_highest_seen() {
    let by_the_clock = BEGINS + ABSTAINS + 2 * S + 10;
    assert_eq!(claimed(forgetful(), OLD), by_the_clock);
    let ahead = by_the_clock + 77;
    assert_eq!(claimed(forgetful(), ahead), ahead + 1);
}

/// One clock that is years ahead would otherwise use up all terms that the clocks of the other voters can reach.
#[test]
fn no_vote_is_given_and_nothing_is_learned_far_ahead_of_the_own_clock() {
    takes_far_terms(forgetful(), false);
}

#[track_caller]
fn takes_far_terms(config: QuorumConfig, takes: bool) {
    let me = recovered(config, OLD);
    let highest = BEGINS + ABSTAINS + AHEAD;
    for (term, counts) in [(highest, true), (highest + 1, takes)] {
        let effects = me.clone().hear(LOW, claim(term, 1));
        assert_eq!(granted(&effects), counts, "{term}");
        for hearsay in [
            QuorumMessage::from(elect(term, 1)),
            objects(1, term).into(),
            yields_at(1, term).into(),
            refuses(OLD, term, 5).into(),
            nack(term).into(),
        ] {
            let mut me = me.clone();
            me.hear(LOW, hearsay.clone()).whatever();
            let learned = me.machine.core.voter.seen == Term(term);
            assert_eq!(learned, counts, "{hearsay}");
        }
    }
}

#[test]
fn a_fresh_voter_takes_the_terms_of_the_others_whatever_its_clock_shows() {
    let me = recovered(forgetful(), BEGINS * 3);
    assert_eq!(me.durable().0, BEGINS * 3);
}

fn requirements(config: &QuorumConfig) -> crate::protocol::Requirements {
    QuorumBully::requirements(&Arc::new(config.clone()), &id(ME), MemberKind::Voter).unwrap()
}

#[test]
fn voters_with_and_without_disks_are_no_group_and_neither_are_two_promises() {
    use crate::protocol::{Leaders, Storage};
    let (disks, none) = (requirements(&config()), requirements(&forgetful()));
    assert!(!disks.are_like(&none) && disks.rules != none.rules);
    assert_eq!(none.storage, Storage::Refused);
    assert_eq!(
        none.leaders,
        Leaders::PerInstant,
        "the token alone does not fence"
    );
    let other = |timings: Timings| QuorumConfig {
        timings,
        ..forgetful()
    };
    let t = Timings::in_process();
    let promise = t.clone().to_builder().lease(t.lease(), t.promise() * 2);
    assert!(!none.are_like(&requirements(&other(promise.build().unwrap()))));
    let detector = t.detector().unwrap();
    let heartbeat = t
        .clone()
        .to_builder()
        .detector(detector.heartbeat, detector.detection * 2);
    assert!(none.are_like(&requirements(&other(heartbeat.build().unwrap()))));
}

/// The configuration shows the wall clock of its host, so a user can print the wait before it begins.
#[test]
fn the_wall_clock_is_counted_from_2024() {
    let config = QuorumBully::on_host(Arc::new(forgetful()), 1_704_067_200_000 + 7);
    assert_eq!(config.diskless().unwrap().wall_at_zero, 7);
}
