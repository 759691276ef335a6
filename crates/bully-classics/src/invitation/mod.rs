//! The invitation election: Garcia-Molina's second algorithm of 1982, for asynchronous systems.
//!
//! If messages may take any time, a silence proves nothing, and no election can promise one coordinator. This
//! election promises agreement *within each group*. At first every agent is in a group of its own. A coordinator
//! looks for other agents and invites them to a new, larger group. No agent has to join.
//!
//! ```text
//! a normal election: b is the highest       a failover: c coordinated a and b, and is dead
//!
//! a       b       c                         a       b       c
//! │       │ forms a group of one: leads     │       ├──────▶╳  are you there? (nothing heard for a while)
//! │◀──────┼──────▶│ are you coordinator?    ├───────┼──────▶╳  (a asks as well)
//! ├──────▶│◀──────┤ place: free             │       ╎          silent for the deadline: c is gone
//! │       ╎         no other is above       │       │ forms a group of one: leads
//! │◀──────┼──────▶│ invitation              │◀──────┤ are you coordinator?
//! ├──────▶│◀──────┤ accept                  ├──────▶│ place: free
//! │       │ all have: b leads the group     │◀──────┤ invitation, and so on as on the left
//! │◀──────┼──────▶│ ready: the task         ├──────▶│ accept: b leads the group
//! ```
//!
//! # What you can rely on
//! - Always, with any fault of the network and the clocks: two voters in the same group have the same coordinator, and
//!   if both work, they have the same task. No group's number is ever used twice.
//! - If messages take no longer than the delay bound, and all agents can reach each other: one group exists, and the
//!   highest-ranked agent coordinates it. In a partition: one group in each part.
//!
//! A model checker checks the first promise in every order in which two or three agents can act, with lost messages,
//! crashes and hand-overs, within the bounds in `tests/heavy`.
//!
//! The election does *not* promise one leader. Several agents lead at once whenever several groups exist: at a start,
//! during a partition, after a false suspicion. The [`Term`] identifies a group together with its leader; it cannot
//! serve as a fence.
//!
//! A leader that hangs considers itself leader for the detection time after its last step ([`View::valid_until`]).
//! The first timer after that time shows the stall, and the leader gives the leadership up.
//!
//! # The rules
//! | rule | paper | meaning | decided in |
//! |---|---|---|---|
//! | `form-by-rank` | Recovery | in order of rank: a new number and a group of one, at work | `core.rs` |
//! | `look-for-others` | Check | at each heartbeat a coordinator asks all agents in which group they are; if it finds agents above, it waits a step for each | `leader.rs` |
//! | `merge-those-below` | Merge | a new number; the coordinator invites its own members and the agents that it found and that rank below it | `leader.rs` |
//! | `join-from-above` | `Invitation` | join, accept, and pass the invitation on to its former members, except the dead | `invited.rs` |
//! | `count-acceptances` | `Accept` | by the number of the group: the agent is in Up; when all have answered, `Ready` | `candidate.rs` |
//! | `hand-out-task` | `Ready` | by the number of the group: the task; at work | `member.rs` |
//! | `miss-a-silent-coordinator` | Timeout | no message for the detection time: `AreYouThere`; "no", or silence for the deadline: `form-by-rank` | `member.rs` |
//!
//! # State × input
//! − is a traced no-op. "forms" means that the agent leaves its group and forms a new group of itself alone, at once
//! or, where the table says so, in order of rank.
//!
//! | input | free | merging | joining, following | leading |
//! |---|---|---|---|---|
//! | `AreYouCoordinator` | `CoordinatorReply` | `CoordinatorReply` | `CoordinatorReply`; of the coordinator: watches on, or forms if that ranks below | `CoordinatorReply` |
//! | `CoordinatorReply` | − | − | − | notes an agent outside of its group; to a member that missed the task: `Ready` |
//! | `Invitation`, older | declines | declines | declines; to its own group: accepts again | declines |
//! | `Invitation` from below | declines | declines | declines | declines |
//! | `Invitation` from above | joins | declines | joins, if its coordinator sent it or forms that group, or the inviter ranks above its coordinator | joins, passes it on: `Outranked` |
//! | `Accept` | − | in Up | − | late: in Up, `Ready` |
//! | `Decline` | − | not awaited | − | an observer's: a new number |
//! | `Ready` | − | − | joining it: follows | − |
//! | `AreYouThere` | no | yes, about the old and the new group | no | yes, if in Up |
//! | `There` | − | − | asked: watches on, or forms by rank | − |
//! | `Resign` | − | − | of its group: forms, or forms by rank | − |
//! | an end in `Members` | it cools down, and no other agent is up: forms | no agent is awaited: waits less | of the coordinator: forms by rank; a suspicion: asks | − |
//! | `TimedOut` | `Slot`, `Cooldown`: forms | `Accepts`: leads the group | `Watch`: asks, then forms by rank | `Check`, `Drain` |
//! | `Campaign` | forms | − | forms | looks for others |
//! | `SetScore` | forms by rank | forms by rank | above the coordinator: forms | looks for others; `None`: drains |
//! | `StepDown`, `Drained` | − | − | − | drains; resigns |
//!
//! An agent that cannot be elected (an observer, a voter without a score) forms no group. A voter without a score is
//! free, and joins any agent that invites it. A voter that cools down after a step-down does the same for 2.5
//! deadlines and until its slot, which is eight slots after the others. Then its cool-down ends. An observer follows
//! the coordinator of the latest group, and tells any other coordinator only which count to exceed. Before `Start` an
//! agent is *Down*.
//!
//! # Amendments
//! | rule | difference from the paper | reason |
//! |---|---|---|
//! | `form-by-rank` | in order of rank: an agent below k others after a head start and k steps, and not at all if it is invited before | a group that lost its coordinator would fall apart, and each member would lead its own group |
//! | `look-for-others` | all agents answer, not only coordinators | a coordinator finds a free agent, or an agent whose `Accept` was lost, at once and not after a time-out |
//! | `merge-those-below`, `join-from-above` | an agent that ranks above is not invited, and declines | in the original algorithm any coordinator takes over the group of any other, and the lowest-ranked one may lead |
//! | `count-acceptances` | ends when all have answered, not after the deadline | no member works while a group is formed |
//! | `join-from-above` | the number must exceed the numbers of all groups in which the invited agent has been | a late copy of an old invitation would move the agent back |
//! | `hand-out-task` | `Ready` is repeated until it has arrived, by `look-for-others` | one lost message would leave a member idle until its time-out |
//! | `miss-a-silent-coordinator` | a coordinator that forms a new group also answers yes | all old members would leave during a merge |
//! | – | scores may change: an agent that ranks above its coordinator forms a group, and invites it | in the paper ranks are fixed numbers |
//! | – | `Resign`, and a cool-down after it | in the paper no agent resigns |
//! | – | an agent that cools down waits for an invitation, but not for ever, and it does not wait for a silent agent | perhaps all remaining agents cool down, and no agent would form a group |
//!
//! Stoller (*Leader Election in Asynchronous Distributed Systems*, Indiana TR521) points out that agents that never
//! agree satisfy the paper's own specification of this algorithm. So this page does not promise that specification.
//! Tests check the second promise above under its condition on the delays.
//!
//! # Cost
//! To merge groups with m members besides the inviter: 3m messages (m invitations, accepts and readies), and seven
//! delay bounds from the beginning of the check. A coordinator sends and receives 2 (n - 1) messages at each
//! heartbeat. If all n agents start at once, the first one forms a group and invites the others, which are still
//! free: 3 (n - 1) messages.
//!
//! # Sources
//! H. Garcia-Molina, *Elections in a Distributed Computing System*, IEEE Transactions on Computers C-31(1), 1982: the
//! algorithm for asynchronous systems. In the replication of `ZeroC` `IceStorm`, an agent also waits in proportion to
//! its distance from the highest coordinator. It also shows what production needs: stop serving before joining, and
//! serve only with a majority.

mod candidate;
mod config;
mod core;
mod invited;
mod leader;
mod machine;
mod member;
mod message;
mod state;
mod timer;
mod transition;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::InvitationConfig;
pub use machine::InvitationElection;

#[cfg(not(any(test, feature = "testkit")))]
use {message::InvitationMessage, timer::InvitationTimer};
#[cfg(any(test, feature = "testkit"))]
pub use {
    message::{
        Accept, AreYouCoordinator, AreYouThere, CoordinatorReply, Decline, GroupRole, Invitation,
        InvitationMessage, Ready, Resign, There,
    },
    timer::InvitationTimer,
};

use state::{Next, State};

use crate::numbered::LAST_COUNT;
#[cfg(any(test, feature = "testkit"))]
pub use crate::numbered::PaperStatus;
pub use crate::numbered::Task;
pub use crate::numbered::{CountRecord, ElectionId};
use bully_core::protocol::{
    AgentId, EffectsOf, Election, Identity, Incarnation, InputOf, Leader, Leaders, MemberKind,
    MembershipError, Prospects, Requirements, Rules, Score, Storage, Term, Time, Timings, View,
};

type Out = EffectsOf<InvitationElection>;

const RULES: Rules = Rules::new("invitation");

impl Election for InvitationElection {
    type Message = InvitationMessage;
    type Timer = InvitationTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = CountRecord;
    type Config = Arc<InvitationConfig>;

    fn new(identity: Identity, config: &Self::Config, durable: Option<CountRecord>) -> Self {
        Self::of(identity, Arc::clone(config), durable)
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        self.step(now, input, out);
    }

    fn requirements(
        config: &Self::Config,
        _: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        config.check().map_err(MembershipError::config)?;
        Ok(Requirements {
            // The paper promises agreement within each group, and a partition turns each part into a
            // group (Garcia-Molina 1982, the algorithm for asynchronous systems).
            leaders: Leaders::PerSide,
            // Voters need a record, so that no two groups get the same number.
            storage: Storage::of_voters(kind),
            ..Requirements::new(RULES)
        })
    }

    fn hold_back(&mut self, span: Duration) {
        self.core.cooldown.hold_back(span);
    }

    fn prospects(&self) -> Prospects {
        Prospects {
            cooldown_until: self.core.cooldown.until(),
            ..Prospects::default()
        }
    }

    fn timings(config: &Self::Config) -> Option<&Timings> {
        Some(&config.timings)
    }

    fn view(&self, _now: Time) -> View {
        let leading = match &self.state {
            State::Leader(leading) => Some(leading.group.count),
            State::Free { .. } | State::Candidate(_) | State::Member(_) => None,
        };
        let leader = self.leader();
        let seen = self.core.numbers.seen;
        let detection = self.core.config.detector().detection;
        View {
            about: None,
            role: self.state.role(),
            term: leader.as_ref().map_or(seen, |l| l.term),
            leader,
            leading,
            valid_until: self.stepped.map_or(Time::ZERO, |at| at.after(detection)),
        }
    }
}

/// The paper's variables of a participant, except for its task.
#[cfg(any(test, feature = "testkit"))]
impl InvitationElection {
    /// Returns the status of the agent, the paper's S(i).s.
    pub fn status(&self) -> PaperStatus {
        self.stepped
            .map_or(PaperStatus::Down, |_| self.state.status())
    }

    /// Returns the group of the agent in the status *Reorganization* or *Normal*; the paper's S(i).g.
    pub fn group(&self) -> Option<&ElectionId> {
        match &self.state {
            State::Leader(leading) => Some(&leading.group),
            State::Member(membership) => Some(&membership.group),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }

    /// Returns the coordinator of the group; the paper's S(i).c.
    pub fn coordinator(&self) -> Option<&AgentId> {
        match &self.state {
            State::Leader(_) => Some(&self.core.me.id),
            State::Member(membership) => Some(&membership.coordinator.id),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }
}

impl InvitationElection {
    /// Returns the task in the status *Normal*; the paper's S(i).d. An observer need not know it.
    pub fn task(&self) -> Option<Task> {
        match &self.state {
            State::Leader(_) => Some(self.core.config.task),
            State::Member(membership) => membership.task(),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }
}
