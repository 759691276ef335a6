//! The rules' parameters: who votes, how long a round is, how long to wait.
//!
//! They are the same at every member: the voters are fixed here, not by the snapshot of the members.

use std::time::Duration;

use bully_core::parts::{detector_of, duplicate_voter, in_order, majority};
use bully_core::protocol::{AgentId, Electorate, Timings};

/// What a ballot election needs to know; the same at every member. An agent with a configuration that
/// does not pass the [check](Self::check) does not start.
///
/// ```
/// use actix_bully::elections::ballot::BallotConfig;
/// use actix_bully::protocol::{AgentId, Timings};
/// let voters = ["api-1", "api-2", "api-3"].map(|name| AgentId::new(name).unwrap());
/// let config = BallotConfig { timings: Timings::lan(), ..BallotConfig::new(voters) };
/// assert_eq!((config.majority(), config.tolerated()), (2, 1));
/// assert_eq!(config.round().as_millis(), 83); // a third of the detection time
/// assert!(config.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BallotConfig {
    /// The voters, in any order; each has a name of its own.
    pub voters: Vec<AgentId>,
    /// How long to wait for what. Default: [`Timings::default`].
    pub timings: Timings,
    /// Δ: how long a round is while no answer is late, and by how much it grows when one is; more than
    /// 2 d. Default: a third of the detection time L, so that a silent death costs about L; at least
    /// 3 d. Timings without a failure detector have no default.
    pub round: Option<Duration>,
    /// The longest that a round may become when answers are late; at least Δ. Default: 4 Δ.
    pub cap: Option<Duration>,
    /// The longest that the work of a leader that steps down may take to end. Default: 30 s.
    pub drain: Duration,
    /// For how long an agent that stepped down at its user's command lets others go first, unless its
    /// score is set, it is told to campaign, or no other voter is eligible. Default: 60 s.
    pub cooldown: Duration,
}

impl BallotConfig {
    /// The defaults, for these voters.
    pub fn new(voters: impl IntoIterator<Item = AgentId>) -> Self {
        Self {
            voters: in_order(voters),
            timings: Timings::default(),
            round: None,
            cap: None,
            drain: Duration::from_secs(30),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks every relation.
    ///
    /// # Errors
    /// [`BallotError`] with the values that do not fit.
    pub fn check(&self) -> Result<(), BallotError> {
        if self.voters.is_empty() {
            return Err(BallotError::NoVoters);
        }
        if let Some(id) = duplicate_voter(&self.voters) {
            return Err(BallotError::DuplicateVoter { id: id.clone() });
        }
        if self.round.is_none() && self.timings.detector().is_none() {
            return Err(BallotError::NoRound);
        }
        let (round, cap, delay) = (self.round(), self.cap(), self.timings.delay_bound());
        if round <= delay.saturating_mul(2) {
            return Err(BallotError::Round { round, delay });
        }
        if cap < round {
            return Err(BallotError::Cap { cap, round });
        }
        Ok(())
    }

    /// How many voters, oneself included, have to be heard: more than half of them.
    pub fn majority(&self) -> usize {
        majority(&self.voters)
    }

    /// The voters and their majority in short: what all members must agree on.
    pub(crate) fn electorate(&self) -> Electorate {
        let majority = majority(&self.voters);
        Electorate::new(&self.voters, majority, majority)
    }

    /// How many voters may be down while the others can still elect. With two voters none may:
    /// add a third, which may be a witness (a voter without a score).
    pub fn tolerated(&self) -> usize {
        self.voters.len().saturating_sub(self.majority())
    }

    /// Δ: how long a round is while no answer is late, and by how much it grows when one is.
    pub fn round(&self) -> Duration {
        self.round.unwrap_or_else(|| {
            let least = self.timings.delay_bound().saturating_mul(3);
            least.max(detector_of(&self.timings).detection / 3)
        })
    }

    /// The longest that a round may become.
    pub fn cap(&self) -> Duration {
        let usual = || self.round().saturating_mul(4);
        self.cap.unwrap_or_else(usual)
    }

    /// How long a voter that did not answer is given before it is asked again in the same round: a quarter
    /// of Δ, at least 2 d.
    pub(crate) fn again(&self) -> Duration {
        let back = self.timings.delay_bound().saturating_mul(2);
        back.max(self.round() / 4)
    }

    /// The longest from the silent death of a leader until all that can be reached follow the next,
    /// while rounds have their usual length and messages keep within d: 3 Δ + 4 d.
    ///
    /// The dead leader may have answered in a round that has just begun (Δ), the next one shows
    /// that it is gone (Δ), and one more elects (Δ). Rounds that grew count as long as they are,
    /// `cap` at most.
    pub fn worst_case_failover(&self) -> Duration {
        let delays = self.timings.delay_bound().saturating_mul(4);
        self.round().saturating_mul(3).saturating_add(delays)
    }

    /// The longest that a leader that is cut off goes on leading, while rounds have their
    /// usual length: 2 Δ, for one round that has just been answered and one that is not.
    pub fn worst_case_isolation(&self) -> Duration {
        self.round().saturating_mul(2)
    }

    /// How many messages n voters exchange in a round in which all answer at once: 2 n (n - 1).
    pub fn messages_per_round(&self) -> usize {
        let n = self.voters.len();
        n.saturating_mul(n.saturating_sub(1)).saturating_mul(2)
    }
}

/// Why voters and durations do not fit together.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
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

debug_is_text!(BallotError);
