//! From the slot to the lease, with every failure on this way.

use super::*;
use crate::driver::MembersReports as _;

#[test]
fn in_its_slot_it_writes_over_what_it_has_seen() {
    let mut me = Kit::with_a_slot();
    let before = released(MINE - 1, None);
    me.unchanged(Some(&before), PATIENCE + SLOT);
    let request = me.request() + 1;
    me.fire(BullyTimer::Campaign)
        .asked(swap(
            request,
            Some(&before.nonce),
            Swapped::Lease(held(ME, MINE, request)),
        ))
        .set(BullyTimer::Detect, E)
        .nothing_else_happened();
    me.later(3);
    me.applied().whatever();
    let ends = me.now.after(Duration::from_millis(LEASE - 3));
    assert_eq!(me.view().valid_until, ends, "since it was sent");
}

#[test]
fn an_attempt_that_is_applied_after_another_was_made_counts_from_when_it_was_sent() {
    let mut me = Kit::taking();
    let (_, first) = me.attempt();
    me.later(E).sees(Some(released(MINE - 1, None))).whatever();
    me.fire(BullyTimer::Campaign).whatever();
    let (second, record) = me.attempt();
    assert_ne!(record.nonce, first.nonce);
    me.shown(Some(second), Answer::Changed)
        .read(second + 1)
        .nothing_else_happened();
    me.later(10).sees(Some(first)).whatever();
    let ends = me.now.after(Duration::from_millis(LEASE - E - 10));
    assert_eq!(me.view().valid_until, ends);
}

#[test]
fn a_success_that_is_heard_after_the_lease_does_not_count() {
    let mut me = Kit::taking();
    let (_, own) = me.attempt();
    me.later(LEASE);
    let effects = me.applied();
    assert!(effects.events().is_empty(), "{effects:?}");
    assert!(
        me.contract.is_armed(BullyTimer::Campaign),
        "the agent takes the lease again"
    );
    // The agent read nothing for a whole lease, so the store may have gone back in the meantime.
    me.unchanged(Some(&own), READ + PATIENCE + SLOT);
    me.fire(BullyTimer::Campaign).whatever();
    let (_, record) = me.attempt();
    assert_eq!(record.term, Term(MINE + 1));
}

#[test]
fn an_agent_that_became_ineligible_gives_the_lease_back() {
    let mut me = Kit::taking();
    me.set_score(None).whatever();
    me.applied().whatever();
    let (_, record) = me.attempt();
    assert_eq!(record.holder, None);
    assert_eq!(record.next.map(|next| next.id), Some(id(HIGH)));
}

/// The term after the deleted record would be 1, but the snapshot of this process has the term 40.
#[test]
fn the_term_is_above_all_that_was_seen_also_over_a_deleted_record() {
    let mut me = Kit::starting();
    me.told(|members| members.note_leader(leader(HIGH, 40)))
        .whatever();
    me.sees(None).whatever();
    me.unchanged(None, PATIENCE + SLOT);
    me.fire(BullyTimer::Campaign).whatever();
    assert_eq!(me.attempt().1.term, Term(41));
}

#[test]
fn the_term_is_not_below_what_the_wall_clock_says() {
    let mut me = Kit::with(LeaseConfig {
        wall_at_zero: Some(70_000),
        ..config()
    });
    me.sees(Some(released(8, None))).whatever();
    me.unchanged(Some(&released(8, None)), PATIENCE + SLOT);
    me.fire(BullyTimer::Campaign).whatever();
    let now = me.now.as_nanos() / 1_000_000;
    assert_eq!(me.attempt().1.term, Term(70_000 + now));
}

/// The answer to a former incarnation may wait in the mailbox while the agent crashes. The present incarnation may have
/// asked the same number of questions.
#[test]
fn an_answer_to_a_former_incarnation_has_no_number_of_this_one() {
    let first_question_of = |incarnation| {
        let me = Kit::starting().machine.core.me.identity();
        let identity = crate::protocol::Identity {
            incarnation: Incarnation(incarnation),
            ..me
        };
        let machine = Lease::new(identity, &Arc::new(config()), None);
        machine.core.requests
    };
    for former in [0, 1, u64::from(u32::MAX), 1 << 60] {
        let apart = first_question_of(former).abs_diff(first_question_of(former + 1));
        assert!(apart >= 1 << 32, "{former}");
    }
}
