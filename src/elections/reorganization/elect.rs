//! Holding an election (G0, G1, G2) and coordinating what comes of it (G4, G6).
//!
//! Each phase calls some members and waits until all have answered, or for T: a silence of T
//! proves a crash, as long as no message takes longer than d < T / 2. A member whose end is certain
//! is called all the same, since nobody may have heard of its next life yet; its answer is awaited
//! for 3 d only.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tracing::debug;

use super::{
    Ack, AreYouThere, Call, Count, Defect, ElectionId, Halt, LAST_COUNT, Nack, NewCoordinator, Out,
    Ready, Reorganization, ReorganizationMessage, There, Timer,
    state::{Above, Candidacy, Cause, Phase, Reign, State, Wait},
};
use crate::protocol::{
    After, AgentId, Event, LostReason, Members, Presence, Score, Term, Time, To,
};

impl Reorganization {
    /// G0. The first start is a recovery.
    pub(super) fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.hear(members.term());
        self.me.members = members;
        self.elect(now, LostReason::Reorganized, out);
    }

    /// G1: leaves whatever it was doing, and asks all who are above whether they are there.
    pub(super) fn elect(&mut self, now: Time, reason: LostReason, out: &mut Out) {
        self.leave(reason, out);
        let Some(score) = self.standing(now) else {
            return self.take_turn(now, out); // who rests has the last one
        };
        let Some(count) = self.seen.next().filter(|count| *count <= LAST_COUNT) else {
            return self.ignore("the counts have come to their end");
        };
        self.remember(count, out);
        let id = self.me.id.clone();
        let election = ElectionId { count, id };
        debug!(node = %self.me.id, term = %count, "election begins");
        let asked = self.others(|m| self.is_above(&m.id, score));
        let candidacy = Candidacy {
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
        let question = AreYouThere {
            election,
            score: Some(score),
        };
        self.call(now, candidacy, question, out);
    }

    /// The same where `gone` looks up in the snapshot and is known not to be: who rests need not let
    /// that one go first.
    pub(super) fn elect_without(&mut self, now: Time, gone: &AgentId, out: &mut Out) {
        if !self.lets_others_go_first(now, Some(gone)) {
            self.cooldown.end(Timer::Rest, out);
        }
        self.elect(now, LostReason::Reorganized, out);
    }

    /// Calls those who are pending, and waits for their answers.
    fn call(
        &mut self,
        now: Time,
        mut candidacy: Candidacy,
        call: impl Into<ReorganizationMessage>,
        out: &mut Out,
    ) {
        let wait = self.patience(&candidacy.pending);
        candidacy.due = now.after(wait);
        let to: Arc<[AgentId]> = candidacy.pending.iter().cloned().collect();
        self.state = State::Candidate(candidacy);
        if to.is_empty() {
            return self.advance(now, out);
        }
        out.send_to(To::Set(to), call);
        out.set_timer(Timer::Answer, wait);
    }

    /// How long answers of these may take, or those of their next lives.
    fn patience(&self, pending: &BTreeSet<AgentId>) -> Duration {
        let may_live = |id: &AgentId| {
            let member = self.me.members.get(id);
            member.is_some_and(|m| m.presence != Presence::Down)
        };
        if self.config.has(Defect::Impatient) {
            self.config.timings().delay_bound()
        } else if pending.iter().any(may_live) {
            self.config.timings().deadline()
        } else {
            self.config.grace()
        }
    }

    /// All have answered, or will not any more: the next phase.
    fn advance(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        match &candidacy.phase {
            Phase::Asking {
                halter: Some(_), ..
            } => self.answer_halter(now, out),
            Phase::Asking {
                superior: Some(_), ..
            } => self.give_up(now, out),
            Phase::Asking { superior: None, .. } => self.halt_others(now, out),
            Phase::Halting => self.reorganize(now, out),
            Phase::Reorganizing => self.make_ready(now, out),
            Phase::Readying => self.become_normal(now, out),
        }
    }

    /// G1: somebody above is there.
    pub(super) fn give_up(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &mut self.state else {
            return;
        };
        if let Phase::Asking { superior, .. } = &mut candidacy.phase
            && let Some(above) = superior.take()
        {
            let wait = self.config.takeover();
            self.stand_back(now, Cause::Superior(above), wait.into(), out);
        }
    }

    /// G2: nobody above is there; all others stop their work.
    fn halt_others(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        let (score, asked) = (candidacy.score, &candidacy.asked);
        let is_news = |id: &AgentId| self.is_above(id, score) && !asked.contains(id);
        if !self.others(|m| is_news(&m.id)).is_empty() {
            return self.elect(now, LostReason::Reorganized, out); // it was not asked
        }
        let pending = self.others(|m| !self.is_above(&m.id, score));
        let mut candidacy = candidacy.clone();
        (candidacy.phase, candidacy.pending) = (Phase::Halting, pending);
        let election = candidacy.election.clone();
        self.promised = Some(election.clone());
        self.call(now, candidacy, Halt { election, score }, out);
    }

    /// G4: all who live are halted.
    fn reorganize(&mut self, now: Time, out: &mut Out) {
        if let State::Candidate(candidacy) = &self.state {
            let mut candidacy = candidacy.clone();
            candidacy.phase = Phase::Reorganizing;
            candidacy.pending.clone_from(&candidacy.up);
            let election = candidacy.election.clone();
            self.call(now, candidacy, NewCoordinator { election }, out);
        }
    }

    /// G6. Observers are told of it as well, and not awaited.
    fn make_ready(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        let mut candidacy = candidacy.clone();
        candidacy.phase = Phase::Readying;
        candidacy.pending.clone_from(&candidacy.up);
        let ready = Ready {
            election: candidacy.election.clone(),
            score: candidacy.score,
            task: self.config.task(),
        };
        let observers = self.me.members.iter();
        let observers = observers.filter(|m| !m.is_voter() && m.id != self.me.id);
        let observers: Arc<[AgentId]> = observers.map(|m| m.id.clone()).collect();
        if !observers.is_empty() {
            out.send_to(To::Set(observers), ready.clone());
        }
        self.call(now, candidacy, ready, out);
    }

    /// G6: everybody works.
    fn become_normal(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        let (election, score) = (candidacy.election.clone(), candidacy.score);
        let (term, interval) = (election.count, self.config.detector().heartbeat);
        out.cancel_timer(Timer::Answer);
        out.set_timer(Timer::Check, interval);
        self.cooldown.end(Timer::Rest, out);
        self.state = State::Leader(Reign {
            election,
            score,
            check: now.after(interval),
            handover: None,
        });
        out.notify(Event::Acquired { term });
    }

    // ---- answers ----------------------------------------------------------------------------

    /// An answer to G1's question; one from who turns out to rank below is no reason to give up.
    pub(super) fn on_there(&mut self, now: Time, from: &AgentId, there: &There, out: &mut Out) {
        self.hear(there.seen);
        self.learn(from, there.score);
        let State::Candidate(candidacy) = &mut self.state else {
            return self.on_watched(now, from, there, out);
        };
        let Phase::Asking { superior, .. } = &mut candidacy.phase else {
            return self.ignore("nobody is asked any more");
        };
        if candidacy.election != there.election || !candidacy.pending.remove(from) {
            return self.ignore("an answer to an earlier question");
        }
        if let Some(score) = there.score
            && (score, from) > (candidacy.score, &self.me.id)
        {
            let id = from.clone();
            *superior = superior.take().max(Some(Above { score, id }));
        }
        if candidacy.pending.is_empty() {
            return self.advance(now, out);
        }
        self.hurry(now, out);
        self.reconsider_halter(now, out);
    }

    pub(super) fn on_ack(&mut self, now: Time, from: &AgentId, ack: &Ack, out: &mut Out) {
        let awaited = self.awaits(ack.call, &ack.election);
        let State::Candidate(candidacy) = &mut self.state else {
            return self.ignore("it calls nobody");
        };
        if !awaited || !candidacy.pending.remove(from) {
            return self.ignore("an answer to an earlier call");
        }
        if ack.call == Call::Halt {
            candidacy.up.insert(from.clone());
        }
        if candidacy.pending.is_empty() {
            return self.advance(now, out);
        }
        self.hurry(now, out);
    }

    /// Somebody lives who does not obey: again, with a new election, after those above had a turn.
    pub(super) fn on_nack(&mut self, now: Time, from: &AgentId, nack: &Nack, out: &mut Out) {
        self.hear(nack.seen);
        self.learn(from, nack.score);
        let awaited = self.awaits(nack.call, &nack.election);
        let is_pending = match &self.state {
            State::Candidate(candidacy) => candidacy.pending.contains(from),
            State::Idle | State::Waiting(_) | State::Member(_) | State::Leader(_) => false,
        };
        if !awaited || !is_pending {
            return self.ignore("an answer to an earlier call");
        }
        self.leave(LostReason::Reorganized, out);
        let t = self.config.timings();
        let pause = After::jittered(t.step(), t.jitter());
        self.stand_back(now, Cause::Pause, pause, out);
    }

    fn awaits(&self, call: Call, election: &ElectionId) -> bool {
        let State::Candidate(candidacy) = &self.state else {
            return false;
        };
        let calls = match candidacy.phase {
            Phase::Asking { .. } => None,
            Phase::Halting => Some(Call::Halt),
            Phase::Reorganizing => Some(Call::NewCoordinator),
            Phase::Readying => Some(Call::Ready),
        };
        calls == Some(call) && candidacy.election == *election
    }

    /// T has passed: those who did not answer are dead. Before anybody was told who coordinates
    /// that is no harm; after it the group is not what it was halted as, and all begins again.
    pub(super) fn on_silence(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return self.ignore("it calls nobody");
        };
        if now < candidacy.due {
            return out.set_timer(Timer::Answer, candidacy.due.since(now));
        }
        match candidacy.phase {
            Phase::Asking { .. } | Phase::Halting => self.advance(now, out),
            Phase::Reorganizing | Phase::Readying => {
                self.elect(now, LostReason::Reorganized, out);
            }
        }
    }

    /// Somebody is known to be down who has not answered yet.
    pub(super) fn reconsider(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        let is_down = |id: &AgentId| {
            let member = self.me.members.get(id);
            member.is_none_or(|m| m.presence == Presence::Down)
        };
        let told = matches!(candidacy.phase, Phase::Reorganizing | Phase::Readying);
        if told && candidacy.pending.iter().any(is_down) {
            return self.elect(now, LostReason::Reorganized, out);
        }
        self.hurry(now, out);
    }

    /// Those who are awaited still may all be known to be down.
    fn hurry(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        let due = now.after(self.patience(&candidacy.pending));
        if let State::Candidate(candidacy) = &mut self.state
            && due < candidacy.due
        {
            candidacy.due = due;
            out.set_timer(Timer::Answer, due.since(now));
        }
    }

    // ---- what all rules share ---------------------------------------------------------------

    /// Leaves its state; what it believed ends here, and is said.
    pub(super) fn leave(&mut self, reason: LostReason, out: &mut Out) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => {}
            State::Candidate(_) => out.cancel_timer(Timer::Answer),
            State::Waiting(_) => out.cancel_timer(Timer::Takeover),
            State::Member(membership) => {
                out.cancel_timer(Timer::Watch);
                if membership.is_normal() {
                    let term = membership.leader.term;
                    out.notify(Event::NoLeader { term });
                }
            }
            State::Leader(reign) => {
                out.cancel_timer(Timer::Check);
                if reign.handover.is_some() {
                    out.cancel_timer(Timer::Drain);
                }
                let term = reign.election.count;
                out.notify(Event::Lost { term, reason });
            }
        }
    }

    /// Waits for somebody else, and holds an election when nothing comes of it.
    pub(super) fn stand_back(&mut self, now: Time, cause: Cause, wait: After, out: &mut Out) {
        self.leave(LostReason::Reorganized, out);
        out.set_timer(Timer::Takeover, wait);
        let due = now.after(wait.min);
        self.state = State::Waiting(Wait { cause, due });
    }

    /// Makes a count durable, if it is larger than the one that is.
    pub(super) fn remember(&mut self, count: Term, out: &mut Out) {
        self.hear(count);
        if count > self.record.count {
            self.record = Count { count };
            if self.config.has(Defect::VolatileCount) {
                return;
            }
            out.persist(self.record.clone());
        }
    }

    /// Voters other than this agent.
    fn others(&self, wanted: impl Fn(&crate::protocol::Member) -> bool) -> BTreeSet<AgentId> {
        let voters = self.me.members.voters().filter(|m| m.id != self.me.id);
        voters.filter(|m| wanted(m)).map(|m| m.id.clone()).collect()
    }

    fn is_above(&self, id: &AgentId, score: Score) -> bool {
        let theirs = self.score_of(id);
        theirs.is_some_and(|theirs| (theirs, id) > (score, &self.me.id))
    }
}
