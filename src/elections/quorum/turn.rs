//! Whose turn it is (S1), what binds a voter, and how a role is left.
//!
//! A turn comes after S for each voter that outranks this agent, so the most important one asks
//! first. Nobody waits for a leader that has just gone, or for a voter that is certainly down.

use std::{sync::Arc, time::Duration};

use super::{
    Defect, Leadership, Out, QuorumBully, Timer,
    state::{Belief, Certainty, Gone, Posture, Promise, Seat, State, Vacancy},
};
use crate::elections::line;
use crate::protocol::{After, AgentId, Event, LostReason, Members, Presence, Score, Term, Time};

impl QuorumBully {
    /// S1. A voter whose record shows that it may have supported a leader abstains for P, or for the
    /// longest promise that the record keeps: that promise is forgotten, and the leader may rely on
    /// it still. So does every voter at the beginning of an epoch but the first: others may have
    /// promised something before it.
    pub(super) fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.me.members = members;
        let promise = self.config.timings().promise();
        self.enter_epoch(now, out);
        let arrives = self.config.is_arrival(self.vote.term);
        let forgot = self.vote.term > Term::ZERO && self.config.lease_quorum() > 1 || arrives;
        let mut wait = if !forgot {
            Duration::ZERO
        } else if self.config.has(Defect::QuarantineOfOwnPromise) {
            promise
        } else {
            promise.max(self.vote.promise.into())
        };
        self.quarantine = Some(now.after(wait));
        if self.me.members.leader().is_some_and(|l| l.id != self.me.id) {
            wait = wait.max(promise); // it will be heard before
        }
        self.take_turn(now, wait, None, out);
    }

    /// From now on this voter's record belongs to its epoch: no earlier one takes it back.
    fn enter_epoch(&mut self, now: Time, out: &mut Out) {
        let first = self.config.first_term();
        if self.me.is_voter() && self.vote.term < first {
            self.record(now, first, None, out);
        }
    }

    /// The seat is vacant: this agent's turn comes after `wait` and its place in line.
    pub(super) fn take_turn(
        &mut self,
        now: Time,
        wait: Duration,
        last: Option<Gone>,
        out: &mut Out,
    ) {
        let (step, jitter) = self.pace(last.as_ref());
        let line = step.saturating_mul(self.ahead(now, last.as_ref()));
        let wait = wait.max(self.barred(now)).saturating_add(line);
        let is_certain = last.as_ref().map(|g| g.certain) == Some(Certainty::Certain);
        if wait.is_zero() && (is_certain || self.peers.is_empty()) && self.me.eligible().is_some() {
            let last = Vacancy {
                last,
                ..Vacancy::NONE
            };
            self.state = State::Follower(Seat::Vacant(last));
            return self.stand(now, out); // first in line, and nobody else would go first
        }
        let after = After::jittered(wait, jitter);
        self.set_vacancy(now, Posture::OwnTurn, after, last, out);
    }

    /// This agent gave way: it waits W for the other one.
    pub(super) fn stand_back(&mut self, now: Time, last: Option<Gone>, out: &mut Out) {
        out.cancel_timer(Timer::Round);
        let after = After::jittered(self.config.wait(), self.config.timings().jitter());
        self.set_vacancy(now, Posture::StandsBack, after, last, out);
    }

    /// An attempt failed: again after `retry`, the most important first, spread over a round so
    /// that rivals part.
    pub(super) fn try_again(
        &mut self,
        now: Time,
        retry: Duration,
        last: Option<Gone>,
        out: &mut Out,
    ) {
        let (step, _) = self.pace(last.as_ref());
        let round = self.config.timings().round();
        let is_certain = last.as_ref().map(|g| g.certain) == Some(Certainty::Certain);
        let retry = if is_certain { retry.min(round) } else { retry };
        let line = step.saturating_mul(self.ahead(now, last.as_ref()));
        out.cancel_timer(Timer::Round);
        let after = After::jittered(retry.saturating_add(line), round);
        self.set_vacancy(now, Posture::OwnTurn, after, last, out);
    }

    fn set_vacancy(
        &mut self,
        now: Time,
        posture: Posture,
        after: After,
        last: Option<Gone>,
        out: &mut Out,
    ) {
        let due = if self.me.eligible().is_some() {
            out.set_timer(Timer::Election, after);
            now.after(after.min)
        } else {
            out.cancel_timer(Timer::Election);
            Time::MAX
        };
        let vacancy = Vacancy { due, posture, last };
        self.state = State::Follower(Seat::Vacant(vacancy));
    }

    /// S and J; after a certain end both come from d, since everybody hears of it at once.
    fn pace(&self, last: Option<&Gone>) -> (Duration, Duration) {
        let timings = self.config.timings();
        match last.map(|gone| gone.certain) {
            Some(Certainty::Certain) => (timings.delay_bound(), timings.delay_bound()),
            Some(Certainty::Guessed) | None => (timings.step(), timings.jitter()),
        }
    }

    /// How many voters go first; who rests lets eight more.
    fn ahead(&self, now: Time, last: Option<&Gone>) -> u32 {
        let Some(score) = self.me.score else { return 0 };
        let first = self
            .peers
            .iter()
            .filter(|id| self.goes_first(score, id, last));
        let first = u32::try_from(first.count()).unwrap_or(u32::MAX);
        if now < self.rest.challenge {
            first.saturating_add(u32::try_from(line::LAST).unwrap_or(u32::MAX))
        } else {
            first
        }
    }

    /// Whether that voter is believed to outrank this agent, and may be there.
    pub(super) fn goes_first(&self, mine: Score, id: &AgentId, last: Option<&Gone>) -> bool {
        let is_down = |id| {
            self.me
                .members
                .get(id)
                .is_some_and(|m| m.presence == Presence::Down)
        };
        self.score_of(id)
            .is_some_and(|theirs| (theirs, id) > (mine, &self.me.id))
            && last.is_none_or(|gone| gone.id != *id)
            && !is_down(id)
    }

    /// For how long this agent may not stand, whatever its turn.
    pub(super) fn barred(&self, now: Time) -> Duration {
        let resting = self.rest.campaign.since(now);
        resting.max(self.blocked(now, &self.me.id, None))
    }

    /// Until nobody is supported any more: what stands between `candidate` and this voter's vote.
    pub(super) fn blocked(
        &self,
        now: Time,
        candidate: &AgentId,
        released: Option<&Leadership>,
    ) -> Duration {
        let binds = |p: &&Promise| {
            p.holder != *candidate
                && !released.is_some_and(|leadership| p.is_released_by(leadership))
        };
        let abstains = if self.config.has(Defect::NoQuarantine) {
            Duration::ZERO
        } else {
            self.quarantine.unwrap_or(Time::MAX).since(now)
        };
        let promised = self.promise.as_ref().filter(binds);
        let promised = promised.map_or(Duration::ZERO, |p| p.until.since(now));
        if abstains.is_zero() {
            promised
        } else {
            abstains
        }
    }

    /// Ends a leadership: the belief first, before anything else of the step.
    pub(super) fn step_down(&mut self, reason: LostReason, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        if let Belief::Held { .. } = reign.belief {
            let term = reign.term;
            out.notify(Event::Lost { term, reason });
        }
        self.leave_role(out);
    }

    /// Stops what the present role has running; a follower without a leader is left.
    pub(super) fn leave_role(&mut self, out: &mut Out) {
        match &self.state {
            State::Follower(_) => return self.drop_leader(out),
            State::Probing(_) | State::Claiming(_) => out.cancel_timer(Timer::Round),
            State::Leader(reign) => {
                out.cancel_timer(Timer::Heartbeat);
                out.cancel_timer(match reign.belief {
                    Belief::Pending { .. } => Timer::Round,
                    Belief::Held { .. } => Timer::Lease,
                });
                if reign.draining.is_some() {
                    out.cancel_timer(Timer::Drain);
                }
            }
        }
        self.state = State::Follower(Seat::Vacant(Vacancy::NONE));
    }

    /// Follows nobody any more.
    pub(super) fn drop_leader(&mut self, out: &mut Out) {
        let State::Follower(Seat::Taken(followed)) = &self.state else {
            return;
        };
        let term = followed.leader.term;
        out.notify(Event::NoLeader { term });
        if followed.asks() {
            out.cancel_timer(Timer::Round);
        }
        self.state = State::Follower(Seat::Vacant(Vacancy::NONE));
    }
}
