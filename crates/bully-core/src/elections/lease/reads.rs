//! The reads of a participant at its register, and the time that the answers took.
//!
//! Decided here: which answer counts, the longest allowed time between two reads, the part of that time by which the
//! wait grows, and which agent counts as slow. Not here: the content of an answer ([`sight`](super::sight)).

use std::{collections::VecDeque, time::Duration};

use super::LeaseConfig;
#[cfg(doc)]
use crate::elections::message::register::RegisterShown;
use crate::protocol::Time;

/// The reads that wait for their answers, and the times that the last answers took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Reads {
    sent: VecDeque<(u64, Time)>,
    /// Times that the last answers took. Empty before the first answer; the first answer sets all entries to its time.
    took: VecDeque<Duration>,
}

/// The times of an answer. The register read the store at some moment between `sent` and `arrived`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub sent: Time,
    pub arrived: Time,
    /// Longest time that was allowed between the sending of the former read and the arrival of this answer.
    pub allowed: Duration,
    /// Whether a gap of any length is possible: see [`RegisterShown::is_broken`].
    pub is_broken: bool,
}

impl Reads {
    pub(super) fn ask(&mut self, request: u64, now: Time) {
        if self.sent.len() >= WAITING {
            self.sent.pop_front();
        }
        self.sent.push_back((request, now));
    }

    /// Returns the times of the read with this answer; `None` if a later read was answered already. Answers to earlier
    /// reads no longer count (rule `the-newest-answer-counts`).
    pub(super) fn answer(
        &mut self,
        request: u64,
        waited: Duration,
        now: Time,
        config: &LeaseConfig,
    ) -> Option<Looked> {
        let at = self.sent.iter().position(|(asked, _)| *asked == request)?;
        let (_, asked) = self.sent.drain(..=at).next_back()?;
        // The question waited in this process first, so the store was asked later.
        let sent = asked.after(waited).min(now);
        // The limit comes from earlier answers, so that a slow answer does not extend its own limit.
        let allowed = self.allowed(config);
        self.measure(now.since(sent), config);
        let arrived = now;
        Some(Looked {
            sent,
            arrived,
            allowed,
            is_broken: false,
        })
    }

    /// Returns the time at which the next read is sent (rule `a-poll-after-a-quick-answer`).
    pub(super) fn next(looked: Looked, config: &LeaseConfig) -> Time {
        let is_short = config.is_short(looked.arrived.since(looked.sent));
        let from = if is_short {
            looked.arrived
        } else {
            looked.sent
        };
        from.after(config.poll())
    }

    /// Notes the time that an answer took. A short answer counts as zero, because it changes no wait.
    fn measure(&mut self, took: Duration, config: &LeaseConfig) {
        let is_short = config.is_short(took);
        let took = if is_short { Duration::ZERO } else { took };
        if self.took.pop_front().is_none() {
            self.took = VecDeque::from([took; MEASURED]);
        } else {
            self.took.push_back(took);
        }
    }

    /// Returns the times of a report that answers no question. Its read began `age` ago.
    pub(super) fn told(&self, age: Duration, now: Time, config: &LeaseConfig) -> Looked {
        let nanos = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
        Looked {
            sent: Time::from_nanos(now.as_nanos().saturating_sub(nanos)),
            arrived: now,
            allowed: self.allowed(config),
            is_broken: false,
        }
    }

    /// Returns the longest allowed time from the sending of a read to the arrival of the next answer (rule
    /// `gap-from-sending`).
    pub(super) fn allowed(&self, config: &LeaseConfig) -> Duration {
        let (least, most) = (config.heartbeat(), config.timings.lease());
        let answers = self.median().saturating_mul(2).max(least);
        config.poll().saturating_add(answers.min(most.max(least)))
    }
}

impl Reads {
    /// Returns the median of the noted times. Times of short answers count as zero.
    fn median(&self) -> Duration {
        let mut took: Vec<Duration> = self.took.iter().copied().collect();
        took.sort_unstable();
        took.get(took.len() / 2).copied().unwrap_or_default()
    }

    /// Returns the median time of an answer, if it is longer than two delay bounds; otherwise `None`.
    pub(super) fn slow(&self, config: &LeaseConfig) -> Option<Duration> {
        let assumed = config.timings.delay_bound().saturating_mul(2);
        Some(self.median()).filter(|took| *took > assumed)
    }

    /// Returns whether the store answers this agent too slowly: the median time is above 3/4 of the renewal interval H
    /// (rule `slow-waits`). Three answers have to fit into the lease D, which is at least 3 H. A quarter of H is a
    /// chosen margin.
    pub(super) fn is_slow(&self, config: &LeaseConfig) -> bool {
        let bound = config.heartbeat().saturating_mul(3);
        self.median().saturating_mul(4) > bound
    }

    /// Returns the time after which a renewal without an answer is repeated. Where answers are slow, this is 2/3 of the
    /// lease D: two answers fit into it, so that a renewal is not sent twice. The third answer has to fit into the rest
    /// of the lease (rule `renews-when-answered`).
    pub(super) fn again(&self, config: &LeaseConfig) -> Duration {
        let heartbeat = config.heartbeat();
        if self.median().is_zero() {
            return heartbeat;
        }
        heartbeat.max(config.timings.lease() / 3 * 2)
    }
}

/// Largest number of unanswered reads that are remembered.
const WAITING: usize = 32;

/// Number of answers over which the median is taken. Chosen: five slow answers change the waits, one slow answer does
/// not (except the first). With far more than ten, the waits would stay too short for a store that has become slow.
const MEASURED: usize = 10;
