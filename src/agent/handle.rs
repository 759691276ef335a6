//! What an application holds of an agent: answers without asking it, and wishes.
//!
//! Decided here: what can be read, and what can be wished for. No read goes through the mailbox,
//! so an agent that is busy, hung or crashed cannot delay one.

use std::{fmt, sync::Arc, time::Duration};

use actix::{Addr, Recipient};
use futures::{Stream, stream};

use crate::protocol::{AgentId, Election, Leader, Score};

use super::{
    Agent, CommandError, DrainingToken, LeaveError, Notice, Status, Subscribe, WaitError,
    audience::Workers,
    belief::Belief,
    message::Command,
    news::Bell,
    status::Life,
    tenure::Remaining,
    wait::{self, NoTimers},
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
    /// A slow reader skips to the newest and never holds the agent up. The end of a leadership is
    /// told when it comes, even if the agent hangs: it is waited for by the clock, in the reader's
    /// task. (Outside of a runtime with timers only what the agent itself says is told.)
    pub fn changes(&self) -> impl Stream<Item = Status> + Unpin + Send + use<E> {
        let first = Watched {
            bell: self.belief.bell(),
            belief: Arc::clone(&self.belief),
            told: None,
        };
        Box::pin(stream::unfold(Some(first), |watched| async move {
            let mut watched = watched?;
            let status = watched.next().await;
            let goes_on = status.life != Life::Ended;
            Some((status, goes_on.then_some(watched)))
        }))
    }

    /// Waits until the agent knows a leader.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] when it knew none in all that time; [`WaitError::Ended`] when the
    /// agent left or ended for good; [`WaitError::NoRuntime`] outside of a runtime with timers.
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
        match wait::within(within, known).await {
            Ok(Some(known)) => known,
            Ok(None) => Err(WaitError::TimedOut { within }),
            Err(NoTimers) => Err(WaitError::NoRuntime),
        }
    }

    /// Wishes for an election.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn campaign(&self) -> Result<(), CommandError> {
        self.command(Command::Campaign)
    }

    /// Sets the agent's importance. It outlasts a crash.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn set_score(&self, score: impl Into<Score>) -> Result<(), CommandError> {
        self.change_score(Some(score.into()))
    }

    /// Takes the agent's score away: it hands over if it leads, and is not elected until it has
    /// one again. It still answers and votes. It outlasts a crash.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn withdraw_score(&self) -> Result<(), CommandError> {
        self.change_score(None)
    }

    fn change_score(&self, score: Option<Score>) -> Result<(), CommandError> {
        self.must_go_on()?;
        self.belief.set_score(score);
        self.command(Command::SetScore(score))
    }

    /// Wishes that the agent hands over, to this member if one is named. It does not stand for
    /// election again for a while; see [`rest`](super::AgentBuilder::rest). One that does not lead
    /// ignores it.
    ///
    /// # Errors
    /// [`CommandError::NoMember`] and [`CommandError::NoSuccessor`] when that member cannot take
    /// over, [`CommandError::Ended`] when the agent left or ended for good.
    pub fn step_down(&self, to: Option<AgentId>) -> Result<(), CommandError> {
        self.must_go_on()?;
        if let Some(to) = &to {
            self.belief.check_successor(to)?;
        }
        self.command(Command::StepDown { to })
    }

    /// Subscribes to the agent's events; see [`Subscribe`].
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good: there are no events any more.
    pub fn subscribe(&self, to: Recipient<Notice>) -> Result<(), CommandError> {
        self.must_go_on()?;
        self.addr.do_send(Subscribe(to));
        Ok(())
    }

    /// Subscribes as an actor that works while the agent leads: after
    /// [`Event::Draining`](crate::protocol::Event::Draining) a hand-over waits, up to the limit
    /// set, until each such subscriber has said by its token that its work has ended, or has
    /// stopped.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    ///
    /// # Examples
    /// ```
    /// use actix::prelude::*;
    /// use actix_bully::{agent::{BullyHandle, DrainingToken, Notice}, protocol::Event};
    ///
    /// struct Worker { agent: BullyHandle, token: Option<DrainingToken> }
    ///
    /// impl Actor for Worker {
    ///     type Context = Context<Self>;
    ///     fn started(&mut self, ctx: &mut Context<Self>) {
    ///         self.token = self.agent.subscribe_draining(ctx.address().recipient()).ok();
    ///     }
    /// }
    ///
    /// impl Handler<Notice> for Worker {
    ///     type Result = ();
    ///     fn handle(&mut self, notice: Notice, _: &mut Context<Self>) {
    ///         match notice.event {
    ///             Event::Acquired { .. } => { /* begin to work */ }
    ///             Event::Draining { .. } => {
    ///                 // end it, now or later; then
    ///                 if let Some(token) = &self.token {
    ///                     token.drained().ok();
    ///                 }
    ///             }
    ///             Event::Lost { .. } => { /* whatever was left has to stop */ }
    ///             _ => {}
    ///         }
    ///     }
    /// }
    /// ```
    pub fn subscribe_draining(&self, to: Recipient<Notice>) -> Result<DrainingToken, CommandError> {
        self.must_go_on()?;
        let number = self.belief.audience().number();
        let subscriber = to;
        self.command(Command::Work { number, subscriber })?;
        Ok(DrainingToken::new(self.addr.clone().recipient(), number))
    }

    /// Says that the work of *the* [draining subscriber](Self::subscribe_draining) has ended:
    /// enough where there is one. Where there are several it cannot say whose, and is refused:
    /// [`DrainingToken::drained`] can.
    ///
    /// # Errors
    /// [`CommandError::WhoseWork`] when several subscribers drain, [`CommandError::Ended`] when the
    /// agent left or ended for good.
    pub fn drained(&self) -> Result<(), CommandError> {
        self.must_go_on()?;
        if self.belief.audience().only_worker() == Workers::Several {
            return Err(CommandError::WhoseWork);
        }
        self.command(Command::Drained)
    }

    fn command(&self, command: Command) -> Result<(), CommandError> {
        self.must_go_on()?;
        self.addr.do_send(command);
        Ok(())
    }

    fn must_go_on(&self) -> Result<(), CommandError> {
        if self.belief.is_over() || !self.addr.connected() {
            return Err(CommandError::Ended);
        }
        Ok(())
    }

    /// Leaves: hands over if the agent leads, then stops it, then takes it out of its group.
    ///
    /// # Errors
    /// [`LeaveError::TimedOut`] when that took longer than `deadline`. The leadership is revoked
    /// and the agent stopped all the same, as if it had crashed. [`LeaveError::NoRuntime`] outside
    /// of a runtime with timers, and nothing was done.
    pub async fn leave(&self, deadline: Duration) -> Result<(), LeaveError> {
        let mut bell = self.belief.bell();
        let left = async {
            self.belief.leave();
            self.addr.do_send(Command::Leave);
            while !self.belief.is_over() && bell.changed().await.is_ok() {}
        };
        match wait::within(deadline, left).await {
            Ok(Some(())) => return Ok(()),
            Ok(None) => {}
            Err(NoTimers) => return Err(LeaveError::NoRuntime),
        }
        self.addr.do_send(Command::Stop);
        self.belief.finish(); // even if the agent hangs
        Err(LeaveError::TimedOut { deadline })
    }
}

/// Who reads the changes of one agent.
struct Watched {
    bell: Bell,
    belief: Arc<Belief>,
    told: Option<Status>,
}

impl Watched {
    /// The next state that is another one than the last.
    async fn next(&mut self) -> Status {
        loop {
            self.bell.mark_unchanged();
            let rest = self.belief.rest();
            let status = self.belief.status();
            if self.told.as_ref() != Some(&status) {
                self.told = Some(status.clone());
                return status;
            }
            // One that does not lead has nothing that could run out.
            let rest = match status.leading {
                Some(_) => rest,
                None => Remaining::Unlimited,
            };
            self.belief.stirs(rest, &mut self.bell).await;
        }
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
