//! The reasons that keep a participant from leading, or make it wait. They help people to find out why there is no
//! leader, or why this agent leads.
//!
//! Decided here: which facts a machine reports beside its [`View`](super::View). No election depends on them.

use std::time::Duration;

use super::{AgentId, Time};

/// The reasons why a participant waits or does not lead, by its own clock; see
/// [`Election::prospects`](super::Election::prospects).
///
/// Ignore a time in the past.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Prospects {
    /// End of the cool-down: until then this participant does not compete, because it has stepped down.
    pub cooldown_until: Option<Time>,
    /// Without a leader: earliest time at which this participant holds an election. It may have to wait because of a
    /// promise of an earlier incarnation, or for agents of higher rank.
    pub waits_until: Option<Time>,
    /// Earliest time at which an agent of higher rank takes over, as far as this participant knows. A leader knows the
    /// time for an agent that asked for the leadership; a follower knows the time for itself.
    pub takeover_at: Option<Time>,
    /// Time until which, by this participant's timings, the lease of the leader that it follows holds. The leader may
    /// know later renewals. `None` without such a lease.
    pub followed_until: Option<Time>,
    /// When a live leader yields to an agent of higher rank, by this participant's policy; `None` if its election has
    /// no such policy.
    pub preemption: Option<Preemption>,
    /// Set while the participant has no memory of an earlier incarnation: it takes no part until it has recovered.
    pub recovers: Option<Box<Recovering>>,
    /// The epoch that follows a change of the voters, while this participant knows that a change is under way.
    pub next_epoch: Option<u64>,
    /// The time that the store of a lease takes for an answer, if that is more than the timings assume.
    pub slow_answers: Option<Duration>,
    /// The time that a voter takes to write its record, if that is more than the timings assume.
    pub slow_writes: Option<Duration>,
    /// Set if the wall clock of another voter differs too much from the participant's own clock, and terms depend on
    /// wall clocks.
    pub clock_gap: Option<Box<ClockGap>>,
    /// Set if the driver has to measure the participant's disk once a minute, because the disk is slow or because the
    /// participant would take over from a leader.
    pub probes: bool,
}

impl Prospects {
    /// Returns whether the participant only follows or only leads, and its store is fast enough. The preemption is not
    /// checked, because it is a policy that does not change within an incarnation; nor is the lease of its leader,
    /// which each renewal changes.
    pub const fn is_idle(&self) -> bool {
        let Self {
            cooldown_until,
            waits_until,
            takeover_at,
            followed_until: _,
            preemption: _,
            recovers,
            next_epoch,
            slow_answers,
            slow_writes,
            clock_gap,
            probes,
        } = self;
        let waits = cooldown_until.is_some() || waits_until.is_some() || takeover_at.is_some();
        let is_slow = slow_answers.is_some() || slow_writes.is_some() || *probes;
        let is_whole = recovers.is_none() && next_epoch.is_none() && clock_gap.is_none();
        !waits && is_whole && !is_slow
    }
}

/// Progress of an incarnation that has no record and asks the other voters for their memory of the votes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recovering {
    /// Earliest time at which the participant takes part again.
    pub until: Time,
    /// Number of other voters that have answered.
    pub answers: u32,
    /// Number of the answering voters that are recovering themselves.
    pub recover: u32,
    /// Number of other voters with a memory whose answers the participant needs.
    pub needed: u32,
    /// The other voters that remember.
    pub remember: Vec<AgentId>,
    /// The other voters that have not answered.
    pub silent: Vec<AgentId>,
    /// Number of voters in `remember` that must restart before this participant can recover by the clocks alone; `None`
    /// while too few voters have answered to know the number.
    pub restarts: Option<u32>,
}

/// Two wall clocks whose difference is too large for terms that are read from the clocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClockGap {
    /// The voter with the other clock.
    pub voter: AgentId,
    /// Whether the other voter's clock is ahead of the participant's own clock.
    pub is_ahead: bool,
    /// Difference of the two clocks.
    pub by: Duration,
}

/// A leader's policy: the time at which a live leader yields to an agent of a higher rank. Under every policy, a vacant
/// leadership is taken at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preemption {
    /// At once, as in the bully election. Refused in quorum mode.
    #[default]
    Immediately,
    /// After the agent of a higher rank was up for the contained time without a gap, and with a hand-over. So an agent
    /// that comes and goes does not move the leadership back and forth.
    After(Duration),
    /// Never.
    Never,
}
