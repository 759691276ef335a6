//! The rules' parameters: who votes, how many make a quorum, how long to wait.
//!
//! A configuration that exists is valid: [`build`](QuorumConfigBuilder::build) is the only way to one,
//! and checks it. Voters and quorums are the same at every member: they are fixed here, not by the
//! snapshot of the members, and `epoch` names this choice of voters. Timings may differ, as in the midst
//! of a rolling change.
#![expect(clippy::similar_names, reason = "voters cast votes")]

use std::time::Duration;

use super::{Defect, epoch::LAST_EPOCH};
use crate::elections::{policy::Preemption, shared::Voters};
use crate::protocol::{AgentId, Electorate, MemberKind, MembershipError, Score, Timings};

/// What a quorum election needs to know; voters, quorums and epoch are the same at every member.
///
/// ```
/// use actix_bully::elections::quorum::QuorumConfig;
/// use actix_bully::protocol::{AgentId, Timings};
/// let voters = ["api-1", "api-2", "api-3"].map(|name| AgentId::new(name).unwrap());
/// let config = QuorumConfig::builder(voters).timings(Timings::lan()).build()?;
/// assert_eq!(config.vote_quorum(), 2);
/// assert_eq!(config.tolerated(), 1); // so many voters may be down
/// # Ok::<(), actix_bully::elections::quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuorumConfig {
    voters: Voters,
    vote_quorum: usize,
    lease_quorum: usize,
    timings: Timings,
    preemption: Preemption,
    margin: Option<Score>,
    /// As asked for; otherwise they follow from the timings.
    drain: Option<Duration>,
    wait: Option<Duration>,
    cooldown: Duration,
    epoch: u64,
    defect: Option<Defect>,
}

impl QuorumConfig {
    /// Starts with the voters, in any order.
    pub fn builder(voters: impl IntoIterator<Item = AgentId>) -> QuorumConfigBuilder {
        let voters = Voters::new(voters);
        QuorumConfigBuilder(Self {
            vote_quorum: voters.majority(),
            lease_quorum: voters.majority(),
            voters,
            timings: Timings::default(),
            preemption: Preemption::After(Duration::from_secs(10)),
            margin: None,
            drain: None,
            wait: None,
            cooldown: Duration::from_secs(60),
            epoch: 0,
            defect: None,
        })
    }

    /// Starts from this configuration to make another.
    pub(crate) fn to_builder(&self) -> QuorumConfigBuilder {
        QuorumConfigBuilder(self.clone())
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
        /// Qv: how many votes elect.
        fn vote_quorum(&self) -> usize {
            self.vote_quorum
        }

        /// Ql: how many acknowledgements, the leader's own included, uphold a lease.
        fn lease_quorum(&self) -> usize {
            self.lease_quorum
        }

        /// The voters and quorums in short: what all members of an epoch must agree on.
        fn electorate(&self) -> Electorate {
            Electorate::new(self.voters(), self.vote_quorum, self.lease_quorum)
        }
    }

    /// How many voters may be down while the others can still elect and uphold a leader. With two
    /// voters none may: add a third, which may be a witness (a voter without a score).
    #[cfg(feature = "testkit")]
    pub fn tolerated(&self) -> usize {
        let quorum = self.vote_quorum.max(self.lease_quorum);
        self.voters().len().saturating_sub(quorum)
    }

    for_tests! {
        /// How long to wait for what.
        fn timings(&self) -> &Timings {
            &self.timings
        }
    }

    /// H: how often a leader is heard.
    pub(crate) fn heartbeat(&self) -> Duration {
        let detector = self.timings.detector();
        detector.map_or(Duration::MAX, |detector| detector.heartbeat)
    }

    for_tests! {
        /// When a live leader gives way.
        fn preemption(&self) -> Preemption {
            self.preemption
        }
    }

    /// By how much a better agent's score must exceed the leader's.
    pub(crate) const fn margin(&self) -> Option<Score> {
        self.margin
    }

    for_tests! {
        /// The longest that the work of a leader that steps down may take to end.
        fn drain(&self) -> Duration {
            self.drain.unwrap_or_else(|| {
                let t = &self.timings;
                t.lease().saturating_sub(t.delay_bound().saturating_mul(2))
            })
        }

        /// For how long an agent that stepped down at its user's command lets others go first.
        fn cooldown(&self) -> Duration {
            self.cooldown
        }

        /// W: how long an agent that gave way to another one waits for its announcement.
        fn wait(&self) -> Duration {
            self.wait.unwrap_or_else(|| least_wait(&self.timings))
        }
    }

    /// Which choice of voters this is: no member listens to another [epoch](super::epoch), whose page
    /// says how to change the voters.
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The same at a member with other timings; it has this grace period, if it gives way at all.
    ///
    /// # Errors
    /// [`QuorumError`] when the grace period does not go with these timings.
    #[cfg(feature = "testkit")]
    pub fn retimed(&self, timings: &Timings, grace: Duration) -> Result<Self, QuorumError> {
        let mut config = self.clone();
        config.timings = timings.clone();
        if let Preemption::After(_) = config.preemption {
            config.preemption = Preemption::After(grace);
        }
        config.check_durations()?;
        Ok(config)
    }

    /// The same rules with one of them broken.
    #[cfg(test)]
    pub(super) const fn is_planted(&self) -> bool {
        self.defect.is_some()
    }

    #[cfg(any(test, feature = "planted"))]
    #[doc(hidden)]
    #[must_use]
    pub fn planted(mut self, defect: Defect) -> Self {
        if defect == Defect::HalfIsAQuorum {
            self.vote_quorum = self.voters().len().div_ceil(2);
            self.lease_quorum = self.vote_quorum;
        }
        self.defect = Some(defect);
        self
    }

    /// Whether that rule is broken on purpose: never, but in tests of the tests.
    pub(super) fn has(&self, defect: Defect) -> bool {
        cfg!(any(test, feature = "planted")) && self.defect == Some(defect)
    }

    /// 2 Qv > n and Qv + Ql > n, and neither larger than n.
    fn check_quorums(&self) -> Result<(), QuorumError> {
        let (votes, lease, voters) = (self.vote_quorum, self.lease_quorum, self.voters().len());
        if voters == 0 {
            return Err(QuorumError::NoVoters);
        }
        if let Some(id) = self.voters.duplicate() {
            return Err(QuorumError::DuplicateVoter { id: id.clone() });
        }
        let majority = self.voters.majority();
        if !(majority..=voters).contains(&votes) {
            return Err(QuorumError::VoteQuorum {
                votes,
                voters,
                majority,
            });
        }
        let least = voters.saturating_sub(votes).saturating_add(1);
        if !(least..=voters).contains(&lease) {
            return Err(QuorumError::LeaseQuorum {
                lease,
                votes,
                voters,
                least,
            });
        }
        Ok(())
    }

    /// The relations beyond those that [`Timings`] keep among themselves.
    fn check_durations(&self) -> Result<(), QuorumError> {
        if self.timings.detector().is_none() {
            return Err(QuorumError::NoHeartbeat);
        }
        let least = least_wait(&self.timings);
        if let Some(wait) = self.wait.filter(|wait| *wait < least) {
            return Err(QuorumError::Wait { wait, least });
        }
        let promise = self.timings.promise();
        let after = match self.preemption {
            Preemption::Immediately => Duration::ZERO,
            Preemption::After(after) => after,
            Preemption::Never => return Ok(()),
        };
        // `grace-outlasts-promise`: otherwise an agent that flaps would be there for long enough.
        if after <= promise {
            return Err(QuorumError::Preemption { after, promise });
        }
        Ok(())
    }
}

/// `wait-covers-rounds`: W is at least 2 E + 4 d.
fn least_wait(t: &Timings) -> Duration {
    let delays = t.delay_bound().saturating_mul(4);
    t.round().saturating_mul(2).saturating_add(delays)
}

/// Makes a [`QuorumConfig`].
#[derive(Clone, Debug)]
#[must_use]
pub struct QuorumConfigBuilder(QuorumConfig);

impl QuorumConfigBuilder {
    /// Qv and Ql: how many votes elect, and how many acknowledgements, the leader's own included,
    /// uphold a lease. Default: a majority for both. 2 Qv > n and Qv + Ql > n.
    pub const fn quorums(mut self, votes: usize, lease: usize) -> Self {
        self.0.vote_quorum = votes;
        self.0.lease_quorum = lease;
        self
    }

    /// How long to wait for what. Default: [`Timings::default`].
    pub const fn timings(mut self, timings: Timings) -> Self {
        self.0.timings = timings;
        self
    }

    /// When a live leader gives way. Default: [`Preemption::After`] 10 s; the time must exceed the
    /// promise P.
    pub const fn preemption(mut self, preemption: Preemption) -> Self {
        self.0.preemption = preemption;
        self
    }

    /// By how much a better agent's score must exceed the leader's. Default: by anything at all, the
    /// name deciding between equals.
    pub const fn margin(mut self, margin: Score) -> Self {
        self.0.margin = Some(margin);
        self
    }

    /// The longest that the work of a leader that steps down may take to end. Default: D - 2 d, so
    /// that it ends within the lease even if the leader is cut off meanwhile (`drain-within-lease`); a
    /// leader that is given longer goes on renewing its lease, and its work must heed the loss of it. So
    /// must it where other voters have shorter timings: then its lease is shorter than its own D.
    pub const fn drain(mut self, drain: Duration) -> Self {
        self.0.drain = Some(drain);
        self
    }

    /// For how long an agent that stepped down at its user's command lets others go first, unless its
    /// score is set or it is told to campaign. Default: 60 s.
    ///
    /// Such an agent has a slot all the same, eight slots later than its rank would give it: no other
    /// agent may be left. So a cool-down delays the next leader by at most 8 S (8 d after a confirmed
    /// end).
    pub const fn cooldown(mut self, cooldown: Duration) -> Self {
        self.0.cooldown = cooldown;
        self
    }

    /// W: how long an agent that gave way waits for the announcement; at least 2 E + 4 d, the default.
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.0.wait = Some(wait);
        self
    }

    /// Which choice of voters this is; see [how to change them](super::epoch). Default: 0; at most
    /// 16,777,215. Every change of voters or quorums takes a higher one; one of timings does not.
    pub const fn epoch(mut self, epoch: u64) -> Self {
        self.0.epoch = epoch;
        self
    }

    /// Checks every relation.
    ///
    /// # Errors
    /// [`QuorumError`] with the values that do not fit.
    pub fn build(self) -> Result<QuorumConfig, QuorumError> {
        let config = self.0;
        config.check_quorums()?;
        config.check_durations()?;
        if config.epoch > LAST_EPOCH {
            return Err(QuorumError::Epoch {
                epoch: config.epoch,
                most: LAST_EPOCH,
            });
        }
        Ok(config)
    }
}

/// Why voters, quorums and durations do not fit together. Nothing was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuorumError {
    /// The list of voters is empty.
    #[error("there are no voters: name at least one, better three")]
    NoVoters,
    /// Two voters have one name.
    #[error("the voter {id} is listed twice: give each its own name")]
    DuplicateVoter {
        /// The name.
        id: AgentId,
    },
    /// 2 Qv > n does not hold (an even split would elect two), or there are not so many voters.
    #[error(
        "{votes} of {voters} votes must not elect: two groups could, or no group; ask for {majority} to {voters}"
    )]
    VoteQuorum {
        /// Qv.
        votes: usize,
        /// n.
        voters: usize,
        /// The smallest that will do.
        majority: usize,
    },
    /// Qv + Ql > n does not hold, or there are not so many voters.
    #[error(
        "{lease} of {voters} acknowledgements must not uphold a lease while {votes} votes elect: ask for {least} to {voters}"
    )]
    LeaseQuorum {
        /// Ql.
        lease: usize,
        /// Qv.
        votes: usize,
        /// n.
        voters: usize,
        /// The smallest that will do.
        least: usize,
    },
    /// The timings have no heartbeat.
    #[error("a lease needs heartbeats: choose timings with a failure detector")]
    NoHeartbeat,
    /// `wait-covers-rounds`, W >= 2 E + 4 d, does not hold.
    #[error(
        "a wait of {wait:?} for the agent that goes first is too short: make it at least {least:?}"
    )]
    Wait {
        /// W.
        wait: Duration,
        /// 2 E + 4 d.
        least: Duration,
    },
    /// `grace-outlasts-promise`, `after` > P, does not hold.
    #[error(
        "preemption after {after:?} must come later than the promise of {promise:?} ends: raise it, or choose never"
    )]
    Preemption {
        /// For how long a better agent must be heard steadily.
        after: Duration,
        /// P.
        promise: Duration,
    },
    /// Terms have no room for such an epoch.
    #[error("epoch {epoch} exceeds the limit of {most}: count the changes of the voters, from 0")]
    Epoch {
        /// The epoch asked for.
        epoch: u64,
        /// The highest.
        most: u64,
    },
}
