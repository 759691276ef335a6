//! The writes that an agent has sent to its register, as far as it remembers them.
//!
//! Decided here: which writes are remembered; which of them count when the store confirms one or shows its record;
//! when the next write is due. Not here: the content of a write ([`core`](super::core)).

use std::time::Duration;

use super::{
    BullyTimer, Out,
    core::{Core, SwapAttempt},
    reads::Looked,
    sight::Sight,
};
use crate::elections::message::{
    record::LeaseRecord,
    register::{Cell, Swapped, Version},
};
use crate::protocol::Time;

/// Largest number of attempts that are remembered. A lease has room for far fewer renewals.
const ATTEMPTS: usize = 32;

impl Core {
    pub(super) fn note_attempt(&mut self, attempt: SwapAttempt) {
        if self.attempts.len() >= ATTEMPTS {
            self.attempts.pop_front();
        }
        self.attempts.push_back(attempt);
    }

    pub(super) fn take_attempt(&mut self, request: u64) -> Option<SwapAttempt> {
        let at = self.attempts.iter().position(|a| a.request == request)?;
        self.attempts.remove(at)
    }

    /// Returns the latest attempt that could have written this record; `None` if no such attempt is remembered (rule
    /// `recognised-by-its-nonce`).
    pub(super) fn attempt_of(&self, record: &LeaseRecord) -> Option<&SwapAttempt> {
        let wrote = |attempt: &&SwapAttempt| match &attempt.record {
            Swapped::Lease(own) => own == record,
            Swapped::Claim(_) => false,
        };
        self.attempts.iter().rev().find(wrote)
    }

    pub(super) fn is_attempt(&self, request: u64) -> bool {
        self.attempts
            .iter()
            .any(|attempt| attempt.request == request)
    }

    /// Returns the time when the attempt with this number was sent, if it is an attempt to write the lease.
    pub(super) fn sent_at(&self, request: u64) -> Option<Time> {
        let of_lease = |attempt: &&SwapAttempt| {
            attempt.request == request && matches!(attempt.record, Swapped::Lease(_))
        };
        self.attempts.iter().find(of_lease).map(|it| it.sent)
    }

    /// Sets the timer of the next renewal after an answer (rule `renews-when-answered`). The renewal is due now, but at
    /// the earliest one heartbeat interval after the answered attempt was sent. If a later attempt is under way, the
    /// answer to the later attempt sets the timer.
    pub(super) fn renew_after(&mut self, now: Time, request: u64, sent: Time, out: &mut Out) {
        let is_later = |other: &SwapAttempt| {
            other.request > request && matches!(other.record, Swapped::Lease(_))
        };
        if self.attempts.iter().any(is_later) {
            return;
        }
        let due = sent.after(self.config.heartbeat()).max(now);
        self.alarms
            .set_to(BullyTimer::Heartbeat, now, due, Duration::ZERO, out);
    }

    /// Forgets all attempts, because an attempt of a leadership that has ended must not begin another leadership.
    pub(super) fn forget_attempts(&mut self) {
        self.attempts.clear();
    }

    /// Forgets each attempt that would replace another version than a later read has shown. Such an attempt was applied
    /// before that read, or only a store that went back to a backup can apply it (rule `no-second-chance`).
    pub(super) fn forget_hopeless(&mut self, request: u64, sight: &Sight) {
        self.attempts
            .retain(|attempt| match (&attempt.record, sight.record()) {
                (Swapped::Claim(_), _) => true,
                (Swapped::Lease(own), Some(shown)) if own == shown => true,
                (Swapped::Lease(_), _) => {
                    attempt.request > request || attempt.expected == sight.version
                }
            });
    }

    /// Notes that the store has applied an attempt of this agent.
    pub(super) fn wrote(&mut self, now: Time, sent: Time, record: LeaseRecord, version: Version) {
        let looked = Looked {
            sent,
            arrived: now,
            allowed: self.reads.allowed(&self.config),
            is_broken: false,
        };
        let content = Ok(Some(record));
        let cell = Cell { version, content };
        self.sight = Some(Sight::of(cell, looked, self.sight.as_ref(), &self.config));
    }

    /// Returns whether the last record was seen without a gap. The attempt of an agent that does not lead counts only
    /// if no write could happen unseen between its last read and the answer (rule `a-gap-begins-anew`).
    pub(super) fn is_unbroken(&self) -> bool {
        let sight = self.sight.as_ref();
        sight.is_some_and(Sight::is_continuous)
    }
}
