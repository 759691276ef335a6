//! What an operator is told of the store.
//!
//! Decided here: since when a store counts as failing, and that its last words are kept.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tracing::{info, warn};

use crate::{elections::lease::RecordError, protocol::Time, register::RegisterError};

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<KnownFault>);

#[derive(Debug, Default)]
struct KnownFault {
    failing: Option<(Time, String)>,
    refused: Option<RecordError>,
}

/// What is known of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreState {
    /// For how long every operation has failed, and what the last one said.
    pub(crate) failing: Option<(Duration, String)>,
    /// Why what it holds is no record of this group.
    pub(crate) refused: Option<String>,
}

impl Health {
    /// An operation has failed.
    pub(super) fn fails(&self, now: Time, store: &str, error: &RegisterError) {
        let mut known = self.known();
        let reason = error.to_string();
        let since = known.failing.take().map(|(since, _)| since);
        if since.is_none() {
            // Once, not for each try.
            warn!(node = store, %reason, "the store of the lease fails");
        }
        known.failing = Some((since.unwrap_or(now), reason));
    }

    /// An operation has succeeded; what the store holds is a record of this group, or that.
    pub(super) fn works(&self, store: &str, refused: Option<RecordError>) {
        let mut known = self.known();
        if known.failing.take().is_some() {
            info!(node = store, "the store of the lease works again");
        }
        if let Some(reason) = refused.as_ref().filter(|_| known.refused != refused) {
            warn!(node = store, %reason, "the store of the lease holds something else");
        }
        known.refused = refused;
    }

    pub(super) fn read(&self, now: Time) -> StoreState {
        let known = self.known();
        let failing = known.failing.as_ref();
        StoreState {
            failing: failing.map(|(at, reason)| (now.since(*at), reason.clone())),
            refused: known.refused.as_ref().map(RecordError::to_string),
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownFault> {
        // Nothing that can panic half-way runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
