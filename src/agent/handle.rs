//! What an application holds of an agent: answers without asking it, and wishes.
//!
//! Decided here: what can be read, and what can be wished for. No read goes through the mailbox,
//! so an agent that is busy, hung or crashed cannot delay one.

use std::{fmt, sync::Arc, time::Duration};

use actix::{Addr, Recipient, clock::timeout};
use futures::{Stream, stream};

use crate::protocol::{AgentId, Election, Leader, Score};

use super::{
    Agent, Notice, Status, Subscribe,
    belief::Belief,
    message::{Command, SubscribeDraining},
    status::Life,
};

/// An application's side of one agent. Clones are the same agent.
///
/// The agent lives until it [leaves](Self::leave), its supervisor gives it up, or its System ends;
/// dropping handles does not end it.
pub struct ElectionHandle<E: Election> {
    pub(super) addr: Addr<Agent<E>>,
    pub(super) belief: Arc<Belief>,
}

impl<E: Election> ElectionHandle<E> {
    /// The agent's name.
    pub fn id(&self) -> &AgentId {
        self.belief.id()
    }

    /// The agent's address, the same through all its lives.
    pub fn addr(&self) -> &Addr<Agent<E>> {
        &self.addr
    }

    /// Whether the agent leads, checked against its clock at this moment.
    pub fn is_leader(&self) -> bool {
        self.belief.is_leader()
    }

    /// Who leads as far as the agent knows, itself included.
    pub fn leader(&self) -> Option<Leader> {
        self.current().leader
    }

    /// The agent's state. A leadership of its own shows only while [`is_leader`](Self::is_leader).
    pub fn current(&self) -> Status {
        self.belief.status()
    }

    /// The agent's states from the present one on; ends after [`Life::Ended`].
    ///
    /// A slow reader skips to the newest and never holds the agent up.
    pub fn changes(&self) -> impl Stream<Item = Status> + Unpin + Send + use<E> {
        let mut bell = self.belief.bell();
        bell.mark_changed();
        let belief = Arc::clone(&self.belief);
        Box::pin(stream::unfold(Some((bell, belief)), |state| async move {
            let (mut bell, belief) = state?;
            bell.changed().await.ok()?;
            let status = belief.status();
            let next = (status.life != Life::Ended).then_some((bell, belief));
            Some((status, next))
        }))
    }

    /// Waits until the agent knows a leader.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] when it knew none in all that time; [`WaitError::Ended`] when the
    /// agent left or ended for good.
    pub async fn wait_for_leader(&self, within: Duration) -> Result<Leader, WaitError> {
        let mut bell = self.belief.bell();
        let known = async {
            loop {
                bell.mark_unchanged();
                let status = self.current();
                match status.leader {
                    Some(leader) => return Ok(leader),
                    None if status.life == Life::Ended => return Err(WaitError::Ended),
                    None => {}
                }
                if bell.changed().await.is_err() {
                    return Err(WaitError::Ended);
                }
            }
        };
        timeout(within, known)
            .await
            .unwrap_or(Err(WaitError::TimedOut { within }))
    }

    /// Wishes for an election.
    pub fn campaign(&self) {
        self.addr.do_send(Command::Campaign);
    }

    /// Sets the agent's importance. It outlasts a crash.
    pub fn set_score(&self, score: impl Into<Score>) {
        self.change_score(Some(score.into()));
    }

    /// Takes the agent's score away: it hands over if it leads, and is not elected until it has
    /// one again. It still answers and votes. It outlasts a crash.
    pub fn withdraw_score(&self) {
        self.change_score(None);
    }

    fn change_score(&self, score: Option<Score>) {
        self.belief.set_score(score);
        self.addr.do_send(Command::SetScore(score));
    }

    /// Wishes that the agent hands over, to this member if one is named. It does not stand for
    /// election again for a while; see [`rest`](super::AgentBuilder::rest).
    pub fn step_down(&self, to: Option<AgentId>) {
        self.addr.do_send(Command::StepDown { to });
    }

    /// Subscribes to the agent's events; see [`Subscribe`].
    pub fn subscribe(&self, to: Recipient<Notice>) {
        self.addr.do_send(Subscribe(to));
    }

    /// Subscribes as somebody who works while the agent leads; see [`SubscribeDraining`].
    pub fn subscribe_draining(&self, to: Recipient<Notice>) {
        self.addr.do_send(SubscribeDraining(to));
    }

    /// Says that a [draining subscriber](Self::subscribe_draining)'s work has ended.
    pub fn drained(&self) {
        self.addr.do_send(super::Drained);
    }

    /// Leaves: hands over if the agent leads, then stops it, then takes it out of its group.
    ///
    /// # Errors
    /// [`LeaveError::TimedOut`] when that took longer than `deadline`. The leadership is revoked
    /// and the agent stopped all the same, as if it had crashed.
    pub async fn leave(&self, deadline: Duration) -> Result<(), LeaveError> {
        let mut bell = self.belief.bell();
        self.belief.leave();
        self.addr.do_send(Command::Leave);
        let left = async { while !self.belief.is_over() && bell.changed().await.is_ok() {} };
        if timeout(deadline, left).await.is_ok() {
            return Ok(());
        }
        self.addr.do_send(Command::Stop);
        self.belief.finish(); // even if the agent hangs
        Err(LeaveError::TimedOut { deadline })
    }
}

impl<E: Election> Clone for ElectionHandle<E> {
    fn clone(&self) -> Self {
        Self {
            addr: self.addr.clone(),
            belief: Arc::clone(&self.belief),
        }
    }
}

impl<E: Election> fmt::Debug for ElectionHandle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ElectionHandle").field(&self.belief).finish()
    }
}

/// Why no leader became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// Nobody was known to lead in all that time.
    #[error(
        "no leader became known within {within:?}: wait longer than the election's deadline, and check that somebody may be elected"
    )]
    TimedOut {
        /// The time given.
        within: Duration,
    },
    /// The agent left or ended for good.
    #[error("the agent has ended: start it again")]
    Ended,
}

/// Why leaving was not polite. The agent has left all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaveError {
    /// The hand-over took too long.
    #[error(
        "the agent did not hand over within {deadline:?} and was stopped: end the work sooner, or allow more than the drain limit"
    )]
    TimedOut {
        /// The time given.
        deadline: Duration,
    },
}
