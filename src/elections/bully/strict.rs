//! The ASTRA rules as they stand, repaired, where the default profile differs (B3, B6).
//!
//! No `Yield`, no heartbeats, no terms to compare: ranks alone decide, and who ranks below is
//! silent. An outranked leader ends its belief when it is asked, and an outranked candidate its
//! election, so that at most one believes while the deadline exceeds twice the delay.

use super::{
    Bully, Elect, Elected, Ok, Out,
    announce::Said,
    state::{Followed, Seat, State},
};
use crate::protocol::{AgentId, Event, Incarnation, Leader, LostReason, Role, Time};

impl Bully {
    /// B3. Without a score this agent ranks lowest, and so it does while it rests after stepping
    /// down: it answers nothing.
    pub(super) fn strict_on_elect(
        &mut self,
        now: Time,
        from: &AgentId,
        elect: &Elect,
        out: &mut Out,
    ) {
        let role = self.state.role();
        if !(self.me.outranks(elect.score, from) && self.stands(now)) {
            self.lose(LostReason::Outranked, out);
            if matches!(role, Role::Leader | Role::Candidate) {
                self.wait_for(now, from, out);
            }
            return;
        }
        out.send(
            from,
            Ok {
                round: elect.round,
                seen: self.seen,
                refusal: None,
            },
        );
        match &mut self.state {
            State::Leader(reign) => {
                let (term, score) = (reign.term, reign.score);
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
            State::Follower(seat) => {
                if let Seat::Taken(followed) = seat {
                    out.notify(Event::NoLeader {
                        term: followed.leader.term,
                    });
                }
                self.campaign_above(now, from, out);
            }
            State::Candidate(candidacy) => {
                candidacy.failed.insert(from.clone());
            }
            State::Waiting(wait) => {
                wait.failed.insert(from.clone());
            }
        }
    }

    /// B6.
    pub(super) fn strict_on_elected(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Said,
        out: &mut Out,
    ) {
        let leader = Leader {
            id: from.clone(),
            incarnation,
            term: said.term,
        };
        let below = self.me.outranks(said.score, from) && self.stands(now);
        let weaker =
            |f: &Followed| f.leader.id != *from && (said.score, from) < (f.score, &f.leader.id);
        match &self.state {
            State::Leader(reign) if below => {
                let (term, score) = (reign.term, reign.score);
                out.send(
                    from,
                    Elected {
                        term,
                        score,
                        answer: None,
                        sent_at: None,
                    },
                );
            }
            State::Leader(_) => {
                self.lose(LostReason::Superseded, out);
                self.follow(now, leader, said.score, out);
            }
            State::Candidate(_) | State::Waiting(_) if below => {
                self.ignore("it ranks below, and an election is under way");
            }
            State::Follower(Seat::Taken(f)) if weaker(f) && !self.stands(now) => {
                // It cannot ask again; the term has to tell.
                if said.term > f.leader.term {
                    self.follow(now, leader, said.score, out);
                }
            }
            State::Follower(Seat::Taken(f)) if below || weaker(f) => {
                // Ask again: never just believe a weaker late announcement.
                out.notify(Event::NoLeader {
                    term: f.leader.term,
                });
                self.campaign(now, out);
            }
            State::Follower(Seat::Vacant(_)) if below => self.campaign(now, out),
            State::Follower(_) | State::Candidate(_) | State::Waiting(_) => {
                self.follow(now, leader, said.score, out);
            }
        }
    }
}
