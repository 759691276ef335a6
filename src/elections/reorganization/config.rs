//! The rules' parameters, and the longest that an election may take by them.
//!
//! A configuration that exists is valid.

use std::time::Duration;

use super::Task;
use crate::protocol::{Detector, Timings};

/// What a reorganization needs to know beside who takes part; the same at every member, but for
/// the task.
///
/// ```
/// use actix_bully::elections::reorganization::ReorganizationConfig;
/// use actix_bully::protocol::Timings;
/// use std::time::Duration;
/// let config = ReorganizationConfig::builder().timings(Timings::lan()).build()?;
/// // T + 6 d: those above are dead without anybody knowing, all below answer.
/// assert_eq!(config.worst_case_election(), Duration::from_millis(200 + 6 * 9));
/// # Ok::<(), actix_bully::elections::reorganization::ReorganizationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReorganizationConfig {
    timings: Timings,
    detector: Detector,
    zeal: Zeal,
    task: Task,
    drain: Duration,
    rest: Duration,
}

/// What an agent does that is asked by somebody below whether it is there (G1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Zeal {
    /// It answers, and starts nothing: the paper's way. Its own timers will make it.
    #[default]
    Patient,
    /// It holds an election at once, as the textbook's bully does.
    Eager,
}

impl ReorganizationConfig {
    /// Starts with the defaults.
    pub fn builder() -> ReorganizationConfigBuilder {
        ReorganizationConfigBuilder {
            timings: Timings::default(),
            zeal: Zeal::default(),
            task: Task::default(),
            drain: Duration::from_secs(5),
            rest: Duration::from_secs(60),
        }
    }

    /// Starts from this configuration to make another.
    pub fn to_builder(&self) -> ReorganizationConfigBuilder {
        ReorganizationConfigBuilder {
            timings: self.timings.clone(),
            zeal: self.zeal,
            task: self.task,
            drain: self.drain,
            rest: self.rest,
        }
    }

    /// How long to wait for what.
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// H: how often a coordinator checks that all work under it, and L: how long it may be silent.
    pub const fn detector(&self) -> Detector {
        self.detector
    }

    /// What who is asked does about it.
    pub const fn zeal(&self) -> Zeal {
        self.zeal
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

    /// How long who stands back waits for the one above: 2.5 T, which exceeds the T + 2 d that pass
    /// between an acknowledged halt and the coordinator's announcement.
    pub fn takeover(&self) -> Duration {
        self.timings.victory_wait()
    }

    /// How long the next life of a member whose end is certain is waited for: 3 d, and never more
    /// than T.
    pub fn grace(&self) -> Duration {
        let three = self.timings.delay_bound().saturating_mul(3);
        three.min(self.timings.deadline())
    }

    /// The longest from the beginning of an election by the most important agent that lives until
    /// all work under it, if everybody below lives: T + 6 d.
    pub fn worst_case_election(&self) -> Duration {
        let t = &self.timings;
        let calls = t.delay_bound().saturating_mul(6);
        t.deadline().saturating_add(calls)
    }

    /// The same if some below are dead without anybody knowing: 2 T + 4 d.
    pub fn worst_case_election_with_losses(&self) -> Duration {
        let t = &self.timings;
        let calls = t.delay_bound().saturating_mul(4);
        t.deadline().saturating_mul(2).saturating_add(calls)
    }

    /// The longest from the silent death of a coordinator until all who live work under the next,
    /// if everybody who is dead has been so before: d + L + J until it is missed, T until it has
    /// not answered, and an election with losses. Where somebody
    /// [rests](ReorganizationConfigBuilder::rest), later by at most what is stated there.
    pub fn worst_case_failover(&self) -> Duration {
        let t = &self.timings;
        let missed = t.delay_bound().saturating_add(self.detector.detection);
        missed
            .saturating_add(t.jitter())
            .saturating_add(t.deadline())
            .saturating_add(self.worst_case_election_with_losses())
    }
}

/// Makes a [`ReorganizationConfig`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ReorganizationConfigBuilder {
    timings: Timings,
    zeal: Zeal,
    task: Task,
    drain: Duration,
    rest: Duration,
}

impl ReorganizationConfigBuilder {
    /// How long to wait for what. Default: [`Timings::default`]. T is what a silence proves
    /// something by, and it is waited out in every election that misses somebody: a T close to 2 d
    /// makes elections fast, and wrong as soon as a message takes longer.
    pub fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// What who is asked does about it. Default: [`Zeal::Patient`].
    pub const fn zeal(mut self, zeal: Zeal) -> Self {
        self.zeal = zeal;
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
    /// Who rests has a turn all the same, the last of all: it stands back for 2.5 T and for its place
    /// in line, eight places further back, and then holds an election, since all who are left may
    /// rest. So a rest delays the next leader by at most 2.5 T + 16 S + J, whoever is left.
    pub const fn rest(mut self, rest: Duration) -> Self {
        self.rest = rest;
        self
    }

    /// Checks that the parts fit; relations between durations hold already, T > 2 d among them.
    ///
    /// # Errors
    /// [`ReorganizationError`] says what is missing.
    pub fn build(self) -> Result<ReorganizationConfig, ReorganizationError> {
        let detector = self.timings.detector();
        Ok(ReorganizationConfig {
            detector: detector.ok_or(ReorganizationError::NoDetector)?,
            timings: self.timings,
            zeal: self.zeal,
            task: self.task,
            drain: self.drain,
            rest: self.rest,
        })
    }
}

/// Why the parameters do not fit together. Nothing was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReorganizationError {
    /// The timings have no failure detector.
    #[error(
        "a coordinator checks its members again and again: choose timings with a failure detector"
    )]
    NoDetector,
}
