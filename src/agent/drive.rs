//! One step of an agent: one input goes into the machine, and its effects are carried out in order.
//!
//! ```text
//!            ┌── lost? published first
//!   input ─▶ machine ─▶ Persist ─▶ … waits until it is durable …
//!                       Send      ─▶ the snapshot's routes
//!                       Ask       ─▶ the store of a lease
//!                       SetTimer  ─▶ the agent's one deadline
//!                       Notify    ─▶ subscribers
//!            gained? published last ──┘
//! ```
//!
//! Decided here: the order of a step, the actions after a step (draining, leaving), and that an incarnation takes no
//! more steps once another thread has ended it. Not here: the meaning of inputs and effects. A step in a stable group
//! allocates nothing.

use std::{mem, sync::Arc, time::Duration};

use actix::{ActorContext, ActorFutureExt, AsyncContext, Context, clock::Instant};
use tracing::error;

use crate::{
    protocol::{Effect, EffectOf, Election, Event, Input, InputOf, Timings, To, View},
    store::StoreError,
};

use super::{Agent, pool, saving::RecordWait, timers::draw, vacancy::Published};

impl<E: Election> Agent<E> {
    /// Handles one input, and carries out all its effects.
    pub(super) fn step(&mut self, input: InputOf<E>, ctx: &mut Context<Self>) {
        if !matches!(self.readiness, Readiness::Free) {
            return; // the incarnation has ended; messages and timers wait for a record by themselves
        }
        let span = self.shared.span().entered();
        // The clock is read before this incarnation is checked to be the present one. So a promise that this step makes
        // counts from a moment at which no later incarnation had begun.
        let now = self.shared.now();
        if !self.is_present(ctx) {
            return;
        }
        self.shared.vitals().note_step(now);
        self.shared.sample(now);
        let mut out = pool::take::<E>();
        self.machine.handle(now, input, &mut out);

        let view = self.view(now);
        // If a step loses a leadership and wins it again, the lost one is withdrawn before the new one is published.
        let lost = |effect: &_| matches!(effect, Effect::Notify(Event::Lost { .. }));
        let kept = (!out.as_slice().iter().any(lost)).then_some(&view);
        self.shared.shrink(self.incarnation, kept);
        self.carry_out(&mut out.drain(), &view, ctx);
        pool::put::<E>(out);
        drop(span); // the follow-up may be another step, with a span of its own
        self.follow_up(&view, ctx);
    }

    /// Returns whether this incarnation goes on. Another thread may have ended the incarnation by `leave` while it
    /// hung, and a new agent may have its name. Then this incarnation sends nothing, stores nothing and does not lead
    /// any more.
    pub(super) fn is_present(&mut self, ctx: &mut Context<Self>) -> bool {
        let is_present = self.shared.is_present(self.incarnation);
        if !is_present {
            self.stop(ctx);
        }
        is_present
    }

    /// Carries out the effects in order, until an effect is a record that has to become durable first.
    fn carry_out(
        &mut self,
        effects: &mut dyn Iterator<Item = EffectOf<E>>,
        view: &View,
        ctx: &mut Context<Self>,
    ) {
        while let Some(effect) = effects.next() {
            // Timers and events need no check: no other agent sees a timer, and subscribers get no events of an ended
            // incarnation.
            let is_seen_outside = matches!(
                effect,
                Effect::Persist(_) | Effect::Send { .. } | Effect::Ask(_)
            );
            // The incarnation is checked before each effect: another thread may end it in the middle of a step.
            if is_seen_outside && !self.is_present(ctx) {
                return;
            }
            match effect {
                Effect::Persist(record) => {
                    if self.store.is_some() {
                        self.begin_vacancy(view);
                        return self.save(effects.collect(), record, ctx);
                    }
                }
                Effect::Send { to, message } => self.send(&to, message),
                Effect::Ask(question) => {
                    if let Some(asked) = &self.spec.asked {
                        let answers = ctx.address().recipient();
                        Arc::clone(asked).ask(self.spec.id.clone(), question, answers);
                    }
                }
                Effect::SetTimer { timer, after } => {
                    let at = Instant::now().checked_add(draw(after, &mut self.rng));
                    match at {
                        Some(at) => self.timers.set(timer, at),
                        None => self.timers.cancel(timer), // later than any instant
                    }
                }
                Effect::CancelTimer(timer) => self.timers.cancel(timer),
                Effect::Notify(event) => {
                    if matches!(event, Event::Acquired { .. }) {
                        self.look_at_epochs_later(ctx);
                    }
                    self.tell(&event);
                    if event.ends_agent() {
                        return self.stop(ctx);
                    }
                }
            }
        }
        self.shared.grow(self.incarnation, view);
        if self.drain == Drain::Asked {
            // An agent may win a leadership and be asked to hand it over in one and the same step. The hand-over is
            // published after the leadership.
            self.shared.drain(self.incarnation);
        }
        self.shared.tell_of_expiry(view);
        self.watch_vacancy(view);
        self.rearm(ctx);
    }

    fn send(&self, to: &To, message: E::Message) {
        if let Some(snapshot) = &self.snapshot {
            let record = self.shared.record();
            if record.is_on() {
                let (now, id) = (self.shared.now(), &self.spec.id);
                record.sent(now, id, to, snapshot.members(), &message);
            }
            snapshot.deliver(&self.spec.id, self.incarnation, to, message);
        }
    }

    /// Saves a record. The rest of the step and all other work of the agent wait for it.
    fn save(&mut self, effects: Vec<EffectOf<E>>, record: E::Durable, ctx: &mut Context<Self>) {
        self.readiness = Readiness::Saving(effects);
        let saved = |saved: Option<_>, agent: &mut Self, ctx: &mut Context<Self>| match saved {
            Some(saved) => agent.saved(saved, ctx),
            None => agent.stop(ctx),
        };
        ctx.wait(RecordWait::new(record, self).map(saved));
    }

    fn saved(&mut self, saved: Result<(), StoreError>, ctx: &mut Context<Self>) {
        let span = self.shared.span().entered();
        let Readiness::Saving(effects) = mem::replace(&mut self.readiness, Readiness::Free) else {
            return;
        };
        self.has_waited = true;
        if !self.is_present(ctx) {
            return;
        }
        let failure = saved.as_ref().err().map(StoreError::to_string);
        let took = self.shared.vitals().note_saved(failure, self.shared.now());
        if let Err(reason) = saved {
            // The machine is already in the state after this step, and that state cannot become durable.
            error!(%reason, "record not durable: the agent stops");
            return self.stop(ctx);
        }
        self.machine.note_write(took);
        // The record is noted once for each incarnation: otherwise every save would take the group's lock.
        if !mem::replace(&mut self.has_saved, true) {
            self.spec.group.note_record(&self.spec.id);
        }
        // The view is taken by the clock as it is now: the lease may have run out while the disk was busy.
        let view = self.view(self.shared.now());
        self.carry_out(&mut effects.into_iter(), &view, ctx);
        drop(span);
        self.follow_up(&view, ctx);
    }

    /// Reports an event to the application, and notes whether the work of the leader has to end.
    fn tell(&mut self, event: &Event) {
        match event {
            Event::Draining { .. } => {
                self.drain = Drain::Asked;
                self.shared.drain(self.incarnation);
            }
            Event::Acquired { .. } | Event::Lost { .. } => self.drain = Drain::No,
            Event::Voters(event) => self.on_voters(event),
            // `_`: a later `bully-core` may have more variants; `tests/layering` reports the variants that are missing
            // here.
            Event::Renewed { .. } | Event::NewLeader(_) | Event::NoLeader { .. } | _ => {}
        }
        let is_of_end = matches!(
            event,
            Event::NoLeader { .. } | Event::NewLeader(_) | Event::Lost { .. }
        );
        if is_of_end && let Some((leader, end)) = self.machine.last_end() {
            self.shared.note_last_end(event, leader, end);
            self.published = Published::Other; // the time without a leader is published with this step
        }
        self.shared.note_leadership(self.incarnation, event);
        self.shared.tell(self.incarnation, event);
    }

    /// Continues a hand-over that waited for work which has ended, and stops an agent that leaves. The agent calls this
    /// after each step.
    pub(super) fn follow_up(&mut self, view: &View, ctx: &mut Context<Self>) {
        if !matches!(self.readiness, Readiness::Free) {
            return;
        }
        if self.drain == Drain::Asked && self.shared.is_drained() {
            // `drain` is set before the step, which calls `follow_up` again: the machine must get `Drained` only once.
            self.drain = Drain::Done;
            return self.step(Input::Drained, ctx);
        }
        if self.drain == Drain::Asked && !self.scan_is_due {
            self.scan_is_due = true;
            ctx.run_later(SCAN, Self::scan_for_stopped);
        }
        if view.leading.is_none() {
            self.go_if_asked(ctx);
        }
        self.probe_disk(ctx);
    }

    /// Stops an agent that leaves, once it no longer leads and the other agents know that it has released its lease:
    /// agents that do not know this wait until the lease runs out. The agent waits for them no longer than a lease can
    /// last.
    fn go_if_asked(&mut self, ctx: &mut Context<Self>) {
        match self.leaving {
            LeaveRequest::Asked | LeaveRequest::Released if !self.machine.is_releasing() => {
                self.stop(ctx);
            }
            LeaveRequest::Asked => {
                self.leaving = LeaveRequest::Released;
                let longest = E::timings(&self.spec.config).map(Timings::promise);
                ctx.run_later(longest.unwrap_or_default(), Self::stop);
            }
            LeaveRequest::No | LeaveRequest::Released => {}
        }
    }

    /// Removes the subscribers that have stopped: a subscriber that stops sends no message, so the agent scans.
    fn scan_for_stopped(&mut self, ctx: &mut Context<Self>) {
        self.scan_is_due = false;
        if self.drain == Drain::Asked {
            self.shared.subscribers().forget_stopped();
            let view = self.machine.view(self.shared.now());
            self.follow_up(&view, ctx);
        }
    }

    /// Ends this incarnation: it sends and stores nothing any more.
    pub(crate) fn stop(&mut self, ctx: &mut Context<Self>) {
        self.readiness = Readiness::Stopped;
        ctx.stop();
    }

    /// Handles the timers that are due, when the deadline of the first timer is reached.
    pub(super) fn on_deadline(&mut self, ctx: &mut Context<Self>) {
        let now = Instant::now();
        self.note_lateness(now);
        // Handles only the timers that are due now: a timer that is set again and again must not delay the other
        // timers.
        for _ in 0..self.timers.due(now) {
            if !matches!(self.readiness, Readiness::Free) {
                return; // the other timers stay due
            }
            let Some(timer) = self.timers.pop_due(now) else {
                break;
            };
            self.step(Input::TimedOut(timer), ctx);
        }
        self.warn_of_vacancy(now);
        self.rearm(ctx);
    }

    /// Notes the delay of the timers, unless they are late because the agent waited for a record.
    fn note_lateness(&mut self, now: Instant) {
        let has_waited = mem::replace(&mut self.has_waited, false);
        if let Some(due) = self.next_due().filter(|_| !has_waited) {
            let shared = &self.shared;
            let late = now.saturating_duration_since(due);
            shared.vitals().note_lateness(late, || shared.now());
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let due = [self.timers.next(), self.vacancy_due()];
        due.into_iter().flatten().min()
    }

    fn rearm(&self, ctx: &Context<Self>) {
        match self.next_due() {
            // A deadline that is already set is not set again, because that could wake the task without need.
            Some(at) if self.deadline.get() == Some(at) => {}
            Some(at) => self.deadline.set_in(ctx, at),
            None => self.deadline.clear(),
        }
    }
}

/// Time between two scans for stopped subscribers, while a hand-over waits. The exact length does not matter.
const SCAN: Duration = Duration::from_millis(10);

/// Whether a step may begin.
#[derive(Debug)]
pub(super) enum Readiness<E: Election> {
    Free,
    /// A record is being saved. The value has the remaining effects of the step.
    Saving(Vec<EffectOf<E>>),
    /// This incarnation has ended.
    Stopped,
}

/// Progress of a hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drain {
    No,
    /// The work has to end.
    Asked,
    /// The machine has received `Drained`: the work has ended.
    Done,
}

/// Whether the agent was asked to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaveRequest {
    No,
    Asked,
    /// The agent does not lead any more, and waits until the other agents know that its lease is released.
    Released,
}
