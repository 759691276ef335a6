//! One scene for each rule about the records that a reader sees.

use super::*;

/// A test of one rule. It returns whether the rule holds with this configuration.
pub(super) type Scene = fn(LeaseConfig) -> bool;

macro_rules! scenes {
    ($($name:ident),+ $(,)?) => { [$((stringify!($name), $name as Scene)),+] };
}

#[test]
fn each_rule_holds_in_its_scene() {
    let scenes = scenes![
        a_gap_begins_the_wait_anew,
        a_release_after_a_gap_is_waited_for,
        a_term_outlives_its_record,
        a_lease_counts_from_its_question,
        a_wait_begins_when_the_answer_arrived,
        a_store_that_goes_back_while_a_read_hangs_begins_the_wait_anew,
        a_gap_ends_when_the_answer_arrives,
        a_gap_is_never_longer_than_a_lease,
        a_store_that_answers_slowly_elects,
        a_report_is_as_old_as_its_read,
        a_longer_gap_is_waited_for,
        an_absent_record_keeps_its_lease,
        an_earlier_release_is_waited_for,
        a_late_attempt_is_waited_for,
        an_attempt_has_no_second_chance,
        a_broken_chain_is_waited_for,
        a_renewal_waits_for_the_answer_to_the_last,
        a_slow_agent_claims_nothing,
    ];
    for (name, holds) in scenes {
        assert!(holds(config()), "{name}");
    }
}

/// Returns a follower of HIGH that has seen HIGH renew its lease.
fn following(config: LeaseConfig) -> Kit {
    let mut me = Kit::with(config);
    for attempt in 1..3 {
        let record = Some(held(HIGH, OLD, attempt));
        me.later(READ).sees(record).whatever();
    }
    me
}

/// The agent sees the same record before and after a gap. HIGH may have renewed its lease in between, and the store may
/// have lost the renewal.
pub(super) fn a_gap_begins_the_wait_anew(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(PATIENCE - 1)
        .sees(Some(held(HIGH, OLD, 2)))
        .whatever();
    me.later(1).fire(BullyTimer::Lease).whatever();
    me.leader().is_some()
}

/// After a gap in its reads the agent sees a released lease. It waits all the same: LOW may have taken the lease during
/// the gap, and the store may have lost LOW's record.
pub(super) fn a_release_after_a_gap_is_waited_for(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(PATIENCE / 2 + POLL)
        .sees(Some(released(OLD, Some(ME))))
        .whatever();
    me.fire(BullyTimer::Campaign).whatever();
    me.role() == Role::Follower
}

pub(super) fn a_term_outlives_its_record(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(READ).sees(None).whatever();
    me.unchanged(None, PATIENCE + SLOT);
    me.fire(BullyTimer::Campaign).whatever();
    me.attempt().1.term > Term(OLD)
}

/// Reads the same record as before. The answer takes this number of milliseconds.
fn hangs(me: &mut Kit, millis: u64) {
    let request = me.asks();
    me.later(millis)
        .shown(Some(request), holds(Some(held(HIGH, OLD, 2)), None))
        .whatever();
}

/// Returns whether the agent has given up its leader after this number of milliseconds.
fn gives_up_after(me: &mut Kit, millis: u64) -> bool {
    me.unchanged(Some(&held(HIGH, OLD, 2)), millis);
    me.fire(BullyTimer::Lease).whatever();
    me.leader().is_none()
}

pub(super) fn a_wait_begins_when_the_answer_arrived(config: LeaseConfig) -> bool {
    let mut me = following(config);
    let request = me.asks();
    me.later(H)
        .shown(Some(request), holds(Some(held(HIGH, OLD, 3)), None))
        .whatever();
    me.unchanged(Some(&held(HIGH, OLD, 3)), PATIENCE - 1);
    me.fire(BullyTimer::Lease).whatever();
    let follows = me.leader().is_some();
    me.later(1).fire(BullyTimer::Lease).whatever();
    follows && me.leader().is_none()
}

/// The answers are 60 ms apart, and their questions 160 ms apart.
pub(super) fn a_store_that_goes_back_while_a_read_hangs_begins_the_wait_anew(
    config: LeaseConfig,
) -> bool {
    let mut me = following(config);
    hangs(&mut me, 100);
    me.later(60).sees(Some(held(HIGH, OLD, 2))).whatever();
    !gives_up_after(&mut me, PATIENCE - 160) && gives_up_after(&mut me, 160)
}

pub(super) fn a_gap_ends_when_the_answer_arrives(config: LeaseConfig) -> bool {
    let mut me = following(config);
    let same = || holds(Some(held(HIGH, OLD, 2)), None);
    me.later(10);
    let first = me.asks();
    me.later(POLL);
    let second = me.asks();
    me.later(H - 9).shown(Some(first), same()).whatever();
    me.shown(Some(second), same()).whatever();
    // A slow answer makes the wait longer, but by less than 60 ms.
    !gives_up_after(&mut me, PATIENCE - POLL - H - 1 + 60)
}

/// Returns an agent whose store takes 200 ms for each answer, while a read leaves every 100 ms and HIGH renews. Also
/// returns the number of the read that has no answer yet.
fn slow_store(config: LeaseConfig) -> (Kit, u64) {
    let mut me = following(config);
    let mut asked = me.asks();
    me.later(SLOW / 2);
    for attempt in 3..13 {
        asked = answers(&mut me, asked, attempt);
    }
    (me, asked)
}

/// Sends another read, and answers the read `asked`.
fn answers(me: &mut Kit, asked: u64, attempt: u64) -> u64 {
    let next = me.asks();
    me.later(SLOW / 2)
        .shown(Some(asked), holds(Some(held(HIGH, OLD, attempt)), None))
        .whatever();
    next
}

const SLOW: u64 = 200;

/// Continues with slow answers and without a new record for this number of milliseconds.
fn goes_on_slowly((mut me, mut asked): (Kit, u64), millis: u64) -> Kit {
    for _ in 0..millis / (SLOW / 2) {
        asked = answers(&mut me, asked, 12);
    }
    me.fire(BullyTimer::Lease).whatever();
    me
}

pub(super) fn a_store_that_answers_slowly_elects(config: LeaseConfig) -> bool {
    goes_on_slowly(slow_store(config), 700).leader().is_none()
}

/// The last new record was seen 400 ms ago. But a leader whose renewals were hidden for 328 ms may still lead.
pub(super) fn a_longer_gap_is_waited_for(config: LeaseConfig) -> bool {
    let me = goes_on_slowly(slow_store(config), PATIENCE + SLOW / 2);
    me.leader().is_some()
}

pub(super) fn a_gap_is_never_longer_than_a_lease(config: LeaseConfig) -> bool {
    let (mut me, _) = slow_store(config);
    let request = me.asks();
    me.later(POLL + LEASE - SLOW + 1)
        .shown(Some(request), holds(Some(released(OLD, Some(ME))), None))
        .whatever();
    me.fire(BullyTimer::Campaign).whatever();
    me.role() == Role::Follower
}

pub(super) fn a_report_is_as_old_as_its_read(config: LeaseConfig) -> bool {
    let mut me = following(config);
    let told = RegisterShown::unasked(
        Duration::from_millis(90).into(),
        holds(Some(held(HIGH, OLD, 2)), None),
    );
    me.later(100).step(Input::Told(Box::new(told))).whatever();
    me.later(POLL + H - 9)
        .sees(Some(held(HIGH, OLD, 2)))
        .whatever();
    !gives_up_after(&mut me, PATIENCE - 100 - (POLL + H - 9))
}

pub(super) fn an_absent_record_keeps_its_lease(config: LeaseConfig) -> bool {
    let mut me = following(config);
    let mut long = held(HIGH, OLD, 3);
    long.lease = Duration::from_secs(1).into();
    me.later(READ).sees(Some(long)).whatever();
    me.later(READ).sees(None).whatever();
    me.unchanged(None, PATIENCE + SLOT);
    me.fire(BullyTimer::Campaign).whatever();
    me.role() == Role::Follower
}

pub(super) fn an_earlier_release_is_waited_for(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(READ).sees(Some(held(LOW, OLD + 1, 1))).whatever();
    me.later(READ)
        .sees(Some(released(OLD, Some(ME))))
        .whatever();
    me.fire(BullyTimer::Campaign).whatever();
    me.role() == Role::Follower
}

/// The agent saw nothing between the read before the attempt and the answer to the attempt.
pub(super) fn a_late_attempt_is_waited_for(config: LeaseConfig) -> bool {
    let mut me = Kit::taking_with(config);
    me.later(POLL + H + 1).applied().whatever();
    me.view().leading.is_none()
}

/// HIGH was first. Then the store goes back to an older state and applies this agent's attempt.
pub(super) fn an_attempt_has_no_second_chance(config: LeaseConfig) -> bool {
    let mut me = Kit::taking_with(config);
    let (request, record) = me.attempt();
    me.later(5).sees(Some(held(HIGH, MINE, 4))).whatever();
    let version = version(Some(&record.nonce));
    me.later(20)
        .shown(Some(request), Answer::Applied(version))
        .whatever();
    me.view().leading.is_none()
}

/// The reports of the store do not lead to this release. LOW may have taken the lease after it, and the store may have
/// lost LOW's record.
pub(super) fn a_broken_chain_is_waited_for(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.later(READ);
    let released = holds(Some(released(OLD, Some(ME))), None);
    let shown = RegisterShown {
        is_broken: true,
        ..RegisterShown::to(me.asks(), released)
    };
    me.step(Input::Told(Box::new(shown))).whatever();
    me.fire(BullyTimer::Campaign).whatever();
    me.role() == Role::Follower
}

/// `lease-from-send-time`: the store answers 30 ms after the question.
pub(super) fn a_lease_counts_from_its_question(config: LeaseConfig) -> bool {
    let mut me = Kit::taking_with(config);
    me.later(30);
    me.applied().whatever();
    due(&me, BullyTimer::Lease) == LEASE - 30
}

/// The next renewal would expect the record that the last renewal is about to replace.
pub(super) fn a_renewal_waits_for_the_answer_to_the_last(config: LeaseConfig) -> bool {
    let mut me = Kit::taking_with(config);
    me.applied().whatever();
    me.with_slow_answers(SLOW);
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    due(&me, BullyTimer::Heartbeat) > H
}

pub(super) fn a_slow_agent_claims_nothing(config: LeaseConfig) -> bool {
    let mut me = following(config);
    me.with_slow_answers(SLOW);
    me.later(READ);
    !me.sees(Some(held(LOW, OLD + 1, 1))).speaks()
}
