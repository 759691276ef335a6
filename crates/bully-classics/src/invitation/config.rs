//! The parameters of the rules, and the longest that a merge may take by them.

use std::time::Duration;

use super::Task;
use bully_core::parts::detector_of;
use bully_core::protocol::{Detector, Timings};

/// What an invitation election needs to know beside its members; the same at each of them, but for the
/// task. An agent with a configuration that does not pass the [check](Self::check) does not start.
///
/// ```
/// use actix_bully::elections::invitation::InvitationConfig;
/// use actix_bully::protocol::Timings;
/// use std::time::Duration;
/// let config = InvitationConfig::new(Timings::lan());
/// // Three delay bounds to find the others, four to invite them, if all accept.
/// assert_eq!(config.worst_case_merge(), Duration::from_millis(7 * 9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvitationConfig {
    /// How long to wait for what. Default: [`Timings::default`]; they need a failure detector.
    pub timings: Timings,
    /// What this agent hands to all when it coordinates. Default: 0. The one setting that may
    /// differ between members.
    pub task: Task,
    /// The longest that the work of a leader that steps down may take to end. Default: 5 s.
    pub drain: Duration,
    /// For how long an agent that stepped down lets others go first, unless its score is set, it is
    /// told to campaign, or no other agent is there. Default: 60 s.
    ///
    /// An agent that cools down has a slot all the same, the last of all: it waits for an invitation for
    /// `takeover` and for its slot, eight slots after the others, and then forms a
    /// group, since all that are left may cool down. So a cool-down delays the next leader by at most
    /// the takeover and eight steps, whichever agents are left.
    pub cooldown: Duration,
}

impl Default for InvitationConfig {
    fn default() -> Self {
        Self::new(Timings::default())
    }
}

impl InvitationConfig {
    /// The defaults, for these timings.
    pub const fn new(timings: Timings) -> Self {
        Self {
            timings,
            task: Task(0),
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks that the parts fit; relations between durations hold already.
    ///
    /// # Errors
    /// [`InvitationError`] says what is missing.
    pub fn check(&self) -> Result<(), InvitationError> {
        let detector = self.timings.detector();
        detector.map(drop).ok_or(InvitationError::NoDetector)
    }

    /// How often a coordinator looks for others, and how long it may be silent.
    pub fn detector(&self) -> Detector {
        detector_of(&self.timings)
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
    /// merge with losses. Where an agent
    /// [cools down](Self::cooldown), later by at most what is stated there.
    pub fn worst_case_failover(&self, ahead: u32) -> Duration {
        let t = &self.timings;
        let missed = t.delay_bound().saturating_add(self.detector().detection);
        let head_start = self.head_start().saturating_mul(ahead.min(1));
        let slot = t.step().saturating_mul(ahead.min(8));
        let slot = slot.saturating_add(head_start);
        missed
            .saturating_add(t.jitter().saturating_mul(2))
            .saturating_add(t.deadline())
            .saturating_add(slot)
            .saturating_add(self.worst_case_merge_with_losses())
    }
}

/// Why the parameters do not fit together.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvitationError {
    /// The timings have no failure detector.
    #[error(
        "a coordinator looks for others again and again: choose timings with a failure detector"
    )]
    NoDetector,
}

debug_is_text!(InvitationError);
