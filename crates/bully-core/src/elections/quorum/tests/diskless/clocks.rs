//! `lowest-clock`, `refuse-by-the-clock`: wall clocks that differ.

use super::{lives::claiming, *};
use crate::protocol::ClockGap;

/// Allowed difference between two clocks, in milliseconds.
const APART: u64 = 10_000;
const HOUR: u64 = 3_600_000;

fn says(clock: u64, answer: &Recovered) -> Recovered {
    Recovered {
        clock: Term(clock),
        ..answer.clone()
    }
}

fn gap(me: &Kit) -> Option<ClockGap> {
    me.machine.prospects().clock_gap.map(|gap| *gap)
}

fn apart(voter: &str, is_ahead: bool, millis: u64) -> ClockGap {
    ClockGap {
        voter: id(voter),
        is_ahead,
        by: Duration::from_millis(millis),
    }
}

/// LOW recovers too, and its clock is an hour behind.
pub(super) fn where_the_clock_decides_it_is_the_lowest_one_and_ten_seconds(
    config: QuorumConfig,
) -> bool {
    let mut me = asking(config);
    let clock = BEGINS + ASKS - HOUR;
    me.hear(LOW, says(clock, &recovers(1, 0))).whatever();
    me.later(ABSTAINS - ASKS)
        .fire(BullyTimer::Recover)
        .whatever();
    me.durable().0 == BEGINS + ABSTAINS - 1 - HOUR + APART
}

/// Returns an agent that waits for consent to its claim, and the number of its round.
fn candidate_by(config: QuorumConfig, clock: u64, remembered: u64) -> (Kit, u64) {
    let mut me = recovered(config, remembered);
    me.later(2 * S + 10).fire(BullyTimer::Election).whatever();
    let rounds = me.machine.core.rounds;
    let consent = Yield {
        clock: Some(Term(clock)),
        ..yields_at(rounds, remembered)
    };
    me.hear(LOW, consent).whatever();
    (me, rounds)
}

#[test]
fn the_term_after_those_seen_is_claimed_whatever_the_clocks_say() {
    let seen = APART + 1;
    let (mut me, rounds) = candidate_by(forgetful(), 0, seen);
    let claim = claimed(&me.hear(HIGH, yields_at(rounds, seen))).unwrap();
    assert_eq!(claim.term, Term(seen + 1));
}

pub(super) fn a_claim_by_a_clock_far_ahead_is_refused_with_the_own_clock(
    config: QuorumConfig,
) -> bool {
    let mut me = recovered(config, OLD);
    let now = BEGINS + ABSTAINS;
    let effects = me.hear_incarnation(LOW, 4, claim(now + APART + 1, 1));
    let refuses = matches!(
        effects.messages()[..],
        [QuorumMessage::ClaimReply(reply)] if !reply.granted && reply.clock == Some(Term(now))
    );
    assert!(!effects.writes());
    assert_eq!(me.machine.core.voter.seen, Term(OLD), "no term is learned");
    refuses
}

#[test]
fn a_refusal_for_the_sake_of_a_clock_says_whose_clock_is_wrong() {
    let (mut me, term) = claiming(forgetful());
    let clock = term - HOUR;
    let refusal = ClaimReply {
        clock: Some(Term(clock)),
        ..refuses(term, OLD, 0)
    };
    me.hear(LOW, refusal.clone()).nothing_else_happened();
    assert_eq!(gap(&me), Some(apart(LOW, false, HOUR)));
    // HIGH's vote is enough for the election.
    me.hear(HIGH, grants(term)).whatever();
    assert!(matches!(me.machine.state, State::Leading(_)));

    // The same refusal for the claim of a higher term.
    let (mut me, term) = claiming(forgetful());
    me.hear(LOW, grants(term)).whatever();
    me.hear(LOW, ack(term, me.now, 1)).whatever();
    let raised = claimed(&me.hear(HIGH, nack(term + 5))).unwrap().term;
    me.hear(
        HIGH,
        ClaimReply {
            term: raised,
            ..refusal
        },
    )
    .nothing_else_happened();
    assert_eq!(gap(&me), Some(apart(HIGH, false, HOUR)));
    assert_eq!(me.view().leading, Some(Term(term)));
}

#[test]
fn the_clock_that_is_furthest_away_is_named_until_its_voter_restarts_or_says_another_time() {
    let mut me = asking(forgetful());
    let now = BEGINS + ASKS;
    me.hear(LOW, says(now + HOUR, &remembers(1, OLD)))
        .whatever();
    assert_eq!(gap(&me), Some(apart(LOW, true, HOUR)));
    me.hear(HIGH, says(now - 2 * HOUR, &recovers(1, OLD)))
        .whatever();
    assert_eq!(gap(&me), Some(apart(HIGH, false, 2 * HOUR)));
    let of = |incarnation| Recover {
        round: Round {
            incarnation: Incarnation(incarnation),
            counter: 1,
        },
        ..Recover::default()
    };
    me.hear(HIGH, of(1)).whatever(); // it named this clock
    assert_eq!(gap(&me), Some(apart(HIGH, false, 2 * HOUR)));
    me.hear_incarnation(HIGH, 2, of(2)).whatever();
    assert_eq!(gap(&me), Some(apart(LOW, true, HOUR)));
    me.hear(LOW, says(now + APART, &remembers(1, OLD)))
        .whatever();
    assert_eq!(gap(&me), None);
}
