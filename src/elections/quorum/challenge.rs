//! A more important follower asks for the seat (P1 to P3), and flapping is damped (P5).
//!
//! It asks the voters first: one that could not win must not make a healthy leader stop. Only the
//! leader gives the seat away, and only to who has been heard steadily.

use std::time::Duration;

use super::{
    Elect, Leadership, Ok, Out, QuorumBully, Refusal, Takeover, Timer, Yield,
    elect::Verdict,
    state::{Belief, Challenge, Flap, Followed, Seat, State},
};
use crate::elections::policy::Preemption;
use crate::protocol::{AgentId, Score, Term, Time};

impl QuorumBully {
    /// P1. After each heartbeat: asks if this agent outranks the leader and both have been in
    /// steady contact for long enough.
    pub(super) fn challenge(&mut self, now: Time, out: &mut Out) {
        let Preemption::After(steady) = self.config.preemption() else {
            return;
        };
        if self
            .followed()
            .is_some_and(|f| now.since(f.since) >= steady)
        {
            self.ask_to_take_over(now, out);
        }
    }

    /// P1, without its patience: the leader's own patience decides.
    pub(super) fn ask_to_take_over(&mut self, now: Time, out: &mut Out) {
        let Some(mine) = self.me.eligible().filter(|_| now >= self.rest.challenge) else {
            return;
        };
        let Some(f) = self.followed() else { return };
        let waits = matches!(f.challenge, Challenge::Rests { until } if now >= until);
        if !waits || !self.is_better((mine, &self.me.id), (f.score, &f.leader.id)) {
            return;
        }
        let target = Leadership {
            id: f.leader.id.clone(),
            term: f.leader.term,
        };
        let own = match self.judge_takeover(now, &self.me.id, mine, &target) {
            Verdict::Consent => [self.me.id.clone()].into(),
            Verdict::Object | Verdict::Refuse(_) => return,
        };
        let (round, wait) = (self.next_round(), self.config.timings().round());
        let (seen, takeover) = (target.term, Some(target));
        let elect = Elect {
            round,
            score: mine,
            seen,
            takeover,
        };
        self.ask_voters(elect, out);
        out.set_timer(Timer::Round, wait);
        if let State::Follower(Seat::Taken(f)) = &mut self.state {
            let (consents, due) = (own, now.after(wait));
            f.challenge = Challenge::Asked {
                round,
                consents,
                due,
            };
        }
    }

    /// P2. Whether this voter would have `from` take the place of `target`'s holder.
    pub(super) fn judge_takeover(
        &self,
        now: Time,
        from: &AgentId,
        score: Score,
        target: &Leadership,
    ) -> Verdict {
        if target.id == self.me.id {
            return match self.patience(now, from, score, target.term) {
                None => Verdict::Consent,
                Some(rest) => Verdict::not_for(rest),
            };
        }
        if let Some(until) = self.believes_until(now) {
            return Verdict::not_for(until.since(now));
        }
        let blocked = self.blocked(now, from, Some(target));
        if !blocked.is_zero() {
            return Verdict::not_for(blocked);
        }
        if self.vote.term > target.term {
            return Verdict::Refuse(Refusal::Stale);
        }
        Verdict::Consent
    }

    /// P2 at the leader: for how much longer it does not give its place to `from`; `None` if it
    /// does now.
    fn patience(&self, now: Time, from: &AgentId, score: Score, term: Term) -> Option<Duration> {
        let promise = self.config.timings().promise();
        let (Preemption::After(steady), State::Leader(reign)) =
            (self.config.preemption(), &self.state)
        else {
            return Some(promise);
        };
        let holds = matches!(reign.belief, Belief::Held { until } if now < until);
        let better = self.is_better((score, from), (reign.score, &self.me.id));
        if reign.term != term || !holds || reign.draining.is_some() || !better {
            return Some(promise);
        }
        let period = steady.saturating_mul(16);
        let flaps = self.flaps.get(from).map_or(0, |f| f.count(now, period));
        let steady = steady.saturating_mul(1 << flaps.min(4));
        let Some(contact) = reign.book.contact(from) else {
            return Some(steady);
        };
        if now.since(contact.last) > self.config.heartbeat().saturating_mul(2) {
            return Some(steady);
        }
        let rest = contact.since.after(steady).since(now);
        (!rest.is_zero()).then_some(rest)
    }

    /// Better by more than the margin, or by anything at all where there is none.
    fn is_better(&self, one: (Score, &AgentId), than: (Score, &AgentId)) -> bool {
        let enough = |margin| one.0.exceeds(than.0, margin);
        one > than && self.config.margin().is_none_or(enough)
    }

    /// P3. A quorum agrees, the leader among them: it is asked to hand over.
    pub(super) fn on_challenge_consent(
        &mut self,
        now: Time,
        from: &AgentId,
        consent: &Yield,
        out: &mut Out,
    ) {
        let quorum = self.config.vote_quorum();
        let pause = self.pause();
        let State::Follower(Seat::Taken(f)) = &mut self.state else {
            return;
        };
        let Challenge::Asked {
            round, consents, ..
        } = &mut f.challenge
        else {
            return;
        };
        if *round != consent.round {
            return;
        }
        consents.insert(from.clone());
        if consents.len() < quorum || !consents.contains(&f.leader.id) {
            return;
        }
        let until = now.after(pause);
        f.challenge = Challenge::Rests { until };
        let (id, term) = (f.leader.id.clone(), f.leader.term);
        out.cancel_timer(Timer::Round);
        out.send(&id, Takeover { term });
    }

    /// The leader says for how long it does not give way; another voter's refusal may not matter.
    pub(super) fn on_challenge_refused(&mut self, now: Time, from: &AgentId, ok: &Ok) {
        let State::Follower(Seat::Taken(f)) = &mut self.state else {
            return;
        };
        let asked = matches!(&f.challenge, Challenge::Asked { round, .. } if *round == ok.round);
        if let Some(Refusal::LeaderAlive { retry }) = &ok.refusal
            && asked
            && f.leader.id == *from
        {
            let until = now.after((*retry).into());
            f.challenge = Challenge::Rests { until };
        }
    }

    pub(super) fn on_challenge_due(&mut self, now: Time, out: &mut Out) {
        let pause = self.pause();
        if let State::Follower(Seat::Taken(Followed { challenge, .. })) = &mut self.state
            && let Challenge::Asked { due, .. } = challenge
        {
            if now < *due {
                return out.set_timer(Timer::Round, due.since(now));
            }
            let until = now.after(pause);
            *challenge = Challenge::Rests { until };
        }
    }

    /// How long to leave a leader alone after a challenge that came to nothing.
    fn pause(&self) -> Duration {
        let promise = self.config.timings().promise();
        promise.saturating_add(self.config.drain())
    }

    /// P3 at the leader, which looks once more.
    pub(super) fn on_takeover(
        &mut self,
        now: Time,
        from: &AgentId,
        takeover: &Takeover,
        out: &mut Out,
    ) {
        let score = self.ranks.get(from).copied().flatten();
        let free = |score| self.patience(now, from, score, takeover.term).is_none();
        if score.is_some_and(free) {
            self.begin_drain(now, Some(from.clone()), Duration::ZERO, out);
        } else {
            self.ignore("not to that one, not now");
        }
    }

    /// P5. Another one leads: if the one before had not resigned, it is waited for longer the next
    /// time.
    pub(super) fn note_leader(&mut self, now: Time, id: &AgentId, term: Term) {
        let resigned = |l: &Leadership| {
            let known = self.resigned.as_ref();
            known.is_some_and(|r| r.id == l.id && r.term >= l.term)
        };
        let before = self
            .last_leader
            .as_ref()
            .filter(|l| l.id != *id && !resigned(l));
        if let (Some(before), Preemption::After(steady)) = (before, self.config.preemption()) {
            let period = steady.saturating_mul(16);
            self.flaps
                .entry(before.id.clone())
                .and_modify(|flap| flap.add(now, period))
                .or_insert_with(|| Flap::new(now));
        }
        if self
            .last_leader
            .as_ref()
            .is_none_or(|l| l.id != *id || l.term != term)
        {
            let id = id.clone();
            self.last_leader = Some(Leadership { id, term });
        }
    }
}
