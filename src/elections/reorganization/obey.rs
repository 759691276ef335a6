//! Being halted (G3), led (G5), and put to work (G7): the side of those who are called.
//!
//! A halt is a promise to one election. It is taken back by a later election of the same agent, or
//! of one above it, and by nothing else while it lasts: who may still be told by somebody more
//! important acknowledges nobody below.

use super::{
    Ack, Call, ElectionId, Halt, Nack, NewCoordinator, Out, Ready, Reorganization, Timer,
    state::{Above, Cause, Membership, Phase, Stage, State, Watch},
};
use crate::protocol::{
    After, AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Score, Time,
};

/// What is to be done about a halt.
enum Verdict {
    Obeys,
    /// It has obeyed already.
    Obeyed,
    /// Not now: an older election, or somebody above may be there.
    Refuses,
    /// The caller ranks below.
    Outranks,
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
            Verdict::Obeys => {
                self.leave(LostReason::Outranked, out);
                self.remember(halt.election.count, out);
                self.promised = Some(halt.election.clone());
                self.ack(from, call, &halt.election, out);
                let by = Above {
                    score: halt.score,
                    id: from.clone(),
                };
                let election = halt.election.clone();
                let wait = self.config.takeover();
                self.stand_back(now, Cause::Halted { by, election }, wait.into(), out);
            }
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
        if self.expects_somebody_above(halt.score, from) {
            Verdict::Refuses
        } else {
            Verdict::Obeys
        }
    }

    /// Whether somebody who outranks the caller has been promised obedience, or may be there: its
    /// answer is awaited still.
    fn expects_somebody_above(&self, score: Score, caller: &AgentId) -> bool {
        let outranks = |theirs: Score, id: &AgentId| (theirs, id) > (score, caller);
        match &self.state {
            State::Candidate(candidacy) => match &candidacy.phase {
                Phase::Asking { superior } => {
                    let may_be = |id: &AgentId| self.score_of(id).is_some_and(|s| outranks(s, id));
                    let is_there = |above: &Above| outranks(above.score, &above.id);
                    candidacy.pending.iter().any(may_be) || superior.as_ref().is_some_and(is_there)
                }
                Phase::Halting | Phase::Reorganizing | Phase::Readying => false,
            },
            State::Waiting(wait) => match &wait.cause {
                Cause::Superior(above) | Cause::Halted { by: above, .. } => {
                    above.id != *caller && outranks(above.score, &above.id)
                }
                Cause::Pause => false,
            },
            State::Idle | State::Member(_) | State::Leader(_) => false,
        }
    }

    fn is_halted_by(&self, election: &ElectionId) -> bool {
        match &self.state {
            State::Waiting(wait) => match &wait.cause {
                Cause::Halted { election: mine, .. } => mine == election,
                Cause::Superior(_) | Cause::Pause => false,
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
                Cause::Halted { by, election: mine } if mine == election => Some(by.score),
                Cause::Halted { .. } | Cause::Superior(_) | Cause::Pause => None,
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
            return self.ignore("an older coordinator");
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
