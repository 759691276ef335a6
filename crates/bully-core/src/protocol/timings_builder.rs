//! Makes and checks durations: every relation that a promise depends on.

use std::time::Duration;

use super::{Detector, Timings};

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
/// # Ok::<(), bully_core::protocol::TimingsError>(())
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
    /// [`TimingsError`] with the two values that do not fit.
    pub fn build(self) -> Result<Timings, TimingsError> {
        let t = self.0;
        let twice = t.delay_bound.saturating_mul(2);
        if t.delay_bound.is_zero() {
            return Err(TimingsError::ZeroDelayBound);
        }
        // T > 2 d, because an answer could otherwise come after the deadline, and its sender would count as dead.
        if t.deadline <= twice {
            return Err(TimingsError::Deadline {
                deadline: t.deadline,
                delay_bound: t.delay_bound,
            });
        }
        // S >= d, because the next agent in rank would otherwise start before it can hear the first one.
        if t.step < t.delay_bound {
            return Err(TimingsError::Step {
                step: t.step,
                delay_bound: t.delay_bound,
            });
        }
        // E > 2 d, because the answers of a round would otherwise come after its end.
        if t.round <= twice {
            return Err(TimingsError::Round {
                round: t.round,
                delay_bound: t.delay_bound,
            });
        }
        if let Some(Detector {
            heartbeat,
            detection,
        }) = t.detector
        {
            let (delay_bound, lease) = (t.delay_bound, t.lease);
            if heartbeat.is_zero() {
                return Err(TimingsError::ZeroHeartbeat);
            }
            // L > H + d, because a heartbeat may be late by d: until then its absence means nothing.
            if detection <= heartbeat.saturating_add(delay_bound) {
                return Err(TimingsError::Detection {
                    detection,
                    heartbeat,
                    delay_bound,
                });
            }
            // D >= 3 H + 2 d, because two lost heartbeats in a row must not cost the lease.
            if lease < heartbeat.saturating_mul(3).saturating_add(twice) {
                return Err(TimingsError::Lease {
                    lease,
                    heartbeat,
                    delay_bound,
                });
            }
        }
        let least = Timings::least_promise(t.lease);
        // P >= D (1 + r) / (1 - r), because a voter would otherwise be free again before a lease that depends on it
        // has ended.
        if t.promise < least {
            return Err(TimingsError::Promise {
                promise: t.promise,
                lease: t.lease,
                least,
            });
        }
        Ok(t)
    }
}

/// The relation between two durations that does not hold.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimingsError {
    /// The delay bound d is zero.
    #[error("the delay bound is zero: state the longest one-way delay, such as 10ms")]
    ZeroDelayBound,
    /// The heartbeat interval H is zero.
    #[error("the heartbeat interval is zero: state how often a leader is heard, such as 100ms")]
    ZeroHeartbeat,
    /// The deadline T is not longer than two delay bounds d (T > 2 d).
    #[error(
        "the deadline of {deadline:?} must exceed twice the delay bound of {delay_bound:?}: raise the deadline"
    )]
    Deadline {
        /// The deadline T.
        deadline: Duration,
        /// The delay bound d.
        delay_bound: Duration,
    },
    /// The detection time L is not longer than the heartbeat interval H and the delay bound d together (L > H + d).
    #[error(
        "a detection time of {detection:?} must exceed the heartbeat interval of {heartbeat:?} plus the delay bound of {delay_bound:?}: raise the detection time"
    )]
    Detection {
        /// The detection time L.
        detection: Duration,
        /// The heartbeat interval H.
        heartbeat: Duration,
        /// The delay bound d.
        delay_bound: Duration,
    },
    /// The step S is shorter than the delay bound d (S >= d).
    #[error(
        "a step of {step:?} must be at least the delay bound of {delay_bound:?}: raise the step"
    )]
    Step {
        /// The step S.
        step: Duration,
        /// The delay bound d.
        delay_bound: Duration,
    },
    /// The round E is not longer than two delay bounds d (rule `answers-within-round`: E > 2 d).
    #[error(
        "a round of {round:?} must exceed twice the delay bound of {delay_bound:?}: raise the round"
    )]
    Round {
        /// The round E.
        round: Duration,
        /// The delay bound d.
        delay_bound: Duration,
    },
    /// The lease D is too short for three heartbeat intervals H and two delay bounds d (rule `heartbeats-within-lease`:
    /// D >= 3 H + 2 d).
    #[error(
        "a lease of {lease:?} must be at least three heartbeat intervals of {heartbeat:?} plus twice the delay bound of {delay_bound:?}: raise the lease"
    )]
    Lease {
        /// The lease D.
        lease: Duration,
        /// The heartbeat interval H.
        heartbeat: Duration,
        /// The delay bound d.
        delay_bound: Duration,
    },
    /// The promise P is too short for the lease D (rule `promise-outlasts-lease`): with the clock-rate error r, P must
    /// be at least D (1 + r) / (1 - r).
    #[error(
        "a promise of {promise:?} is too short for a lease of {lease:?}: make it at least {least:?}"
    )]
    Promise {
        /// The promise P.
        promise: Duration,
        /// The lease D.
        lease: Duration,
        /// The shortest promise that is long enough.
        least: Duration,
    },
    /// An echo of zero was given to [`Timings::measured`]: nothing was measured.
    #[error(
        "the `echo` of the measurement is zero: set it to the time from a question between two hosts to its answer under their usual load, as `ping` shows it"
    )]
    NoEcho,
    /// The delays that were given to [`Timings::measured`] are too long.
    #[error(
        "an echo of {echo:?} with stalls of {stall:?} and writes of {write:?} is too slow for measured timings: echo + 2 stalls and a write may each take 1s at most; find what is slow, or use Timings::wan().to_builder()"
    )]
    TooSlow {
        /// Time from a question to its answer, there and back.
        echo: Duration,
        /// Time to write a record.
        write: Duration,
        /// The time for which a process stands still.
        stall: Duration,
    },
}

debug_is_text!(TimingsError);

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
