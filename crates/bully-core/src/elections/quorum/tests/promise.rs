//! Members with different timings: a lease is what was promised, and the record keeps the
//! longest promise.

use super::*;

/// What an acknowledgement counts for by its promise, and the leader's D.
fn span(promise: u64) -> Duration {
    let most = Timings::lease_within(Duration::from_millis(promise));
    most.min(Duration::from_millis(D))
}

fn promising(promise: u64, echo: Time) -> Ack {
    Ack {
        promise: Duration::from_millis(promise).into(),
        ..ack(MINE, echo, 1)
    }
}

fn start(kit: &mut Kit) -> StepEffects {
    kit.begin()
}

/// Comes back with the present P, after it kept that promise.
fn reborn(config: QuorumConfig, promise: u64) -> Kit {
    Kit::reborn(config, MemberKind::Voter, Some(5), vote(OLD, HIGH, promise))
}

#[test]
fn a_lease_is_no_longer_than_what_was_promised() {
    for promise in [0, 1, 50, P, 40 * P] {
        let mut me = Kit::elected();
        let said = me.now;
        me.later(3).hear(LOW, promising(promise, said)).whatever();
        me.later(200);
        me.now = said
            .after(span(promise))
            .max(said.after(Duration::from_millis(3)));
        assert_eq!(me.view().leading, None, "{promise}");
        if promise >= 50 {
            me.now = said.after(span(promise).saturating_sub(Duration::from_nanos(1)));
            assert_eq!(me.view().leading, Some(Term(MINE)), "{promise}");
        }
    }
}

/// Each acknowledgement is a promise of its own: a shorter one ends no longer one.
#[test]
fn the_promise_that_lasts_longest_counts() {
    let mut me = Kit::elected();
    let said = me.now;
    me.hear(LOW, promising(P, said)).whatever();
    me.later(10);
    let now = me.now;
    me.hear(LOW, promising(50, now)).whatever();
    assert_eq!(me.view().valid_until, said.after(Duration::from_millis(D)));
}

#[test]
fn a_leader_beats_three_times_within_the_shortest_promise() {
    let mut me = Kit::elected();
    let now = me.now;
    let mut effects = me.hear(LOW, promising(50, now));
    let set = effects.0.pop_back();
    assert_eq!(
        set,
        Some(Effect::SetTimer {
            timer: BullyTimer::Heartbeat,
            after: (span(50) / 3).into()
        }),
        "before its own H is over"
    );
    me.now = now.after(span(50) / 3);
    let beat = Heartbeat {
        sent_at: Some(me.now),
        ..heartbeat(MINE, 5)
    };
    let again = Effect::SetTimer {
        timer: BullyTimer::Heartbeat,
        after: (span(50) / 3).into(),
    };
    me.fire(BullyTimer::Heartbeat)
        .sent_all(beat)
        .next(&again)
        .nothing_else_happened();
}

/// A voter that has not been heard for a lease makes no haste any more.
#[test]
fn a_short_promise_of_long_ago_makes_no_haste() {
    let mut me = Kit::elected();
    let now = me.now;
    me.hear(LOW, promising(50, now)).whatever();
    me.later(30).hear(HIGH, promising(P, now)).whatever();
    for _ in 0..12 {
        me.later(9);
        me.fire(BullyTimer::Heartbeat).whatever();
        let now = me.now;
        me.hear(HIGH, promising(P, now)).whatever();
    }
    let next = me.later(H).fire(BullyTimer::Heartbeat).0.pop_back();
    let after = Duration::from_millis(H).into();
    let timer = BullyTimer::Heartbeat;
    assert_eq!(next, Some(Effect::SetTimer { timer, after }));
}

#[test]
fn no_promise_makes_a_leader_beat_without_measure() {
    let mut me = Kit::elected();
    let now = me.now;
    me.hear(LOW, promising(0, now))
        .set(BullyTimer::Heartbeat, 5)
        .nothing_else_happened();
}

#[test]
fn a_longer_promise_is_recorded_before_the_acknowledgement_leaves() {
    let mut me = reborn(config(), P / 5);
    start(&mut me).whatever();
    me.hear(HIGH, heartbeat(OLD, 9))
        .new_leader(HIGH, OLD)
        .set(BullyTimer::Election, P)
        .wrote(OLD, HIGH)
        .sent(HIGH, ack(OLD, SAID, 5))
        .nothing_else_happened();
    me.hear(HIGH, heartbeat(OLD, 9))
        .set(BullyTimer::Election, P)
        .sent(HIGH, ack(OLD, SAID, 5))
        .nothing_else_happened();
}

/// `abstain-after-restart`
#[test]
fn a_restart_with_a_shorter_promise_sits_out_the_longer_one() {
    let mut me = reborn(config(), 3 * P);
    start(&mut me)
        .set(BullyTimer::Election, 3 * P + S)
        .nothing_else_happened();
    me.later(3 * P - 1)
        .hear(LOW, claim(9, 1))
        .sent(LOW, refuses(9, OLD, 1).of(LOW))
        .nothing_else_happened();
    me.later(1).hear(LOW, claim(9, 1)).wrote(9, LOW).whatever();
}

/// Otherwise a second crash within the quarantine would shorten it.
#[test]
fn every_record_keeps_the_longer_promise_until_its_quarantine_is_over() {
    let mut me = reborn(config(), 3 * P);
    start(&mut me).whatever();
    me.later(3 * P - 1)
        .hear(HIGH, heartbeat(OLD + 1, 9))
        .next(&Effect::Persist(Vote {
            others: heard_of(HIGH, OLD + 1),
            ..vote(OLD + 1, HIGH, 3 * P)
        }))
        .new_leader(HIGH, OLD + 1)
        .set(BullyTimer::Election, P)
        .sent(HIGH, ack(OLD + 1, SAID, 5))
        .nothing_else_happened();
    me.later(1)
        .hear(HIGH, heartbeat(OLD + 1, 9))
        .set(BullyTimer::Election, P)
        .wrote(OLD + 1, HIGH)
        .sent(HIGH, ack(OLD + 1, SAID, 5))
        .nothing_else_happened();
}

/// What entered an epoch is a record as well.
#[test]
fn an_epoch_is_entered_with_the_longest_promise() {
    let next = QuorumConfig {
        epoch: 1,
        ..config()
    };
    let mut me = reborn(next.clone(), 3 * P);
    start(&mut me)
        .next(&Effect::Persist(vote(next.first_term().0, None, 3 * P)))
        .set(BullyTimer::Election, 3 * P + S)
        .nothing_else_happened();
}

/// An observer promises nothing.
#[test]
fn an_observer_writes_nothing() {
    let mut me = Kit::observer();
    let effects = me.hear(HIGH, heartbeat(OLD, 9));
    assert!(!effects.writes() && effects.messages().is_empty());
}

/// A leader whose heartbeats suit longer promises does not know what an observer waits for.
#[test]
fn an_observer_waits_as_long_as_a_slow_leader_asks() {
    let mut me = Kit::observer();
    me.hear(HIGH, heartbeat(OLD, 9))
        .new_leader(HIGH, OLD)
        .set(BullyTimer::Election, P)
        .nothing_else_happened();
    me.later(P)
        .fire(BullyTimer::Election)
        .has_no_leader(OLD)
        .nothing_else_happened();
    me.later(P)
        .hear(HIGH, heartbeat(OLD, 9))
        .new_leader(HIGH, OLD)
        .set(BullyTimer::Election, 6 * P)
        .nothing_else_happened();
    me.later(2 * P)
        .hear(HIGH, heartbeat(OLD, 9))
        .set(BullyTimer::Election, 6 * P)
        .nothing_else_happened();
    me.later(H)
        .hear(HIGH, heartbeat(OLD, 9))
        .set(BullyTimer::Election, P)
        .nothing_else_happened();
    me.later(100 * P)
        .hear(HIGH, heartbeat(OLD, 9))
        .set(BullyTimer::Election, 16 * P)
        .nothing_else_happened();
    me.hear(LOW, elected(OLD + 1, 1))
        .new_leader(LOW, OLD + 1)
        .set(BullyTimer::Election, P)
        .nothing_else_happened();
}

/// `ask-before-takeover`: the leader's H is longer than this follower's, and its pace suits the promise:
/// by its own clock, which may be the slowest while the follower's is the fastest.
#[test]
fn a_leader_with_a_slower_pace_is_in_steady_contact() {
    let (lease, promise) = (Duration::from_millis(D), Duration::from_millis(5 * P));
    let timings = Timings::in_process().to_builder().lease(lease, promise);
    let preemption = Preemption::After(Duration::from_millis(10 * P));
    let config = QuorumConfig {
        timings: timings.build().unwrap(),
        preemption,
        ..config()
    };
    // Both are more than three of its own H.
    for (pace, asks) in [(5 * H, true), (5 * P / 3, true), (2 * P, false)] {
        let mut me = Kit::known(config.clone(), Some(5));
        let asked = (0..30).any(|_| {
            let effects = me.later(pace).hear(LOW, heartbeat(OLD, 1));
            effects.messages().len() == 2
        });
        assert_eq!(asked, asks, "it asks for the leadership in the end: {pace}");
    }
}
