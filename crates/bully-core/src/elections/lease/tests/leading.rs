//! The holder: its renewals, and the end of its leadership.

use super::*;
use crate::protocol::About;

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
    for (seen, leads) in [(MINE, true), (MINE + 1, false)] {
        let mut me = Kit::leading();
        let own = me.machine.core.sight.as_ref().unwrap().record().cloned();
        let claim = ClaimRecord {
            seen: Term(seen),
            ..claim(LOW, 1)
        };
        me.sees_both(own, Some(claim)).whatever();
        assert_eq!(me.view().leading.is_some(), leads, "{seen}");
    }
}

/// `released-for-whom-it-names`: a claim shows that an agent reaches the store, unless that agent has ended.
#[test]
fn a_lease_is_handed_over_to_an_agent_that_claims_it_although_its_link_is_broken() {
    for (has_ended, successor) in [(false, LOW), (true, HIGH)] {
        let mut me = Kit::leading();
        let own = me.machine.core.sight.as_ref().unwrap().record().cloned();
        me.sees_both(own, Some(claim(LOW, 1))).whatever();
        let told = if has_ended {
            me.ends(LOW)
        } else {
            me.is_suspected(LOW)
        };
        told.whatever();
        me.step_down(LOW).drained(MINE, Some(successor)).whatever();
    }
}
