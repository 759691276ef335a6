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

/// `lease-from-send-time`: a store gets one question after the other, so an attempt may wait before it is sent.
#[test]
fn a_renewal_counts_from_when_its_turn_at_the_store_came() {
    let mut me = Kit::leading();
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    let (request, record) = me.attempt();
    let applied = Answer::Applied(version(Some(&record.nonce)));
    me.later(50);
    let waited = Micros::from(Duration::from_millis(30));
    me.step(Input::Told(Box::new(RegisterShown::after(
        request, waited, applied,
    ))))
    .set(BullyTimer::Lease, LEASE - 20)
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

/// An agent that has seen a term follows no leader of a lower term.
#[test]
fn it_takes_its_own_lease_again_above_a_term_that_another_has_seen() {
    let mut me = Kit::leading();
    let word = ClaimRecord {
        score: None,
        seen: Term(MINE + 5),
        ..claim(LOW, 1)
    };
    let shown = me.attempt_shown();
    me.later(1)
        .sees_both(shown, Some(word))
        .lost(MINE, LostReason::Superseded)
        .whatever();
    me.later(SLOT).fire(BullyTimer::Campaign).whatever();
    me.applied().whatever();
    assert_eq!(me.view().leading, Some(Term(MINE + 6)));
}

#[test]
fn an_answer_from_before_its_lease_does_not_end_the_lease() {
    let mut me = Kit::leading();
    let asked = Some(me.request() - 1);
    let before = holds(Some(released(MINE - 1, None)), None);
    for request in [None, asked] {
        assert_eq!(me.shown(request, before.clone()), NOTHING);
    }
}

#[test]
fn its_next_renewal_says_its_new_score() {
    let mut me = Kit::leading();
    assert_eq!(me.set_score(8), NOTHING);
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    let (_, record) = me.attempt();
    assert_eq!(record.holder.unwrap().score, Score::from(8));
}

impl Kit {
    fn attempt_shown(&self) -> Option<LeaseRecord> {
        let sight = self.machine.core.sight.as_ref();
        sight.and_then(|sight| sight.record()).cloned()
    }
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

#[test]
fn a_follower_shows_what_the_record_of_its_leader_says_and_of_no_other_incarnation() {
    let mut me = Kit::following();
    assert_eq!(me.view().about, None);
    let about = About::new("http://high").ok();
    let saying = |incarnation, attempt| {
        let mut record = held(HIGH, OLD, attempt);
        if let Some(holder) = &mut record.holder {
            holder.about.clone_from(&about);
            holder.incarnation = Incarnation(incarnation);
        }
        record
    };
    me.later(READ).sees(Some(saying(1, 3))).whatever();
    assert_eq!(me.view().about, about);
    me.later(READ).sees(Some(held(HIGH, OLD, 4))).whatever();
    assert_eq!(me.view().about, None, "the leader has removed the text");
    me.later(READ).sees(Some(saying(2, 5))).whatever();
    let view = me.view();
    let incarnation = view.leader.map(|leader| leader.incarnation);
    assert_eq!(
        view.about.is_some(),
        incarnation == Some(Incarnation(2)),
        "{incarnation:?}"
    );
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
