//! Makes and checks durations: every relation that a promise depends on.

use std::time::Duration;

use super::{Detector, SettingError, Timings};

/// Makes [`Timings`]; begins with a preset.
///
/// ```
/// # use bully_core::protocol::Timings;
/// use std::time::Duration;
/// let timings = Timings::lan().to_builder().deadline(Duration::from_millis(100)).build()?;
/// assert_eq!(timings.deadline(), Duration::from_millis(100));
/// let refused = Timings::lan().to_builder().deadline(Duration::from_millis(18)).build();
/// assert_eq!(
///     refused.unwrap_err().to_string(),
///     "the deadline of 18ms must exceed twice the delay bound of 9ms: raise the deadline"
/// );
/// # Ok::<(), bully_core::protocol::SettingError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TimingsBuilder(Timings);

impl TimingsBuilder {
    pub(super) const fn new(preset: Timings) -> Self {
        Self(preset)
    }

    /// Sets d: the longest time that a message and its handling may take, one way; more than zero.
    pub const fn delay_bound(mut self, d: Duration) -> Self {
        self.0.delay_bound = d;
        self
    }

    /// Sets T: the time for which a candidate waits for members that do not answer; more than 2 d.
    pub const fn deadline(mut self, t: Duration) -> Self {
        self.0.deadline = t;
        self
    }

    /// Sets H and L: the time between two heartbeats of a leader (more than zero), and the length of a silence after
    /// which the leader counts as gone (more than H + d).
    pub const fn detector(mut self, heartbeat: Duration, detection: Duration) -> Self {
        self.0.detector = Some(Detector {
            heartbeat,
            detection,
        });
        self
    }

    /// Sets S: the additional time that each lower rank waits before it starts an election; at least d.
    pub const fn step(mut self, s: Duration) -> Self {
        self.0.step = s;
        self
    }

    /// Sets J: the random part of a wait; zero is allowed.
    pub const fn jitter(mut self, j: Duration) -> Self {
        self.0.jitter = j;
        self
    }

    /// Sets E: the length of one round of questions in quorum mode; more than 2 d.
    pub const fn round(mut self, e: Duration) -> Self {
        self.0.round = e;
        self
    }

    /// Sets D and P: the lease and the promise of the quorum mode; D at least 3 H + 2 d, and P at least
    /// D (1 + r) / (1 - r) with r = 11 %, which is 1.2472 D.
    pub const fn lease(mut self, lease: Duration, promise: Duration) -> Self {
        self.0.lease = lease;
        self.0.promise = promise;
        self
    }

    /// Checks every relation.
    ///
    /// # Errors
    /// [`SettingError`] with the two values that do not fit.
    pub fn build(self) -> Result<Timings, SettingError> {
        let t = self.0;
        let (d, twice) = (t.delay_bound, t.delay_bound.saturating_mul(2));
        if d.is_zero() {
            let reason = "the delay bound is zero: state the longest one-way delay, such as 10ms";
            return Err(SettingError::new("delay_bound", reason));
        }
        // T > 2 d, because an answer could otherwise come after the deadline, and its sender would count as dead.
        if t.deadline <= twice {
            return Err(SettingError::new(
                "deadline",
                format_args!(
                    "the deadline of {:?} must exceed twice the delay bound of {d:?}: raise the deadline",
                    t.deadline
                ),
            ));
        }
        // S >= d, because the next agent in rank would otherwise start before it can hear the agent of the highest
        // rank.
        if t.step < d {
            return Err(SettingError::new(
                "step",
                format_args!(
                    "a step of {:?} must be at least the delay bound of {d:?}: raise the step",
                    t.step
                ),
            ));
        }
        // Rule `answers-within-round`: E > 2 d, because the answers of a round would otherwise come after its end.
        if t.round <= twice {
            return Err(SettingError::new(
                "round",
                format_args!(
                    "a round of {:?} must exceed twice the delay bound of {d:?}: raise the round",
                    t.round
                ),
            ));
        }
        check_detector(&t)?;
        let (promise, least) = (t.promise, Timings::least_promise(t.lease));
        // Rule `promise-outlasts-lease`: P >= D (1 + r) / (1 - r), because a voter would otherwise be free again before
        // a lease that depends on it has ended.
        if promise < least {
            return Err(SettingError::new(
                "promise",
                format_args!(
                    "a promise of {promise:?} is too short for a lease of {:?}: make it at least {least:?}",
                    t.lease
                ),
            ));
        }
        Ok(t)
    }
}

/// Checks the relations of the failure detector, if the timings have a failure detector.
fn check_detector(t: &Timings) -> Result<(), SettingError> {
    let (d, lease) = (t.delay_bound, t.lease);
    let Some(Detector {
        heartbeat,
        detection,
    }) = t.detector
    else {
        return Ok(());
    };
    if heartbeat.is_zero() {
        let reason =
            "the heartbeat interval is zero: state how often a leader is heard, such as 100ms";
        return Err(SettingError::new("heartbeat", reason));
    }
    // L > H + d, because a heartbeat may be late by d: before this time, a missing heartbeat means nothing.
    if detection <= heartbeat.saturating_add(d) {
        return Err(SettingError::new(
            "detection",
            format_args!(
                "a detection time of {detection:?} must exceed the heartbeat interval of {heartbeat:?} plus the delay bound of {d:?}: raise the detection time"
            ),
        ));
    }
    // Rule `heartbeats-within-lease`: D >= 3 H + 2 d, because two lost heartbeats in a row must not cost the lease.
    let twice = d.saturating_mul(2);
    if lease < heartbeat.saturating_mul(3).saturating_add(twice) {
        return Err(SettingError::new(
            "lease",
            format_args!(
                "a lease of {lease:?} must be at least three heartbeat intervals of {heartbeat:?} plus twice the delay bound of {d:?}: raise the lease"
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn each_broken_relation_is_named() {
        let lan = || Timings::lan().to_builder();
        let cases = [
            (lan().delay_bound(Duration::ZERO), "the delay bound is zero"),
            (
                lan().detector(Duration::ZERO, ms(250)),
                "the heartbeat interval is zero",
            ),
            (lan().deadline(ms(18)), "raise the deadline"),
            (lan().detector(ms(60), ms(69)), "raise the detection time"),
            (lan().step(ms(8)), "raise the step"),
            (lan().round(ms(18)), "raise the round"),
            (lan().lease(ms(197), ms(300)), "raise the lease"),
            (lan().lease(ms(240), ms(299)), "too short for a lease of"),
        ];
        for (builder, expected) in cases {
            let refused = builder.build().unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        assert!(
            lan()
                .deadline(Duration::from_nanos(18_000_001))
                .build()
                .is_ok(),
            "just over twice"
        );
    }
}
