//! The writes that an agent has asked for, as far as it remembers them.
//!
//! Decided here: which of them is remembered, which one counts when the store says that it was applied, or shows
//! its record, and when the next one is due. Not here: the content of a write ([`core`](super::core)).

use std::time::Duration;

use super::{BullyTimer, Out, core::Core, reads::Looked, sight::Sight};
use crate::elections::message::{
    record::LeaseRecord,
    register::{Cell, Swapped, Version},
};
use crate::protocol::Time;

/// Number of attempts that are remembered: many more than a lease has renewals.
const ATTEMPTS: usize = 32;

/// A swap that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SwapAttempt {
    pub request: u64,
    pub sent: Time,
    pub expected: Version,
    pub record: Swapped,
}

impl Core {
    pub(super) fn note_attempt(&mut self, attempt: SwapAttempt) {
        if self.attempts.len() >= ATTEMPTS {
            self.attempts.pop_front();
        }
        self.attempts.push_back(attempt);
    }

    /// Takes out the attempt of that number, if it is remembered.
    pub(super) fn take_attempt(&mut self, request: u64) -> Option<SwapAttempt> {
        let at = self.attempts.iter().position(|a| a.request == request)?;
        self.attempts.remove(at)
    }

    /// The latest attempt that could have written that record.
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

    /// When the attempt of that number was asked for, if it is one to write the lease.
    pub(super) fn sent_at(&self, request: u64) -> Option<Time> {
        let of_lease = |attempt: &&SwapAttempt| {
            attempt.request == request && matches!(attempt.record, Swapped::Lease(_))
        };
        self.attempts.iter().find(of_lease).map(|it| it.sent)
    }

    /// `renews-when-answered`: an attempt to renew was answered. The next one is made now, but not earlier than H after
    /// that one was asked for; a later attempt has its own time.
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

    /// No attempt of a leadership that has ended may begin another one.
    pub(super) fn forget_attempts(&mut self) {
        self.attempts.clear();
    }

    /// `no-second-chance`: forgets an attempt to replace another version than a later read has shown. It was applied
    /// before that read, or only a store that went back can apply it.
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

    /// Its own attempt was applied, as the store says.
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

    /// `a-gap-begins-anew`: an attempt of an agent that does not lead counts only where nothing could happen unseen
    /// between the read that it follows and the answer.
    pub(super) fn is_unbroken(&self) -> bool {
        let sight = self.sight.as_ref();
        sight.is_some_and(Sight::is_continuous)
    }
}
