//! The handle of an agent: an application reads its state without asking it, and gives it commands.
//!
//! Decided here: which state can be read, and which commands there are. No read goes through the mailbox,
//! so an agent that is busy, hung or crashed cannot delay one.

use std::{fmt, pin::pin, sync::Arc, time::Duration};

use actix::{Addr, Recipient};
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

/// An application's side of one agent. Clones are the same agent.
///
/// The agent runs until it [leaves](Self::leave), its supervisor gives it up, or its System ends;
/// dropping handles does not end it.
pub struct ElectionHandle<E: Election> {
    pub(super) addr: Addr<Agent<E>>,
    pub(super) shared: Arc<SharedState>,
}

impl<E: Election> ElectionHandle<E> {
    /// The agent's name.
    pub fn id(&self) -> &AgentId {
        self.shared.id()
    }

    /// The agent's address, the same in all its incarnations.
    pub fn addr(&self) -> &Addr<Agent<E>> {
        &self.addr
    }

    /// Whether the agent leads, checked against its clock at this moment.
    pub fn is_leader(&self) -> bool {
        self.shared.is_leader()
    }

    /// The leader as far as the agent knows; it may be the agent itself.
    pub fn leader(&self) -> Option<Leader> {
        self.current().leader
    }

    /// The agent's state. A leadership of its own shows only while [`is_leader`](Self::is_leader).
    pub fn current(&self) -> Status {
        self.shared.status()
    }

    /// Why there is no leader, or why this one leads, as far as can be told on this host. It costs as much as a
    /// page of text, and holds no agent up.
    pub fn diagnosis(&self) -> Diagnosis {
        self.shared.diagnosis()
    }

    /// Begins to write down what the agent says and hears of its election, within these limits, or stops. Off by
    /// default. What was written before is gone when it begins, but what was kept; it can still be read after it stopped.
    ///
    /// Heartbeats are not written, and no message of an application is. When the leader is missed for so long that the
    /// agent warns of it, what is written by then is kept beside what comes after it.
    pub fn record(&self, limits: Option<RecordLimits>) {
        self.shared.record().switch(limits);
    }

    /// Whether the agent [writes down](Self::record) what it says and hears.
    pub fn is_recording(&self) -> bool {
        self.shared.record().is_on()
    }

    /// What the agent has [written down](Self::record), as the file of a
    /// [`Recording`](crate::record::Recording); `None` where it never did.
    pub fn recorded(&self) -> Option<String> {
        self.shared.recorded(false)
    }

    /// The same as it was when the leader was missed last, while a record was on.
    pub fn recorded_without_leader(&self) -> Option<String> {
        self.shared.recorded(true)
    }

    /// When the record was kept that [`recorded_without_leader`](Self::recorded_without_leader) gives.
    pub(crate) fn kept_unix_ms(&self) -> Option<u64> {
        self.shared.record().kept_unix_ms()
    }

    /// The agent's states from the present one on; ends after [`Lifecycle::Ended`].
    ///
    /// A slow reader skips to the newest and never holds the agent up. The end of a leadership is
    /// told when it comes, even if the agent hangs: it is waited for by the clock, in the reader's
    /// task. (Outside of a runtime with timers the reader hears only of what the agent itself publishes.)
    pub fn changes(&self) -> impl Stream<Item = Status> + Unpin + Send + use<E> {
        changes(Arc::clone(&self.shared))
    }

    /// Waits until the agent knows a leader.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] when it knew none in all that time; [`WaitError::Ended`] when the
    /// agent left or ended for good; [`WaitError::NoRuntime`] outside of a runtime with timers.
    pub async fn wait_for_leader(&self, within: Duration) -> Result<Leader, WaitError> {
        let mut updates = self.shared.updates();
        let known = async {
            loop {
                // Before the look: an update that comes in between is not missed.
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
            Ok(None) => Err(WaitError::TimedOut { within }),
            Err(NoTimers) => Err(WaitError::NoRuntime),
        }
    }

    /// The score that counts.
    #[cfg(feature = "testkit")]
    pub(crate) fn score(&self) -> Option<Score> {
        self.shared.score()
    }

    /// For how long the agent still leads, if nothing is heard; `None` where that has no end.
    pub(crate) fn leadership_left(&self) -> Option<Duration> {
        match self.shared.remaining() {
            Remaining::Over => Some(Duration::ZERO),
            Remaining::For(left) => Some(left),
            Remaining::Unlimited => None,
        }
    }

    /// Returns the offers of the agent's mode to the features that are built on it. Each feature checks them when it starts.
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

    /// Sets the agent's score. It outlasts a crash.
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
        // Before the command: an agent that crashes on the way to it begins with this score.
        self.shared.set_score(score);
        self.command(AgentCommand::SetScore(score))
    }

    /// Withdraws the score when `gone` ends, until the agent is tied anew; `None`: at once.
    pub(crate) fn withdraw_after(
        &self,
        gone: Option<impl Future<Output = ()> + Send + 'static>,
    ) -> Result<(), CommandError> {
        self.must_go_on()?;
        let tie = gone.as_ref().map_or(Tie::Broken, |_| Tie::Holds);
        let NewTie { number, is_update } = self.shared.tie(tie);
        if is_update {
            // do_send: one for each tie, and the agent must withdraw with it.
            self.addr.do_send(AgentCommand::RefreshScore);
        }
        let Some(gone) = gone else { return Ok(()) };
        let (shared, agent) = (Arc::clone(&self.shared), self.addr.downgrade());
        // On the agent's arbiter: the actor's own may end together with the actor.
        let task = AgentTask(Box::pin(async move {
            let replaced = pin!(shared.until_replaced(number));
            if let Either::Right(_) = select(pin!(gone), replaced).await {
                return;
            }
            if shared.break_tie(number) {
                warn!(node = %shared.id(), "actor that the agent is tied to is gone: the agent withdraws");
                if let Some(agent) = agent.upgrade() {
                    // do_send: one for each tie that breaks, and the agent must withdraw.
                    agent.do_send(AgentCommand::RefreshScore);
                }
            }
        }));
        self.command(AgentCommand::Run(task))
    }

    /// Asks the agent to hand over, to this member if one is named. It is no candidate for a while
    /// then; see [`cooldown`](super::AgentBuilder::cooldown). An agent that does not lead ignores it.
    ///
    /// # Errors
    /// [`CommandError::NoMember`] and [`CommandError::NoSuccessor`] when that member cannot take
    /// over, [`CommandError::Ended`] when the agent left or ended for good.
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
    /// [`CommandError::Ended`] when the agent left or ended for good: there are no events any more.
    pub fn subscribe(&self, to: Recipient<Notice>) -> Result<(), CommandError> {
        self.must_go_on()?;
        // do_send: one for each call of the application.
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
        // Drawn here, so that the token is given back without a wait for the agent.
        let id = self.shared.subscribers().next_id();
        self.command(AgentCommand::SubscribeDraining { id, to })?;
        Ok(DrainingToken::new(self.addr.clone().recipient(), id))
    }

    /// Says that the work of *the* [draining subscriber](Self::subscribe_draining) has ended, where
    /// there is only one. Where there are several this is refused, because it does not say whose work
    /// has ended; [`DrainingToken::drained`] does.
    ///
    /// # Errors
    /// [`CommandError::SeveralDraining`] when several subscribers drain, [`CommandError::Ended`] when the
    /// agent left or ended for good.
    pub fn drained(&self) -> Result<(), CommandError> {
        self.must_go_on()?;
        if self.shared.subscribers().only_draining() == OnlyDraining::Several {
            return Err(CommandError::SeveralDraining);
        }
        self.command(AgentCommand::Drained)
    }

    pub(super) fn command(&self, command: AgentCommand) -> Result<(), CommandError> {
        self.must_go_on()?;
        // do_send: one for each call of the application, which was told that it is done.
        self.addr.do_send(command);
        Ok(())
    }

    pub(super) fn must_go_on(&self) -> Result<(), CommandError> {
        if self.shared.is_over() || !self.addr.connected() {
            return Err(CommandError::Ended);
        }
        Ok(())
    }

    /// The name of the agent's group.
    pub(crate) fn group_name(&self) -> &str {
        self.shared.group()
    }

    /// The members of its group.
    pub(crate) fn members(&self) -> Arc<Members> {
        self.shared.membership().members()
    }

    /// The counts of its group's messages.
    pub(crate) fn counts(&self) -> Counts {
        self.shared.membership().counts()
    }

    /// Ends when the agent has come to a message that is sent now; says whether it has.
    pub(crate) async fn answers(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        let task = AgentTask(Box::pin(async move {
            answer.send(()).ok();
        }));
        self.command(AgentCommand::Run(task)).is_ok() && answered.await.is_ok()
    }

    /// Leaves: hands over if the agent leads, then stops it, then takes it out of its group.
    ///
    /// When this returns, everything is free that the agent held: its actor is dropped and with it the lock of its store, no
    /// work of [`lead`](Self::lead) runs, and another agent may take its name.
    ///
    /// # Errors
    /// [`LeaveError::TimedOut`] when that took longer than `deadline`. The leadership is revoked
    /// and the agent stopped all the same, as if it had crashed; its name is free when its work has ended.
    /// [`LeaveError::NoRuntime`] outside of a runtime with timers, and nothing was done.
    pub async fn leave(&self, deadline: Duration) -> Result<(), LeaveError> {
        let left = async {
            if self.is_leader() {
                self.shared.look_for_successors(deadline / 4).await;
            }
            // Before the command: an agent that crashes on the way to it does not come back.
            self.shared.leave();
            // do_send: one for each call, and none may be lost.
            self.addr.do_send(AgentCommand::Leave);
            self.shared.gone().await;
        };
        match wait::within(deadline, left).await {
            Ok(Some(())) => {
                self.shared.is_no_successor().await;
                return Ok(());
            }
            Ok(None) => {}
            Err(NoTimers) => return Err(LeaveError::NoRuntime),
        }
        // do_send: one for each call, and none may be lost.
        self.addr.do_send(AgentCommand::Stop);
        self.shared.end(Scope::Agent); // even if the agent hangs
        Err(LeaveError::TimedOut { deadline })
    }
}

/// The states of an agent from the present one on.
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

/// One reader of the changes of an agent.
struct Changes {
    updates: Updates,
    shared: Arc<SharedState>,
    /// The status that the reader was given last.
    last: Option<Status>,
}

impl Changes {
    /// The next status that differs from the last one.
    async fn next(&mut self) -> Status {
        loop {
            self.updates.mark_unchanged();
            // Before the status: a leadership that runs out in between is waited for no time.
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
