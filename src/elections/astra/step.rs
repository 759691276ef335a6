//! What every role needs: who the agent is, what it has seen, and where the effects of a step go.
//!
//! Decided here: who is eligible, and who outranks whom. Not here: what an agent does about it; no
//! role is called from here.

use std::{collections::BTreeSet, sync::Arc};

use super::{AstraConfig, Elect, Elected, Ok, Out, Timer};
use crate::elections::{
    message::Announcement,
    shared::{Cooldown, Participant},
};
use crate::protocol::{
    AgentId, Event, Identity, Leader, Members, Role, Round, Score, Term, Time, To,
};

/// What outlives every role.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub me: Participant,
    pub config: Arc<AstraConfig>,
    /// How many elections were held in this incarnation.
    pub rounds: u64,
    /// The highest term that any message named.
    pub highest_term: Term,
    /// Every leadership of a lower term that this agent heard the resignation of is over.
    pub floor: Term,
    pub cooldown: Cooldown,
}

impl Core {
    pub(super) fn new(identity: Identity, config: &Arc<AstraConfig>) -> Self {
        Self {
            me: Participant::new(identity),
            config: Arc::clone(config),
            rounds: 0,
            highest_term: Term::ZERO,
            floor: Term::ZERO,
            cooldown: Cooldown::default(),
        }
    }

    pub(super) fn see(&mut self, term: Term) {
        self.highest_term = self.highest_term.max(term);
    }

    pub(super) fn note_members(&mut self, members: Arc<Members>) {
        self.see(members.term());
        self.me.members = members;
    }

    /// Whether the agent can be elected, and there is a term left to lead in.
    fn is_eligible(&self) -> bool {
        self.me.eligible().is_some() && self.highest_term.next().is_some()
    }

    /// The leadership of that term was resigned: a second copy of the message calls no successor.
    pub(super) fn note_resigned(&mut self, term: Term) {
        self.floor = self.floor.max(term.next().unwrap_or(term));
    }
}

/// One step: its time, the role in which it began, and where its effects go.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub now: Time,
    pub role: Role,
    pub core: &'a mut Core,
    pub out: &'a mut Out,
}

impl Step<'_> {
    /// Whether the agent would lead if it were asked: it is eligible, and does not cool down.
    pub(super) fn competes(&self) -> bool {
        self.core.is_eligible() && !self.core.cooldown.is_active(self.now)
    }

    /// Whether the agent competes, and ranks above an agent of that score and name.
    pub(super) fn outranks(&self, score: Score, id: &AgentId) -> bool {
        self.core.me.outranks(score, id) && self.competes()
    }

    /// The agent's slot for a vacant leadership; `None` if it is not eligible.
    pub(super) fn slot(&self, gone: Option<&AgentId>) -> Option<usize> {
        let cools_down = self.core.cooldown.is_active(self.now);
        let slot = self.core.me.slot(gone, cools_down);
        slot.filter(|_| self.core.is_eligible())
    }

    /// Says whether there was a cool-down.
    pub(super) fn end_cooldown(&mut self) -> bool {
        self.core.cooldown.end(Timer::Rest, self.out)
    }

    pub(super) fn next_round(&mut self) -> Round {
        self.core.rounds = self.core.rounds.saturating_add(1);
        Round {
            incarnation: self.core.me.incarnation,
            counter: self.core.rounds,
        }
    }

    pub(super) fn ask(&mut self, voters: &BTreeSet<AgentId>, round: Round, score: Score) {
        let all = voters.len().saturating_add(1) == self.core.me.members.len();
        let to = if all {
            To::All
        } else {
            To::Set(voters.iter().cloned().collect())
        };
        self.out.send_to(
            to,
            Elect {
                round,
                score,
                seen: self.core.highest_term,
                takeover: None,
            },
        );
    }

    /// `result("ok")`: the asker shall stop.
    pub(super) fn answer_ok(&mut self, asker: &AgentId, elect: &Elect) {
        self.out.send(
            asker,
            Ok {
                round: elect.round,
                seen: self.core.highest_term,
                refusal: None,
            },
        );
    }

    pub(super) fn no_leader(&mut self, former: &Leader) {
        self.out.notify(Event::NoLeader { term: former.term });
    }

    pub(super) fn ignore(&self, reason: &'static str) -> Next {
        self.core.me.ignore(self.role, reason);
        Next::Stay
    }
}

/// `elected(name)`, with the score by which the others judge it.
pub(super) const fn elected(term: Term, score: Score, answer: Option<Round>) -> Elected {
    Elected {
        term,
        score,
        answer,
        sent_at: None,
    }
}

/// What follows from an input.
#[derive(Debug)]
pub(super) enum Next {
    /// The role stays.
    Stay,
    /// The machine enters another one, or the same anew.
    Become(Change),
}

/// What an agent does next, in another role.
#[derive(Debug)]
pub(super) enum Change {
    /// No leader is known: it holds an election in its slot, at once if that is the first. `gone` is a
    /// member that looks up in the snapshot and is known not to be.
    Vacant { gone: Option<AgentId> },
    /// No leader is known: it holds an election in this slot, or when it is asked.
    Idle { slot: Option<usize> },
    /// It holds an election. Those of `failed_election` need not be asked.
    HoldElection { failed_election: BTreeSet<AgentId> },
    /// It lets an agent go first that ranks above it.
    Defer {
        to: AgentId,
        failed_election: BTreeSet<AgentId>,
    },
    /// It follows a leader of that score.
    Follow(Leader, Score),
    /// It announces itself.
    Lead,
}

impl Next {
    /// An election by an agent that knows of no other one that ranks below it.
    pub(super) const fn hold_election() -> Self {
        let failed_election = BTreeSet::new();
        Self::Become(Change::HoldElection { failed_election })
    }

    /// An election by an agent that was just asked by one that ranks below it.
    pub(super) fn hold_election_above(asker: &AgentId) -> Self {
        let failed_election = BTreeSet::from([asker.clone()]);
        Self::Become(Change::HoldElection { failed_election })
    }

    pub(super) fn defer(to: &AgentId, failed_election: BTreeSet<AgentId>) -> Self {
        let to = to.clone();
        Self::Become(Change::Defer {
            to,
            failed_election,
        })
    }

    pub(super) fn follow(said: &Announcement<'_>) -> Self {
        Self::Become(Change::Follow(said.leader(), said.score))
    }
}
