//! One agent of a cluster, through all its incarnations.

use futures::{StreamExt, channel::oneshot};

use super::{ClusterError, error::not_now, wiring::Making};
use crate::{
    agent::{ElectionHandle, Lifecycle},
    protocol::{AgentId, Election, MemberKind, Score},
    testkit::{Inject, Process, VirtualClock},
};

/// The state of an agent that the cluster keeps beside its handle.
#[derive(Debug)]
pub(super) struct ClusterAgent<E: Election> {
    pub(super) kind: MemberKind,
    pub(super) score: Option<Score>,
    pub(super) handle: ElectionHandle<E>,
    pub(super) clock: VirtualClock,
    pub(super) making: Making<E>,
    /// The process that was started with the agent; `None` if the cluster itself started the agent.
    process: Option<Process>,
    hang: Option<oneshot::Sender<Release>>,
}

/// The way in which a hang ends.
#[derive(Debug, PartialEq, Eq)]
enum Release {
    Resumed,
    Crashed,
}

/// The condition of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// The agent runs.
    Up,
    /// The agent hangs.
    Hung,
    /// The agent is down, and its supervisor will restart it.
    Restarting,
    /// The agent is down.
    Down,
}

impl<E: Election> ClusterAgent<E> {
    pub(super) const fn new(
        kind: MemberKind,
        score: Option<Score>,
        handle: ElectionHandle<E>,
        clock: VirtualClock,
        making: Making<E>,
        process: Option<Process>,
    ) -> Self {
        Self {
            kind,
            score,
            handle,
            clock,
            making,
            process,
            hang: None,
        }
    }

    /// Returns the score that the agent has, or with which its next incarnation begins.
    pub(super) fn score(&self) -> Option<Score> {
        match self.making {
            Making::Plain => self.score,
            Making::Wired(_) => self.handle.score(),
        }
    }

    fn is_frozen(&self) -> bool {
        self.process.as_ref().is_some_and(Process::is_frozen)
    }

    pub(super) fn id(&self) -> &AgentId {
        self.handle.id()
    }

    pub(super) fn condition(&self) -> Condition {
        match self.handle.current().lifecycle {
            Lifecycle::Ended => Condition::Down,
            Lifecycle::Running | Lifecycle::Down if self.is_frozen() => Condition::Hung,
            Lifecycle::Running if self.hang.is_some() => Condition::Hung,
            Lifecycle::Running => Condition::Up,
            Lifecycle::Down => Condition::Restarting,
        }
    }

    /// Returns an error unless the agent runs. A hung agent counts as running.
    pub(super) fn must_live(&self) -> Result<(), ClusterError> {
        self.must_be(&[Condition::Up, Condition::Hung])
    }

    /// Returns an error unless the agent runs and does not hang.
    pub(super) fn must_run(&self) -> Result<(), ClusterError> {
        self.must_be(&[Condition::Up])
    }

    /// Returns an error unless the agent is down for good.
    pub(super) fn must_be_down(&self) -> Result<(), ClusterError> {
        if self.condition() == Condition::Hung {
            // A hung agent must be crashed or stopped as well.
            return Err(not_now(self.id(), Condition::Up));
        }
        self.must_be(&[Condition::Down])
    }

    /// Returns an error unless the agent is in one of these conditions.
    fn must_be(&self, allowed: &[Condition]) -> Result<(), ClusterError> {
        let condition = self.condition();
        if allowed.contains(&condition) {
            return Ok(());
        }
        Err(not_now(self.id(), condition))
    }

    /// Makes the agent panic, even while it hangs. A frozen process is killed instead.
    pub(super) fn crash(&mut self) {
        if self.is_frozen() {
            return self.kill();
        }
        match self.hang.take() {
            Some(hang) => drop(hang.send(Release::Crashed)),
            // do_send: one for each call of a test.
            None => self.handle.addr().do_send(Inject::Crash),
        }
    }

    pub(super) fn stop(&mut self) {
        // do_send: one for each call of a test.
        self.handle.addr().do_send(Inject::Stop);
        self.hang = None;
    }

    /// Kills the agent's process; stops the agent if it has no process of its own.
    pub(super) fn kill(&mut self) {
        match self.process.take() {
            Some(process) => process.kill(),
            None => self.stop(),
        }
    }

    /// Freezes the agent's process; makes the agent hang if it has no process of its own.
    pub(super) async fn freeze(&mut self) {
        match &self.process {
            Some(process) => process.freeze(),
            None => self.hang().await,
        }
    }

    /// Makes the agent hang. Returns when it hangs.
    pub(super) async fn hang(&mut self) {
        let (release, released) = oneshot::channel();
        let (enter, entered) = oneshot::channel::<()>();
        self.hang = Some(release);
        // do_send: one for each call of a test.
        self.handle.addr().do_send(Inject::hang(async move {
            // `enter` is dropped when the agent first polls this future. The drop shows the caller that the agent hangs
            // from now on.
            drop(enter);
            if released.await == Ok(Release::Crashed) {
                std::panic::resume_unwind(Box::new("injected"));
            }
        }));
        entered.await.unwrap_or_default();
    }

    /// Ends the hang. Returns whether the agent hung.
    pub(super) fn resume(&mut self) -> bool {
        if let Some(process) = self.process.as_ref().filter(|process| process.is_frozen()) {
            process.resume();
            return true;
        }
        let hang = self.hang.take();
        hang.map(|hang| drop(hang.send(Release::Resumed))).is_some()
    }
}

/// Waits for the end of the agent's incarnation if the agent `returns`; otherwise waits until the agent has ended for
/// good.
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
