//! Voters without a disk, rule by rule.

mod clocks;
mod lives;
mod observers;
mod recovery;
mod terms;

use clocks::*;
use lives::*;
use recovery::*;
use terms::*;

use super::{
    scenes::{Scene, scenes},
    *,
};
use crate::elections::{
    message::{Recover, Recovered},
    quorum::diskless::Diskless,
};
use crate::protocol::Round;

/// Times of the wall clock in milliseconds: when the agent's own clock showed zero, and when a test begins.
const WALL: u64 = 90_000_000_000;
const BEGINS: u64 = WALL + 1_000;

/// Milliseconds for which a voter abstains: (P + E) (1 + r) / (1 - r), rounded up. It asks the other voters E before
/// the end.
const ABSTAINS: u64 = 163;
const ASKS: u64 = 158;

fn forgetful() -> QuorumConfig {
    let mut config = valid(QuorumConfig {
        diskless: Some(Diskless::default()),
        ..config()
    });
    if let Some(own) = &mut config.diskless {
        own.wall_at_zero = i64::try_from(WALL).unwrap();
    }
    config
}

/// Returns the same configuration with these voters.
fn among(names: &[&str], config: QuorumConfig) -> QuorumConfig {
    valid(QuorumConfig {
        voters: names.iter().copied().map(id).collect(),
        ..config
    })
}

#[test]
fn each_rule_of_voters_without_a_disk_holds_in_its_scene() {
    let scenes = scenes![
        where_the_clock_decides_it_is_the_lowest_one_and_ten_seconds,
        a_claim_by_a_clock_far_ahead_is_refused_with_the_own_clock,
        a_vote_for_another_incarnation_does_not_count,
        a_vote_that_comes_too_late_does_not_count,
        an_acknowledgement_of_another_incarnation_does_not_count,
        a_resignation_of_another_incarnation_voids_nothing,
        a_higher_term_does_not_free_a_voter_from_its_promise,
        no_vote_is_given_before_the_own_promise_is_over,
        one_memory_of_four_is_not_enough,
        silence_is_no_answer,
        without_an_answer_no_vote_is_given,
        a_voter_that_continued_by_the_clock_still_counts_for_the_voters_that_forgot_with_it,
        answers_from_before_the_claims_were_over_count_for_nothing,
        a_claim_names_the_term_of_the_clock,
        no_vote_is_given_and_nothing_is_learned_far_ahead_of_the_own_clock,
    ];
    for (name, holds) in scenes {
        assert!(holds(forgetful()), "{name}");
    }
}

fn remembers(counter: u64, term: u64) -> Recovered {
    Recovered {
        round: round(counter),
        term: Term(term),
        clock: Term(BEGINS),
        ..Recovered::default()
    }
}

fn recovers(counter: u64, term: u64) -> Recovered {
    Recovered {
        recovering: true,
        ..remembers(counter, term)
    }
}

fn begun(config: QuorumConfig) -> Kit {
    Kit::new(&Arc::new(config), MemberKind::Voter, Some(5)).started()
}

/// Returns an agent that has asked the other voters once.
fn asking(config: QuorumConfig) -> Kit {
    let mut me = begun(config);
    me.later(ASKS).fire(BullyTimer::Recover).whatever();
    me
}

/// Returns an agent that takes part again, because both other voters remember this term.
fn recovered(config: QuorumConfig, term: u64) -> Kit {
    let mut me = asking(config);
    me.later(ABSTAINS - ASKS);
    me.hear(LOW, remembers(1, term)).whatever();
    me.hear(HIGH, remembers(1, term)).whatever();
    assert!(me.machine.core.binds());
    me
}

fn granted(effects: &StepEffects) -> bool {
    let grants = |m: &&QuorumMessage| matches!(m, QuorumMessage::ClaimReply(r) if r.granted);
    effects.messages().iter().any(grants)
}

fn acknowledged(effects: &StepEffects) -> bool {
    let acks = |m: &&QuorumMessage| matches!(m, QuorumMessage::Ack(_));
    effects.messages().iter().any(acks)
}

fn claimed(effects: &StepEffects) -> Option<Claim> {
    effects.messages().into_iter().find_map(|m| {
        if let QuorumMessage::Claim(claim) = m {
            Some(claim.clone())
        } else {
            None
        }
    })
}
