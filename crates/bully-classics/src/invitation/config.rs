//! The parameters of the rules, and the longest time that a merge may take.

use std::time::Duration;

use super::Task;
use bully_core::{
    parts::{check_detector, detector_of},
    protocol::{Detector, SettingError, Timings},
};

/// The parameters of an invitation election. They must be the same at every member, except for the task. An agent with
/// a configuration that fails the [check](Self::check) does not start.
///
/// ```
/// # use bully_classics::invitation::InvitationConfig;
/// # use bully_core::protocol::Timings;
/// use std::time::Duration;
/// let config = InvitationConfig::new(Timings::lan());
/// // Three delay bounds to find the other agents, four to invite them, if all accept.
/// assert_eq!(config.worst_case_merge(), Duration::from_millis(7 * 9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvitationConfig {
    /// The waiting times. Default: [`Timings::default`]. They need a failure detector.
    pub timings: Timings,
    /// Task that this agent gives to all members when it coordinates. Default: 0. This is the only field that may
    /// differ between members.
    pub task: Task,
    /// Longest time between the step-down of a leader and the end of its work. Default: 5 s. With far less, work is cut
    /// off; with far more, work that hangs delays the hand-over.
    pub drain: Duration,
    /// Time after a step-down in which the agent lets other agents lead first. This time ends early if the agent's
    /// score is set, if the agent gets the command to campaign, or if no other agent is up. Default: 60 s, which is
    /// enough to stop the process.
    ///
    /// Agents form groups in order of rank, in slots of one step. An agent that cools down waits for an invitation for
    /// `takeover`, and then for its slot, which is eight slots after the other agents. Then it forms a group, because
    /// perhaps all remaining agents cool down. So a cool-down delays the next leader by at most the takeover and eight
    /// steps.
    pub cooldown: Duration,
}

impl Default for InvitationConfig {
    fn default() -> Self {
        Self::new(Timings::default())
    }
}

impl InvitationConfig {
    /// Returns the defaults for these timings.
    pub const fn new(timings: Timings) -> Self {
        Self {
            timings,
            task: Task(0),
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks that the timings have a failure detector. `Timings` has checked the relations between durations.
    ///
    /// # Errors
    /// [`SettingError`] with the missing part.
    pub fn check(&self) -> Result<(), SettingError> {
        check_detector(&self.timings, "an invitation election").map(drop)
    }

    /// Interval at which a coordinator looks for other agents, and the silence after which a member asks its
    /// coordinator.
    pub fn detector(&self) -> Detector {
        detector_of(&self.timings)
    }

    /// Time for which an agent that has accepted an invitation waits for the task: 2.5 deadlines. This time is longer
    /// than the deadline and two delay bounds.
    pub fn takeover(&self) -> Duration {
        self.timings.victory_wait()
    }

    /// Time for which a coordinator that looks for other agents waits for answers: three delay bounds, at most the
    /// deadline. A question and its answer take up to two delay bounds; the third is a chosen margin, which delays
    /// every merge.
    pub fn gathering(&self) -> Duration {
        let three = self.timings.delay_bound().saturating_mul(3);
        three.min(self.timings.deadline())
    }

    /// Time in which the agent with the first slot can find and invite the other agents: the
    /// [gathering](Self::gathering) and a delay bound.
    pub fn head_start(&self) -> Duration {
        self.gathering().saturating_add(self.timings.delay_bound())
    }

    /// Longest time from the moment at which a coordinator looks for other agents until all agents that it found work
    /// in one group, if all invited agents are up and accept: the gathering and four delay bounds.
    pub fn worst_case_merge(&self) -> Duration {
        let calls = self.timings.delay_bound().saturating_mul(4);
        self.gathering().saturating_add(calls)
    }

    /// Like `worst_case_merge`, if some of the found agents, or their members, no longer answer: the gathering, the
    /// deadline and a delay bound.
    pub fn worst_case_merge_with_losses(&self) -> Duration {
        let t = &self.timings;
        self.gathering()
            .saturating_add(t.deadline())
            .saturating_add(t.delay_bound())
    }

    /// Longest time from the silent death of a coordinator until all members of its group work in another group.
    /// `ahead` is the number of members that outrank the next coordinator and are dead as well.
    ///
    /// The parts are: a delay bound, the detection time and a jitter until the members notice that the coordinator is
    /// silent; a deadline in which it does not answer; if `ahead` is not zero, the head start and a step for each of
    /// these members; a jitter; and a merge with losses. If an agent [cools down](Self::cooldown), the time grows by
    /// at most the delay in that description.
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
