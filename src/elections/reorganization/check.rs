//! Noticing that something is wrong: Check (G8), Timeout (G9), and the answers of all (G10).
//!
//! The coordinator asks everybody again and again whether they work under it; that is also how they
//! hear that it lives. One "no" begins an election. Who does not hear it asks, and a silence of T
//! begins one as well.

use super::{
    AreYouNormal, AreYouThere, Defect, ElectionId, Normal, NotNormal, Out, Ready, Reorganization,
    Task, There, Timer, Zeal,
    state::{Cause, Halter, Phase, Reign, State, Watch},
};
use crate::protocol::{AgentId, Incarnation, LostReason, MemberKind, Time};

impl Reorganization {
    /// G8. Who slept for longer than others wait may have a successor already.
    pub(super) fn on_check_due(&mut self, now: Time, out: &mut Out) {
        let detector = self.config.detector();
        let State::Leader(reign) = &mut self.state else {
            return self.ignore("only a coordinator checks");
        };
        if now < reign.check {
            return out.set_timer(Timer::Check, reign.check.since(now));
        }
        if now.since(reign.check) > detector.detection {
            return self.elect(now, LostReason::Stalled, out);
        }
        reign.check = now.after(detector.heartbeat);
        out.set_timer(Timer::Check, detector.heartbeat);
        self.check_all(out);
    }

    pub(super) fn check_all(&self, out: &mut Out) {
        if let State::Leader(Reign {
            election, score, ..
        }) = &self.state
        {
            let (election, score) = (election.clone(), *score);
            out.send_all(AreYouNormal { election, score });
        }
    }

    /// G10: "yes" only from who works under the asker, by the very election.
    pub(super) fn on_are_you_normal(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        question: &AreYouNormal,
        out: &mut Out,
    ) {
        let AreYouNormal { election, score } = question;
        self.hear(election.count);
        self.learn(from, Some(*score));
        if self.me.kind == MemberKind::Observer {
            let task = Task::default();
            let ready = Ready {
                election: election.clone(),
                score: *score,
                task,
            };
            return self.observe(now, from, incarnation, &ready, out);
        }
        let outranks = self.outranks(now, *score, from);
        match &mut self.state {
            State::Member(m) if m.election == *election && m.is_normal() => {
                m.score = *score;
                if outranks {
                    return self.elect(now, LostReason::Reorganized, out);
                }
                self.hears_leader(now, out);
                let election = election.clone();
                out.send(from, Normal { election });
            }
            State::Idle
            | State::Candidate(_)
            | State::Waiting(_)
            | State::Member(_)
            | State::Leader(_) => {
                let (election, seen) = (election.clone(), self.seen);
                out.send(from, NotNormal { election, seen });
            }
        }
    }

    /// G8: somebody lives who does not work under this agent.
    pub(super) fn on_not_normal(&mut self, now: Time, answer: &NotNormal, out: &mut Out) {
        self.hear(answer.seen);
        let cares = !self.config.has(Defect::AllIsWell);
        match &self.state {
            State::Leader(r) if cares && r.election == answer.election && r.handover.is_none() => {
                self.elect(now, LostReason::Reorganized, out);
            }
            State::Leader(_) => self.ignore("an earlier check, or it leaves anyway"),
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => {
                self.ignore("it does not coordinate");
            }
        }
    }

    /// G10: always answered.
    pub(super) fn on_are_you_there(
        &mut self,
        now: Time,
        from: &AgentId,
        question: &AreYouThere,
        out: &mut Out,
    ) {
        if self.me.kind == MemberKind::Observer {
            return self.ignore("an observer is not asked");
        }
        let is_new = question.election.id == *from;
        self.hear(question.election.count);
        self.learn(from, question.score);
        let election = question.election.clone();
        let there = There {
            coordinates: self.coordinates(&election),
            election,
            score: self.standing(now),
            seen: self.seen,
        };
        out.send(from, there);
        let outranks = question
            .score
            .is_some_and(|score| self.outranks(now, score, from));
        if self.config.zeal() == Zeal::Eager && is_new && outranks && self.is_free() {
            self.elect(now, LostReason::Reorganized, out);
        }
    }

    /// Whether this agent coordinates by that election, be it that not all are normal yet.
    fn coordinates(&self, election: &ElectionId) -> bool {
        match &self.state {
            State::Leader(reign) => reign.election == *election,
            State::Candidate(candidacy) => {
                let told = matches!(candidacy.phase, Phase::Reorganizing | Phase::Readying);
                told && candidacy.election == *election
            }
            State::Idle | State::Waiting(_) | State::Member(_) => false,
        }
    }

    /// Whether it holds no election, and nobody has halted it.
    fn is_free(&self) -> bool {
        match &self.state {
            State::Candidate(_) => false,
            State::Waiting(wait) => !matches!(wait.cause, Cause::Halted(_)),
            State::Idle | State::Member(_) | State::Leader(_) => true,
        }
    }

    /// G9: nothing was heard of the coordinator.
    pub(super) fn on_watch_due(&mut self, now: Time, out: &mut Out) {
        let State::Member(membership) = &self.state else {
            return self.ignore("nobody is watched");
        };
        if now < membership.due {
            return out.set_timer(Timer::Watch, membership.due.since(now));
        }
        match membership.watch {
            Watch::Hears if self.me.kind == MemberKind::Voter => self.ask_leader(now, out),
            Watch::Hears | Watch::Asks => {
                let silent = membership.leader.id.clone();
                self.elect_without(now, &silent, out);
            }
        }
    }

    /// G9: asks the coordinator whether it is there.
    pub(super) fn ask_leader(&mut self, now: Time, out: &mut Out) {
        let score = self.standing(now);
        let State::Member(membership) = &mut self.state else {
            return;
        };
        if membership.watch == Watch::Asks {
            return;
        }
        let wait = self.config.timings().deadline();
        (membership.watch, membership.due) = (Watch::Asks, now.after(wait));
        let election = membership.election.clone();
        out.send(&membership.leader.id, AreYouThere { election, score });
        out.set_timer(Timer::Watch, wait);
    }

    /// G9: the coordinator is there. One that knows nothing of its election is none.
    pub(super) fn on_watched(&mut self, now: Time, from: &AgentId, there: &There, out: &mut Out) {
        let State::Member(membership) = &self.state else {
            return self.ignore("nobody was asked");
        };
        let asked = membership.watch == Watch::Asks
            && membership.leader.id == *from
            && membership.election == there.election;
        if !asked {
            return self.ignore("an answer to an earlier question");
        }
        if there.coordinates {
            self.hears_leader(now, out);
        } else {
            self.elect(now, LostReason::Reorganized, out);
        }
    }

    /// Nothing came of what it stood back for.
    pub(super) fn on_takeover_due(&mut self, now: Time, out: &mut Out) {
        match &self.state {
            State::Waiting(wait) if now < wait.due => {
                out.set_timer(Timer::Takeover, wait.due.since(now));
            }
            State::Waiting(wait) => match &wait.cause {
                Cause::Superior(by) | Cause::Halted(Halter { by, .. }) => {
                    let silent = by.id.clone();
                    self.elect_without(now, &silent, out);
                }
                Cause::Pause => self.elect(now, LostReason::Reorganized, out),
                Cause::Rest => {
                    self.cooldown.end(Timer::Rest, out); // all who do not rest had their turns
                    self.elect(now, LostReason::Reorganized, out);
                }
            },
            State::Idle | State::Candidate(_) | State::Member(_) | State::Leader(_) => {
                self.ignore("it stands back for nobody");
            }
        }
    }
}
