//! Work that runs while an agent leads, and only then.
//!
//! Decided here: when such a future is made, when it is dropped, and what follows if it panics. It
//! runs in its caller's task, and the agent's clock is read before each poll: nothing of the work
//! runs after its leadership. Until it was dropped the end of its agent is only suspected.

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
    /// Runs `work` whenever this agent leads; ends when the agent has left or ended for good.
    ///
    /// The future runs in the caller's task. It is dropped when the leadership is lost, and made
    /// anew at the next one. When it ends by itself, what follows depends on whether the agent
    /// was [stepping down](LeaderGuard::stepping_down):
    ///
    /// | the future | then |
    /// |---|---|
    /// | ends while the agent steps down | the work is done: the hand-over goes on at once |
    /// | ends otherwise, a minute or more after its begin | the work is done: the agent steps down politely |
    /// | ends otherwise within a minute | the work has failed: the agent waits, steps down, and lets others go first |
    /// | panics | the same, and it is logged and counted: [`OnPanic::StepDown`] |
    ///
    /// **Work that fails.** An agent whose work fails within a minute of its leadership's begin waits before it steps down:
    /// 1 s, and twice as long for each short leadership of the group before, up to a minute. So work that fails everywhere is
    /// tried once a minute. Then the agent lets others go first for a minute, twice as long after each failure, up to an
    /// hour; so work that fails on one host runs on another. An hour of leading ends that, and [`campaign`](Self::campaign)
    /// ends the latter. A job that is done within a minute gets the same pauses: let it wait for
    /// [`stepping_down`](LeaderGuard::stepping_down) instead.
    ///
    /// The agent's clock is read before each poll of the work, so that nothing of it runs after the
    /// leadership, a suspend of the host included. Work that waits for something is dropped as soon as the host is back
    /// from a suspend in which its lease ran out, or up to 100 ms later where the kernel cannot wait for that
    /// ([`Clock::is_boot_time`](crate::clock::Clock::is_boot_time)).
    ///
    /// Several may run side by side; a hand-over waits for all of them, up to the limit set. Drop
    /// what `lead` returned, and the work is dropped with it; the agent goes on leading.
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

    /// As [`lead`](Self::lead), with another answer to work that panics.
    ///
    /// # Errors
    /// [`LeadError::NoRuntime`] as there; [`LeadError::GaveUp`] when a panic ended the agent's
    /// part in the election.
    pub fn lead_with<F, W>(
        &self,
        on_panic: OnPanic,
        work: F,
    ) -> impl Future<Output = Result<(), LeadError>>
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        // Now, and not at the first poll: a future that is never polled is work that does not run.
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
            let began = self.shared.now();
            // Work that is begun again is of the same leadership.
            let since = led.filter(|(serial, _)| *serial == tenure.serial);
            let (_, since) = *led.insert(since.unwrap_or((tenure.serial, began)));
            let end = running.attend(tenure, &mut work).await;
            // Noted first: a hand-over must not wait out the backoff of work that has ended.
            drop(running);
            let led_for = self.shared.now().since(since);
            let (next, has_failed) = match end {
                WorkEnd::Dropped => continue,
                WorkEnd::Finished => (AfterWork::StepDown, self.shared.ended_at_once(began)),
                WorkEnd::Panicked(reason) => (panics.decide(&reason), true),
            };
            match next {
                AfterWork::StepDown => {
                    // The agent leads until it has stepped down: the work must not begin again.
                    done = Some(tenure.serial);
                    self.give_up(tenure, has_failed.then_some(led_for)).await?;
                }
                AfterWork::Again { after } => {
                    // The next tenure begins its work without the backoff of this one.
                    let over = self.shared.until_over(tenure.serial);
                    within(after, over).await.map_err(LeadError::from)?;
                }
                AfterWork::GiveUp => {
                    // Before the command: an agent that crashes meanwhile does not come back.
                    self.shared.leave();
                    // do_send: the last one.
                    self.addr.do_send(AgentCommand::Leave);
                    self.shared.gone().await;
                    return Err(LeadError::GaveUp);
                }
            }
        }
    }

    /// Steps down, since the work of that tenure has ended; if it failed, it had led for `failed`.
    async fn give_up(
        &self,
        tenure: AgentTenure,
        failed: Option<Duration>,
    ) -> Result<(), LeadError> {
        let (shared, serial) = (&self.shared, tenure.serial);
        // Work that ended because the agent drains asks for nothing more.
        if shared.is_draining() {
            return Ok(());
        }
        let Some(led_for) = failed else {
            // do_send: one for each leadership, and it must step down.
            self.addr.do_send(AgentCommand::StepDown { to: None });
            return Ok(());
        };
        let next = shared.fail_work(tenure.incarnation, led_for);
        // The leadership may end meanwhile.
        within(next.wait, shared.until_over(serial)).await?;
        let held_back = next.held_back;
        // do_send: one for each leadership, and it must step down.
        self.addr
            .do_send(AgentCommand::WorkFailed { serial, held_back });
        Ok(())
    }
}

/// The answer to work of [`lead`](ElectionHandle::lead) that panics; `lead_with` takes it.
///
/// Whatever it is, the panic is contained, logged at `error`, and counted in
/// [`Status::work_panics`](super::Status::work_panics), of which
/// [`changes`](ElectionHandle::changes) tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnPanic {
    /// The agent steps down politely, as if the work were done, and another agent may try. The work is
    /// made anew at the agent's next leadership. The default.
    #[default]
    StepDown,
    /// The work is made anew after the policy's backoff, as long as the agent leads. When the
    /// budget is spent: as [`GiveUp`](Self::GiveUp).
    Restart(RestartPolicy),
    /// The work is made anew after the policy's backoff, as long as the agent leads. When the
    /// budget is spent: as [`StepDown`](Self::StepDown), so that its cool-down lets another agent
    /// work. Panics count over leaderships: an agent that leads again within the policy's window
    /// steps down at the next panic.
    RestartOrStepDown(RestartPolicy),
    /// The agent leaves: it hands over, stops, and `lead_with` returns [`LeadError::GaveUp`].
    GiveUp,
}

/// The panics of one lead future's work, and what they lead to.
struct Panics<'a, E: Election> {
    handle: &'a ElectionHandle<E>,
    /// How often the work may still begin again, if it may at all.
    budget: Option<RestartBudget>,
    /// The step after a panic that the budget does not cover.
    otherwise: AfterWork,
}

/// The step after the work's end.
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

/// A lead future from the call that made it to its end.
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

/// Its arbiter may end before the agent: the next lead future starts another one.
impl Drop for UnpolledWatch {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.vitals().note_work(WorkSigns::unwatched);
        }
    }
}

/// How often it is warned that a leader's work was never polled.
const UNPOLLED: Duration = Duration::from_secs(10);

impl Drop for GivenWork {
    fn drop(&mut self) {
        let Self { shared, was_polled } = self;
        shared.vitals().note_work(|work| work.dropped(*was_polled));
        // Outside of a runtime everything ends.
        if *was_polled && has_timers() {
            shared.warn_of_work();
        }
    }
}

/// A lead future that runs; its end is noted however it comes about.
struct RunningWork<'a, E: Election> {
    handle: &'a ElectionHandle<E>,
    incarnation: Incarnation,
}

/// How the work under one leadership ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WorkEnd {
    /// The leadership is over.
    Dropped,
    /// The future ended by itself.
    Finished,
    /// The future panicked, with this text.
    Panicked(String),
}

impl<E: Election> RunningWork<'_, E> {
    /// Runs the work until it ends or the leadership does. The future is dropped on return.
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
            // `over` waits for a timer, which may be late, and stops in a suspend: the clock
            // has the last word before anything of the work runs.
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
        // What the work held may panic when it is dropped: that is a panic of the work as well.
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
        // A hand-over may wait for just this work, and no other message makes the agent look.
        // do_send: one for each work that has ended, and a hand-over waits for it.
        self.handle.addr.do_send(AgentCommand::Recheck);
    }
}

impl From<NoTimers> for LeadError {
    fn from(NoTimers: NoTimers) -> Self {
        Self::NoRuntime
    }
}
