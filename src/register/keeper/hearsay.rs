//! Knowledge about the lease from changes that a store announces, without a read.
//!
//! Decided here: which announced changes are shown to agents without a read; how often a lease that is known only from
//! an announcement is compared with the store; and when other leases may have existed unseen between two known leases.
//! The next complete read reports such a gap at the latest. Not here: how a store announces changes ([`Change`]), and
//! the effect of a renewal on an agent.

use std::time::Duration;

use super::schedule::{Hearsay, KeeperSchedule, OperationUnderWay, RegisterReply, WhichRecord};
use crate::{
    protocol::Time,
    register::{Change, Entry, RegisterError},
};

impl Hearsay {
    /// Notes that an operation has shown the lease.
    pub(super) fn end(&mut self) {
        (self.is_only, self.announced) = (false, None);
    }
}

impl KeeperSchedule {
    /// Handles an announcement of the store: a record may have changed, and the announcement may contain the new
    /// content.
    ///
    /// A renewal of the known lease by its holder is shown without a read: if the announcement is false, it can only
    /// make an agent wait longer. Every other change causes a read, because any client of a database can announce a
    /// change.
    pub(super) fn tell(
        &mut self,
        now: Time,
        which: WhichRecord,
        change: Change,
        out: &mut Vec<RegisterReply>,
    ) {
        let is_under_way = !matches!(self.under_way, OperationUnderWay::Nothing);
        match (which, change) {
            (WhichRecord::Claim, _) | (_, Change::Unknown) => self.is_told = true,
            // The change may be a write of an agent of this process. The answer to the write will show the new content.
            (WhichRecord::Lease, change) if is_under_way => {
                if self.hearsay.told.len() < MOST_TOLD {
                    self.hearsay.told.push(change);
                } else {
                    self.is_told = true;
                }
            }
            (WhichRecord::Lease, change) => self.tell_lease(now, change, out),
        }
    }

    /// Handles the changes that arrived during an operation that has now ended.
    pub(super) fn tell_rest(&mut self, now: Time, out: &mut Vec<RegisterReply>) {
        for change in std::mem::take(&mut self.hearsay.told) {
            self.tell_lease(now, change, out);
        }
    }

    fn tell_lease(&mut self, now: Time, change: Change, out: &mut Vec<RegisterReply>) {
        let Change::Written { entry, replaced } = &change else {
            self.is_told = true;
            return;
        };
        let known = self.lease.entry();
        if known.as_ref() == Some(entry) {
            return;
        }
        let is_next = known.is_some_and(|known| replaced.as_ref() == Some(&known.version));
        // If there is an observation that the agents have not received yet, they may not know the lease that was
        // renewed. The read that shows them this lease will also show the renewal.
        let is_heard = !self.hearsay.untold.is_changed;
        if !(is_heard && is_next && self.lease.is_renewed_by(entry)) {
            self.hearsay.announced = Some(change);
            self.is_told = true;
            return;
        }
        self.lease.show(Some(entry.clone()));
        self.lease_at = now;
        self.hearsay.is_only = true;
        // An announced lease is compared with the store from time to time.
        self.is_told |= self.read_at.is_none_or(|at| now.since(at) >= COMPARED);
        if let Some(holds) = self.holds() {
            out.push(RegisterReply::ToOthers {
                but: Vec::new(),
                at: now,
                answer: holds,
                is_broken: false,
            });
        }
    }

    /// Returns whether an unseen lease may have existed before the lease that was read: see [`Self::breaks_the_chain`].
    pub(super) fn is_broken_by(&self, lease: &Result<Option<Entry>, RegisterError>) -> bool {
        match lease {
            Ok(found) => self.breaks_the_chain(found.as_ref()),
            Err(RegisterError::Foreign { .. }) => self.breaks_the_chain(None),
            Err(_) => false,
        }
    }

    /// Returns whether an unseen lease may have existed before the found lease: the known lease comes from an
    /// announcement, and no announced change leads from the known lease to the found lease.
    pub(super) fn breaks_the_chain(&self, found: Option<&Entry>) -> bool {
        let known = self.lease.entry();
        if !self.hearsay.is_only || found == known.as_ref() {
            return false;
        }
        let is_announced = match &self.hearsay.announced {
            Some(Change::Written { entry, replaced }) => {
                found == Some(entry)
                    && known.is_some_and(|known| replaced.as_ref() == Some(&known.version))
            }
            Some(_) | None => false,
        };
        !is_announced
    }
}

/// Time after which an announced lease is compared with the store by a read.
const COMPARED: Duration = Duration::from_secs(30);

/// Largest number of changes that are kept while an operation is in progress. If more arrive, a read follows instead.
const MOST_TOLD: usize = 8;
