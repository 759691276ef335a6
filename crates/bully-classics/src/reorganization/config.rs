//! The parameters of the rules, and the longest time that an election may take.

use std::time::Duration;

use super::Task;
use bully_core::{
    parts::{check_detector, detector_of},
    protocol::{Detector, SettingError, Timings},
};

/// The parameters of a reorganization. They must be the same at every member, except for the task. An agent with a
/// configuration that fails the [check](Self::check) does not start.
///
/// ```
/// # use bully_classics::reorganization::ReorganizationConfig;
/// # use bully_core::protocol::Timings;
/// use std::time::Duration;
/// let config = ReorganizationConfig::new(Timings::lan());
/// // A deadline and six delay bounds: those above are dead, and all below answer.
/// assert_eq!(config.worst_case_election(), Duration::from_millis(200 + 6 * 9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReorganizationConfig {
    /// The waiting times. Default: [`Timings::default`]. They need a failure detector. An agent that does not answer
    /// within the deadline counts as crashed, and each election with such an agent waits for the whole deadline. A
    /// deadline close to two delay bounds makes elections fast, but wrong as soon as a message takes longer.
    pub timings: Timings,
    /// The reaction of an agent to the question `AreYouThere` of a lower-ranked agent. Default:
    /// [`WhenAsked::Answer`].
    pub when_asked: WhenAsked,
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
    /// An agent that cools down waits first for [`takeover`](Self::takeover), and then for its slot. Agents act in
    /// order of rank, in slots of one [step](Timings::step); an agent that cools down acts eight slots later than it
    /// would otherwise. Then it holds an election, because perhaps all remaining agents cool down. So a cool-down
    /// delays the next leader by at most the takeover, sixteen steps and a jitter.
    pub cooldown: Duration,
}

/// The reaction of an agent to the question `AreYouThere` of an agent below (rule `ask-those-above`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenAsked {
    /// As in the paper: the agent only answers the question. It begins no election, because its own timers detect a
    /// missing leader.
    #[default]
    Answer,
    /// As in the Bully election of the textbooks: the agent answers and holds an election at once.
    Elect,
}

impl Default for ReorganizationConfig {
    fn default() -> Self {
        Self::new(Timings::default())
    }
}

impl ReorganizationConfig {
    /// Returns a configuration with the given timings, and the default of every other field.
    pub const fn new(timings: Timings) -> Self {
        Self {
            timings,
            when_asked: WhenAsked::Answer,
            task: Task(0),
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks that the timings have a failure detector. `Timings` has checked the relations between durations, for
    /// example that the deadline is more than two delay bounds.
    ///
    /// # Errors
    /// [`SettingError`] with the missing part.
    pub fn check(&self) -> Result<(), SettingError> {
        check_detector(&self.timings, "a reorganization election").map(drop)
    }

    /// Interval between two checks of a coordinator (do all members work under it?), and the silence after which a
    /// member asks whether its coordinator is up.
    pub fn detector(&self) -> Detector {
        detector_of(&self.timings)
    }

    /// Time for which an agent waits for an agent above it: 2.5 T (T is the deadline). This time is longer than T and
    /// two delay bounds, the longest time from an acknowledged halt to the coordinator's announcement.
    pub fn takeover(&self) -> Duration {
        self.timings.victory_wait()
    }

    /// Time for which an agent waits for answers of members that are known to be down: three delay bounds, but at most
    /// the deadline. The agent waits because such a member may already be up again in a new incarnation. A call and its
    /// answer take up to two delay bounds; the third is a chosen margin.
    pub fn grace(&self) -> Duration {
        let three = self.timings.delay_bound().saturating_mul(3);
        three.min(self.timings.deadline())
    }

    /// Longest time of an election that the highest agent that is up holds, until all members work under it: the
    /// deadline and six delay bounds. All agents below must be up.
    pub fn worst_case_election(&self) -> Duration {
        let t = &self.timings;
        let calls = t.delay_bound().saturating_mul(6);
        t.deadline().saturating_add(calls)
    }

    /// Like `worst_case_election`, if some agents below are dead and no agent knows it: two deadlines and four delay
    /// bounds.
    pub fn worst_case_election_with_losses(&self) -> Duration {
        let t = &self.timings;
        let calls = t.delay_bound().saturating_mul(4);
        t.deadline().saturating_mul(2).saturating_add(calls)
    }

    /// Longest time from the silent death of a coordinator until all agents that are up work under the next
    /// coordinator, if all other dead agents died before.
    ///
    /// The parts are: a delay bound, the detection time and a jitter until the members notice that the coordinator is
    /// silent; a deadline in which it does not answer; and an election with losses. If an agent [cools
    /// down](Self::cooldown), the time grows by at most the delay that the description of this field states.
    pub fn worst_case_failover(&self) -> Duration {
        let t = &self.timings;
        let missed = t.delay_bound().saturating_add(self.detector().detection);
        missed
            .saturating_add(t.jitter())
            .saturating_add(t.deadline())
            .saturating_add(self.worst_case_election_with_losses())
    }
}
