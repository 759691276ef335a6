//! Holding an election, winning it, standing back (B1, B2, B4, C1, C2, C5).
//!
//! Decided here: when a vacant seat is whose turn, whom a candidate asks, when it has won. The
//! *fast path*: who followed a leader and learns of its end announces unasked if it is the first
//! in line in its own snapshot; the k-th waits min(k, 8) steps, and who rests 8 more. Nobody announces
//! unasked at boot or after a restart, except in a closed group, where the snapshot knows everybody.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tracing::debug;

use super::{
    Bully, Elect, Elected, Out, Timer,
    state::{Asked, Candidacy, Followed, Path, Patience, Reign, Seat, State, Turn, Wait},
};
use crate::elections::line;
use crate::protocol::{
    After, AgentId, Event, Leader, LostReason, Member, Members, Presence, Round, Time, To,
};

impl Bully {
    /// Boot, or recovery: the same (C1).
    pub(super) fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.seen = self.seen.max(members.term());
        self.me.members = members;
        let found = self
            .me
            .members
            .leader()
            .filter(|l| l.id != self.me.id)
            .cloned();
        match found {
            Some(leader) if self.stands(now) => self.ask_leader(now, leader.id, None, out),
            Some(leader) => self.follow_found(now, leader, out),
            None => {
                let path = if self.me.members.is_closed() {
                    Path::Announce
                } else {
                    Path::Ask
                };
                self.take_turn(now, path, None, out);
            }
        }
    }

    /// Who is only told takes the snapshot's word for who leads, until it hears the leader.
    fn follow_found(&mut self, now: Time, leader: Leader, out: &mut Out) {
        let Some(score) = self.me.members.get(&leader.id).and_then(|m| m.score) else {
            return;
        };
        self.follow(now, leader, score, out);
    }

    /// The seat is vacant: acts now if first in line, otherwise sets the turn. `gone` is a member
    /// that looks up in the snapshot and is known not to be.
    pub(super) fn take_turn(
        &mut self,
        now: Time,
        path: Path,
        gone: Option<&AgentId>,
        out: &mut Out,
    ) {
        let Some(rank) = self.me.rank().filter(|_| self.may_stand()) else {
            self.leave_state(out);
            self.state = State::Follower(Seat::Vacant(None));
            return;
        };
        let ahead = self.me.members.ahead_of(&rank, gone, line::LAST);
        let behind = line::place(ahead, self.cooldown.is_active(now));
        match (behind, path) {
            (0, Path::Announce) => self.lead(now, out),
            (0, Path::Ask) => self.campaign(now, out),
            _ => {
                self.leave_state(out);
                let path = if behind < line::LAST { path } else { Path::Ask };
                self.set_turn(now, behind, path, out);
            }
        }
    }

    pub(super) fn set_turn(&mut self, now: Time, behind: usize, path: Path, out: &mut Out) {
        self.set_turn_after(now, Duration::ZERO, (behind, path), out);
    }

    /// The turn of who has just left the seat to somebody else. That one need not have heard so: then
    /// it misses the heartbeats first.
    pub(super) fn await_successor(&mut self, now: Time, out: &mut Out) {
        let Some(rank) = self.me.rank().filter(|_| self.may_stand()) else {
            return self.ignore("it does not stand for election");
        };
        let timings = &self.config.timings;
        let missed = timings.detector().map_or(Duration::ZERO, |detector| {
            detector.detection.saturating_add(timings.jitter())
        });
        let ahead = self.me.members.ahead_of(&rank, None, line::LAST);
        let behind = line::place(ahead, self.cooldown.is_active(now));
        self.set_turn_after(now, missed, (behind, Path::Ask), out);
    }

    fn set_turn_after(
        &mut self,
        now: Time,
        start: Duration,
        (behind, path): (usize, Path),
        out: &mut Out,
    ) {
        let wait = line::wait(self.config.timings.step(), behind).saturating_add(start);
        let turn = Turn {
            due: now.after(wait),
            behind,
            path,
        };
        self.state = State::Follower(Seat::Vacant(Some(turn)));
        out.set_timer(
            Timer::Campaign,
            After::jittered(wait, self.config.timings.jitter()),
        );
    }

    /// Asks the leader that is known, and nobody else (two messages when it is well).
    pub(super) fn ask_leader(
        &mut self,
        now: Time,
        id: AgentId,
        following: Option<Followed>,
        out: &mut Out,
    ) {
        let wait = self.config.timings.delay_bound().saturating_mul(2);
        self.leave_state(out);
        let round = self.next_round();
        if let Some(score) = self.me.score {
            out.send(
                &id,
                Elect {
                    round,
                    score,
                    seen: self.seen,
                    takeover: None,
                },
            );
        }
        out.set_timer(Timer::Widen, wait);
        self.state = State::Candidate(Candidacy {
            round,
            pending: BTreeSet::from([id.clone()]),
            asked: Asked::Leader { id, following },
            failed: BTreeSet::new(),
            due: now.after(wait),
            patience: Patience::Fresh,
        });
    }

    /// The leader that was asked first is silent, gone, or no leader: everybody is asked.
    pub(super) fn widen(&mut self, now: Time, out: &mut Out) {
        self.lose_sight(out);
        self.campaign(now, out);
    }

    /// Says that the leader it followed, if it did, is its leader no longer.
    fn lose_sight(&self, out: &mut Out) {
        if let Some(term) = self.followed().map(|f| f.leader.term) {
            out.notify(Event::NoLeader { term });
        }
    }

    /// Holds an election: asks every voter that may be there and is not known to rank below.
    pub(super) fn campaign(&mut self, now: Time, out: &mut Out) {
        let failed = self.take_failed();
        self.hold_election(now, failed, Patience::Fresh, out);
    }

    /// The same, by an agent that knows already that these rank below it.
    pub(super) fn campaign_above(&mut self, now: Time, below: &AgentId, out: &mut Out) {
        self.hold_election(now, BTreeSet::from([below.clone()]), Patience::Fresh, out);
    }

    /// Asks everybody once more: this agent slept through its own deadline, and whoever gave way
    /// may lead by now.
    pub(super) fn ask_again(&mut self, now: Time, out: &mut Out) {
        self.hold_election(now, BTreeSet::new(), Patience::Spent, out);
    }

    fn hold_election(
        &mut self,
        now: Time,
        failed: BTreeSet<AgentId>,
        patience: Patience,
        out: &mut Out,
    ) {
        self.leave_state(out);
        let Some(score) = self.me.score.filter(|_| self.stands(now)) else {
            self.state = State::Follower(Seat::Vacant(None));
            self.ignore("it does not stand for election");
            return self.take_turn(now, Path::Ask, None, out); // who rests has the last one
        };
        let pending: BTreeSet<AgentId> = self
            .me
            .members
            .voters()
            .filter(|m| self.is_asked(m, &failed))
            .map(|m| m.id.clone())
            .collect();
        let round = self.next_round();
        debug!(node = %self.me.id, term = %self.seen, len = pending.len(), "election begins");
        let wait = self.config.timings.deadline();
        if !pending.is_empty() {
            let to = if pending.len() + 1 == self.me.members.len() {
                To::All
            } else {
                To::Set(pending.iter().cloned().collect())
            };
            out.send_to(
                to,
                Elect {
                    round,
                    score,
                    seen: self.seen,
                    takeover: None,
                },
            );
            out.set_timer(Timer::Deadline, wait);
        }
        let (asked, due) = (Asked::Voters, now.after(wait));
        self.state = State::Candidate(Candidacy {
            round,
            asked,
            pending,
            failed,
            due,
            patience,
        });
        self.decide_early(now, out);
    }

    fn is_asked(&self, member: &Member, failed: &BTreeSet<AgentId>) -> bool {
        member.id != self.me.id && member.presence != Presence::Down && !failed.contains(&member.id)
    }

    /// *Early decision*: nobody is left who might outrank this agent.
    pub(super) fn decide_early(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        if candidacy.pending.is_empty() {
            self.lead(now, out);
        }
    }

    /// Announces itself at the next term and believes.
    pub(super) fn lead(&mut self, now: Time, out: &mut Out) {
        let (Some(term), Some(score)) = (self.seen.next(), self.me.score) else {
            self.lose_sight(out);
            self.leave_state(out);
            self.state = State::Follower(Seat::Vacant(None));
            return self.ignore("it cannot be elected, or the terms have come to their end");
        };
        self.leave_state(out);
        self.cooldown.end(Timer::Rest, out);
        self.seen = term;
        let mut beat = Time::MAX;
        out.send_all(Elected {
            term,
            score,
            answer: None,
            sent_at: None,
        });
        if let Some(detector) = self.config.timings.detector() {
            beat = now.after(detector.heartbeat);
            out.set_timer(Timer::Heartbeat, detector.heartbeat);
        }
        self.state = State::Leader(Reign {
            term,
            score,
            beat,
            handover: None,
            challengers: BTreeMap::new(),
        });
        out.notify(Event::Acquired { term });
    }

    /// Stands back for `on`, which holds an election or knows a leader.
    pub(super) fn wait_for(&mut self, now: Time, on: &AgentId, out: &mut Out) {
        let wait = self.config.timings.victory_wait();
        self.stand_back(now, on, Path::Ask, wait, out);
    }

    /// Stands back for `heir`, to which it has just left the seat: there and back takes 2 d, and
    /// when nothing comes by then (a step on top) the seat is vacant, as nobody else can know.
    pub(super) fn wait_for_heir(&mut self, now: Time, heir: &AgentId, out: &mut Out) {
        let timings = &self.config.timings;
        let wait = timings.delay_bound().saturating_mul(2);
        let wait = wait.saturating_add(timings.step());
        self.stand_back(now, heir, Path::Announce, wait, out);
    }

    fn stand_back(&mut self, now: Time, on: &AgentId, path: Path, wait: Duration, out: &mut Out) {
        let failed = self.take_failed();
        let round = self.open_round();
        self.lose_sight(out);
        self.leave_state(out);
        let (on, due, patience) = (on.clone(), now.after(wait), Patience::Fresh);
        self.state = State::Waiting(Wait {
            on,
            path,
            round,
            failed,
            due,
            patience,
        });
        out.set_timer(Timer::Victory, wait);
    }

    /// Ends the belief: said first, before anything else of the step.
    pub(super) fn lose(&mut self, reason: LostReason, out: &mut Out) {
        let Some(term) = self.reign().map(|r| r.term) else {
            return;
        };
        self.leave_state(out);
        self.floor = self.floor.max(term);
        out.notify(Event::Lost { term, reason });
        self.state = State::Follower(Seat::Vacant(None));
    }

    /// Stops the timers of the present role.
    pub(super) fn leave_state(&self, out: &mut Out) {
        match &self.state {
            State::Follower(Seat::Vacant(None)) => {}
            State::Follower(Seat::Vacant(Some(_))) => out.cancel_timer(Timer::Campaign),
            State::Follower(Seat::Taken(_)) => out.cancel_timer(Timer::Detect),
            State::Candidate(candidacy) => out.cancel_timer(candidacy.timer()),
            State::Waiting(_) => out.cancel_timer(Timer::Victory),
            State::Leader(reign) => {
                out.cancel_timer(Timer::Heartbeat);
                if reign.handover.is_some() {
                    out.cancel_timer(Timer::Drain);
                }
                if !reign.challengers.is_empty() {
                    out.cancel_timer(Timer::Preempt);
                }
            }
        }
    }

    fn take_failed(&mut self) -> BTreeSet<AgentId> {
        match &mut self.state {
            State::Candidate(candidacy) => std::mem::take(&mut candidacy.failed),
            State::Waiting(wait) => std::mem::take(&mut wait.failed),
            State::Follower(_) | State::Leader(_) => BTreeSet::new(),
        }
    }

    /// The round that this agent asked last, unless it is decided.
    pub(super) fn open_round(&self) -> Option<Round> {
        match &self.state {
            State::Candidate(candidacy) => Some(candidacy.round),
            State::Waiting(wait) => wait.round,
            State::Follower(_) | State::Leader(_) => None,
        }
    }

    fn next_round(&mut self) -> Round {
        self.rounds = self.rounds.saturating_add(1);
        Round {
            incarnation: self.me.incarnation,
            counter: self.rounds,
        }
    }
}
