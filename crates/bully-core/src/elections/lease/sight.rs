//! What a participant has seen of its register, and what follows from that.
//!
//! Decided here: since when the record is unchanged, whether it was seen without a gap, and from when on the
//! lease is free. No wall clock is compared between hosts: every time here is of the reader's own clock, and
//! later than what it is about.

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
    /// When the first answer that showed this arrived. Its writer had begun before.
    since: Time,
    /// When the last question was sent whose answer showed this.
    asked: Time,
    /// Whether the content before this one was seen too, without a gap.
    is_continuous: bool,
    /// The longest lease that this agent saw here, or its own.
    longest: Duration,
    /// The highest term of a lease that this agent saw here.
    highest: Term,
    /// By how much the wait is longer, for the gaps that were allowed.
    longer: Duration,
}

impl Sight {
    /// The sight after a read, or after a write of its own that the store has confirmed; `before` is the last one.
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
        // `gap-from-sending`: the store may have gone back to a backup after the one and before the other.
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

    /// The longest lease that was seen.
    #[cfg(any(test, feature = "testkit"))]
    pub(super) const fn longest(&self) -> Duration {
        self.longest
    }

    fn is_same(
        &self,
        version: &Version,
        content: &Result<Option<LeaseRecord>, RecordError>,
    ) -> bool {
        // `wait-for-the-unchanged`: each renewal has a nonce of its own, and so another content.
        self.version == *version && self.content == *content
    }

    pub(super) fn record(&self) -> Option<&LeaseRecord> {
        self.content.as_ref().ok()?.as_ref()
    }

    pub(super) fn holder(&self) -> Option<&Holder> {
        self.record()?.holder.as_ref()
    }

    /// Whether it can be written: it is a lease of this group, or nothing.
    pub(super) const fn is_ours(&self) -> bool {
        self.content.is_ok()
    }

    /// Whether it was read of late.
    pub(super) fn is_recent(&self, now: Time, allowed: Duration) -> bool {
        now.since(self.asked) <= allowed
    }

    /// Whether the content before this one was seen too, without a gap.
    pub(super) const fn is_continuous(&self) -> bool {
        self.is_continuous
    }

    /// When every leadership that was seen here is over by any clock, if nothing changes until then.
    pub(super) fn ends(&self, config: &LeaseConfig) -> Time {
        let wait = config.patience(self.longest);
        self.since.after(wait.saturating_add(self.longer))
    }

    /// When the lease can be taken by that agent, if nothing changes until then; `None` if never.
    ///
    /// `has_ended` says whether the end of an incarnation is confirmed.
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
        // An earlier record says nothing of the leadership that followed it.
        if !self.is_continuous || record.term < self.highest {
            return Some(over);
        }
        Some(match (&record.holder, &record.next) {
            // Its own, and it does not lead by it any more.
            (Some(holder), _) if holder.id == *me && holder.incarnation == incarnation => {
                self.since
            }
            (Some(holder), _) if has_ended(holder) => self.since,
            (Some(_), _) => over,
            (None, Some(next)) if next.id != *me => over.min(self.since.after(next.wait.into())),
            (None, _) => self.since,
        })
    }

    /// Whether it was released for that agent, which nobody stands before.
    pub(super) fn is_for(&self, me: &AgentId) -> bool {
        self.record().is_some_and(|record| {
            record.holder.is_none() && record.next.as_ref().is_some_and(|next| next.id == *me)
        })
    }
}
