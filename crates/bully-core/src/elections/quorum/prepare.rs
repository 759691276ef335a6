//! A hand-over that is prepared while the leader still leads.
//!
//! Decided here: the rules `prepare-before-drain`, `vote-ahead` and `lead-in-given-term`.
//!
//! Without preparation the successor is elected after the leader has resigned: it claims, the voters write their
//! votes, and meanwhile the group has no leader. With preparation the votes are written before the leader resigns:
//! ```text
//!  a (leads in 4)             b                       c
//!  ├── Claim 5, for b ───────▶│──────────────────────▶│   the leader asks the others to vote for b
//!  │                     [5, vote b]             [5, vote b]
//!  │◀───────────── ClaimReply ────────────────────────┤   their promises to a go on, and so does its lease
//!  │  Draining: the application ends its work          │
//!  │  Lost                                             │
//!  ├── Resign 4, to b, which has 5 ───────────────────▶│
//!  │                          ├── Elected 5 ──────────▶│   b asks for no votes, and nothing is written
//!  │                          │◀─────────────── Ack 5 ─┤   b leads in 5
//! ```
//! The leader does not vote for its successor, so its own disk cannot delay the hand-over. The hand-over needs a quorum
//! of the other voters.
//!
//! *Why term 5 has one leader.* A vote for b is like any other vote: given once in a term, and durable. It contains
//! the incarnation of b that acknowledged last. If the leader knows of a later incarnation, its `Resign` contains no
//! term. These votes can elect only b. b announces itself in that term only in the incarnation that receives the
//! `Resign`: a later incarnation finds the term in its record, and claims a higher term.
//!
//! *Why no other agent leads beside a.* After a vote ahead, the voter's promise to a still holds, and no other agent
//! gets its vote. b has a quorum of votes while a leads, and may use them only after a's `Resign`. a sends `Resign`
//! after it has ended its leadership (rule `lose-before-resign`).
//!
//! *Why a keeps its lease.* A voter follows no announcement of a term below the term of its record, with one
//! exception: after a vote ahead it still follows the leader that asked for the vote, in that leader's term, until it
//! follows another leader. It keeps this fact only in memory: a voter that restarts answers `Nack`, and the leader
//! raises its term as for any voter.
//!
//! Without disks nothing is prepared, because a vote holds for one incarnation.
//!
//! *The gain.* A hand-over leaves the group without a leader for 0.8 ms, whether the votes are in memory or on a disk;
//! without preparation for 1.4 ms and 2.0 ms. etcd's `move-leader` takes 0.7 ms and 1.3 ms (medians,
//! `benches/README.md`).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    Claim, ClaimReply, Out, Resign, SenderIncarnation,
    claim::Reason,
    core::Core,
    leader::{Leading, Leaving},
    state::{Next, State},
};
use crate::protocol::{AgentId, Incarnation, Leader, Role, Term, Time, To};
use crate::{
    elections::{message::Candidate, timer::BullyTimer},
    parts::Handover,
};

/// A hand-over for which the leader collects votes. The application was not asked to end its work yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Preparing {
    to: Option<AgentId>,
    cooldown: Duration,
    /// Time at which the application is asked to end its work, even if votes are still missing.
    due: Time,
}

/// The votes for a successor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ahead {
    /// The term in which the leader asked for the votes. After a change of the leader's term these votes are useless.
    led: Term,
    term: Term,
    pub(super) to: Candidate,
    votes: BTreeSet<AgentId>,
}

impl Ahead {
    /// Returns whether a quorum has voted, including the successor. The successor may send messages in the new term
    /// only if its own vote in the new term is durable.
    fn is_enough(&self, core: &Core) -> bool {
        let is_voted = self.votes.len() >= core.config.vote_quorum();
        is_voted && self.votes.contains(&self.to.id)
    }
}

// ---- the leader ------------------------------------------------------------------------------

impl Leading {
    /// Asks the voters that follow this leader to vote for its successor. The leader leads meanwhile, so a slow disk
    /// delays no work. The leader waits for half a lease at most. One round would be too short for many disks, and then
    /// the election after the `Resign` would wait for the same disks without a leader. In the other half of the lease
    /// the work can end, even if the voters have ended as well and do not renew the lease (rule
    /// `prepare-before-drain`).
    pub(super) fn prepare(
        &mut self,
        core: &mut Core,
        now: Time,
        to: Option<AgentId>,
        cooldown: Duration,
        out: &mut Out,
    ) {
        let wait = core.config.timings.lease() / 2;
        let due = now.after(wait);
        let asked = to.clone().and_then(|to| self.ask_ahead(core, now, to, out));
        self.preparing = Some(Box::new(Preparing { to, cooldown, due }));
        self.ahead = asked;
        if self.ahead.is_some() {
            out.set_timer(BullyTimer::Drain, wait);
        }
        self.end_preparing(core, now, out);
    }

    /// Asks for the votes, if a quorum of the other voters, including the successor, may vote. Returns `None` without
    /// disks, or while the leader raises its term.
    fn ask_ahead(
        &self,
        core: &mut Core,
        now: Time,
        to: AgentId,
        out: &mut Out,
    ) -> Option<Box<Ahead>> {
        let fresh = core.config.heartbeat().saturating_mul(2); // for the reason in `Leading::successor`
        let voters: Arc<[_]> = self
            .supporters
            .heard(now, fresh)
            .map(|(id, _)| id.clone())
            .collect();
        let is_enough = voters.len() >= core.config.vote_quorum() && voters.contains(&to);
        // Without disks nothing is prepared, because a vote then holds for one incarnation.
        if core.config.diskless().is_some() || !is_enough || self.is_raising() {
            return None;
        }
        let incarnation = self.present(core, &to)?;
        let to = Candidate {
            id: to,
            incarnation,
        };
        let reason = Reason::ahead(self.has_lease(), &to)?;
        let term = core.next_term(now, core.voter.seen)?;
        // This leader's next claim must be for a higher term, because no other claim of this term can win now.
        core.voter.hear(term);
        let claim = reason.claim(core, term, self.score);
        out.send_to(To::Set(voters), claim);
        Some(Box::new(Ahead {
            led: self.term,
            term,
            to,
            votes: BTreeSet::new(),
        }))
    }

    /// Returns the incarnation in which this voter acknowledged last; `None` if the group knows a later incarnation.
    fn present(&self, core: &Core, id: &AgentId) -> Option<Incarnation> {
        let incarnation = self.supporters.contact(id)?.incarnation;
        let member = core.me.members.get(id);
        let is_over = member.is_some_and(|member| member.is_stale(incarnation));
        (!is_over).then_some(incarnation)
    }

    /// Handles a voter's answer to the claim for the successor, or to this leader's own claim of a higher term.
    pub(super) fn on_vote(
        &mut self,
        core: &mut Core,
        now: Time,
        sender: SenderIncarnation<'_>,
        reply: &ClaimReply,
        out: &mut Out,
    ) -> Next {
        let is_asked = |a: &&mut Box<Ahead>| a.term == reply.term && a.to == reply.candidate;
        let Some(ahead) = self.ahead.as_mut().filter(is_asked) else {
            return self.on_claim_reply(core, now, sender, reply, out);
        };
        // Without votes the leader hands over in the usual way. No agent may lead by the vote of a voter that reports a
        // seal, and a voter that has taken part in a higher term can give no vote.
        if reply.granted && reply.seal.is_none() {
            ahead.votes.insert(sender.0.clone());
        } else {
            self.ahead = None;
        }
        self.end_preparing(core, now, out);
        Next::Stay
    }

    /// Asks the application to end its work, if the votes are complete or are no longer awaited.
    fn end_preparing(&mut self, core: &Core, now: Time, out: &mut Out) {
        let is_due = self.preparing.as_ref().is_some_and(|p| now >= p.due);
        let is_over = self.ahead.as_ref().is_none_or(|a| a.is_enough(core));
        if !is_due && !is_over {
            return;
        }
        let Some(preparing) = self.preparing.take() else {
            return;
        };
        let Preparing { to, cooldown, .. } = *preparing;
        let limit = core.config.drain();
        self.leaving = Some(Leaving {
            handover: Handover::begin(now, self.term, to, limit, BullyTimer::Drain, out),
            cooldown,
            next: None,
        });
    }

    /// Handles the timer of a preparation. Returns whether the leader was preparing a hand-over.
    pub(super) fn on_preparing_due(&mut self, core: &Core, now: Time, out: &mut Out) -> bool {
        let Some(due) = self.preparing.as_ref().map(|preparing| preparing.due) else {
            return false;
        };
        if now < due {
            out.set_timer(BullyTimer::Drain, due.since(now));
        }
        self.end_preparing(core, now, out);
        true
    }

    /// Returns the term in which this successor has enough votes; `None` without enough votes.
    pub(super) fn given(&self, core: &Core, successor: Option<&AgentId>) -> Option<Term> {
        let ahead = self.ahead.as_ref()?;
        let is_meant = successor == Some(&ahead.to.id) && ahead.led == self.term;
        let is_present = self.present(core, &ahead.to.id) == Some(ahead.to.incarnation);
        (is_meant && is_present && ahead.is_enough(core)).then_some(ahead.term)
    }
}

// ---- the voters ------------------------------------------------------------------------------

/// Returns whether this voter votes for a successor at the request of the leader to which its promise binds it (rule
/// `vote-ahead`).
pub(super) fn may_vote_ahead(
    core: &Core,
    state: &State,
    now: Time,
    (from, incarnation): SenderIncarnation<'_>,
    claim: &Claim,
) -> bool {
    let Some(to) = &claim.successor else {
        return false;
    };
    let follows = state
        .following()
        .is_some_and(|f| f.leader.id == *from && f.leader.incarnation == incarnation);
    // A successor votes for itself only in its present incarnation.
    let is_present = to.id != core.me.id || to.incarnation == core.me.incarnation;
    // A voter has one vote in a term, and no vote in a term below the term of its record.
    let is_free = claim.term > core.voter.record.term
        || claim.term == core.voter.record.term && core.voter.record.voted_for.as_ref() == Some(to);
    // A voter that abstains gives no vote: an earlier incarnation may have given a promise to another leader.
    let voter = &core.voter;
    let abstains = !voter
        .blocked(&core.config, now, (from, incarnation), None)
        .is_zero();
    let is_bound = voter.is_bound_to((from, incarnation), now) && !abstains;
    let is_bound = is_bound && voter.memory.awaits(now).is_zero();
    follows && is_present && is_free && is_bound && core.config.diskless().is_none()
}

/// Returns the term in which this agent may lead from now on, by the `Resign` of its leader; `None` if the agent has
/// not voted ahead for itself in the given term, or if another condition below fails (rule `lead-in-given-term`).
pub(super) fn taken(
    core: &Core,
    state: &State,
    now: Time,
    (from, incarnation): SenderIncarnation<'_>,
    resign: &Resign,
) -> Option<Term> {
    let term = resign.given?;
    let following = state.following()?;
    let leader = &following.leader;
    let is_followed =
        leader.id == *from && leader.incarnation == incarnation && leader.term == resign.term;
    let record = &core.voter.record;
    let me = Candidate::new(&core.me.id, core.me.incarnation);
    let is_voted = record.term == term
        && record.voted_for.as_ref() == Some(&me)
        && following.ahead == Some(term);
    let released = Leader {
        id: from.clone(),
        incarnation,
        term: resign.term,
    };
    let voter = &core.voter;
    let blocked = voter.blocked(&core.config, now, core.myself(), Some(&released));
    let is_free = blocked.is_zero() && core.me.eligible().is_some() && record.seal().is_none();
    let is_mine = resign.successor.as_ref() == Some(&core.me.id);
    let may = is_mine && is_followed && is_free && is_voted;
    if !may {
        core.ignore(Role::Follower, "a term that it cannot lead in");
    }
    may.then_some(term)
}
