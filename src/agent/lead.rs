//! Work that runs while an agent leads, and only then.
//!
//! Decided here: when such a future is made, when it is dropped, and the reaction to a panic. The future runs in its
//! caller's task. The agent's clock is read before each poll, so nothing of the work runs after its leadership. If the
//! agent ends, the group only suspects this end until the future is dropped; then the end is confirmed.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Weak},
    task::Poll,
    time::Duration,
};

use tracing::error;

use crate::{
    protocol::{Election, Incarnation},
    supervisor::{Decision, RestartBudget, RestartPolicy, contain},
};

use super::{
    LeaderGuard,
    error::LeadError,
    handle::ElectionHandle,
    message::AgentCommand,
    phase::{AgentTenure, Remaining},
    progress::Progress,
    shared::SharedState,
    wait::{NoTimers, can_spawn_here, has_timers, timer, within},
    work::WorkSigns,
};

impl<E: Election> ElectionHandle<E> {
    /// Runs `work` whenever this agent leads; returns when the agent has left or ended for good.
    ///
    /// The future that `work` returns runs in the caller's task. It is dropped when the leadership is lost, and made
    /// again at the next leadership. When it ends by itself, the next step depends on whether the agent was [stepping
    /// down](LeaderGuard::stepping_down):
    ///
    /// | the future | then |
    /// |---|---|
    /// | ends while the agent steps down | the work is done: the hand-over goes on at once |
    /// | ends otherwise, a minute or more after its begin | the work is done: the agent steps down in order |
    /// | ends otherwise within a minute | the work has failed: the agent waits, steps down, and lets other agents lead first |
    /// | panics | the work has failed in the same way, and the panic is logged and counted: [`OnPanic::StepDown`] |
    ///
    /// **Work that fails.** If the work fails within a minute of the leadership's begin, the agent waits before it
    /// steps down: 1 s, and twice as long for each short leadership of the group before, up to a minute. So work that
    /// fails everywhere is tried once a minute. Then the agent lets other agents lead first for a minute, twice as long
    /// after each failure, up to an hour; so work that fails on one host runs on another. An hour as leader resets the
    /// second pause to a minute; [`campaign`](Self::campaign) ends that pause. A job that is done within a minute gets
    /// the same pauses: let it wait for [`stepping_down`](LeaderGuard::stepping_down) instead.
    ///
    /// The agent's clock is read before each poll of the work, so nothing of it runs after the leadership, even if the
    /// host was suspended. A poll that began in time continues: work that blocks its thread may outlast the leadership,
    /// and delays a hand-over. Work that waits is dropped as soon as the host is back from a suspend in which the lease ran
    /// out, or up to 100 ms later on a host whose kernel cannot wait for that moment
    /// ([`Clock::is_boot_time`](crate::clock::Clock::is_boot_time)).
    ///
    /// Several lead futures may run side by side; a hand-over waits for all of them, up to the drain limit. Dropping
    /// the future that `lead` returned drops the work as well; the agent goes on leading.
    ///
    /// # Errors
    /// [`LeadError::NoRuntime`] outside of a runtime with timers, before anything was done.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn serve(handle: actix_bully::agent::BullyHandle) -> Result<(), actix_bully::agent::LeadError> {
    /// handle
    ///     .lead(|leader| async move {
    ///         println!("leading in term {}", leader.token().term);
    ///         leader.stepping_down().await; // work until then
    ///         // finish what must not be cut off; then the successor takes over
    ///     })
    ///     .await
    /// # }
    /// ```
    pub fn lead<F, W>(&self, work: F) -> impl Future<Output = Result<(), LeadError>>
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        self.lead_with(OnPanic::StepDown, work)
    }

    /// Like [`lead`](Self::lead), with another reaction to work that panics.
    ///
    /// # Errors
    /// [`LeadError::NoRuntime`] as in `lead`; [`LeadError::GaveUp`] when a panic made the agent leave the election.
    pub fn lead_with<F, W>(
        &self,
        on_panic: OnPanic,
        work: F,
    ) -> impl Future<Output = Result<(), LeadError>>
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        // The future is noted at this call, not at the first poll: so a future that is never polled is reported as
        // well.
        let mut given = GivenWork::new(&self.shared);
        async move {
            given.begin();
            self.run_work(on_panic, work).await
        }
    }

    async fn run_work<F, W>(&self, on_panic: OnPanic, mut work: F) -> Result<(), LeadError>
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        // Without timers nothing would drop the work when its lease runs out.
        if timer(Duration::ZERO).is_err() {
            return Err(LeadError::NoRuntime);
        }
        let mut panics = Panics::new(on_panic, self);
        let mut updates = self.shared.updates();
        let mut done = None;
        let mut led = None;
        loop {
            updates.mark_unchanged();
            if self.shared.is_over() {
                return Ok(());
            }
            let Some(tenure) = self.shared.enter(done) else {
                if updates.changed().await.is_err() {
                    return Ok(());
                }
                continue;
            };
            let running = RunningWork {
                handle: self,
                incarnation: tenure.incarnation,
            };
            self.shared.forget_refused();
            let began = self.shared.now();
            // If the work begins again in one leadership, its time counts from its first begin in that leadership.
            let since = led.filter(|(serial, _)| *serial == tenure.serial);
            let (_, since) = *led.insert(since.unwrap_or((tenure.serial, began)));
            let end = running.attend(tenure, &mut work).await;
            // `running` is dropped first: a hand-over must not wait for the backoff of work that has ended.
            drop(running);
            let led_for = self.shared.now().since(since);
            let (next, has_failed) = match end {
                WorkEnd::Dropped => continue,
                WorkEnd::Finished => (
                    AfterWork::StepDown,
                    self.shared.ended_at_once(began, tenure.serial),
                ),
                WorkEnd::Panicked(reason) => (panics.decide(&reason), true),
            };
            match next {
                AfterWork::StepDown => {
                    // The agent leads until it has stepped down: the work must not begin again.
                    done = Some(tenure.serial);
                    self.give_up(tenure, has_failed.then_some(led_for)).await?;
                }
                AfterWork::Again { after } => {
                    // Waits at most until this tenure ends, so that the next tenure begins its work without this
                    // backoff.
                    let over = self.shared.until_over(tenure.serial);
                    within(after, over).await.map_err(LeadError::from)?;
                }
                AfterWork::GiveUp => {
                    self.depart(Duration::MAX).await;
                    self.shared.is_no_successor(Duration::MAX).await;
                    return Err(LeadError::GaveUp);
                }
            }
        }
    }

    /// Steps down after the work of `tenure` has ended. `failed` is the time for which the agent had led when its work
    /// failed; `None` if the work did not fail.
    async fn give_up(
        &self,
        tenure: AgentTenure,
        failed: Option<Duration>,
    ) -> Result<(), LeadError> {
        let (shared, serial) = (&self.shared, tenure.serial);
        // The tenure has ended, or the agent already hands over: no command is needed.
        if !shared.leads_on(serial) {
            return Ok(());
        }
        let mut held_back = None;
        if let Some(led_for) = failed {
            let next = shared.fail_work(tenure.incarnation, led_for);
            // Waits no longer than the leadership lasts.
            within(next.wait, shared.until_over(serial)).await?;
            held_back = Some(next.held_back);
        }
        // do_send: may exceed the mailbox's bound by one message for each leadership; the agent must step down.
        self.addr
            .do_send(AgentCommand::WorkEnded { serial, held_back });
        Ok(())
    }
}

/// The reaction to work of [`lead`](ElectionHandle::lead) that panics; an argument of `lead_with`.
///
/// With each variant the panic is contained, logged at `error`, and counted in
/// [`Status::work_panics`](super::Status::work_panics), which [`changes`](ElectionHandle::changes) reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnPanic {
    /// The agent steps down in order, as if the work were done, and another agent may try. The work is made again at
    /// the agent's next leadership. The default.
    #[default]
    StepDown,
    /// The work is made again after the policy's backoff, as long as the agent leads. When the budget is spent, the
    /// reaction is [`GiveUp`](Self::GiveUp).
    Restart(RestartPolicy),
    /// The work is made again after the policy's backoff, as long as the agent leads. When the budget is spent, the
    /// reaction is [`StepDown`](Self::StepDown), so that its cool-down lets another agent work. Panics of several
    /// leaderships add up: an agent that leads again within the policy's window steps down at the next panic.
    RestartOrStepDown(RestartPolicy),
    /// The agent leaves: it hands over, stops, and `lead_with` returns [`LeadError::GaveUp`].
    GiveUp,
}

/// The panics of one lead future's work, and the decision after each.
struct Panics<'a, E: Election> {
    handle: &'a ElectionHandle<E>,
    /// Restarts that are left; `None` if the work never begins again after a panic.
    budget: Option<RestartBudget>,
    /// The step after a panic that the budget does not cover.
    otherwise: AfterWork,
}

/// The next step after the end of the work.
#[derive(Clone, Copy)]
enum AfterWork {
    StepDown,
    Again { after: Duration },
    GiveUp,
}

impl<'a, E: Election> Panics<'a, E> {
    fn new(on_panic: OnPanic, handle: &'a ElectionHandle<E>) -> Self {
        let (budget, otherwise) = match on_panic {
            OnPanic::StepDown => (None, AfterWork::StepDown),
            OnPanic::Restart(policy) => (Some(RestartBudget::new(policy)), AfterWork::GiveUp),
            OnPanic::RestartOrStepDown(policy) => {
                (Some(RestartBudget::new(policy)), AfterWork::StepDown)
            }
            OnPanic::GiveUp => (None, AfterWork::GiveUp),
        };
        Self {
            handle,
            budget,
            otherwise,
        }
    }

    fn decide(&mut self, reason: &str) -> AfterWork {
        let shared = &self.handle.shared;
        let now = Duration::from_nanos(shared.now().as_nanos());
        let next = match self.budget.as_mut().map(|budget| budget.spend(now)) {
            Some(Decision::Restart { after, .. }) => AfterWork::Again { after },
            Some(Decision::GiveUp) | None => self.otherwise,
        };
        let then = match next {
            AfterWork::StepDown => "the agent steps down",
            AfterWork::Again { .. } => "the work is begun again",
            AfterWork::GiveUp => "the agent leaves",
        };
        error!(node = %shared.id(), reason, then, "work of the leader panicked");
        shared.note_work_panic(reason);
        next
    }
}

/// A lead future, from the call that made it to its end.
struct GivenWork {
    shared: Arc<SharedState>,
    was_polled: bool,
}

impl GivenWork {
    fn new(shared: &Arc<SharedState>) -> Self {
        shared.vitals().note_work(WorkSigns::given);
        if can_spawn_here() && shared.vitals().note_work(WorkSigns::watched) {
            let watch = UnpolledWatch(Arc::downgrade(shared));
            drop(actix::spawn(watch.run()));
        }
        Self {
            shared: Arc::clone(shared),
            was_polled: false,
        }
    }

    fn begin(&mut self) {
        self.was_polled = true;
        self.shared.vitals().note_work(WorkSigns::begun);
    }
}

/// Warns of an agent's lead futures that are never polled, until each was polled or dropped.
struct UnpolledWatch(Weak<SharedState>);

impl UnpolledWatch {
    async fn run(self) {
        while let Ok(timer) = timer(UNPOLLED) {
            timer.await;
            let Some(shared) = self.0.upgrade() else {
                return;
            };
            if !shared.vitals().note_work(WorkSigns::is_to_watch) {
                return;
            }
            shared.warn_of_work();
        }
    }
}

/// The arbiter of this task may end before the agent: the next lead future then starts another task.
impl Drop for UnpolledWatch {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.vitals().note_work(WorkSigns::unwatched);
        }
    }
}

/// Time between two warnings that the work of a leader was never polled.
const UNPOLLED: Duration = Duration::from_secs(10);

impl Drop for GivenWork {
    fn drop(&mut self) {
        let Self { shared, was_polled } = self;
        shared.vitals().note_work(|work| work.dropped(*was_polled));
        // If there is no runtime any more, the whole process ends, so no warning is needed.
        if *was_polled && has_timers() {
            shared.warn_of_work();
        }
    }
}

/// A lead future that runs. `drop` notes the end of the future, whatever the cause.
struct RunningWork<'a, E: Election> {
    handle: &'a ElectionHandle<E>,
    incarnation: Incarnation,
}

/// The end of the work under one leadership.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WorkEnd {
    /// The leadership has ended.
    Dropped,
    /// The future ended by itself.
    Finished,
    /// The future panicked, with this text.
    Panicked(String),
}

impl<E: Election> RunningWork<'_, E> {
    /// Runs the work until the work or the leadership ends. The future is dropped on return.
    async fn attend<F, W>(&self, tenure: AgentTenure, work: &mut F) -> WorkEnd
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        let shared = &self.handle.shared;
        let guard = LeaderGuard {
            shared: Arc::clone(shared),
            tenure,
            agent: self.handle.addr.clone().recipient(),
            progress: Progress::default(),
        };
        let mut over = pin!(shared.until_over(tenure.serial));
        let mut work = match contain(|| Box::pin(work(guard))) {
            Ok(work) => work,
            Err(reason) => return WorkEnd::Panicked(reason),
        };
        let outcome = poll_fn(|task| {
            // `over` waits for a timer, which may be late and stops during a suspend. So the clock is checked before
            // any of the work runs.
            let is_over = over.as_mut().poll(task).is_ready()
                || shared.remaining_of(tenure.serial) == Remaining::Over;
            if is_over {
                return Poll::Ready(WorkEnd::Dropped);
            }
            match contain(|| work.as_mut().poll(task)) {
                Ok(poll) => poll.map(|()| WorkEnd::Finished),
                Err(reason) => Poll::Ready(WorkEnd::Panicked(reason)),
            }
        });
        let outcome = outcome.await;
        // A value that the work holds may panic when it is dropped. Such a panic counts as a panic of the work.
        match contain(|| drop(work)) {
            Err(reason) if outcome == WorkEnd::Finished => WorkEnd::Panicked(reason),
            Err(reason) => {
                error!(node = %shared.id(), reason, "work of the leader panicked when dropped");
                outcome
            }
            Ok(()) => outcome,
        }
    }
}

impl<E: Election> Drop for RunningWork<'_, E> {
    fn drop(&mut self) {
        self.handle.shared.exit(self.incarnation);
        // do_send: may exceed the mailbox's bound by one message for each end of work. A hand-over may wait for just
        // this work, and no other message makes the agent check.
        self.handle.addr.do_send(AgentCommand::Recheck);
    }
}

impl From<NoTimers> for LeadError {
    fn from(NoTimers: NoTimers) -> Self {
        Self::NoRuntime
    }
}
