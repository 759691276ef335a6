//! The invariants that a vote or a promise may break: `VoteOnce`, `PromiseKept`, `DiskFirst`.

use std::time::Duration;

use bully_core::{
    elections::quorum::{Ack, Claim, Micros, QuorumConfig},
    protocol::{AgentId, Incarnation, Leader, Members, Term, Time},
};

use super::{Ledger, Promise};

impl Ledger {
    /// Checks `VoteOnce` and `PromiseKept`: `me` votes for the agent that sent the claim.
    pub(in super::super) fn votes(
        &mut self,
        now: Time,
        me: &AgentId,
        candidate: &AgentId,
        claim: &Claim,
        config: &QuorumConfig,
    ) {
        let (term, diskless) = (claim.term, config.diskless.is_some());
        if diskless {
            self.forgetful.remove(me);
        } else {
            self.speaks(me, term, "a vote");
        }
        let vote = self.votes.entry((me.clone(), term));
        if vote.or_insert_with(|| candidate.clone()) != candidate {
            self.breaks("VoteOnce", &format!("{me} votes twice in term {term}"));
        }
        if self.is_bound(now, me, candidate, claim.released.as_ref()) {
            let what = format!("{me} votes for {candidate} in term {term}");
            self.breaks("PromiseKept", &what);
        }
        if let Some(voter) = self.voter_mut(me) {
            voter.promise.take_if(|p| p.holder != *candidate); // the voter was free, or the claim releases it
        }
        if diskless {
            return; // a voter forgets votes; the candidate that announces itself has counted them
        }
        let grants = self.grants.entry((term, candidate.clone())).or_default();
        grants.insert(me.clone());
        // The sound configuration demands a majority at least.
        if grants.len() >= config.vote_quorum() {
            self.last_elected = self.last_elected.max(term);
            let first = self
                .elected
                .entry(term)
                .or_insert_with(|| candidate.clone());
            if first != candidate {
                let what = format!("{first} and {candidate} have a quorum in term {term}");
                self.breaks("LeaderPerTerm", &what);
            }
        }
    }

    pub(super) fn is_bound(
        &self,
        now: Time,
        me: &AgentId,
        candidate: &AgentId,
        released: Option<&Leader>,
    ) -> bool {
        let Some(voter) = self.voter(me) else {
            return false;
        };
        let promised = voter.promise.as_ref().is_some_and(|p| {
            let free = |led: &Leader| {
                led.id == p.holder && led.term >= p.term && led.incarnation == p.incarnation
            };
            now < p.until && p.holder != *candidate && !released.is_some_and(free)
        });
        promised || now < voter.quarantine
    }

    /// Notes that `me` acknowledges a leader, which is a promise to it.
    pub(in super::super) fn promises(
        &mut self,
        now: Time,
        me: &AgentId,
        leader: (&AgentId, Incarnation),
        ack: &Ack,
        config: &QuorumConfig,
    ) {
        let (term, span) = (ack.term, config.timings.promise());
        if config.diskless.is_some() {
            self.binds(now, me, leader);
        } else {
            self.records(me, ack, span);
        }
        let until = now.after(span);
        let (holder, incarnation) = (leader.0.clone(), leader.1);
        if let Some(voter) = self.voter_mut(me) {
            voter.promises(now, span);
            voter.promise = Some(Promise {
                holder,
                incarnation,
                term,
                until,
            });
        }
    }

    /// Checks without disks: a voter that abstains, or is bound to another incarnation, acknowledges no leader.
    fn binds(&mut self, now: Time, me: &AgentId, leader: (&AgentId, Incarnation)) {
        self.forgetful.remove(me);
        let Some(voter) = self.voter(me) else {
            return;
        };
        let is_other = |p: &&Promise| (&p.holder, p.incarnation) != leader && now < p.until;
        let promise = voter.promise.as_ref();
        if now < voter.quarantine || promise.is_some_and(|p| is_other(&p)) {
            let what = format!("{me} acknowledges {} while it is bound", leader.0);
            self.breaks("PromiseKept", &what);
        }
    }

    /// Checks `DiskFirst`: a voter gives no promise that is longer than its record says.
    fn records(&mut self, me: &AgentId, ack: &Ack, span: Duration) {
        self.speaks(me, ack.term, "an acknowledgement");
        let recorded = self.voter(me).map(|voter| voter.disk.promise);
        if ack.promise > Micros::at_most(span) || recorded.is_none_or(|kept| kept < ack.promise) {
            let what = format!("{me} promises more than it keeps in its record");
            self.breaks("DiskFirst", &what);
        }
    }

    /// Notes that `me` hears of the resignation of an incarnation.
    pub(in super::super) fn hears_resign(
        &mut self,
        me: &AgentId,
        (from, by): (&AgentId, Incarnation),
        term: Term,
    ) {
        if let Some(voter) = self.voter_mut(me) {
            let released =
                |p: &mut Promise| p.holder == *from && p.term <= term && p.incarnation == by;
            voter.promise.take_if(released);
        }
    }

    /// Notes that `me` hears which incarnations have ended.
    pub(in super::super) fn hears_members(&mut self, me: &AgentId, members: &Members) {
        let ended = |p: &mut Promise| {
            let holder = members.get(&p.holder);
            holder.is_some_and(|m| m.has_ended(p.incarnation))
        };
        if let Some(voter) = self.voter_mut(me) {
            voter.promise.take_if(ended);
        }
    }

    /// Checks `vote-ahead`: `me` votes for the successor of the leader to which it is bound, and stays bound.
    pub(in super::super) fn votes_ahead(
        &mut self,
        now: Time,
        me: &AgentId,
        leader: &AgentId,
        (term, successor): (Term, &AgentId),
    ) {
        self.speaks(me, term, "a vote");
        let vote = self.votes.entry((me.clone(), term));
        if vote.or_insert_with(|| successor.clone()) != successor {
            self.breaks("VoteOnce", &format!("{me} votes twice in term {term}"));
        }
        if self.is_bound(now, me, leader, None) {
            let what = format!("{me} votes for {successor} in term {term}, ahead");
            self.breaks("PromiseKept", &what);
        }
        let grants = self.grants.entry((term, successor.clone())).or_default();
        grants.insert(me.clone());
    }

    /// Notes that a leader has resigned: from now on the votes ahead elect its successor.
    pub(in super::super) fn gives(
        &mut self,
        me: &AgentId,
        (term, successor): (Term, &AgentId),
        config: &QuorumConfig,
    ) {
        let grants = self.grants.get(&(term, successor.clone()));
        let is_enough = grants.is_some_and(|grants| grants.len() >= config.vote_quorum());
        self.last_elected = self.last_elected.max(term);
        let first = self
            .elected
            .entry(term)
            .or_insert_with(|| successor.clone());
        if first != successor || !is_enough {
            let what = format!("{me} says that {successor} has the votes for term {term}");
            self.breaks("ElectedFirst", &what);
        }
    }
}
