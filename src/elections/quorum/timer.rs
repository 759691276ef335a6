//! What happens when a timer is due. A timer is a hint: each deadline is checked again.

use std::time::Duration;

use super::{
    Out, QuorumBully, Timer,
    state::{Certainty, Gone, Seat, State},
};
use crate::protocol::{AgentId, Time};

impl QuorumBully {
    pub(super) fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Out) {
        match timer {
            Timer::Election => self.on_election_due(now, out),
            Timer::Round => self.on_round_due(now, out),
            Timer::Heartbeat => self.on_heartbeat_due(now, out),
            Timer::Lease => self.on_lease_due(now, out),
            Timer::Drain => self.on_drain_due(now, out),
            Timer::Campaign
            | Timer::Widen
            | Timer::Deadline
            | Timer::Victory
            | Timer::Detect
            | Timer::Preempt
            | Timer::Rest => {}
        }
    }

    fn on_election_due(&mut self, now: Time, out: &mut Out) {
        match &self.state {
            State::Follower(Seat::Vacant(vacancy)) if now < vacancy.due => {
                if vacancy.due < Time::MAX {
                    out.set_timer(Timer::Election, vacancy.due.since(now));
                }
            }
            State::Follower(Seat::Vacant(_)) => self.stand(now, out),
            State::Follower(Seat::Taken(followed)) if now < followed.due => {
                out.set_timer(Timer::Election, followed.due.since(now));
            }
            State::Follower(Seat::Taken(followed)) => {
                let id = followed.leader.id.clone();
                self.lose_leader(now, id, Certainty::Guessed, out);
            }
            State::Probing(_) | State::Claiming(_) | State::Leader(_) => {
                self.ignore("it is more than a follower");
            }
        }
    }

    /// The leader that was followed is gone.
    pub(super) fn lose_leader(
        &mut self,
        now: Time,
        id: AgentId,
        certain: Certainty,
        out: &mut Out,
    ) {
        self.drop_leader(out);
        self.take_turn(now, Duration::ZERO, Some(Gone { id, certain }), out);
    }

    /// A round of questions or votes is over.
    fn on_round_due(&mut self, now: Time, out: &mut Out) {
        match &mut self.state {
            State::Probing(probe) if now < probe.due => {
                out.set_timer(Timer::Round, probe.due.since(now));
            }
            State::Probing(_) => self.decide(now, out),
            State::Claiming(claiming) if now < claiming.due => {
                out.set_timer(Timer::Round, claiming.due.since(now));
            }
            State::Claiming(claiming) => {
                let (retry, last) = (claiming.retry, claiming.last.take());
                self.try_again(now, retry, last, out);
            }
            State::Leader(_) => self.on_belief_overdue(now, out),
            State::Follower(_) => self.on_challenge_due(now, out),
        }
    }
}
