//! Claims of a better agent while another agent holds the lease.

use super::*;

/// `slow-waits`: an agent with a slow store would have the lease for moments only.
#[test]
fn an_agent_with_a_slow_way_to_the_store_claims_nothing_and_takes_a_free_lease_a_step_later() {
    let claims = |millis| {
        let mut me = Kit::following();
        me.with_slow_answers(millis);
        me.later(READ).sees(Some(held(LOW, OLD + 1, 1))).speaks()
    };
    assert!(claims(H * 3 / 4), "no more than three quarters of H");
    assert!(!claims(H * 3 / 4 + 1));
    let mut me = Kit::following();
    me.with_slow_answers(H);
    me.later(READ).sees(Some(released(OLD, None))).whatever();
    assert_eq!(due(&me, BullyTimer::Campaign), 2 * SLOT);
}

/// Returns whether a leader drains for HIGH, which repeats its claim for longer than the ten seconds of the default policy.
fn obeys(config: LeaseConfig) -> bool {
    let mut me = Kit::taking_with(config);
    me.applied().whatever();
    for attempt in 1..10_000 / H + 3 {
        let shown = me.machine.core.sight.as_ref().unwrap().record().cloned();
        let effects = me.sees_both(shown, Some(claim(HIGH, attempt)));
        if !effects.events().is_empty() {
            assert!((attempt - 1) * H >= 10_000, "claimed {attempt} times");
            effects.drained(MINE, Some(HIGH)).whatever();
            return true;
        }
        me.later(H).renewed();
    }
    false
}

#[test]
fn a_leader_obeys_a_claim_that_has_lasted_for_long_enough_within_its_margin_and_policy() {
    assert!(obeys(config()));
    for (preemption, margin) in [
        (config().preemption, Some(Score::from(5))),
        (Preemption::Never, None),
    ] {
        assert!(!obeys(LeaseConfig {
            preemption,
            margin,
            ..config()
        }));
    }
}

/// `exceed-what-was-seen`
#[test]
fn a_holder_of_a_low_term_is_told_of_the_higher_one_until_a_claim_says_it() {
    let said = |seen| {
        let seen = Term(seen);
        Some(ClaimRecord {
            seen,
            ..claim(LOW, 1)
        })
    };
    let objects = |me: &mut Kit, claim| me.sees_both(Some(held(LOW, OLD, 1)), claim).speaks();
    for (claim, needs_word) in [
        (None, true),
        (said(MINE - 1), true),
        (said(MINE), false),
        (said(MINE + 1), false),
    ] {
        let mut me = Kit::starting();
        me.machine.core.note_term(Term(MINE));
        assert_eq!(objects(&mut me, claim.clone()), needs_word, "{claim:?}");
        assert!(!objects(me.later(H - 1), claim.clone()), "just written");
        assert_eq!(objects(me.later(1), claim), needs_word);
    }
}
