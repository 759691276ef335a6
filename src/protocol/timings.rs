//! How long to wait for what: validated durations, and presets by place.
//!
//! Every relation that a promise rests on is checked when the timings are built, so timings that
//! exist are valid. Relations are named after their sources: T > 2 d is the condition of every
//! election by time-out (Garcia-Molina 1982); C1 to C4 belong to the lease of the quorum mode.

use std::time::Duration;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The durations of one election; the same at every member.
///
/// | preset | d | T | H | L | S, J | E | D | P | for |
/// |---|---|---|---|---|---|---|---|---|---|
/// | [`astra`](Self::astra) | 900 | 2,000 | – | – | – | – | – | – | the plain ASTRA rules: no failure detector, somebody must start |
/// | [`default`](Self::default) | 40 | 2,000 | 180 | 900 | 80, 50 | 100 | 720 | 900 | most |
/// | [`lan`](Self::lan) | 9 | 200 | 60 | 250 | 18, 10 | 20 | 240 | 300 | one data centre |
/// | [`wan`](Self::wan) | 300 | 2,000 | 1,000 | 4,000 | 600, 300 | 700 | 4,000 | 5,000 | across regions |
/// | [`in_process`](Self::in_process) | 2 | 50 | 25 | 100 | 4, 2 | 5 | 100 | 125 | one process, tests |
///
/// (milliseconds; the letters are explained at the methods of the same meaning)
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timings {
    delay_bound: Duration,
    deadline: Duration,
    detector: Option<Detector>,
    step: Duration,
    jitter: Duration,
    round: Duration,
    lease: Duration,
    promise: Duration,
}

/// How a silent leader is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Detector {
    /// H: how often a leader is heard.
    pub heartbeat: Duration,
    /// L: silence for this long means that the leader is gone.
    pub detection: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        Self::preset([40, 2_000, 180, 900, 80, 50, 100, 720, 900])
    }
}

impl Timings {
    /// The ASTRA rules: a deadline of 2 s, and no failure detector.
    pub const fn astra() -> Self {
        let mut timings = Self::preset([900, 2_000, 0, 0, 900, 0, 2_000, 8_000, 10_000]);
        timings.detector = None;
        timings
    }

    /// One data centre.
    pub const fn lan() -> Self {
        Self::preset([9, 200, 60, 250, 18, 10, 20, 240, 300])
    }

    /// Across regions.
    pub const fn wan() -> Self {
        Self::preset([300, 2_000, 1_000, 4_000, 600, 300, 700, 4_000, 5_000])
    }

    /// One process; tests.
    pub const fn in_process() -> Self {
        Self::preset([2, 50, 25, 100, 4, 2, 5, 100, 125])
    }

    /// d, T, H, L, S, J, E, D, P.
    const fn preset(millis: [u64; 9]) -> Self {
        let [
            delay,
            deadline,
            heartbeat,
            detection,
            step,
            jitter,
            round,
            lease,
            promise,
        ] = millis;
        Self {
            delay_bound: ms(delay),
            deadline: ms(deadline),
            detector: Some(Detector {
                heartbeat: ms(heartbeat),
                detection: ms(detection),
            }),
            step: ms(step),
            jitter: ms(jitter),
            round: ms(round),
            lease: ms(lease),
            promise: ms(promise),
        }
    }

    /// Starts from these timings to make others.
    pub const fn to_builder(self) -> TimingsBuilder {
        TimingsBuilder(self)
    }

    /// d: the longest that a message and its handling may take, one way.
    pub const fn delay_bound(&self) -> Duration {
        self.delay_bound
    }

    /// T: how long a candidate waits for those who do not answer; more than 2 d.
    pub const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// H and L; `None` for the plain ASTRA rules.
    pub const fn detector(&self) -> Option<Detector> {
        self.detector
    }

    /// S: how much longer each rank further down waits before it starts; at least d.
    pub const fn step(&self) -> Duration {
        self.step
    }

    /// J: the random part of a wait that several agents begin at the same moment.
    pub const fn jitter(&self) -> Duration {
        self.jitter
    }

    /// E: one round of questions in quorum mode; more than 2 d (C3).
    pub const fn round(&self) -> Duration {
        self.round
    }

    /// D: for how long an acknowledged heartbeat lets a leader believe, from the time it was sent
    /// (quorum mode); at least 3 H + 2 d (C2).
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// P: for how long a voter that acknowledged supports nobody else, from the time it did
    /// (quorum mode); at least D (1 + r) / (1 - r) for the clock-rate error r = 11 % (C1).
    pub const fn promise(&self) -> Duration {
        self.promise
    }

    /// How long a member that was told to stand back waits for the announcement: 2.5 T.
    pub fn victory_wait(&self) -> Duration {
        self.deadline.saturating_mul(5) / 2
    }

    /// The longest from the silent death of a leader until all who can be reached know the next,
    /// in the available mode, when `silent` more agents that outrank the winner are dead without
    /// anybody knowing.
    ///
    /// d + L + J + min(silent, 8) (S + J) + d while at most 8 are silent; with more of them, or
    /// where nobody had followed the dead leader, an election with its deadline comes on top:
    /// T + 2 d. Without a failure detector nobody notices: `None`.
    pub fn worst_case_failover(&self, silent: u32) -> Option<Duration> {
        let detection = self.detector?.detection;
        let staggered = self
            .step
            .saturating_add(self.jitter)
            .saturating_mul(silent.min(8));
        let announced = detection
            .saturating_add(self.jitter)
            .saturating_add(staggered)
            .saturating_add(self.delay_bound.saturating_mul(2));
        let election = self
            .deadline
            .saturating_add(self.delay_bound.saturating_mul(2));
        Some(if silent < 8 {
            announced
        } else {
            announced.saturating_add(election)
        })
    }
}

/// Makes [`Timings`]; begins with a preset.
///
/// ```
/// use actix_bully::protocol::Timings;
/// use std::time::Duration;
/// let timings = Timings::lan().to_builder().deadline(Duration::from_millis(100)).build()?;
/// assert_eq!(timings.deadline(), Duration::from_millis(100));
/// let refused = Timings::lan().to_builder().deadline(Duration::from_millis(18)).build();
/// assert_eq!(
///     refused.unwrap_err().to_string(),
///     "the deadline of 18ms must exceed twice the delay bound of 9ms: raise the deadline"
/// );
/// # Ok::<(), actix_bully::protocol::TimingsError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TimingsBuilder(Timings);

impl TimingsBuilder {
    /// d: the longest that a message and its handling may take, one way; more than zero.
    pub const fn delay_bound(mut self, d: Duration) -> Self {
        self.0.delay_bound = d;
        self
    }

    /// T: how long a candidate waits for those who do not answer; more than 2 d.
    pub const fn deadline(mut self, t: Duration) -> Self {
        self.0.deadline = t;
        self
    }

    /// H and L: how often a leader is heard (more than zero), and how long a silence means that
    /// it is gone (more than H + d).
    pub const fn detector(mut self, heartbeat: Duration, detection: Duration) -> Self {
        self.0.detector = Some(Detector {
            heartbeat,
            detection,
        });
        self
    }

    /// S: how much longer each rank further down waits before it starts; at least d.
    pub const fn step(mut self, s: Duration) -> Self {
        self.0.step = s;
        self
    }

    /// J: the random part of a wait; zero is allowed.
    pub const fn jitter(mut self, j: Duration) -> Self {
        self.0.jitter = j;
        self
    }

    /// E: one round of questions in quorum mode; more than 2 d.
    pub const fn round(mut self, e: Duration) -> Self {
        self.0.round = e;
        self
    }

    /// D and P: the lease and the promise of the quorum mode; D at least 3 H + 2 d, and P at
    /// least D (1 + r) / (1 - r) with r = 11 %, which is 1.2472 D.
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
        if t.deadline <= twice {
            return Err(TimingsError::Deadline {
                deadline: t.deadline,
                delay_bound: t.delay_bound,
            });
        }
        if t.step < t.delay_bound {
            return Err(TimingsError::Step {
                step: t.step,
                delay_bound: t.delay_bound,
            });
        }
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
            if detection <= heartbeat.saturating_add(delay_bound) {
                return Err(TimingsError::Detection {
                    detection,
                    heartbeat,
                    delay_bound,
                });
            }
            if lease < heartbeat.saturating_mul(3).saturating_add(twice) {
                return Err(TimingsError::Lease {
                    lease,
                    heartbeat,
                    delay_bound,
                });
            }
        }
        // r = 11 %: (1 + r) / (1 - r) = 111 / 89; one nanosecond is a granule of these clocks.
        let least = t.lease.saturating_mul(111) / 89 + Duration::from_nanos(1);
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

/// Which relation between two durations does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimingsError {
    /// d is zero.
    #[error("the delay bound is zero: state the longest one-way delay, such as 10ms")]
    ZeroDelayBound,
    /// H is zero.
    #[error("the heartbeat interval is zero: state how often a leader is heard, such as 100ms")]
    ZeroHeartbeat,
    /// T > 2 d does not hold.
    #[error(
        "the deadline of {deadline:?} must exceed twice the delay bound of {delay_bound:?}: raise the deadline"
    )]
    Deadline {
        /// T.
        deadline: Duration,
        /// d.
        delay_bound: Duration,
    },
    /// L > H + d does not hold.
    #[error(
        "a detection time of {detection:?} must exceed the heartbeat interval of {heartbeat:?} plus the delay bound of {delay_bound:?}: raise the detection time"
    )]
    Detection {
        /// L.
        detection: Duration,
        /// H.
        heartbeat: Duration,
        /// d.
        delay_bound: Duration,
    },
    /// S >= d does not hold.
    #[error(
        "a step of {step:?} must be at least the delay bound of {delay_bound:?}: raise the step"
    )]
    Step {
        /// S.
        step: Duration,
        /// d.
        delay_bound: Duration,
    },
    /// C3, E > 2 d, does not hold.
    #[error(
        "a round of {round:?} must exceed twice the delay bound of {delay_bound:?}: raise the round"
    )]
    Round {
        /// E.
        round: Duration,
        /// d.
        delay_bound: Duration,
    },
    /// C2, D >= 3 H + 2 d, does not hold.
    #[error(
        "a lease of {lease:?} must be at least three heartbeat intervals of {heartbeat:?} plus twice the delay bound of {delay_bound:?}: raise the lease"
    )]
    Lease {
        /// D.
        lease: Duration,
        /// H.
        heartbeat: Duration,
        /// d.
        delay_bound: Duration,
    },
    /// C1, P >= D (1 + r) / (1 - r), does not hold.
    #[error(
        "a promise of {promise:?} is too short for a lease of {lease:?}: make it at least {least:?}"
    )]
    Promise {
        /// P.
        promise: Duration,
        /// D.
        lease: Duration,
        /// The shortest promise that will do.
        least: Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_keeps_its_own_rules() {
        for preset in [
            Timings::default(),
            Timings::lan(),
            Timings::wan(),
            Timings::in_process(),
            Timings::astra(),
        ] {
            assert_eq!(preset.clone().to_builder().build(), Ok(preset));
        }
    }

    #[test]
    fn each_broken_relation_is_named() {
        let lan = || Timings::lan().to_builder();
        let name = |b: TimingsBuilder| {
            format!("{:?}", b.build().unwrap_err())
                .split(' ')
                .next()
                .map(str::to_owned)
        };
        let cases = [
            (lan().delay_bound(Duration::ZERO), "ZeroDelayBound"),
            (lan().detector(Duration::ZERO, ms(250)), "ZeroHeartbeat"),
            (lan().deadline(ms(18)), "Deadline"),
            (lan().detector(ms(60), ms(69)), "Detection"),
            (lan().step(ms(8)), "Step"),
            (lan().round(ms(18)), "Round"),
            (lan().lease(ms(197), ms(300)), "Lease"),
            (lan().lease(ms(240), ms(299)), "Promise"),
        ];
        for (builder, expected) in cases {
            assert_eq!(name(builder).as_deref(), Some(expected));
        }
        assert!(
            lan()
                .deadline(Duration::from_nanos(18_000_001))
                .build()
                .is_ok(),
            "just over twice"
        );
    }

    #[test]
    fn failover_has_a_formula() {
        assert_eq!(Timings::astra().worst_case_failover(0), None);
        assert_eq!(
            Timings::lan().worst_case_failover(0),
            Some(ms(250 + 10 + 18))
        );
        assert_eq!(
            Timings::lan().worst_case_failover(2),
            Some(ms(250 + 10 + 18 + 2 * 28))
        );
        assert_eq!(
            Timings::lan().worst_case_failover(99),
            Some(ms(250 + 10 + 18 + 8 * 28 + 218))
        );
    }
}
