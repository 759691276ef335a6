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

fn claims(me: &mut Kit, attempt: u64) -> StepEffects {
    let shown = me.machine.core.sight.as_ref().unwrap().record().cloned();
    me.sees_both(shown, Some(claim(HIGH, attempt)))
}

#[test]
fn a_leader_obeys_a_claim_that_has_lasted_for_long_enough() {
    let mut me = Kit::leading();
    let began = me.now;
    for attempt in 1.. {
        let effects = claims(&mut me, attempt);
        if me.now.since(began) >= Duration::from_secs(10) {
            effects
                .drained(MINE, Some(HIGH))
                .set(BullyTimer::Drain, DRAIN)
                .nothing_else_happened();
            break;
        }
        assert_eq!(effects, NOTHING);
        me.later(H).renewed();
    }
}

#[test]
fn a_claim_within_the_margin_or_against_the_policy_is_not_heeded() {
    let rules = [
        (Preemption::Immediately, Some(Score::from(5))),
        (Preemption::Never, None),
    ];
    for (preemption, margin) in rules {
        let mut me = Kit::with(LeaseConfig {
            preemption,
            margin,
            ..config()
        });
        me.sees(None).whatever();
        me.unchanged(None, PATIENCE + SLOT);
        me.fire(BullyTimer::Campaign).whatever();
        me.applied().whatever();
        for attempt in 1..5 {
            assert_eq!(claims(&mut me, attempt), NOTHING);
            me.later(H).renewed();
        }
    }
}

/// `exceed-what-was-seen`
#[test]
fn a_holder_of_a_low_term_is_told_of_the_higher_one_until_a_claim_says_it() {
    let said = |seen, attempt| ClaimRecord {
        seen: Term(seen),
        ..claim(LOW, attempt)
    };
    let vacant = || {
        let mut me = Kit::starting();
        me.machine.core.note_term(Term(MINE));
        me
    };
    let objects = |me: &mut Kit, claim| me.sees_both(Some(held(LOW, OLD, 1)), claim).speaks();
    assert!(objects(&mut vacant(), None));
    assert!(objects(&mut vacant(), Some(said(MINE - 1, 1))));
    for seen in [MINE, MINE + 1] {
        assert!(!objects(&mut vacant(), Some(said(seen, 1))), "{seen}");
    }
    let mut me = vacant();
    assert!(objects(&mut me, None));
    me.later(H - 1);
    assert!(!objects(&mut me, None), "it has just written");
    me.later(1);
    assert!(objects(&mut me, None));
}
