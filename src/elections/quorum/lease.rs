//! Upholding a leadership (A3 to A7): acknowledgements, the lease, and terms above one's own.
//!
//! The lease counts from when a heartbeat was *sent*, by the leader's clock; a promise counts from
//! when it was *processed*, by the voter's. Belief is a predicate of the clock, not an event: a late
//! timer cannot prolong it.
//!
//! **A lease is what was promised** (L1): each acknowledgement says for how long its voter abstains,
//! and counts for no longer than that allows, whatever this leader's own D says. So members with
//! different timings, as in the midst of a rolling change, are safe.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Ack, Claim, Defect, Elected, Heartbeat, Nack, Out, QuorumBully, Timer,
    state::{Belief, Bump, State},
};
use crate::protocol::{AgentId, Event, LostReason, Term, Time, Timings};

/// No promise, however short, makes a leader speak more often.
const FASTEST_BEAT: Duration = Duration::from_millis(5);

/// Who acknowledged what, and since when it is heard without a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct LeaseBook {
    contacts: BTreeMap<AgentId, Contact>,
    /// Room for [`until`](Self::until); empty between calls.
    scratch: Vec<Time>,
}

/// One voter as its leader hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contact {
    /// When the heartbeat was sent whose acknowledgement counts for longest.
    pub echo: Time,
    /// For how long, from then.
    pub span: Duration,
    pub since: Time,
    pub last: Time,
}

impl LeaseBook {
    /// Notes an acknowledgement of what was sent at `echo`, which counts for `span` from then; more
    /// than `gap` after the one before, contact begins anew.
    fn note(&mut self, now: Time, from: &AgentId, echo: Time, span: Duration, gap: Duration) {
        let Some(contact) = self.contacts.get_mut(from) else {
            let contact = Contact {
                echo,
                span,
                since: now,
                last: now,
            };
            self.contacts.insert(from.clone(), contact);
            return;
        };
        if now.since(contact.last) > gap {
            contact.since = now;
        }
        contact.last = now;
        // An earlier promise may be the longer one, and holds on.
        if echo.after(span) >= contact.echo.after(contact.span) {
            (contact.echo, contact.span) = (echo, span);
        }
    }

    /// Until when `quorum` voters support this leader; its own support lasts until `mine`.
    fn until(&mut self, mine: Time, quorum: usize) -> Option<Time> {
        let Some(place) = quorum.checked_sub(2) else {
            return Some(mine);
        };
        let theirs = self.contacts.values().map(|c| c.echo.after(c.span));
        self.scratch.extend(theirs);
        self.scratch.sort_unstable_by(|a, b| b.cmp(a));
        let until = self.scratch.get(place).copied();
        self.scratch.clear();
        until
    }

    /// The shortest span that counts, of those who were heard within `recent`.
    fn shortest(&self, now: Time, recent: Duration) -> Option<Duration> {
        let heard = self.contacts.values();
        let heard = heard.filter(|c| now.since(c.last) <= recent);
        heard.map(|c| c.span).min()
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
        let span = self.span_promised(ack);
        let State::Leader(reign) = &mut self.state else {
            return self.ignore("it does not lead");
        };
        if ack.term != reign.term || ack.echo > now {
            return self.ignore("an acknowledgement of something else");
        }
        let echo = if arrival { now } else { ack.echo };
        reign.book.note(now, from, echo, span, gap);
        self.renew(now, out);
        self.keep_pace(now, out);
    }

    /// L1: for how long an acknowledgement counts, from when what it answers was sent.
    fn span_promised(&self, ack: &Ack) -> Duration {
        let mine = self.config.timings().lease();
        if self.config.has(Defect::LeaseByOwnTimings) {
            return mine;
        }
        mine.min(Timings::lease_within(ack.promise.into()))
    }

    /// How often it is heard: every H, and at least three times within the shortest span that counts.
    /// With H alone, a leader whose H suits long promises would live from lease to lease among
    /// voters who give short ones.
    fn beat_every(&self, now: Time) -> Duration {
        let (heartbeat, lease) = (self.config.heartbeat(), self.config.timings().lease());
        let State::Leader(reign) = &self.state else {
            return heartbeat;
        };
        let shortest = reign.book.shortest(now, lease).unwrap_or(lease);
        heartbeat.min((shortest / 3).max(FASTEST_BEAT))
    }

    /// A voter gave a shorter promise than those before: the next heartbeat is due earlier.
    fn keep_pace(&mut self, now: Time, out: &mut Out) {
        let due = now.after(self.beat_every(now));
        if let State::Leader(reign) = &mut self.state
            && due < reign.beat
        {
            reign.beat = due;
            out.set_timer(Timer::Heartbeat, due.since(now));
        }
    }

    /// Prolongs the lease by what was acknowledged; the first time, belief begins.
    pub(super) fn renew(&mut self, now: Time, out: &mut Out) {
        let quorum = self.config.lease_quorum();
        let lease = self.config.timings().lease();
        let eager = self.config.has(Defect::BeliefWithoutAcks);
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let mine = now.after(lease);
        let until = reign.book.until(mine, quorum);
        let Some(until) = until.or_else(|| eager.then_some(mine)) else {
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
        self.vote_for_myself(now, term, out);
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
            let claim = Claim {
                term,
                score: reign.score,
                released: None,
                released_incarnation: None,
                prepared: None,
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
        let heartbeat = self.beat_every(now);
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
