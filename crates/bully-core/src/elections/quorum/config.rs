//! The parameters of the rules: the voters, the sizes of the quorums, and the waiting times.
//!
//! Decided here: the defaults, and which values fit together.
//!
//! Voters and quorums are the same at every member: they come from the configuration, not from the snapshot of the
//! members, and `epoch` is the number of this choice of voters. Timings may differ, for example during a rolling
//! change.
#![expect(clippy::similar_names, reason = "voters cast votes")]

use std::time::Duration;

use super::{Diskless, epoch::LAST_EPOCH};
use crate::elections::policy::{Preemption, check_margin};
use crate::parts::{check_detector, check_range, check_voters, detector_of, in_order, majority};
use crate::protocol::{AgentId, Electorate, Score, SettingError, Timings};

/// The configuration of a quorum election. Voters, quorums and epoch are the same at every member. An agent with a
/// configuration that fails the [check](Self::check) does not start.
///
/// ```
/// # use bully_core::elections::quorum::QuorumConfig;
/// # use bully_core::protocol::{AgentId, Timings};
/// let voters = ["api-1", "api-2", "api-3"].map(|name| AgentId::new(name).unwrap());
/// let config = QuorumConfig { timings: Timings::lan(), ..QuorumConfig::new(voters) };
/// assert_eq!(config.vote_quorum(), 2); // one voter may be down
/// let wrong = QuorumConfig { vote_quorum: Some(1), ..config };
/// assert!(wrong.check().is_err()); // two groups could elect
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuorumConfig {
    /// The voters, in any order, with distinct names.
    pub voters: Vec<AgentId>,
    /// Qv: number of votes that elect a leader; 2 Qv must exceed the number of voters. Default: a majority.
    pub vote_quorum: Option<usize>,
    /// Ql: number of acknowledgements that uphold a lease, the leader's own included. Together with `vote_quorum` it
    /// must exceed the number of voters. Default: a majority.
    pub lease_quorum: Option<usize>,
    /// The waiting times. Default: [`Timings::default`]; they need a failure detector.
    pub timings: Timings,
    /// Time at which a live leader hands over to a better agent. Default: [`Preemption::After`] 10 s, so that an agent
    /// that comes and goes does not move the leadership. The time must be longer than [`Timings::promise`].
    pub preemption: Preemption,
    /// Least difference by which a better agent's score must exceed the leader's score. Default: any difference;
    /// between equal scores the name decides.
    pub margin: Option<Score>,
    /// Longest time between the step-down of a leader and the end of its work. Default: the [lease](Timings::lease)
    /// minus two [delay bounds](Timings::delay_bound), so that the work ends within the lease even if the leader is cut
    /// off meanwhile (rule `drain-within-lease`). With a longer time the leader continues to renew its lease, and its
    /// work must stop if the lease is lost. The work must also stop at the end of the lease if other voters have
    /// shorter timings, because the lease is then shorter than by the leader's own timings.
    pub drain: Option<Duration>,
    /// Time after a step-down by command in which the agent does not compete, because it would otherwise be elected
    /// again at once. This time ends early if the agent's score is set or the agent gets the command to campaign.
    /// Default: 60 s.
    ///
    /// The agent still has a slot, because it may be the only agent left. So the next leader comes later by at most
    /// eight [steps](Timings::step), or by eight [delay bounds](Timings::delay_bound) after a confirmed end.
    pub cooldown: Duration,
    /// W: time for which an agent that defers to another agent waits for the other agent's announcement. Default and
    /// minimum: two [rounds](Timings::round) and four [delay bounds](Timings::delay_bound).
    pub wait: Option<Duration>,
    /// Number of this choice of voters. A member ignores members of another [epoch](super::epoch); that page
    /// describes how to change the voters. Default: 0; at most 16,777,215. Every change of voters or quorums needs a
    /// higher epoch; a change of timings does not.
    pub epoch: u64,
    /// Parameters of voters without a store, by the rules of [`diskless`](super::diskless); the same at every member.
    /// Default: `None`, each voter has a store.
    pub diskless: Option<Diskless>,
    /// Whether this member may take part with a store although it is not in the list of voters. Such a *learner*
    /// follows, acknowledges nothing, and can be made a [voter](super::epoch) while the group runs. Default: false;
    /// such an agent is refused.
    pub learner: bool,
}

impl QuorumConfig {
    /// Returns the defaults for the given voters.
    pub fn new(voters: impl IntoIterator<Item = AgentId>) -> Self {
        Self {
            voters: in_order(voters),
            vote_quorum: None,
            lease_quorum: None,
            timings: Timings::default(),
            preemption: Preemption::After(Duration::from_secs(10)),
            margin: None,
            drain: None,
            cooldown: Duration::from_secs(60),
            wait: None,
            epoch: 0,
            diskless: None,
            learner: false,
        }
    }

    /// Checks every relation between the parameters.
    ///
    /// # Errors
    /// [`SettingError`] with the values that do not fit together.
    pub fn check(&self) -> Result<(), SettingError> {
        self.check_quorums()?;
        self.check_durations()?;
        check_margin(self.margin)?;
        if self.learner && self.diskless.is_some() {
            return Err(SettingError::new(
                "learner",
                "a list of voters without a disk cannot change while they run, so a learner would never become a voter: remove `learner`, or remove `diskless` if there is a disk that stays",
            ));
        }
        let reason = "the first list of voters has 0, and each change of the list adds 1";
        check_range("epoch", self.epoch, 0..=LAST_EPOCH, reason)
    }

    /// Qv: number of votes that elect a leader.
    pub fn vote_quorum(&self) -> usize {
        self.quorum(self.vote_quorum)
    }

    /// Ql: number of acknowledgements that uphold a lease, the leader's own included.
    pub fn lease_quorum(&self) -> usize {
        self.quorum(self.lease_quorum)
    }

    /// Returns the digest of the voters and quorums, which must be equal at all members of an epoch.
    pub fn electorate(&self) -> Electorate {
        let voters = Electorate::new(&self.voters, self.vote_quorum(), self.lease_quorum());
        match self.diskless() {
            None => voters,
            Some(_) => voters.without_disks(self.timings.promise(), self.timings.round()),
        }
    }

    /// H: time between two heartbeats of a leader.
    pub(crate) fn heartbeat(&self) -> Duration {
        detector_of(&self.timings).heartbeat
    }

    /// Longest time between the step-down of a leader and the end of its work.
    pub fn drain(&self) -> Duration {
        self.drain.unwrap_or_else(|| {
            let t = &self.timings;
            t.lease().saturating_sub(t.delay_bound().saturating_mul(2))
        })
    }

    /// W: time for which an agent that defers to another one waits for its announcement.
    pub fn wait(&self) -> Duration {
        self.wait.unwrap_or_else(|| self.least_wait())
    }

    fn quorum(&self, asked: Option<usize>) -> usize {
        asked.unwrap_or_else(|| majority(&self.voters))
    }

    /// Returns the smallest allowed wait W for the announcement of another agent: two rounds and four delay bounds
    /// (rule `wait-covers-rounds`).
    fn least_wait(&self) -> Duration {
        let delays = self.timings.delay_bound().saturating_mul(4);
        let rounds = self.timings.round().saturating_mul(2);
        rounds.saturating_add(delays)
    }

    /// Checks the quorums Qv (of votes) and Ql (of a lease) of n voters: 2 Qv > n, Qv + Ql > n, Qv ≤ n, Ql ≤ n.
    fn check_quorums(&self) -> Result<(), SettingError> {
        check_voters(&self.voters)?;
        let (voters, majority) = (self.voters.len(), majority(&self.voters));
        let votes = self.vote_quorum.unwrap_or(majority);
        let lease = self.lease_quorum.unwrap_or(majority);
        // An even split could elect two leaders.
        let reason = format_args!(
            "both sides of a partition of {voters} voters could elect, or no side could"
        );
        check_range("vote_quorum", votes, majority..=voters, reason)?;
        let least = voters.saturating_sub(votes).saturating_add(1);
        let reason = format_args!("{votes} votes of {voters} voters elect");
        check_range("lease_quorum", lease, least..=voters, reason)
    }

    /// Checks the relations that [`Timings`] alone does not guarantee.
    fn check_durations(&self) -> Result<(), SettingError> {
        check_detector(&self.timings, "the lease of a quorum")?;
        let least = self.least_wait();
        if let Some(wait) = self.wait.filter(|wait| *wait < least) {
            return Err(SettingError::new(
                "wait",
                format_args!(
                    "a wait of {wait:?} for an agent of higher rank is too short: make it at least {least:?}"
                ),
            ));
        }
        let promise = self.timings.promise();
        let after = match self.preemption {
            Preemption::Immediately => Duration::ZERO,
            Preemption::After(after) => after,
            Preemption::Never => return Ok(()),
        };
        // With a shorter time, an agent that comes and goes would be up long enough to take over (rule
        // `grace-outlasts-promise`).
        if after <= promise {
            return Err(SettingError::new(
                "preemption",
                format_args!(
                    "preemption after {after:?} must come after the end of the promise of {promise:?}: give `preemption` a longer time, or set it to never"
                ),
            ));
        }
        Ok(())
    }
}
