//! One step of a bully election, by the plain rules or by the rules of ASTRA: the code that every role needs.
//!
//! Decided here: which agents are eligible, which of two agents outranks the other, and the highest term seen. Not
//! here: the agent's reaction; this module calls no role.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    message::{BullyMessage, Elect, Ok},
    timer::BullyTimer,
    vote::Vote,
};
use crate::parts::{Cooldown, Due, Participant};
use crate::protocol::{
    AgentId, Effects, Event, Identity, Members, Role, Round, Score, Term, Time, To,
};

/// The data of an agent in every role, with the parameters `C` of its rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core<C> {
    pub me: Participant,
    pub config: Arc<C>,
    /// Number of rounds of questions in this incarnation so far.
    pub rounds: u64,
    /// The highest term in any message or snapshot that this agent received.
    pub highest_term: Term,
    /// Every leadership of a lower term has ended, as far as this agent knows.
    pub floor: Term,
    pub cooldown: Cooldown,
}

impl<C> Core<C> {
    pub(super) fn new(identity: Identity, config: &Arc<C>) -> Self {
        Self {
            me: Participant::new(identity),
            config: Arc::clone(config),
            rounds: 0,
            highest_term: Term::ZERO,
            floor: Term::ZERO,
            cooldown: Cooldown::default(),
        }
    }

    pub(super) fn note_term(&mut self, term: Term) {
        self.highest_term = self.highest_term.max(term);
    }

    pub(super) fn raise_floor(&mut self, term: Term) {
        self.floor = self.floor.max(term);
    }

    /// Notes that a leadership of this term was resigned, so that a second copy of the message calls no successor.
    pub(super) fn note_resigned(&mut self, term: Term) {
        self.raise_floor(term.next().unwrap_or(term));
    }

    /// Stores a snapshot of the members. Returns whether no later process has the agent's name any more.
    pub(super) fn note_members(&mut self, members: &Arc<Members>) -> bool {
        let was_disowned = self.me.is_disowned();
        // A starting agent knows no term. If it led below the last term, other agents would ignore its messages as
        // stale.
        self.note_term(members.term());
        self.me.members = Arc::clone(members);
        was_disowned && !self.me.is_disowned()
    }

    /// Returns whether the agent can be elected, no later process has its name, and a higher term exists.
    pub(super) fn may_lead(&self) -> bool {
        self.me.eligible().is_some() && self.highest_term.next().is_some() && !self.me.is_disowned()
    }
}

/// One step: its time, the role in which it is taken, and the list of its effects.
#[derive(Debug)]
pub(super) struct StepOf<'a, C> {
    pub now: Time,
    pub role: Role,
    pub core: &'a mut Core<C>,
    pub out: &'a mut Effects<BullyMessage, BullyTimer, Vote>,
}

impl<C> StepOf<'_, C> {
    /// Returns whether the agent would take the leadership now: it may lead, and does not cool down.
    pub(super) fn competes(&self) -> bool {
        self.core.may_lead() && !self.core.cooldown.is_active(self.now)
    }

    /// Returns whether the agent competes, and ranks above an agent with this score and name.
    pub(super) fn competes_above(&self, score: Score, id: &AgentId) -> bool {
        self.core.me.outranks(score, id) && self.competes()
    }

    /// Returns the agent's slot for a vacant leadership; `None` if it may not lead.
    pub(super) fn slot(&self, gone: Option<&AgentId>) -> Option<usize> {
        let cools_down = self.core.cooldown.is_active(self.now);
        let slot = self.core.me.slot(gone, cools_down);
        slot.filter(|_| self.core.may_lead())
    }

    /// Ends a cool-down. Returns whether the agent cooled down before.
    pub(super) fn end_cooldown(&mut self) -> bool {
        self.core.cooldown.end(BullyTimer::Cooldown, self.out)
    }

    /// Handles the timer of the cool-down. Returns whether the cool-down has ended.
    pub(super) fn is_cooldown_over(&mut self) -> bool {
        let due = self
            .core
            .cooldown
            .on_due(self.now, BullyTimer::Cooldown, self.out);
        if due.is_none() {
            self.ignore("it does not cool down");
        }
        due == Some(Due::Now)
    }

    pub(super) fn next_round(&mut self) -> Round {
        self.core.rounds = self.core.rounds.saturating_add(1);
        Round {
            incarnation: self.core.me.incarnation,
            counter: self.core.rounds,
        }
    }

    /// Sends `Elect` to these voters. Both bully machines call this when they hold an election: `ask_voters` in
    /// `bully/candidate.rs`, and ASTRA's `holding.rs`. So a change in this function changes both. The question to a
    /// leader alone is `ask_leader` in `bully/candidate.rs`, and the quorum mode has its own question.
    pub(super) fn ask(&mut self, voters: &BTreeSet<AgentId>, round: Round, score: Score) {
        // If all members are asked, the message goes to all, and needs no list of names.
        let is_everybody = voters.len().saturating_add(1) == self.core.me.members.len();
        let to = if is_everybody {
            To::All
        } else {
            To::Set(voters.iter().cloned().collect())
        };
        let elect = Elect::plain(round, score, self.core.highest_term);
        self.out.send_to(to, elect);
    }

    /// Answers the asker with `Ok`, so that it stops its election (ASTRA's `result("ok")`).
    pub(super) fn answer_ok(&mut self, asker: &AgentId, elect: &Elect) {
        let ok = Ok {
            round: elect.round,
            seen: self.core.highest_term,
            refusal: None,
        };
        self.out.send(asker, ok);
    }

    pub(super) fn notify_no_leader(&mut self, term: Term) {
        self.out.notify(Event::NoLeader { term });
    }

    pub(super) fn ignore(&self, reason: &'static str) {
        self.core.me.ignore(self.role, reason);
    }
}
