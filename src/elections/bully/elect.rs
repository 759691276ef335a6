//! `Elect` (B3, C3): somebody holds an election. It is always answered by a voter.
//!
//! *Election suppression*: who holds an election does not start another, but still answers. A
//! healthy leader is left alone: who knows one answers `Ok` and starts nothing; the leader's own
//! answer, by its policy, decides.

use super::{
    Bully, Elect, Elected, Ok, Out, Preemption, Timer, Yield,
    state::{Asked, Path, Seat, State},
};
use crate::protocol::{AgentId, Event, Incarnation, LostReason, Member, Time};

impl Bully {
    pub(super) fn on_elect(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        elect: &Elect,
        out: &mut Out,
    ) {
        if !self.me.is_voter() || !self.me.members.get(from).is_some_and(Member::is_voter) {
            return self.ignore("only voters ask voters");
        }
        self.seen = self.seen.max(elect.seen);
        let above = self.me.outranks(elect.score, from) && self.stands(now);
        match &mut self.state {
            State::Leader(_) => self.answer_as_leader(now, from, incarnation, elect, out),
            State::Follower(Seat::Taken(followed))
                if followed.leader.id == *from
                    && (incarnation, elect.seen)
                        >= (followed.leader.incarnation, followed.leader.term) =>
            {
                // It asks, so it leads no longer. (Asked before it led, it had not seen its term.)
                let term = followed.leader.term;
                out.notify(Event::NoLeader { term });
                out.cancel_timer(Timer::Detect);
                self.state = State::Follower(Seat::Vacant(None));
                self.answer_without_leader(now, from, elect, out);
            }
            State::Follower(Seat::Taken(_)) => self.answer_ok(from, elect, out),
            State::Follower(Seat::Vacant(_)) => self.answer_without_leader(now, from, elect, out),
            State::Candidate(candidacy) if above => {
                candidacy.failed.insert(from.clone());
                let all = candidacy.asked == Asked::Voters && candidacy.pending.remove(from);
                self.answer_ok(from, elect, out);
                if all {
                    self.decide_early(now, out);
                }
            }
            State::Candidate(_) => {
                self.answer_yield(from, elect, out);
                self.wait_for(now, from, out);
            }
            State::Waiting(wait) if above && wait.on == *from => {
                // It asks, and from below: there is nothing to wait for.
                self.leave_state(out);
                self.state = State::Follower(Seat::Vacant(None));
                self.answer_without_leader(now, from, elect, out);
            }
            State::Waiting(wait) if above => {
                wait.failed.insert(from.clone());
                self.answer_ok(from, elect, out);
            }
            State::Waiting(_) => self.answer_yield(from, elect, out),
        }
    }

    fn answer_without_leader(&mut self, now: Time, from: &AgentId, elect: &Elect, out: &mut Out) {
        if !self.may_stand() {
            return self.answer_yield(from, elect, out);
        }
        if self.cooldown.is_active(now) || !self.me.outranks(elect.score, from) {
            self.answer_yield(from, elect, out);
            return self.wait_for(now, from, out);
        }
        self.answer_ok(from, elect, out);
        let Some(rank) = self.me.rank() else { return };
        let behind = self.me.members.ahead_of(&rank, None, 1);
        let has_turn = matches!(self.state, State::Follower(Seat::Vacant(Some(_))));
        if behind == 0 {
            self.campaign_above(now, from, out);
        } else if !has_turn {
            self.take_turn(now, Path::Ask, None, out);
        }
    }

    fn answer_as_leader(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        elect: &Elect,
        out: &mut Out,
    ) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let score = reign.score;
        let challenged = (elect.score, from) > (score, &self.me.id)
            && self
                .config
                .margin
                .is_none_or(|margin| elect.score.exceeds(score, margin));
        match self.config.preemption {
            Preemption::Immediately if challenged => {
                let released = Some(reign.term);
                self.lose(LostReason::Outranked, out);
                out.send(
                    from,
                    Yield {
                        round: elect.round,
                        seen: self.seen,
                        released,
                    },
                );
                return self.wait_for_heir(now, from, out);
            }
            Preemption::After(steady) if challenged => {
                self.let_wait(now, from, incarnation, steady, out);
            }
            Preemption::Immediately | Preemption::After(_) | Preemption::Never => {}
        }
        self.renew_above(elect.seen, out);
        let term = self.reign().map_or(self.seen, |r| r.term);
        out.send(
            from,
            Elected {
                term,
                score,
                answer: Some(elect.round),
                sent_at: None,
            },
        );
    }

    fn answer_ok(&self, from: &AgentId, elect: &Elect, out: &mut Out) {
        out.send(
            from,
            Ok {
                round: elect.round,
                seen: self.seen,
                refusal: None,
            },
        );
    }

    fn answer_yield(&self, from: &AgentId, elect: &Elect, out: &mut Out) {
        out.send(
            from,
            Yield {
                round: elect.round,
                seen: self.seen,
                released: None,
            },
        );
    }
}
