//! The invitation election: Garcia-Molina's second algorithm of 1982, for systems without time.
//!
//! Where messages may take any time, a silence proves nothing, and no election can promise one
//! coordinator. This one promises agreement *within each group*: every agent is in a group of its own
//! at first, a coordinator looks for others, and invites them to a new, larger group. No agent is
//! forced to do anything.
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
//! - Always, whatever the network and the clocks do: two voters that name the same group have the same
//!   coordinator, and if both work, the same task. No group's number is ever used twice.
//! - Once messages take no longer than the delay bound, and all can reach each other: one group, and
//!   the highest in rank coordinates it. In a partition: one in each part.
//!
//! A model checker looks at the first in every order in which two or three agents can act, with lost
//! messages, crashes and hand-overs, as far as the bounds in `tests/heavy` reach.
//!
//! One leader is *not* promised. Several lead at once whenever several groups exist: at a start, during
//! a partition, after a false suspicion. The [`Term`] names a group together with
//! its leader; it is no fence.
//!
//! A leader that hangs considers itself leader for the detection time without a step
//! ([`View::valid_until`]); the first timer after that finds the stall, and gives the leadership up.
//!
//! # The rules
//! | rule | paper | what it says | decided in |
//! |---|---|---|---|
//! | `form-by-rank` | Recovery | in order of rank, a new number, and a group of one, at work | `core.rs` |
//! | `look-for-others` | Check | each heartbeat a coordinator asks all which group they are in; one that finds others above waits, a step for each | `leader.rs` |
//! | `merge-those-below` | Merge | a new number; the coordinator invites its own members and the agents that were found below | `leader.rs` |
//! | `join-from-above` | `Invitation` | join, accept, and pass it on to the members it has coordinated, but for the dead | `invited.rs` |
//! | `count-acceptances` | `Accept` | by the number of the group: in Up; when all have answered, `Ready` | `candidate.rs` |
//! | `hand-out-task` | `Ready` | by the number of the group: the task; at work | `member.rs` |
//! | `miss-a-silent-coordinator` | Timeout | nothing heard for the detection time: `AreYouThere`; "no", or silence for the deadline: `form-by-rank` | `member.rs` |
//!
//! # State × input
//! − is a traced no-op. "forms" is to leave everything and to form a group of its own: at once, or where
//! that is said in order of rank.
//!
//! | input | free | merging | joining, following | leading |
//! |---|---|---|---|---|
//! | `AreYouCoordinator` | `CoordinatorReply` | `CoordinatorReply` | `CoordinatorReply`; of the coordinator: watches on, or forms if that ranks below | `CoordinatorReply` |
//! | `CoordinatorReply` | − | − | − | notes an agent outside; one that missed the task: `Ready` |
//! | `Invitation`, older | declines | declines | declines; to its own group: accepts again | declines |
//! | `Invitation` from below | declines | declines | declines | declines |
//! | `Invitation` from above | joins | declines | joins, if from or by its coordinator, or above it | joins, passes it on: `Outranked` |
//! | `Accept` | − | in Up | − | late: in Up, `Ready` |
//! | `Decline` | − | not awaited | − | an observer's: a new number |
//! | `Ready` | − | − | joining it: follows | − |
//! | `AreYouThere` | no | yes, if of the old or the new group | no | yes, if in Up |
//! | `There` | − | − | asked: watches on, or forms by rank | − |
//! | `Resign` | − | − | of its group: forms, or forms by rank | − |
//! | an end in `Members` | it cools down, and no other agent is there: forms | no agent is awaited: waits less | of the coordinator: forms by rank; a suspicion: asks | − |
//! | `TimedOut` | `Slot`, `Cooldown`: forms | `Accepts`: leads the group | `Watch`: asks, then forms by rank | `Check`, `Drain` |
//! | `Campaign` | forms | − | forms | looks for others |
//! | `SetScore` | forms by rank | forms by rank | above the coordinator: forms | looks for others; `None`: drains |
//! | `StepDown`, `Drained` | − | − | − | drains; resigns |
//!
//! An agent that cannot be elected (an observer, a voter without a score) forms no group. Such a voter is
//! free, and joins any agent that invites it. So is one that cools down after a step-down, for 2.5
//! deadlines and its slot, which is eight slots after the others; then its cool-down is over. An observer
//! takes the word of the latest group's coordinator, and tells one only which count to exceed. Before
//! `Start` an agent is *Down*.
//!
//! # Amendments
//! | rule | differs from the paper | why |
//! |---|---|---|
//! | `form-by-rank` | in order of rank, the k-th after a head start and k steps, and not at all if it is invited before | a group that lost its coordinator would fall apart into as many leaders as members |
//! | `look-for-others` | all answer which group they are in, not only coordinators | an agent that is free, or was left out by a lost `Accept`, is found at once and not by a time-out |
//! | `merge-those-below`, `join-from-above` | an agent above is not invited, and declines | in the original any coordinator swallows any other, and the lowest may lead |
//! | `count-acceptances` | ends when all have answered, not after the deadline | no member works while a group is formed |
//! | `join-from-above` | a number must exceed all that the invited agent has been in | a late copy of an old invitation would move it back |
//! | `hand-out-task` | `Ready` is repeated until it has arrived, by `look-for-others` | one lost message would leave a member idle until its time-out |
//! | `miss-a-silent-coordinator` | yes also while its coordinator forms a new group | a merge would drive all old members out |
//! | – | scores may change: an agent that ranks above its coordinator forms a group, and invites it | in the paper ranks are fixed numbers |
//! | – | `Resign`, and a cool-down after it | in the paper no agent leaves politely |
//! | – | an agent that cools down waits to be invited, and not for ever; a silent one is none to wait for | all that are left may cool down, and no group would be formed |
//!
//! Stoller (*Leader Election in Asynchronous Distributed Systems*, Indiana TR521) points out that the
//! paper's own specification for this algorithm can be satisfied by never agreeing. So nothing is
//! promised here in its words, and the second promise above, under the condition that time is kept,
//! is tested as it is.
//!
//! # Cost
//! To merge groups with m members beside the inviter: 3m messages (m invitations, accepts and
//! readies), and seven delay bounds from the beginning of the check. A prospects coordinator costs
//! 2 (n - 1) messages each heartbeat. If all n start at once, the first forms a group and invites the
//! others, which are free still: 3 (n - 1).
//!
//! # Sources
//! H. Garcia-Molina, *Elections in a Distributed Computing System*, IEEE Transactions on Computers
//! C-31(1), 1982: the algorithm for asynchronous systems. Waiting in proportion to the distance to
//! the highest coordinator, and what production needs beside it (stop serving before joining, a
//! majority before serving), can be learned from the replication of `ZeroC` `IceStorm`.

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

use std::{convert::Infallible, sync::Arc};

pub use config::{InvitationConfig, InvitationError};
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
            // The paper promises agreement within each group, and a partition makes one of each
            // part (Garcia-Molina 1982, the algorithm for asynchronous systems).
            leaders: Leaders::PerSide,
            // A number that is used twice names two groups.
            storage: Storage::of_voters(kind),
            ..Requirements::new(RULES)
        })
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

/// What the paper says of a participant beside its task.
#[cfg(any(test, feature = "testkit"))]
impl InvitationElection {
    /// The paper's S(i).s.
    pub fn status(&self) -> PaperStatus {
        self.stepped
            .map_or(PaperStatus::Down, |_| self.state.status())
    }

    /// The paper's S(i).g: the group that it is in, in *Reorganization* and *Normal*.
    pub fn group(&self) -> Option<&ElectionId> {
        match &self.state {
            State::Leader(leading) => Some(&leading.group),
            State::Member(membership) => Some(&membership.group),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }

    /// The paper's S(i).c: the coordinator of that group.
    pub fn coordinator(&self) -> Option<&AgentId> {
        match &self.state {
            State::Leader(_) => Some(&self.core.me.id),
            State::Member(membership) => Some(&membership.coordinator.id),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }
}

impl InvitationElection {
    /// The paper's S(i).d: the task, in *Normal*. An observer need not know it.
    pub fn task(&self) -> Option<Task> {
        match &self.state {
            State::Leader(_) => Some(self.core.config.task),
            State::Member(membership) => membership.task(),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }
}
