//! The data and decisions that every role of a reorganization needs. This file does not call the code of a role.
//!
//! Decided here: which agents rank above this agent, whether it can be elected now, and how it answers a call. Of
//! several scores of a member, the score reported last counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{
    AgentId, CountRecord, ElectionId, Next, Out, ReorganizationConfig, Score,
    message::{Ack, Call, Nack},
    timer::ReorganizationTimer,
};
use crate::numbered::Numbers;
use bully_core::parts::{Cooldown, Participant, slot};
use bully_core::protocol::{After, Identity, LostReason, Member, Presence, Rank, Term, Time};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub me: Participant,
    pub config: Arc<ReorganizationConfig>,
    pub numbers: Numbers,
    /// Scores that members reported since the last snapshot.
    pub heard: BTreeMap<AgentId, Option<Score>>,
    /// After a step-down: the time until which this agent lets other agents lead first.
    pub cooldown: Cooldown,
}

/// An agent that has sent a halt to this agent, with its election.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Halter {
    pub by: Rank,
    pub election: ElectionId,
}

/// The reason for a wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum WaitCause {
    /// An agent above this agent is up, and should lead.
    Superior(Rank),
    /// Another agent has halted this agent.
    Halted(Halter),
    /// This agent's own election has failed, or its slot has not come.
    Pause,
    /// This agent cools down after a step-down: all other agents may hold an election before this agent.
    Cooldown,
}

/// The consequence "hold an election", in every state of this agent.
pub(super) const ELECT: Next = Next::Elect(LostReason::Reorganized);

impl Core {
    pub(super) fn new(
        identity: Identity,
        config: Arc<ReorganizationConfig>,
        durable: Option<CountRecord>,
    ) -> Self {
        Self {
            me: Participant::new(identity),
            config,
            numbers: Numbers::new(durable),
            heard: BTreeMap::new(),
            cooldown: Cooldown::default(),
        }
    }

    // ---- this agent -------------------------------------------------------------------------

    /// Returns the score with which this agent can be elected now; `None` also if it lets other agents lead first.
    pub(super) fn candidate_score(&self, now: Time) -> Option<Score> {
        let eligible = self.me.eligible();
        eligible.filter(|_| !self.defers(now, None))
    }

    /// Returns whether this agent lets other agents lead first: it cools down, and another agent can lead. The agent
    /// `gone` is not counted, because it is known not to be up.
    pub(super) fn defers(&self, now: Time, gone: Option<&AgentId>) -> bool {
        let is_rival = |m: &Member| m.id != self.me.id && Some(&m.id) != gone;
        self.cooldown.is_active(now) && self.me.members.eligible().any(is_rival)
    }

    /// Returns whether this agent can be elected now and ranks above the agent `id`.
    pub(super) fn outranks(&self, now: Time, score: Score, id: &AgentId) -> bool {
        self.me.outranks(score, id) && !self.defers(now, None)
    }

    /// Waits for this agent's slot in order of rank. Then it holds an election, unless another agent halts it before.
    pub(super) fn wait_for_slot(&self, now: Time) -> Next {
        let Some(ahead) = self.me.ahead(None, slot::LAST) else {
            return Next::Ignore("it cannot be elected");
        };
        let defers = self.defers(now, None);
        let t = &self.config.timings;
        let delay = slot::delay(t.step(), slot::behind(ahead, defers));
        let (cause, wait) = if defers {
            // All other agents act first, so the wait also includes the time of their election.
            (
                WaitCause::Cooldown,
                self.config.takeover().saturating_add(delay),
            )
        } else {
            (WaitCause::Pause, delay)
        };
        Next::Defer(cause, After::jittered(wait, t.jitter()))
    }

    pub(super) fn end_cooldown(&mut self, out: &mut Out) -> bool {
        self.cooldown.end(ReorganizationTimer::Cooldown, out)
    }

    pub(super) fn remember(&mut self, count: Term, out: &mut Out) {
        self.numbers.remember(count, out);
    }

    // ---- the other members ------------------------------------------------------------------

    pub(super) fn learn(&mut self, id: &AgentId, score: Option<Score>) {
        if self.score_of(id) != score {
            self.heard.insert(id.clone(), score);
        }
    }

    /// Returns the member's score as it was last reported.
    pub(super) fn score_of(&self, id: &AgentId) -> Option<Score> {
        match self.heard.get(id) {
            Some(score) => *score,
            None => self.me.members.get(id).and_then(|m| m.score),
        }
    }

    /// Returns whether a member can be elected, and ranks above an agent with this score and name.
    pub(super) fn ranks_above(&self, id: &AgentId, score: Score, other: &AgentId) -> bool {
        self.score_of(id)
            .is_some_and(|theirs| (theirs, id) > (score, other))
    }

    /// Returns the other voters that rank above this agent or, if `above` is `false`, all remaining other voters.
    /// `score` is this agent's score in the comparison.
    pub(super) fn others(&self, score: Score, above: bool) -> BTreeSet<AgentId> {
        let voters = self.me.members.voters().filter(|m| m.id != self.me.id);
        voters
            .filter(|m| self.ranks_above(&m.id, score, &self.me.id) == above)
            .map(|m| m.id.clone())
            .collect()
    }

    pub(super) fn observers(&self) -> Arc<[AgentId]> {
        let members = self.me.members.iter();
        let observers = members.filter(|m| !m.is_voter() && m.id != self.me.id);
        observers.map(|m| m.id.clone()).collect()
    }

    /// Returns whether the agent `id` is a member and is not known to be down.
    pub(super) fn may_be_there(&self, id: &AgentId) -> bool {
        let member = self.me.members.get(id);
        member.is_some_and(|m| m.presence != Presence::Down)
    }

    /// Returns the time in which the members `pending` may answer. The time is shorter if all of them are known to be
    /// down; they are still called, because a new incarnation may already be up.
    pub(super) fn answer_time(&self, pending: &BTreeSet<AgentId>) -> Duration {
        if pending.iter().any(|id| self.may_be_there(id)) {
            self.config.timings.deadline()
        } else {
            self.config.grace()
        }
    }

    // ---- answers to calls -------------------------------------------------------------------

    pub(super) fn ack(&self, to: &AgentId, call: Call, election: &ElectionId, out: &mut Out) {
        let election = election.clone();
        // A candidate waits only for voters, so an observer sends no answer.
        if self.me.is_voter() {
            out.send(to, Ack { call, election });
        }
    }

    /// Refuses a call, with the reason. The original rules have no refusals: a call that is ignored succeeds, and a
    /// candidate whose members another agent has halted considers itself the winner.
    pub(super) fn nack(
        &self,
        now: Time,
        to: &AgentId,
        call: Call,
        election: &ElectionId,
        out: &mut Out,
    ) {
        if self.me.is_voter() {
            let nack = Nack {
                call,
                election: election.clone(),
                seen: self.numbers.seen,
                score: self.candidate_score(now),
            };
            out.send(to, nack);
        }
    }
}
