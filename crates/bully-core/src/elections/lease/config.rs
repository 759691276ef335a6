//! The parameters of the lease rules: the names of the lease, the waits, and when a live leader hands over.

use std::time::Duration;

use super::LeaseName;
use crate::elections::policy::{Preemption, check_margin};
use crate::parts::{check_detector, detector_of};
use crate::protocol::{AgentId, IdError, Score, SettingError, Timings};

/// The parameters of an election by a lease in a store. An agent with a configuration that fails the
/// [check](Self::check) does not start.
///
/// ```
/// # use bully_core::elections::lease::LeaseConfig;
/// # use bully_core::protocol::Timings;
/// let config = LeaseConfig { timings: Timings::lan(), ..LeaseConfig::new("shop", "cron")? };
/// assert!(config.check().is_ok());
/// assert_eq!(config.timings.lease().as_millis(), 240); // so long a leader leads without a word of the store
/// # Ok::<(), bully_core::protocol::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseConfig {
    /// Names of the lease: the same at every member. No other election may have them.
    pub name: LeaseName,
    /// Waits and intervals. Default: [`Timings::default`]. Timings without a failure detector are refused. H is the
    /// interval at which the holder renews the lease, D the length of the lease, J the jitter, and d the longest time
    /// that a question to the store, or its answer, may take.
    pub timings: Timings,
    /// Time at which a live leader hands over to a better agent. Default: [`Preemption::After`] 10 s, so that an agent
    /// that comes and goes does not move the leadership.
    pub preemption: Preemption,
    /// Least difference by which a better agent's score must exceed the leader's score. Default: none; between equal
    /// scores the name decides.
    pub margin: Option<Score>,
    /// Longest time between the step-down of a leader and the end of its work. Default: the [lease](Timings::lease)
    /// minus two [delay bounds](Timings::delay_bound), so that the work ends even if the store does not answer.
    pub drain: Option<Duration>,
    /// Time after a step-down by command in which the agent does not compete, because it would otherwise be elected
    /// again at once. This time ends early if the agent's score is set or the agent gets the command to campaign.
    /// Default: 60 s.
    pub cooldown: Duration,
    /// Time for which an agent that does not lead waits for an update of the register before it reads again. Default
    /// and minimum: H + 2 d + J, by the letters of [`Timings`]. With a longer poll the store has less work, and the
    /// silent end of a leader is detected later by the same amount.
    ///
    /// Some registers report each write, with the version that it replaced. Such a register is read every 30 s while
    /// the holder renews; then this field has no effect.
    pub poll: Option<Duration>,
    /// Reading of the wall clock when the agent's own clock showed zero, in milliseconds since 2024 began in UTC.
    /// `None` without a wall clock, as in a simulation. An agent puts its own reading here.
    #[doc(hidden)]
    pub wall_at_zero: Option<i64>,
}

/// Start of 2024, in milliseconds since the start of 1970.
const YEAR_2024: i64 = 1_704_067_200_000;

impl LeaseConfig {
    /// Returns the defaults for the lease of this group in this cluster.
    ///
    /// # Errors
    /// [`IdError`] if `cluster` or `group` is not a valid name by the rules of an [`AgentId`].
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

    /// Checks every relation between the parameters.
    ///
    /// # Errors
    /// [`SettingError`] with the values that do not fit together.
    pub fn check(&self) -> Result<(), SettingError> {
        check_margin(self.margin)?;
        let detector = check_detector(&self.timings, "a lease")?;
        let (heartbeat, delay) = (detector.heartbeat, self.timings.delay_bound());
        // An answer may take twice the delay bound, and the next renewal is sent only after the answer.
        if heartbeat <= delay.saturating_mul(2) {
            return Err(SettingError::new(
                "timings",
                format_args!(
                    "a heartbeat interval of {heartbeat:?} is too short for a lease, because an answer may take twice the delay bound of {delay:?}: raise the interval"
                ),
            ));
        }
        let least = self.least_poll();
        match self.poll {
            Some(poll) if poll < least => Err(SettingError::new(
                "poll",
                format_args!(
                    "a poll interval of {poll:?} is too short, because it ends before the next renewal is visible: make it at least {least:?}"
                ),
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns this configuration, and copies of it in which each option has a value that is not its default. The common
    /// suite and fuzzing use all of them.
    #[cfg(any(test, feature = "testkit"))]
    #[doc(hidden)]
    pub fn samples(&self) -> Vec<Self> {
        let with = |change: fn(&mut Self)| {
            let mut config = self.clone();
            change(&mut config);
            config
        };
        vec![
            with(|_| {}),
            with(|config| {
                config.preemption = Preemption::Immediately;
                config.margin = Some(Score::from(2));
            }),
            with(|config| {
                config.preemption = Preemption::Never;
                config.margin = Some(Score::from(2));
            }),
            with(|config| {
                config.poll = Some(config.poll().saturating_mul(3));
                config.drain = Some(config.timings.lease());
                config.cooldown = Duration::from_secs(1);
                config.wall_at_zero = Some(5);
            }),
        ]
    }

    /// Returns the longest time from the silent death of a leader until all agents that can reach the store know the
    /// next leader. `ahead` is the number of other agents that rank above the winner and have died unnoticed.
    ///
    /// The winner sees the last renewal within one poll and 2 d after the silent death (d is the delay bound). Then the
    /// lease has to end by every clock, the winner's slot comes, the winner writes (2 d), and the other agents read.
    /// The whole time is longer while answers of the store take more than half a renewal interval. If agents have seen
    /// a longer lease in the store than their own, the time grows by 1.25 times the difference.
    pub fn worst_case_failover(&self, ahead: u32) -> Duration {
        let t = &self.timings;
        // An agent waits for at most 8 other agents (rule `rank-staggered-slots`).
        let slots = self.poll().saturating_mul(ahead.min(8));
        let delays = t.delay_bound().saturating_mul(6);
        [self.poll().saturating_mul(2), self.patience(t.lease())]
            .into_iter()
            .chain([slots, t.jitter(), delays])
            .fold(Duration::ZERO, Duration::saturating_add)
    }

    /// H: the interval at which the holder renews.
    pub(super) fn heartbeat(&self) -> Duration {
        detector_of(&self.timings).heartbeat
    }

    /// Time for which an agent that does not lead waits before it reads again.
    pub fn poll(&self) -> Duration {
        self.poll.unwrap_or_else(|| self.least_poll())
    }

    /// Returns whether an answer took at most half of the renewal interval H. Then the next read may be sent one poll
    /// after the answer arrived, without a gap in the reads (rule `a-poll-after-a-quick-answer`).
    pub(super) fn is_short(&self, took: Duration) -> bool {
        took.saturating_mul(2) <= self.heartbeat()
    }

    /// Smallest value of the allowed gap, the time from the sending of a read to the arrival of the next answer.
    pub(super) fn gap(&self) -> Duration {
        self.poll().saturating_add(self.heartbeat())
    }

    /// Returns the extra wait for the end of a lease if gaps of this length are allowed. The store may go back to a
    /// backup within such a gap. The extra wait lets the reader see in time that the holder writes its lease again.
    pub(super) fn longer(&self, allowed: Duration) -> Duration {
        allowed.saturating_sub(self.gap())
    }

    /// Time for which a claim counts after its last renewal: two gaps, because a renewal is seen after one gap at the
    /// latest, and one renewal may fail. With a longer time, the holder could hand over to an ended agent.
    pub(super) fn claim_lasts(&self) -> Duration {
        self.gap().saturating_mul(2)
    }

    /// Longest time, by this agent's clock, for which the holder's lease may last if the holder's clock is slower.
    pub(super) fn patience(&self, lease: Duration) -> Duration {
        Timings::least_promise(lease.max(self.timings.lease()))
    }

    /// Time for which the other agents leave a released lease to the agent for which it was released. In this time the
    /// chosen agent can read the record by itself and write.
    pub(super) fn wait(&self) -> Duration {
        let delays = self.timings.delay_bound().saturating_mul(6);
        self.poll().saturating_add(delays)
    }

    /// Longest time between the step-down of a leader and the end of its work.
    pub fn drain(&self) -> Duration {
        self.drain.unwrap_or_else(|| {
            let t = &self.timings;
            t.lease().saturating_sub(t.delay_bound().saturating_mul(2))
        })
    }

    /// Sets the reading of the wall clock at the zero of the agent's own clock, in milliseconds since 1970 began.
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
