//! The heart: one input goes into the machine, and its effects are carried out in order.
//!
//! ```text
//!            ┌── lost? published first
//!   input ─▶ machine ─▶ Persist ─▶ … waits until it is durable …
//!                       Send      ─▶ the snapshot's routes
//!                       SetTimer  ─▶ the agent's one deadline
//!                       Notify    ─▶ subscribers
//!            gained? published last ──┘
//! ```
//!
//! Decided here: that order, what follows a step (draining, leaving), and that a life which was
//! ended from outside takes no step any more. Not here: what any of it means. A steady step
//! allocates nothing.

use std::{future::poll_fn, mem, panic::resume_unwind, sync::Arc, task::Poll, time::Duration};

use actix::{ActorContext, ActorFutureExt, AsyncContext, Context, WrapFuture, clock::Instant};
use tracing::{debug, error, info, info_span};

use crate::{
    planted::{Defect, has},
    protocol::{Effect, EffectOf, Election, Event, Input, InputOf, View},
    store::{Saving, StoreError},
};

use super::{Agent, room, tenure::Loss, timers::draw};

impl<E: Election> Agent<E> {
    /// One input, and all that follows from it.
    pub(super) fn step(&mut self, input: InputOf<E>, ctx: &mut Context<Self>) {
        if !matches!(self.progress, Progress::Free) {
            return; // it has ended: mail and timers wait for a record by themselves
        }
        let _span = info_span!("bully.agent", node = %self.spec.id).entered();
        // The time before the question: what a life promises from here on counts from a moment at
        // which no other one could have begun.
        let now = self.belief.now();
        if !self.is_present(ctx) {
            return;
        }
        let mut out = room::take::<E>();
        self.machine.handle(now, input, &mut out);

        let view = self.machine.view(now);
        let loss = loss::<E>(out.as_slice());
        if !has(Defect::RevokedLast) {
            self.belief.shrink(self.incarnation, &view, loss);
        }
        self.carry_out(&mut out.drain(), &view, ctx);
        if has(Defect::RevokedLast) {
            self.belief.shrink(self.incarnation, &view, loss);
        }
        room::put::<E>(out);
        self.look_after(&view, ctx);
    }

    /// Whether this life goes on. `leave` may have given it up from another thread while it hung,
    /// and its name may have a new holder: then it says, keeps and believes nothing any more.
    pub(super) fn is_present(&mut self, ctx: &mut Context<Self>) -> bool {
        let is_present = self.belief.is_present(self.incarnation) || has(Defect::EndedSteps);
        if !is_present {
            self.stop(ctx);
        }
        is_present
    }

    /// Carries out what is to be done, up to a record that is not durable yet.
    fn carry_out(
        &mut self,
        effects: &mut dyn Iterator<Item = EffectOf<E>>,
        view: &View,
        ctx: &mut Context<Self>,
    ) {
        while let Some(effect) = effects.next() {
            let leaves = matches!(effect, Effect::Persist(_) | Effect::Send { .. });
            if leaves && !self.is_present(ctx) {
                return;
            }
            match effect {
                Effect::Persist(record) => {
                    if let Some(store) = &self.spec.store {
                        let saving = store.save(self.generation, record);
                        if has(Defect::SendsBeforeRecord) {
                            self.hold(Vec::new(), saving, ctx);
                            continue;
                        }
                        return self.hold(effects.collect(), saving, ctx);
                    }
                }
                Effect::Send { to, message } => {
                    if let Some(snapshot) = &self.snapshot {
                        snapshot.deliver(&self.spec.id, self.incarnation, &to, message);
                    }
                }
                Effect::SetTimer { timer, after } => {
                    let at = Instant::now().checked_add(draw(after, &mut self.rng));
                    match at {
                        Some(at) => self.timers.set(timer, at),
                        None => self.timers.cancel(timer), // beyond the end of time
                    }
                }
                Effect::CancelTimer(timer) => self.timers.cancel(timer),
                Effect::Notify(event) => self.tell(&event),
            }
        }
        self.belief.grow(self.incarnation, view);
        self.belief.have_watched(view);
        self.rearm(ctx);
    }

    /// The rest of the step waits for the record, and so does everything else.
    fn hold(&mut self, effects: Vec<EffectOf<E>>, mut saving: Saving, ctx: &mut Context<Self>) {
        self.progress = Progress::Saving(effects);
        // Asked at each turn: a record that waited while its life was ended is not written.
        let (belief, life) = (Arc::clone(&self.belief), self.incarnation);
        let saving = poll_fn(move |task| {
            if belief.is_present(life) || has(Defect::EndedSaves) {
                saving.as_mut().poll(task).map(Some)
            } else {
                Poll::Ready(None)
            }
        });
        let saved = |saved: Option<_>, agent: &mut Self, ctx: &mut Context<Self>| match saved {
            Some(saved) => agent.saved(saved, ctx),
            None => agent.stop(ctx),
        };
        ctx.wait(saving.into_actor(self).map(saved));
    }

    fn saved(&mut self, saved: Result<(), StoreError>, ctx: &mut Context<Self>) {
        let _span = info_span!("bully.agent", node = %self.spec.id).entered();
        let Progress::Saving(effects) = mem::replace(&mut self.progress, Progress::Free) else {
            return;
        };
        if !self.is_present(ctx) {
            return;
        }
        if let Err(reason) = saved {
            return self.unsaved(&reason, ctx);
        }
        if !mem::replace(&mut self.has_saved, true) {
            self.spec.group.note_record(&self.spec.id);
        }
        let view = self.machine.view(self.belief.now());
        self.carry_out(&mut effects.into_iter(), &view, ctx);
        self.look_after(&view, ctx);
    }

    /// The machine has gone on to what is not durable, so this life ends in any case. Where the disk
    /// is full the record before it is there, and room may be made: that is a crash, and the restart
    /// policy says how often, and after how long, another life tries. Anything else is for good.
    fn unsaved(&mut self, reason: &StoreError, ctx: &mut Context<Self>) {
        if reason.is_full() {
            error!(%reason, "record not durable, the disk is full: the agent starts anew");
            resume_unwind(Box::new("the disk of the record is full"));
        }
        error!(%reason, "record not durable: the agent stops");
        self.stop(ctx);
    }

    /// Tells the application, and keeps in mind what it has to answer.
    fn tell(&mut self, event: &Event) {
        match event {
            Event::Draining { term, .. } => {
                self.drain = Drain::Asked;
                self.belief.drain(self.incarnation);
                info!(%term, "leader drains");
            }
            Event::Acquired { term } => {
                self.drain = Drain::No;
                info!(%term, "leadership acquired");
            }
            Event::Lost { term, reason } => {
                self.drain = Drain::No;
                info!(%term, %reason, "leadership lost");
            }
            Event::Renewed { term } => debug!(%term, "leadership renewed"),
            Event::NewLeader(leader) => {
                debug!(leader = %leader.id, term = %leader.term, "leader followed");
            }
            Event::NoLeader { term } => debug!(%term, "leader gone"),
        }
        self.belief.tell(self.incarnation, event);
    }

    /// After a step: a hand-over waits only for those who work, and one who leaves may go.
    pub(super) fn look_after(&mut self, view: &View, ctx: &mut Context<Self>) {
        if !matches!(self.progress, Progress::Free) {
            return;
        }
        if self.drain == Drain::Asked && self.belief.is_drained() {
            self.drain = Drain::Done;
            return self.step(Input::Drained, ctx);
        }
        if self.drain == Drain::Asked && !self.looks {
            self.looks = true;
            ctx.run_later(LOOK, Self::look_for_stopped);
        }
        if self.stay == Stay::Leaving && view.leading.is_none() {
            self.stop(ctx);
        }
    }

    /// A subscriber that stopped has no work, and nobody says so.
    fn look_for_stopped(&mut self, ctx: &mut Context<Self>) {
        self.looks = false;
        if self.drain == Drain::Asked {
            self.belief.audience().forget_stopped();
            let view = self.machine.view(self.belief.now());
            self.look_after(&view, ctx);
        }
    }

    /// Ends this life; nothing of it leaves any more.
    pub(crate) fn stop(&mut self, ctx: &mut Context<Self>) {
        self.progress = Progress::Stopped;
        ctx.stop();
    }

    /// The deadline of the first timer was reached.
    pub(super) fn on_deadline(&mut self, ctx: &mut Context<Self>) {
        let now = Instant::now();
        // Only those that are due now: a timer that is set again and again waits for its turn.
        for _ in 0..self.timers.due(now) {
            if !matches!(self.progress, Progress::Free) {
                return; // the others stay due
            }
            let Some(timer) = self.timers.pop_due(now) else {
                break;
            };
            self.step(Input::TimedOut(timer), ctx);
        }
        self.rearm(ctx);
    }

    fn rearm(&self, ctx: &Context<Self>) {
        match self.timers.next() {
            Some(at) if self.deadline.get() == Some(at) => {}
            Some(at) => self.deadline.set_in(ctx, at),
            None => self.deadline.clear(),
        }
    }
}

/// How often a hand-over that waits looks for subscribers that have stopped.
const LOOK: Duration = Duration::from_millis(10);

/// Whether a step may begin.
#[derive(Debug)]
pub(super) enum Progress<E: Election> {
    Free,
    /// A record is on its way to the store; this is the rest of the step.
    Saving(Vec<EffectOf<E>>),
    /// This life has ended.
    Stopped,
}

/// How far a hand-over is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drain {
    No,
    /// The work has to end.
    Asked,
    /// The machine was told that it has ended.
    Done,
}

/// Whether the agent was asked to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    Staying,
    Leaving,
}

/// A leadership that is lost and won again in one step is withdrawn in between.
fn loss<E: Election>(effects: &[EffectOf<E>]) -> Loss {
    let lost = |effect: &EffectOf<E>| matches!(effect, Effect::Notify(Event::Lost { .. }));
    if effects.iter().any(lost) {
        Loss::Withdrawn
    } else {
        Loss::None
    }
}
