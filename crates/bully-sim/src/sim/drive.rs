//! The driver: due inputs are given to a machine, and its effects are executed in order.
//!
//! No rule of an election is decided here. This file implements the contract of [`Election`], item by item, in virtual
//! time.

use std::{mem, rc::Rc, time::Duration};

use super::{
    World,
    contract::{ContractState, TermOrder},
    node::{NodeIndex, RunningTimer, as_heard},
    situation::Situation,
    transit::{Drop, SenderState, SentMessage},
    trap::Reaction,
    world::Scheduled,
};
use crate::trace::Happening;
use bully_core::{
    driver::MembersReports as _,
    protocol::{
        After, AgentId, Birth, Effect, EffectOf, Effects, EffectsOf, Election, Event, Identity,
        Incarnation, Input, InputOf, Leader, Role, Term, Time, Unheard, View,
    },
};

/// The state that the drivers of all agents share.
#[derive(Debug)]
pub(super) struct Driver<E: Election> {
    effects: EffectsOf<E>,
    /// Range of the time by which timers fire late.
    pub(super) lateness: After,
    /// Time that the work of a leader needs to end after a step-down; `None`: the work does not end.
    pub(super) drains_in: Option<Duration>,
    /// Number of steps of machines, and the machine of the last step.
    pub(super) moves: u64,
    pub(super) last: Option<NodeIndex>,
    /// Number of times that an agent began or stopped to run, got another leader or another score, or gained or lost
    /// the leadership.
    pub(super) shifts: u64,
    /// Number of agents that lead by their published state.
    pub(super) published: usize,
    pub(super) term_order: TermOrder,
    /// The duty of a machine that was broken; `None` if no duty was broken. See `contract.rs`.
    pub(super) broken: Option<&'static str>,
}

impl<E: Election> Driver<E> {
    pub(super) fn new(lateness: After, drains_in: Option<Duration>, term_order: TermOrder) -> Self {
        Self {
            term_order,
            effects: Effects::new(),
            lateness,
            drains_in,
            moves: 0,
            last: None,
            shifts: 0,
            published: 0,
            broken: None,
        }
    }

    /// Ends an agent's published belief that it leads, if there was one.
    pub(super) fn shrinks(&mut self, belief: &mut Option<Term>) {
        self.published -= usize::from(belief.take().is_some());
    }

    fn grows(&mut self, belief: &mut Option<Term>, to: Option<Term>) {
        self.shrinks(belief);
        *belief = to;
        self.published += usize::from(to.is_some());
    }

    /// Notes that an agent begins or stops to run, gets another leader or another score, or gains or loses the
    /// leadership.
    pub(super) fn shifted(&mut self) {
        self.shifts = self.shifts.saturating_add(1);
    }
}

impl<E: Election> World<E> {
    pub(super) fn do_due(&mut self, due: Scheduled<E>) {
        match due {
            Scheduled::Message(sent) => self.receive(sent),
            Scheduled::Timer { at, timer, setting } => self.time_out(at, timer, setting),
            Scheduled::Command {
                at,
                incarnation,
                input,
            } => {
                if let Some(node) = self.nodes.get_mut(at.0) {
                    node.behind = node.behind.saturating_sub(1);
                }
                self.obey(at, incarnation, *input);
            }
            Scheduled::Written { at, incarnation } => self.on_written(at, incarnation),
            Scheduled::Probe(at) => self.probe(at),
            Scheduled::Start(at) => {
                self.to_start = self.to_start.saturating_sub(1);
                if self
                    .nodes
                    .get(at.0)
                    .is_some_and(|n| n.is_member && !n.has_started)
                {
                    self.start(at, Happening::Started);
                }
            }
            Scheduled::Update(update) => self.spread(update),
            Scheduled::Change(asking) => self.go_on_asking(*asking),
        }
    }

    /// Begins an incarnation, with the last durable record and without earlier timers.
    pub(super) fn start(&mut self, at: NodeIndex, how: Happening) {
        let Some(id) = self.transit.directory.name(at).cloned() else {
            return;
        };
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        let (incarnation, first_score) = (node.incarnation, node.first_score);
        let (store, rescored) = (
            node.store,
            mem::replace(&mut node.score, first_score) != first_score,
        );
        let known = self.registry.members.get(&id);
        let is_new = known.is_none_or(|m| !m.is_up() || m.incarnation != Some(incarnation));
        if is_new || rescored {
            self.enter(|members| {
                let is_told = members.up(&id, incarnation) | members.set_score(&id, first_score);
                is_told | members.set_store(&id, store)
            });
        }
        self.forgotten.retain(|(reader, _)| *reader != at); // because a new incarnation forgets no member
        let known = self.snapshot_for(at);
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        let birth = if how == Happening::Restarted {
            Birth::Restarted
        } else {
            Birth::Started
        };
        let identity = Identity {
            id: id.clone(),
            incarnation,
            kind: node.kind,
            score: first_score,
            birth,
            store: node.store,
        };
        (node.before, node.began) = (node.durable.clone(), self.now);
        node.machine = Some(E::new(identity, &node.config, node.durable.clone()));
        node.known = known.clone();
        node.has_started = true;
        node.role = Role::default();
        node.leader = None;
        self.driver.shifted();
        node.contract = ContractState::new(self.driver.term_order);
        self.transit.trace.happened(self.now, &id, how);
        self.feed(at, Input::Start(known.members));
        if is_new {
            self.report_return(at, how);
        }
        if rescored {
            self.report(at, super::updates::MemberChange::Score);
        }
    }

    /// Delivers a message. A message from an ended incarnation, from another epoch, or from an agent that is not a
    /// member is dropped.
    fn receive(&mut self, sent: SentMessage<E::Message>) {
        let to = sent.to;
        let Some(node) = self.nodes.get_mut(to.0) else {
            return;
        };
        if let Some(waiting) = &mut node.hanging {
            // While its receiver hangs, the message is still on its way, so it does not count as arrived.
            waiting.push(Scheduled::Message(sent));
            return;
        }
        self.transit.has_arrived(&sent);
        let names = (
            self.transit.directory.name(sent.from),
            self.transit.directory.name(to),
        );
        let (Some(from), Some(me)) = names else {
            self.transit.dropped.count(Drop::Stranger);
            return;
        };
        let admitted = node.known.members.admit(me, from, sent.incarnation);
        let refusal = match admitted {
            _ if node.machine.is_none() => Some(Drop::Absent),
            Err(Unheard::Stranger) => Some(Drop::Stranger),
            _ if node.epoch() != sent.epoch => Some(Drop::Epoch),
            Err(Unheard::Ended) => Some(Drop::Ended),
            Ok(_) => None,
        };
        let SentMessage {
            incarnation,
            message,
            ..
        } = sent;
        if let Some(why) = refusal {
            self.transit.dropped.count(why);
            self.transit
                .trace
                .dropped(self.now, from, me, &*message, why);
            return;
        }
        self.transit.trace.delivered(self.now, from, me, &*message);
        let is_new = admitted.is_ok_and(|s| !s.is_up() || s.incarnation != Some(incarnation));
        let from_id = from.clone();
        if is_new {
            self.hear_of(to, sent.from, incarnation);
        }
        self.feed(
            to,
            Input::Received {
                from: from_id,
                incarnation,
                message: Rc::unwrap_or_clone(message),
            },
        );
    }

    fn time_out(&mut self, at: NodeIndex, timer: E::Timer, setting: u64) {
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        let mut running = node.timers.iter_mut().enumerate();
        let Some((index, running)) = running.find(|(_, t)| t.queued == setting) else {
            return; // replaced, cancelled, or of a former incarnation
        };
        if running.setting != setting {
            let (fires, setting) = (running.fires, running.setting);
            (running.queued_at, running.queued) = (fires, setting);
            let moved = Scheduled::Timer { at, timer, setting };
            return self.transit.queue.push_as(fires, setting, moved);
        }
        if let Some(waiting) = &mut node.hanging {
            waiting.push(Scheduled::Timer { at, timer, setting });
            return;
        }
        node.timers.swap_remove(index);
        self.feed(at, Input::TimedOut(timer));
    }

    /// Gives a command now. The command comes after the commands that waited while the agent hung.
    pub(super) fn command(&mut self, at: NodeIndex, input: InputOf<E>) {
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        let incarnation = node.incarnation;
        if node.behind == 0 {
            return self.obey(at, incarnation, input);
        }
        node.behind += 1;
        let command = Scheduled::Command {
            at,
            incarnation,
            input: Box::new(input),
        };
        self.transit.queue.push(self.now, command);
    }

    pub(super) fn obey(&mut self, at: NodeIndex, incarnation: Incarnation, input: InputOf<E>) {
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        if node.incarnation != incarnation || !node.is_alive() {
            return;
        }
        match &mut node.hanging {
            Some(waiting) => waiting.push(Scheduled::Command {
                at,
                incarnation,
                input: Box::new(input),
            }),
            None => self.feed(at, input),
        }
    }

    /// Gives an input to an agent's machine, and executes the effects of that step.
    pub(super) fn feed(&mut self, at: NodeIndex, input: InputOf<E>) {
        let Some(me) = self.transit.directory.name(at).cloned() else {
            return;
        };
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        let Some(machine) = &mut node.machine else {
            return;
        };
        // Duty 1 of a driver (see `Election`): one reading of the clock for the whole step.
        let clock = node.clock.read(self.now);
        machine.handle(clock, input, &mut self.driver.effects);
        let view = machine.view(clock);
        self.driver.moves = self.driver.moves.saturating_add(1);
        self.driver.last = Some(at);
        if node.role != view.role {
            node.role = view.role;
            self.transit.trace.role(self.now, &me, view.role);
        }
        let old = node.published;
        if old != view.leading {
            self.driver.shrinks(&mut node.published); // duty 8 of a driver: before the first effect
        }
        let mut effects = mem::take(&mut self.driver.effects);
        let suffers = self.execute(at, &me, clock, &view, &mut effects.drain());
        self.driver.effects = effects;
        self.conclude(at, &me, &view, old, suffers);
    }

    /// Ends a step: publishes whether its agent believes that it leads. `old` is that belief before the step. If the
    /// agent waits for its record, the belief is published when the record is durable.
    pub(super) fn conclude(
        &mut self,
        at: NodeIndex,
        me: &AgentId,
        view: &View,
        old: Option<Term>,
        suffers: Option<Reaction>,
    ) {
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        let (incarnation, is_saving) = (node.incarnation, node.saving.is_some());
        if suffers != Some(Reaction::Crash) && !is_saving {
            let mut kept = node.contract.sees(view);
            let shifts = node.leader != view.leader || old != view.leading;
            if shifts {
                node.leader.clone_from(&view.leader);
                self.driver.shifted();
            }
            if node.contract.has_update() || shifts {
                let followed = ContractState::follows(me, view, &node.known.members);
                kept = kept.and(followed);
            }
            self.driver.broken = kept.err().or(self.driver.broken);
            self.driver.grows(&mut node.published, view.leading); // duty 8 of a driver: after the last effect
            node.valid_until = view.valid_until;
        }
        if is_saving {
            self.driver.shifted();
        }
        if old != view.leading {
            self.note_leader(me, incarnation, view.leading.filter(|_| !is_saving));
        }
        match suffers {
            Some(Reaction::Crash) => self.crash_at(at),
            Some(Reaction::Pause) => self.pause_at(at),
            Some(Reaction::Isolate) => self.isolate(me),
            None => {}
        }
    }

    /// Executes the effects of one step, in order, until a record needs time to become durable.
    pub(super) fn execute(
        &mut self,
        at: NodeIndex,
        me: &AgentId,
        clock: Time,
        view: &View,
        effects: &mut impl Iterator<Item = EffectOf<E>>,
    ) -> Option<Reaction> {
        let (now, transit, driver) = (self.now, &mut self.transit, &mut self.driver);
        let node = self.nodes.get_mut(at.0)?;
        let incarnation = node.incarnation;
        let sender = SenderState {
            index: at,
            incarnation,
            epoch: node.epoch(),
            situation: Situation::of(view),
        };
        let mut suffers = None;
        while let Some(effect) = effects.next() {
            match effect {
                // A world has no store. An election with a store makes the store a member, as `lease::Simulated` does.
                Effect::Ask(_) => {}
                Effect::Persist(record) if node.write_time.is_zero() => {
                    node.durable = Some(record);
                    node.note_write(Duration::ZERO);
                }
                Effect::Persist(record) => {
                    let until = now.after(node.write_time);
                    node.begin_write(record, effects.collect(), view, until);
                    let written = Scheduled::Written { at, incarnation };
                    transit.queue.push(until, written);
                    break;
                }
                Effect::Send { to, message } => {
                    let message = as_heard(message, me, node.may_be, &mut driver.broken);
                    let reaction = transit.send_to(now, sender, &node.known, &to, message);
                    suffers = reaction.or(suffers);
                    if reaction == Some(Reaction::Crash) {
                        break; // because the rest of the step is not executed
                    }
                }
                Effect::SetTimer { timer, after } => {
                    let due = clock.after(self.random.span(after));
                    let fires = node.clock.when(due);
                    let fires = fires.after(self.random.span(driver.lateness));
                    // The number is reserved even if nothing is queued now, because a moved timer must keep its
                    // position among events of equal times.
                    let setting = transit.queue.reserve();
                    if node.run_timer(RunningTimer::new(timer, due, fires, setting)) {
                        let due = Scheduled::Timer { at, timer, setting };
                        transit.queue.push_as(fires, setting, due);
                    }
                }
                Effect::CancelTimer(timer) => node.timers.retain(|t| t.timer != timer),
                Effect::Notify(event) => {
                    transit.trace.event(now, me, &event);
                    if let (Event::Draining { .. }, Some(span)) = (&event, driver.drains_in) {
                        let drained = Scheduled::Command {
                            at,
                            incarnation,
                            input: Box::new(Input::Drained),
                        };
                        transit.queue.push(now.after(span), drained);
                    }
                    // With another list of voters, other agents may lead.
                    driver.shifts += u64::from(matches!(event, Event::Voters(_)));
                    driver.broken = node.contract.hears(&event).err().or(driver.broken);
                    node.events.push((now, event));
                }
            }
        }
        suffers
    }

    /// Notes the leader for agents that start later, as a hint.
    fn note_leader(&mut self, me: &AgentId, incarnation: Incarnation, leading: Option<Term>) {
        self.enter(|members| {
            members.forget_leader(me, incarnation);
            if let Some(term) = leading {
                members.note_leader(Leader {
                    id: me.clone(),
                    incarnation,
                    term,
                });
            }
            true
        });
    }
}
