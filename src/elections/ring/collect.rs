//! An election begins, goes round and closes (N1, N3, N4), and is given up (N8).

use std::time::Duration;

use super::{
    AgentId, Bounded, Collect, Defect, ElectionId, Entrant, Lap, Nominate, Out, Ring, Timer,
    hop::Way,
    state::{Contest, Seat, Stage, Turn, Why},
};
use crate::elections::line;
use crate::protocol::{After, Member, Time};

impl Ring {
    /// N1. Also who cannot be elected may begin: it passes on what others are chosen by.
    pub(super) fn begin(&mut self, now: Time, out: &mut Out) {
        let Some(term) = self.seen.next() else {
            return self.ignore("the terms have come to their end");
        };
        let election = ElectionId {
            term,
            score: self.me.eligible(),
            origin: self.me.id.clone(),
            incarnation: self.me.incarnation,
        };
        let entrants = Bounded::of(self.entrant(now));
        self.take_part(now, election.clone(), Stage::Collected, out);
        let collect = Collect { election, entrants };
        if self.pass(now, collect.clone().into(), out) == Way::Home {
            self.close(now, collect.election, collect.entrants.as_slice(), out);
        }
    }

    fn entrant(&self, now: Time) -> Entrant {
        Entrant {
            id: self.me.id.clone(),
            incarnation: self.me.incarnation,
            score: self.me.score,
            rests: self.cooldown.is_active(now),
        }
    }

    /// This is the election that counts from now on, until it has an outcome.
    pub(super) fn take_part(&mut self, now: Time, id: ElectionId, stage: Stage, out: &mut Out) {
        self.seen = self.seen.max(id.term);
        self.turn = None;
        out.cancel_timer(Timer::Turn);
        let span = self.config.token(self.size());
        let due = now.after(span);
        self.contest = Some(Contest { id, stage, due });
        let jitter = self.config.timings().jitter();
        out.set_timer(Timer::Token, After::jittered(span, jitter));
    }

    /// N3.
    pub(super) fn on_collect(&mut self, now: Time, from: &AgentId, m: Collect, out: &mut Out) {
        let id = &m.election;
        self.acknowledge(from, (Lap::Collect, id.term, &id.origin, 0), out);
        for entrant in m.entrants.as_slice() {
            self.is_there(&entrant.id, entrant.incarnation);
        }
        if id.term <= self.closed {
            return self.ignore("an election that is over");
        }
        let names_me = |e: &Entrant| e.id == self.me.id && e.incarnation == self.me.incarnation;
        let circle = m.entrants.as_slice().iter().any(names_me);
        match &self.contest {
            Some(contest) if contest.id > *id && !self.config.has(Defect::WeakerCounts) => {
                return self.ignore("a stronger election is under way");
            }
            Some(contest) if contest.id == *id => {
                if circle && contest.stage == Stage::Collected {
                    self.close(now, m.election, m.entrants.as_slice(), out);
                }
                return; // otherwise a copy
            }
            Some(_) | None => {}
        }
        if circle {
            return self.ignore("an election that was given up");
        }
        let Collect {
            election,
            mut entrants,
        } = m;
        self.take_part(now, election.clone(), Stage::Collected, out);
        entrants.push(self.entrant(now)); // a full list goes on without this member
        let collect = Collect { election, entrants };
        if self.pass(now, collect.clone().into(), out) == Way::Home {
            self.close(now, collect.election, collect.entrants.as_slice(), out);
        }
    }

    /// N4: everybody who is there is on the list.
    pub(super) fn close(
        &mut self,
        now: Time,
        election: ElectionId,
        entrants: &[Entrant],
        out: &mut Out,
    ) {
        if self.contest.as_ref().is_none_or(|c| c.id != election) {
            return self.ignore("another election is under way");
        }
        let Some(winner) = self.best(entrants).cloned() else {
            return self.end_contest(out); // nobody can be elected
        };
        if winner.id == self.me.id {
            return self.win(now, election, out);
        }
        if let Some(contest) = &mut self.contest {
            contest.stage = Stage::Nominated;
        }
        let nominate = Nominate {
            election,
            winner: winner.id,
            incarnation: winner.incarnation,
            passed: Bounded::of(self.me.id.clone()),
        };
        let election = nominate.election.clone();
        if self.pass(now, nominate.into(), out) == Way::Home {
            self.winner_is_gone(now, &election, out);
        }
    }

    /// The most important one; of those who rest only if there is nobody else, and none that is
    /// known to have ended since it was collected.
    fn best<'a>(&self, entrants: &'a [Entrant]) -> Option<&'a Entrant> {
        let may_lead = |e: &&Entrant| {
            let member = self.me.members.get(&e.id);
            let stands = |m: &Member| m.is_voter() && !m.is_stale(e.incarnation);
            e.score.is_some() && (e.id == self.me.id || member.is_some_and(stands))
        };
        let fit = entrants.iter().filter(may_lead);
        fit.max_by_key(|e| (!e.rests, e.score, &e.id))
    }

    /// N8: no outcome. Whoever still has a reason for an election takes its turn to begin one.
    pub(super) fn on_token_due(&mut self, now: Time, out: &mut Out) {
        let Some(contest) = &self.contest else {
            return self.ignore("no election is under way");
        };
        if now < contest.due {
            return out.set_timer(Timer::Token, contest.due.since(now));
        }
        self.end_contest(out);
        match &self.seat {
            // Its own announcement was lost on its way, and whoever took it believes no older term.
            Seat::Mine(reign) if reign.term < self.closed => self.begin(now, out),
            Seat::Mine(_) | Seat::Taken(_) | Seat::Vacant => self.reconsider(now, out),
        }
    }

    /// The election has an outcome, or none; what was to be passed on for it is not.
    pub(super) fn end_contest(&mut self, out: &mut Out) {
        if self.contest.take().is_some() {
            out.cancel_timer(Timer::Token);
            self.forget_hop(Lap::Collect, out);
            self.forget_hop(Lap::Nominate, out);
        }
    }

    // ---- turns ------------------------------------------------------------------------------

    /// Takes a turn if there is a reason for an election, and none is under way.
    pub(super) fn reconsider(&mut self, now: Time, out: &mut Out) {
        if self.contest.is_some() {
            return;
        }
        match &self.seat {
            Seat::Vacant => self.take_turn(now, None, out),
            Seat::Taken(followed) if self.stands(now) => {
                let (score, id) = (followed.score, followed.leader.id.clone());
                if self.me.outranks(score, &id) {
                    self.challenge(now, &id, out);
                }
            }
            Seat::Taken(_) | Seat::Mine(_) => {}
        }
    }

    /// A vacant seat: the most important member begins at once, each further one a step later, so
    /// that one token goes round and not many; who rests goes last. `gone` is known not to be there.
    pub(super) fn take_turn(&mut self, now: Time, gone: Option<&AgentId>, out: &mut Out) {
        let Some(rank) = self.me.rank().filter(|_| self.may_stand()) else {
            return;
        };
        let ahead = self.me.members.ahead_of(&rank, gone, line::LAST);
        let place = line::place(ahead, self.lets_others_go_first(now, gone));
        if place == 0 {
            return self.begin(now, out);
        }
        let wait = line::wait(self.config.timings().step(), place);
        self.set_turn(now, wait, Why::Rank, out);
    }

    /// A leader that this agent outranks is left alone for a while first.
    fn challenge(&mut self, now: Time, leader: &AgentId, out: &mut Out) {
        let after = self.config.challenge_after();
        if self.turn.is_some() {
            return; // it runs from the first heartbeat that gave a reason
        }
        if after.is_zero() {
            return self.take_turn(now, Some(leader), out);
        }
        self.set_turn(now, after, Why::Rank, out);
    }

    pub(super) fn set_turn(&mut self, now: Time, span: Duration, why: Why, out: &mut Out) {
        let due = now.after(span);
        self.turn = Some(Turn { due, why });
        let jitter = self.config.timings().jitter();
        out.set_timer(Timer::Turn, After::jittered(span, jitter));
    }

    pub(super) fn on_turn(&mut self, now: Time, out: &mut Out) {
        let Some(Turn { due, why }) = self.turn else {
            return self.ignore("no turn was taken");
        };
        if now < due {
            return out.set_timer(Timer::Turn, due.since(now));
        }
        self.turn = None;
        let reason = match (&self.seat, why) {
            (_, Why::Merge) => true,
            (Seat::Vacant, Why::Rank) => self.may_stand(),
            (Seat::Taken(f), Why::Rank) => {
                self.me.outranks(f.score, &f.leader.id) && self.stands(now)
            }
            (Seat::Mine(_), Why::Rank) => false,
        };
        if reason && self.contest.is_none() {
            self.begin(now, out);
        }
    }
}
