//! The parameters of the rules, and the longest that a merge may take by them.
//!
//! A configuration that exists is valid.

use std::time::Duration;

use super::{Defect, Task};
use crate::protocol::{Detector, Timings};

/// What an invitation election needs to know beside its members; the same at each of them, but for the
/// task.
///
/// ```
/// use actix_bully::elections::invitation::InvitationConfig;
/// use actix_bully::protocol::Timings;
/// use std::time::Duration;
/// let config = InvitationConfig::builder().timings(Timings::lan()).build()?;
/// // Three delay bounds to find the others, four to invite them, if all accept.
/// assert_eq!(config.worst_case_merge(), Duration::from_millis(7 * 9));
/// # Ok::<(), actix_bully::elections::invitation::InvitationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvitationConfig {
    timings: Timings,
    detector: Detector,
    task: Task,
    drain: Duration,
    cooldown: Duration,
    defect: Option<Defect>,
}

impl InvitationConfig {
    /// Starts with the defaults.
    pub fn builder() -> InvitationConfigBuilder {
        InvitationConfigBuilder {
            timings: Timings::default(),
            task: Task::default(),
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
            defect: None,
        }
    }

    /// Starts from this configuration to make another.
    pub fn to_builder(&self) -> InvitationConfigBuilder {
        InvitationConfigBuilder {
            timings: self.timings.clone(),
            task: self.task,
            drain: self.drain,
            cooldown: self.cooldown,
            defect: self.defect,
        }
    }

    /// How long to wait for what.
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// How often a coordinator looks for others, and how long it may be silent.
    pub const fn detector(&self) -> Detector {
        self.detector
    }

    /// What this agent hands to all when it coordinates.
    pub const fn task(&self) -> Task {
        self.task
    }

    /// The longest that the work of a leader that steps down may take to end.
    pub const fn drain(&self) -> Duration {
        self.drain
    }

    /// For how long an agent that stepped down lets others go first.
    pub const fn cooldown(&self) -> Duration {
        self.cooldown
    }

    /// How long an agent that has accepted an invitation waits for the task: 2.5 deadlines, which exceed
    /// the deadline and two delay bounds that may pass.
    pub fn takeover(&self) -> Duration {
        self.timings.victory_wait()
    }

    /// How long a check waits for answers: three delay bounds, and never more than the deadline.
    pub fn gathering(&self) -> Duration {
        let three = self.timings.delay_bound().saturating_mul(3);
        three.min(self.timings.deadline())
    }

    /// How long the agent in the first slot has to find the others, and to invite them: the
    /// [gathering](Self::gathering) and a delay bound.
    pub fn head_start(&self) -> Duration {
        self.gathering().saturating_add(self.timings.delay_bound())
    }

    /// The longest from the beginning of a check until all that were found work in one group, if all
    /// that are invited are up and accept: the gathering and four delay bounds.
    pub fn worst_case_merge(&self) -> Duration {
        let calls = self.timings.delay_bound().saturating_mul(4);
        self.gathering().saturating_add(calls)
    }

    /// The same if some that were found, or their members, do not answer any more: the gathering, the
    /// deadline and a delay bound.
    pub fn worst_case_merge_with_losses(&self) -> Duration {
        let t = &self.timings;
        self.gathering()
            .saturating_add(t.deadline())
            .saturating_add(t.delay_bound())
    }

    /// The longest from the silent death of a coordinator until all members of its group work in
    /// another one, while `ahead` of them outrank the next coordinator and are dead as well: a delay
    /// bound, the detection time and a jitter until it is missed, a deadline until it has not answered,
    /// the head start and a step for each of those if there are any, a jitter, and a
    /// [merge with losses](Self::worst_case_merge_with_losses). Where an agent
    /// [cools down](InvitationConfigBuilder::cooldown), later by at most what is stated there.
    pub fn worst_case_failover(&self, ahead: u32) -> Duration {
        let t = &self.timings;
        let missed = t.delay_bound().saturating_add(self.detector.detection);
        let head_start = self.head_start().saturating_mul(ahead.min(1));
        let slot = t.step().saturating_mul(ahead.min(8));
        let slot = slot.saturating_add(head_start);
        missed
            .saturating_add(t.jitter().saturating_mul(2))
            .saturating_add(t.deadline())
            .saturating_add(slot)
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
    cooldown: Duration,
    defect: Option<Defect>,
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

    /// The longest that the work of a leader that steps down may take to end. Default: 5 s.
    pub const fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// For how long an agent that stepped down lets others go first, unless its score is set, it is
    /// told to campaign, or no other agent is there. Default: 60 s.
    ///
    /// An agent that cools down has a slot all the same, the last of all: it waits for an invitation for
    /// [`takeover`](InvitationConfig::takeover) and for its slot, eight slots after the others, and then
    /// forms a group, since all that are left may cool down. So a cool-down delays the next leader by at
    /// most the takeover and eight steps, whoever is left.
    pub const fn cooldown(mut self, cooldown: Duration) -> Self {
        self.cooldown = cooldown;
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
            cooldown: self.cooldown,
            defect: self.defect,
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
