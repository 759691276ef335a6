//! `Elected` and `Heartbeat` (B6, C7, C8), and `Resign` (C9): what leaders say of themselves.
//!
//! The first two are handled alike, so a missed `Elected` heals with the next heartbeat. Among
//! announcements the term decides, then the rank; an older one is stale. An announcement by a life
//! that the snapshot knows to be over is never adopted.

use super::{
    Bully, Defect, Elected, Out, Preemption, Resign, Timer, Yield,
    state::{Followed, Path, Patience, Seat, State},
};
use crate::protocol::{
    After, AgentId, Event, Incarnation, Leader, LostReason, Member, Round, Score, Term, Time,
};

/// An announcement: `Elected`, or `Heartbeat` (which answers nothing).
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub term: Term,
    pub score: Score,
    pub answer: Option<Round>,
}

impl Bully {
    pub(super) fn on_announcement(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Said,
        out: &mut Out,
    ) {
        if self.refresh(now, from, incarnation, said, out) {
            return;
        }
        let is_voter = self.me.members.get(from).is_some_and(Member::is_voter);
        if !is_voter {
            return self.ignore("an observer leads nobody");
        }
        self.seen = self.seen.max(said.term);
        if matches!(self.state, State::Leader(_)) {
            return self.meet_leader(now, from, incarnation, said, out);
        }
        let believes_all = self.config.has(Defect::StaleIsNews);
        if said.term < self.floor && self.followed().is_none() && !believes_all {
            // It may lead, but above the terms that I have followed, or that have ended.
            let seen = self.seen.max(self.floor);
            return out.send(
                from,
                Yield {
                    round: Round::default(),
                    seen,
                    released: None,
                },
            );
        }
        let stale = |f: &Followed| {
            let newer = if f.leader.id == *from {
                (said.term, incarnation) >= (f.leader.term, f.leader.incarnation)
            } else {
                (said.term, said.score, from) > (f.leader.term, f.score, &f.leader.id)
            };
            !newer
        };
        if self.followed().is_some_and(stale) && !believes_all {
            return self.ignore("an older announcement");
        }
        self.consider(now, from, incarnation, said, out);
    }

    /// The steady state: the leader that I follow is heard again.
    fn refresh(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Said,
        out: &mut Out,
    ) -> bool {
        let State::Follower(Seat::Taken(f)) = &mut self.state else {
            return false;
        };
        let same = f.leader.term == said.term
            && f.score == said.score
            && f.leader.incarnation == incarnation
            && f.leader.id == *from;
        if let (true, Some(detector)) = (same, self.config.timings.detector()) {
            f.due = now.after(detector.detection);
            f.patience = Patience::Fresh;
            let jitter = self.config.timings.jitter();
            out.set_timer(Timer::Detect, After::jittered(detector.detection, jitter));
        }
        same
    }

    /// Follows the announcer, or asks it to yield.
    fn consider(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Said,
        out: &mut Out,
    ) {
        let challenges = self.challenges(now, said.score, from);
        let leader = Leader {
            id: from.clone(),
            incarnation,
            term: said.term,
        };
        if let State::Candidate(candidacy) = &self.state
            && candidacy.has_asked(from)
        {
            if challenges && said.answer != Some(candidacy.round) {
                return self.ignore("it ranks below, and has not heard the question yet");
            }
            return self.follow(now, leader, said.score, out); // its policy decides
        }
        match self.config.preemption {
            Preemption::Immediately if challenges => {
                let following = self.followed().filter(|f| f.leader.id == *from).cloned();
                if following.is_none()
                    && let Some(term) = self.followed().map(|f| f.leader.term)
                {
                    out.notify(Event::NoLeader { term });
                }
                self.ask_leader(now, leader.id, following, out);
            }
            Preemption::After(_) if challenges => {
                self.follow(now, leader, said.score, out);
                let following = self.followed().cloned();
                self.ask_leader(now, from.clone(), following, out);
            }
            Preemption::Immediately | Preemption::After(_) | Preemption::Never => {
                self.follow(now, leader, said.score, out);
            }
        }
    }

    pub(super) fn follow(&mut self, now: Time, leader: Leader, score: Score, out: &mut Out) {
        let news = self.followed().is_none_or(|f| f.leader != leader);
        self.floor = self.floor.max(leader.term);
        if !matches!(self.state, State::Follower(Seat::Taken(_))) {
            self.leave_state(out);
        }
        let mut due = Time::MAX;
        if let Some(detector) = self.config.timings.detector() {
            due = now.after(detector.detection);
            let jitter = self.config.timings.jitter();
            out.set_timer(Timer::Detect, After::jittered(detector.detection, jitter));
        }
        if news {
            out.notify(Event::NewLeader(leader.clone()));
        }
        let patience = Patience::Fresh;
        self.state = State::Follower(Seat::Taken(Followed {
            leader,
            score,
            due,
            patience,
        }));
    }

    /// Two leaders meet: after a partition, or because both took a vacant seat.
    fn meet_leader(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Said,
        out: &mut Out,
    ) {
        let Some((mine, score)) = self.reign().map(|r| (r.term, r.score)) else {
            return;
        };
        let above = self.me.outranks(said.score, from);
        let bullies = self.config.preemption == Preemption::Immediately;
        if said.term < mine || said.term == mine && above {
            return out.send(
                from,
                Elected {
                    term: mine,
                    score,
                    answer: None,
                    sent_at: None,
                },
            );
        }
        if said.term > mine && above && bullies && self.stands(now) {
            return self.renew_above(said.term, out);
        }
        if self.config.has(Defect::MeetsAndLeads) {
            return;
        }
        self.lose(LostReason::Superseded, out);
        self.consider(now, from, incarnation, said, out);
    }

    /// A leader raises its term above one that was seen, without a gap in its belief.
    pub(super) fn renew_above(&mut self, seen: Term, out: &mut Out) {
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let Some(term) = self.seen.max(seen).next().filter(|_| seen > reign.term) else {
            return;
        };
        reign.term = term;
        self.seen = term;
        out.send_all(Elected {
            term,
            score: reign.score,
            answer: None,
            sent_at: None,
        });
        out.notify(Event::Renewed { term });
    }

    pub(super) fn on_resign(&mut self, now: Time, from: &AgentId, resign: &Resign, out: &mut Out) {
        self.seen = self.seen.max(resign.term);
        let mine = |f: &Followed| f.leader.id == *from && f.leader.term <= resign.term;
        match (self.followed(), &self.state) {
            (_, State::Leader(_)) => return self.ignore("a leader needs no successor's place"),
            (Some(f), _) if !mine(f) => return self.ignore("not the leader that is followed"),
            (Some(f), _) => out.notify(Event::NoLeader {
                term: f.leader.term,
            }),
            (None, _) => {}
        }
        let followed = self.followed().is_some();
        let called = resign.successor.as_ref() == Some(&self.me.id) && resign.term >= self.floor;
        self.floor = self.floor.max(resign.term.next().unwrap_or(resign.term));
        if called && self.stands(now) {
            self.lead(now, out);
        } else if followed {
            self.leave_state(out);
            self.state = State::Follower(Seat::Vacant(None));
            self.take_turn_after(now, from, resign.successor.as_ref(), out);
        }
    }

    /// Waits for the successor that was named, then takes the turn; without one, at once.
    fn take_turn_after(
        &mut self,
        now: Time,
        gone: &AgentId,
        successor: Option<&AgentId>,
        out: &mut Out,
    ) {
        let path = Path::Announce;
        let Some(rank) = self.me.rank().filter(|_| self.stands(now)) else {
            return self.take_turn(now, path, Some(gone), out);
        };
        match successor.and_then(|id| self.me.members.get(id)) {
            Some(next) if next.is_up() => {
                let behind = self
                    .me
                    .members
                    .ahead_of(&rank, Some(gone), 7)
                    .saturating_add(1);
                self.set_turn(now, behind, path, out);
            }
            Some(_) | None => self.take_turn(now, path, Some(gone), out),
        }
    }
}
