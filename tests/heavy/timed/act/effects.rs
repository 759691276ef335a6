//! One step of a machine, and its effects.

use std::{collections::VecDeque, sync::Arc};

use bully_core::protocol::{Effect, EffectsOf, Event, Input, InputOf, Time, To};

use super::Heard;
use crate::{
    rules::{MessageOf, Rules, Seen, position},
    timed::{
        Lab,
        world::{Armed, Content, Host, SentMessage, World, handle},
    },
};

impl<R: Rules> Lab<R> {
    /// Handles one input, and the inputs that follow from it at once.
    pub(super) fn step(
        &self,
        world: &mut World<R>,
        agent: usize,
        mut host: Host<R::Election>,
        input: InputOf<R::Election>,
        mut heard: Heard<R>,
    ) {
        let now = world.clock(agent);
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let Some(machine) = &mut host.machine else {
                break;
            };
            if let Input::Start(members) | Input::Members(members) = &input {
                host.known = Arc::clone(members);
            }
            let effects = handle(machine, now, input);
            let cause = heard.take();
            self.carry_out(world, agent, now, &mut host, effects, &cause, &mut inputs);
        }
        world.settle(agent, Some(host));
    }

    #[expect(clippy::too_many_arguments, reason = "the state of a driver")]
    fn carry_out(
        &self,
        world: &mut World<R>,
        agent: usize,
        now: Time,
        host: &mut Host<R::Election>,
        mut effects: EffectsOf<R::Election>,
        heard: &Heard<R>,
        inputs: &mut VecDeque<InputOf<R::Election>>,
    ) {
        let mut has_spoken = false;
        host.unwritten = None;
        for effect in effects.drain() {
            if let Some(answers) = self.rules.shortcut(world.now, &effect) {
                inputs.extend(answers);
                continue;
            }
            let seen = Seen {
                agent,
                incarnation: host.incarnation,
                heard: heard.as_ref().map(|(from, message, _)| (*from, &**message)),
                heard_of: heard.as_ref().map_or(host.incarnation, |heard| heard.2),
                disk: host.disk.as_ref(),
                effect: &effect,
            };
            self.rules.note(&mut world.ledger, &seen);
            match effect {
                Effect::Persist(record) => {
                    let before = host.disk.replace(record);
                    if has_spoken && world.left.crashes > 0 {
                        host.unwritten = Some(before);
                    }
                }
                Effect::SetTimer { timer, after } => {
                    host.timers.retain(|armed| armed.timer != timer);
                    let (from, to) = (now.after(after.min), now.after(after.max));
                    host.timers.push(Armed { timer, from, to });
                    host.timers.sort_unstable_by_key(|armed| armed.timer);
                }
                Effect::CancelTimer(timer) => host.timers.retain(|armed| armed.timer != timer),
                Effect::Send { to, message } => {
                    has_spoken = true;
                    host.unwritten = None; // the message was sent after the record, and depends on it
                    self.post(world, agent, host, &to, Arc::new(message));
                }
                // A leader's work takes no time in a model.
                Effect::Notify(Event::Draining { .. }) => inputs.push_back(Input::Drained),
                // A model has no store beside the world: a register is a member of it.
                Effect::Notify(_) | Effect::Ask(_) => {}
            }
        }
    }

    fn post(
        &self,
        world: &mut World<R>,
        from: usize,
        host: &Host<R::Election>,
        to: &To,
        message: Arc<MessageOf<R>>,
    ) {
        let mut add = |to| {
            let is_gone = self.is_final(world) && world.is_dead(to);
            // Notices and copies need no room of a link.
            let is_said = |sent: &&SentMessage<_>| sent.content != Content::Notice && !sent.is_copy;
            let is_full = world.wire.iter().filter(is_said).count() >= self.bounds.wire;
            if is_gone || is_full && !self.rules.is_call(&message) {
                return;
            }
            world.wire.push(SentMessage {
                from,
                to,
                incarnation: host.incarnation,
                age: 0,
                is_copy: false,
                content: Content::Said(Arc::clone(&message)),
            });
        };
        match to {
            To::One(id) => add(position(id)),
            To::All => (0..self.bounds.n).filter(|to| *to != from).for_each(add),
            To::Set(ids) => ids.iter().for_each(|id| add(position(id))),
        }
    }
}
