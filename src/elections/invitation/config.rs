//! The rules' parameters, and the longest that a merge may take by them.
//!
//! A configuration that exists is valid.

use std::time::Duration;

use super::{Defect, Task};
use crate::protocol::{Detector, Timings};

/// What an invitation election needs to know beside who takes part; the same at every member, but
/// for the task.
///
/// ```
/// use actix_bully::elections::invitation::InvitationConfig;
/// use actix_bully::protocol::Timings;
/// use std::time::Duration;
/// let config = InvitationConfig::builder().timings(Timings::lan()).build()?;
/// // 3 d to find the others, 4 d to invite them, if all who are invited accept.
/// assert_eq!(config.worst_case_merge(), Duration::from_millis(7 * 9));
/// # Ok::<(), actix_bully::elections::invitation::InvitationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvitationConfig {
    timings: Timings,
    detector: Detector,
    task: Task,
    drain: Duration,
    rest: Duration,
    defect: Option<Defect>,
}

impl InvitationConfig {
    /// Starts with the defaults.
    pub fn builder() -> InvitationConfigBuilder {
        InvitationConfigBuilder {
            timings: Timings::default(),
            task: Task::default(),
            drain: Duration::from_secs(5),
            rest: Duration::from_secs(60),
        }
    }

    /// Starts from this configuration to make another.
    pub fn to_builder(&self) -> InvitationConfigBuilder {
        InvitationConfigBuilder {
            timings: self.timings.clone(),
            task: self.task,
            drain: self.drain,
            rest: self.rest,
        }
    }

    /// How long to wait for what.
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// H: how often a coordinator looks for others, and L: how long it may be silent.
    pub const fn detector(&self) -> Detector {
        self.detector
    }

    /// What this agent hands to all when it coordinates.
    pub const fn task(&self) -> Task {
        self.task
    }

    /// The longest that the work of a leader who steps down may take to end.
    pub const fn drain(&self) -> Duration {
        self.drain
    }

    /// For how long an agent that stepped down lets others go first.
    pub const fn rest(&self) -> Duration {
        self.rest
    }

    /// How long who has accepted an invitation waits for the task: 2.5 T, which exceeds the T + 2 d
    /// that may pass.
    pub fn takeover(&self) -> Duration {
        self.timings.victory_wait()
    }

    /// How long a check waits for answers: 3 d, and never more than T.
    pub fn gathering(&self) -> Duration {
        let three = self.timings.delay_bound().saturating_mul(3);
        three.min(self.timings.deadline())
    }

    /// How long who goes first has to find the others, and to invite them: 3 d + d.
    pub fn head_start(&self) -> Duration {
        self.gathering().saturating_add(self.timings.delay_bound())
    }

    /// The longest from the beginning of a check until all who were found work in one group, if all
    /// who are invited live and accept: 3 d + 4 d.
    pub fn worst_case_merge(&self) -> Duration {
        let calls = self.timings.delay_bound().saturating_mul(4);
        self.gathering().saturating_add(calls)
    }

    /// The same if some who were found, or their members, do not answer any more: 3 d + T + d.
    pub fn worst_case_merge_with_losses(&self) -> Duration {
        let t = &self.timings;
        self.gathering()
            .saturating_add(t.deadline())
            .saturating_add(t.delay_bound())
    }

    /// The longest from the silent death of a coordinator until all members of its group work in
    /// another one, while `ahead` of them outrank the next coordinator and are dead as well:
    /// d + L + J until it is missed, T until it has not answered, 4 d and a step for each of those
    /// if there are any, J, and a merge with losses. Where somebody
    /// [rests](InvitationConfigBuilder::rest), later by at most what is stated there.
    pub fn worst_case_failover(&self, ahead: u32) -> Duration {
        let t = &self.timings;
        let missed = t.delay_bound().saturating_add(self.detector.detection);
        let head_start = self.head_start().saturating_mul(ahead.min(1));
        let turn = t.step().saturating_mul(ahead.min(8));
        let turn = turn.saturating_add(head_start);
        missed
            .saturating_add(t.jitter().saturating_mul(2))
            .saturating_add(t.deadline())
            .saturating_add(turn)
            .saturating_add(self.worst_case_merge_with_losses())
    }

    /// The same rules with one of them broken.
    #[cfg(any(test, feature = "planted"))]
    #[doc(hidden)]
    #[must_use]
    pub const fn planted(mut self, defect: Defect) -> Self {
        self.defect = Some(defect);
        self
    }

    /// Whether that rule is broken on purpose: never, but in tests of the tests.
    pub(super) fn has(&self, defect: Defect) -> bool {
        cfg!(any(test, feature = "planted")) && self.defect == Some(defect)
    }
}

/// Makes an [`InvitationConfig`].
#[derive(Clone, Debug)]
#[must_use]
pub struct InvitationConfigBuilder {
    timings: Timings,
    task: Task,
    drain: Duration,
    rest: Duration,
}

impl InvitationConfigBuilder {
    /// How long to wait for what. Default: [`Timings::default`].
    pub fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// What this agent hands to all when it coordinates. Default: 0. The one setting that may
    /// differ between members.
    pub const fn task(mut self, task: Task) -> Self {
        self.task = task;
        self
    }

    /// The longest that the work of a leader who steps down may take to end. Default: 5 s.
    pub const fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// For how long an agent that stepped down lets others go first, unless its score is set, it is
    /// told to campaign, or nobody else is there. Default: 60 s.
    ///
    /// Who rests has a turn all the same, the last of all: it waits for an invitation for 2.5 T and
    /// for its place in line, eight places further back, and then forms a group, since all who are
    /// left may rest. So a rest delays the next leader by at most 2.5 T + 8 S, whoever is left.
    pub const fn rest(mut self, rest: Duration) -> Self {
        self.rest = rest;
        self
    }

    /// Checks that the parts fit; relations between durations hold already.
    ///
    /// # Errors
    /// [`InvitationError`] says what is missing.
    pub fn build(self) -> Result<InvitationConfig, InvitationError> {
        let detector = self.timings.detector();
        Ok(InvitationConfig {
            detector: detector.ok_or(InvitationError::NoDetector)?,
            timings: self.timings,
            task: self.task,
            drain: self.drain,
            rest: self.rest,
            defect: None,
        })
    }
}

/// Why the parameters do not fit together. Nothing was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvitationError {
    /// The timings have no failure detector.
    #[error(
        "a coordinator looks for others again and again: choose timings with a failure detector"
    )]
    NoDetector,
}
