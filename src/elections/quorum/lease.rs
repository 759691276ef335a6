//! Upholding a leadership (A3 to A7): acknowledgements, the lease, and terms above one's own.
//!
//! The lease counts from when a heartbeat was *sent*, by the leader's clock; a promise counts from
//! when it was *processed*, by the voter's. Belief is a predicate of the clock, not an event: a late
//! timer cannot prolong it.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Ack, Claim, Defect, Elected, Heartbeat, Nack, Out, QuorumBully, Timer,
    state::{Belief, Bump, State},
};
use crate::protocol::{AgentId, Event, LostReason, Term, Time};

/// Who acknowledged what, and since when it is heard without a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct LeaseBook {
    contacts: BTreeMap<AgentId, Contact>,
    /// Room for [`base`](Self::base); empty between calls.
    scratch: Vec<Time>,
}

/// One voter as its leader hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contact {
    /// When the newest heartbeat that it acknowledged was sent.
    pub echo: Time,
    pub since: Time,
    pub last: Time,
}

impl LeaseBook {
    /// Notes an acknowledgement; more than `gap` after the one before, contact begins anew.
    fn note(&mut self, now: Time, from: &AgentId, echo: Time, gap: Duration) {
        let Some(contact) = self.contacts.get_mut(from) else {
            let (since, last) = (now, now);
            let contact = Contact { echo, since, last };
            self.contacts.insert(from.clone(), contact);
            return;
        };
        if now.since(contact.last) > gap {
            contact.since = now;
        }
        contact.last = now;
        contact.echo = contact.echo.max(echo);
    }

    /// The newest time at which the heartbeats that `quorum` voters acknowledged had been sent;
    /// the leader itself acknowledges `now`.
    fn base(&mut self, now: Time, quorum: usize) -> Option<Time> {
        let Some(place) = quorum.checked_sub(2) else {
            return Some(now);
        };
        self.scratch.extend(self.contacts.values().map(|c| c.echo));
        self.scratch.sort_unstable_by(|a, b| b.cmp(a));
        let base = self.scratch.get(place).copied();
        self.scratch.clear();
        base
    }

    pub(super) fn contact(&self, id: &AgentId) -> Option<&Contact> {
        self.contacts.get(id)
    }

    /// Who was heard within `span`.
    pub(super) fn heard(&self, now: Time, span: Duration) -> impl Iterator<Item = &AgentId> {
        self.contacts
            .iter()
            .filter(move |(_, c)| now.since(c.last) <= span)
            .map(|(id, _)| id)
    }
}

impl QuorumBully {
    /// A3.
    pub(super) fn on_ack(&mut self, now: Time, from: &AgentId, ack: &Ack, out: &mut Out) {
        self.learn_score(from, ack.score);
        let gap = self.config.heartbeat().saturating_mul(3);
        let arrival = self.config.has(Defect::LeaseFromArrival);
        let State::Leader(reign) = &mut self.state else {
            return self.ignore("it does not lead");
        };
        if ack.term != reign.term || ack.echo > now {
            return self.ignore("an acknowledgement of something else");
        }
        let echo = if arrival { now } else { ack.echo };
        reign.book.note(now, from, echo, gap);
        self.renew(now, out);
    }

    /// Prolongs the lease by what was acknowledged; the first time, belief begins.
    pub(super) fn renew(&mut self, now: Time, out: &mut Out) {
        let quorum = self.config.lease_quorum();
        let lease = self.config.timings().lease();
        let eager = self.config.has(Defect::BeliefWithoutAcks);
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let base = reign
            .book
            .base(now, quorum)
            .or_else(|| eager.then_some(now));
        let Some(until) = base.map(|base| base.after(lease)) else {
            return;
        };
        match &mut reign.belief {
            Belief::Held { until: held } => *held = until.max(*held),
            Belief::Pending { .. } if now < until => {
                let term = reign.term;
                reign.belief = Belief::Held { until };
                out.cancel_timer(Timer::Round);
                out.set_timer(Timer::Lease, until.since(now));
                out.notify(Event::Acquired { term });
                let me = self.me.id.clone();
                self.note_leader(now, &me, term);
            }
            Belief::Pending { .. } => {}
        }
    }

    /// A4: a voter knows a higher term. Before belief, this leadership is over; a believing leader
    /// claims a term above it and leads on in its own meanwhile.
    pub(super) fn on_nack(&mut self, now: Time, nack: &Nack, out: &mut Out) {
        self.hear(nack.term);
        if nack.term <= self.vote.term {
            return self.ignore("no higher term");
        }
        match &self.state {
            State::Leader(reign) => match reign.belief {
                Belief::Pending { .. } => {
                    self.step_down(LostReason::Superseded, out);
                    self.try_again(now, Duration::ZERO, None, out);
                }
                Belief::Held { .. } => self.bump(now, nack.term, out),
            },
            State::Follower(_) | State::Probing(_) | State::Claiming(_) => {
                self.ignore("it does not lead");
            }
        }
    }

    /// A4, continued: claims a term above `seen`. Those who support this leader may vote for it.
    pub(super) fn bump(&mut self, now: Time, seen: Term, out: &mut Out) {
        let above = self.seen.max(seen).max(self.vote.term).next();
        let Some(term) = above.filter(|term| *term <= self.config.last_term()) else {
            return self.ignore("the terms have come to their end");
        };
        self.vote_for_myself(term, out);
        if let State::Leader(reign) = &mut self.state {
            let grants = [self.me.id.clone()].into();
            reign.bump = Some(Bump { term, grants });
        }
        self.claim_bump(out);
        self.finish_bump(now, out);
    }

    fn claim_bump(&self, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        if let Some(term) = reign.bump.as_ref().map(|b| b.term) {
            let (score, released) = (reign.score, None);
            let claim = Claim {
                term,
                score,
                released,
            };
            self.ask_voters(claim, out);
        }
    }

    /// With enough votes, the new term begins without a gap; the lease goes on, since the promises
    /// behind it name this leader, not its term.
    pub(super) fn finish_bump(&mut self, now: Time, out: &mut Out) {
        let quorum = self.config.vote_quorum();
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let Some(bump) = reign.bump.take_if(|bump| bump.grants.len() >= quorum) else {
            return;
        };
        let (term, score) = (bump.term, reign.score);
        reign.term = term;
        out.notify(Event::Renewed { term });
        self.last_leader = Some(self.leadership(term));
        let (answer, sent_at) = (None, Some(now));
        out.send_all(Elected {
            term,
            score,
            answer,
            sent_at,
        });
    }

    /// A5.
    pub(super) fn on_heartbeat_due(&mut self, now: Time, out: &mut Out) {
        let heartbeat = self.config.heartbeat();
        let State::Leader(reign) = &mut self.state else {
            return self.ignore("no heartbeat from who does not lead");
        };
        if now < reign.beat {
            return out.set_timer(Timer::Heartbeat, reign.beat.since(now));
        }
        reign.beat = now.after(heartbeat);
        let (term, score, sent_at) = (reign.term, reign.score, Some(now));
        out.send_all(Heartbeat {
            term,
            score,
            sent_at,
        });
        out.set_timer(Timer::Heartbeat, heartbeat);
        self.claim_bump(out);
        self.renew(now, out); // a quorum of one needs nobody's word
    }

    /// A6: a hint that the lease may have ended; every step has looked already.
    pub(super) fn on_lease_due(&mut self, now: Time, out: &mut Out) {
        if let State::Leader(reign) = &self.state
            && let Belief::Held { until } = reign.belief
        {
            if now < until {
                out.set_timer(Timer::Lease, until.since(now));
            } else {
                self.lease_expired(now, out);
            }
        }
    }

    pub(super) fn lease_expired(&mut self, now: Time, out: &mut Out) {
        self.step_down(LostReason::LeaseExpired, out);
        self.take_turn(now, Duration::ZERO, None, out);
    }

    /// A7: elected, and too few acknowledged it.
    pub(super) fn on_belief_overdue(&mut self, now: Time, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        match reign.belief {
            Belief::Pending { give_up } if now < give_up => {
                out.set_timer(Timer::Round, give_up.since(now));
            }
            Belief::Pending { .. } => {
                self.step_down(LostReason::Superseded, out);
                self.try_again(now, Duration::ZERO, None, out);
            }
            Belief::Held { .. } => self.ignore("it believes already"),
        }
    }
}
