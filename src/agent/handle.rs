//! The handle of an agent: an application reads the agent's state and gives it commands.
//!
//! Decided here: the state that can be read, and the commands. No read goes through the mailbox, so an agent that is
//! busy, hangs or crashed cannot delay a read.

use std::{fmt, pin::pin, sync::Arc, time::Duration};

use actix::{Addr, Recipient, clock::Instant};
use futures::{
    Stream,
    future::{Either, select},
    stream,
};
use tokio::sync::oneshot;
use tracing::warn;

use crate::{
    group::Counts,
    protocol::{AgentId, Election, Leader, Members, Score},
    record::RecordLimits,
};

use super::{
    Agent, CommandError, Diagnosis, DrainingToken, LeaveError, Notice, Offers, Status, Subscribe,
    WaitError,
    eligibility::{NewTie, Tie},
    leadership::Updates,
    message::{AgentCommand, AgentTask},
    phase::{Remaining, Scope},
    shared::SharedState,
    status::Lifecycle,
    subscribers::OnlyDraining,
    wait::{self, NoTimers},
};

/// An application's handle of one agent. Clones are handles of the same agent.
///
/// The agent runs until it [leaves](Self::leave), its supervisor gives up, or its System ends. Dropping handles does
/// not end it.
pub struct ElectionHandle<E: Election> {
    pub(super) addr: Addr<Agent<E>>,
    pub(super) shared: Arc<SharedState>,
}

impl<E: Election> ElectionHandle<E> {
    /// Returns the agent's name.
    pub fn id(&self) -> &AgentId {
        self.shared.id()
    }

    /// Returns the agent's address. It is the same in all incarnations.
    pub fn addr(&self) -> &Addr<Agent<E>> {
        &self.addr
    }

    /// Returns whether the agent leads, checked against its clock at this moment.
    pub fn is_leader(&self) -> bool {
        self.shared.is_leader()
    }

    /// Returns the leader that the agent knows. It may be the agent itself.
    pub fn leader(&self) -> Option<Leader> {
        self.current().leader
    }

    /// Returns the agent's state. The agent's own leadership is shown only while [`is_leader`](Self::is_leader) returns
    /// `true`.
    pub fn current(&self) -> Status {
        self.shared.status()
    }

    /// Explains why there is no leader, or why the present leader leads, from the data of this host. It costs as much
    /// as formatting a page of text, and does not block the agent.
    pub fn diagnosis(&self) -> Diagnosis {
        self.shared.diagnosis()
    }

    /// Starts a record of the election messages and events of this agent, within `limits`; `None` stops the record. By
    /// default nothing is recorded. A start deletes the earlier record, but not the copy of
    /// [`recorded_without_leader`](Self::recorded_without_leader). After a stop the record can still be read.
    ///
    /// Heartbeats and messages of applications are not recorded. When the leader is missing for so long that the agent
    /// logs a warning, a copy of the record is kept, and the record goes on.
    pub fn record(&self, limits: Option<RecordLimits>) {
        self.shared.record().switch(limits);
    }

    /// Returns whether the agent [keeps a record](Self::record).
    pub fn is_recording(&self) -> bool {
        self.shared.record().is_on()
    }

    /// Returns the [record](Self::record), as the contents of a [`Recording`](crate::record::Recording) file; `None` if
    /// no record was ever started.
    pub fn recorded(&self) -> Option<String> {
        self.shared.recorded(false)
    }

    /// Returns the copy of the record from the last warning of a missing leader; `None` if there was no such warning.
    pub fn recorded_without_leader(&self) -> Option<String> {
        self.shared.recorded(true)
    }

    /// Returns the time at which the copy of [`recorded_without_leader`](Self::recorded_without_leader) was made.
    pub(crate) fn kept_unix_ms(&self) -> Option<u64> {
        self.shared.record().kept_unix_ms()
    }

    /// Returns a stream of the agent's states, which begins with the present state and ends after [`Lifecycle::Ended`].
    /// An election changes the state many times a second: a reader of leaders compares `leader` with the last leader.
    ///
    /// A slow reader skips to the newest state and never delays the agent. The end of a leadership is reported at once,
    /// by the clock, even if the agent hangs (outside of a runtime with timers, only when the agent publishes it).
    pub fn changes(&self) -> impl Stream<Item = Status> + Unpin + Send + use<E> {
        changes(Arc::clone(&self.shared))
    }

    /// Waits until the agent knows a leader. [`AgentBuilder`](super::AgentBuilder#time-until-the-first-leader) has the
    /// time that each mode takes until the first leader.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if the agent knew no leader after the time `within`; [`WaitError::Ended`] if the agent
    /// left or ended for good; [`WaitError::NoRuntime`] outside of a runtime with timers.
    pub async fn wait_for_leader(&self, within: Duration) -> Result<Leader, WaitError> {
        let mut updates = self.shared.updates();
        let known = async {
            loop {
                // The receiver is marked before the status is read, so that an update between the two lines still wakes
                // it.
                updates.mark_unchanged();
                let status = self.current();
                match status.leader {
                    Some(leader) => return Ok(leader),
                    None if status.lifecycle == Lifecycle::Ended => return Err(WaitError::Ended),
                    None => {}
                }
                if updates.changed().await.is_err() {
                    return Err(WaitError::Ended);
                }
            }
        };
        match wait::within(within, known).await {
            Ok(Some(known)) => known,
            Ok(None) => Err(self.shared.timed_out(within)),
            Err(NoTimers) => Err(WaitError::NoRuntime),
        }
    }

    #[cfg(feature = "testkit")]
    pub(crate) fn score(&self) -> Option<Score> {
        self.shared.score()
    }

    /// Returns the time for which the leadership still lasts without a renewal; `None` if it has no limit.
    pub(crate) fn leadership_left(&self) -> Option<Duration> {
        match self.shared.remaining() {
            Remaining::Over => Some(Duration::ZERO),
            Remaining::For(left) => Some(left),
            Remaining::Unlimited => None,
        }
    }

    /// Returns the time for which the leader that the agent follows still leads, as far as the agent knows; `None` if
    /// unknown.
    #[cfg(feature = "dashboard")]
    pub(crate) fn followed_left(&self) -> Option<Duration> {
        let until = self.shared.vitals().followed_until()?;
        Some(until.since(self.shared.now()))
    }

    /// Returns the properties on which features, such as schedules, can rely in the agent's mode.
    pub fn offers(&self) -> Offers {
        self.shared.offers()
    }

    /// Asks the agent to start an election.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn campaign(&self) -> Result<(), CommandError> {
        self.command(AgentCommand::Campaign)
    }

    /// Sets the agent's score. The score survives a crash of the agent.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn set_score(&self, score: impl Into<Score>) -> Result<(), CommandError> {
        self.change_score(Some(score.into()))
    }

    /// Takes the agent's score away. If the agent leads, it hands over. It is not elected until it has a score again,
    /// but still answers and votes. The withdrawal survives a crash.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn withdraw_score(&self) -> Result<(), CommandError> {
        self.change_score(None)
    }

    fn change_score(&self, score: Option<Score>) -> Result<(), CommandError> {
        self.must_go_on()?;
        // The score is set first: an agent that crashes before it reads the command restarts with this score.
        self.shared.set_score(score);
        self.command(AgentCommand::SetScore(score))
    }

    /// Withdraws the score when the future `gone` ends, or at once if `gone` is `None`. The score stays withdrawn until
    /// the agent is tied anew.
    pub(crate) fn withdraw_after(
        &self,
        gone: Option<impl Future<Output = ()> + Send + 'static>,
    ) -> Result<(), CommandError> {
        self.must_go_on()?;
        let tie = gone.as_ref().map_or(Tie::Broken, |_| Tie::Holds);
        let NewTie { number, is_update } = self.shared.tie(tie);
        if is_update {
            // do_send: may exceed the mailbox's bound by one message for each tie; the agent must withdraw its score.
            self.addr.do_send(AgentCommand::RefreshScore);
        }
        let Some(gone) = gone else { return Ok(()) };
        let (shared, agent) = (Arc::clone(&self.shared), self.addr.downgrade());
        // The task runs on the agent's arbiter: the arbiter of the watched actor may end together with that actor.
        let task = AgentTask(Box::pin(async move {
            let replaced = pin!(shared.until_replaced(number));
            if let Either::Right(_) = select(pin!(gone), replaced).await {
                return;
            }
            if shared.break_tie(number) {
                warn!(node = %shared.id(), "actor that the agent is tied to is gone: the agent withdraws");
                if let Some(agent) = agent.upgrade() {
                    // do_send: may exceed the mailbox's bound by one message for each tie; the score must go.
                    agent.do_send(AgentCommand::RefreshScore);
                }
            }
        }));
        self.command(AgentCommand::Run(task))
    }

    /// Asks the agent to hand over, to the member `to` if it is given. Afterwards the agent is not a candidate for a
    /// while; see [`cooldown`](super::AgentBuilder::cooldown). An agent that does not lead ignores the request. An agent
    /// that ranks above `to` takes over when [`preemption`](super::AgentBuilder::preemption) lets it: by default after one
    /// [step](crate::protocol::Timings::step) in the available mode, and after 10 s in the quorum mode and with a lease.
    ///
    /// # Errors
    /// [`CommandError::NoMember`] and [`CommandError::NoSuccessor`] if that member cannot take over,
    /// [`CommandError::Ended`] if the agent left or ended for good.
    pub fn step_down(&self, to: Option<AgentId>) -> Result<(), CommandError> {
        self.must_go_on()?;
        if let Some(to) = &to {
            self.shared.check_successor(to)?;
        }
        self.command(AgentCommand::StepDown { to })
    }

    /// Subscribes to the agent's events; see [`Subscribe`].
    ///
    /// # Errors
    /// [`CommandError::Ended`] if the agent left or ended for good: it has no more events.
    pub fn subscribe(&self, to: Recipient<Notice>) -> Result<(), CommandError> {
        self.must_go_on()?;
        // do_send: may exceed the mailbox's bound by one message for each call of the application.
        self.addr.do_send(Subscribe(to));
        Ok(())
    }

    /// Subscribes an actor that works while the agent leads. After
    /// [`Event::Draining`](crate::protocol::Event::Draining) a hand-over waits until each such subscriber has either
    /// stopped, or reported by its token that its work has ended. It waits no longer than the drain limit.
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
        // The id is made here, so that the token can be returned without waiting for the agent.
        let id = self.shared.subscribers().next_id();
        self.command(AgentCommand::SubscribeDraining { id, to })?;
        Ok(DrainingToken::new(self.addr.clone().recipient(), id))
    }

    /// Reports that the work of the only [draining subscriber](Self::subscribe_draining) has ended. If there are
    /// several draining subscribers, the call is refused, because it does not name the subscriber whose work has ended;
    /// use [`DrainingToken::drained`].
    ///
    /// # Errors
    /// [`CommandError::SeveralDraining`] if several subscribers drain, [`CommandError::Ended`] if the agent left or
    /// ended for good.
    pub fn drained(&self) -> Result<(), CommandError> {
        self.must_go_on()?;
        if self.shared.subscribers().only_draining() == OnlyDraining::Several {
            return Err(CommandError::SeveralDraining);
        }
        self.command(AgentCommand::Drained)
    }

    pub(super) fn command(&self, command: AgentCommand) -> Result<(), CommandError> {
        self.must_go_on()?;
        // do_send: may exceed the mailbox's bound by one message for each call; after the `Ok` it must not be lost.
        self.addr.do_send(command);
        Ok(())
    }

    pub(super) fn must_go_on(&self) -> Result<(), CommandError> {
        if self.shared.is_over() || !self.addr.connected() {
            return Err(CommandError::Ended);
        }
        Ok(())
    }

    pub(crate) fn group_name(&self) -> &str {
        self.shared.group()
    }

    pub(crate) fn members(&self) -> Arc<Members> {
        self.shared.membership().members()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.shared.membership().counts()
    }

    /// Waits until the agent has handled a message of this call. Returns `false` if the agent ended before that.
    pub(crate) async fn answers(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        let task = AgentTask(Box::pin(async move {
            answer.send(()).ok();
        }));
        self.command(AgentCommand::Run(task)).is_ok() && answered.await.is_ok()
    }

    /// Leaves the group: hands over if the agent leads, then stops the agent, then removes it from its group.
    ///
    /// When this returns, all resources of the agent are free: its actor is dropped and with it the lock of its store,
    /// no work of [`lead`](Self::lead) runs, and another agent may take its name.
    ///
    /// # Errors
    /// [`LeaveError::TimedOut`] after `deadline`. The leadership is revoked and the agent stopped as by a crash; its name
    /// is free when its work has ended. [`LeaveError::NoRuntime`] outside of a runtime with timers: nothing was done.
    pub async fn leave(&self, deadline: Duration) -> Result<(), LeaveError> {
        let began = Instant::now();
        // The search of a successor gets a quarter of the time: a store that hangs must leave time to hand over.
        match wait::within(deadline, self.depart(deadline / 4)).await {
            Ok(Some(())) => {
                let rest = deadline.saturating_sub(began.elapsed());
                self.shared.is_no_successor(rest).await;
                return Ok(());
            }
            Ok(None) => {}
            Err(NoTimers) => return Err(LeaveError::NoRuntime),
        }
        // do_send: may exceed the mailbox's bound by one message, which must not be lost.
        self.addr.do_send(AgentCommand::Stop);
        self.shared.leave(); // the end was asked for
        self.shared.end(Scope::Agent); // even if the agent hangs
        Err(LeaveError::TimedOut { deadline })
    }
}

/// Returns the states of an agent from the present state on.
pub(super) fn changes(shared: Arc<SharedState>) -> impl Stream<Item = Status> + Unpin + Send {
    let first = Changes {
        updates: shared.updates(),
        shared,
        last: None,
    };
    Box::pin(stream::unfold(Some(first), |changes| async move {
        let mut changes = changes?;
        let status = changes.next().await;
        let goes_on = status.lifecycle != Lifecycle::Ended;
        Some((status, goes_on.then_some(changes)))
    }))
}

struct Changes {
    updates: Updates,
    shared: Arc<SharedState>,
    /// The last status that the reader got.
    last: Option<Status>,
}

impl Changes {
    /// Waits for the next status that differs from `last`.
    async fn next(&mut self) -> Status {
        loop {
            self.updates.mark_unchanged();
            // The remaining time is read before the status: if the leadership ends between the two readings, the wait
            // below ends at once.
            let remaining = self.shared.remaining();
            let status = self.shared.status();
            if self.last.as_ref() != Some(&status) {
                self.last = Some(status.clone());
                return status;
            }
            let remaining = match status.leading {
                Some(_) => remaining,
                None => Remaining::Unlimited, // without a leadership nothing can run out
            };
            let shared = &self.shared;
            shared.update_or_expiry(remaining, &mut self.updates).await;
        }
    }
}

impl<E: Election> Clone for ElectionHandle<E> {
    fn clone(&self) -> Self {
        Self {
            addr: self.addr.clone(),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<E: Election> fmt::Debug for ElectionHandle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ElectionHandle").field(&self.shared).finish()
    }
}
