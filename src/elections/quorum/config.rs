//! The rules' parameters: who votes, how many make a quorum, how long to wait.
//!
//! A configuration that exists is valid. Its voters and quorums are the same at every member: they
//! are fixed here, not by the snapshot of the members, and `epoch` names this choice of voters.
//! Timings may differ, as in the midst of a rolling change.
#![expect(clippy::similar_names, reason = "voters cast votes")]

use std::{sync::Arc, time::Duration};

use super::{Defect, epoch::LAST_EPOCH};
use crate::elections::policy::Preemption;
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
    voters: Arc<[AgentId]>,
    vote_quorum: usize,
    lease_quorum: usize,
    timings: Timings,
    heartbeat: Duration,
    preemption: Preemption,
    margin: Option<Score>,
    /// As asked for; otherwise they follow from the timings.
    drain: Option<Duration>,
    rest: Duration,
    wait: Option<Duration>,
    epoch: u64,
    defect: Option<Defect>,
}

impl QuorumConfig {
    /// Starts with the voters, in any order.
    pub fn builder(voters: impl IntoIterator<Item = AgentId>) -> QuorumConfigBuilder {
        QuorumConfigBuilder {
            voters: voters.into_iter().collect(),
            vote_quorum: None,
            lease_quorum: None,
            timings: Timings::default(),
            preemption: Preemption::After(Duration::from_secs(10)),
            margin: None,
            drain: None,
            rest: Duration::from_secs(60),
            wait: None,
            epoch: 0,
        }
    }

    /// Starts from this configuration to make another.
    pub fn to_builder(&self) -> QuorumConfigBuilder {
        QuorumConfigBuilder {
            voters: self.voters.to_vec(),
            vote_quorum: Some(self.vote_quorum),
            lease_quorum: Some(self.lease_quorum),
            timings: self.timings.clone(),
            preemption: self.preemption,
            margin: self.margin,
            drain: self.drain,
            rest: self.rest,
            wait: self.wait,
            epoch: self.epoch,
        }
    }

    /// Checks that somebody takes part as this configuration says.
    ///
    /// # Errors
    /// [`MembershipError`] when it is a voter that is not listed, or an observer that is.
    pub fn check(&self, who: &AgentId, kind: MemberKind) -> Result<(), MembershipError> {
        let id = || who.clone();
        match (kind, self.is_voter(who)) {
            (MemberKind::Voter, false) => Err(MembershipError::NotListed { id: id() }),
            (MemberKind::Observer, true) => Err(MembershipError::ListedObserver { id: id() }),
            (MemberKind::Voter, true) | (MemberKind::Observer, false) => Ok(()),
        }
    }

    /// The voters, ordered by name.
    pub fn voters(&self) -> &[AgentId] {
        &self.voters
    }

    /// Whether this is one of the voters.
    pub fn is_voter(&self, id: &AgentId) -> bool {
        self.voters.binary_search(id).is_ok()
    }

    /// Qv: how many votes elect.
    pub const fn vote_quorum(&self) -> usize {
        self.vote_quorum
    }

    /// Ql: how many acknowledgements, the leader's own included, uphold a lease.
    pub const fn lease_quorum(&self) -> usize {
        self.lease_quorum
    }

    /// The voters and quorums in short: what all members of an epoch must agree on.
    pub fn electorate(&self) -> Electorate {
        Electorate::new(&self.voters, self.vote_quorum, self.lease_quorum)
    }

    /// How many voters may be down while the others can still elect and uphold a leader. With two
    /// voters none may: add a third, which may be a witness (a voter without a score).
    pub fn tolerated(&self) -> usize {
        self.voters
            .len()
            .saturating_sub(self.vote_quorum.max(self.lease_quorum))
    }

    /// How long to wait for what.
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// H: how often a leader is heard.
    pub const fn heartbeat(&self) -> Duration {
        self.heartbeat
    }

    /// When a live leader gives way.
    pub const fn preemption(&self) -> Preemption {
        self.preemption
    }

    /// By how much a challenger's score must exceed the leader's.
    pub const fn margin(&self) -> Option<Score> {
        self.margin
    }

    /// The longest that the work of a leader who steps down may take to end.
    pub fn drain(&self) -> Duration {
        let t = &self.timings;
        let within = || t.lease().saturating_sub(t.delay_bound().saturating_mul(2));
        self.drain.unwrap_or_else(within)
    }

    /// For how long an agent that stepped down at its user's wish lets others go first.
    pub const fn rest(&self) -> Duration {
        self.rest
    }

    /// W: how long who gave way to another one waits for its announcement.
    pub fn wait(&self) -> Duration {
        self.wait.unwrap_or_else(|| least_wait(&self.timings))
    }

    /// Which choice of voters this is: nobody listens to another [epoch](super::epoch), whose page
    /// says how to change the voters.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    #[cfg(feature = "testkit")]
    /// The same at a member with other timings; it has this patience, if it gives way at all.
    pub(crate) fn retimed(
        &self,
        timings: &Timings,
        patience: Duration,
    ) -> Result<Self, QuorumError> {
        let mut builder = self.to_builder().timings(timings.clone());
        if let Preemption::After(_) = self.preemption {
            builder = builder.preemption(Preemption::After(patience));
        }
        // A quorum that is too small on purpose would be refused.
        (builder.vote_quorum, builder.lease_quorum) = (None, None);
        Ok(Self {
            vote_quorum: self.vote_quorum,
            lease_quorum: self.lease_quorum,
            defect: self.defect,
            ..builder.build()?
        })
    }

    /// The same rules with one of them broken.
    #[cfg(any(test, feature = "planted"))]
    #[doc(hidden)]
    #[must_use]
    pub fn planted(mut self, defect: Defect) -> Self {
        if defect == Defect::HalfIsAQuorum {
            self.vote_quorum = self.voters.len().div_ceil(2);
            self.lease_quorum = self.vote_quorum;
        }
        self.defect = Some(defect);
        self
    }

    /// Whether that rule is broken on purpose: never, but in tests of the tests.
    pub(super) fn has(&self, defect: Defect) -> bool {
        cfg!(any(test, feature = "planted")) && self.defect == Some(defect)
    }
}

/// Makes a [`QuorumConfig`].
#[derive(Clone, Debug)]
#[must_use]
pub struct QuorumConfigBuilder {
    voters: Vec<AgentId>,
    vote_quorum: Option<usize>,
    lease_quorum: Option<usize>,
    timings: Timings,
    preemption: Preemption,
    margin: Option<Score>,
    drain: Option<Duration>,
    rest: Duration,
    wait: Option<Duration>,
    epoch: u64,
}

impl QuorumConfigBuilder {
    /// Qv and Ql: how many votes elect, and how many acknowledgements, the leader's own included,
    /// uphold a lease. Default: a majority for both. 2 Qv > n and Qv + Ql > n.
    pub const fn quorums(mut self, votes: usize, lease: usize) -> Self {
        self.vote_quorum = Some(votes);
        self.lease_quorum = Some(lease);
        self
    }

    /// How long to wait for what. Default: [`Timings::default`].
    pub const fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// When a live leader gives way. Default: [`Preemption::After`] 10 s; the time must exceed the
    /// promise P.
    pub const fn preemption(mut self, preemption: Preemption) -> Self {
        self.preemption = preemption;
        self
    }

    /// By how much a challenger's score must exceed the leader's. Default: by anything at all, the
    /// name deciding between equals.
    pub const fn margin(mut self, margin: Score) -> Self {
        self.margin = Some(margin);
        self
    }

    /// The longest that the work of a leader who steps down may take to end. Default: D - 2 d, so
    /// that it ends within the lease even if the leader is cut off meanwhile (C7); a leader that is
    /// given longer goes on renewing its lease, and its work must heed the loss of it. So must it
    /// where other voters have shorter timings: then its lease is shorter than its own D.
    pub const fn drain(mut self, drain: Duration) -> Self {
        self.drain = Some(drain);
        self
    }

    /// For how long an agent that stepped down at its user's wish lets others go first, unless its
    /// score is set or it is told to campaign. Default: 60 s.
    ///
    /// Who rests has a turn all the same, eight places further back in line: nobody else may be
    /// there, or all who are may rest. So a rest delays the next leader by at most 8 S (8 d after a
    /// certain end), whoever is left.
    pub const fn rest(mut self, rest: Duration) -> Self {
        self.rest = rest;
        self
    }

    /// W: how long who gave way waits for the announcement; at least 2 E + 4 d, the default.
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// Which choice of voters this is; see [how to change them](super::epoch). Default: 0; at most
    /// 16,777,215. Every change of voters or quorums takes a higher one; one of timings does not.
    pub const fn epoch(mut self, epoch: u64) -> Self {
        self.epoch = epoch;
        self
    }

    /// Checks every relation. Those between the durations of [`Timings`] (C1 to C4) hold already.
    ///
    /// # Errors
    /// [`QuorumError`] with the values that do not fit.
    pub fn build(self) -> Result<QuorumConfig, QuorumError> {
        let mut voters = self.voters;
        voters.sort();
        let mut pairs = voters.iter().zip(voters.iter().skip(1));
        if let Some((id, _)) = pairs.find(|(a, b)| a == b) {
            return Err(QuorumError::DuplicateVoter { id: id.clone() });
        }
        let quorums = quorums(voters.len(), self.vote_quorum, self.lease_quorum)?;
        let t = &self.timings;
        let Some(heartbeat) = t.detector().map(|d| d.heartbeat) else {
            return Err(QuorumError::NoHeartbeat);
        };
        let least = least_wait(t);
        if let Some(wait) = self.wait.filter(|wait| *wait < least) {
            return Err(QuorumError::Wait { wait, least });
        }
        check_patience(self.preemption, t.promise())?;
        if self.epoch > LAST_EPOCH {
            let (epoch, most) = (self.epoch, LAST_EPOCH);
            return Err(QuorumError::Epoch { epoch, most });
        }
        Ok(QuorumConfig {
            voters: voters.into(),
            vote_quorum: quorums.votes,
            lease_quorum: quorums.lease,
            heartbeat,
            preemption: self.preemption,
            margin: self.margin,
            drain: self.drain,
            rest: self.rest,
            wait: self.wait,
            epoch: self.epoch,
            defect: None,
            timings: self.timings,
        })
    }
}

struct Quorums {
    votes: usize,
    lease: usize,
}

/// 2 Qv > n and Qv + Ql > n, and neither larger than n.
fn quorums(n: usize, votes: Option<usize>, lease: Option<usize>) -> Result<Quorums, QuorumError> {
    if n == 0 {
        return Err(QuorumError::NoVoters);
    }
    let majority = n / 2 + 1;
    let quorums = Quorums {
        votes: votes.unwrap_or(majority),
        lease: lease.unwrap_or(majority),
    };
    let Quorums { votes, lease } = quorums;
    if !(majority..=n).contains(&votes) {
        return Err(QuorumError::VoteQuorum {
            votes,
            voters: n,
            majority,
        });
    }
    let least = n.saturating_sub(votes).saturating_add(1);
    if !(least..=n).contains(&lease) {
        return Err(QuorumError::LeaseQuorum {
            lease,
            votes,
            voters: n,
            least,
        });
    }
    Ok(quorums)
}

/// C5: W is at least 2 E + 4 d.
fn least_wait(t: &Timings) -> Duration {
    let delays = t.delay_bound().saturating_mul(4);
    t.round().saturating_mul(2).saturating_add(delays)
}

/// C6: a challenger has to be steady for longer than a promise lasts.
fn check_patience(preemption: Preemption, promise: Duration) -> Result<(), QuorumError> {
    let after = match preemption {
        Preemption::Immediately => Duration::ZERO,
        Preemption::After(after) => after,
        Preemption::Never => return Ok(()),
    };
    if after <= promise {
        return Err(QuorumError::Preemption { after, promise });
    }
    Ok(())
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
        "{votes} of {voters} votes must not elect: two groups could, or nobody; ask for {majority} to {voters}"
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
    /// C5, W >= 2 E + 4 d, does not hold.
    #[error("a wait of {wait:?} for who was given way is too short: make it at least {least:?}")]
    Wait {
        /// W.
        wait: Duration,
        /// 2 E + 4 d.
        least: Duration,
    },
    /// C6, `after` > P, does not hold.
    #[error(
        "preemption after {after:?} must come later than the promise of {promise:?} ends: raise it, or choose never"
    )]
    Preemption {
        /// For how long a challenger must be steady.
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
