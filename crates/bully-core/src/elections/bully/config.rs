//! The parameters of the bully rules: the waits, and when a leader leaves the leadership to a better agent.

use std::time::Duration;

use crate::elections::policy::{Preemption, check_margin};
use crate::protocol::{Score, SettingError, Timings};

/// The parameters of a bully election; the same at every member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BullyConfig {
    /// Waits and intervals.
    pub timings: Timings,
    /// Time at which a leader leaves the leadership to an agent of a higher rank. Default: [`Preemption::Immediately`].
    pub preemption: Preemption,
    /// Least difference by which a challenger's score must exceed the leader's score. Default: none; between equal
    /// scores the name decides. No part may be negative.
    pub margin: Option<Score>,
    /// Longest time from the moment at which a leader begins to step down to the end of its work. Default: 5 s.
    pub drain: Duration,
    /// Time after a step-down in which the agent does not compete, because it would otherwise be elected again at once.
    /// This time ends early if the agent's score is set or the agent gets the command to campaign. Default: 60 s.
    ///
    /// An agent that cools down may still start an election, but eight steps later than by its rank, and it asks the
    /// other agents first: perhaps no other agent is up, or all other agents cool down as well. So a cool-down delays
    /// the next leader by at most 8 S + T + 2 d (`step`, `deadline`, `delay_bound`). Add this time to
    /// [`worst_case_failover`](Timings::worst_case_failover).
    pub cooldown: Duration,
}

impl BullyConfig {
    /// Checks all parameters. An agent with a configuration that fails this check does not start.
    ///
    /// # Errors
    /// [`SettingError`] names the first wrong parameter.
    pub fn check(&self) -> Result<(), SettingError> {
        check_margin(self.margin)
    }

    /// Returns configurations in which each option has a value that is not its default. The common suite, fuzzing and the
    /// histories use all of them. Any of them may have no failure detector.
    #[cfg(any(test, feature = "testkit"))]
    #[doc(hidden)]
    pub fn samples() -> Vec<Self> {
        let with = |change: fn(&mut Self)| {
            let timings = Timings::lan();
            let mut config = Self {
                timings,
                ..Self::default()
            };
            change(&mut config);
            config
        };
        vec![
            with(|_| {}),
            with(|config| config.preemption = Preemption::Never),
            with(|config| config.preemption = Preemption::After(Duration::from_secs(1))),
            with(|config| config.margin = Some(Score::from(3))),
            with(|config| {
                config.preemption = Preemption::Never;
                config.margin = Some(Score::from(2));
            }),
            with(|config| config.timings = Timings::astra()),
        ]
    }

    /// Returns the longest time from the silent death of a leader until all members that can be reached know the next
    /// leader, for any number of other silent agents. Without a failure detector, returns the longest time from the
    /// command to campaign: two elections of one deadline each, and one deadline in which the agents wait for the
    /// former leader.
    ///
    /// An option that makes agents wait adds its wait here: the warning that no agent leads and the limits of tests
    /// follow this bound.
    pub fn worst_case_failover(&self) -> Duration {
        let t = &self.timings;
        t.worst_case_failover(u32::MAX)
            .unwrap_or_else(|| t.deadline().saturating_mul(3))
    }
}

impl Default for BullyConfig {
    fn default() -> Self {
        Self {
            timings: Timings::default(),
            preemption: Preemption::Immediately,
            margin: None,
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }
}
