//! The reorganization: the bully election as it was published (Garcia-Molina 1982).
//!
//! An elected coordinator does more than announce itself. First it stops the work of all members (`Halt`), then it
//! makes itself known (`NewCoordinator`), then it hands out a task (`Ready`). Later it asks all members again and again
//! whether they still work under it (`AreYouNormal`). For the cost of these six messages per member the paper promises
//! agreement at every instant, in a system that satisfies its assumptions.
//!
//! ```text
//! a normal election, held by b         a failover: c coordinated a and b, and is dead
//! (c above is dead)
//!
//! a       b       c                    a       b       c
//! │       ├──────▶╳ are you there?     │       ├──────▶╳  are you there? (nothing heard for a while)
//! │       ╎         silent for T       │       ╎          silent for T: b holds an election
//! │◀──────┤ halt                       │       ├──────▶╳  are you there?, of its own election
//! ├──────▶│ halt ack                   │       ╎          silent for T: no agent above is there
//! │       ╎         c silent for T     │◀──────┤ halt  (a works no longer)
//! │◀──────┤ new coordinator            ├──────▶│ halt ack
//! ├──────▶│ new coordinator ack        │◀──────┤ new coordinator, and so on as on the left
//! │◀──────┤ ready: the task            ├──────▶│ ready ack: b leads
//! ├──────▶│ ready ack: b leads         │◀──────┤ are you normal?   each heartbeat
//! │◀──────┤ are you normal?            ├──────▶│ normal
//! ├──────▶│ normal                     │       │
//! ```
//!
//! # What you can rely on
//! - GM1, always: two voters in *Reorganization* or *Normal* have the same coordinator, and two voters in *Normal*
//!   have the same task. So at most one voter considers itself leader. (An observer learns of the coordinator last.)
//! - GM2, when no failure happens for long enough: one agent is *Normal* with itself as coordinator, and all agents
//!   that are up are *Normal* under it. That coordinator is the highest-ranked agent.
//!
//! Both assertions are the paper's, and so are their conditions. No message is lost or takes longer than d < T / 2 (d
//! is the [delay bound](bully_core::protocol::Timings::delay_bound), T the
//! [deadline](bully_core::protocol::Timings::deadline)). No agent pauses. The members and their scores are fixed, and a
//! record survives crashes. Agents may crash and recover at any time. If one of these conditions fails, both promises
//! are void until it holds again. A partition has a coordinator on each side. A pause may lead to two coordinators
//! until the paused agent notices its pause. After that the group agrees again by itself. An application that cannot
//! accept this needs the quorum election.
//!
//! A model checker checks GM1 in every order in which three agents can act while no message takes longer than d and
//! at most one agent crashes. GM1 holds with T > 2 d, and fails with T = 2 d. `tests/heavy` lists the bounds of the
//! search.
//!
//! A leader that hangs considers itself leader for the detection time after its last step ([`View::valid_until`]).
//! The first timer after that time shows the stall, and the leader gives the leadership up.
//!
//! # The rules
//! | rule | paper | meaning | decided in |
//! |---|---|---|---|
//! | `recover-on-start` | Recovery | raise the durable count, then hold an election; the first start is a recovery | `machine.rs` |
//! | `ask-those-above` | Election, part 1 | ask all agents above at once: `AreYouThere`; if an agent answers, wait | `candidate.rs` |
//! | `halt-all-others` | part 2 | no agent above answers: `Halt` all others; the agents that acknowledge are in *Up* | `candidate.rs` |
//! | `obey-one-election` | `Halt` | obey one election; refuse older ones, and agents that rank below | `halt.rs` |
//! | `make-coordinator-known` | part 2 | *Reorganization*: send `NewCoordinator` to Up; all acknowledge, or another election follows | `candidate.rs` |
//! | `join-own-halter` | `New-Coordinator` | obey `NewCoordinator` only from the agent that has halted this agent, by the same election | `halt.rs` |
//! | `hand-out-task` | `Ready` | send the task to Up; all acknowledge, or another election follows; then the coordinator is *Normal*, and leads | `candidate.rs` |
//! | `work-for-own-coordinator` | `Ready` | take the task only from the coordinator, by the same election; then the agent is *Normal*, and follows | `answer.rs`, `member.rs` |
//! | `check-all-normal` | Check | send `AreYouNormal` to all, at each heartbeat; one "no" begins an election, a silence has no effect | `leader.rs` |
//! | `miss-a-silent-coordinator` | Timeout | no message for the detection time: send `AreYouThere` to the coordinator; silent for T: an election | `member.rs` |
//! | `answer-truthfully` | `Are-You-There`, `Are-You-Normal` | always answer the first; answer "yes" to the second only as a member of the asker, by that election | `answer.rs` |
//!
//! # State × input
//! − is a traced no-op. A "nack" contains the highest count that the agent has seen, and its score. "elects" means that
//! the agent leaves its present state and holds an election (rule `ask-those-above`).
//!
//! | input | idle | asks | halts | reorganizes, readies | waits | joins, follows | leads |
//! |---|---|---|---|---|---|---|---|
//! | `AreYouThere` | `There` | `There` | `There` | `There` | `There` | `There` | `There` |
//! | `There` from above | − | will wait | − | − | − | from the coordinator: watches on, or elects | − |
//! | `Halt`, older | nack | nack | nack | nack | nack, or ack again | nack | nack |
//! | `Halt` from below | obeys | nack | nack | nack | nack, elects | nack, elects | nack, elects |
//! | `Halt` from above | obeys | obeys, when no agent above the caller may be up | obeys | obeys | obeys, unless it waits for an agent above the caller | obeys | obeys: `Outranked` |
//! | `NewCoordinator` | nack | nack | nack | nack | halted by it: joins | the same: ack again | nack |
//! | `Ready` | nack | nack | nack | nack | nack | the same: follows | nack |
//! | `Ack` | − | − | in Up | counts | − | − | − |
//! | `Nack` | − | − | pauses, elects | pauses, elects | − | − | − |
//! | `AreYouNormal` | no | no | no | no | no | from the coordinator: yes, or elects if the coordinator ranks below | no |
//! | `NotNormal` | − | − | − | − | − | − | elects: `Reorganized` |
//! | `Resign` | − | − | − | − | − | from the coordinator: elects, or waits for its slot | − |
//! | an end in `Members` | − | of an asked agent: waits less | the same | of a called agent: elects | of the agent for which it waits: elects; it cools down, and no other agent is up: elects | of the coordinator: elects; a suspicion: asks | − |
//! | `TimedOut` | − | `Answer`: halts, or waits | `Answer`: reorganizes | `Answer`: elects | `Takeover`: elects; it cools down, and `Cooldown`: elects | `Watch`: asks, then elects | `Check`, `Drain` |
//! | `Campaign` | elects | − | − | − | elects | elects | checks |
//! | `SetScore` | elects | elects | elects | elects | higher: elects | above the coordinator: elects | checks; `None`: drains |
//! | `StepDown`, `Drained` | − | − | − | − | − | − | drains; resigns |
//!
//! An agent that cannot be elected (an observer, a voter without a score) is idle instead. A voter that cools down
//! after a step-down waits instead, for 2.5 T and until its slot, which is eight slots after the others. Then its
//! cool-down ends. An idle voter answers, obeys and works like any other. An observer follows the coordinator, and
//! tells any other coordinator only which count to exceed. Before `Start` an agent is *Down*.
//!
//! # Amendments
//! | rule | difference from the paper, or from the notes about it | reason |
//! |---|---|---|
//! | all | every message contains its election, a durable count and a name | messages may then arrive in any order, and twice |
//! | all | calls are sent in parallel | sequential calls take a round trip each, and T per dead member |
//! | `ask-those-above` | an asked agent begins no election, as in the paper; with [`WhenAsked::Elect`] it does, as in the textbooks | its own timers are enough |
//! | `ask-those-above` | the agent waits for the answers of all, though one answer is enough to make it defer | see the end of `obey-one-election` |
//! | `obey-one-election` | the agent refuses a halt from below | by the original rules an agent obeys any caller: an agent that wrongly considers all agents above dead would coordinate all |
//! | `obey-one-election` | the agent refuses an older election, and answers with the count to exceed | the original rules need messages in order |
//! | `obey-one-election` | an agent that obeys another agent refuses all agents below that; an agent that may still hear from an agent above does not answer them yet | two elections may overlap when an agent recovers: if the lower caller then dies, its last messages would break GM1 |
//! | `make-coordinator-known`, `hand-out-task` | refusals are sent | by the original rules an ignored call succeeds, and a candidate whose members were halted meanwhile considers itself the winner |
//! | `check-all-normal` | "normal under another agent" is a "no" | by the original rules two coordinators never notice each other |
//! | `miss-a-silent-coordinator` | a coordinator that does not know its election counts as silent | after a quick restart it would answer "yes", and its members would work on without a coordinator |
//! | – | a confirmed end shortens a wait for T to 3 d (while asking and halting), and ends the other waits | it proves more than a silence; 3 d, because a next incarnation may be up, unknown to all agents |
//! | – | an agent that was stalled for longer than the detection time gives up a leadership, and starts again | no system can promise that "a node never pauses", but an agent can notice a pause |
//! | – | scores may change: an agent that ranks above its coordinator elects | in the paper ranks are fixed numbers |
//! | – | `Resign`, and a cool-down after it | in the paper no agent resigns |
//! | – | an agent that cools down waits, but not for ever, and it does not defer to a silent agent | perhaps all remaining agents cool down, and no election would begin |
//!
//! The notes known as *Bully* that are common beside the 1982 protocol have their own faults. They end at
//! *Reorganization* (no `Ready`, no agent is ever *Normal*). They have no Check, Timeout or Recovery. They exclude
//! the highest member (i < j < n). The paper has none of these three faults, and this module follows the paper.
//!
//! # Cost
//! `a` is the number of members below that are up, `x` the number of dead members above, and `y` the number of dead
//! members below: x + y + 6a messages, and T + 6 d (T more if y > 0; with confirmed ends, 3 d instead of T). If all
//! agents start at once: O(n²). Every recovery is an election for all: the coordinator finds a member that is not
//! normal and reorganizes the group, under a new term. Each heartbeat costs a coordinator 2 (n - 1) messages.
//!
//! # Sources
//! H. Garcia-Molina, *Elections in a Distributed Computing System*, IEEE Transactions on Computers
//! C-31(1), 1982: assumptions, the assertions GM1 and GM2, the algorithm for synchronous systems.
//!
//! Not here: Stoller's form for asynchronous systems (his algorithm 3b), which Erlang's `gen_leader` implements. It
//! replaces T by a failure detector. An agent waits until the detector reports *all* agents above as down. It halts
//! the agents below one by one, except those reported as down, and announces itself to those that acknowledged. A
//! halted agent starts again when its halter is reported as down. A leader continues to ask the dead agents whether
//! they are normal, and adopts the others. The algorithm is as safe as its detector, and a partition has a leader on
//! each side. In this machine, confirmed ends have the role of that detector.

mod answer;
mod candidate;
mod config;
mod core;
mod halt;
mod leader;
mod machine;
mod member;
mod message;
mod state;
mod timer;
mod transition;
mod waiting;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::{ReorganizationConfig, WhenAsked};
pub use machine::Reorganization;

#[cfg(not(any(test, feature = "testkit")))]
use {message::ReorganizationMessage, timer::ReorganizationTimer};
#[cfg(any(test, feature = "testkit"))]
pub use {
    message::{
        Ack, AreYouNormal, AreYouThere, Call, Halt, Nack, NewCoordinator, Normal, NotNormal, Ready,
        ReorganizationMessage, Resign, There,
    },
    timer::ReorganizationTimer,
};

use state::{Next, State};

use crate::numbered::LAST_COUNT;
#[cfg(any(test, feature = "testkit"))]
pub use crate::numbered::PaperStatus;
pub use crate::numbered::Task;
pub use crate::numbered::{CountRecord, ElectionId};

use bully_core::protocol::{
    AgentId, ClockKind, EffectsOf, Election, Identity, Incarnation, InputOf, Leader, Leaders,
    MemberKind, MembershipError, Prospects, Requirements, Rules, Score, Storage, Time, Timings,
    View,
};

type Out = EffectsOf<Reorganization>;

const RULES: Rules = Rules::new("reorganization");

impl Election for Reorganization {
    type Message = ReorganizationMessage;
    type Timer = ReorganizationTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = CountRecord;
    type Config = Arc<ReorganizationConfig>;

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
            // GM1 does not hold during a partition, because it assumes a reliable network (Garcia-Molina 1982): each
            // side has its own coordinator.
            leaders: Leaders::PerSide,
            storage: Storage::of_voters(kind),
            // Any clock fits: no clock can save the promise if an agent pauses.
            clock: ClockKind::Any,
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
            State::Leader(leading) => Some(leading.election.count),
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => None,
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
impl Reorganization {
    /// Returns the status of the agent, the paper's S(i).s.
    pub fn status(&self) -> PaperStatus {
        self.stepped
            .map_or(PaperStatus::Down, |_| self.state.status())
    }

    /// Returns the coordinator, the paper's S(i).c; `None` unless the status is *Reorganization* or *Normal*.
    pub fn coordinator(&self) -> Option<&AgentId> {
        match (self.state.status(), &self.state) {
            (PaperStatus::Down | PaperStatus::Election, _) => None,
            (_, State::Member(membership)) => Some(&membership.leader.id),
            (_, _) => Some(&self.core.me.id),
        }
    }
}

impl Reorganization {
    /// Returns the task, the paper's S(i).d; `None` unless the status is *Normal*. An observer need not know the task.
    pub fn task(&self) -> Option<Task> {
        match &self.state {
            State::Leader(_) => Some(self.core.config.task),
            State::Member(membership) => membership.task(),
            State::Idle | State::Candidate(_) | State::Waiting(_) => None,
        }
    }
}
