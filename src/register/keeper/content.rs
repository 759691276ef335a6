//! One record of a group, as the store showed it last: the lease, or the claim (the record by which an agent asks for
//! the lease).
//!
//! Decided here: when a content counts as changed, whether it is a record of this group, and its version for the
//! election. After a store was restored from a backup, it may give the same version to another content. So the election
//! gets a number instead, which grows with every change that is seen.

use crate::{
    elections::lease::{Cell, LeaseName, LeaseRecord, RecordError, RegisterRecord, Version},
    register::{Entry, RegisterError},
};

#[derive(Debug)]
pub(super) struct Content<R> {
    name: LeaseName,
    seen: SeenContent<R>,
    /// The number, in this process, of the `KeeperSchedule` that counts the changes of this record. This number is a
    /// part of the version, because each schedule counts from 0.
    schedule: u64,
    number: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum SeenContent<R> {
    /// The record has not been read yet.
    Unread,
    Nothing,
    /// The stored entry, and its decoded record.
    Stored(Entry, Result<R, RecordError>),
    /// The store itself reports that no register wrote the entry.
    Foreign,
}

impl<R: RegisterRecord + Clone + PartialEq> Content<R> {
    pub(super) fn new(name: &LeaseName, schedule: u64) -> Self {
        Self {
            name: name.clone(),
            seen: SeenContent::Unread,
            schedule,
            number: 0,
        }
    }

    /// Notes the result of a read. Returns whether the content differs from the known content. After an error the
    /// content is unknown.
    pub(super) fn note(
        &mut self,
        read: Result<Option<Entry>, RegisterError>,
    ) -> Result<bool, RegisterError> {
        match read {
            Ok(entry) => Ok(self.show(entry)),
            Err(RegisterError::Foreign { .. }) => Ok(self.set(SeenContent::Foreign)),
            Err(error) => Err(error),
        }
    }

    /// Notes the stored entry. Returns whether the content differs from the known content.
    pub(super) fn show(&mut self, entry: Option<Entry>) -> bool {
        let seen = match entry {
            None => SeenContent::Nothing,
            Some(entry) => {
                let record = self.decode(&entry);
                SeenContent::Stored(entry, record)
            }
        };
        self.set(seen)
    }

    fn set(&mut self, seen: SeenContent<R>) -> bool {
        let is_other = self.seen != seen;
        if is_other {
            self.seen = seen;
            self.number = self.number.saturating_add(1);
        }
        is_other
    }

    fn decode(&self, entry: &Entry) -> Result<R, RecordError> {
        let record = R::decode(&entry.value)?;
        let named = record.name();
        if *named == self.name {
            return Ok(record);
        }
        Err(RecordError::Elsewhere {
            group: named.group.clone(),
            cluster: named.cluster.clone(),
        })
    }

    /// Returns the version that the election gets: the number of the schedule, then the number of changes.
    pub(super) fn version(&self) -> Version {
        let both = u128::from(self.schedule) << 64 | u128::from(self.number);
        #[expect(clippy::expect_used, reason = "sixteen bytes are few")]
        Version::new(&both.to_be_bytes()).expect("a version has room for them")
    }

    /// Returns whether the content may be overwritten: it was read, and is empty or a record of this group.
    pub(super) const fn is_ours(&self) -> bool {
        matches!(
            self.seen,
            SeenContent::Nothing | SeenContent::Stored(_, Ok(_))
        )
    }

    /// Returns the entry that the store has to compare before a swap.
    pub(super) fn entry(&self) -> Option<Entry> {
        match &self.seen {
            SeenContent::Stored(entry, _) => Some(entry.clone()),
            SeenContent::Unread | SeenContent::Nothing | SeenContent::Foreign => None,
        }
    }

    /// Returns the content for the election, or `None` before the first read.
    pub(super) fn cell(&self) -> Option<Cell<R>> {
        let content = match &self.seen {
            SeenContent::Unread => return None,
            SeenContent::Nothing => Ok(None),
            SeenContent::Stored(_, Ok(record)) => Ok(Some(record.clone())),
            SeenContent::Stored(_, Err(error)) => Err(error.clone()),
            SeenContent::Foreign => Err(RecordError::Kind),
        };
        let version = self.version();
        Some(Cell { version, content })
    }

    /// Returns the record, if the content is a record of this group.
    pub(super) fn record(&self) -> Option<&R> {
        match &self.seen {
            SeenContent::Stored(_, Ok(record)) => Some(record),
            SeenContent::Stored(_, Err(_))
            | SeenContent::Unread
            | SeenContent::Nothing
            | SeenContent::Foreign => None,
        }
    }

    /// Returns the reason why the content is not a record of this group; `None` if it is a record of this group.
    pub(super) fn refused(&self) -> Option<RecordError> {
        self.cell()?.content.err()
    }
}

impl Content<LeaseRecord> {
    /// Returns whether the entry is the same leadership as the known record, and was only renewed by the holder.
    pub(super) fn is_renewed_by(&self, entry: &Entry) -> bool {
        let (Some(known), Ok(renewed)) = (self.record(), self.decode(entry)) else {
            return false;
        };
        let of = |record: &LeaseRecord| {
            let holder = record.holder.as_ref();
            holder.map(|holder| (record.term, holder.id.clone(), holder.incarnation))
        };
        of(known).is_some() && of(known) == of(&renewed) && known.lease == renewed.lease
    }
}
