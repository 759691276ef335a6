//! The hand-over of a leadership.
//!
//! Decided here: when a leader hands over, to which agent, and in which order (rules `leader-decides-takeover`,
//! `lose-before-resign`).
//!
//! No agent takes a leadership from a live leader: a better agent asks for it, and only the leader hands it over. The
//! leader continues to lead under its lease until its application has ended its work. Then its leadership ends, and
//! only after that it sends `Resign`.

use std::time::Duration;

use super::{
    Out, Resign, SenderIncarnation, Takeover,
    claim::Reason,
    core::Core,
    leader::{LeaderLease, Leading, Leaving},
    prepare,
    state::{Certainty, Next, Predecessor, Start, State},
};
use crate::protocol::{AgentId, Leader, LostReason, Role, Score, Term, Time};
use crate::{
    elections::{policy::Preemption, timer::BullyTimer},
    parts::Due,
};

impl Leading {
    /// Returns the remaining time for which this leader does not hand over to the agent `from`; `None` if it may hand
    /// over now. If a condition or the policy forbids the hand-over, the time is P. Any time of a few heartbeats is
    /// enough, because it only limits how often that agent asks.
    pub(super) fn grace(
        &self,
        core: &Core,
        now: Time,
        from: &AgentId,
        score: Score,
        term: Term,
    ) -> Option<Duration> {
        let promise = core.config.timings.promise();
        let Preemption::After(grace) = core.config.preemption else {
            return Some(promise);
        };
        let holds = matches!(self.lease, LeaderLease::Held { until } if now < until);
        let is_better = core.is_better((score, from), (self.score, &core.me.id));
        if self.term != term || !holds || self.is_leaving() || !is_better {
            return Some(promise);
        }
        let grace = core.flapping.grace_for(now, from, grace);
        let contact = self.supporters.contact(from);
        // An agent without a recent message waits for the whole time, because it could not keep the leadership.
        let Some(contact) = contact.filter(|c| now.since(c.last) <= fresh(core)) else {
            return Some(grace);
        };
        let missing = contact.since.after(grace).since(now);
        (!missing.is_zero()).then_some(missing)
    }

    /// Handles the request of a better agent, to which a quorum has consented. The leader checks its own conditions
    /// again, because they may have changed since it consented.
    pub(super) fn on_takeover(
        &mut self,
        core: &mut Core,
        now: Time,
        from: &AgentId,
        takeover: &Takeover,
        out: &mut Out,
    ) -> Next {
        let score = core.scores.get(from).copied().flatten();
        if score.is_some_and(|score| {
            let grace = self.grace(core, now, from, score, takeover.term);
            grace.is_none()
        }) {
            let best = self.best_challenger(core, now);
            let to = best.unwrap_or_else(|| from.clone());
            // No cool-down is needed: the successor outranks this agent, so the leadership does not come back at once.
            return self.drain(core, now, Some(to), Duration::ZERO, out);
        }
        core.ignore(Role::Leader, "it does not hand over to that agent now");
        Next::Stay
    }

    /// Returns the highest-ranked of the voters to which this leader may hand over now; slow voters do not count (rule
    /// `slow-waits`). If the leadership went to the voter whose request comes first, it would climb to the best voter in
    /// as many hand-overs as there are voters between the two.
    fn best_challenger(&self, core: &Core, now: Time) -> Option<AgentId> {
        let may_lead = self.heard(core, now).filter(|(is_quick, score, id)| {
            *is_quick && self.grace(core, now, id, *score, self.term).is_none()
        });
        may_lead.max().map(|(_, _, id)| id.clone())
    }

    pub(super) fn on_set_score(
        &mut self,
        core: &mut Core,
        now: Time,
        score: Option<Score>,
        out: &mut Out,
    ) -> Next {
        let Some(score) = score else {
            // No cool-down is needed: only a new score lets this agent compete again, and a new score ends a cool-down.
            return self.drain(core, now, None, Duration::ZERO, out); // `drain-when-ineligible`
        };
        self.score = score;
        self.tell_score(now, out);
        Next::Stay
    }

    /// Begins to step down. The leadership continues, under its lease, until the application has ended its work or the
    /// time for the work has passed.
    pub(super) fn drain(
        &mut self,
        core: &mut Core,
        now: Time,
        to: Option<AgentId>,
        cooldown: Duration,
        out: &mut Out,
    ) -> Next {
        if self.is_leaving() {
            core.ignore(Role::Leader, "it steps down already");
            return Next::Stay;
        }
        let to = self.successor(core, now, to);
        if !self.has_lease() {
            return self.resign(core, now, to, cooldown, out); // because an agent without a lease has no work to end
        }
        self.prepare(core, now, to, cooldown, out);
        Next::Stay
    }

    pub(super) fn on_drained(&self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        let Some(leaving) = &self.leaving else {
            core.ignore(Role::Leader, "it does not step down");
            return Next::Stay;
        };
        let Leaving {
            handover,
            cooldown,
            next,
        } = leaving;
        // An agent that still claims a higher term resigns instead, because it cannot seal in the term that it claims.
        if let Some(next) = next.clone().filter(|_| !self.is_raising()) {
            self.lose(LostReason::VotersChange, out); // `lose-before-seal`
            core.voter.resigned = Some(core.me.as_leader(self.term));
            let term = self.term;
            return Next::Become(Start::Seal { term, next });
        }
        self.resign(core, now, handover.to.clone(), *cooldown, out)
    }

    pub(super) fn on_drain_due(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if self.on_preparing_due(core, now, out) {
            return Next::Stay;
        }
        match &self.leaving {
            Some(leaving) if leaving.handover.on_due(now, BullyTimer::Drain, out) == Due::Later => {
                Next::Stay
            }
            _ => self.on_drained(core, now, out),
        }
    }

    /// Ends the leadership in this process, then sends `Resign`. `Resign` is final for the term of the leadership, so
    /// the released voters may support another agent at once. `Resign` never contains a term that the leader still
    /// claims, because the votes for such a term are not complete (rule `lose-before-resign`).
    fn resign(
        &self,
        core: &mut Core,
        now: Time,
        to: Option<AgentId>,
        cooldown: Duration,
        out: &mut Out,
    ) -> Next {
        let term = self.term;
        // The successor is chosen a second time, because the first choice may have become silent meanwhile.
        let successor = self.successor(core, now, to);
        let given = self.given(core, successor.as_ref());
        let resign = Resign {
            term,
            successor,
            given,
        };
        self.lose(LostReason::Resigned, out); // `Lost` is published before `Resign` can leave
        core.voter.resigned = Some(core.me.as_leader(term));
        // This agent does not campaign for the wait W, in which the successor announces itself.
        core.cooldown.campaign = now.after(core.config.wait());
        if !cooldown.is_zero() {
            core.cooldown.yields = now.after(cooldown);
        }
        out.send_all(resign);
        Next::own_slot(None)
    }

    /// Returns the agent to which this leader hands over: the wanted agent if it was heard a short time ago, else the
    /// highest-ranked voter that was heard; voters that are not slow come first (rule `slow-waits`). The snapshot of
    /// the members is not used, because it may contain agents that this leader cannot reach.
    fn successor(&self, core: &Core, now: Time, wanted: Option<AgentId>) -> Option<AgentId> {
        let heard = || self.heard(core, now);
        wanted
            .filter(|wanted| heard().any(|(_, _, id)| id == wanted))
            .or_else(|| heard().max().map(|(_, _, id)| id.clone()))
    }

    /// Returns the voters with a score that were heard a short time ago: whether each is not slow, its score and its
    /// name. The greatest of them is preferred.
    fn heard<'a>(
        &'a self,
        core: &'a Core,
        now: Time,
    ) -> impl Iterator<Item = (bool, Score, &'a AgentId)> {
        let heard = self.supporters.heard(now, fresh(core));
        heard.filter_map(|(id, contact)| {
            let score = core.scores.get(id).copied().flatten()?;
            Some((!contact.is_slow, score, id))
        })
    }
}

/// Returns the time for which a voter counts as heard: two intervals of heartbeats, because one acknowledgement may be
/// lost or late. Within one interval a live voter could seem silent; with many intervals the leader could hand over to
/// an agent that has died since.
fn fresh(core: &Core) -> Duration {
    core.config.heartbeat().saturating_mul(2)
}

/// Handles a `Resign`: voids the promises to the resigned leadership. The successor claims at once (rule
/// `resignation-is-final`).
pub(super) fn on_resign(
    core: &mut Core,
    state: &mut State,
    now: Time,
    (from, incarnation): SenderIncarnation<'_>,
    resign: &Resign,
    out: &mut Out,
) -> Next {
    let resigned = Leader {
        id: from.clone(),
        incarnation,
        term: resign.term,
    };
    let reason = Reason::named(
        core,
        state.following(),
        &resigned,
        resign.successor.as_ref(),
    );
    core.voter.note_resignation(resigned);
    let is_named = resign.successor.as_ref() == Some(&core.me.id);
    let taken = prepare::taken(core, state, now, (from, incarnation), resign);
    let before = match state {
        State::Following(following)
            if following.leader.id == *from
                && following.leader.incarnation == incarnation
                && following.leader.term <= resign.term =>
        {
            following.leave(core, out);
            None
        }
        State::Vacant(vacant) if resign.term >= core.voter.record.term => vacant.before.take(),
        State::Asking(asking) if is_named => asking.before.take(),
        State::Vacant(_)
        | State::Following(_)
        | State::Asking(_)
        | State::Claiming(_)
        | State::Sealing(_)
        | State::Telling(_)
        | State::Leading(_) => {
            core.ignore(
                state.role(),
                "an election is under way, or another agent leads",
            );
            return Next::Stay;
        }
    };
    if let Some(term) = taken {
        out.cancel_timer(BullyTimer::Election);
        return Next::Become(Start::Lead { term });
    }
    let resigned = Some(Predecessor::new(from.clone(), Certainty::Suspected));
    // If no agent is named, or this agent is named and cannot be elected, it waits for its slot.
    if resign.successor.is_none() || is_named && core.me.eligible().is_none() {
        return Next::own_slot(resigned);
    }
    // Any other agent defers, because the named successor claims at once.
    if !is_named {
        return Next::Become(Start::Defer { before: resigned });
    }
    match reason.zip(core.next_term(now, core.voter.seen)) {
        Some((reason, term)) => Next::Become(Start::Claim {
            term,
            reason,
            before,
        }),
        // This successor has taken part in a later election, so it needs the consent of a quorum, and asks at once.
        None => Next::Become(Start::Ask { before }),
    }
}
