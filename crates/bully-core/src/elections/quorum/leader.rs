//! An elected agent: its lease, its heartbeats, and the end of its leadership.
//!
//! Decided here: the rules `give-up-unacknowledged` and `raise-term-without-gap`, and the rules below.
//!
//! Not here: when a leader hands over, and to which agent ([`resign`](super::resign)).
//!
//! An elected agent does not lead yet (rule `lease-before-leading`). It considers itself leader from the moment at
//! which a quorum has acknowledged it until the lease of these acknowledgements ends. Each check compares the clock
//! with the end of the lease, so a late timer cannot prolong the lease (`lease-ends-by-clock`).
//!
//! **A lease is no longer than the promises** (rule `lease-within-promise`). Each acknowledgement contains the time for
//! which its voter supports no other agent. The acknowledgement counts for no longer than this time allows, even if the
//! leader's own D is longer. So members may have different timings, for example during a rolling change.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    Ack, ClaimReply, Elected, Heartbeat, Nack, Out, QuorumConfig, SenderIncarnation,
    claim::Reason,
    core::Core,
    lease::Supporters,
    prepare::{Ahead, Preparing},
    seal::higher,
    state::{Next, Start, State},
};
use crate::protocol::{AgentId, Decree, Event, LostReason, Role, Score, Term, Time, Timings};
use crate::{
    elections::{timer::BullyTimer, vote::SealRecord},
    parts::Handover,
};

/// Shortest time between two heartbeats, also for very short promises. Any value from 1 to 20 ms is good: without a
/// limit, a voter with a tiny promise would cause a flood; above 20 ms, a voter with [`Timings::fast`] would be lost.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(5);

/// The leadership of this agent, from the last vote that the agent needed on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leading {
    pub(super) term: Term,
    /// The score with which this agent leads. A leader that lost its own score keeps this score while its work ends.
    pub(super) score: Score,
    pub(super) lease: LeaderLease,
    /// Time of the next heartbeat.
    heartbeat: Time,
    pub(super) supporters: Supporters,
    raise: Option<Raise>,
    pub(super) preparing: Option<Box<Preparing>>,
    pub(super) ahead: Option<Box<Ahead>>,
    pub(super) leaving: Option<Leaving>,
    /// The agents that could become voters, with the time of their last `Enlist`.
    pub(super) learners: BTreeMap<AgentId, Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LeaderLease {
    /// Too few voters have acknowledged the agent. The agent gives up at the time `give_up`.
    Pending {
        give_up: Time,
    },
    Held {
        until: Time,
    },
}

/// A claim of a higher term by an agent that leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Raise {
    term: Term,
    /// Without disks: time until which a vote counts. After that time the agent claims again.
    due: Option<Time>,
    votes: BTreeSet<AgentId>,
    /// The seal with the highest term among the seals in the votes, if it is not void.
    seal: Option<Box<SealRecord>>,
}

/// A leadership that is about to end: it is handed over, or the voters change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leaving {
    pub(super) handover: Handover,
    /// Time after the hand-over in which this agent does not compete with the other agents.
    pub(super) cooldown: Duration,
    /// The next list of voters, if the leadership ends because of a change of the voters.
    pub(super) next: Option<Box<Decree>>,
}

// ---- the lease -------------------------------------------------------------------------------

impl Leading {
    /// Announces this agent after its election. The agent does not consider itself leader yet. If its votes came late,
    /// a `Nack` reports that a voter has moved on to a higher term.
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        term: Term,
        out: &mut Out,
    ) -> Result<State, Next> {
        let Some(score) = core.me.eligible() else {
            return Err(Next::Stay);
        };
        // One round is for answers within the timings, the second round for late answers. A longer wait would delay
        // this agent's next attempt, while no agent leads (rule `give-up-unacknowledged`).
        let give_up = core.claim_round().saturating_mul(2);
        let heartbeat = core.config.heartbeat();
        core.voter.promise = None;
        core.objected.clear();
        let leading = Self {
            term,
            score,
            lease: LeaderLease::Pending {
                give_up: now.after(give_up),
            },
            heartbeat: now.after(heartbeat),
            supporters: Supporters::default(),
            raise: None,
            preparing: None,
            ahead: None,
            leaving: None,
            learners: BTreeMap::new(),
        };
        leading.announce(now, out);
        out.set_timer(BullyTimer::Heartbeat, heartbeat);
        out.set_timer(BullyTimer::Round, give_up);
        Ok(State::Leading(leading))
    }

    fn announce(&self, now: Time, out: &mut Out) {
        out.send_all(Elected {
            term: self.term,
            score: self.score,
            answer: None,
            sent_at: Some(now),
        });
    }

    /// Prolongs the lease by the acknowledgements of a quorum. After the first such quorum, the leadership begins.
    pub(super) fn renew(&mut self, core: &mut Core, now: Time, out: &mut Out) {
        let own = now.after(core.config.timings.lease());
        let until = self.supporters.until(own, core.config.lease_quorum());
        let Some(until) = until else {
            return;
        };
        match &mut self.lease {
            // A promise that was given still holds, so a later, shorter promise or a late answer does not shorten the
            // lease.
            LeaderLease::Held { until: held } => *held = until.max(*held),
            LeaderLease::Pending { .. } if now < until => {
                self.lease = LeaderLease::Held { until };
                out.cancel_timer(BullyTimer::Round);
                out.set_timer(BullyTimer::Lease, until.since(now));
                out.notify(Event::Acquired { term: self.term });
                let id = core.me.id.clone();
                core.note_leader(now, &id, self.term);
            }
            LeaderLease::Pending { .. } => {} // the acknowledgements took longer than the lease
        }
    }

    /// Returns whether the leader hands over, or prepares a hand-over.
    pub(super) const fn is_leaving(&self) -> bool {
        self.leaving.is_some() || self.preparing.is_some()
    }

    pub(super) const fn has_lease(&self) -> bool {
        matches!(self.lease, LeaderLease::Held { .. })
    }

    /// End of the lease, if the agent has a lease at `now`.
    pub(super) fn lease_at(&self, now: Time) -> Option<Time> {
        match self.lease {
            LeaderLease::Held { until } if now < until => Some(until),
            LeaderLease::Held { .. } | LeaderLease::Pending { .. } => None,
        }
    }

    /// End of the lease, which may have passed.
    pub(super) const fn held_until(&self) -> Option<Time> {
        match self.lease {
            LeaderLease::Held { until } => Some(until),
            LeaderLease::Pending { .. } => None,
        }
    }

    pub(super) fn on_ack(
        &mut self,
        core: &mut Core,
        now: Time,
        (from, incarnation): SenderIncarnation<'_>,
        ack: &Ack,
        out: &mut Out,
    ) {
        // An honest voter repeats a time that has passed. A forged later time would give a lease of any length.
        if ack.term != self.term || ack.echo > now {
            return core.ignore(Role::Leader, "an acknowledgement of something else");
        }
        // Contact counts as steady although one or two heartbeats or their answers are lost.
        let gap = core.config.heartbeat().saturating_mul(3);
        let span = span_promised(&core.config, ack);
        self.supporters
            .note(now, (from, incarnation), ack.echo, span, gap);
        self.supporters.note_slow(from, ack.slow);
        self.renew(core, now, out);
        self.keep_pace(core, now, out);
    }

    /// Handles the lease timer, which is only a hint: every step checks the lease first.
    pub(super) fn on_lease_due(&self, now: Time, out: &mut Out) -> Next {
        if let LeaderLease::Held { until } = self.lease {
            if now >= until {
                return self.expire(out);
            }
            out.set_timer(BullyTimer::Lease, until.since(now));
        }
        Next::Stay
    }

    /// Ends the leadership because its lease has ended.
    pub(super) fn expire(&self, out: &mut Out) -> Next {
        self.lose(LostReason::LeaseExpired, out);
        Next::own_slot(None)
    }

    /// Ends the leadership. `Lost` is the first effect of the step, so that no message of a former leader follows it.
    pub(super) fn lose(&self, reason: LostReason, out: &mut Out) {
        match self.lease {
            LeaderLease::Held { .. } => {
                let term = self.term;
                out.notify(Event::Lost { term, reason });
                out.cancel_timer(BullyTimer::Lease);
            }
            LeaderLease::Pending { .. } => out.cancel_timer(BullyTimer::Round),
        }
        out.cancel_timer(BullyTimer::Heartbeat);
        if self.is_leaving() {
            out.cancel_timer(BullyTimer::Drain);
        }
    }
    /// Gives up if too few voters have acknowledged this agent in time (rule `give-up-unacknowledged`).
    pub(super) fn on_round_due(&self, core: &Core, now: Time, out: &mut Out) -> Next {
        match self.lease {
            LeaderLease::Pending { give_up } if now < give_up => {
                out.set_timer(BullyTimer::Round, give_up.since(now));
                Next::Stay
            }
            LeaderLease::Pending { .. } => {
                self.lose(LostReason::Superseded, out);
                Next::again(Duration::ZERO, None)
            }
            LeaderLease::Held { .. } => {
                core.ignore(Role::Leader, "it holds a lease already");
                Next::Stay
            }
        }
    }
}

// ---- heartbeats ------------------------------------------------------------------------------

impl Leading {
    pub(super) fn on_heartbeat_due(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.heartbeat {
            out.set_timer(BullyTimer::Heartbeat, self.heartbeat.since(now));
            return Next::Stay;
        }
        core.calm_down(self.supporters.oldest(now));
        let interval = self.interval(core, now);
        self.heartbeat = now.after(interval);
        self.tell_score(now, out);
        out.set_timer(BullyTimer::Heartbeat, interval);
        let next = self.repeat_raise(core, now, out);
        if matches!(next, Next::Stay) {
            self.renew(core, now, out); // a quorum of one needs no other voter
        }
        next
    }

    pub(super) fn tell_score(&self, now: Time, out: &mut Out) {
        out.send_all(self.heartbeat_at(now));
    }

    /// Sends a heartbeat at once to a voter that has started, so that it need not wait (rule `ask-after-start`).
    pub(super) fn tell_of_itself(&self, now: Time, to: &AgentId, out: &mut Out) {
        out.send(to, self.heartbeat_at(now));
    }

    const fn heartbeat_at(&self, now: Time) -> Heartbeat {
        Heartbeat {
            term: self.term,
            score: self.score,
            sent_at: Some(now),
        }
    }

    /// Returns the time between two heartbeats: the configured H, or a third of the shortest time for which an
    /// acknowledgement counts, if that is shorter. A voter with shorter timings gives a shorter promise, and H could be
    /// too long to renew the lease in time.
    fn interval(&self, core: &Core, now: Time) -> Duration {
        let lease = core.config.timings.lease();
        let shortest = self.supporters.shortest(now, lease).unwrap_or(lease);
        let often = (shortest / 3).max(SHORTEST_INTERVAL);
        core.config.heartbeat().min(often)
    }

    /// Makes the next heartbeat due earlier, if a voter has given a shorter promise than the voters did before.
    fn keep_pace(&mut self, core: &Core, now: Time, out: &mut Out) {
        let due = now.after(self.interval(core, now));
        if due < self.heartbeat {
            self.heartbeat = due;
            out.set_timer(BullyTimer::Heartbeat, due.since(now));
        }
    }
}

/// Time for which an acknowledgement counts, from the time when the answered message was sent.
fn span_promised(config: &QuorumConfig, ack: &Ack) -> Duration {
    let own = config.timings.lease();
    own.min(Timings::lease_within(ack.promise.into()))
}

// ---- a higher term without a gap -------------------------------------------------------------

impl Leading {
    /// Returns whether a `Nack` reports that another agent leads in this agent's present term. An answer to an
    /// announcement of an earlier term does not report that (rule `one-leader-per-term`).
    pub(super) fn is_contested(&self, core: &Core, nack: &Nack) -> bool {
        let is_its = nack.of == self.term && nack.term == self.term;
        let is_raised = core.voter.record.term > self.term;
        is_its && !is_raised
    }

    /// Handles a `Nack`: a voter knows a higher term, or another leader of this term, and cannot follow this agent.
    /// Without a lease this leadership ends. With a lease, the leader claims a term above the voter's term, and
    /// continues to lead in its own term meanwhile.
    pub(super) fn on_nack(
        &mut self,
        core: &mut Core,
        now: Time,
        nack: &Nack,
        out: &mut Out,
    ) -> Next {
        if self.has_lease() {
            return self.raise(core, now, nack.term, out);
        }
        self.lose(LostReason::Superseded, out);
        Next::again(Duration::ZERO, None)
    }

    /// Claims a term above `seen`. The voters that support this leader may vote for it, because a promise is to its
    /// holder and not to a term (rule `raise-term-without-gap`).
    pub(super) fn raise(&mut self, core: &mut Core, now: Time, seen: Term, out: &mut Out) -> Next {
        let Some(term) = core.next_term(now, core.voter.seen.max(seen)) else {
            core.ignore(Role::Leader, "the terms have come to their end");
            return Next::Stay;
        };
        core.vote_for_myself(now, term, out);
        self.raise = Some(Raise {
            term,
            due: core.claim_ends(now),
            votes: [core.me.id.clone()].into(),
            seal: None,
        });
        self.claim_raise(core, out);
        self.finish_raise(core, now, out)
    }

    /// Repeats the claim, whose messages may have been lost. If its votes no longer count (without disks), claims a
    /// new term.
    fn repeat_raise(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        let expired = |raise: &Raise| raise.due.is_some_and(|due| now >= due);
        match &self.raise {
            Some(raise) if expired(raise) => {
                let term = raise.term;
                self.raise(core, now, term, out)
            }
            Some(_) | None => {
                self.claim_raise(core, out);
                Next::Stay
            }
        }
    }

    fn claim_raise(&self, core: &Core, out: &mut Out) {
        if let Some(raise) = &self.raise
            && let Some(reason) = Reason::raise(self.has_lease())
        {
            core.send_to_voters(reason.claim(core, raise.term, self.score), out);
        }
    }

    pub(super) const fn is_raising(&self) -> bool {
        self.raise.is_some()
    }

    pub(super) fn on_claim_reply(
        &mut self,
        core: &mut Core,
        now: Time,
        sender: SenderIncarnation<'_>,
        reply: &ClaimReply,
        out: &mut Out,
    ) -> Next {
        let is_mine = core.is_candidate(&reply.candidate);
        match self.raise.as_mut().filter(|_| is_mine) {
            Some(raise) if raise.term == reply.term && reply.granted => {
                if !core.counts(raise.due.is_none_or(|due| now < due)) {
                    core.ignore(Role::Leader, "a vote that came too late");
                    return Next::Stay;
                }
                // This leader won its own term, and no vote for that term reported a seal. So each seal up to the own
                // term is void.
                let seal = reply.seal.as_deref().filter(|seal| seal.term > self.term);
                raise.seal = higher(raise.seal.take(), seal);
                raise.votes.insert(sender.0.clone());
                return self.finish_raise(core, now, out);
            }
            // The voter has taken part in a higher term, and can never vote in the claimed term.
            Some(raise) if raise.term == reply.term && reply.seen > reply.term => {
                return self.raise(core, now, reply.seen, out);
            }
            Some(raise) if raise.term == reply.term => {
                core.hear_clock(now, raise.due.unwrap_or(now), sender, reply.clock);
            }
            Some(_) | None => core.ignore(Role::Leader, "an answer to another claim"),
        }
        Next::Stay
    }

    /// Begins the new term without a gap, if enough voters have voted. The lease continues, because the voters'
    /// promises are to this leader and not to its term.
    fn finish_raise(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        let quorum = core.config.vote_quorum();
        let Some(raise) = self.raise.take_if(|raise| raise.votes.len() >= quorum) else {
            return Next::Stay;
        };
        if let Some(seal) = raise.seal {
            // `adopt-highest-seal`: this agent, too, is elected to seal and not to lead.
            self.lose(LostReason::VotersChange, out);
            let (term, next) = (raise.term, Box::new(seal.next));
            return Next::Become(Start::Seal { term, next });
        }
        self.term = raise.term;
        out.notify(Event::Renewed { term: raise.term });
        let id = core.me.id.clone();
        core.note_leader(now, &id, raise.term);
        self.announce(now, out);
        Next::Stay
    }
}
