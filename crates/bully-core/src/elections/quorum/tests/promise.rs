//! Members with different timings: a lease is as long as the promise of each voter allows, and the record keeps the
//! longest promise.

use super::*;

/// Returns the lease that an acknowledgement with this promise gives. It is at most the leader's D.
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

/// Returns an agent that restarts with the configured P after a promise of `promise` milliseconds.
fn reborn(config: QuorumConfig, promise: u64) -> Kit {
    Kit::reborn(config, MemberKind::Voter, Some(5), vote(OLD, HIGH, promise))
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

/// A voter that has not been heard for a lease does not speed up the heartbeats any more.
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

/// A leader whose voters promise for longer sends fewer heartbeats, and does not know the wait of an observer.
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

/// `ask-before-takeover`: the leader's H is longer than the follower's, and the leader's pace fits the promise. The
/// leader's clock may be the slowest one, and the follower's clock the fastest one.
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
    // All these pauses are longer than three times the follower's own H.
    for (pace, asks) in [(5 * H, true), (5 * P / 3, true), (2 * P, false)] {
        let mut me = Kit::known(config.clone(), Some(5));
        let asked = (0..30).any(|_| {
            let effects = me.later(pace).hear(LOW, heartbeat(OLD, 1));
            effects.messages().len() == 2
        });
        assert_eq!(asked, asks, "whether it asks for the leadership: {pace}");
    }
}
