//! Claims of a better agent while another agent holds the lease.

use super::{super::leader::Leading, *};
use crate::driver::MembersReports as _;

#[test]
fn a_better_agent_claims_and_repeats_it() {
    let mut me = Kit::starting();
    let claimed = me.request() + 2;
    me.sees(Some(held(LOW, OLD, 1)))
        .set(BullyTimer::Detect, POLL)
        .new_leader(LOW, OLD)
        .waits(BullyTimer::Lease, PATIENCE)
        .asked(swap(claimed, None, Swapped::Claim(claim(ME, claimed))))
        .nothing_else_happened();
    me.shown(
        Some(claimed),
        Answer::Applied(version(Some(&nonce(ME, claimed)))),
    )
    .nothing_else_happened();
    me.later(H - 1);
    me.sees_both(Some(held(LOW, OLD, 2)), Some(claim(ME, claimed)))
        .set(BullyTimer::Detect, POLL)
        .waits(BullyTimer::Lease, PATIENCE)
        .nothing_else_happened();
    me.later(1);
    let effects = me.sees_both(Some(held(LOW, OLD, 2)), Some(claim(ME, claimed)));
    let request = me.request();
    effects
        .set(BullyTimer::Detect, POLL)
        .asked(swap(
            request,
            Some(&nonce(ME, claimed)),
            Swapped::Claim(claim(ME, request)),
        ))
        .nothing_else_happened();
}

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

#[test]
fn a_claim_that_is_not_repeated_counts_no_more() {
    let mut me = Kit::starting();
    for attempt in 1..8 {
        let low = Some(held(LOW, OLD, attempt));
        let effects = me.later(READ).sees_both(low, Some(claim(HIGH, 1)));
        let lasts = 2 * (POLL + H);
        let has_claimed = effects.speaks();
        assert_eq!(has_claimed, (attempt - 1) * READ > lasts, "{attempt}");
    }
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

/// `released-for-whom-it-names`: the link to LOW is broken, and LOW still reaches the store. HIGH seems to be up, but
/// may be gone. If the lease were released for HIGH, this agent would take it back and hand over again, for ever.
#[test]
fn a_claimant_whose_link_is_broken_gets_the_lease_unless_its_end_was_reported() {
    for (has_ended, to) in [(false, LOW), (true, HIGH)] {
        let mut me = Kit::leading();
        for attempt in 1..3 {
            let shown = me.machine.core.sight.as_ref().unwrap().record().cloned();
            me.sees_both(shown, Some(claim(LOW, attempt))).whatever();
            me.later(H).renewed();
        }
        me.told(|members| {
            if has_ended {
                members.down(&id(LOW), Incarnation(1));
            } else {
                members.suspect(&id(LOW), Incarnation(1));
            }
        })
        .whatever();
        let successor = Leading::successor(&me.machine.core, me.now, Some(id(LOW)));
        assert_eq!(successor, Some(id(to)), "{has_ended}");
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

/// The claimant is a better agent of another process, which is not in the members of this process.
#[test]
fn a_claimant_of_another_process_goes_first_when_the_lease_is_free() {
    let mut me = Kit::following();
    me.told(|members| members.leave(&id(HIGH))).whatever();
    let claim = Some(claim(HIGH, 1));
    me.later(READ)
        .sees_both(Some(released(OLD, None)), claim)
        .set(BullyTimer::Detect, POLL)
        .next_slot(SLOT);
    let mut alone = Kit::following();
    alone.told(|members| members.leave(&id(HIGH))).whatever();
    alone
        .later(READ)
        .sees(Some(released(OLD, None)))
        .set(BullyTimer::Detect, POLL)
        .next_slot(0);
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
