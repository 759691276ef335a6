//! What a participant has seen of its register, and what follows from that.
//!
//! Decided here: since when the record is unchanged, whether it was seen without a gap, and from when on the
//! lease is free. No wall clock is compared between hosts: every time here is of the reader's own clock, and
//! later than what it is about.

use std::time::Duration;

use super::{Defect, LeaseConfig};
use crate::elections::message::{
    record::{Holder, LeaseRecord, RecordError},
    register::{Cell, Version},
};
use crate::protocol::{AgentId, Incarnation, Time};

/// The lease as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sight {
    pub(super) version: Version,
    content: Result<Option<LeaseRecord>, RecordError>,
    /// When it was first seen like this. Whoever wrote it had begun before.
    since: Time,
    /// When it was last seen like this.
    last: Time,
    /// Whether what was there before was seen too, without a gap.
    is_continuous: bool,
}

impl Sight {
    /// What a read has shown, after what was seen before.
    pub(super) fn of(
        cell: Cell<LeaseRecord>,
        now: Time,
        before: Option<&Self>,
        config: &LeaseConfig,
    ) -> Self {
        let Cell { version, content } = cell;
        let has_gap = before.is_none_or(|before| now.since(before.last) > config.gap());
        let has_gap = has_gap && !(config.has(Defect::GapIgnored) && before.is_some());
        let same = before.filter(|before| before.is_same(&version, &content, config));
        let (since, is_continuous) = match same {
            // `a-gap-begins-anew`: a store that went back to a backup may show what was seen before.
            Some(before) if !has_gap => (before.since, before.is_continuous),
            Some(_) | None => (now, !has_gap),
        };
        Self {
            version,
            content,
            since,
            last: now,
            is_continuous,
        }
    }

    /// What this participant wrote itself, as the store confirmed.
    pub(super) fn written(record: LeaseRecord, version: Version, now: Time) -> Self {
        Self {
            version,
            content: Ok(Some(record)),
            since: now,
            last: now,
            is_continuous: true,
        }
    }

    fn is_same(
        &self,
        version: &Version,
        content: &Result<Option<LeaseRecord>, RecordError>,
        config: &LeaseConfig,
    ) -> bool {
        if config.has(Defect::ExpiryFromFirstSight)
            && let (Ok(Some(old)), Ok(Some(new))) = (&self.content, content)
            && old.holder.is_some()
        {
            return (old.term, &old.holder) == (new.term, &new.holder);
        }
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
    pub(super) fn is_recent(&self, now: Time, config: &LeaseConfig) -> bool {
        now.since(self.last) <= config.gap()
    }

    /// When the leadership that this shows is over by any clock, if nothing changes until then.
    pub(super) fn ends(&self, config: &LeaseConfig) -> Time {
        let lease = self.record().map(|record| record.lease.into());
        self.since
            .after(config.patience(lease.unwrap_or(Duration::ZERO)))
    }

    /// When the lease can be taken by that agent, if nothing changes until then; `None` if never.
    ///
    /// `has_ended` says whether the end of an incarnation is confirmed.
    pub(super) fn free_at(
        &self,
        me: &AgentId,
        incarnation: Incarnation,
        config: &LeaseConfig,
        has_ended: impl FnOnce(&Holder) -> bool,
    ) -> Option<Time> {
        let over = self.ends(config);
        let Some(record) = self.content.as_ref().ok()? else {
            return Some(over); // deleted, maybe, while an agent leads
        };
        let is_believed = self.is_continuous || config.has(Defect::ReleaseBelieved);
        if !is_believed {
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
