//! `Ok` and `Yield` (B4, C4): the answers to an election that this agent holds.
//!
//! An answer counts only for the round it echoes. It never demotes a leader (as written in one
//! seed, a stale OK did).

use super::{
    Bully, Ok, Out, Yield,
    state::{Asked, State},
};
use crate::protocol::{AgentId, Term, Time};

impl Bully {
    pub(super) fn on_ok(&mut self, now: Time, from: &AgentId, ok: &Ok, out: &mut Out) {
        self.hear_term(ok.seen, out);
        match &self.state {
            State::Candidate(candidacy) if candidacy.round == ok.round => {
                self.wait_for(now, from, out);
            }
            State::Candidate(_) | State::Follower(_) | State::Waiting(_) | State::Leader(_) => {
                self.ignore("an answer to another round");
            }
        }
    }

    pub(super) fn on_yield(&mut self, now: Time, from: &AgentId, give_way: &Yield, out: &mut Out) {
        self.hear_term(give_way.seen, out);
        if give_way.released.is_some() && self.is_seat_left_to_me(give_way) {
            return self.lead(now, out);
        }
        if self.open_round() != Some(give_way.round) {
            return self.ignore("an answer to another round");
        }
        let State::Candidate(candidacy) = &mut self.state else {
            return self.ignore("this round was given up");
        };
        candidacy.failed.insert(from.clone());
        match &candidacy.asked {
            Asked::Leader { id, .. } if id == from => self.widen(now, out),
            Asked::Leader { .. } => self.ignore("it was not asked"),
            Asked::Voters => {
                candidacy.pending.remove(from);
                self.decide_early(now, out);
            }
        }
    }

    /// A leader has ended its belief for this agent, which still wants the seat. The answer may be
    /// to a round before the present one (a slow network): it counts while no later term is known.
    fn is_seat_left_to_me(&self, give_way: &Yield) -> bool {
        let Some(open) = self.open_round() else {
            return false;
        };
        open == give_way.round
            || open.incarnation == give_way.round.incarnation
                && (1..open.counter).contains(&give_way.round.counter)
                && give_way.released.is_some_and(|term| term >= self.seen)
    }

    /// An answer tells of a higher term: a leader renews above it, so that its followers accept it.
    fn hear_term(&mut self, seen: Term, out: &mut Out) {
        self.seen = self.seen.max(seen);
        self.renew_above(seen, out);
    }
}
