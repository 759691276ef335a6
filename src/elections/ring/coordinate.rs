//! The announcement and the heartbeats (N6, N7, N9): on their way round, and home again.
//!
//! Both are one message, so a missed announcement heals with the next heartbeat. Among
//! announcements the term decides, then the rank; an older one is stale.

use super::{
    AgentId, Coordinator, Defect, ElectionId, Lap, Out, Ring, Timer,
    hop::Way,
    state::{Followed, Passed, Patience, Reign, Seat, Stage},
};
use crate::protocol::{After, Event, Leader, LostReason, Member, Term, Time};

impl Ring {
    /// N6: this member is the one. It believes so when its announcement has come home, that is
    /// when all who can be reached have given up any other leader.
    pub(super) fn win(&mut self, now: Time, election: ElectionId, out: &mut Out) {
        let Some(rank) = self.me.rank() else {
            return self.end_contest(out); // ineligible since it was collected
        };
        let term = election.term;
        self.forget_hop(Lap::Collect, out);
        self.forget_hop(Lap::Nominate, out);
        self.take_part(now, election, Stage::Announced, out);
        self.closed = self.closed.max(term);
        let announcement = Coordinator {
            leader: rank.id,
            incarnation: self.me.incarnation,
            score: rank.score,
            term,
            beat: 0,
        };
        if self.pass(now, announcement.into(), out) == Way::Home {
            self.is_home(now, term, out);
        }
    }

    /// An announcement or a heartbeat of this agent has been everywhere.
    pub(super) fn is_home(&mut self, now: Time, term: Term, out: &mut Out) {
        let lost = self.config.lost(self.size());
        let won = |s: &super::state::Contest| s.stage == Stage::Announced && s.id.term == term;
        if self.contest.as_ref().is_some_and(won) {
            self.end_contest(out);
            return self.lead(now, term, out);
        }
        if let Seat::Mine(reign) = &mut self.seat
            && reign.term == term
        {
            reign.home = now.after(lost);
            out.set_timer(Timer::Lost, lost);
        }
    }

    fn lead(&mut self, now: Time, term: Term, out: &mut Out) {
        let span = self.config.detector().heartbeat;
        let lost = self.config.lost(self.size());
        let before = match &self.seat {
            Seat::Mine(reign) => Some(reign.handover.clone()),
            Seat::Vacant | Seat::Taken(_) => None,
        };
        out.set_timer(Timer::Beat, span);
        out.set_timer(Timer::Lost, lost);
        out.notify(match before {
            Some(_) => Event::Renewed { term },
            None => Event::Acquired { term },
        });
        let news = before.is_none();
        self.seat = Seat::Mine(Reign {
            term,
            beat: now.after(span),
            count: 0,
            home: now.after(lost),
            handover: before.flatten(),
        });
        self.cooldown.end(Timer::Rest, out);
        self.tell_observers(0, out);
        if news && self.me.score.is_none() {
            self.begin_drain(now, None, out); // became ineligible while it announced itself
        }
    }

    /// N9: the heartbeat goes round.
    pub(super) fn beat(&mut self, now: Time, out: &mut Out) {
        let Seat::Mine(reign) = &mut self.seat else {
            return;
        };
        let span = self.config.detector().heartbeat;
        reign.beat = now.after(span);
        out.set_timer(Timer::Beat, span);
        if self
            .contest
            .as_ref()
            .is_some_and(|c| c.stage == Stage::Announced)
        {
            return; // the announcement of a higher term is on its way
        }
        reign.count = reign.count.saturating_add(1);
        let (beat, term) = (reign.count, reign.term);
        let Some(message) = self.announcement(beat) else {
            return;
        };
        self.tell_observers(beat, out);
        if self.pass(now, message.into(), out) == Way::Home {
            self.is_home(now, term, out);
        }
    }

    fn announcement(&self, beat: u64) -> Option<Coordinator> {
        let Seat::Mine(reign) = &self.seat else {
            return None;
        };
        Some(Coordinator {
            leader: self.me.id.clone(),
            incarnation: self.me.incarnation,
            score: self.me.score.unwrap_or(self.last_score),
            term: reign.term,
            beat,
        })
    }

    /// Observers are not in the ring: they are told by the leader itself.
    fn tell_observers(&self, beat: u64, out: &mut Out) {
        let told = self.observers.clone().filter(|some| !some.is_empty());
        if let (Some(observers), Some(message)) = (told, self.announcement(beat)) {
            out.send_to(crate::protocol::To::Set(observers), message);
        }
    }

    pub(super) fn on_beat_due(&mut self, now: Time, out: &mut Out) {
        let detection = self.config.detector().detection;
        let Seat::Mine(reign) = &self.seat else {
            return self.ignore("no heartbeat from who does not lead");
        };
        if now < reign.beat {
            return out.set_timer(Timer::Beat, reign.beat.since(now));
        }
        if now.since(reign.beat) <= detection {
            return self.beat(now, out);
        }
        // It slept for longer than others wait, and may have a successor already.
        if reign.handover.is_some() {
            return self.on_drained(now, out);
        }
        self.lose(LostReason::Stalled, out);
        self.reconsider(now, out);
    }

    /// N7.
    pub(super) fn on_coordinator(
        &mut self,
        now: Time,
        from: &AgentId,
        m: Coordinator,
        out: &mut Out,
    ) {
        if self.me.is_voter() && self.me.members.get(from).is_some_and(Member::is_voter) {
            self.acknowledge(from, (Lap::Coordinator, m.term, &m.leader, m.beat), out);
        }
        if m.leader == self.me.id {
            return self.on_own(now, &m, out);
        }
        self.is_there(&m.leader, m.incarnation);
        let fit = |l: &Member| l.is_voter() && !l.is_stale(m.incarnation);
        if !self.me.members.get(&m.leader).is_some_and(fit) {
            return self.ignore("not from a leader that is there");
        }
        self.seen = self.seen.max(m.term);
        if self.is_stale(&m) && !self.config.has(Defect::StaleIsNews) {
            if !self.me.is_voter() {
                // Nobody waits for this acknowledgement, but the leader has to learn the term.
                let named = (Lap::Coordinator, m.term, &m.leader, m.beat);
                self.acknowledge(from, named, out);
            }
            return self.ignore("an older announcement");
        }
        let passed = Passed {
            term: m.term,
            leader: m.leader.clone(),
            incarnation: m.incarnation,
            beat: m.beat,
        };
        let again = |p: &Passed| {
            let same = (p.term, &p.leader, p.incarnation) == (m.term, &m.leader, m.incarnation);
            same && p.beat >= m.beat
        };
        if self.passed.as_ref().is_some_and(again) {
            return self.ignore("passed on before");
        }
        self.passed = Some(passed);
        let leader = Leader {
            id: m.leader.clone(),
            incarnation: m.incarnation,
            term: m.term,
        };
        self.follow(now, leader, m.score, out);
        if self.me.is_voter() {
            self.pass(now, m.into(), out); // nobody left, not even the leader: it ends here
        }
        self.reconsider(now, out);
    }

    /// What this agent said has come back, or a former life of it is still followed.
    fn on_own(&mut self, now: Time, m: &Coordinator, out: &mut Out) {
        if m.incarnation == self.me.incarnation {
            return self.is_home(now, m.term, out);
        }
        self.seen = self.seen.max(m.term);
        if self.me.is_voter() && self.contest.is_none() && m.term > self.closed {
            self.begin(now, out); // above the term of that life
        }
    }

    /// Whether a newer announcement is known: of a higher term, or of the same by who ranks above.
    fn is_stale(&self, m: &Coordinator) -> bool {
        if m.term != self.closed {
            return m.term < self.closed;
        }
        let above = |score, id: &AgentId| (score, id) > (m.score, &m.leader);
        match &self.seat {
            Seat::Taken(f) if f.leader.id == m.leader => m.incarnation < f.leader.incarnation,
            Seat::Taken(f) => f.leader.term == m.term && above(f.score, &f.leader.id),
            Seat::Mine(reign) if reign.term == m.term => {
                above(self.me.score.unwrap_or(self.last_score), &self.me.id)
            }
            Seat::Mine(_) | Seat::Vacant => {
                let announced =
                    |c: &super::state::Contest| c.stage == Stage::Announced && c.id.term == m.term;
                let mine = self.contest.as_ref().is_some_and(announced);
                mine && above(self.me.score.unwrap_or(self.last_score), &self.me.id)
            }
        }
    }

    fn follow(&mut self, now: Time, leader: Leader, score: crate::protocol::Score, out: &mut Out) {
        self.closed = self.closed.max(leader.term);
        if self
            .contest
            .as_ref()
            .is_some_and(|c| c.id.term <= leader.term)
        {
            self.end_contest(out);
        }
        self.lose(LostReason::Superseded, out);
        let (news, challenged) = match &self.seat {
            Seat::Taken(f) => (f.leader != leader, f.leader.id == leader.id),
            Seat::Vacant | Seat::Mine(_) => (true, false),
        };
        let stays = challenged && self.me.outranks(score, &leader.id);
        if !stays && self.turn.take().is_some() {
            out.cancel_timer(Timer::Turn);
        }
        if news {
            out.notify(Event::NewLeader(leader.clone()));
        }
        let span = self.config.lost(self.size());
        let jitter = self.config.timings().jitter();
        out.set_timer(Timer::Lost, After::jittered(span, jitter));
        self.seat = Seat::Taken(Followed {
            leader,
            score,
            due: now.after(span),
            patience: Patience::Fresh,
        });
    }

    /// N9 at a follower: the leader is silent. At the leader: its heartbeats do not come home.
    pub(super) fn on_lost_due(&mut self, now: Time, out: &mut Out) {
        let late = self.config.timings().delay_bound();
        let late = late.saturating_add(self.config.timings().jitter());
        let span = self.config.lost(self.size());
        let jitter = self.config.timings().jitter();
        match &mut self.seat {
            Seat::Vacant => self.ignore("nobody is watched"),
            Seat::Taken(f) if now < f.due => {
                out.set_timer(Timer::Lost, After::jittered(f.due.since(now), jitter));
            }
            Seat::Taken(f) if now.since(f.due) > late && f.patience == Patience::Fresh => {
                f.patience = Patience::Spent; // this agent slept
                f.due = now.after(span);
                out.set_timer(Timer::Lost, After::jittered(span, jitter));
            }
            Seat::Taken(f) => {
                let id = f.leader.id.clone();
                self.suspect(now, &id, out);
                self.leader_gone(now, out);
                self.pass_over_absent(now, out);
            }
            Seat::Mine(reign) if now < reign.home => {
                out.set_timer(Timer::Lost, reign.home.since(now));
            }
            Seat::Mine(reign) => {
                reign.home = now.after(span);
                out.set_timer(Timer::Lost, span);
                if self.contest.is_none() && !self.is_alone() {
                    self.begin(now, out);
                }
            }
        }
    }

    /// Nobody is followed any more.
    pub(super) fn leader_gone(&mut self, now: Time, out: &mut Out) {
        let Seat::Taken(f) = &self.seat else { return };
        let (id, term) = (f.leader.id.clone(), f.leader.term);
        out.notify(Event::NoLeader { term });
        out.cancel_timer(Timer::Lost);
        self.seat = Seat::Vacant;
        if self.contest.is_none() {
            self.take_turn(now, Some(&id), out);
        }
    }

    /// Ends the belief, if there is one.
    pub(super) fn lose(&mut self, reason: LostReason, out: &mut Out) {
        let Seat::Mine(reign) = &self.seat else {
            return;
        };
        let term = reign.term;
        out.notify(Event::Lost { term, reason });
        for timer in [Timer::Beat, Timer::Lost, Timer::Drain] {
            out.cancel_timer(timer);
        }
        self.seat = Seat::Vacant;
    }
}
