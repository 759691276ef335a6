//! The rules' parameters: whose lease it is, how long to wait, when a live leader gives way.

use std::time::Duration;

use super::LeaseName;
use crate::protocol::{AgentId, IdError, Score, Timings};
use crate::{
    elections::policy::{NegativeMargin, Preemption},
    parts::detector_of,
};

/// What an election by a lease in a store needs to know. An agent with a configuration that does not pass the
/// [check](Self::check) does not start.
///
/// ```
/// use actix_bully::elections::lease::LeaseConfig;
/// use actix_bully::protocol::Timings;
/// let config = LeaseConfig { timings: Timings::lan(), ..LeaseConfig::new("shop", "cron")? };
/// assert!(config.check().is_ok());
/// assert_eq!(config.timings.lease().as_millis(), 240); // so long a leader leads without a word of the store
/// # Ok::<(), actix_bully::protocol::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseConfig {
    /// Whose lease it is: the same at every member, and no other election's.
    pub name: LeaseName,
    /// How long to wait for what. Default: [`Timings::default`]; they need a failure detector. H is how often
    /// the holder renews, D the lease, d the longest that a question to the store or its answer may take.
    pub timings: Timings,
    /// When a live leader gives way. Default: [`Preemption::After`] 10 s.
    pub preemption: Preemption,
    /// By how much a better agent's score must exceed the leader's. Default: by anything at all, the name
    /// deciding between equals.
    pub margin: Option<Score>,
    /// The longest that the work of a leader that steps down may take to end. Default: D - 2 d, so that it
    /// ends within the lease even if the store does not answer meanwhile.
    pub drain: Option<Duration>,
    /// For how long an agent that stepped down at its user's command lets others go first, unless its score
    /// is set or it is told to campaign. Default: 60 s.
    pub cooldown: Duration,
    /// How long an agent that does not lead waits for a word of the register before it reads again. Default, and
    /// the least: H + 2 d + J. More costs the store less, and makes a silent end as much later known.
    ///
    /// A register that tells what was written, over what, is read every 30 s while the holder renews, whatever is set here.
    pub poll: Option<Duration>,
    /// What the wall clock showed when the agent's own clock showed zero, in milliseconds since 2024 began in
    /// UTC; `None` where there is none, as in a simulation. An agent puts its own reading here.
    #[doc(hidden)]
    pub wall_at_zero: Option<i64>,
}

/// When 2024 began, in milliseconds since 1970 began.
const YEAR_2024: i64 = 1_704_067_200_000;

impl LeaseConfig {
    /// The defaults, for the lease of that group in that cluster.
    ///
    /// # Errors
    /// [`IdError`] when one of both is no name, by the rules of an [`AgentId`].
    pub fn new(cluster: &str, group: &str) -> Result<Self, IdError> {
        Ok(Self {
            name: LeaseName {
                cluster: AgentId::new(cluster)?,
                group: AgentId::new(group)?,
            },
            timings: Timings::default(),
            preemption: Preemption::After(Duration::from_secs(10)),
            margin: None,
            drain: None,
            cooldown: Duration::from_secs(60),
            poll: None,
            wall_at_zero: None,
        })
    }

    /// Checks every relation.
    ///
    /// # Errors
    /// [`LeaseError`] with the values that do not fit.
    pub fn check(&self) -> Result<(), LeaseError> {
        NegativeMargin::check(self.margin)?;
        let Some(detector) = self.timings.detector() else {
            return Err(LeaseError::NoHeartbeat);
        };
        let (heartbeat, delay) = (detector.heartbeat, self.timings.delay_bound());
        if heartbeat <= delay.saturating_mul(2) {
            return Err(LeaseError::Heartbeat { heartbeat, delay });
        }
        let least = self.least_poll();
        match self.poll {
            Some(poll) if poll < least => Err(LeaseError::Poll { poll, least }),
            Some(_) | None => Ok(()),
        }
    }

    /// The longest from the silent death of a leader until all that can reach the store know the next, while
    /// `ahead` more agents rank above the winner and are dead without any agent knowing.
    ///
    /// The last renewal is seen after poll + 2 d; then the lease has to be over by any clock, the winner's slot
    /// comes, it writes (2 d), and the others read. It is longer while the store answers in more than H / 2, and by
    /// 1.25 times the difference where agents have seen a longer lease there than their own.
    pub fn worst_case_failover(&self, ahead: u32) -> Duration {
        let t = &self.timings;
        let slots = self.poll().saturating_mul(ahead.min(8));
        let delays = t.delay_bound().saturating_mul(6);
        [self.poll().saturating_mul(2), self.patience(t.lease())]
            .into_iter()
            .chain([slots, t.jitter(), delays])
            .fold(Duration::ZERO, Duration::saturating_add)
    }

    /// H: how often the holder renews.
    pub(super) fn heartbeat(&self) -> Duration {
        detector_of(&self.timings).heartbeat
    }

    /// How long one that does not lead waits before it reads again.
    pub fn poll(&self) -> Duration {
        self.poll.unwrap_or_else(|| self.least_poll())
    }

    /// Whether an answer in that time leaves no gap, even if the next read is sent a poll after it arrived.
    pub(super) fn is_short(&self, took: Duration) -> bool {
        took.saturating_mul(2) <= self.heartbeat()
    }

    /// The least that is allowed between the sending of a read and the arrival of the next.
    pub(super) fn gap(&self) -> Duration {
        self.poll().saturating_add(self.heartbeat())
    }

    /// By how much the wait is longer where that much is allowed: a holder that has to write its lease again, since
    /// the store went back within such a gap, is seen in time.
    pub(super) fn longer(&self, allowed: Duration) -> Duration {
        allowed.saturating_sub(self.gap())
    }

    /// A claim that was not renewed for this long counts no more.
    pub(super) fn claim_lasts(&self) -> Duration {
        self.gap().saturating_mul(2)
    }

    /// How long the holder's lease may last by a clock that is slower than one's own.
    pub(super) fn patience(&self, lease: Duration) -> Duration {
        Timings::least_promise(lease.max(self.timings.lease()))
    }

    /// How long the others let the agent that a lease was released for: until it has read the record by itself,
    /// and written.
    pub(super) fn wait(&self) -> Duration {
        let delays = self.timings.delay_bound().saturating_mul(6);
        self.poll().saturating_add(delays)
    }

    /// The longest that the work of a leader that steps down may take to end.
    pub fn drain(&self) -> Duration {
        self.drain.unwrap_or_else(|| {
            let t = &self.timings;
            t.lease().saturating_sub(t.delay_bound().saturating_mul(2))
        })
    }

    /// The same for an agent on a host whose wall clock showed this when the agent's own clock showed zero, in
    /// milliseconds since 1970 began.
    pub(super) fn set_wall_clock(&mut self, wall_at_zero: i64) {
        self.wall_at_zero = Some(wall_at_zero.saturating_sub(YEAR_2024));
    }

    fn least_poll(&self) -> Duration {
        let t = &self.timings;
        let delays = t.delay_bound().saturating_mul(2);
        [delays, t.jitter()]
            .into_iter()
            .fold(self.heartbeat(), Duration::saturating_add)
    }
}

/// Why the parameters of a lease do not fit together.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The timings have no heartbeat.
    #[error("a lease needs to be renewed: choose timings with a failure detector")]
    NoHeartbeat,
    /// H > 2 d does not hold.
    #[error(
        "a lease that is renewed every {heartbeat:?} leaves no time for an answer, which may take twice {delay:?}: renew it less often"
    )]
    Heartbeat {
        /// H.
        heartbeat: Duration,
        /// d.
        delay: Duration,
    },
    /// The register would be read more often than the lease is renewed.
    #[error(
        "reading after {poll:?} is sooner than the next renewal can be seen: make it at least {least:?}"
    )]
    Poll {
        /// How long a reader waits.
        poll: Duration,
        /// H + 2 d + J.
        least: Duration,
    },
    /// A part of the margin is negative.
    #[error(transparent)]
    Margin(#[from] NegativeMargin),
}

debug_is_text!(LeaseError);
