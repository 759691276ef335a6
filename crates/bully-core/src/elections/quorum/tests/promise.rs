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

/// Returns an agent that restarts with the configured P after a promise of `promise` milliseconds.
fn reborn(config: QuorumConfig, promise: u64) -> Kit {
    Kit::reborn(config, MemberKind::Voter, Some(5), vote(OLD, HIGH, promise))
}

#[test]
fn a_leader_beats_three_times_within_the_shortest_promise() {
    let mut me = Kit::elected();
    let now = me.now;
    let pace = span(50) / 3;
    let beat = Effect::SetTimer {
        timer: BullyTimer::Heartbeat,
        after: pace.into(),
    };
    let last = me.hear(LOW, promising(50, now)).0.pop_back();
    assert_eq!(last.as_ref(), Some(&beat), "before its own H is over");
    me.now = now.after(pace);
    let mut effects = me.fire(BullyTimer::Heartbeat);
    assert_eq!(effects.messages().len(), 1, "a heartbeat");
    assert_eq!(effects.0.pop_back(), Some(beat));
}

/// Otherwise a second crash within the quarantine would shorten it.
#[test]
fn every_record_keeps_the_longer_promise_until_its_quarantine_is_over() {
    let mut me = reborn(config(), 3 * P);
    me.begin().whatever();
    me.later(3 * P - 1)
        .hear(HIGH, heartbeat(OLD + 1, 9))
        .wrote_record(&vote(OLD + 1, HIGH, 3 * P))
        .whatever();
    let effects = me.later(1).hear(HIGH, heartbeat(OLD + 1, 9));
    effects
        .set(BullyTimer::Election, P)
        .wrote(OLD + 1, HIGH)
        .sent(HIGH, ack(OLD + 1, SAID, 5))
        .nothing_else_happened();
}

/// A leader whose voters promise for longer sends fewer heartbeats, and does not know the wait of an observer.
#[test]
fn an_observer_waits_as_long_as_a_slow_leader_asks() {
    let mut me = Kit::observer().after(HIGH, heartbeat(OLD, 9));
    me.later(P)
        .fire(BullyTimer::Election)
        .has_no_leader(OLD)
        .nothing_else_happened();
    me.later(P)
        .hear(HIGH, heartbeat(OLD, 9))
        .new_leader(HIGH, OLD)
        .set(BullyTimer::Election, 6 * P)
        .nothing_else_happened();
    for (pause, wait) in [(2 * P, 6 * P), (H, P), (100 * P, 16 * P)] {
        me.later(pause)
            .hear(HIGH, heartbeat(OLD, 9))
            .set(BullyTimer::Election, wait)
            .nothing_else_happened();
    }
    me.hear(LOW, elected(OLD + 1, 1))
        .new_leader(LOW, OLD + 1)
        .set(BullyTimer::Election, P)
        .nothing_else_happened();
}
