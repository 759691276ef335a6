//! The reaction of each role to the records and answers of the register.
//!
//! Not here: how the role changes ([`transition`](super::transition)), and what an agent concludes from the records
//! ([`sight`](super::sight), [`claims`](super::claims)).

use std::time::Duration;

use super::{
    BullyTimer, Lease, Out,
    leader::Shows,
    reads::{Looked, Reads},
    sight::Sight,
    state::State,
};
use crate::elections::message::{
    record::{ClaimRecord, LeaseRecord},
    register::{Answer, Cell, RegisterShown, Swapped, Version},
};
use crate::protocol::{LostReason, Time};

impl Lease {
    pub(super) fn on_shown(&mut self, now: Time, shown: RegisterShown, out: &mut Out) {
        let RegisterShown {
            request,
            age,
            waited,
            is_broken,
            answer,
        } = shown;
        let waited = waited.into();
        match (answer, request) {
            (Answer::Holds { lease, claim }, _) => {
                let core = &mut self.core;
                let looked = match request {
                    Some(request) => core.reads.answer(request, waited, now, &core.config),
                    None => Some(core.reads.told(age.into(), now, &core.config)),
                };
                let Some(looked) = looked else {
                    return self.ignore("a later read was answered");
                };
                let looked = Looked {
                    is_broken,
                    ..looked
                };
                match &self.state {
                    State::Leading(_) => self.leader_sees(looked, request, lease, claim, out),
                    State::Vacant | State::Following(_) | State::Taking { .. } => {
                        self.sees(looked, request, lease, claim, out);
                    }
                }
            }
            (Answer::Applied(version), Some(request)) => {
                self.on_applied(now, request, waited, version, out);
            }
            (Answer::Changed, Some(request)) => self.on_changed(now, request, out),
            (Answer::Failed, Some(request)) => self.on_failed(now, request, out),
            (Answer::Contender(contender), _) => self.core.contender = contender,
            (Answer::Applied(_) | Answer::Changed | Answer::Failed, None) => {
                self.ignore("no question is under way");
            }
        }
    }

    fn sees(
        &mut self,
        looked: Looked,
        request: Option<u64>,
        lease: Cell<LeaseRecord>,
        claim: Cell<ClaimRecord>,
        out: &mut Out,
    ) {
        let now = looked.arrived;
        self.core.observe(looked, request, lease, claim);
        // Only a read shows that an attempt or a release failed, so an agent that waits for either reads again.
        let is_enough =
            self.core.releasing.is_none() && !matches!(self.state, State::Taking { .. });
        if request.is_some() || is_enough {
            let rest = Reads::next(looked, &self.core.config).since(now);
            self.core.alarms.set(BullyTimer::Detect, now, rest, out);
        }
        if self.has_won(now, out) {
            return;
        }
        self.core.release_again(now, request, out);
        // Only a read that was sent after the attempt shows whether the attempt failed.
        if let State::Taking { request: attempt } = self.state
            && request.is_some_and(|request| request > attempt)
        {
            self.give_up(); // it failed, because otherwise this read would have shown it
        }
        self.reconsider(now, out);
        match self.state {
            State::Following(_) => self.core.claim(now, out),
            State::Vacant => self.core.object(now, out),
            State::Taking { .. } | State::Leading(_) => {}
        }
    }

    /// Begins to lead if the record shows that an attempt with an unknown outcome was applied (rule
    /// `recognised-by-its-nonce`).
    fn has_won(&mut self, now: Time, out: &mut Out) -> bool {
        if !self.core.is_unbroken() {
            return false;
        }
        let shown = self.core.sight.as_ref().and_then(Sight::record);
        let held = shown.filter(|record| record.holder.is_some());
        let Some(attempt) = held.and_then(|record| self.core.attempt_of(record)) else {
            return false;
        };
        let (request, sent) = (attempt.request, attempt.sent);
        let Some(term) = held.map(|record| record.term) else {
            return false;
        };
        self.win(now, term, request, sent, out);
        true
    }

    fn leader_sees(
        &mut self,
        looked: Looked,
        request: Option<u64>,
        lease: Cell<LeaseRecord>,
        claim: Cell<ClaimRecord>,
        out: &mut Out,
    ) {
        let State::Leading(leading) = &mut self.state else {
            return;
        };
        let (core, now) = (&mut self.core, looked.arrived);
        if leading.is_late(request) {
            core.claims.observe(claim, now, &core.config);
            return leading.heed(core, now, out);
        }
        core.observe(looked, request, lease, claim);
        let Some(sight) = core.sight.as_ref().filter(|sight| sight.is_ours()) else {
            return self.ignore("something else was written there");
        };
        match leading.shows(sight.record(), core) {
            Shows::Another => {
                self.lose(now, LostReason::Superseded, out);
                return self.reconsider(now, out);
            }
            // Rule `write-over-the-past`: the record was deleted, or is older than this leadership.
            Shows::Past => leading.renew(core, now, out),
            Shows::Me => {
                let attempt = sight.record().and_then(|record| core.attempt_of(record));
                if let Some((request, sent)) = attempt.map(|a| (a.request, a.sent)) {
                    leading.prolong(core, request, sent);
                    core.renew_after(now, request, sent, out);
                    core.take_attempt(request);
                }
            }
        }
        let (term, until) = (leading.term, leading.until);
        if let Some(seen) = core.claims.highest().filter(|seen| *seen > term) {
            // The claimant ignores this term, so this agent leads again in a higher term (rule `exceed-what-was-seen`).
            core.note_term(seen);
            self.lose(now, LostReason::Superseded, out);
            return self.reconsider(now, out);
        }
        leading.heed(core, now, out);
        core.alarms
            .set_to(BullyTimer::Lease, now, until, Duration::ZERO, out);
    }

    fn on_applied(
        &mut self,
        now: Time,
        request: u64,
        waited: Duration,
        version: Version,
        out: &mut Out,
    ) {
        let Some(attempt) = self.core.take_attempt(request) else {
            return self.ignore("an attempt of a leadership that is over");
        };
        // The time is counted from the end of the wait in this process, because the store was asked only then (rule
        // `lease-from-send-time`).
        let sent = attempt.sent.after(waited).min(now);
        let record = match attempt.record {
            Swapped::Claim(record) => return self.core.claims.applied(record, version, now),
            Swapped::Lease(record) => record,
        };
        let (term, is_held) = (record.term, record.holder.is_some());
        match &mut self.state {
            State::Leading(leading) => {
                if leading.is_late(Some(request)) {
                    return self.ignore("a later attempt was applied");
                }
                self.core.wrote(now, sent, record, version);
                leading.prolong(&self.core, request, sent);
                let until = leading.until;
                self.core.renew_after(now, request, attempt.sent, out);
                self.core
                    .alarms
                    .set_to(BullyTimer::Lease, now, until, Duration::ZERO, out);
            }
            State::Vacant | State::Following(_) | State::Taking { .. } => {
                self.core.wrote(now, sent, record, version);
                // After a gap the agent does not lead by its own applied attempt (rule `a-gap-begins-anew`).
                if is_held && self.core.is_unbroken() {
                    return self.win(now, term, request, sent, out);
                }
                self.core.releasing = None;
                self.give_up();
                self.reconsider(now, out);
            }
        }
    }

    /// Handles the answer that another attempt, of another agent or of this agent, changed the record first.
    fn on_changed(&mut self, now: Time, request: u64, out: &mut Out) {
        match self
            .core
            .take_attempt(request)
            .map(|attempt| attempt.record)
        {
            Some(Swapped::Lease(_)) => self.core.read(now, out),
            Some(Swapped::Claim(_)) | None => self.ignore("it will be seen at the next read"),
        }
    }

    /// Reads the record, because the attempt may have been applied already, or may still be applied (rule
    /// `unknown-is-no-success`).
    fn on_failed(&mut self, now: Time, request: u64, out: &mut Out) {
        if !self.core.is_attempt(request) {
            return self.ignore("a read that failed");
        }
        if let State::Leading(_) = self.state
            && let Some(sent) = self.core.sent_at(request)
        {
            self.core.renew_after(now, request, sent, out);
        }
        self.core.read(now, out);
    }
}
