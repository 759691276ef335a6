//! The record of the register as a participant last saw it, and what the participant concludes from it.
//!
//! Decided here: since when the record is unchanged, whether it was seen without a gap, and when the lease is free.
//! No wall clocks of two hosts are compared: every time in this file is by the reader's own clock, and later than the
//! event to which it belongs.

use std::time::Duration;

use super::{LeaseConfig, reads::Looked};
use crate::elections::message::{
    record::{Holder, LeaseRecord, RecordError},
    register::{Cell, Version},
};
use crate::protocol::{AgentId, Incarnation, Term, Time};

/// The lease as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sight {
    pub(super) version: Version,
    content: Result<Option<LeaseRecord>, RecordError>,
    /// Arrival of the first answer that showed this record. The writer had sent the record before.
    since: Time,
    /// Sending time of the last question whose answer showed this record.
    asked: Time,
    /// Whether the content before the present content was also seen, without a gap in between.
    is_continuous: bool,
    /// Longest lease that this agent saw in this register; at least this agent's own lease.
    longest: Duration,
    /// The highest term of a lease that this agent saw in this register.
    highest: Term,
    /// Extra time for which the reader waits for the end of a lease, because its reads may have had gaps.
    longer: Duration,
}

impl Sight {
    /// Returns the new state after a read, or after a confirmed write of this agent. `before` is the former state.
    pub(super) fn of(
        cell: Cell<LeaseRecord>,
        looked: Looked,
        before: Option<&Self>,
        config: &LeaseConfig,
    ) -> Self {
        let Cell { version, content } = cell;
        let Looked {
            sent,
            arrived,
            allowed,
            is_broken,
        } = looked;
        // `gap-from-sending`: the store may have gone back to a backup between that question and this answer.
        let is_late = |before: &Self| arrived.since(before.asked) > allowed;
        // `unbroken-chain`
        let has_gap = is_broken || before.is_none_or(is_late);
        let same = before.filter(|before| !has_gap && before.is_same(&version, &content));
        let longer = config.longer(allowed);
        let (since, is_continuous, longer) = match same {
            Some(before) => (
                before.since,
                before.is_continuous,
                before.longer.max(longer),
            ),
            // `a-gap-begins-anew`: a store that went back may show an earlier record again.
            None => (arrived, !has_gap, longer),
        };
        // `longest-lease-seen`
        let shown = content.as_ref().ok().and_then(Option::as_ref);
        let term = shown.map_or(Term::ZERO, |record| record.term);
        let highest = before.map_or(term, |before| before.highest.max(term));
        let shown = shown.map_or(Duration::ZERO, |record| record.lease.into());
        let seen = before.map_or(Duration::ZERO, |before| before.longest);
        Self {
            version,
            content,
            since,
            asked: sent,
            is_continuous,
            longest: seen.max(shown),
            highest,
            longer,
        }
    }

    #[cfg(any(test, feature = "testkit"))]
    pub(super) const fn longest(&self) -> Duration {
        self.longest
    }

    fn is_same(
        &self,
        version: &Version,
        content: &Result<Option<LeaseRecord>, RecordError>,
    ) -> bool {
        // Rule `wait-for-the-unchanged`: each renewal has its own nonce, so an equal record was not renewed.
        self.version == *version && self.content == *content
    }

    /// Returns the time at which this agent first saw the present record.
    pub(super) const fn since(&self) -> Time {
        self.since
    }

    pub(super) fn record(&self) -> Option<&LeaseRecord> {
        self.content.as_ref().ok()?.as_ref()
    }

    pub(super) fn holder(&self) -> Option<&Holder> {
        self.record()?.holder.as_ref()
    }

    /// Returns whether this agent may write the record: it is a lease of this group, or no record.
    pub(super) const fn is_ours(&self) -> bool {
        self.content.is_ok()
    }

    /// Returns whether the last read that showed this record was sent no longer than `allowed` ago.
    pub(super) fn is_recent(&self, now: Time, allowed: Duration) -> bool {
        now.since(self.asked) <= allowed
    }

    /// Returns whether the content before the present content was also seen, without a gap in between.
    pub(super) const fn is_continuous(&self) -> bool {
        self.is_continuous
    }

    /// Returns the time at which every leadership that this agent saw has ended by every clock, if nothing changes
    /// until then.
    pub(super) fn ends(&self, config: &LeaseConfig) -> Time {
        let wait = config.patience(self.longest);
        self.since.after(wait.saturating_add(self.longer))
    }

    /// Returns the time at which this agent can take the lease, if nothing changes until then; `None` if never.
    ///
    /// `has_ended` returns whether the end of an incarnation is confirmed.
    pub(super) fn free_at(
        &self,
        (me, incarnation): (&AgentId, Incarnation),
        config: &LeaseConfig,
        has_ended: impl FnOnce(&Holder) -> bool,
    ) -> Option<Time> {
        let over = self.ends(config);
        let Some(record) = self.content.as_ref().ok()? else {
            return Some(over); // deleted, maybe, while an agent leads
        };
        // An earlier record says nothing about the leadership after it.
        if !self.is_continuous || record.term < self.highest {
            return Some(over);
        }
        Some(match (&record.holder, &record.next) {
            // This agent holds the lease but no longer leads by it, so it may take the lease at once.
            (Some(holder), _) if holder.id == *me && holder.incarnation == incarnation => {
                self.since
            }
            (Some(holder), _) if has_ended(holder) => self.since,
            (Some(_), _) => over,
            // The other agents wait for the successor (rule `hand-over`).
            (None, Some(next)) if next.id != *me => over.min(self.since.after(next.wait.into())),
            (None, _) => self.since,
        })
    }

    /// Returns whether the lease was released for this agent, so that no other agent takes it first.
    pub(super) fn is_for(&self, me: &AgentId) -> bool {
        self.record().is_some_and(|record| {
            record.holder.is_none() && record.next.as_ref().is_some_and(|next| next.id == *me)
        })
    }
}
