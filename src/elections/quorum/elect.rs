//! `Elect` (E2): somebody asks whether this agent would vote for it. A voter always answers, and
//! nothing durable changes.
//!
//! Who outranks the asker objects, but only once per asker while nobody leads: an important agent
//! that can speak and not be heard must not hold up the others.

use std::time::Duration;

use super::{Elect, Ok, Out, QuorumBully, Refusal, Yield, state::State};
use crate::protocol::{AgentId, Time};

impl QuorumBully {
    pub(super) fn on_elect(&mut self, now: Time, from: &AgentId, elect: &Elect, out: &mut Out) {
        self.learn_score(from, Some(elect.score));
        if let Some(target) = &elect.takeover {
            let answer = self.judge_takeover(now, from, elect.score, target);
            return self.answer(from, elect, answer, out);
        }
        let verdict = self.judge_probe(now, from, elect);
        self.hear(elect.seen);
        let objects = matches!(verdict, Verdict::Object);
        self.answer(from, elect, verdict, out);
        if objects {
            self.objected.insert(from.clone());
            if matches!(self.state, State::Follower(_)) {
                self.drop_leader(out);
                self.stand(now, out);
            }
        }
    }

    fn judge_probe(&self, now: Time, from: &AgentId, elect: &Elect) -> Verdict {
        if let Some(until) = self.believes_until(now) {
            return Verdict::not_for(until.since(now));
        }
        let blocked = self.blocked(now, from, None);
        if !blocked.is_zero() {
            return Verdict::not_for(blocked);
        }
        if elect.seen < self.vote.term {
            return Verdict::Refuse(Refusal::Stale);
        }
        if self.objects_to(now, from, elect) {
            return Verdict::Object;
        }
        Verdict::Consent
    }

    /// Only who could stand at once objects, and who rests only if its turn has come.
    fn objects_to(&self, now: Time, from: &AgentId, elect: &Elect) -> bool {
        let stands = matches!(self.state, State::Probing(_) | State::Claiming(_));
        self.me.outranks(elect.score, from)
            && !matches!(self.state, State::Leader(_))
            && (stands || now >= self.rest.challenge)
            && self.barred(now).is_zero()
            && !self.objected.contains(from)
    }

    pub(super) fn answer(&self, from: &AgentId, elect: &Elect, verdict: Verdict, out: &mut Out) {
        let (round, seen) = (elect.round, self.seen.max(self.vote.term));
        match verdict {
            Verdict::Consent => {
                let released = None;
                out.send(
                    from,
                    Yield {
                        round,
                        seen,
                        released,
                    },
                );
            }
            Verdict::Object => self.answer_ok(from, elect, None, out),
            Verdict::Refuse(refusal) => self.answer_ok(from, elect, Some(refusal), out),
        }
    }

    fn answer_ok(&self, from: &AgentId, elect: &Elect, refusal: Option<Refusal>, out: &mut Out) {
        let (round, seen) = (elect.round, self.seen.max(self.vote.term));
        out.send(
            from,
            Ok {
                round,
                seen,
                refusal,
            },
        );
    }
}

/// A voter's answer to a probe.
pub(super) enum Verdict {
    Consent,
    /// "I outrank you": the asker stands back.
    Object,
    Refuse(Refusal),
}

impl Verdict {
    pub(super) fn not_for(wait: Duration) -> Self {
        Self::Refuse(Refusal::LeaderAlive { retry: wait.into() })
    }
}
