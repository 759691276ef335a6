//! The bully election: the highest-ranked agent that can be reached leads.
//!
//! One machine joins two sources: the repaired rules of the ASTRA agent, and a bully election with heartbeats, terms,
//! crash and recovery. Where the two sources disagree, the machine follows the second source. [`astra`](super::astra)
//! contains the ASTRA rules alone.
//!
//! **What you can rely on** (the *available* mode). After the last change, and once messages take no longer than the
//! delay bound, each connected part of the group has one leader: the highest-ranked agent of that part. It is not
//! guaranteed that only one agent leads at every instant. Every side of a partition elects a leader. A start, a
//! crash, a recovery, a hand-over or a change of score may cause two leaders for at most two message delays. The
//! [`Term`](crate::protocol::Term) orders the leaderships that one observer sees; it is not a fence.
//!
//! **A leader that hangs** considers itself leader for the detection time L after its last step
//! ([`View::valid_until`]). L is also the time for which the other agents wait for a silent leader. The next step of a
//! leader that hung begins by giving the leadership up.
//!
//! # One election, and one failover
//! ```text
//!      a (score 1)        b (score 2)        c (score 3)
//!      │                  │                  │          all start; c is the first in rank, and asks
//!      │◀─────────────────┼─────────── Elect ┤
//!      │                  │◀────────── Elect ┤
//!      ├─ Yield ──────────┼─────────────────▶│          both rank below
//!      │                  ├─ Yield ─────────▶│          early decision: no agent is left to wait for
//!      │◀─────────────────┼───────── Elected ┤          c leads
//!      │                  │◀──────── Elected ┤
//!      │◀─────────────────┼─────── Heartbeat ┤          ... again and again
//!      │                  │◀────── Heartbeat ┤
//!      │                  │                  ✗          c crashes; its end is reported, or it is silent for L
//!      │◀──────── Elected ┤                             the fast path: b has the first slot, and announces
//!      │◀────── Heartbeat ┤                             itself without a question; a waits for its slot
//! ```
//!
//! # The rules by name
//! | rule | behaviour of an agent | decided in |
//! |---|---|---|
//! | `ask-the-leader-first` | an agent that starts, recovers or campaigns asks the leader that it knows; only its silence widens the question to every voter | `machine.rs`, `candidate.rs` |
//! | `always-answer` | a voter answers every `Elect`: `Ok` if it ranks above the asker or follows a live leader, otherwise `Yield` | `follower.rs`, `candidate.rs`, `waiting.rs`, `leader.rs` |
//! | `defer-on-ok` | an `Ok` counts for the round that it answers, and never ends a leadership | `candidate.rs` |
//! | `decide-early` | a candidate wins when every voter that is not certainly down has yielded, or at the deadline T | `candidate.rs` |
//! | `ask-again` | if the awaited announcement does not come within 2.5 T, the agent acts in its slot | `waiting.rs` |
//! | `stale-is-ignored` | an announcement with an older (term, rank) than the leader's changes nothing; if the term of an announcement has ended, its sender learns which term it has to exceed | `rules.rs` |
//! | `yield-on-outranked` | an agent asks a leader that ranks below it to yield, at once or in its turn (`ask-in-turn`); the leader's policy decides when the leader stops | `rules.rs`, `leader.rs` |
//! | `ask-in-turn` | an agent that ranks above a leader, but below k others that are up (its former leader does not count), waits min(k, 8) steps before it asks this leader, and follows it until then. Such a leader is one whose score fell, a named successor, or the leader of another side of a partition. An agent that has a slot for this leader or for a vacancy asks in it at the latest. It answers an asker that ranks above it with `Yield`, and waits. If the leader has left to another agent meanwhile, an asker acts in its slot | `rules.rs`, `follower.rs`, `candidate.rs` |
//! | `renew-above` | a leader that hears of a higher term continues to lead in a term above that one, so that its followers accept it | `leader.rs` |
//! | `fast-path` | when the leader's end is known, the first in rank that followed it announces itself without asking | `follower.rs`, `change.rs` |
//! | `rank-staggered-slots` | an agent that ranks below k others waits min(k, 8) steps, and 8 steps more while it cools down | `slot`, `follower.rs` |
//! | `ask-with-the-new-score` | a changed score begins a new round, or a challenge of the leader | `machine.rs`, `candidate.rs` |
//! | `patient-leader` | with [`Preemption::After`] an agent that asked waits until it was up for long enough; then the leader hands over to it | `challengers.rs`, `leader.rs` |
//! | `hand-over` | `Draining`, `Drained`, `Resign`; the successor announces itself at once, and the former leader cools down | `leader.rs`, `follower.rs` |
//! | `later-process-leads` | an agent neither leads nor is a candidate while most of the other agents that are up know a later process of its name (a second process was started with that name). It takes part again when they hear this process | `disowned.rs`, `protocol/disowned.rs` |
//! | `grace-period` | an agent that was stalled itself does not trust its suspicion: it waits a second time, but only once | `follower.rs`, `candidate.rs`, `waiting.rs` |
//!
//! # Role × input
//! The table shows the default behaviour, where leaders leave the leadership to a better agent at once. "Above" and
//! "below" compare the sender's rank with that of this agent. − is a traced no-op.
//!
//! | input | follower with a leader | follower, leadership vacant | candidate | waiting | leader |
//! |---|---|---|---|---|---|
//! | `Elect` from below | `Ok` | `Ok`, act in its slot | `Ok`, counts as answered | `Ok`; from the awaited agent, or when the wait has ended by the clock: as if vacant | `Elected` to it |
//! | `Elect` from above | `Ok`; before its turn to ask: `Yield`, wait | `Yield`, wait | `Yield`, wait | `Yield` | policy: stop leading, `Yield`, wait; or `Elected` |
//! | `Elect` of the leader | no leader; as if vacant | | | | |
//! | `Ok` from any rank, this round | − | − | wait | − | − |
//! | `Behind` | − | − | − | − | leads above it |
//! | `Yield`, this round | − | − | counts; after the last one it leads; from the asked leader: act in its slot | − | − |
//! | … that releases | − | − | lead | lead | − |
//! | `Elected`, `Heartbeat` from above | follow | follow | follow | follow | older: `Elected` to it; else step down |
//! | … from below | newer: ask it in turn | ask it in turn | answers this round: follow; not asked: ask it at once; else its own round goes on | ask it in turn, or at once if its round is open | newer: renew above it; else `Elected` to it |
//! | … stale | − | told which term to exceed | told, or − if it follows | told | `Elected` to it |
//! | `Resign` of the leader | lead if named, else await its slot | lead if named | lead if named, else await its slot if it follows | lead if named | − |
//! | leader's end in `Members` | the first slot announces itself | the slot moves up | the asked leader is gone: act in its slot | the awaited agent is gone: act in its slot | − |
//! | `TimedOut` | `Detect`: as at the leader's end; `Cooldown`: ask a leader below; `Campaign`: its turn to ask the leader | `Campaign`: announce or ask; `Cooldown`: act in its slot | `Widen`: ask all; `Deadline`: lead | `Victory`: act in its slot | `Heartbeat`, `Drain`, `Preempt` |
//! | `Campaign` | ask the leader | ask | − | − | `Elected` to all |
//! | `SetScore` | above the leader: ask it, or await its turn | act in its slot | new round; `None`: follow on, or no slot | as candidate | `Heartbeat` to all; `None`: drain |
//! | `StepDown`, `Drained` | − | − | − | − | drain; resign |
//!
//! A receiver handles a `Heartbeat` like an `Elected` that answers no question. Only a full mailbox makes a difference:
//! it drops heartbeats.
//!
//! An agent that is not eligible (an observer, a voter without a score) follows any voter that announces itself, and
//! has no slot. Such a voter answers `Yield`, or `Ok` while it follows. A voter that cools down after a step-down
//! answers in the same way, and waits for the agent to which it yields. But a voter that cools down has the last slot,
//! and competes from this slot on, because all agents that are left may cool down. Before `Start` every input is
//! ignored. The driver drops a message of an agent that is not a member, or of an incarnation that has ended.
//!
//! A repeated `Elect` is harmless in every role, because no role counts questions. The first `Elect` may change the
//! role; the second `Elect` is answered in the new role and changes nothing more. A second answer to the same round
//! changes nothing at the asker. A repeated `Elect` may arrive so late that its receiver leads by then. Then the
//! repeated `Elect` is a new question. In the worst case the receiver stops leading for the asker, and announces itself
//! again if no announcement comes. A repeated `Elected` begins the timer of the leader's silence anew, and changes
//! nothing else at an agent that follows its sender.
//!
//! # Two processes of one name
//! The later process takes part. A peer that knows the later process refuses the earlier process, and the earlier
//! process follows the rule `later-process-leads`. A peer that the later process never reached still accepts the
//! earlier process. Both processes report that the name is used twice. When the later process has ended, the peers hear
//! the earlier process again at the next attempt to link, within about a second. Voters without disks act in the
//! opposite way: the *later* process abstains ([`quorum`](super::quorum), rule `recover-by-the-others`), because the
//! earlier process may have voted. With disks, a vote belongs to one incarnation and one store.
//!
//! Not here: votes, leases and fencing tokens. Two leaders in a partition do not contradict what this page promises.

mod candidate;
mod challengers;
mod change;
mod config;
mod disowned;
mod follower;
mod leader;
mod machine;
mod rules;
mod waiting;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::BullyConfig;

use machine::State;

#[cfg(not(any(test, feature = "testkit")))]
use crate::elections::{message::BullyMessage, timer::BullyTimer};
#[cfg(any(test, feature = "testkit"))]
pub use crate::elections::{
    message::{Behind, BullyMessage, Heartbeat, Resign, Yield},
    timer::BullyTimer,
};
pub use crate::elections::{
    message::{Elect, Elected, Ok},
    policy::Preemption,
};
use crate::elections::{step, vote::Vote};
use crate::protocol::{
    AgentId, EffectsOf, Election, Identity, InputOf, Leader, LeaderEnd, Leaders, MemberKind,
    MembershipError, NotifyOrder, Prospects, Requirements, Role, Rules, Time, Timings, View,
};

type Step<'a> = step::StepOf<'a, BullyConfig>;

/// Name of the bully rules in messages between hosts. The ASTRA rules have the same name.
const RULES: Rules = Rules::new("available");

/// The part of one agent in a bully election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bully {
    core: step::Core<BullyConfig>,
    /// `None` before the start.
    state: Option<State>,
    /// Time of the last step: a leader considers itself leader for the detection time L after it.
    stepped: Time,
}

impl Election for Bully {
    type Message = BullyMessage;
    type Timer = BullyTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = Vote;
    type Config = Arc<BullyConfig>;

    fn new(identity: Identity, config: &Self::Config, _durable: Option<Vote>) -> Self {
        Self {
            core: step::Core::new(identity, config),
            state: None,
            stepped: Time::ZERO,
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        let mut step = Step {
            now,
            role: role(self.state.as_ref()),
            core: &mut self.core,
            out,
        };
        machine::handle(&mut self.state, &input, &mut step);
        self.stepped = now;
    }

    fn requirements(
        config: &Self::Config,
        _: &AgentId,
        _: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        config.check().map_err(MembershipError::config)?;
        Ok(Requirements {
            // A leader leads as long as it hears of no leader above it, and the two sides of a partition do not hear
            // each other.
            leaders: Leaders::PerSide,
            // The fast path needs this order: the highest-ranked survivor announces itself before the other agents ask.
            notify: NotifyOrder::HighestRankFirst,
            ..Requirements::new(RULES)
        })
    }

    fn hold_back(&mut self, span: Duration) {
        self.core.cooldown.hold_back(span);
    }

    fn prospects(&self) -> Prospects {
        let (waits_until, takeover_at) = match &self.state {
            Some(State::Vacant(vacant)) => (vacant.acts_at(), None),
            Some(State::Following(following)) => (None, following.asks_at),
            Some(State::Leading(tenure)) => (None, tenure.challengers.next()),
            Some(State::Candidate(_) | State::Waiting(_)) | None => (None, None),
        };
        Prospects {
            cooldown_until: self.core.cooldown.until(),
            waits_until,
            takeover_at,
            followed_until: None,
            preemption: Some(self.core.config.preemption),
            recovers: None,
            next_epoch: None,
            slow_answers: None,
            slow_writes: None,
            clock_gap: None,
            probes: false,
        }
    }

    fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        self.core.me.last_end()
    }

    fn timings(config: &Self::Config) -> Option<&Timings> {
        Some(&config.timings)
    }

    fn view(&self, _now: Time) -> View {
        let view = View::new(role(self.state.as_ref()), self.core.highest_term);
        if let Some(State::Leading(tenure)) = &self.state {
            let detector = self.core.config.timings.detector();
            let valid_until =
                detector.map_or(Time::MAX, |detector| self.stepped.after(detector.detection));
            let own = self.core.me.as_leader(tenure.term);
            return view.leads(own, valid_until);
        }
        match self.state.as_ref().and_then(State::followed) {
            Some(followed) => view.follows(followed.leader.clone()),
            None => view,
        }
    }
}

fn role(state: Option<&State>) -> Role {
    state.map_or(Role::Follower, State::role)
}
