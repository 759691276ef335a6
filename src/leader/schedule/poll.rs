//! One question of a leader to the other agents, and the answers so far.
//!
//! Decided here: when enough agents have answered. Not here: the next step (`machine/`).

use std::{collections::BTreeSet, time::Duration};

use crate::protocol::{AgentId, Term, Time};

use super::{
    lists::VoterLists,
    message::{Known, Mark, MarkOutcome, MarkRefusal, Question},
};

/// The agents whose acknowledgement counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// The quorum mode: the present voters, and the voters of former epochs. Every reading has a voter in common with
    /// every write, so a mark that was written is read.
    Voters(VoterLists),
    /// The available mode: the agents that can be reached now, the leader included.
    Reachable(BTreeSet<AgentId>),
}

impl Audience {
    /// Returns the agents that are asked: former voters only report, and keep nothing new.
    fn asked(&self, is_write: bool) -> BTreeSet<AgentId> {
        match self {
            Self::Voters(lists) if is_write => lists.voters().cloned().collect(),
            Self::Voters(lists) => lists.asked(),
            Self::Reachable(members) => members.clone(),
        }
    }

    /// Notes the lists of voters in an answer: this agent may not know all voters whose answers it needs.
    pub(super) fn note_lists(&mut self, outcome: &MarkOutcome) {
        if let (Self::Voters(lists), Ok(known)) = (self, outcome) {
            lists.fill(&known.lists);
        }
    }

    /// Returns the agents whose answers are awaited in the available mode: each agent that can be reached.
    fn reachable(&self) -> impl Iterator<Item = &AgentId> {
        let members = match self {
            Self::Voters(_) => None,
            Self::Reachable(members) => Some(members),
        };
        members.into_iter().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The present voters know all marks that were written.
    Present,
    /// All marks that were written are known, but the present voters may not have all of them.
    Former,
    /// Too few of the former voters are left: some marks may be missing.
    Partial,
}

/// A question that is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    pub(super) question: Question,
    began: Time,
    /// Time at which the question was last sent.
    said: Time,
    /// The leader's own agent, as long as it is not asked. It is asked to keep a mark only after enough other agents
    /// have kept the mark. Otherwise, if the leader's clock is wrong, its own agent alone would keep the mark, and a
    /// successor that reads this mark would run nothing until the mark's time.
    own: Option<AgentId>,
    /// Agents that are asked like all other agents, but whose answers the leader does not wait for: they did not answer
    /// an earlier question.
    silent: BTreeSet<AgentId>,
    held: BTreeSet<AgentId>,
    /// Agents that refused the due time because it is too far ahead of their clocks.
    early: BTreeSet<AgentId>,
    best: Option<Mark>,
    /// The latest term of a leader that wrote the mark of this schedule, as far as the answers show.
    written: Option<Term>,
}

/// Time after which a question is sent again to agents that have not acknowledged it.
pub(super) const AGAIN: Duration = Duration::from_millis(200);

/// Longest wait for the answer of an agent in the available mode, which may have no part in schedules.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// Longest wait for the voters of former epochs, which may be gone for good. After this wait `machine/` skips the ticks
/// whose marks may be lost. Chosen: a process can restart in this time, and meanwhile no tick begins.
pub(super) const FORMER: Duration = Duration::from_secs(30);

impl Poll {
    /// Begins a question. If the question is a write, this agent itself is asked last: see the field `own`.
    pub(super) fn new(
        question: Question,
        now: Time,
        own: &AgentId,
        silent: &BTreeSet<AgentId>,
    ) -> Self {
        Self {
            began: now,
            said: now,
            own: question.mark.map(|_| own.clone()),
            question,
            silent: silent.clone(),
            held: BTreeSet::new(),
            early: BTreeSet::new(),
            best: None,
            written: None,
        }
    }

    pub(super) fn note(&mut self, from: AgentId, outcome: &MarkOutcome) {
        match outcome {
            Ok(Known { mark, written, .. }) => {
                self.early.remove(&from);
                self.written = self.written.max(*written);
                self.held.insert(from);
                self.best = match (self.best, *mark) {
                    (Some(best), Some(mark)) => Some(best.join(mark)),
                    (best, mark) => best.or(mark),
                };
            }
            Err(MarkRefusal::Early) => {
                self.early.insert(from);
            }
            Err(MarkRefusal::Older | MarkRefusal::Full) => {}
        }
    }

    /// Returns the mark with everything that the answers and the question have.
    pub(super) fn mark(&self) -> Option<Mark> {
        self.best.or(self.question.mark)
    }

    fn is_write(&self) -> bool {
        self.question.mark.is_some()
    }

    /// Returns whether enough agents have acknowledged the question.
    pub(super) fn is_carried(&self, audience: &Audience, now: Time) -> bool {
        self.is_carried_by(&self.held, audience, now)
    }

    fn is_carried_by(&self, held: &BTreeSet<AgentId>, audience: &Audience, now: Time) -> bool {
        let heard = |members: &BTreeSet<AgentId>| held.intersection(members).count();
        match audience {
            Audience::Voters(lists) => {
                lists.is_enough(held, self.is_write())
                    && (self.is_write()
                        || lists.is_all_read(held, self.written)
                        || now.since(self.began) >= FORMER)
            }
            Audience::Reachable(members) => {
                let early = self.early.intersection(members).count();
                let is_here = |id: &AgentId| held.contains(id) || self.early.contains(id);
                let all = members
                    .iter()
                    .all(|id| is_here(id) || self.silent.contains(id));
                // The number of clocks that accept the due time must be at least the number that refuse it. So if there
                // are two clocks, the leader's own clock decides.
                let is_believed = heard(members) >= early.max(1);
                is_believed && (all || now.since(self.began) >= PATIENCE)
            }
        }
    }

    /// Returns the result of a reading that enough agents have answered.
    pub(super) fn reading(&self, audience: &Audience) -> Reading {
        match audience {
            Audience::Reachable(_) => Reading::Present,
            Audience::Voters(lists) if !lists.is_all_read(&self.held, self.written) => {
                Reading::Partial
            }
            Audience::Voters(lists) if lists.is_of_present(self.written) => Reading::Present,
            Audience::Voters(_) => Reading::Former,
        }
    }

    /// Returns the agents that can be reached, and have not answered.
    pub(super) fn unheard<'a>(
        &'a self,
        audience: &'a Audience,
    ) -> impl Iterator<Item = &'a AgentId> {
        let is_heard = |id: &&AgentId| self.held.contains(*id) || self.early.contains(*id);
        audience.reachable().filter(move |id| !is_heard(id))
    }

    /// Returns this agent's name once, as soon as only its own acknowledgement is missing. Then this agent is asked
    /// too.
    fn take_own(&mut self, audience: &Audience, now: Time) -> Option<AgentId> {
        let own = self.own.as_ref()?;
        let mut held = self.held.clone();
        held.insert(own.clone());
        let is_next = self.is_carried_by(&held, audience, now);
        let asked = audience.asked(self.is_write());
        self.own.take_if(|own| is_next && asked.contains(own))
    }

    /// Returns whether the question was sent only a moment ago.
    pub(super) fn is_new(&self, now: Time) -> bool {
        now.since(self.began) < AGAIN
    }

    /// Returns the time until the question is sent again.
    pub(super) fn look_in(&self, now: Time) -> Duration {
        self.said.after(AGAIN).since(now)
    }

    /// Returns the asked agents that have not acknowledged the question.
    pub(super) fn left(&self, audience: &Audience) -> Vec<AgentId> {
        let asked = audience.asked(self.is_write());
        let left = asked.difference(&self.held);
        left.filter(|id| self.own.as_ref() != Some(id))
            .cloned()
            .collect()
    }

    /// Returns the agents whose acknowledgement is missing: first the agents that refused the due time, as too far
    /// ahead of their clocks, and then the other agents.
    pub(super) fn without_answer(&self, audience: &Audience) -> (Vec<AgentId>, Vec<AgentId>) {
        let is_early = |id: &AgentId| self.early.contains(id);
        self.left(audience).into_iter().partition(is_early)
    }

    /// Returns the agents to which the question is sent now: again to agents without an acknowledgement, or for the
    /// first time to this agent itself.
    pub(super) fn say_again(&mut self, audience: &Audience, now: Time) -> Vec<AgentId> {
        let own = self.take_own(audience, now);
        if !self.look_in(now).is_zero() {
            return own.into_iter().collect();
        }
        self.said = now;
        self.left(audience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        leader::schedule::message::LeaderNumber,
        protocol::{Incarnation, Round},
    };

    #[test]
    fn most_clocks_decide_whether_a_due_time_lies_ahead() {
        let [a, b, c, schedule] = ["a", "b", "c", "x"].map(|name| AgentId::new(name).unwrap());
        let question = Question {
            round: Round::default(),
            ballot: LeaderNumber {
                term: Term(1),
                incarnation: Incarnation(1),
            },
            schedule,
            mark: Some(Mark::default()),
        };
        let mut poll = Poll::new(question, Time::ZERO, &a, &BTreeSet::new());
        // The leader's own agent is not asked if it has no part in schedules.
        let mut stranger = poll.clone();
        stranger.note(b.clone(), &Ok(Known::default()));
        let others = Audience::Reachable([b.clone()].into());
        assert!(stranger.say_again(&others, Time::ZERO).is_empty());
        poll.note(a.clone(), &Ok(Known::default()));
        poll.note(b.clone(), &Err(MarkRefusal::Early));
        let two = Audience::Reachable([a.clone(), b.clone()].into());
        assert!(poll.is_carried(&two, Time::ZERO), "the leader's decides");
        poll.note(c.clone(), &Err(MarkRefusal::Early));
        let three = Audience::Reachable([a, b, c.clone()].into());
        assert!(!poll.is_carried(&three, Time::MAX));
        poll.note(c, &Ok(Known::default()));
        assert!(poll.is_carried(&three, Time::MAX), "it is due by now");
    }
}
