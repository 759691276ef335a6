//! The data that an agent has in every role, and the questions to its register.
//!
//! Decided here: the numbers and nonces of questions, the next term, and which version a write may replace. Not here:
//! what changes after an answer ([`machine`](super::machine)).

use std::{collections::VecDeque, sync::Arc, time::Duration};

use super::{
    LeaseConfig, Out,
    alarm::Alarms,
    claims::Claims,
    reads::{Looked, Reads},
    sight::Sight,
};
use crate::protocol::{About, AgentId, Leader, LeaderEnd, Rank, Score, Term, Time};
use crate::{
    elections::message::{
        record::{
            ClaimRecord, Holder, LeaseName, LeaseRecord, Nonce, RecordError, RegisterRecord,
            Successor,
        },
        register::{Cell, ReadRegister, RegisterQuestion, SwapRegister, Swapped, Version},
    },
    parts::{Cooldown, Participant, Untracked, slot},
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub me: Participant,
    pub config: Arc<LeaseConfig>,
    pub has_started: bool,
    /// The highest term in any record or snapshot that this agent has received.
    pub highest: Term,
    pub cooldown: Cooldown,
    pub alarms: Alarms,
    pub sight: Option<Sight>,
    pub claims: Claims,
    /// The highest-ranked agent of other processes in the store's list, as the register last reported it.
    pub contender: Option<Rank>,
    /// The nonce of the record whose holder this agent no longer follows. It follows that holder again when the
    /// record has changed.
    pub doubted: Option<Nonce>,
    /// The last time at which this agent knew a leader or led itself. Slots do not begin before that time.
    pub vacant_since: Time,
    /// The last change of the record of the leader that this agent follows.
    pub heard: Untracked<Time>,
    /// The release that this agent writes until the store has confirmed it. The agent no longer leads.
    pub releasing: Option<Releasing>,
    /// The number of the last question. The upper bits are the incarnation, the lower bits count the questions.
    pub requests: u64,
    pub attempts: VecDeque<SwapAttempt>,
    pub reads: Reads,
}

/// A compare-and-swap that was sent to the register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SwapAttempt {
    pub request: u64,
    pub sent: Time,
    pub expected: Version,
    pub record: Swapped,
}

/// The release of the lease after a leadership that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Releasing {
    term: Term,
    to: Option<AgentId>,
    /// The number of the last attempt to write the release.
    request: u64,
}

impl Releasing {
    pub(super) const fn new(term: Term, to: Option<AgentId>) -> Self {
        Self {
            term,
            to,
            request: 0,
        }
    }
}

impl Core {
    pub(super) fn new(me: Participant, config: &Arc<LeaseConfig>) -> Self {
        Self {
            // The mailbox may still contain an answer to a former incarnation. The incarnation in the upper bits
            // separates the numbers of the former incarnation from the numbers of the present incarnation.
            requests: me.incarnation.0 << 32,
            me,
            config: Arc::clone(config),
            has_started: false,
            highest: Term::ZERO,
            cooldown: Cooldown::default(),
            alarms: Alarms::default(),
            sight: None,
            claims: Claims::default(),
            contender: None,
            doubted: None,
            vacant_since: Time::ZERO,
            heard: Untracked::default(),
            releasing: None,
            attempts: VecDeque::new(),
            reads: Reads::default(),
        }
    }

    pub(super) fn note_term(&mut self, term: Term) {
        self.highest = self.highest.max(term);
    }

    // ---- questions ---------------------------------------------------------------------------

    pub(super) fn read(&mut self, now: Time, out: &mut Out) {
        let request = self.next_request();
        self.reads.ask(request, now);
        out.ask(RegisterQuestion::Read(ReadRegister { request }));
    }

    fn swap(&mut self, now: Time, request: u64, expected: Version, record: Swapped, out: &mut Out) {
        self.note_attempt(SwapAttempt {
            request,
            sent: now,
            expected: expected.clone(),
            record: record.clone(),
        });
        let swap = SwapRegister {
            request,
            expected,
            record,
        };
        out.ask(RegisterQuestion::Swap(Box::new(swap)));
    }

    /// Asks for the lease in this term, to take it or to renew it. Returns the number of the attempt; `None` if this
    /// agent knows no version that it may replace.
    pub(super) fn hold(
        &mut self,
        now: Time,
        term: Term,
        score: Score,
        out: &mut Out,
    ) -> Option<u64> {
        let holder = Holder {
            id: self.me.id.clone(),
            incarnation: self.me.incarnation,
            score,
            about: self.me.about().cloned(),
        };
        self.write(now, term, Some(holder), None, out)
    }

    /// Writes the release of the lease in [`releasing`](Self::releasing) (rule `released-for-whom-it-names`).
    pub(super) fn release(&mut self, now: Time, out: &mut Out) {
        let Some(Releasing { term, to, .. }) = self.releasing.clone() else {
            return;
        };
        let wait = self.config.wait().into();
        let next = to.map(|id| Successor { id, wait });
        let request = self.write(now, term, None, next, out);
        if let (Some(releasing), Some(request)) = (&mut self.releasing, request) {
            releasing.request = request;
        }
    }

    /// Writes the release again if the answer to a later question, `shown`, still shows this agent as the holder: the
    /// release came too late or was lost (rule `release-until-confirmed`).
    pub(super) fn release_again(&mut self, now: Time, shown: Option<u64>, out: &mut Out) {
        let attempt = self.releasing.as_ref().map(|releasing| releasing.request);
        if !self.shows_me() {
            self.releasing = None;
        } else if attempt.is_some_and(|attempt| shown.is_some_and(|shown| shown > attempt)) {
            self.release(now, out);
        }
    }

    fn write(
        &mut self,
        now: Time,
        term: Term,
        holder: Option<Holder>,
        next: Option<Successor>,
        out: &mut Out,
    ) -> Option<u64> {
        let sight = self.sight.as_ref().filter(|sight| sight.is_ours())?;
        let expected = sight.version.clone();
        let request = self.next_request();
        let record = LeaseRecord {
            name: self.config.name.clone(),
            term,
            holder,
            lease: self.config.timings.lease().into(),
            nonce: self.nonce(request),
            next,
        };
        self.swap(now, request, expected, Swapped::Lease(record), out);
        Some(request)
    }

    /// Claims the lease of a lower-ranked holder, at most once per renewal interval (rule `claim-if-better`).
    pub(super) fn claim(&mut self, now: Time, out: &mut Out) {
        let holder = self.sight.as_ref().and_then(Sight::holder);
        let (Some(holder), Some(score)) = (holder, self.me.eligible()) else {
            return;
        };
        let (me, holder) = ((score, &self.me.id), (holder.score, &holder.id));
        // An agent with slow answers could not keep the lease that it claims (rule `slow-waits`).
        if self.cooldown.is_active(now) || self.reads.is_slow(&self.config) {
            return;
        }
        let expected = self.claims.to_write(now, me, holder, &self.config);
        if let Some(expected) = expected.cloned() {
            self.write_claim(now, Some(score), expected, out);
        }
    }

    /// Reports in a claim that this agent has seen a term above the holder's term. The agent does not follow the holder
    /// until the holder leads in a higher term (rule `exceed-what-was-seen`).
    pub(super) fn object(&mut self, now: Time, out: &mut Out) {
        let shown = self.sight.as_ref().and_then(Sight::record);
        if shown.is_none_or(|record| record.holder.is_none() || record.term >= self.highest) {
            return;
        }
        let expected = self.claims.to_object(now, self.highest, &self.config);
        if let Some(expected) = expected.cloned() {
            self.write_claim(now, None, expected, out);
        }
    }

    fn write_claim(&mut self, now: Time, score: Option<Score>, expected: Version, out: &mut Out) {
        let request = self.next_request();
        let record = ClaimRecord {
            name: self.config.name.clone(),
            score,
            seen: self.highest,
            nonce: Nonce {
                id: self.me.id.clone(),
                incarnation: self.me.incarnation,
                attempt: request,
            },
        };
        self.claims.note_written(now);
        self.swap(now, request, expected, Swapped::Claim(record), out);
    }

    fn next_request(&mut self) -> u64 {
        self.requests = self.requests.saturating_add(1);
        self.requests
    }

    /// `nonce-of-one-attempt`: returns a nonce with the number of the question, which no other attempt of this
    /// incarnation has.
    fn nonce(&self, request: u64) -> Nonce {
        Nonce {
            id: self.me.id.clone(),
            incarnation: self.me.incarnation,
            attempt: request,
        }
    }

    // ---- answers -----------------------------------------------------------------------------

    pub(super) fn shows_me(&self) -> bool {
        let holder = self.sight.as_ref().and_then(Sight::holder);
        holder.is_some_and(|holder| {
            holder.id == self.me.id && holder.incarnation == self.me.incarnation
        })
    }

    /// Returns the text that a leader publishes about itself. For this agent it is the present text; for another
    /// leader, the text in the record as this agent last saw it.
    pub(super) fn about(&self, leader: &Leader) -> Option<&About> {
        let is_it =
            |holder: &&Holder| holder.id == leader.id && holder.incarnation == leader.incarnation;
        if leader.id == self.me.id {
            return self.me.about();
        }
        let holder = self.sight.as_ref().and_then(Sight::holder);
        holder.filter(is_it)?.about.as_ref()
    }

    /// Notes both records as an answer has shown them.
    pub(super) fn observe(
        &mut self,
        looked: Looked,
        request: Option<u64>,
        lease: Cell<LeaseRecord>,
        claim: Cell<ClaimRecord>,
    ) {
        let (lease, claim) = (self.of_this_group(lease), self.of_this_group(claim));
        let sight = Sight::of(lease, looked, self.sight.as_ref(), &self.config);
        if let Some(record) = sight.record() {
            self.note_term(record.term);
        }
        if let Some(request) = request {
            self.forget_hopeless(request, &sight);
        }
        self.sight = Some(sight);
        self.claims.observe(claim, looked.arrived, &self.config);
    }

    /// `lease-from-send-time`: returns the end of the lease of an applied attempt that was sent at that time. Every
    /// other agent first saw the record after it was sent.
    pub(super) fn lease_from(&self, sent: Time) -> Time {
        sent.after(self.config.timings.lease())
    }

    /// Replaces a record of another group or cluster by an error, because this election must not act on it.
    fn of_this_group<R: RegisterRecord>(&self, cell: Cell<R>) -> Cell<R> {
        let Cell { version, content } = cell;
        let content = content.and_then(|record| {
            let name = record.as_ref().map(RegisterRecord::name);
            match name.filter(|name| **name != self.config.name) {
                Some(LeaseName { cluster, group }) => Err(RecordError::Elsewhere {
                    cluster: cluster.clone(),
                    group: group.clone(),
                }),
                None => Ok(record),
            }
        });
        Cell { version, content }
    }

    // ---- conclusions -------------------------------------------------------------------------

    /// Returns a term above every term that this agent has seen, even if the record shows a lower term (rule
    /// `term-above-all`). The term is not below the reading of the wall clock, so it exceeds terms that a restored
    /// backup does not contain.
    pub(super) fn next_term(&self, now: Time) -> Option<Term> {
        let shown = self.sight.as_ref().and_then(Sight::record);
        let shown = shown.map_or(Term::ZERO, |record| record.term);
        let said = self.claims.highest().unwrap_or_default();
        let counted = self.highest.max(shown).max(said).next()?;
        let wall = self.config.wall_at_zero.map_or(0, |at_zero| {
            (now.as_nanos() / 1_000_000).saturating_add_signed(at_zero)
        });
        Some(counted.max(Term(wall)))
    }

    /// Returns the holder that the record shows. Returns `None` if the holder is this agent, if its end is known, if
    /// its term is old, or if this agent no longer follows it.
    pub(super) fn shown_leader(&self) -> Option<Leader> {
        let record = self.sight.as_ref()?.record()?;
        let holder = record.holder.as_ref()?;
        let is_over = self
            .me
            .members
            .get(&holder.id)
            .is_some_and(|member| member.is_stale(holder.incarnation));
        // Terms never go back: if the record's term is below a known term, the store went back to a backup.
        let is_old = record.term < self.highest;
        let is_doubted = self.doubted.as_ref() == Some(&record.nonce);
        (holder.id != self.me.id && !is_over && !is_old && !is_doubted).then(|| Leader {
            id: holder.id.clone(),
            incarnation: holder.incarnation,
            term: record.term,
        })
    }

    /// Returns how the followed leader has ended, for the history and the metrics. `by` is the leader that the record
    /// shows now; `has_left` is set if the followed leader left the group.
    pub(super) fn how_ended(
        &self,
        leader: &Leader,
        by: Option<&Leader>,
        has_left: bool,
    ) -> LeaderEnd {
        let sight = self.sight.as_ref();
        let record = sight.and_then(Sight::record);
        let is_released =
            record.is_some_and(|record| record.holder.is_none() && record.term >= leader.term);
        let since = self.heard.0;
        let lease = self.config.timings.lease();
        // A leader that lives renews its record several times in the length of a lease.
        let is_late = |sight: &Sight| sight.since().since(since) > lease;
        if is_released || has_left {
            LeaderEnd::Resigned
        } else if self.me.has_ended(leader) {
            LeaderEnd::Ended
        } else if by.is_some() && !sight.is_some_and(is_late) {
            LeaderEnd::Replaced
        } else {
            LeaderEnd::Silent { since }
        }
    }

    /// Stops following the holder that the record shows, until the record changes.
    pub(super) fn doubt(&mut self) {
        let record = self.sight.as_ref().and_then(Sight::record);
        self.doubted = record.map(|record| record.nonce.clone());
    }

    /// Returns the time at which this agent takes the lease if nothing changes until then, and the jitter that the
    /// driver may add; `None` if the agent may not take it (rule `rank-staggered-slots`).
    pub(super) fn slot(&self, now: Time) -> Option<(Time, Duration)> {
        if self.releasing.is_some() {
            return None; // it has yet to release its own lease
        }
        self.me.eligible()?;
        let sight = self.sight.as_ref()?;
        let has_ended = |holder: &Holder| self.has_ended(holder);
        let (me, config) = (&self.me, &*self.config);
        let own = (&me.id, me.incarnation);
        let free = sight.free_at(own, config, has_ended)?;
        if sight.is_for(&me.id) {
            return Some((free, Duration::ZERO)); // the lease was released for it, so no other agent goes first
        }
        let gone = sight.holder().map(|holder| &holder.id);
        let at = me.slot(gone, self.cooldown.is_active(now))?;
        let outranked = self
            // `me.slot` counts only the members of this process, so a better claimant of another process is added
            .claims
            .claimant(now, &me.id, config)
            .is_some_and(|(Nonce { id, .. }, score)| {
                me.members.get(id).is_none() && !me.outranks(score, id) && gone != Some(id)
            });
        let at = at.saturating_add(usize::from(outranked || self.reads.is_slow(config)));
        // Each slot is one poll later than the slot before, because a higher-ranked agent may see the same record one
        // poll later.
        let wait = slot::delay(config.poll(), at);
        let begins = free.max(self.vacant_since);
        Some((begins.after(wait), config.timings.jitter()))
    }

    /// Returns whether the agent `id` claims the lease, and the end of the claiming incarnation is not known. Then the
    /// agent reaches the store, even if the list of members shows it as gone.
    pub(super) fn is_claimed_by(&self, now: Time, id: &AgentId) -> bool {
        let claimant = self.claims.claimant(now, &self.me.id, &self.config);
        let member = self.me.members.get(id);
        claimant.is_some_and(|(nonce, _)| {
            nonce.id == *id && !member.is_some_and(|m| m.was_end_told(nonce.incarnation))
        })
    }

    /// Returns whether the end of exactly this incarnation was seen or reported (rule `confirmed-end-frees`). The
    /// end of a later incarnation proves nothing, because the holder may be another process with the same name.
    fn has_ended(&self, holder: &Holder) -> bool {
        let member = self.me.members.get(&holder.id);
        member.is_some_and(|member| member.was_end_told(holder.incarnation))
    }
}
