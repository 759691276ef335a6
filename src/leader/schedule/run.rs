//! A schedule under one leadership, as the work of a leader.
//!
//! Decided here: how the machine is driven, and that a panic of the user's work is contained and never ends the
//! leadership. Not here: any decision (`machine.rs`), and that nothing is polled after the leadership (`agent/lead.rs`).

use std::{
    cell::RefCell,
    future::poll_fn,
    ops::ControlFlow,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use actix::clock::sleep;
use futures::future::{LocalBoxFuture, OptionFuture};
use tracing::{debug, error, warn};

use crate::{
    agent::LeaderGuard,
    clock::{Clock, RuntimeClock},
    supervisor::contain,
};

use super::{
    feed::DueStream,
    handle::{ScheduleState, StatusRecord},
    interface::{DueTick, Now, Rule, ScheduleEffect, ScheduleInput, TickFailed},
    machine::ScheduleMachine,
    message::LeaderNumber,
    register::AHEAD,
    service::{LeaderQuestions, ScheduleService},
    tick::Tick,
};

/// The user's work: called for each tick.
pub(super) type TickWork = Box<dyn FnMut(Tick) -> LocalBoxFuture<'static, Result<(), TickFailed>>>;

/// What a schedule is made of, through all leaderships.
pub(super) struct Schedule {
    pub(super) rule: Rule,
    /// What the stream told, where it is no other rule.
    pub(super) stream: Option<Arc<DueStream>>,
    pub(super) work: RefCell<TickWork>,
    pub(super) service: Arc<ScheduleService>,
    pub(super) record: Arc<StatusRecord>,
}

/// The schedule under one leadership.
struct ScheduleTenure<'a> {
    schedule: &'a Schedule,
    leader: LeaderGuard,
    time: RuntimeClock,
    machine: ScheduleMachine<'a>,
    questions: LeaderQuestions,
    /// The work of the tick that runs.
    running: Option<LocalBoxFuture<'static, Result<(), TickFailed>>>,
}

/// Notes the end of a leadership, however it comes about.
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
    /// Runs what is due until the agent has to hand over.
    pub(super) async fn lead(&self, leader: LeaderGuard) {
        let _resting = Resting(self);
        let questions = self.service.questions();
        let machine = ScheduleMachine::new(
            &self.rule,
            leader.token().node.clone(),
            ballot(&leader),
            self.service.audience(leader.token().term),
            questions.before_first(),
            self.record.counts(),
        );
        let tenure = ScheduleTenure {
            schedule: self,
            leader,
            time: RuntimeClock::new(),
            machine,
            questions,
            running: None,
        };
        tenure.run().await;
    }
}

/// The number of a leadership; it grows when the leadership is renewed.
fn ballot(leader: &LeaderGuard) -> LeaderNumber {
    let token = leader.token();
    LeaderNumber {
        term: token.term,
        incarnation: token.incarnation,
    }
}

impl ScheduleTenure<'_> {
    async fn run(mut self) {
        let schedule = self.schedule;
        let watched = schedule.service.clock_watch().watch();
        let watch = self.leader.clone();
        let mut stepping_down = pin!(async move { watch.stepping_down().await });
        let mut must_hand_over = false;
        let mut was_established = false;
        let mut input = ScheduleInput::Start;
        let mut effects = Vec::new();
        loop {
            // Before the clock is read: a change of the clock from now on is noticed.
            let set = watched.set();
            let now = self.now();
            self.machine.handle(now, input, &mut effects);
            schedule.record.note(&self.machine);
            if let Some(stream) = &schedule.stream {
                stream.lead(self.machine.frontier(), self.machine.is_idle());
            }
            if self.machine.is_established() && !was_established {
                was_established = true;
                self.warn_of_clocks(now);
            }
            for effect in effects.drain(..) {
                if self.follow(effect).is_break() {
                    return;
                }
            }
            let wake = self.machine.wake(self.now());
            let mut timer = pin!(OptionFuture::from(wake.map(sleep)));
            let told = schedule.stream.as_deref().map(DueStream::told);
            let mut told = pin!(OptionFuture::from(told));
            let mut set = pin!(set);
            let next = poll_fn(|task| {
                if let Some(end) = self.poll_work(task) {
                    return Poll::Ready(ScheduleInput::Ended(end));
                }
                if !must_hand_over && stepping_down.as_mut().poll(task).is_ready() {
                    must_hand_over = true;
                    return Poll::Ready(ScheduleInput::StepDown);
                }
                if let Poll::Ready(Some(answer)) = self.questions.answers.poll_recv(task) {
                    return Poll::Ready(ScheduleInput::Answer {
                        from: answer.from,
                        round: answer.round,
                        outcome: answer.outcome,
                    });
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

    /// Breaks when nothing is left to do.
    fn follow(&mut self, effect: ScheduleEffect) -> ControlFlow<()> {
        match effect {
            ScheduleEffect::Say { to, said } => self.schedule.service.say(&to, &said),
            ScheduleEffect::Run(tick) => self.begin(tick),
            ScheduleEffect::Finish => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn now(&self) -> Now {
        Now {
            wall: self.schedule.service.clock.now(),
            time: self.time.now(),
        }
    }

    /// No due time is run that is not later than the last one: whoever waits for a tick is told why none comes.
    fn warn_of_clocks(&self, now: Now) {
        let last = self.machine.last();
        if last > now.wall.after(AHEAD) {
            let schedule = &self.schedule.rule.name;
            warn!(
                %schedule, %last, now = %now.wall,
                "schedule's last due time lies ahead of this clock: nothing is run before it"
            );
        }
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
            self.panicked(&reason);
            Box::pin(async { Err(TickFailed) })
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
        // What the work held may panic when it is dropped: that is a panic of the work as well.
        let end = polled.and_then(|end| contain(|| drop(ended)).map(|()| end));
        Some(end.unwrap_or_else(|reason| {
            self.panicked(&reason);
            Err(TickFailed)
        }))
    }

    fn panicked(&self, reason: &str) {
        error!(schedule = %self.schedule.rule.name, reason, "work of a tick panicked");
    }
}
