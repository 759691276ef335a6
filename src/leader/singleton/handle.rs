//! What is seen of a singleton on this host: its actor, if there is one, and how often it was started.
//!
//! Decided here: that an actor whose leadership is over is not shown, even before it was dropped.

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

/// An application's side of a [`Singleton`](super::Singleton) on this host. Clones are the same one.
///
/// Dropping it ends nothing.
pub struct SingletonHandle<A: Actor<Context = Context<A>>> {
    record: Arc<SingletonRecord<A>>,
    stopper: Stopper,
}

impl<A: Actor<Context = Context<A>>> SingletonHandle<A> {
    pub(super) fn new(record: Arc<SingletonRecord<A>>, stopper: Stopper) -> Self {
        Self { record, stopper }
    }

    /// The actor, if it runs on this host and its agent leads at this moment.
    ///
    /// Each start has an address of its own. A message to an actor that has ended is answered by
    /// `MailboxError::Closed`, and may or may not have been handled.
    pub fn addr(&self) -> Option<Addr<A>> {
        let seen = self.record.seen();
        let running = seen.running.as_ref()?;
        let is_shown = running.leader.is_leader() && running.addr.connected();
        is_shown.then(|| running.addr.clone())
    }

    /// What the singleton does on this host, and how often it was started.
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

    /// Ends the singleton on this host. An actor that runs is dropped before its next message, as at a
    /// loss, and none is started again. What this returns ends when the actor is dropped.
    ///
    /// The agent goes on, and leads if it leads, without this work: another host's singleton begins once that
    /// one leads. To end in order, let the agent [`leave`](crate::agent::ElectionHandle::leave), or
    /// [withdraw its score](crate::agent::ElectionHandle::withdraw_score) and wait until it leads no longer.
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
    /// How often an actor was made.
    pub starts: u64,
    /// How often an actor or the factory panicked. Work that stalled is counted by its agent
    /// ([`Status::work_stalls`](crate::agent::Status::work_stalls)).
    pub panics: u64,
}

/// Whether a singleton's actor runs on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SingletonState {
    /// None runs: the agent does not lead, or the work under its leadership is done, or the actor
    /// panicked and is started again after a while.
    Waiting,
    /// It runs.
    Running,
    /// None is started any more: the agent left or ended for good, or the singleton was stopped.
    Ended,
}

/// What the task of a singleton notes for its handles.
pub(super) struct SingletonRecord<A: Actor<Context = Context<A>>>(Mutex<Seen<A>>);

struct Seen<A: Actor<Context = Context<A>>> {
    running: Option<Running<A>>,
    starts: u64,
    panics: u64,
    is_over: bool,
}

/// The address keeps the actor alive: one that ran out of addresses would end.
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
        // Not under the lock: the last address of an actor wakes others.
        let ended = self.seen().running.take();
        drop(ended);
    }

    pub(super) fn note_panic(&self) {
        self.seen().panics += 1;
    }

    /// No actor follows.
    pub(super) fn end(&self) {
        self.seen().is_over = true;
    }

    fn seen(&self) -> MutexGuard<'_, Seen<A>> {
        // Each change under the lock is whole at once, so there is nothing to be poisoned.
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
