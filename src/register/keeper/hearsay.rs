//! What is known of the lease by a store that tells what was written, without being asked.
//!
//! Decided here: which change is shown without a read, how often it is compared with the store all the same, when a
//! read leaves open what was there before, and that this is told by the next whole read at the latest. Not here: how a store tells ([`Change`]), and what a renewal makes an agent do.

use std::time::Duration;

use super::schedule::{KeeperSchedule, OperationUnderWay, RegisterReply, WhichRecord};
use crate::{
    protocol::Time,
    register::{Change, Entry, RegisterError},
};

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Hearsay {
    /// The changes of the lease that were told while an operation was under way.
    told: Vec<Change>,
    /// The lease is known by a change that was told, and no operation has shown it since.
    is_only: bool,
    /// The change of the lease that a read is to show.
    announced: Option<Change>,
    /// Shown by an operation and not yet told to any agent: a read of which one half failed, or a swap that found
    /// another record than it expected.
    pub(super) untold: UntoldSight,
}

/// Something was seen that the next whole read is to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UntoldSight {
    /// A record is another one than the agents heard of.
    pub(super) is_changed: bool,
    /// The lease may have been another one in between.
    pub(super) is_broken: bool,
}

impl Hearsay {
    /// An operation has shown the lease.
    pub(super) fn end(&mut self) {
        (self.is_only, self.announced) = (false, None);
    }
}

impl KeeperSchedule {
    /// The store says that a record may have changed, and maybe to what.
    ///
    /// A renewal by the same holder that replaces what is known is shown as it is, without a read: it can only make an
    /// agent wait longer. Everything else is read: any role of a database can tell a change.
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
            // It may be the agents' own write, which is known when its answer comes.
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

    /// The changes that were told while an operation was under way which is over now.
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
        // The agents have not heard of the lease that it renews: the read that tells them shows this one too.
        let is_heard = !self.hearsay.untold.is_changed;
        if !(is_heard && is_next && self.lease.is_renewed_by(entry)) {
            self.hearsay.announced = Some(change);
            self.is_told = true;
            return;
        }
        self.lease.show(Some(entry.clone()));
        self.lease_at = now;
        self.hearsay.is_only = true;
        // Once in a while what was told is compared with the store.
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

    /// Whether another lease may have been there before the one that a read shows: see [`Self::breaks_the_chain`].
    pub(super) fn is_broken_by(&self, lease: &Result<Option<Entry>, RegisterError>) -> bool {
        match lease {
            Ok(found) => self.breaks_the_chain(found.as_ref()),
            Err(RegisterError::Foreign { .. }) => self.breaks_the_chain(None),
            Err(_) => false,
        }
    }

    /// Whether another lease may have been there before the one that was found: the known lease is hearsay, and the store
    /// told of no change that leads from it to the one that is there.
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

/// So often a lease that is known by what a store tells is read.
const COMPARED: Duration = Duration::from_secs(30);

/// So many changes are remembered while an operation is under way.
const MOST_TOLD: usize = 8;
