//! One agent's place in a cluster, through all its incarnations.

use futures::{StreamExt, channel::oneshot};

use super::ClusterError;
use crate::{
    agent::{ElectionHandle, Lifecycle},
    protocol::{AgentId, Election, MemberKind, Score},
    testkit::Inject,
};

/// What is known of an agent beside its handle.
#[derive(Debug)]
pub(super) struct ClusterAgent<E: Election> {
    pub(super) kind: MemberKind,
    /// What its next incarnation begins with.
    pub(super) score: Option<Score>,
    pub(super) handle: ElectionHandle<E>,
    hang: Option<oneshot::Sender<Release>>,
}

/// How a hang ends.
#[derive(Debug, PartialEq, Eq)]
enum Release {
    Resumed,
    Crashed,
}

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// It runs.
    Up,
    /// It hangs.
    Hung,
    /// It is down, and its supervisor will restart it.
    Restarting,
    /// It is down.
    Down,
}

impl<E: Election> ClusterAgent<E> {
    pub(super) fn new(kind: MemberKind, score: Option<Score>, handle: ElectionHandle<E>) -> Self {
        Self {
            kind,
            score,
            handle,
            hang: None,
        }
    }

    pub(super) fn id(&self) -> &AgentId {
        self.handle.id()
    }

    pub(super) fn condition(&self) -> Condition {
        match self.handle.current().lifecycle {
            Lifecycle::Running if self.hang.is_some() => Condition::Hung,
            Lifecycle::Running => Condition::Up,
            Lifecycle::Down => Condition::Restarting,
            Lifecycle::Ended => Condition::Down,
        }
    }

    /// Refuses unless it runs, hung or not.
    pub(super) fn must_live(&self) -> Result<(), ClusterError> {
        let name = self.id().clone();
        match self.condition() {
            Condition::Up | Condition::Hung => Ok(()),
            Condition::Restarting => Err(ClusterError::Restarting { name }),
            Condition::Down => Err(ClusterError::Down { name }),
        }
    }

    /// Refuses unless it runs.
    pub(super) fn must_run(&self) -> Result<(), ClusterError> {
        match self.condition() {
            Condition::Hung => Err(ClusterError::Hung {
                name: self.id().clone(),
            }),
            Condition::Up | Condition::Restarting | Condition::Down => self.must_live(),
        }
    }

    /// Refuses unless it is down for good.
    pub(super) fn must_be_down(&self) -> Result<(), ClusterError> {
        let name = self.id().clone();
        match self.condition() {
            Condition::Down => Ok(()),
            Condition::Restarting => Err(ClusterError::Restarting { name }),
            Condition::Up | Condition::Hung => Err(ClusterError::Up { name }),
        }
    }

    /// Makes it panic: a hung one in the midst of its hang.
    pub(super) fn crash(&mut self) {
        match self.hang.take() {
            Some(hang) => drop(hang.send(Release::Crashed)),
            None => self.handle.addr().do_send(Inject::Crash),
        }
    }

    pub(super) fn stop(&mut self) {
        self.handle.addr().do_send(Inject::Stop);
        self.hang = None;
    }

    /// Makes it hang; returns when it does.
    pub(super) async fn hang(&mut self) {
        let (release, released) = oneshot::channel();
        let (enter, entered) = oneshot::channel::<()>();
        self.hang = Some(release);
        self.handle.addr().do_send(Inject::hang(async move {
            // Told by the drop, at the first poll: from then on the agent hangs.
            drop(enter);
            if released.await == Ok(Release::Crashed) {
                std::panic::resume_unwind(Box::new("injected"));
            }
        }));
        entered.await.unwrap_or_default();
    }

    /// Says whether it was hung.
    pub(super) fn resume(&mut self) -> bool {
        let hang = self.hang.take();
        hang.map(|hang| drop(hang.send(Release::Resumed))).is_some()
    }
}

/// Returns when that incarnation is over: for good unless `returns`.
pub(super) async fn end_of<E: Election>(agent: &ElectionHandle<E>, returns: bool) {
    let over = |lifecycle| match lifecycle {
        Lifecycle::Ended => true,
        Lifecycle::Down => returns,
        Lifecycle::Running => false,
    };
    let mut changes = agent.changes();
    while let Some(status) = changes.next().await {
        if over(status.lifecycle) {
            break;
        }
    }
}
