//! The parameters of the rules: the voters, the length of a round, the waiting times.
//!
//! All members have the same parameters. The list of voters is one of them, because all members have to count the same
//! majority, and their snapshots of the group may differ.

use std::time::Duration;

use bully_core::{
    parts::{check_voters, detector_of, in_order, majority},
    protocol::{AgentId, Electorate, SettingError, Timings},
};

/// The parameters of a ballot election; the same at every member. An agent with a configuration that fails the
/// [check](Self::check) does not start.
///
/// ```
/// # use bully_classics::ballot::BallotConfig;
/// # use bully_core::protocol::{AgentId, Timings};
/// let voters = ["api-1", "api-2", "api-3"].map(|name| AgentId::new(name).unwrap());
/// let config = BallotConfig { timings: Timings::lan(), ..BallotConfig::new(voters) };
/// assert_eq!((config.majority(), config.tolerated()), (2, 1));
/// assert_eq!(config.round().as_millis(), 83); // a third of the detection time
/// assert!(config.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BallotConfig {
    /// The voters, in any order. No name may occur twice.
    pub voters: Vec<AgentId>,
    /// The waiting times. Default: [`Timings::default`].
    pub timings: Timings,
    /// Δ: length of a round while no answer is late, and the step by which late answers lengthen it. The round must
    /// exceed twice the [delay bound](Timings::delay_bound) d, because an answer may take twice d. Default: a third of
    /// the detection time L, so that the death of a silent leader is noticed after about L; but the default is at least
    /// 3 d. Timings without a failure detector have no default.
    pub round: Option<Duration>,
    /// Longest round while answers are late; at least Δ. Default: 4 Δ.
    pub cap: Option<Duration>,
    /// Longest time between the step-down of a leader and the end of its work. Default: 5 s. With far less, work is cut
    /// off; with far more, work that hangs delays the hand-over.
    pub drain: Duration,
    /// Time after a step-down by command in which the agent lets other voters lead first. This time ends early if the
    /// agent's score is set, if the agent gets the command to campaign, or if no other voter is eligible. Default: 60
    /// s, which is enough to stop the process.
    pub cooldown: Duration,
}

impl BallotConfig {
    /// Returns the defaults for these voters.
    pub fn new(voters: impl IntoIterator<Item = AgentId>) -> Self {
        Self {
            voters: in_order(voters),
            timings: Timings::default(),
            round: None,
            cap: None,
            drain: Duration::from_secs(5),
            cooldown: Duration::from_secs(60),
        }
    }

    /// Checks every relation between the parameters.
    ///
    /// # Errors
    /// [`SettingError`] with the values that do not fit together.
    pub fn check(&self) -> Result<(), SettingError> {
        check_voters(&self.voters)?;
        if self.round.is_none() && self.timings.detector().is_none() {
            let reason = "these timings have no failure detector, so the round has no length: choose other timings, such as Timings::default(), or set `round`";
            return Err(SettingError::new("round", reason));
        }
        let (round, cap, delay) = (self.round(), self.cap(), self.timings.delay_bound());
        if round <= delay.saturating_mul(2) {
            let reason = format_args!(
                "a round of {round:?} is too short, because an answer may take twice the delay bound of {delay:?}: raise the round"
            );
            return Err(SettingError::new("round", reason));
        }
        if cap < round {
            let reason = format_args!(
                "a cap of {cap:?} is shorter than a round of {round:?}: raise the cap"
            );
            return Err(SettingError::new("cap", reason));
        }
        Ok(())
    }

    /// Number of voters that an agent has to hear, itself included: more than half of all voters.
    pub fn majority(&self) -> usize {
        majority(&self.voters)
    }

    /// Returns the digest of the voters and their majority, which must be equal at all members.
    pub(crate) fn electorate(&self) -> Electorate {
        let majority = majority(&self.voters);
        Electorate::new(&self.voters, majority, majority)
    }

    /// Number of voters that may be down while the other voters can still elect. With two voters the number is 0: add a
    /// third voter, which may be a witness (a voter without a score).
    pub fn tolerated(&self) -> usize {
        self.voters.len().saturating_sub(self.majority())
    }

    /// Δ: length of a round while no answer is late, and the step by which late answers lengthen it.
    pub fn round(&self) -> Duration {
        self.round.unwrap_or_else(|| {
            let least = self.timings.delay_bound().saturating_mul(3);
            least.max(detector_of(&self.timings).detection / 3)
        })
    }

    /// Longest round while answers are late.
    pub fn cap(&self) -> Duration {
        let usual = || self.round().saturating_mul(4);
        self.cap.unwrap_or_else(usual)
    }

    /// Time after which a voter that did not answer is asked again in the same round: a quarter of Δ, but at least
    /// twice the delay bound, because an answer may take that long.
    pub(crate) fn again(&self) -> Duration {
        let back = self.timings.delay_bound().saturating_mul(2);
        back.max(self.round() / 4)
    }

    /// Longest time from the silent death of a leader until all voters that can be reached follow the next leader,
    /// while rounds have their usual length and messages take at most the delay bound d: 3 Δ + 4 d.
    ///
    /// The dead leader may have answered in a round that has just begun (Δ). The next round shows that the leader is
    /// gone (Δ), and one more round elects (Δ). A round that has become longer counts with its length, at most `cap`.
    pub fn worst_case_failover(&self) -> Duration {
        let delays = self.timings.delay_bound().saturating_mul(4);
        self.round().saturating_mul(3).saturating_add(delays)
    }

    /// Longest time for which a leader that is cut off still leads, while rounds have their usual length: 2 Δ, for
    /// one round that was just answered and one round without answers.
    pub fn worst_case_isolation(&self) -> Duration {
        self.round().saturating_mul(2)
    }

    /// Returns the number of messages that n voters exchange in a round in which all answer at once: 2 n (n - 1).
    pub fn messages_per_round(&self) -> usize {
        let n = self.voters.len();
        n.saturating_mul(n.saturating_sub(1)).saturating_mul(2)
    }
}
