//! A candidate: it asks those above, halts all others, makes itself known, and hands out the task.
//!
//! Each phase calls some members and waits until all have answered, or for the deadline T: a silence
//! of T proves a crash, as long as no message takes longer than d < T / 2. The calls of a phase go out
//! in parallel; one by one, as in the paper, they take a round trip each, and T for each dead member.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    AgentId, ElectionId, Next, Out, Score,
    core::Core,
    message::{
        Ack, AreYouThere, Call, Halt, Nack, NewCoordinator, Ready, ReorganizationMessage, There,
    },
    state::{ELECT, Halter, WaitCause},
    timer::ReorganizationTimer,
};
use bully_core::protocol::{After, Rank, Time, To};

/// An election that this agent holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidacy {
    pub election: ElectionId,
    /// The score it is held with.
    pub score: Score,
    phase: Phase,
    /// The members that were asked at the beginning: all that were thought to be above.
    asked: BTreeSet<AgentId>,
    /// The members that were called in this phase and have not answered.
    pending: BTreeSet<AgentId>,
    /// The paper's Up: the members that have acknowledged the halt.
    up: BTreeSet<AgentId>,
    due: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// An agent above may have answered that it is there, and another agent may have halted this one. The answers of
    /// the others are still awaited.
    Asking {
        superior: Option<Rank>,
        halter: Option<Halter>,
    },
    Halting,
    Reorganizing,
    Readying,
}

impl Candidacy {
    /// `ask-those-above`. One answer is enough to defer, but all are awaited: until an agent has heard from all above a
    /// halter, it must not acknowledge that halter (see `halt.rs`).
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

    /// Calls the members that are pending, and waits for their answers.
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

    /// All have answered, or will not any more: the next phase.
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
            // `make-coordinator-known`: all that are there have stopped their work.
            Phase::Halting => {
                self.enter(Phase::Reorganizing);
                self.call(core, now, NewCoordinator { election }, out)
            }
            // `hand-out-task`. Observers learn of it as well, and are not awaited.
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

    /// Enters the next phase, which calls the agents that have obeyed in the phase before.
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.pending.clone_from(&self.up);
    }

    /// `halt-all-others`: no agent above is there, so all others stop their work.
    fn halt_others(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if !core.others(self.score, true).is_subset(&self.asked) {
            return ELECT; // one has risen above since, and was not asked
        }
        self.phase = Phase::Halting;
        self.pending = core.others(self.score, false);
        let (election, score) = (self.election.clone(), self.score);
        // It is bound to this election like the agents that it halts: it has to refuse an older election.
        core.numbers.promised = Some(election.clone());
        self.call(core, now, Halt { election, score }, out)
    }

    // ---- answers ----------------------------------------------------------------------------

    /// Handles an answer to the first question. An answer of an agent that turns out to rank below does not make it
    /// defer.
    pub(super) fn on_there(
        &mut self,
        core: &mut Core,
        now: Time,
        from: &AgentId,
        there: &There,
        out: &mut Out,
    ) -> Next {
        let Phase::Asking { superior, .. } = &mut self.phase else {
            return Next::Ignore("no member is asked any more");
        };
        if self.election != there.election || !self.pending.remove(from) {
            return Next::Ignore("an answer to an earlier question");
        }
        if let Some(score) = there.score
            && (score, from) > (self.score, &core.me.id)
        {
            let id = from.clone();
            // The highest agent counts, since a halter that ranks below it must not be obeyed.
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

    /// A member is there that does not obey: again, with a new election, after those above had a slot.
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

    /// T has passed: the members that did not answer are dead.
    pub(super) fn on_answer_due(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(ReorganizationTimer::Answer, self.due.since(now));
            return Next::Stay;
        }
        // Before any member knows the coordinator, this does no harm. Afterwards the group differs from the group that
        // was halted, and all begins again.
        if self.is_made_known() {
            return ELECT;
        }
        self.advance(core, now, out)
    }

    /// A new snapshot may say that a member is down which has not answered yet.
    pub(super) fn on_members(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if self.is_made_known() && self.pending.iter().any(|id| !core.may_be_there(id)) {
            return ELECT;
        }
        self.hurry(core, now, out);
        Next::Stay
    }

    /// All members that are still awaited may be known to be down.
    fn hurry(&mut self, core: &Core, now: Time, out: &mut Out) {
        let due = now.after(core.answer_time(&self.pending));
        if due < self.due {
            self.due = due;
            out.set_timer(ReorganizationTimer::Answer, due.since(now));
        }
    }

    // ---- halters ----------------------------------------------------------------------------

    /// Notes that another agent has halted this one while agents above that halter may still be there: the highest of
    /// such halters is answered later, the others are refused now.
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
                // An older halt of the same agent needs no refusal: that agent has left it behind.
                let other = old.filter(|old| old.by.id != new.by.id);
                *halter = Some(new);
                other
            }
        };
        if let Some(refused) = refused {
            core.nack(now, &refused.by.id, Call::Halt, &refused.election, out);
        }
    }

    /// Perhaps no agent is awaited any more that is above the halter.
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

    /// Obeys the halter, unless an agent above the halter is there.
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

    /// Returns the highest agent that is known to be above, if there is one.
    pub(super) const fn superior(&self) -> Option<&Rank> {
        match &self.phase {
            Phase::Asking { superior, .. } => superior.as_ref(),
            Phase::Halting | Phase::Reorganizing | Phase::Readying => None,
        }
    }

    pub(super) const fn has_superior(&self) -> bool {
        self.superior().is_some()
    }

    /// Returns whether members know already that this agent coordinates.
    pub(super) const fn is_made_known(&self) -> bool {
        matches!(self.phase, Phase::Reorganizing | Phase::Readying)
    }

    /// Returns whether an agent was asked that ranks above a caller, and may answer that it is there.
    pub(super) fn may_hear_from_above(&self, core: &Core, caller: &Rank) -> bool {
        let is_above = |id: &AgentId| core.ranks_above(id, caller.score, &caller.id);
        matches!(self.phase, Phase::Asking { .. }) && self.pending.iter().any(is_above)
    }
}

fn defer_to(core: &Core, above: Rank) -> Next {
    Next::Defer(WaitCause::Superior(above), core.config.takeover().into())
}
