//! State that an agent, its handles and its lead futures share.
//!
//! Decided here: the order in which a leadership becomes known. A loss is published before anything else happens, a
//! gain after everything else has happened. The leadership is never read through the mailbox. Not here: which thread
//! may publish it (`leadership.rs`).
//!
//! ```text
//!   an incarnation ends:  the leadership is over ─▶ lead futures told ─▶ Lost to subscribers ─▶ the group
//!                                                               suspect, while a lead future runs
//!                                                               down, once all are dropped
//! ```

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use tracing::Span;

use crate::{
    clock::Clock,
    group::{AppMessage, Attachments, Group},
    history::KeptHistory,
    metrics::{AgentMeter, Sample},
    protocol::{AgentId, Event, Incarnation, Leader, Leaders, Requirements, Score, Time, View},
};

use super::{
    Diagnosis,
    assumptions::Assumptions,
    diagnosis::Facts,
    eligibility::{Eligibility, NewTie, Tie},
    leadership::{LeadershipMachine, Updates},
    log,
    membership::GroupMembership,
    phase::{AgentTenure, Departure, IncarnationEnd, Remaining, Scope},
    record::AgentRecord,
    spec::{AgentSettings, series},
    status::Status,
    subscribers::Subscribers,
    vitals::Vitals,
};

/// The state of one agent, shared by all its incarnations.
pub(super) struct SharedState {
    pub(super) settings: Arc<dyn AgentSettings>,
    clock: Arc<dyn Clock>,
    pub(super) leadership: LeadershipMachine,
    vitals: Vitals,
    pub(super) meter: AgentMeter,
    /// The subscribers have a lock of their own. Events are sent under this lock, so that the events of two threads
    /// arrive in the same order at every subscriber. Sending wakes tasks, which takes a millisecond for thousands of
    /// subscribers; readers of the leadership must not wait for that.
    subscribers: Mutex<Subscribers>,
    /// Values that upper layers attach to this agent.
    attached: Attachments,
    pub(super) record: AgentRecord,
    /// The group's history, once an event has looked for it.
    pub(super) past: OnceLock<Arc<KeptHistory>>,
}

impl SharedState {
    pub(super) fn new(
        settings: Arc<dyn AgentSettings>,
        clock: Arc<dyn Clock>,
        first: Incarnation,
        score: Option<Score>,
    ) -> Self {
        Self {
            vitals: Vitals::new(clock.now()),
            meter: AgentMeter::new(series(&*settings)),
            settings,
            clock,
            leadership: LeadershipMachine::new(first, score),
            subscribers: Mutex::default(),
            attached: Attachments::default(),
            record: AgentRecord::new(0),
            past: OnceLock::new(),
        }
    }

    pub(super) fn vitals(&self) -> &Vitals {
        &self.vitals
    }

    /// Notes in the metrics that the agent has a leader, and for how long it had no leader before. `None` means that
    /// the agent has no leader now.
    pub(super) fn note_led(&self, leaderless: Option<Duration>) {
        series(&*self.settings).led_after(leaderless);
    }

    /// Takes a new sample of the metrics that are only sampled, if one is due.
    pub(super) fn sample(&self, now: Time) {
        let counts = || Sample {
            group: self.group(),
            counts: self.membership().counts(),
            requirements: self.membership().requirements(),
        };
        self.meter.sample(now, counts);
    }

    /// Takes a sample now.
    pub(super) fn sample_now(&self) {
        self.meter.sample_soon();
        self.sample(self.now());
    }

    /// Adds a function that is called at each sample of the agent's metrics, until it returns `false`.
    pub(super) fn sample_also(&self, show: impl Fn() -> bool + Send + Sync + 'static) {
        self.meter.also(show);
    }

    /// Logs and counts an event that the subscribers got. `log.rs` explains `is_change`.
    pub(super) fn note_told(&self, event: &Event, is_change: bool) {
        self.write_event(event);
        log::log(event, is_change);
        series(&*self.settings).told(event, is_change);
    }

    pub(super) fn diagnosis(&self) -> Diagnosis {
        let facts = Facts {
            id: self.id().clone(),
            now: self.now(),
            status: self.status(),
            score: self.score(),
            assumed: self.assumed(),
            signs: self.vitals.read(),
            last_step: self.vitals.last_step(),
            requirements: self.requirements(),
            configured: self.settings.voters(),
            members: self.membership().reach(),
            peers: self.membership().peers(),
            offers: self.offers(),
            register: self.keeper().map(|keeper| keeper.state(self.id())),
        };
        Diagnosis::new(self.membership().name().to_owned(), facts)
    }

    /// Returns the requirements that the members of the agent's group share.
    pub(super) fn requirements(&self) -> Option<Requirements> {
        self.membership().requirements()
    }

    pub(super) fn assumed(&self) -> Assumptions {
        let settings = &self.settings;
        Assumptions::new(settings.kind(), settings.timings(), settings.worst_case())
    }

    /// Returns the number of agents that may lead at once. The number decides how far this agent's tokens can be
    /// trusted.
    pub(super) fn leaders(&self) -> Leaders {
        self.settings.leaders()
    }

    // ---- by the agent, in a step ------------------------------------------------------------

    /// Returns whether `by` is the present incarnation and has not ended, not even by a handle on another thread.
    pub(super) fn is_present(&self, by: Incarnation) -> bool {
        self.leadership.is_present(by)
    }

    /// Publishes a loss of a step before any effect of the step; `kept` is `None` if the step lost the leadership.
    pub(super) fn shrink(&self, by: Incarnation, kept: Option<&View>) {
        if self.leadership.shrink(by, kept) {
            self.membership().forget_leader(self.id(), by);
        }
    }

    /// Publishes a gain of a step after all effects of the step.
    pub(super) fn grow(&self, by: Incarnation, view: &View) {
        let note = |leader: &Leader| self.membership().note_leader(leader.clone());
        // Only a leader needs the time: most steps are steps of followers, and a reading of the clock is a large part
        // of such a step.
        let now = view.leading.map_or(Time::ZERO, |_| self.now());
        let renewal = self.renewal(now, view);
        self.leadership.grow(by, now, view, note);
        self.write_role(view.role);
        if let Some(renewal) = renewal {
            self.note_renewal(renewal, now);
        }
        self.tell_of_return(by, view);
    }

    /// Notes that the work under the present leadership has to end.
    pub(super) fn drain(&self, by: Incarnation) {
        self.leadership.drain(by);
    }

    /// Returns whether all work under the present leadership has ended.
    pub(super) fn is_drained(&self) -> bool {
        self.leadership.is_idle() && self.subscribers().is_drained()
    }

    pub(super) fn tell(&self, by: Incarnation, event: &Event) {
        let mut subscribers = self.subscribers();
        if subscribers.tell(self.id(), by, event) {
            let is_change = subscribers.is_change(event);
            drop(subscribers); // a log may be slow
            self.note_told(event, is_change);
        }
    }

    // ---- when an incarnation begins and ends ------------------------------------------------

    pub(super) fn begin(&self, next: Incarnation) -> bool {
        self.leadership.begin(next)
    }

    /// Ends the present incarnation, or the agent: revokes its leadership, then notifies the group.
    pub(super) fn end(&self, scope: Scope) {
        // The leadership is revoked before the group learns of the end, as the page of [`agent`](super) promises.
        let ended = self.leadership.end(scope);
        self.vitals.note_end(self.now());
        self.note_led(None);
        let lost = self.subscribers().end(self.id(), ended.incarnation);
        self.write_end(&ended, scope, lost.as_ref());
        self.log(lost);
        if ended.has_changed {
            self.end_view();
        }
        if ended.is_confirmed {
            self.confirm(ended);
        } else {
            self.membership().suspect(self.id(), ended.incarnation);
        }
    }

    pub(super) fn span(&self) -> Span {
        log::span(&*self.settings)
    }

    /// Logs an event outside of a step.
    pub(super) fn log(&self, told: Option<Event>) {
        if let Some(event) = told {
            self.span().in_scope(|| self.note_told(&event, false));
        }
    }

    /// Notifies the group that nothing acts on the leadership of the ended incarnation any more.
    fn confirm(&self, ended: IncarnationEnd) {
        self.membership().down(self.id(), ended.incarnation);
        match ended.departure {
            None => {}
            Some(Departure::Left) => self.membership().leave(self.id(), ended.incarnation),
            Some(Departure::Retired) => self.membership().retire(self.id(), ended.incarnation),
        }
        if ended.is_last {
            self.leadership.note_gone();
        }
    }

    /// Calls `farewell` once when the agent's name, its store and its work are free again.
    pub(super) fn when_gone(&self, farewell: impl FnOnce() + Send + 'static) {
        self.leadership.when_gone(farewell);
    }

    /// Marks the agent: it leaves when its incarnation ends.
    pub(super) fn leave(&self) {
        self.leadership.leave();
    }

    pub(super) fn set_score(&self, score: Option<Score>) {
        self.leadership
            .change_eligibility(|eligibility| eligibility.set_score(score));
    }

    /// Returns the given score, unless the actor to which the agent is tied is gone: then no score counts.
    pub(super) fn counting(&self, score: Option<Score>) -> Option<Score> {
        self.leadership
            .read_eligibility(|eligibility| eligibility.counting(score))
    }

    /// Ties the agent to another actor; returns the effect.
    pub(super) fn tie(&self, tie: Tie) -> NewTie {
        self.leadership
            .change_eligibility(|eligibility| eligibility.tie(tie))
    }

    /// Notes that the actor of the tie `number` is gone; returns whether this changes the score that counts.
    pub(super) fn break_tie(&self, number: u64) -> bool {
        self.leadership
            .change_eligibility(|eligibility| eligibility.break_tie(number))
    }

    /// Returns whether the tie `number` is still the newest tie of the agent.
    pub(super) fn has_tie(&self, number: u64) -> bool {
        self.leadership
            .read_eligibility(|eligibility| eligibility.has_tie(number))
    }

    pub(super) fn score(&self) -> Option<Score> {
        self.leadership.read_eligibility(Eligibility::score)
    }

    // ---- by lead futures --------------------------------------------------------------------

    /// Begins the work of a lead future, unless it has nothing to do.
    pub(super) fn enter(&self, done: Option<u64>) -> Option<AgentTenure> {
        self.leadership.enter(self.now(), done)
    }

    /// Notes that a lead future of `incarnation` has been dropped.
    pub(super) fn exit(&self, incarnation: Incarnation) {
        if let Some(ended) = self.leadership.exit(incarnation) {
            self.confirm(ended);
        }
    }

    pub(super) fn note_work_panic(&self, reason: &str) {
        self.note_failed_work(format!("it panicked: {reason}"));
        self.leadership.note_work_panic();
        series(&*self.settings).work_panicked();
    }

    pub(super) fn note_work_stall(&self) {
        self.note_failed_work("it made no progress in time".to_owned());
        self.leadership.note_work_stall();
        series(&*self.settings).work_stalled();
    }

    /// Returns the time for which the tenure `serial` still holds without another renewal.
    pub(super) fn remaining_of(&self, serial: u64) -> Remaining {
        self.leadership.remaining_of(self.now(), serial)
    }

    pub(super) fn remaining(&self) -> Remaining {
        self.leadership.remaining(self.now())
    }

    pub(super) fn tenure(&self) -> Option<AgentTenure> {
        self.leadership.tenure()
    }

    /// Returns whether the work under the present leadership has to end.
    pub(super) fn is_draining(&self) -> bool {
        self.leadership.is_draining()
    }

    /// Returns whether the tenure `serial` goes on, and its work was not asked to end. Its lease may have run out.
    pub(super) fn leads_on(&self, serial: u64) -> bool {
        self.leadership.leads_on(serial)
    }

    // ---- by readers -------------------------------------------------------------------------

    pub(super) fn group(&self) -> &str {
        self.membership().name()
    }

    /// Returns the group in which the agents' applications exchange messages.
    pub(super) fn companion(&self) -> Option<Group<AppMessage>> {
        self.membership().companion()
    }

    /// Returns the values that upper layers attach to this agent.
    pub(super) const fn attached(&self) -> &Attachments {
        &self.attached
    }

    pub(super) fn id(&self) -> &AgentId {
        self.settings.id()
    }

    pub(super) fn membership(&self) -> &dyn GroupMembership {
        self.settings.group()
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns whether the agent's clock runs on while the host is suspended; timers do not.
    pub(super) fn counts_suspend(&self) -> bool {
        self.clock.counts_suspend()
    }

    /// Returns whether the kernel can wait for a moment of the agent's clock.
    pub(super) fn is_boot_time(&self) -> bool {
        self.clock.is_boot_time()
    }

    pub(super) fn is_leader(&self) -> bool {
        self.leadership
            .is_leading_by(|until| self.clock.is_before(until))
    }

    /// Returns whether the agent has ended, so that no other incarnation follows.
    pub(super) fn is_over(&self) -> bool {
        self.departure().is_some()
    }

    pub(super) fn departure(&self) -> Option<Departure> {
        self.leadership.departure()
    }

    /// Waits until the agent's name, its store and its work are free again.
    pub(super) async fn gone(&self) {
        let mut updates = self.updates();
        while !self.leadership.is_gone() && updates.changed().await.is_ok() {}
    }

    /// Returns the newest status; a leadership that has run out is not shown.
    pub(super) fn status(&self) -> Status {
        let (status, leads) = self.leadership.status(self.now());
        if leads {
            status
        } else {
            status.without_own(self.id())
        }
    }

    /// Returns a receiver that wakes its holder when the status changes. Subscribe first, then read the status.
    pub(super) fn updates(&self) -> Updates {
        self.leadership.updates()
    }

    pub(super) fn subscribers(&self) -> MutexGuard<'_, Subscribers> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedState")
            .field("id", self.id())
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
