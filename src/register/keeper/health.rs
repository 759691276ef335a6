//! The state of the store for an operator.
//!
//! Decided here: reads and writes have separate states, because a read that succeeds proves nothing about writes. For
//! example, a full store answers reads; with one state for both, each attempt would log two lines. The marks of
//! schedules have separate states as well, because operations on marks run beside the operations on the lease. The
//! beginning and the end of a failure are logged, and its last reason is kept. A failure is not shown any more if none
//! followed it within a minute: without a new write, no agent can learn that the store accepts writes again.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tracing::{info, warn};

use crate::{
    elections::lease::RecordError,
    protocol::{Incarnation, Time},
    register::RegisterError,
};

#[derive(Debug, Default)]
pub(super) struct Health(Mutex<KnownFaults>);

#[derive(Debug, Default)]
struct KnownFaults {
    faults: BTreeMap<Access, Fault>,
    refused: Option<RecordError>,
}

/// The failure of one kind of operation, with the last reason.
#[derive(Debug)]
struct Fault {
    since: Time,
    last: Time,
    reason: String,
}

/// A kind of operation: on the records of the lease, or on the marks of schedules. In the order of the variants, each
/// kind of write comes after its kind of read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    Reads,
    Writes,
    /// Lists of the rows of the present agents.
    Lists,
    MarkReads,
    MarkWrites,
}

/// The known state of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreState {
    /// Time for which all reads have failed, and the reason of the last failure; `None` if reads do not fail.
    pub(crate) reads: Option<(Duration, String)>,
    /// Time for which all writes have failed, and the last reason.
    pub(crate) writes: Option<(Duration, String)>,
    /// Time for which all lists have failed, and the last reason. While lists fail, the present agents are unknown.
    pub(crate) lists: Option<(Duration, String)>,
    /// Time for which all reads and writes of schedules' marks (their progress) have failed, and the last reason.
    pub(crate) marks: Option<(Duration, String)>,
    /// Reason why the store's content is not a record of this group.
    pub(crate) refused: Option<String>,
    /// The incarnation of another process's agent that has the name of the asking agent; `None` if no process has such
    /// an agent.
    pub(crate) other: Option<Incarnation>,
    /// Whether an agent other than the agent that asks could lead; `None` if the store does not show it.
    pub(crate) has_another: Option<bool>,
}

impl Health {
    /// Notes an operation that has failed.
    pub(super) fn fails(&self, access: Access, now: Time, store: &str, error: &RegisterError) {
        let mut known = self.known();
        let reason = error.to_string();
        let lasting = known.faults.remove(&access);
        let lasting = lasting.filter(|fault| fault.is_known(now));
        if lasting.is_none() {
            // The failure is logged once, not at each attempt.
            let event = access.fails();
            warn!(node = store, %reason, "{event}");
        }
        let since = lasting.map_or(now, |fault| fault.since);
        let fault = Fault {
            since,
            last: now,
            reason,
        };
        known.faults.insert(access, fault);
    }

    /// Notes an operation that has succeeded.
    pub(super) fn works(&self, access: Access, store: &str) {
        if self.known().faults.remove(&access).is_some() {
            let event = access.works();
            info!(node = store, "{event}");
        }
    }

    /// Notes whether the store's content is a record of this group; `refused` is the reason if the content is not such
    /// a record.
    pub(super) fn holds(&self, store: &str, refused: Option<RecordError>) {
        let mut known = self.known();
        if let Some(reason) = refused.as_ref().filter(|_| known.refused != refused) {
            warn!(node = store, %reason, "the store of the lease holds something else");
        }
        known.refused = refused;
    }

    pub(super) fn read(&self, now: Time) -> StoreState {
        let known = self.known();
        let shown = |access| {
            let fault = known.faults.get(&access);
            let fault = fault.filter(|fault| fault.is_known(now))?;
            Some((now.since(fault.since), fault.reason.clone()))
        };
        StoreState {
            reads: shown(Access::Reads),
            writes: shown(Access::Writes),
            lists: shown(Access::Lists),
            marks: shown(Access::MarkReads).or_else(|| shown(Access::MarkWrites)),
            refused: known.refused.as_ref().map(RecordError::to_string),
            other: None,
            has_another: None,
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownFaults> {
        // A poisoned lock is used, because a panic under it cannot leave a change half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Access {
    const fn fails(self) -> &'static str {
        match self {
            Self::Reads => "the store of the lease fails",
            Self::Writes => "the store of the lease takes no writes",
            Self::Lists => "the store of the lease does not list who is there",
            Self::MarkReads => "marks of schedules not read: no tick begins",
            Self::MarkWrites => "marks of schedules not stored: no tick begins",
        }
    }

    const fn works(self) -> &'static str {
        match self {
            Self::Reads => "the store of the lease works again",
            Self::Writes => "the store of the lease takes writes again",
            Self::Lists => "the store of the lease lists again who is there",
            Self::MarkReads => "marks of schedules are read again",
            Self::MarkWrites => "marks of schedules are stored again",
        }
    }
}

impl Fault {
    fn is_known(&self, now: Time) -> bool {
        now.since(self.last) < FORGOTTEN
    }
}

/// Time for which the last failure is shown. The display ends by itself, because an agent that writes nothing more
/// never learns that writes work again.
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
