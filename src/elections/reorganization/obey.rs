//! Being halted (G3), led (G5), and put to work (G7): the side of those who are called.
//!
//! A halt is a promise to one election. It is taken back by a later election of the same agent, or
//! of one above it, and by nothing else while it lasts: who may still be told by somebody more
//! important acknowledges nobody below before it knows.

use super::{
    Ack, Call, ElectionId, Halt, Nack, NewCoordinator, NotNormal, Out, Ready, Reorganization,
    Timer,
    state::{Above, Cause, Halter, Membership, Phase, Stage, State, Watch},
};
use crate::protocol::{
    After, AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Score, Time,
};

/// What is to be done about a halt.
enum Verdict {
    Obeys,
    /// It has obeyed already.
    Obeyed,
    /// An older election, or one below somebody whom it obeys.
    Refuses,
    /// Somebody above may be there: its answer is awaited.
    Waits,
    /// The caller ranks below.
    Outranks,
}

fn halter(id: &AgentId, halt: &Halt) -> Halter {
    let (id, score) = (id.clone(), halt.score);
    Halter {
        by: Above { score, id },
        election: halt.election.clone(),
    }
}

impl Reorganization {
    /// G3.
    pub(super) fn on_halt(&mut self, now: Time, from: &AgentId, halt: &Halt, out: &mut Out) {
        self.hear(halt.election.count);
        self.learn(from, Some(halt.score));
        let call = Call::Halt;
        match self.judge(now, from, halt) {
            Verdict::Obeyed => self.ack(from, call, &halt.election, out),
            Verdict::Refuses => self.nack(now, from, call, &halt.election, out),
            Verdict::Outranks => {
                self.nack(now, from, call, &halt.election, out);
                if !matches!(self.state, State::Candidate(_)) {
                    self.elect(now, LostReason::Reorganized, out);
                }
            }
            Verdict::Waits => self.keep_waiting(now, halter(from, halt), out),
            Verdict::Obeys => self.obey(now, halter(from, halt), out),
        }
    }

    fn obey(&mut self, now: Time, halter: Halter, out: &mut Out) {
        self.leave(LostReason::Outranked, out);
        self.remember(halter.election.count, out);
        self.promised = Some(halter.election.clone());
        self.ack(&halter.by.id, Call::Halt, &halter.election, out);
        let wait = self.config.takeover();
        self.stand_back(now, Cause::Halted(halter), wait.into(), out);
    }

    /// The most important of those who want to be obeyed is answered later, the others now.
    fn keep_waiting(&mut self, now: Time, new: Halter, out: &mut Out) {
        let State::Candidate(candidacy) = &mut self.state else {
            return;
        };
        let Phase::Asking { halter, .. } = &mut candidacy.phase else {
            return;
        };
        let refused = match halter.take() {
            Some(old) if old.by > new.by => {
                *halter = Some(old);
                Some(new)
            }
            old => {
                let other = old.filter(|old| old.by.id != new.by.id);
                *halter = Some(new);
                other
            }
        };
        if let Some(refused) = refused {
            self.nack(now, &refused.by.id, Call::Halt, &refused.election, out);
        }
    }

    /// Nobody is awaited any more who might be above who has halted this agent.
    pub(super) fn reconsider_halter(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        let Phase::Asking {
            halter: Some(halter),
            ..
        } = &candidacy.phase
        else {
            return;
        };
        let by = halter.by.clone();
        if !self.may_hear_of_somebody_above(by.score, &by.id) {
            self.answer_halter(now, out);
        }
    }

    /// Obeys who has halted this agent, unless somebody above that one is there.
    pub(super) fn answer_halter(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &mut self.state else {
            return;
        };
        let Phase::Asking { superior, halter } = &mut candidacy.phase else {
            return;
        };
        let Some(halter) = halter.take() else { return };
        if superior.as_ref().is_none_or(|above| *above <= halter.by) {
            return self.obey(now, halter, out);
        }
        let is_over = candidacy.pending.is_empty() || now >= candidacy.due;
        self.nack(now, &halter.by.id, Call::Halt, &halter.election, out);
        if is_over {
            self.give_up(now, out);
        }
    }

    fn judge(&self, now: Time, from: &AgentId, halt: &Halt) -> Verdict {
        if self.is_halted_by(&halt.election) {
            return Verdict::Obeyed;
        }
        let is_older = match &self.promised {
            Some(promised) => halt.election <= *promised,
            None => halt.election.count <= self.floor,
        };
        if is_older {
            return Verdict::Refuses;
        }
        if self.outranks(now, halt.score, from) {
            return Verdict::Outranks;
        }
        if self.obeys_somebody_above(halt.score, from) {
            Verdict::Refuses
        } else if self.may_hear_of_somebody_above(halt.score, from) {
            Verdict::Waits
        } else {
            Verdict::Obeys
        }
    }

    /// Whether it stands back for somebody who outranks the caller.
    fn obeys_somebody_above(&self, score: Score, caller: &AgentId) -> bool {
        let outranks =
            |above: &Above| above.id != *caller && (above.score, &above.id) > (score, caller);
        match &self.state {
            State::Candidate(candidacy) => match &candidacy.phase {
                Phase::Asking { superior, .. } => superior.as_ref().is_some_and(outranks),
                Phase::Halting | Phase::Reorganizing | Phase::Readying => false,
            },
            State::Waiting(wait) => match &wait.cause {
                Cause::Superior(above) => outranks(above),
                Cause::Halted(halter) => outranks(&halter.by),
                Cause::Pause | Cause::Rest => false,
            },
            State::Idle | State::Member(_) | State::Leader(_) => false,
        }
    }

    /// Whether it has asked somebody who outranks the caller, and may hear that it is there.
    fn may_hear_of_somebody_above(&self, score: Score, caller: &AgentId) -> bool {
        let State::Candidate(candidacy) = &self.state else {
            return false;
        };
        let outranks = |id: &AgentId| self.score_of(id).is_some_and(|s| (s, id) > (score, caller));
        let asks = matches!(candidacy.phase, Phase::Asking { .. });
        asks && candidacy.pending.iter().any(outranks)
    }

    fn is_halted_by(&self, election: &ElectionId) -> bool {
        match &self.state {
            State::Waiting(wait) => match &wait.cause {
                Cause::Halted(halter) => halter.election == *election,
                Cause::Superior(_) | Cause::Pause | Cause::Rest => false,
            },
            State::Idle | State::Candidate(_) | State::Member(_) | State::Leader(_) => false,
        }
    }

    fn member_of(&self, election: &ElectionId) -> Option<&Membership> {
        match &self.state {
            State::Member(membership) => Some(membership).filter(|m| m.election == *election),
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Leader(_) => None,
        }
    }

    /// G5: only from who has halted this agent, by the very election that did.
    pub(super) fn on_new_coordinator(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: &NewCoordinator,
        out: &mut Out,
    ) {
        let (call, election) = (Call::NewCoordinator, &message.election);
        if self.member_of(election).is_some() {
            return self.ack(from, call, election, out);
        }
        let score = match &self.state {
            State::Waiting(wait) => match &wait.cause {
                Cause::Halted(halter) if halter.election == *election => Some(halter.by.score),
                Cause::Halted(_) | Cause::Superior(_) | Cause::Pause | Cause::Rest => None,
            },
            State::Idle | State::Candidate(_) | State::Member(_) | State::Leader(_) => None,
        };
        let Some(score) = score else {
            return self.nack(now, from, call, election, out);
        };
        self.leave(LostReason::Reorganized, out);
        let wait = self.config.takeover();
        out.set_timer(Timer::Watch, wait);
        self.state = State::Member(Membership {
            leader: Leader {
                id: from.clone(),
                incarnation,
                term: election.count,
            },
            election: election.clone(),
            score,
            stage: Stage::Joining,
            watch: Watch::Hears,
            due: now.after(wait),
        });
        self.ack(from, call, election, out);
    }

    /// G7.
    pub(super) fn on_ready(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        ready: &Ready,
        out: &mut Out,
    ) {
        let (call, election) = (Call::Ready, &ready.election);
        if self.me.kind == MemberKind::Observer {
            return self.observe(now, from, incarnation, ready, out);
        }
        let State::Member(membership) = &mut self.state else {
            return self.nack(now, from, call, election, out);
        };
        if membership.election != *election {
            return self.nack(now, from, call, election, out);
        }
        if membership.stage == Stage::Joining {
            let task = Some(ready.task);
            membership.stage = Stage::Following { task };
            out.notify(Event::NewLeader(membership.leader.clone()));
            self.hears_leader(now, out);
        }
        self.ack(from, call, election, out);
    }

    /// An observer takes the word of whoever coordinates by the latest election.
    pub(super) fn observe(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        ready: &Ready,
        out: &mut Out,
    ) {
        let election = &ready.election;
        if self.promised.as_ref().is_some_and(|p| p > election) {
            if matches!(self.state, State::Member(_)) {
                return self.ignore("an older coordinator");
            }
            // It may coordinate, but by a later election than the last one whose word was taken.
            let (election, seen) = (election.clone(), self.seen);
            return out.send(from, NotNormal { election, seen });
        }
        let leader = Leader {
            id: from.clone(),
            incarnation,
            term: election.count,
        };
        if self.member_of(election).is_none_or(|m| m.leader != leader) {
            self.leave(LostReason::Reorganized, out);
            self.promised = Some(election.clone());
            out.notify(Event::NewLeader(leader.clone()));
            self.state = State::Member(Membership {
                leader,
                election: election.clone(),
                score: ready.score,
                stage: Stage::Following { task: None },
                watch: Watch::Hears,
                due: now,
            });
        }
        self.hears_leader(now, out);
    }

    /// The coordinator is there: it may be silent for L again.
    pub(super) fn hears_leader(&mut self, now: Time, out: &mut Out) {
        let State::Member(membership) = &mut self.state else {
            return;
        };
        let (limit, jitter) = (
            self.config.detector().detection,
            self.config.timings().jitter(),
        );
        membership.watch = Watch::Hears;
        membership.due = now.after(limit);
        out.set_timer(Timer::Watch, After::jittered(limit, jitter));
    }

    fn ack(&self, to: &AgentId, call: Call, election: &ElectionId, out: &mut Out) {
        let election = election.clone();
        if self.me.kind == MemberKind::Voter {
            out.send(to, Ack { call, election });
        }
    }

    fn nack(&self, now: Time, to: &AgentId, call: Call, election: &ElectionId, out: &mut Out) {
        if self.me.kind == MemberKind::Voter {
            let (election, seen) = (election.clone(), self.seen);
            let score = self.standing(now);
            out.send(
                to,
                Nack {
                    call,
                    election,
                    seen,
                    score,
                },
            );
        }
    }
}
