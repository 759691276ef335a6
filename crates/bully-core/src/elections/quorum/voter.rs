//! A voter's promise and record. This module does not depend on the role.
//!
//! Decided here: the rules `one-vote-per-term`, `vote-against-no-promise`, `abstain-after-restart` and
//! `record-longest-promise`. The record changes only together with its durable copy: each change ends in `Persist`,
//! which is emitted before any message that depends on the record can be sent (`persist-before-send`).
//!
//! Not here: the answers of a voter ([`consent`](super::consent)), and the next step of its agent.

use std::{mem, time::Duration};

use super::{
    Out, QuorumConfig, SenderIncarnation, Vote,
    diskless::{Forgetful, Recovery},
    memory::Memory,
};
use crate::elections::{
    message::{Candidate, Claim, Micros},
    vote::{SealRecord, VotersRecord},
};
use crate::protocol::{AgentId, Decree, Incarnation, Leader, Term, Time};

/// The part of an agent that votes and supports leaders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Voter {
    /// The durable record.
    pub(super) record: Vote,
    pub(super) promise: Option<Promise>,
    /// Time before which the voter abstains, because an earlier incarnation may have given a promise. `None` before
    /// the agent starts.
    pub(super) quarantine: Option<Time>,
    /// The newest leadership that this voter knows to be resigned.
    pub(super) resigned: Option<Leader>,
    /// The highest known term; never below the term of the record.
    pub(super) seen: Term,
    /// Without a disk: the state of the recovery; `None` when the incarnation takes part.
    pub(super) recovery: Option<Recovery>,
    /// Without a disk: if this incarnation recovered by the clocks, the incarnations that had forgotten as well.
    pub(super) forgot: Option<Box<Forgetful>>,
    /// With a disk: the voter's past, and the part of its memory of the other voters that is not in the record.
    pub(super) memory: Memory,
    pub(super) incarnation: Incarnation,
}

/// A voter's promise to a leader: the voter supports no other agent until the promise ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Promise {
    pub(super) holder: AgentId,
    /// The holder's incarnation. Another incarnation of the name is another agent. Only the confirmed end of this
    /// incarnation makes the promise void.
    pub(super) incarnation: Incarnation,
    pub(super) term: Term,
    pub(super) until: Time,
}

impl Promise {
    /// `bound-to-one-incarnation`: whether exactly this incarnation holds the promise.
    fn is_to(&self, (id, incarnation): SenderIncarnation<'_>) -> bool {
        self.holder == *id && self.incarnation == incarnation
    }

    /// Whether `released` names the leadership that the promise supports, or a later one of the same incarnation.
    fn is_released_by(&self, released: &Leader) -> bool {
        released.id == self.holder
            && self.term <= released.term
            && released.incarnation == self.incarnation
    }
}

impl Voter {
    pub(super) fn new(record: Vote, incarnation: Incarnation, first: Term) -> Self {
        Self {
            memory: Memory::new(&record),
            incarnation,
            seen: record.term.max(first),
            record,
            promise: None,
            quarantine: None,
            resigned: None,
            recovery: None,
            forgot: None,
        }
    }

    pub(super) const fn has_started(&self) -> bool {
        self.quarantine.is_some()
    }

    pub(super) fn hear(&mut self, term: Term) {
        self.seen = self.seen.max(term);
    }

    /// Begins the quarantine of this incarnation, and returns its length (rule `abstain-after-restart`).
    pub(super) fn begin(&mut self, config: &QuorumConfig, now: Time) -> Duration {
        let promise = config.timings.promise();
        // At the beginning of a later epoch even a voter with an empty record abstains, because other voters may have
        // given promises in the epoch before that this voter does not know.
        let arrives = config.is_arrival(self.record.term);
        // With Ql = 1 a lease needs no promise of another voter, so only a later epoch makes the voter abstain.
        let forgot = self.record.term > Term::ZERO && config.lease_quorum() > 1 || arrives;
        let span = if forgot {
            promise.max(self.record.promise.into())
        } else {
            Duration::ZERO
        };
        self.quarantine = Some(now.after(span));
        span
    }

    /// Writes the record, if it differs from the record before.
    pub(super) fn write(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        term: Term,
        voted_for: Option<Candidate>,
        out: &mut Out,
    ) {
        let voters = self.record.voters.clone();
        self.write_all(config, now, (term, voted_for, voters), out);
    }

    /// Writes the record, with its part about a change of the voters.
    fn write_all(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        (term, voted_for, voters): (Term, Option<Candidate>, Option<Box<VotersRecord>>),
        out: &mut Out,
    ) {
        let record = Vote {
            term,
            voted_for,
            promise: self.promise_to_keep(config, now),
            incarnation: self.incarnation_to_keep(),
            others: mem::take(&mut self.record.others),
            voters,
        };
        let is_new = self.record.is_changed_by(&record);
        self.record = record;
        if is_new {
            self.persist(config, out);
        }
    }

    /// Writes only the memory of the other voters.
    pub(super) fn write_others(&mut self, config: &QuorumConfig, now: Time, out: &mut Out) {
        self.record.promise = self.promise_to_keep(config, now);
        self.persist(config, out);
    }

    /// Deletes the memory of the former epoch when a later epoch begins. `peers` lists the other voters.
    pub(super) fn forget_others(&mut self, peers: &[AgentId]) {
        let takes_part = self.record.incarnation >= Some(self.incarnation);
        self.record.others.clear();
        self.memory.forget(takes_part, peers);
    }

    /// Notes that an election in this term is held now, or was held before (rule `abstain-when-late`).
    pub(super) fn hear_of_election(&mut self, config: &QuorumConfig, now: Time, term: Term) {
        let until = self.memory.hear_of_election(config, now, term);
        self.quarantine = self.quarantine.max(until);
    }

    fn persist(&mut self, config: &QuorumConfig, out: &mut Out) {
        self.memory.note_written();
        self.hear(self.record.term);
        if config.diskless().is_none() {
            // Emitted here, so that no caller can send a vote or an acknowledgement before it: a voter that
            // crashes in between has sent nothing that its record does not have.
            out.persist(self.record.clone());
        }
    }

    /// Writes a seal (rule `seal-before-word`).
    pub(super) fn seal(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        term: Term,
        voted_for: Option<Candidate>,
        next: &Decree,
        out: &mut Out,
    ) {
        let next = next.clone();
        let voters = Some(Box::new(VotersRecord {
            installed: self.record.installed().cloned(),
            seal: Some(SealRecord { term, next }),
            tells: false,
        }));
        self.write_all(config, now, (term, voted_for, voters), out);
    }

    /// Deletes a seal, because the leader `led` won without a report of it. If this voter has voted in the leader's
    /// term, the vote stays: it may have been for another agent (rule `void-seal`).
    pub(super) fn unseal(&mut self, config: &QuorumConfig, now: Time, led: &Leader, out: &mut Out) {
        let installed = self.record.installed().cloned();
        let voters = installed.map(|list| {
            Box::new(VotersRecord {
                installed: Some(list),
                seal: None,
                tells: false,
            })
        });
        let own = self.record.voted_for.clone();
        let own = own.filter(|_| self.record.term >= led.term);
        let voted_for = own.or_else(|| Some(Candidate::new(&led.id, led.incarnation)));
        // Invariant `TermMonotone`: a durable term never decreases.
        let term = led.term.max(self.record.term);
        self.write_all(config, now, (term, voted_for, voters), out);
    }

    /// Enters a later epoch, by a decided list. Promises and votes of the epoch before no longer bind. `tells` is
    /// `true` if the other agents may have to receive the list from this agent.
    pub(super) fn enter(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        (list, tells): (Decree, bool),
        is_durable: bool,
        out: &mut Out,
    ) {
        // The promises end, because a quorum has sealed the epoch in which they were given.
        let first = config.first_term();
        self.promise = None;
        self.quarantine = Some(now);
        self.resigned = None;
        let voters = VotersRecord {
            installed: Some(list),
            seal: None,
            tells,
        };
        if is_durable {
            self.write_all(config, now, (first, None, Some(Box::new(voters))), out);
        } else {
            self.record = Vote {
                term: first,
                voters: Some(Box::new(voters)),
                ..Vote::default()
            };
        }
        self.seen = first;
    }

    /// Notes that this agent need not send the list after a restart, because it has heard a leader of the new epoch, so
    /// that a quorum of the voters has the list (rule `tell-after-restart`).
    pub(super) fn stop_telling(&mut self, config: &QuorumConfig, now: Time, out: &mut Out) {
        // This check is a fast path: the function runs for every heartbeat that an observer hears.
        let Some(told) = self.record.voters.as_ref().filter(|voters| voters.tells) else {
            return;
        };
        let voters = VotersRecord {
            tells: false,
            ..VotersRecord::clone(told)
        };
        let (term, voted_for) = (self.record.term, self.record.voted_for.clone());
        self.write_all(config, now, (term, voted_for, Some(Box::new(voters))), out);
    }

    /// `incarnation-before-word`: returns the highest incarnation, even if a clock was set back since.
    fn incarnation_to_keep(&self) -> Option<Incarnation> {
        self.record.incarnation.max(Some(self.incarnation))
    }

    /// `record-longest-promise`, `incarnation-before-word`: writes the promise and the incarnation that gives it,
    /// if the record does not keep them yet.
    pub(super) fn write_promise(&mut self, config: &QuorumConfig, now: Time, out: &mut Out) {
        if self.record.promise != self.promise_to_keep(config, now)
            || self.record.incarnation != self.incarnation_to_keep()
        {
            self.write(
                config,
                now,
                self.record.term,
                self.record.voted_for.clone(),
                out,
            );
        }
    }

    /// Returns the longest promise, of any incarnation, that may still hold.
    fn promise_to_keep(&self, config: &QuorumConfig, now: Time) -> Micros {
        let own = Micros::from(config.timings.promise());
        // The quarantine is at least as long as the promises of earlier incarnations, so after it only the
        // promise of this one counts. If the record were lowered earlier, a voter that restarts again would
        // abstain for too short a time.
        let is_over = self.quarantine.is_some_and(|end| now >= end);
        if is_over {
            own
        } else {
            own.max(self.record.promise)
        }
    }

    /// Returns the time for which this voter must not support `candidate`; zero if it may support it now. `released`
    /// is a resigned leadership: a promise to it no longer binds.
    pub(super) fn blocked(
        &self,
        config: &QuorumConfig,
        now: Time,
        candidate: SenderIncarnation<'_>,
        released: Option<&Leader>,
    ) -> Duration {
        // Before its start a voter does not know its promises, so it supports no agent.
        let abstains = self.quarantine.unwrap_or(Time::MAX).since(now);
        if !abstains.is_zero() {
            return abstains;
        }
        if self.recovery.is_some() {
            return config.timings.round(); // the others have not answered yet
        }
        let promise = self.promise.as_ref().filter(|promise| {
            !promise.is_to(candidate) && !released.is_some_and(|led| promise.is_released_by(led))
        });
        promise.map_or(Duration::ZERO, |promise| promise.until.since(now))
    }

    /// Returns the time after which the candidate should ask again, if its claim gets no vote; `None` if it gets this
    /// voter's vote. `lease` is the end of this agent's own lease, if it leads.
    pub(super) fn refuses(
        &self,
        config: &QuorumConfig,
        now: Time,
        (from, incarnation): SenderIncarnation<'_>,
        claim: &Claim,
        lease: Option<Time>,
    ) -> Option<Duration> {
        if claim.term < self.record.term {
            return Some(Duration::ZERO);
        }
        // A leader gives no vote: a vote would end its role, and its lease also depends on its own support.
        if let Some(until) = lease {
            return Some(until.since(now));
        }
        let blocked = self.blocked(config, now, (from, incarnation), claim.released.as_ref());
        let blocked = blocked.max(self.memory.awaits(now));
        if !blocked.is_zero() {
            return Some(blocked);
        }
        // The same incarnation gets its vote again: the first reply may have been lost.
        let is_other = |voted: &Candidate| voted.id != *from || voted.incarnation != incarnation;
        let voted_for_another =
            claim.term == self.record.term && self.record.voted_for.as_ref().is_some_and(is_other);
        voted_for_another.then_some(Duration::ZERO)
    }

    /// Writes a vote for an agent that claims `term` (rule `one-vote-per-term`).
    pub(super) fn vote(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        term: Term,
        candidate: Candidate,
        out: &mut Out,
    ) {
        self.write(config, now, term, Some(candidate), out);
    }

    /// Whether a promise to that incarnation still holds.
    pub(super) fn is_bound_to(&self, holder: SenderIncarnation<'_>, now: Time) -> bool {
        let promise = self.promise.as_ref();
        promise.is_some_and(|promise| promise.is_to(holder) && now < promise.until)
    }

    /// `resignation-is-final`: that leadership and earlier ones of its incarnation are over, and promises to
    /// them are void.
    pub(super) fn note_resignation(&mut self, resigned: Leader) {
        self.hear(resigned.term);
        self.promise
            .take_if(|promise| promise.is_released_by(&resigned));
        let known = self.resigned.as_ref();
        // Messages may arrive in any order: an earlier resignation must not replace a later one.
        if known.is_none_or(|known| known.term <= resigned.term) {
            self.resigned = Some(resigned);
        }
    }

    /// Returns whether this incarnation resigned its leadership of `term`, or of a later term.
    pub(super) fn has_resigned(&self, id: &AgentId, incarnation: Incarnation, term: Term) -> bool {
        let resigned = self.resigned.as_ref();
        resigned.is_some_and(|r| r.id == *id && r.incarnation == incarnation && r.term >= term)
    }

    /// Returns whether any incarnation of this agent resigned its leadership of `term`, or of a later term.
    pub(super) fn has_any_resigned(&self, id: &AgentId, term: Term) -> bool {
        let resigned = self.resigned.as_ref();
        resigned.is_some_and(|resigned| resigned.id == *id && resigned.term >= term)
    }
}
