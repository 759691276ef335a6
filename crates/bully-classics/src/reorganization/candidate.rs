//! A candidate, which asks the agents above it, halts all other agents, makes itself known, and hands out the task.
//!
//! Each phase calls some members and waits until all have answered, or for the deadline T: a silence of T proves a
//! crash, as long as no message takes longer than d < T / 2. The calls of a phase are sent in parallel. One by one,
//! as in the paper, they would take a round trip each, and T for each dead member.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    AgentId, ElectionId, Next, Out, Score,
    core::{Core, ELECT, Halter, WaitCause},
    message::{
        Ack, AreYouThere, Call, Halt, Nack, NewCoordinator, Ready, ReorganizationMessage, There,
    },
    timer::ReorganizationTimer,
};
use bully_core::protocol::{After, Rank, Time, To};

/// The state of an election that this agent holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidacy {
    pub election: ElectionId,
    /// The score with which this agent holds the election.
    pub score: Score,
    phase: Phase,
    /// The members that were asked at the beginning: all members that were known to rank above this agent.
    asked: BTreeSet<AgentId>,
    /// The members that were called in this phase and have not answered.
    pending: BTreeSet<AgentId>,
    /// The paper's Up: the members that have acknowledged the halt.
    up: BTreeSet<AgentId>,
    due: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// The agent waits for answers of the agents above it. One of them may have answered already (`superior`), and
    /// another agent may have halted this agent (`halter`).
    Asking {
        superior: Option<Rank>,
        halter: Option<Halter>,
    },
    Halting,
    Reorganizing,
    Readying,
}

impl Candidacy {
    /// Asks the agents above whether they are up (rule `ask-those-above`). One answer is enough to defer, but the
    /// candidate waits for all answers: before it acknowledges a halt, it must know that no agent above the halter is
    /// up (see `halt.rs`).
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        election: ElectionId,
        score: Score,
        out: &mut Out,
    ) -> (Self, Next) {
        let asked = core.others(score, true);
        let mut candidacy = Self {
            election: election.clone(),
            score,
            phase: Phase::Asking {
                superior: None,
                halter: None,
            },
            pending: asked.clone(),
            asked,
            up: BTreeSet::new(),
            due: now,
        };
        let score = Some(score);
        let next = candidacy.call(core, now, AreYouThere { election, score }, out);
        (candidacy, next)
    }

    /// Sends a call to the pending members, and waits for their answers.
    fn call(
        &mut self,
        core: &mut Core,
        now: Time,
        call: impl Into<ReorganizationMessage>,
        out: &mut Out,
    ) -> Next {
        let wait = core.answer_time(&self.pending);
        self.due = now.after(wait);
        if self.pending.is_empty() {
            return self.advance(core, now, out);
        }
        let to: Arc<[AgentId]> = self.pending.iter().cloned().collect();
        out.send_to(To::Set(to), call);
        out.set_timer(ReorganizationTimer::Answer, wait);
        Next::Stay
    }

    /// Begins the next phase, because all members have answered or the time for answers has passed.
    fn advance(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        let (election, score) = (self.election.clone(), self.score);
        match &mut self.phase {
            Phase::Asking {
                halter: Some(_), ..
            } => self.answer_halter(core, now, out),
            Phase::Asking { superior, .. } => match superior.take() {
                Some(above) => defer_to(core, above),
                None => self.halt_others(core, now, out),
            },
            // The members that acknowledged the halt have stopped their work (rule `make-coordinator-known`).
            Phase::Halting => {
                self.enter(Phase::Reorganizing);
                self.call(core, now, NewCoordinator { election }, out)
            }
            // Observers receive the task as well, but their answers are not awaited (rule `hand-out-task`).
            Phase::Reorganizing => {
                self.enter(Phase::Readying);
                let task = core.config.task;
                let ready = Ready {
                    election,
                    score,
                    task,
                };
                let observers = core.observers();
                if !observers.is_empty() {
                    out.send_to(To::Set(observers), ready.clone());
                }
                self.call(core, now, ready, out)
            }
            Phase::Readying => Next::Lead,
        }
    }

    /// Enters the next phase. The call of the phase goes to the agents in `up`, which acknowledged the halt.
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.pending.clone_from(&self.up);
    }

    /// Halts all other agents, because no agent above is up (rule `halt-all-others`).
    fn halt_others(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if !core.others(self.score, true).is_subset(&self.asked) {
            return ELECT; // an agent that was not asked ranks above this agent by now
        }
        self.phase = Phase::Halting;
        self.pending = core.others(self.score, false);
        let (election, score) = (self.election.clone(), self.score);
        // Like the agents that it halts, this agent obeys this election from now on: it has to refuse an older
        // election.
        core.numbers.promised = Some(election.clone());
        self.call(core, now, Halt { election, score }, out)
    }

    // ---- answers ----------------------------------------------------------------------------

    /// Handles an answer to `AreYouThere`. A sender that now ranks below this agent is not waited for.
    pub(super) fn on_there(
        &mut self,
        core: &mut Core,
        now: Time,
        from: &AgentId,
        there: &There,
        out: &mut Out,
    ) -> Next {
        let Phase::Asking { superior, .. } = &mut self.phase else {
            return Next::Ignore("it is not asking members any more");
        };
        if self.election != there.election || !self.pending.remove(from) {
            return Next::Ignore("an answer to an earlier question");
        }
        if let Some(score) = there.score
            && (score, from) > (self.score, &core.me.id)
        {
            let id = from.clone();
            // The highest of the agents that answered counts: a halter that ranks below it must not be obeyed.
            *superior = superior.take().max(Some(Rank { score, id }));
        }
        if self.pending.is_empty() {
            return self.advance(core, now, out);
        }
        self.hurry(core, now, out);
        self.reconsider_halter(core, now, out)
    }

    pub(super) fn on_ack(
        &mut self,
        core: &mut Core,
        now: Time,
        from: &AgentId,
        ack: &Ack,
        out: &mut Out,
    ) -> Next {
        if !self.calls(ack.call, &ack.election) || !self.pending.remove(from) {
            return Next::Ignore("an answer to an earlier call");
        }
        if ack.call == Call::Halt {
            self.up.insert(from.clone());
        }
        if self.pending.is_empty() {
            return self.advance(core, now, out);
        }
        self.hurry(core, now, out);
        Next::Stay
    }

    /// Handles a refusal: a member is up and does not obey. This agent begins a new election after a pause, in which
    /// the agents above it may begin theirs.
    pub(super) fn on_nack(&self, core: &Core, from: &AgentId, nack: &Nack) -> Next {
        if !self.calls(nack.call, &nack.election) || !self.pending.contains(from) {
            return Next::Ignore("an answer to an earlier call");
        }
        let t = &core.config.timings;
        Next::Defer(WaitCause::Pause, After::jittered(t.step(), t.jitter()))
    }

    fn calls(&self, call: Call, election: &ElectionId) -> bool {
        let current = match self.phase {
            Phase::Asking { .. } => None,
            Phase::Halting => Some(Call::Halt),
            Phase::Reorganizing => Some(Call::NewCoordinator),
            Phase::Readying => Some(Call::Ready),
        };
        current == Some(call) && self.election == *election
    }

    /// Handles the end of the time for answers (the deadline T): the members that did not answer count as dead.
    pub(super) fn on_answer_due(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(ReorganizationTimer::Answer, self.due.since(now));
            return Next::Stay;
        }
        // Once members know the coordinator, a missing answer does harm: the agents that work would not be exactly the
        // agents that were halted. So a new election begins.
        if self.is_made_known() {
            return ELECT;
        }
        self.advance(core, now, out)
    }

    /// Handles a new snapshot: a member that has not answered yet may be down.
    pub(super) fn on_members(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if self.is_made_known() && self.pending.iter().any(|id| !core.may_be_there(id)) {
            return ELECT;
        }
        self.hurry(core, now, out);
        Next::Stay
    }

    /// Shortens the wait if all members that have not answered are known to be down.
    fn hurry(&mut self, core: &Core, now: Time, out: &mut Out) {
        let due = now.after(core.answer_time(&self.pending));
        if due < self.due {
            self.due = due;
            out.set_timer(ReorganizationTimer::Answer, due.since(now));
        }
    }

    // ---- halters ----------------------------------------------------------------------------

    /// Notes that another agent has halted this agent, while agents above that halter may still be up. Of several
    /// halters, the highest is answered later, and the other halters are refused at once.
    pub(super) fn keep_waiting(&mut self, core: &Core, now: Time, new: Halter, out: &mut Out) {
        let Phase::Asking { halter, .. } = &mut self.phase else {
            return;
        };
        let refused = match halter.take() {
            Some(old) if old.by > new.by => {
                *halter = Some(old);
                Some(new)
            }
            old => {
                // An older halt of the same halter needs no refusal, because that halter has begun a later election.
                let other = old.filter(|old| old.by.id != new.by.id);
                *halter = Some(new);
                other
            }
        };
        if let Some(refused) = refused {
            core.nack(now, &refused.by.id, Call::Halt, &refused.election, out);
        }
    }

    /// Answers the waiting halter, once no agent above the halter may still answer.
    fn reconsider_halter(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        match &self.phase {
            Phase::Asking {
                halter: Some(halter),
                ..
            } if !self.may_hear_from_above(core, &halter.by) => self.answer_halter(core, now, out),
            Phase::Asking { .. } | Phase::Halting | Phase::Reorganizing | Phase::Readying => {
                Next::Stay
            }
        }
    }

    /// Obeys the halter, unless an agent above the halter is up.
    fn answer_halter(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        let Phase::Asking { superior, halter } = &mut self.phase else {
            return Next::Stay;
        };
        let Some(halter) = halter.take() else {
            return Next::Stay;
        };
        if superior.as_ref().is_none_or(|above| *above <= halter.by) {
            return Next::Obey(halter);
        }
        core.nack(now, &halter.by.id, Call::Halt, &halter.election, out);
        let is_over = self.pending.is_empty() || now >= self.due;
        match superior.take_if(|_| is_over) {
            Some(above) => defer_to(core, above),
            None => Next::Stay,
        }
    }

    // ---- queries ----------------------------------------------------------------------------

    /// Returns the highest agent that is known to be up and to rank above this agent; `None` without such an agent.
    pub(super) const fn superior(&self) -> Option<&Rank> {
        match &self.phase {
            Phase::Asking { superior, .. } => superior.as_ref(),
            Phase::Halting | Phase::Reorganizing | Phase::Readying => None,
        }
    }

    pub(super) const fn has_superior(&self) -> bool {
        self.superior().is_some()
    }

    /// Returns whether members already know that this agent coordinates.
    pub(super) const fn is_made_known(&self) -> bool {
        matches!(self.phase, Phase::Reorganizing | Phase::Readying)
    }

    /// Returns whether an agent above the caller was asked and may still answer.
    pub(super) fn may_hear_from_above(&self, core: &Core, caller: &Rank) -> bool {
        let is_above = |id: &AgentId| core.ranks_above(id, caller.score, &caller.id);
        matches!(self.phase, Phase::Asking { .. }) && self.pending.iter().any(is_above)
    }
}

fn defer_to(core: &Core, above: Rank) -> Next {
    Next::Defer(WaitCause::Superior(above), core.config.takeover().into())
}
