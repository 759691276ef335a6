//! A singleton as this host sees it: its actor, if one runs, and the number of starts.
//!
//! Decided here: an actor whose leadership has ended is not shown, even before it is dropped.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix::{Actor, Addr, Context};
use serde::Serialize;

use crate::{
    agent::LeaderGuard,
    leader::stopping::{Stopped, Stopper},
};

/// An application's handle of a [`Singleton`](super::Singleton) on this host. Clones are the same handle.
///
/// Dropping a handle ends nothing.
pub struct SingletonHandle<A: Actor<Context = Context<A>>> {
    record: Arc<SingletonRecord<A>>,
    stopper: Stopper,
}

impl<A: Actor<Context = Context<A>>> SingletonHandle<A> {
    pub(super) fn new(record: Arc<SingletonRecord<A>>, stopper: Stopper) -> Self {
        Self { record, stopper }
    }

    /// Returns the actor, if it runs on this host and its agent leads at this moment.
    ///
    /// Each start has its own address. A message to an actor that has ended gets `MailboxError::Closed`, and may or may
    /// not have been handled.
    pub fn addr(&self) -> Option<Addr<A>> {
        let seen = self.record.seen();
        let running = seen.running.as_ref()?;
        let is_shown = running.leader.is_leader() && running.addr.connected();
        is_shown.then(|| running.addr.clone())
    }

    /// Returns the state of the singleton on this host, and the number of starts.
    pub fn status(&self) -> SingletonStatus {
        let is_running = self.addr().is_some();
        let seen = self.record.seen();
        SingletonStatus {
            state: match (seen.is_over, is_running) {
                (true, _) => SingletonState::Ended,
                (false, true) => SingletonState::Running,
                (false, false) => SingletonState::Waiting,
            },
            starts: seen.starts,
            panics: seen.panics,
        }
    }

    /// Ends the singleton on this host. A running actor is dropped before its next message, as after the loss of a
    /// leadership, and no actor is started again. The returned future ends when the actor is dropped.
    ///
    /// The agent continues, and may lead without an actor of this singleton. On another host the actor starts when that
    /// host's agent leads. To end in order, let the agent
    /// [`leave`](crate::agent::ElectionHandle::leave), or [withdraw its
    /// score](crate::agent::ElectionHandle::withdraw_score) and wait until it does not lead any more.
    pub fn stop(&self) -> Stopped {
        self.stopper.stop()
    }
}

impl<A: Actor<Context = Context<A>>> Clone for SingletonHandle<A> {
    fn clone(&self) -> Self {
        Self {
            record: Arc::clone(&self.record),
            stopper: self.stopper.clone(),
        }
    }
}

impl<A: Actor<Context = Context<A>>> fmt::Debug for SingletonHandle<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SingletonHandle")
            .field(&self.status())
            .finish()
    }
}

/// A singleton on this host, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SingletonStatus {
    /// Whether an actor runs.
    pub state: SingletonState,
    /// Number of actors that were made.
    pub starts: u64,
    /// Number of panics of the actor or the factory. Stalls are not included: the agent counts them
    /// ([`Status::work_stalls`](crate::agent::Status::work_stalls)).
    pub panics: u64,
}

/// Whether a singleton's actor runs on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SingletonState {
    /// No actor runs: the agent does not lead, or the work under its leadership is done, or the actor panicked and will
    /// be started again.
    Waiting,
    /// The actor runs.
    Running,
    /// No actor is started any more: the agent left or ended for good, or the singleton was stopped.
    Ended,
}

/// The state that a singleton's task writes and the singleton's handles read.
pub(super) struct SingletonRecord<A: Actor<Context = Context<A>>>(Mutex<Seen<A>>);

struct Seen<A: Actor<Context = Context<A>>> {
    running: Option<Running<A>>,
    starts: u64,
    panics: u64,
    is_over: bool,
}

/// A running actor. Its address is kept here because an actor without addresses would end.
struct Running<A: Actor> {
    addr: Addr<A>,
    leader: LeaderGuard,
}

impl<A: Actor<Context = Context<A>>> SingletonRecord<A> {
    pub(super) fn note_start(&self, addr: Addr<A>, leader: LeaderGuard) {
        let mut seen = self.seen();
        seen.starts += 1;
        seen.running = Some(Running { addr, leader });
    }

    pub(super) fn note_end(&self) {
        // The actor is dropped after the lock is released: dropping the last address of an actor wakes other tasks.
        let ended = self.seen().running.take();
        drop(ended);
    }

    pub(super) fn note_panic(&self) {
        self.seen().panics += 1;
    }

    /// Notes that no further actor is started.
    pub(super) fn end(&self) {
        self.seen().is_over = true;
    }

    fn seen(&self) -> MutexGuard<'_, Seen<A>> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Actor<Context = Context<A>>> Default for SingletonRecord<A> {
    fn default() -> Self {
        Self(Mutex::new(Seen {
            running: None,
            starts: 0,
            panics: 0,
            is_over: false,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_as_json() {
        let status = |state| SingletonStatus {
            state,
            starts: 3,
            panics: 2,
        };
        let (waiting, ended) = (SingletonState::Waiting, SingletonState::Ended);
        let all = [waiting, SingletonState::Running, ended].map(status);
        assert_eq!(
            serde_json::to_string(&all).unwrap(),
            r#"[{"state":"waiting","starts":3,"panics":2},{"state":"running","starts":3,"panics":2},{"state":"ended","starts":3,"panics":2}]"#
        );
    }
}
