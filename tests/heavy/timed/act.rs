//! Carries out one thing that happens: the same duties that any driver of a machine has.

use std::{collections::VecDeque, sync::Arc};

use actix_bully::protocol::{Effect, EffectsOf, Election, Input, InputOf, Members, Time, To};

use super::{
    Action, Crash, Lab,
    world::{Armed, Content, Host, Letter, World, handle},
};

use crate::rules::{MessageOf, Rules, Seen, name, place};

/// Who was heard, and what it said.
type Heard<R> = Option<(usize, Arc<MessageOf<R>>)>;

impl<R: Rules> Lab<R> {
    pub(super) fn act(&self, world: &mut World<R>, action: &Action) {
        match action {
            Action::Deliver(at) => self.deliver(world, *at),
            Action::Lose(at) => drop(world.wire.remove(*at)),
            Action::Fire(who, place) => {
                let mut host = Host::clone(&world.nodes[*who].host);
                let armed = host.timers.remove(*place);
                world.await_time(*who, armed.from);
                self.step(world, *who, host, Input::TimedOut(armed.timer), None);
            }
            Action::Tick(slow) => self.tick(world, *slow),
            Action::Crash(who) => self.crash(world, *who),
            Action::Restart(who, missed) => self.restart(world, *who, *missed),
            Action::Wish(who) => {
                world.left.wishers[*who] = false;
                world.left.wishes -= 1;
                world.stirred = true;
                self.tell(world, *who, Input::Campaign);
            }
            Action::StepDown(who) => {
                world.left.resigns -= 1;
                self.tell(world, *who, Input::StepDown { to: None });
                self.tell(world, *who, Input::Drained);
            }
            Action::SetScore(at) => {
                let (who, score) = world.left.scores.remove(*at);
                world.scores[who] = Some(score.into());
                self.tell(world, who, Input::SetScore(world.scores[who]));
            }
            Action::Doubt(who) => {
                world.left.doubts -= 1;
                let incarnation = world.nodes[*who].host.incarnation;
                self.report(world, *who, |m| m.suspect(&name(*who), incarnation));
            }
        }
    }

    /// The first or the next life of `who`, among the members as they are.
    pub(super) fn begin(&self, world: &mut World<R>, who: usize) {
        let mut host = Host::clone(&world.nodes[who].host);
        let identity = world.identity(who, world.scores[who]);
        host.incarnation = identity.incarnation;
        let config = self.rules.config_of(who, host.incarnation);
        host.machine = Some(R::Election::new(identity, config, host.disk.clone()));
        let start = Input::Start(Arc::clone(&world.members));
        self.step(world, who, host, start, None);
        for input in self.rules.taught(who) {
            self.tell(world, who, input);
        }
    }

    fn deliver(&self, world: &mut World<R>, at: usize) {
        let letter = world.wire.remove(at);
        let heard = match &letter.content {
            Content::Said(message) => Some((letter.from, Arc::clone(message))),
            Content::Members => None,
        };
        let host = Host::clone(&world.nodes[letter.to].host);
        let input = self.opened(world, &letter);
        if let Input::Received {
            from, incarnation, ..
        } = &input
        {
            let admitted = host.known.admit(&name(letter.to), from, *incarnation);
            if admitted.is_err() {
                return; // rule 7 of the driver's contract
            }
        }
        self.step(world, letter.to, host, input, heard);
    }

    fn tick(&self, world: &mut World<R>, slow: Option<usize>) {
        world.now += 1;
        if slow.is_some() {
            world.left.slow -= 1;
        }
        for who in (0..self.bounds.n).filter(|who| Some(*who) != slow) {
            world.nodes[who].clock += 1;
            world.settle(who, None);
        }
        if let Some(delay) = self.bounds.delay {
            let mut wire = std::mem::take(&mut world.wire);
            let may_live = !self.is_final(world);
            wire.retain(|letter| world.lives(letter.to) || may_live && letter.age < delay);
            wire.iter_mut().for_each(|letter| letter.age += 1);
            world.wire = wire;
        }
    }

    fn crash(&self, world: &mut World<R>, who: usize) {
        world.left.crashes -= 1;
        let mut host = Host::clone(&world.nodes[who].host);
        let ended = host.incarnation;
        host.machine = None;
        host.timers.clear();
        if self.bounds.crash == Crash::Forgetful {
            host.disk = None;
        }
        world.settle(who, Some(host));
        if self.is_final(world) {
            world.wire.retain(|letter| letter.to != who);
        }
        match self.bounds.crash {
            Crash::Told => self.report(world, who, |m| m.down(&name(who), ended)),
            Crash::Unseen | Crash::Forgetful => self.begin(world, who),
            Crash::Reported => {
                self.report(world, who, |m| {
                    m.down(&name(who), ended) && m.up(&name(who), ended.next())
                });
                self.begin(world, who);
            }
        }
    }

    /// Whether who is down will stay so: then nothing is sent there.
    fn is_final(&self, world: &World<R>) -> bool {
        let last = self
            .bounds
            .return_within
            .as_ref()
            .map(|within| *within.end());
        self.bounds.crash == Crash::Told && last.is_none_or(|last| last < world.now)
    }

    fn restart(&self, world: &mut World<R>, who: usize, missed: u32) {
        let mut nth = 0;
        world.wire.retain(|letter| {
            let is_missed = letter.to == who && missed & (1 << nth) != 0;
            nth += u32::from(letter.to == who);
            !is_missed
        });
        let next = world.nodes[who].host.incarnation.next();
        world.stirred = true;
        self.report(world, who, |m| m.up(&name(who), next));
        self.begin(world, who);
    }

    /// The supervisors know something about `who`; word of it is on its way to the others.
    fn report(&self, world: &mut World<R>, who: usize, change: impl FnOnce(&mut Members) -> bool) {
        let mut members = Members::clone(&world.members);
        change(&mut members);
        world.change_members(members);
        let incarnation = world.nodes[who].host.incarnation;
        let hears = |to: &usize| *to != who && !(self.is_final(world) && world.is_dead(*to));
        let others: Vec<usize> = (0..self.bounds.n).filter(hears).collect();
        let others = others.into_iter();
        world.wire.extend(others.map(|to| Letter {
            from: who,
            to,
            incarnation,
            age: 0,
            content: Content::Members,
        }));
    }

    fn tell(&self, world: &mut World<R>, who: usize, input: InputOf<R::Election>) {
        let host = Host::clone(&world.nodes[who].host);
        self.step(world, who, host, input, None);
    }

    /// One input, and what follows from it at once.
    fn step(
        &self,
        world: &mut World<R>,
        who: usize,
        mut host: Host<R::Election>,
        input: InputOf<R::Election>,
        mut heard: Heard<R>,
    ) {
        let now = self.clock(world, who);
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
            self.carry_out(world, who, now, &mut host, effects, &cause, &mut inputs);
        }
        world.settle(who, Some(host));
    }

    #[expect(clippy::too_many_arguments, reason = "what a driver has at hand")]
    fn carry_out(
        &self,
        world: &mut World<R>,
        who: usize,
        now: Time,
        host: &mut Host<R::Election>,
        mut effects: EffectsOf<R::Election>,
        heard: &Heard<R>,
        inputs: &mut VecDeque<InputOf<R::Election>>,
    ) {
        for effect in effects.drain() {
            if let Some(answers) = self.rules.shortcut(&effect) {
                inputs.extend(answers);
                continue;
            }
            let seen = Seen {
                who,
                life: host.incarnation,
                heard: heard.as_ref().map(|(from, message)| (*from, &**message)),
                disk: host.disk.as_ref(),
                effect: &effect,
            };
            self.rules.note(&mut world.books, &seen);
            match effect {
                Effect::Persist(record) => host.disk = Some(record),
                Effect::SetTimer { timer, after } => {
                    host.timers.retain(|armed| armed.timer != timer);
                    let (from, to) = (now.after(after.min), now.after(after.max));
                    host.timers.push(Armed { timer, from, to });
                    host.timers.sort_unstable_by_key(|armed| armed.timer);
                }
                Effect::CancelTimer(timer) => host.timers.retain(|armed| armed.timer != timer),
                Effect::Send { to, message } => {
                    self.post(world, who, host, &to, Arc::new(message));
                }
                Effect::Notify(_) => {}
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
            if is_gone || world.wire.len() >= self.bounds.wire {
                return;
            }
            world.wire.push(Letter {
                from,
                to,
                incarnation: host.incarnation,
                age: 0,
                content: Content::Said(Arc::clone(&message)),
            });
        };
        match to {
            To::One(id) => add(place(id)),
            To::All => (0..self.bounds.n).filter(|to| *to != from).for_each(add),
            To::Set(ids) => ids.iter().for_each(|id| add(place(id))),
        }
    }
}
