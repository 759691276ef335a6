//! The rules' parameters: who votes, how long a round is, how long to wait.
//!
//! A configuration that exists is valid: [`build`](BallotConfigBuilder::build) is the only way to one,
//! and checks it. It is the same at every member: the voters are fixed here, not by the snapshot of the
//! members.

use std::time::Duration;

use super::Defect;
use crate::elections::shared::Voters;
use crate::protocol::{AgentId, Electorate, MemberKind, MembershipError, Timings};

/// What a ballot election needs to know; the same at every member.
///
/// ```
/// use actix_bully::elections::ballot::BallotConfig;
/// use actix_bully::protocol::{AgentId, Timings};
/// let voters = ["api-1", "api-2", "api-3"].map(|name| AgentId::new(name).unwrap());
/// let config = BallotConfig::builder(voters).timings(Timings::lan()).build()?;
/// assert_eq!((config.majority(), config.tolerated()), (2, 1));
/// assert_eq!(config.round().as_millis(), 83); // a third of the detection time
/// # Ok::<(), actix_bully::elections::ballot::BallotError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BallotConfig {
    voters: Voters,
    timings: Timings,
    round: Duration,
    cap: Duration,
    drain: Duration,
    cooldown: Duration,
    defect: Option<Defect>,
}

impl BallotConfig {
    /// Starts with the voters, in any order.
    pub fn builder(voters: impl IntoIterator<Item = AgentId>) -> BallotConfigBuilder {
        BallotConfigBuilder {
            voters: Voters::new(voters),
            timings: Timings::default(),
            round: None,
            cap: None,
            drain: Duration::from_secs(30),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks that an agent takes part as this configuration says.
    ///
    /// # Errors
    /// [`MembershipError`] when it is a voter that is not listed, or an observer that is.
    pub(crate) fn check(&self, who: &AgentId, kind: MemberKind) -> Result<(), MembershipError> {
        self.voters.check(who, kind)
    }

    for_tests! {
        /// The voters, ordered by name.
        fn voters(&self) -> &[AgentId] {
            &self.voters.0
        }
    }

    /// Whether this is one of the voters.
    pub(crate) fn is_voter(&self, id: &AgentId) -> bool {
        self.voters.contains(id)
    }

    for_tests! {
        /// How many voters, oneself included, have to be heard: more than half of them.
        fn majority(&self) -> usize {
            if self.has(Defect::HalfIsAMajority) {
                return self.voters().len().div_ceil(2);
            }
            self.voters.majority()
        }
    }

    /// The voters and their majority in short: what all members must agree on.
    pub(crate) fn electorate(&self) -> Electorate {
        let majority = self.voters.majority();
        Electorate::new(self.voters(), majority, majority)
    }

    /// How many voters may be down while the others can still elect. With two voters none may:
    /// add a third, which may be a witness (a voter without a score).
    #[cfg(feature = "testkit")]
    pub fn tolerated(&self) -> usize {
        self.voters().len().saturating_sub(self.majority())
    }

    /// How long to wait for what.
    #[cfg(feature = "testkit")]
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    for_tests! {
        /// Δ: how long a round is while no answer is late, and by how much it grows when one is.
        fn round(&self) -> Duration {
            self.round
        }
    }

    for_tests! {
        /// The longest that a round may become.
        fn cap(&self) -> Duration {
            self.cap
        }
    }

    /// How long a voter that did not answer is given before it is asked again in the same round: a quarter
    /// of Δ, at least 2 d.
    pub(crate) fn again(&self) -> Duration {
        let back = self.timings.delay_bound().saturating_mul(2);
        back.max(self.round / 4)
    }

    for_tests! {
        /// The longest that the work of a leader that steps down may take to end.
        fn drain(&self) -> Duration {
            self.drain
        }

        /// For how long an agent that stepped down at its user's command lets others go first.
        fn cooldown(&self) -> Duration {
            self.cooldown
        }
    }

    /// The longest from the silent death of a leader until all who can be reached follow the next,
    /// while rounds have their usual length and messages keep within d: 3 Δ + 4 d.
    ///
    /// The dead leader may have answered in a round that has just begun (Δ), the next one shows
    /// that it is gone (Δ), and one more elects (Δ). Rounds that grew count as long as they are,
    /// `cap` at most.
    pub fn worst_case_failover(&self) -> Duration {
        let delays = self.timings.delay_bound().saturating_mul(4);
        self.round.saturating_mul(3).saturating_add(delays)
    }

    /// The longest that a leader that is cut off goes on leading, while rounds have their
    /// usual length: 2 Δ, for one round that has just been answered and one that is not.
    pub fn worst_case_isolation(&self) -> Duration {
        self.round.saturating_mul(2)
    }

    /// How many messages n voters exchange in a round in which all answer at once: 2 n (n - 1).
    #[cfg(feature = "testkit")]
    pub fn messages_per_round(&self) -> usize {
        let n = self.voters().len();
        n.saturating_mul(n.saturating_sub(1)).saturating_mul(2)
    }

    /// The same rules with one of them broken.
    #[cfg(test)]
    pub(super) const fn is_planted(&self) -> bool {
        self.defect.is_some()
    }

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

/// Makes a [`BallotConfig`].
#[derive(Clone, Debug)]
#[must_use]
pub struct BallotConfigBuilder {
    voters: Voters,
    timings: Timings,
    round: Option<Duration>,
    cap: Option<Duration>,
    drain: Duration,
    cooldown: Duration,
}

impl BallotConfigBuilder {
    /// How long to wait for what. Default: [`Timings::default`].
    pub fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// Δ: how long a round is; more than 2 d. Default: a third of the detection time L, so that a
    /// silent death costs about L; at least 3 d.
    pub const fn round(mut self, round: Duration) -> Self {
        self.round = Some(round);
        self
    }

    /// The longest that a round may become when answers are late; at least Δ. Default: 4 Δ.
    pub const fn cap(mut self, cap: Duration) -> Self {
        self.cap = Some(cap);
        self
    }

    /// The longest that the work of a leader that steps down may take to end. Default: 30 s.
    pub const fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// For how long an agent that stepped down at its user's command lets others go first, unless its
    /// score is set, it is told to campaign, or no other voter is eligible. Default: 60 s.
    pub const fn cooldown(mut self, cooldown: Duration) -> Self {
        self.cooldown = cooldown;
        self
    }

    /// Checks every relation.
    ///
    /// # Errors
    /// [`BallotError`] with the values that do not fit.
    pub fn build(self) -> Result<BallotConfig, BallotError> {
        if self.voters.0.is_empty() {
            return Err(BallotError::NoVoters);
        }
        if let Some(id) = self.voters.duplicate() {
            return Err(BallotError::DuplicateVoter { id: id.clone() });
        }
        let delay = self.timings.delay_bound();
        let usual = || {
            let detection = self.timings.detector()?.detection;
            Some((detection / 3).max(delay.saturating_mul(3)))
        };
        let round = self.round.or_else(usual).ok_or(BallotError::NoRound)?;
        if round <= delay.saturating_mul(2) {
            return Err(BallotError::Round { round, delay });
        }
        let cap = self.cap.unwrap_or_else(|| round.saturating_mul(4));
        if cap < round {
            return Err(BallotError::Cap { cap, round });
        }
        Ok(BallotConfig {
            voters: self.voters,
            timings: self.timings,
            round,
            cap,
            drain: self.drain,
            cooldown: self.cooldown,
            defect: None,
        })
    }
}

/// Why voters and durations do not fit together. Nothing was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BallotError {
    /// The list of voters is empty.
    #[error("there are no voters: name at least one, better three")]
    NoVoters,
    /// Two voters have one name.
    #[error("the voter {id} is listed twice: give each its own name")]
    DuplicateVoter {
        /// The name.
        id: AgentId,
    },
    /// The timings have no failure detector to take the length of a round from.
    #[error("how long is a round? choose timings with a failure detector, or set it")]
    NoRound,
    /// Δ > 2 d does not hold: answers would come too late as a rule.
    #[error(
        "a round of {round:?} is too short: an answer may take twice the delay bound of {delay:?}; make it longer"
    )]
    Round {
        /// Δ.
        round: Duration,
        /// d.
        delay: Duration,
    },
    /// The cap is below Δ.
    #[error("a cap of {cap:?} is below a round of {round:?}: raise it")]
    Cap {
        /// The longest that a round may become.
        cap: Duration,
        /// Δ.
        round: Duration,
    },
}
