//! The invitation election: Garcia-Molina's second algorithm of 1982, for systems without time.
//!
//! Where messages may take any time, a silence proves nothing, and no election can promise one
//! coordinator. This one promises agreement *within each group*: every agent is in a group of its own
//! at first, a coordinator looks for others, and invites them to a new, larger group. Nobody is
//! forced to do anything.
//!
//! **What you can rely on**
//! - Always, whatever the network and the clocks do: two voters that name the same group have the same
//!   coordinator, and if both work, the same task. No group's number is ever used twice.
//! - Once messages take no longer than the delay bound, and all can reach each other: one group, and
//!   the most important agent coordinates it. In a partition: one in each part.
//!
//! A model checker looks at the first in every order in which two or three agents can act, with lost
//! messages, crashes and hand-overs, as far as the bounds in `tests/heavy` reach.
//!
//! Not: one leader. Several lead at once whenever several groups exist: at a start, during a
//! partition, after a false suspicion. The [`Term`] names a group together with its leader; it is no
//! fence.
//!
//! **A leader that hangs** considers itself leader for the detection time L without a step
//! ([`View::valid_until`]); the first timer after that finds the stall, and gives the leadership up.
//!
//! # The rules by number
//! | rule | paper | here | decided in |
//! |---|---|---|---|
//! | I1 | Recovery | a new number, and a group of one, at work | `merge.rs` |
//! | I2 | Check | each H a coordinator asks all where they stand; who finds others above waits, S for each | `check.rs` |
//! | I3 | Merge | a new number; invites its own members and who was found below; then `Ready` | `merge.rs` |
//! | I4 | `Invitation` | join, accept, and pass it on to those it has coordinated, but for the dead | `join.rs` |
//! | I5 | `Accept` | by the number of the group: in Up | `merge.rs` |
//! | I6 | `Ready` | by the number of the group: the task; at work | `join.rs` |
//! | I7 | Timeout | nothing heard for L: `AreYouThere`; "no", or silence for T: I1 | `check.rs` |
//!
//! # State × input
//! − is a traced no-op.
//!
//! | input | free | merging | joining, following | leading |
//! |---|---|---|---|---|
//! | `AreYouCoordinator` | `Place` | `Place` | `Place`; of the coordinator: watch on, or I1 if it ranks below | `Place` |
//! | `Place` | − | − | − | notes who is outside; missed the task: `Ready` |
//! | `Invitation`, older | decline | decline | decline; to its own group: accept again | decline |
//! | `Invitation` from below | decline | decline | decline | decline |
//! | `Invitation` from above | join | decline | join, if from or by its coordinator, or above it | join, pass on: `Outranked` |
//! | `Accept` | − | in Up | − | late: in Up, `Ready` |
//! | `Decline` | − | not awaited | − | an observer's: a new number |
//! | `Ready` | − | − | joining it: follow | − |
//! | `AreYouThere` | no | yes, if of the old or the new group | no | yes, if in Up |
//! | `There` | − | − | asked: watch on, or I1 | − |
//! | `Resign` | − | − | of its group: I1 | − |
//! | an end in `Members` | it rests, and nobody else is there: I1 | nobody is awaited: wait less | of the coordinator: I1; a guess: ask | − |
//! | `TimedOut` | `Turn`, `Rest`: I1 | `Accepts`: I3 ends | `Watch`: ask, then I1 | `Check`, `Drain` |
//! | `Campaign` | I1 | − | I1 | check |
//! | `SetScore` | own turn | own turn | above the coordinator: I1 | check; `None`: drain |
//! | `StepDown`, `Drained` | − | − | − | drain; resign |
//!
//! Who does not stand (an observer, a voter without a score) forms no group. Such a voter is free, and
//! joins whoever invites it. So is one that rests after stepping down, for 2.5 T and its place in line,
//! eight places further back; then its rest is over. An observer takes the word of
//! the latest group's coordinator, and tells one only which count to exceed. Before `Start` an agent
//! is *Down*.
//!
//! # Amendments
//! | to the paper | why |
//! |---|---|
//! | I1: in order of rank, the k-th after 4 d and k steps, and nobody if it is invited before | a group that lost its coordinator would fall apart into as many leaders as members |
//! | I2: everybody answers where it stands, not only coordinators | who is free, or was left out by a lost `Accept`, is found at once and not by a time-out |
//! | I2, I4: who ranks above is not invited, and declines | in the original any coordinator swallows any other, and the least important may lead |
//! | I3: ends when all have answered, not after T | nobody works while a group is formed |
//! | I4: a number must exceed all that the invited has been in | a late copy of an old invitation would move it back |
//! | I6: `Ready` is repeated until it has arrived, by I2 | one lost message would leave a member idle until its time-out |
//! | I7: yes also while its coordinator forms a new group | a merge would drive all old members out |
//! | importance may change: who ranks above its coordinator forms a group, and invites it | in the paper it is a fixed number |
//! | `Resign`, a rest after it | in the paper nobody leaves politely |
//! | who rests waits to be invited, and not for ever; who is silent is nobody to wait for | all who are left may rest, and nobody would begin |
//!
//! Stoller (*Leader Election in Asynchronous Distributed Systems*, Indiana TR521) points out that the
//! paper's own specification for this algorithm can be satisfied by never agreeing. So nothing is
//! promised here in its words, and the second promise above, under the condition that time is kept,
//! is tested as it stands.
//!
//! # Cost
//! To merge groups with m members beside the inviter: 3m messages (m invitations, accepts and
//! readies), and 7 d from the beginning of the check. A standing coordinator costs 2 (n - 1)
//! messages each H. All n start at once: the first forms a group and invites the others, which are
//! free still: 3 (n - 1).
//!
//! # Sources
//! H. Garcia-Molina, *Elections in a Distributed Computing System*, IEEE Transactions on Computers
//! C-31(1), 1982: the algorithm for asynchronous systems. Waiting in proportion to the distance to
//! the most important coordinator, and what production needs beside it (stop serving before joining,
//! a majority before serving), can be learned from the replication of `ZeroC` `IceStorm`.

mod check;
mod command;
mod config;
mod defect;
mod join;
mod membership;
mod merge;
mod message;
mod state;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use config::{InvitationConfig, InvitationConfigBuilder, InvitationError};
#[doc(hidden)]
pub use defect::Defect;
pub use message::{
    Accept, AreYouCoordinator, AreYouThere, Decline, Invitation, InvitationMessage, Place, Ready,
    Resign, Standing, There,
};
pub use state::Status;

use state::{Membership, Stage, State};

use crate::elections::numbered::LAST_COUNT;
pub use crate::elections::numbered::{Count, ElectionId, Task};
use crate::elections::shared::{Cooldown, Participant};
use crate::protocol::{
    AgentId, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Leader, Leaders, Member,
    MemberKind, MembershipError, Requirements, Rules, Score, Storage, Term, Time, View,
};

type Out = EffectsOf<InvitationElection>;

const RULES: Rules = Rules::new("invitation");

/// A timer of an invitation election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Timer {
    /// Somebody free: its turn to form a group has come.
    Turn,
    /// A coordinator: time to look for others (H), to weigh who was found (3 d), or to invite those
    /// below (S for each above).
    Check,
    /// Who did not accept will not (T).
    Accepts,
    /// A member: the coordinator is silent (L), or did not answer (T).
    Watch,
    /// A leader that steps down: the work took too long.
    Drain,
    /// An agent that stepped down may stand again.
    Rest,
}

/// One agent's side of an invitation election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvitationElection {
    me: Participant,
    config: Arc<InvitationConfig>,
    state: State,
    /// What is durable.
    record: Count,
    /// The count that was durable when this life began.
    floor: Term,
    /// The latest group that it was in, or has formed.
    promised: Option<ElectionId>,
    /// The highest count heard of.
    seen: Term,
    /// After stepping down: does not stand until then.
    cooldown: Cooldown,
    /// The last step; none before the life has begun.
    stepped: Option<Time>,
}

impl Election for InvitationElection {
    type Message = InvitationMessage;
    type Timer = Timer;
    type Durable = Count;
    type Config = Arc<InvitationConfig>;

    fn new(identity: Identity, config: &Self::Config, durable: Option<Count>) -> Self {
        let record = durable.unwrap_or_default();
        Self {
            me: Participant::new(identity),
            config: Arc::clone(config),
            state: State::Free { turn: None },
            floor: record.count,
            promised: None,
            seen: record.count,
            record,
            cooldown: Cooldown::default(),
            stepped: None,
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Start(members) if !self.has_begun() => self.on_start(now, members, out),
            Input::SetScore(score) if !self.has_begun() => {
                self.me.score = score;
                return;
            }
            _ if !self.has_begun() => return self.ignore("its life has not begun"),
            Input::Received {
                from,
                incarnation,
                message,
            } => {
                self.on_message(now, &from, incarnation, message, out);
            }
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => self.on_step_down(now, to, out),
            Input::Drained => self.on_drained(now, out),
        }
        self.stepped = Some(now);
    }

    fn requirements(
        _: &Self::Config,
        _: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        Ok(Requirements {
            // The paper promises agreement within each group, and a partition makes one of each
            // part (Garcia-Molina 1982, the algorithm for asynchronous systems).
            leaders: Leaders::PerSide,
            // A number that is used twice names two groups.
            storage: Storage::of_voters(kind),
            ..Requirements::new(RULES)
        })
    }

    fn view(&self, _now: Time) -> View {
        let (leading, leader) = match &self.state {
            State::Leader(reign) => {
                let leader = Leader {
                    id: self.me.id.clone(),
                    incarnation: self.me.incarnation,
                    term: reign.group.count,
                };
                (Some(reign.group.count), Some(leader))
            }
            State::Member(membership) => (None, membership.leader().cloned()),
            State::Free { .. } | State::Candidate(_) => (None, None),
        };
        let detection = self.config.detector().detection;
        View {
            role: self.state.role(),
            term: leader.as_ref().map_or(self.seen, |l| l.term),
            leader,
            leading,
            valid_until: self.stepped.map_or(Time::ZERO, |at| at.after(detection)),
        }
    }
}

impl InvitationElection {
    /// The paper's S(i).s.
    pub fn status(&self) -> Status {
        if self.has_begun() {
            self.state.status()
        } else {
            Status::Down
        }
    }

    /// The paper's S(i).g: the group that it is in, in *Reorganization* and *Normal*.
    pub fn group(&self) -> Option<&ElectionId> {
        match &self.state {
            State::Leader(reign) => Some(&reign.group),
            State::Member(membership) => Some(&membership.group),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }

    /// The paper's S(i).c: who coordinates that group.
    pub fn coordinator(&self) -> Option<&AgentId> {
        match &self.state {
            State::Leader(_) => Some(&self.me.id),
            State::Member(membership) => Some(&membership.coordinator.id),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }

    /// The paper's S(i).d: what is worked on, in *Normal*. An observer need not know it.
    pub fn task(&self) -> Option<Task> {
        match &self.state {
            State::Leader(_) => Some(self.config.task()),
            State::Member(membership) => match &membership.stage {
                Stage::Following { task, .. } => *task,
                Stage::Joining => None,
            },
            State::Free { .. } | State::Candidate(_) => None,
        }
    }

    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: InvitationMessage,
        out: &mut Out,
    ) {
        use InvitationMessage as M;
        let is_voter = self.me.members.get(from).is_some_and(Member::is_voter);
        if !is_voter && !matches!(message, M::Decline(_)) {
            return self.ignore("an observer says no more than which count to exceed");
        }
        if message.term() > LAST_COUNT {
            return self.ignore("a count that nobody can have reached");
        }
        let says = matches!(
            message,
            M::AreYouCoordinator(_) | M::Ready(_) | M::Resign(_)
        );
        if says && message.group().id != *from {
            return self.ignore("in the name of another one's group");
        }
        match message {
            M::AreYouCoordinator(m) => {
                self.on_are_you_coordinator(now, from, incarnation, &m, out);
            }
            M::Place(m) => self.on_place(from, &m, out),
            M::Invitation(_) if self.me.kind == MemberKind::Observer => {
                self.ignore("an observer is only told");
            }
            M::Invitation(m) => self.on_invitation(now, from, &m, out),
            M::Accept(m) => self.on_accept(now, from, &m, out),
            M::Decline(m) => self.on_decline(now, from, &m, out),
            M::Ready(m) => self.on_ready(now, from, incarnation, &m, out),
            M::AreYouThere(m) => self.on_are_you_there(from, &m, out),
            M::There(m) => self.on_there(now, from, &m, out),
            M::Resign(m) => self.on_resign(now, from, &m, out),
        }
    }

    /// Timers are hints: each deadline is checked again.
    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Out) {
        match timer {
            Timer::Turn => self.on_turn(now, out),
            Timer::Check => self.on_check_due(now, out),
            Timer::Accepts => self.on_accepts_due(now, out),
            Timer::Watch => self.on_watch_due(now, out),
            Timer::Drain => self.on_drain_due(now, out),
            Timer::Rest => self.on_rest_over(now, out),
        }
    }

    fn hear(&mut self, count: Term) {
        if count <= LAST_COUNT {
            self.seen = self.seen.max(count);
        }
    }

    // ---- queries ----------------------------------------------------------------------------

    fn has_begun(&self) -> bool {
        self.stepped.is_some()
    }

    /// This agent's importance if it stands for election: eligible, and it does not let others go
    /// first.
    fn standing(&self, now: Time) -> Option<Score> {
        let eligible = self.me.eligible();
        eligible.filter(|_| !self.lets_others_go_first(now, None))
    }

    /// Whether it rests, and somebody else is there to lead; `gone` is known not to be.
    fn lets_others_go_first(&self, now: Time, gone: Option<&AgentId>) -> bool {
        let company = |m: &Member| m.id != self.me.id && Some(&m.id) != gone;
        self.cooldown.is_active(now) && self.me.members.standing().any(company)
    }

    /// Whether this agent stands, and is more important than that one.
    fn outranks(&self, now: Time, score: Score, id: &AgentId) -> bool {
        self.me.outranks(score, id) && !self.lets_others_go_first(now, None)
    }

    fn ignore(&self, why: &'static str) {
        self.me.ignore(self.state.role(), why);
    }
}

impl Membership {
    /// The leader, once it is at work.
    fn leader(&self) -> Option<&Leader> {
        match &self.stage {
            Stage::Following { leader, .. } => Some(leader),
            Stage::Joining => None,
        }
    }
}
