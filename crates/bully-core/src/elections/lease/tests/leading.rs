//! The holder: its renewals, and the end of its leadership.

use super::*;
use crate::protocol::About;

/// `renews-when-answered`: a second attempt would expect the record that the first attempt is about to replace.
#[test]
fn where_the_store_is_slow_the_next_renewal_is_made_when_the_last_is_answered() {
    let mut me = Kit::leading();
    me.with_slow_answers(70);
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    assert_eq!(due(&me, BullyTimer::Heartbeat), 2 * LEASE / 3);
    me.later(70);
    me.applied()
        .set(BullyTimer::Heartbeat, 0)
        .set(BullyTimer::Lease, LEASE - 70)
        .nothing_else_happened();
    me.fire(BullyTimer::Heartbeat).whatever();
    me.later(70);
    let request = me.request() - 1;
    me.shown(Some(request), Answer::Failed)
        .set(BullyTimer::Heartbeat, 0)
        .read(request + 2)
        .nothing_else_happened();
}

#[test]
fn the_lease_ends_by_the_clock_whatever_was_asked() {
    let mut me = Kit::leading();
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    let request = me.request();
    me.shown(Some(request - 1), Answer::Failed)
        .read(request + 1)
        .nothing_else_happened();
    me.later(LEASE - H - 1);
    assert_eq!(me.view().leading, Some(Term(MINE)));
    me.later(1);
    assert_eq!(me.view().leading, None, "the lease ends without a step too");
    me.fire(BullyTimer::Lease)
        .lost(MINE, LostReason::LeaseExpired)
        .whatever();
}

#[test]
fn its_next_renewal_says_its_new_score() {
    let mut me = Kit::leading();
    assert_eq!(me.set_score(8), NOTHING);
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    let (_, record) = me.attempt();
    assert_eq!(record.holder.unwrap().score, Score::from(8));
}

/// The agent's own view has the new text at once. Other agents get it with the next renewal.
#[test]
fn a_renewal_carries_what_the_holder_says_of_itself() {
    let mut me = Kit::leading();
    let about = About::new("http://me").ok();
    me.told(|members| {
        let known = members.get(&id(ME)).cloned().unwrap();
        let about = about.clone();
        members.join([Member { about, ..known }]);
    })
    .whatever();
    assert_eq!(me.view().about, about);
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    let (_, record) = me.attempt();
    assert_eq!(record.holder.unwrap().about, about);
}

/// `exceed-what-was-seen`
#[test]
fn a_leader_leads_on_unless_a_claim_has_seen_a_higher_term() {
    let lost = |seen| {
        let mut me = Kit::leading();
        let shown = me.machine.core.sight.as_ref().unwrap().record().cloned();
        let claim = ClaimRecord {
            seen: Term(seen),
            ..claim(LOW, 1)
        };
        me.sees_both(shown, Some(claim)).whatever();
        me.view().leading.is_none()
    };
    assert!(!lost(MINE - 1) && !lost(MINE));
    assert!(lost(MINE + 1));
}
