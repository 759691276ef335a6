//! What an operator is told of the store.
//!
//! Decided here: that reads and writes have a state of health each, since a read that succeeds says nothing of writes: a
//! full store answers reads, and a log that took both for one had two lines for each attempt. A state is logged when it
//! begins and when it ends, and its last reason is kept. A failure of which nothing was heard for a minute is not shown any
//! more: an agent that does not contend writes nothing, and cannot know that the store takes writes again.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tracing::{info, warn};

use crate::{
    elections::lease::RecordError,
    protocol::{Incarnation, Time},
    register::RegisterError,
};

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<KnownFaults>);

#[derive(Debug, Default)]
struct KnownFaults {
    reads: Option<Fault>,
    writes: Option<Fault>,
    lists: Option<Fault>,
    refused: Option<RecordError>,
}

/// A kind of operation that fails.
#[derive(Debug)]
struct Fault {
    since: Time,
    last: Time,
    reason: String,
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Reads,
    Writes,
    /// Of the rows of the agents that are there.
    Lists,
}

/// What is known of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreState {
    /// Time for which every read has failed, and the reason of the last one.
    pub(crate) reads: Option<(Duration, String)>,
    /// The same of writes.
    pub(crate) writes: Option<(Duration, String)>,
    /// The same of lists: nobody knows then which agents are there.
    pub(crate) lists: Option<(Duration, String)>,
    /// Why what it holds is no record of this group.
    pub(crate) refused: Option<String>,
    /// The incarnation of another process that has the name of the agent that asks.
    pub(crate) other: Option<Incarnation>,
}

impl Health {
    /// An operation has failed.
    pub(super) fn fails(&self, access: Access, now: Time, store: &str, error: &RegisterError) {
        let mut known = self.known();
        let fault = known.of(access);
        let reason = error.to_string();
        let lasting = fault.take().filter(|fault| fault.is_known(now));
        if lasting.is_none() {
            // Once, not for each try.
            match access {
                Access::Reads => warn!(node = store, %reason, "the store of the lease fails"),
                Access::Writes => {
                    warn!(node = store, %reason, "the store of the lease takes no writes");
                }
                Access::Lists => {
                    warn!(node = store, %reason, "the store of the lease does not list who is there");
                }
            }
        }
        *fault = Some(Fault {
            since: lasting.map_or(now, |fault| fault.since),
            last: now,
            reason,
        });
    }

    /// An operation has succeeded.
    pub(super) fn works(&self, access: Access, store: &str) {
        if self.known().of(access).take().is_some() {
            match access {
                Access::Reads => info!(node = store, "the store of the lease works again"),
                Access::Writes => info!(node = store, "the store of the lease takes writes again"),
                Access::Lists => info!(
                    node = store,
                    "the store of the lease lists again who is there"
                ),
            }
        }
    }

    /// What the store holds is a record of this group, or that.
    pub(super) fn holds(&self, store: &str, refused: Option<RecordError>) {
        let mut known = self.known();
        if let Some(reason) = refused.as_ref().filter(|_| known.refused != refused) {
            warn!(node = store, %reason, "the store of the lease holds something else");
        }
        known.refused = refused;
    }

    pub(super) fn read(&self, now: Time) -> StoreState {
        let known = self.known();
        let shown = |fault: &Option<Fault>| {
            let fault = fault.as_ref().filter(|fault| fault.is_known(now));
            fault.map(|fault| (now.since(fault.since), fault.reason.clone()))
        };
        StoreState {
            reads: shown(&known.reads),
            writes: shown(&known.writes),
            lists: shown(&known.lists),
            refused: known.refused.as_ref().map(RecordError::to_string),
            other: None,
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownFaults> {
        // Nothing that can panic half-way runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownFaults {
    const fn of(&mut self, access: Access) -> &mut Option<Fault> {
        match access {
            Access::Reads => &mut self.reads,
            Access::Writes => &mut self.writes,
            Access::Lists => &mut self.lists,
        }
    }
}

impl Fault {
    fn is_known(&self, now: Time) -> bool {
        now.since(self.last) < FORGOTTEN
    }
}

/// Time after the last failure until it is shown no more.
const FORGOTTEN: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::register::RegisterRefusal;

    fn full() -> RegisterError {
        RegisterError::refused(RegisterRefusal::Full, io::Error::other("no space"))
    }

    #[test]
    fn reads_that_succeed_leave_the_state_of_writes_and_its_reason() {
        let health = Health::default();
        for second in 0..22 {
            health.fails(
                Access::Writes,
                Time::from_millis(second * 1_000),
                "etcd",
                &full(),
            );
            health.works(Access::Reads, "etcd");
        }
        let state = health.read(Time::from_millis(22_000));
        let (since, reason) = state.writes.unwrap();
        assert_eq!((since, state.reads), (Duration::from_secs(22), None));
        assert!(reason.contains("it is full"), "{reason}");
        health.works(Access::Writes, "etcd");
        assert_eq!(
            health.read(Time::from_millis(22_000)),
            StoreState::default()
        );
    }

    #[test]
    fn a_failed_write_of_an_agent_that_writes_no_more_is_forgotten_after_a_minute() {
        let health = Health::default();
        let (begun, later) = (Time::from_millis(1_000), Time::from_millis(61_000));
        health.fails(Access::Writes, begun, "etcd", &full());
        assert!(health.read(Time::from_millis(60_999)).writes.is_some());
        assert_eq!(health.read(later).writes, None);
        health.fails(Access::Writes, later, "etcd", &full());
        let (since, _) = health.read(later).writes.unwrap();
        assert_eq!(since, Duration::ZERO, "it begins anew");
    }
}
