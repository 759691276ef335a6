//! A schedule under one leadership, as the work of a leader.
//!
//! Decided here: how the machine is driven; a panic of the user's work is contained and never ends the leadership. Not
//! here: any decision (`machine/`), and the rule that nothing is polled after the leadership (`agent/lead.rs`).

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    future::poll_fn,
    ops::ControlFlow,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use actix::clock::sleep;
use futures::future::{Either, LocalBoxFuture, OptionFuture, select};
use tokio::sync::Notify;
use tracing::{debug, error, warn};

use crate::{
    agent::{
        LeaderGuard, ScheduleFinding,
        schedules::{ScheduleState, StatusRecord},
    },
    clock::WallTime,
    protocol::AgentId,
    supervisor::contain,
};

use super::{
    clock_watch::{HandOver, WatchedClock},
    feed::DueStream,
    interface::{DueTick, Now, Rule, ScheduleEffect, ScheduleInput, TickFailed},
    machine::ScheduleMachine,
    message::{LeaderNumber, MarkRefusal},
    register::AHEAD,
    routes::AnswerOf,
    service::{LeaderQuestions, ScheduleService},
    tick::Tick,
    trouble::{Failing, Silence},
};

/// The user's work: called for each tick.
pub(super) type TickWork = Box<dyn FnMut(Tick) -> LocalBoxFuture<'static, Result<(), TickFailed>>>;

/// The parts of a schedule that stay through all leaderships.
pub(super) struct Schedule {
    pub(super) rule: Rule,
    /// The due times of the stream, if the schedule has no rule.
    pub(super) stream: Option<Arc<DueStream>>,
    pub(super) work: RefCell<TickWork>,
    pub(super) service: Arc<ScheduleService>,
    pub(super) record: Arc<StatusRecord>,
    pub(super) hand_over: HandOver,
    /// The due time of the last log line about a mark ahead of the clock, so that each mark is logged once.
    pub(super) told_ahead: Cell<Option<WallTime>>,
}

/// The schedule under one leadership.
struct ScheduleTenure<'a> {
    schedule: &'a Schedule,
    leader: LeaderGuard,
    watched: &'a WatchedClock,
    machine: ScheduleMachine<'a>,
    questions: LeaderQuestions,
    /// Agents that refused a mark because they keep too many.
    full: BTreeSet<AgentId>,
    /// Whether the mark was compared with the clock, which is done once the group has acknowledged the leader.
    is_compared: bool,
    /// The finding about the mark, while the mark is ahead of the clock.
    ahead: Option<ScheduleFinding>,
    /// The agents that were reported because they do not acknowledge this leader.
    silence: Option<Silence>,
    /// The failures that were reported, while the last tick has failed.
    failing: Option<Failing>,
    /// The work of the running tick.
    running: Option<LocalBoxFuture<'static, Result<(), TickFailed>>>,
}

/// A guard that notes, when it is dropped, that the leadership has ended.
struct Resting<'a>(&'a Schedule);

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        self.0.record.rest(ScheduleState::Following);
        self.0.service.note(&self.0.rule.name, None);
        if let Some(stream) = &self.0.stream {
            stream.follow();
        }
    }
}

impl Schedule {
    /// Runs due ticks until the agent has to hand over, while its clock can be trusted.
    pub(super) async fn lead(&self, leader: LeaderGuard) {
        let _resting = Resting(self);
        let watched = self.service.clock_watch().watch(&self.hand_over);
        loop {
            self.record.rest(ScheduleState::Asking);
            let (hands_over, trusted) = (leader.stepping_down(), watched.trusted());
            if let Either::Left(_) = select(pin!(hands_over), pin!(trusted)).await {
                return;
            }
            if self.tenure(leader.clone(), &watched).run().await == TenureEnd::HandsOver {
                return;
            }
        }
    }

    fn tenure<'a>(&'a self, leader: LeaderGuard, watched: &'a WatchedClock) -> ScheduleTenure<'a> {
        let questions = self.service.questions();
        let machine = ScheduleMachine::new(
            &self.rule,
            leader.token().node.clone(),
            ballot(&leader),
            self.service.audience(leader.token().term),
            questions.before_first(),
            *self.record.status(),
        );
        ScheduleTenure {
            schedule: self,
            leader,
            watched,
            machine,
            questions,
            full: BTreeSet::new(),
            is_compared: false,
            ahead: None,
            silence: None,
            failing: None,
            running: None,
        }
    }
}

/// Reason why a schedule has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TenureEnd {
    HandsOver,
    /// The schedule begins again in this leadership: its clock is not trusted, or its mark is read again.
    Again,
}

/// Waits until the schedule has to stop, and returns the reason.
async fn tenure_end(leader: &LeaderGuard, watched: &WatchedClock, is_ahead: &Notify) -> TenureEnd {
    let (hands_over, untrusted) = (leader.stepping_down(), watched.untrusted());
    let reads_again = async {
        is_ahead.notified().await;
        sleep(READS_AGAIN).await;
    };
    let (untrusted, reads_again) = (pin!(untrusted), pin!(reads_again));
    match select(pin!(hands_over), select(untrusted, reads_again)).await {
        Either::Left(_) => TenureEnd::HandsOver,
        Either::Right(_) => TenureEnd::Again,
    }
}

/// Time after which a mark ahead of the clock is read again.
const READS_AGAIN: Duration = Duration::from_secs(10);

/// Returns the number of a leadership. The number grows when the leadership is renewed.
fn ballot(leader: &LeaderGuard) -> LeaderNumber {
    let token = leader.token();
    LeaderNumber {
        term: token.term,
        incarnation: token.incarnation,
    }
}

impl ScheduleTenure<'_> {
    async fn run(mut self) -> TenureEnd {
        let (schedule, watched) = (self.schedule, self.watched);
        let watch = self.leader.clone();
        let is_ahead = Notify::new();
        let mut ends = pin!(tenure_end(&watch, watched, &is_ahead));
        let mut end = None;
        let mut input = ScheduleInput::Start;
        let mut effects = Vec::new();
        loop {
            watched.ensure();
            // The future is made before the clock is read, so that a change of the clock from now on is noticed.
            let set = watched.set();
            let now = watched.now();
            self.machine.handle(now, input, &mut effects);
            self.show();
            self.tell_of_mark(now, &is_ahead);
            self.tell_of_silence(now);
            self.tell_of_failures();
            for effect in effects.drain(..) {
                if self.follow(effect).is_break() {
                    return end.unwrap_or(TenureEnd::HandsOver);
                }
            }
            let wake = self.machine.wake(watched.now());
            let mut timer = pin!(OptionFuture::from(wake.map(sleep)));
            let told = schedule.stream.as_deref().map(DueStream::told);
            let mut told = pin!(OptionFuture::from(told));
            let mut set = pin!(set);
            let next = poll_fn(|task| {
                if let Some(end) = self.poll_work(task) {
                    return Poll::Ready(ScheduleInput::Ended(end));
                }
                if end.is_none()
                    && let Poll::Ready(why) = ends.as_mut().poll(task)
                {
                    end = Some(why);
                    return Poll::Ready(ScheduleInput::StepDown);
                }
                if let Poll::Ready(Some(answer)) = self.questions.answers.poll_recv(task) {
                    self.note_full(&answer);
                    let (from, answer) = answer;
                    return Poll::Ready(ScheduleInput::Answer(from, answer));
                }
                let is_told = told.as_mut().poll(task) == Poll::Ready(Some(()));
                let is_set = set.as_mut().poll(task).is_ready();
                if is_told || is_set || timer.as_mut().poll(task) == Poll::Ready(Some(())) {
                    return Poll::Ready(ScheduleInput::Look {
                        audience: schedule.service.audience(self.leader.token().term),
                        ballot: ballot(&self.leader),
                    });
                }
                Poll::Pending
            });
            input = next.await;
        }
    }

    /// Carries out an effect. Returns `Break` if the schedule has finished before a hand-over.
    fn follow(&mut self, effect: ScheduleEffect) -> ControlFlow<()> {
        match effect {
            ScheduleEffect::Ask(to, question) => self.schedule.service.ask(&to, question),
            ScheduleEffect::Run(tick) => self.begin(tick),
            ScheduleEffect::Finish => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Notes whether the agent that answered refused the mark because it keeps too many marks.
    fn note_full(&mut self, (from, answer): &AnswerOf) {
        let has_changed = if answer.outcome == Err(MarkRefusal::Full) {
            self.full.insert(from.clone())
        } else {
            self.full.remove(from)
        };
        if has_changed {
            if let Some(found) = self.marks_full() {
                warn!(schedule = %self.schedule.rule.name, "{found}");
            }
            self.note();
        }
    }

    fn marks_full(&self) -> Option<ScheduleFinding> {
        (!self.full.is_empty()).then(|| ScheduleFinding::MarksFull {
            schedule: self.schedule.rule.name.clone(),
            agents: self.full.iter().cloned().collect(),
        })
    }

    /// Reports the worst finding about the schedule: first that no tick is run, and then that each tick fails.
    fn note(&self) {
        let found = self.ahead.clone();
        let found = found.or_else(|| self.not_acknowledged());
        let found = found.or_else(|| self.tick_fails());
        let found = found.or_else(|| self.marks_full());
        let schedule = &self.schedule.rule.name;
        self.schedule.service.note(schedule, found);
    }

    fn not_acknowledged(&self) -> Option<ScheduleFinding> {
        let silence = self.silence.as_ref()?;
        // A full table is a more exact reason than a missing acknowledgement.
        self.marks_full().or_else(|| {
            Some(ScheduleFinding::NotAcknowledged {
                schedule: self.schedule.rule.name.clone(),
                since: silence.since,
                missing: silence.missing.clone(),
                early: silence.early.clone(),
            })
        })
    }

    /// Reports agents that do not acknowledge this leader, until enough agents acknowledge it. With a store nothing is
    /// reported here: the failures of a store have findings of their own.
    fn tell_of_silence(&mut self, now: Now) {
        let service = &self.schedule.service;
        let silence = self
            .machine
            .silence(now)
            .filter(|_| service.store().is_none());
        if self.silence == silence {
            return;
        }
        let is_new = self.silence.is_none();
        self.silence = silence;
        self.note();
        if is_new && let Some(found) = self.not_acknowledged() {
            warn!(schedule = %self.schedule.rule.name, "{found}");
        }
    }

    fn tick_fails(&self) -> Option<ScheduleFinding> {
        self.failing
            .as_ref()
            .map(|failing| ScheduleFinding::TickFails {
                schedule: self.schedule.rule.name.clone(),
                since: failing.since,
                times: failing.times,
                reason: failing.reason.clone(),
            })
    }

    /// Reports ticks that fail, until a tick succeeds.
    fn tell_of_failures(&mut self) {
        if self.failing.as_ref() != self.machine.failing() {
            self.failing = self.machine.failing().cloned();
            self.note();
        }
    }

    fn show(&self) {
        self.schedule.record.note(self.machine.status());
        if let Some(stream) = &self.schedule.stream {
            stream.lead(self.machine.frontier(), self.machine.is_idle());
        }
    }

    /// Reports a mark ahead of the clock, until the clock reaches the mark. Only due times later than the mark are run,
    /// so a user must learn why no tick begins. A mark in a store is read again, since an operator may remove it.
    fn tell_of_mark(&mut self, now: Now, reads_again: &Notify) {
        if !self.machine.is_established() || self.is_compared && self.ahead.is_none() {
            return;
        }
        self.is_compared = true;
        let (last, service) = (self.machine.last(), &self.schedule.service);
        let schedule = self.schedule.rule.name.clone();
        let is_ahead = last > now.wall.after(AHEAD);
        if is_ahead && service.store().is_some() {
            reads_again.notify_one();
        }
        self.ahead = is_ahead.then(|| ScheduleFinding::MarkAhead {
            schedule: schedule.clone(),
            last,
            now: now.wall,
            store: service.store().map(str::to_owned),
        });
        if let Some(found) = &self.ahead
            && self.schedule.told_ahead.replace(Some(last)) != Some(last)
        {
            warn!(%schedule, "{found}");
        }
        self.note();
    }

    fn begin(
        &mut self,
        DueTick {
            due,
            is_late,
            is_repeat,
        }: DueTick,
    ) {
        let tick = Tick {
            schedule: self.schedule.rule.name.clone(),
            due,
            is_late,
            is_repeat,
            leader: self.leader.clone(),
        };
        debug!(schedule = %tick.schedule, %due, is_late, is_repeat, "tick begins");
        let made = contain(|| (self.schedule.work.borrow_mut())(tick));
        self.running = Some(made.unwrap_or_else(|reason| {
            let failed = self.panicked(&reason);
            Box::pin(async { Err(failed) })
        }));
    }

    fn poll_work(&mut self, task: &mut Context<'_>) -> Option<Result<(), TickFailed>> {
        let running: Pin<&mut _> = self.running.as_mut()?.as_mut();
        let polled = match contain(|| running.poll(task)) {
            Ok(Poll::Pending) => return None,
            Ok(Poll::Ready(end)) => Ok(end),
            Err(reason) => Err(reason),
        };
        let ended = self.running.take();
        // Dropping the work's future may panic, also after a panic of its `poll`. This counts as a panic of the work.
        let dropped = contain(|| drop(ended));
        let end = polled.and_then(|end| dropped.map(|()| end));
        if let Ok(Err(TickFailed(reason))) = &end {
            warn!(schedule = %self.schedule.rule.name, reason, "tick failed");
        }
        Some(end.unwrap_or_else(|reason| Err(self.panicked(&reason))))
    }

    fn panicked(&self, reason: &str) -> TickFailed {
        error!(schedule = %self.schedule.rule.name, reason, "work of a tick panicked");
        TickFailed(format!("it panicked: {reason}"))
    }
}
