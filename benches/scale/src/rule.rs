//! The rule by which clients of Kubernetes elect, on a register: `k8s.io/client-go/tools/leaderelection`.
//!
//! A candidate reads the record at intervals. A record without a holder is free. A record that has not changed for
//! `LeaseDuration`, by the candidate's own clock, is free too. The holder writes the record every `RetryPeriod`, and
//! gives up when it could not write for `RenewDeadline`. A candidate waits for 1 to 2.2 times the `RetryPeriod`, at
//! random. No candidate gets a notification of a change, and leaders get no token.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use actix::clock::Instant;
use actix_bully::register::{Entry, Register, RegisterKey, Swap};
use futures::future::{Either, select};

/// The three durations of the rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Time without a change after which a record is free.
    pub(crate) lease_duration: Duration,
    /// Time without a renewal after which a holder gives up.
    pub(crate) renew_deadline: Duration,
    /// Time from one renewal to the next, and the shortest time from one read of a candidate to the next.
    pub(crate) retry_period: Duration,
}

/// A candidate, or the holder.
pub(crate) struct Candidate {
    /// The name in the record while this candidate holds it.
    pub(crate) name: String,
    /// The durations of the rule.
    pub(crate) rule: Rule,
    /// The store of the record.
    pub(crate) register: Arc<dyn Register>,
    /// The key of the record.
    pub(crate) key: RegisterKey,
    /// The last version of the record that the candidate has seen, and the moment at which it saw this version first.
    pub(crate) observed: Option<(Entry, Instant)>,
}

impl Candidate {
    /// Waits until this candidate holds the record.
    pub(crate) async fn acquire(&mut self) {
        while !self.has_written().await {
            let jitter = 1.0 + 1.2 * fastrand::f64();
            actix::clock::sleep(self.rule.retry_period.mul_f64(jitter)).await;
        }
    }

    /// Renews the record. Returns when no renewal has succeeded for `renew_deadline`, or when `asked_to_end` is
    /// ready. No request is under way then.
    pub(crate) async fn renew(&mut self, mut asked_to_end: Pin<&mut impl Future>) {
        let mut renewed = Instant::now();
        while renewed.elapsed() < self.rule.renew_deadline {
            if self.has_written().await {
                renewed = Instant::now();
            }
            let wait = pin!(actix::clock::sleep(self.rule.retry_period));
            if let Either::Right(_) = select(wait, asked_to_end.as_mut()).await {
                return;
            }
        }
    }

    /// Removes the holder from the record.
    pub(crate) async fn release(&mut self) {
        if self.is_holder() {
            let observed = self.observed.take().map(|(entry, _)| entry);
            self.write(observed, "").await;
        }
    }

    async fn has_written(&mut self) -> bool {
        // The holder writes without a read before: one request.
        if self.is_holder() {
            let observed = self.observed.clone().map(|(entry, _)| entry);
            if self.write(observed, &self.name.clone()).await {
                return true;
            }
        }
        let Ok(found) = self.register.read(&self.key).await else {
            return false;
        };
        let known = self.observed.as_ref().map(|(entry, _)| entry);
        if found.as_ref() != known {
            self.observed = found.clone().map(|entry| (entry, Instant::now()));
        }
        if self.is_held() && !self.is_holder() {
            return false;
        }
        self.write(found, &self.name.clone()).await
    }

    async fn write(&mut self, expected: Option<Entry>, holder: &str) -> bool {
        let value = holder.as_bytes().to_vec();
        let written = self
            .register
            .swap(&self.key, expected.as_ref(), value.clone());
        let Ok(Swap::Done(version)) = written.await else {
            return false;
        };
        let entry = Entry::new(&self.key, version, value).ok();
        self.observed = entry.map(|entry| (entry, Instant::now()));
        true
    }

    fn is_holder(&self) -> bool {
        let observed = self.observed.as_ref();
        observed.is_some_and(|(entry, _)| entry.value == self.name.as_bytes())
    }

    /// Returns whether the record has a holder that may still renew it.
    fn is_held(&self) -> bool {
        let observed = self.observed.as_ref();
        observed.is_some_and(|(entry, since)| {
            !entry.value.is_empty() && since.elapsed() < self.rule.lease_duration
        })
    }
}
