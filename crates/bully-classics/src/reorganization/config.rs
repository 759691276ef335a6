//! The parameters of the rules, and the longest that an election may take by them.

use std::time::Duration;

use super::Task;
use bully_core::parts::detector_of;
use bully_core::protocol::{Detector, Timings};

/// What a reorganization needs to know beside its members; the same at each of them, but for the
/// task. An agent with a configuration that does not pass the [check](Self::check) does not start.
///
/// ```
/// use actix_bully::elections::reorganization::ReorganizationConfig;
/// use actix_bully::protocol::Timings;
/// use std::time::Duration;
/// let config = ReorganizationConfig::new(Timings::lan());
/// // A deadline and six delay bounds: those above are dead, and all below answer.
/// assert_eq!(config.worst_case_election(), Duration::from_millis(200 + 6 * 9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReorganizationConfig {
    /// How long to wait for what. Default: [`Timings::default`]; they need a failure detector. A silence
    /// of the deadline counts as a crash, and it is waited out in every election that misses an agent: a
    /// deadline close to two delay bounds makes elections fast, and wrong as soon as a message takes
    /// longer.
    pub timings: Timings,
    /// What an agent does when one below asks it whether it is there. Default: [`WhenAsked::Answer`].
    pub when_asked: WhenAsked,
    /// What this agent hands to all when it coordinates. Default: 0. The one setting that may
    /// differ between members.
    pub task: Task,
    /// The longest that the work of a leader that steps down may take to end. Default: 5 s.
    pub drain: Duration,
    /// For how long an agent that stepped down lets others go first, unless its score is set, it is
    /// told to campaign, or no other agent is there. Default: 60 s.
    ///
    /// An agent that cools down has a slot all the same, the last of all: it waits for
    /// `takeover` and for its slot, eight slots after the others, and then holds an
    /// election, since all that are left may cool down. So a cool-down delays the next leader by at most
    /// the takeover, sixteen steps and a jitter, whichever agents are left.
    pub cooldown: Duration,
}

/// What an agent does when one below asks it whether it is there (`ask-those-above`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenAsked {
    /// It answers, and begins nothing: the paper's way. Its own timers are enough.
    #[default]
    Answer,
    /// It answers, and holds an election at once, as the bully of the textbooks does.
    Elect,
}

impl Default for ReorganizationConfig {
    fn default() -> Self {
        Self::new(Timings::default())
    }
}

impl ReorganizationConfig {
    /// The defaults, for these timings.
    pub const fn new(timings: Timings) -> Self {
        Self {
            timings,
            when_asked: WhenAsked::Answer,
            task: Task(0),
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks that the parts fit; relations between durations hold already, a deadline of more than
    /// two delay bounds among them.
    ///
    /// # Errors
    /// [`ReorganizationError`] says what is missing.
    pub fn check(&self) -> Result<(), ReorganizationError> {
        let detector = self.timings.detector();
        detector.map(drop).ok_or(ReorganizationError::NoDetector)
    }

    /// How often a coordinator checks that all work under it, and how long it may be silent.
    pub fn detector(&self) -> Detector {
        detector_of(&self.timings)
    }

    /// How long an agent waits for one above: 2.5 T (T is the deadline), which exceeds the T and two
    /// delay bounds that pass between an acknowledged halt and the coordinator's announcement.
    pub fn takeover(&self) -> Duration {
        self.timings.victory_wait()
    }

    /// How long the next incarnation of a member that is known to be down is waited for: three delay
    /// bounds, and never more than the deadline. It cannot be none, since a new incarnation may be
    /// there that no agent has heard of.
    pub fn grace(&self) -> Duration {
        let three = self.timings.delay_bound().saturating_mul(3);
        three.min(self.timings.deadline())
    }

    /// The longest from the beginning of an election by the highest agent that is up until all work
    /// under it, if all below are up: the deadline and six delay bounds.
    pub fn worst_case_election(&self) -> Duration {
        let t = &self.timings;
        let calls = t.delay_bound().saturating_mul(6);
        t.deadline().saturating_add(calls)
    }

    /// The same if some below are dead and no agent knows that: two deadlines and four delay bounds.
    pub fn worst_case_election_with_losses(&self) -> Duration {
        let t = &self.timings;
        let calls = t.delay_bound().saturating_mul(4);
        t.deadline().saturating_mul(2).saturating_add(calls)
    }

    /// The longest from the silent death of a coordinator until all that are up work under the next, if
    /// all that are dead have been so before: a delay bound, the detection time and a jitter until it is
    /// missed, a deadline until it has not answered, and an
    /// election with losses. Where an agent
    /// [cools down](Self::cooldown), later by at most what is stated there.
    pub fn worst_case_failover(&self) -> Duration {
        let t = &self.timings;
        let missed = t.delay_bound().saturating_add(self.detector().detection);
        missed
            .saturating_add(t.jitter())
            .saturating_add(t.deadline())
            .saturating_add(self.worst_case_election_with_losses())
    }
}

/// Why the parameters do not fit together.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReorganizationError {
    /// The timings have no failure detector.
    #[error(
        "a coordinator checks its members again and again: choose timings with a failure detector"
    )]
    NoDetector,
}

debug_is_text!(ReorganizationError);
