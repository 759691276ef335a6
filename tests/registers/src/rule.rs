//! The rule by which clients of Kubernetes elect, on a register: `k8s.io/client-go/tools/leaderelection`.
//!
//! A candidate looks at the record again and again. A record that has not changed for `LeaseDuration`, by the candidate's own
//! clock, is free, as one without a holder is. The holder writes it anew every `RetryPeriod`, and gives up when it could not
//! for `RenewDeadline`. Candidates wait one to 2.2 times the `RetryPeriod`, by chance. Nothing tells them of a change, and no
//! token is given.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use actix::clock::Instant;
use actix_bully::register::{Entry, Register, RegisterKey, Swap};
use futures::future::{Either, select};

/// Its three durations.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// A record that is unchanged for so long is free.
    pub lease_duration: Duration,
    /// A holder that could not renew it for so long gives up.
    pub renew_deadline: Duration,
    /// From one renewal to the next, and from one look of a candidate to the next at least.
    pub retry_period: Duration,
}

/// A candidate, or the holder.
pub struct Candidate {
    /// What the record says while it holds it.
    pub name: String,
    /// Its durations.
    pub rule: Rule,
    /// Where the record is.
    pub register: Arc<dyn Register>,
    /// Its key there.
    pub key: RegisterKey,
    /// The record as it was seen last, and since when it has been so.
    pub observed: Option<(Entry, Instant)>,
}

impl Candidate {
    /// Ends when it holds the record.
    pub async fn acquire(&mut self) {
        while !self.has_written().await {
            let jitter = 1.0 + 1.2 * fastrand::f64();
            actix::clock::sleep(self.rule.retry_period.mul_f64(jitter)).await;
        }
    }

    /// Ends when it could not renew the record for too long, or is asked to end; no request is on its way then.
    pub async fn renew(&mut self, mut asked_to_end: Pin<&mut impl Future>) {
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

    /// Leaves the record without a holder.
    pub async fn release(&mut self) {
        if self.is_holder() {
            let observed = self.observed.take().map(|(entry, _)| entry);
            self.write(observed, "").await;
        }
    }

    async fn has_written(&mut self) -> bool {
        // The holder tries with what it knows: one request.
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

    /// By a holder that may still renew it.
    fn is_held(&self) -> bool {
        let observed = self.observed.as_ref();
        observed.is_some_and(|(entry, since)| {
            !entry.value.is_empty() && since.elapsed() < self.rule.lease_duration
        })
    }
}
