//! What a voter has promised, and what its record keeps. This part knows no role.
//!
//! Decided here: `one-vote-per-term`, `vote-against-no-promise`, `abstain-after-restart` and
//! `record-longest-promise`. The record changes only together with its durable copy: [`Voter::write`]
//! is the only way to it, and it emits `Persist` before anything that depends on the record can be
//! sent (`persist-before-send`).
//!
//! Not here: what a voter answers ([`consent`](super::consent)), and what its agent does next.

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

/// The part of an agent that supports leaders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Voter {
    /// What is durable.
    pub(super) record: Vote,
    pub(super) promise: Option<Promise>,
    /// The voter abstains before this time, because an earlier incarnation may have promised
    /// something; `None` before the agent starts.
    pub(super) quarantine: Option<Time>,
    /// The newest leadership that is known to be resigned.
    pub(super) resigned: Option<Leader>,
    /// The highest term heard of; never below that of the record.
    pub(super) seen: Term,
    /// Without a disk: what an incarnation does until it takes part.
    pub(super) recovery: Option<Recovery>,
    /// Without a disk: if this one went on by the clock, the incarnations that had forgotten as well.
    pub(super) forgot: Option<Box<Forgetful>>,
    /// With a disk: its past, and its memory of the others beside the record.
    pub(super) memory: Memory,
    /// This incarnation.
    pub(super) incarnation: Incarnation,
}

/// What a voter promised a leader: to support no other agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Promise {
    pub(super) holder: AgentId,
    /// The holder's incarnation. Another one of its name is another agent; its confirmed end, and that of no
    /// other one, voids the promise.
    pub(super) incarnation: Incarnation,
    pub(super) term: Term,
    pub(super) until: Time,
}

impl Promise {
    /// `bound-to-one-incarnation`: whether that very incarnation holds the promise.
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

    /// `abstain-after-restart`: begins the quarantine of this incarnation, and says how long it is.
    pub(super) fn begin(&mut self, config: &QuorumConfig, now: Time) -> Duration {
        let promise = config.timings.promise();
        // Other voters of a later epoch may have promised something in the one before, of which this
        // voter knows nothing: at the beginning of an epoch even an empty record abstains.
        let arrives = config.is_arrival(self.record.term);
        // A lease that depends on its leader alone (a quorum of one) was never promised anything.
        let forgot = self.record.term > Term::ZERO && config.lease_quorum() > 1 || arrives;
        let span = if forgot {
            promise.max(self.record.promise.into())
        } else {
            Duration::ZERO
        };
        self.quarantine = Some(now.after(span));
        span
    }

    /// Writes the record, unless that would change nothing.
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

    /// Writes the memory of the other voters, and nothing else.
    pub(super) fn write_others(&mut self, config: &QuorumConfig, now: Time, out: &mut Out) {
        self.record.promise = self.promise_to_keep(config, now);
        self.persist(config, out);
    }

    fn persist(&mut self, config: &QuorumConfig, out: &mut Out) {
        self.memory.note_written();
        self.hear(self.record.term);
        if config.diskless().is_none() {
            // Emitted here, so that no caller can send a vote or an acknowledgement in front of it: a
            // voter that crashes in between has said nothing that it does not remember.
            out.persist(self.record.clone());
        }
    }

    /// `seal-before-word`: seals, durably.
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

    /// `void-seal`: a leader of that term won without a report of the seal. The vote that this voter gave in that term
    /// stays as it was: it may have been for another agent.
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
        let term = led.term.max(self.record.term);
        self.write_all(config, now, (term, voted_for, voters), out);
    }

    /// Enters a later epoch, by a list that was decided: nothing of the one before binds any longer. `tells`
    /// says that the others may have to hear of it from this agent.
    pub(super) fn enter(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        (list, tells): (Decree, bool),
        is_durable: bool,
        out: &mut Out,
    ) {
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

    /// A leader by the list was heard, so a quorum of its voters has it: this agent need not tell it after a restart.
    pub(super) fn stop_telling(&mut self, config: &QuorumConfig, now: Time, out: &mut Out) {
        // Asked of every heartbeat that an observer hears.
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

    /// `incarnation-before-word`: a clock that was set back takes none away.
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

    /// The longest promise of any incarnation that may still hold.
    fn promise_to_keep(&self, config: &QuorumConfig, now: Time) -> Micros {
        let own = Micros::from(config.timings.promise());
        // The quarantine is no shorter than what earlier incarnations promised, so afterwards only the
        // promise of this one counts. Lowered before, a second restart would abstain for too short a time.
        let is_over = self.quarantine.is_some_and(|end| now >= end);
        if is_over {
            own
        } else {
            own.max(self.record.promise)
        }
    }

    /// For how long this voter must not support `candidate`; zero if it may now. `released` is a
    /// leadership that is known to be resigned: a promise to it binds no longer.
    pub(super) fn blocked(
        &self,
        config: &QuorumConfig,
        now: Time,
        candidate: SenderIncarnation<'_>,
        released: Option<&Leader>,
    ) -> Duration {
        // Before its start a voter does not know what it has promised: it supports no agent.
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

    /// Why a claim gets no vote, if it gets none: when to ask again. `lease` is the end of the lease of
    /// this agent's own leadership, if it leads.
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
        // To vote ends a leader's role, and the lease depends on its own support, too.
        if let Some(until) = lease {
            return Some(until.since(now));
        }
        let blocked = self.blocked(config, now, (from, incarnation), claim.released.as_ref());
        let blocked = blocked.max(self.awaits(now));
        if !blocked.is_zero() {
            return Some(blocked);
        }
        // The same incarnation gets its vote again: the first reply may have been lost.
        let is_other = |voted: &Candidate| voted.id != *from || voted.incarnation != incarnation;
        let voted_for_another =
            claim.term == self.record.term && self.record.voted_for.as_ref().is_some_and(is_other);
        voted_for_another.then_some(Duration::ZERO)
    }

    /// `one-vote-per-term`: votes, durably, for an agent that claims `term`.
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

    /// `resignation-is-final`: that leadership and those before it are over, and so is what was
    /// promised to them.
    pub(super) fn note_resignation(&mut self, resigned: Leader) {
        self.hear(resigned.term);
        self.promise
            .take_if(|promise| promise.is_released_by(&resigned));
        let known = self.resigned.as_ref();
        // Messages overtake each other: an earlier resignation must not hide a later one.
        if known.is_none_or(|known| known.term <= resigned.term) {
            self.resigned = Some(resigned);
        }
    }

    /// Whether that incarnation resigned its leadership of `term`, or of a later one.
    pub(super) fn has_resigned(&self, id: &AgentId, incarnation: Incarnation, term: Term) -> bool {
        let resigned = self.resigned.as_ref();
        resigned.is_some_and(|r| r.id == *id && r.incarnation == incarnation && r.term >= term)
    }

    /// The same of any of its incarnations.
    pub(super) fn has_any_resigned(&self, id: &AgentId, term: Term) -> bool {
        let resigned = self.resigned.as_ref();
        resigned.is_some_and(|resigned| resigned.id == *id && resigned.term >= term)
    }
}
