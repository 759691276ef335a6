//! Carries out one action of a model, with the duties of any driver of a machine.

mod effects;

use std::sync::Arc;

use bully_core::driver::MembersReports as _;
use bully_core::protocol::{Election, Incarnation, Input, InputOf, Members, StoreId};

use super::{
    Action, Crash, HandOver, Lab,
    world::{Content, Host, SentMessage, World},
};

use crate::rules::{MessageOf, Rules, name};

/// The agent that was heard, its message, and its incarnation.
type Heard<R> = Option<(usize, Arc<MessageOf<R>>, Incarnation)>;

impl<R: Rules> Lab<R> {
    pub(super) fn act(&self, world: &mut World<R>, action: &Action) {
        match action {
            Action::Deliver(at) => self.deliver(world, *at),
            Action::Repeat(at) => {
                let copy = world.wire[*at].clone();
                self.deliver(world, *at);
                self.repeat(world, copy);
            }
            Action::Recall(at) => {
                let copy = world.past[*at].clone();
                self.repeat(world, copy);
                self.deliver(world, world.wire.len() - 1);
            }
            Action::Lose(at) => drop(world.wire.remove(*at)),
            Action::Fire(agent, position) => self.fire(world, *agent, *position),
            Action::Call(agent, position, deaf) => {
                self.fire(world, *agent, *position);
                self.call(world, *deaf);
            }
            Action::Tick(slow) => self.tick(world, *slow),
            Action::Crash(agent) => self.crash(world, *agent),
            Action::CrashWriting(agent) => {
                self.unwrite(world, *agent);
                self.crash(world, *agent);
            }
            Action::Restart(agent, missed) => self.restart(world, *agent, *missed),
            Action::Campaign(agent) => {
                world.left.campaigners[*agent] = false;
                world.left.campaigns -= 1;
                world.stirred = true;
                self.tell(world, *agent, Input::Campaign);
            }
            Action::StepDown(agent) => {
                world.left.resigns -= 1;
                let to = self.bounds.successor.map(name);
                self.tell(world, *agent, Input::StepDown { to });
            }
            Action::SetScore(at) => {
                let (agent, score) = world.left.scores.remove(*at);
                world.scores[agent] = Some(score.into());
                self.tell(world, agent, Input::SetScore(world.scores[agent]));
            }
            Action::ChangeVoters(agent, at) => {
                let change = world.left.changes.remove(*at);
                self.tell(world, *agent, Input::ChangeVoters(Box::new(change)));
            }
            Action::Doubt(agent) => {
                world.left.doubts -= 1;
                let incarnation = world.nodes[*agent].host.incarnation;
                self.report(world, *agent, |m| m.suspect(&name(*agent), incarnation));
            }
        }
    }

    /// Begins the first or the next incarnation of `agent`, among the present members.
    pub(super) fn begin(&self, world: &mut World<R>, agent: usize) {
        let mut host = Host::clone(&world.nodes[agent].host);
        let kind = self.rules.kind(agent);
        let identity = world.identity(agent, kind, world.scores[agent]);
        host.incarnation = identity.incarnation;
        let config = self.rules.config_of(agent, host.incarnation);
        host.machine = Some(R::Election::new(identity, config, host.disk.clone()));
        let start = Input::Start(Arc::clone(&world.members));
        self.step(world, agent, host, start, None);
        for input in self.rules.taught(agent) {
            self.tell(world, agent, input);
        }
    }

    /// Adds a copy of a message that has arrived: the copy may arrive later once more.
    fn repeat(&self, world: &mut World<R>, copy: SentMessage<MessageOf<R>>) {
        world.left.repeats -= 1;
        world.wire.push(SentMessage {
            is_copy: true,
            ..copy
        });
    }

    /// Plays the time before the search begins.
    pub(super) fn play_prologue(&self, world: &mut World<R>) {
        let mut lab = self.clone();
        (lab.bounds.wire, lab.bounds.delay) = (usize::MAX, None);
        if self.bounds.prologue > 0 {
            while world.now < self.bounds.prologue {
                lab.calm(world, &mut Vec::new());
                lab.tick(world, None);
            }
            lab.calm(world, &mut Vec::new());
        }
        if let Some(how) = self.bounds.handed_over {
            lab.hand_over(world, how);
        }
    }

    /// Plays a hand-over of the leadership, and keeps its messages in `world.past`.
    fn hand_over(&self, world: &mut World<R>, how: HandOver) {
        self.calm(world, &mut Vec::new());
        let before = world.believers().next().expect("an agent leads");
        let mut said = Vec::new();
        let resigns = std::mem::replace(&mut world.left.resigns, 1);
        self.act(world, &Action::StepDown(before.0));
        if how == HandOver::Unprepared {
            world.wire.clear();
        }
        self.calm(world, &mut said);
        while world.believers().next().is_none_or(|now| now.1 == before.1) {
            self.tick(world, None);
            self.calm(world, &mut said);
        }
        world.left.resigns = resigns;
        said.retain(|sent| match &sent.content {
            Content::Said(message) => !self.rules.is_call(message),
            Content::Members | Content::Notice => false,
        });
        (world.past, world.now) = (said.into(), 0);
    }

    /// Does everything that is due now, and adds each message that arrives to `said`.
    fn calm(&self, world: &mut World<R>, said: &mut Vec<SentMessage<MessageOf<R>>>) {
        loop {
            if let Some(sent) = world.wire.first() {
                if !said.contains(sent) {
                    said.push(sent.clone());
                }
                self.act(world, &Action::Deliver(0));
                continue;
            }
            let due = |agent: usize| {
                let now = world.clock(agent);
                let timers = &world.nodes[agent].host.timers;
                let position = timers.iter().position(|armed| armed.from <= now)?;
                Some(Action::Fire(agent, position))
            };
            let Some(fire) = (0..self.bounds.n).rev().find_map(due) else {
                return;
            };
            self.act(world, &fire);
        }
    }

    fn fire(&self, world: &mut World<R>, agent: usize, position: usize) {
        let mut host = Host::clone(&world.nodes[agent].host);
        let armed = host.timers.remove(position);
        world.await_time(agent, armed.from);
        self.step(world, agent, host, Input::TimedOut(armed.timer), None);
    }

    /// Delivers the messages of a call at once; the messages to the agents in `deaf` are lost.
    fn call(&self, world: &mut World<R>, deaf: u32) {
        let is_call = |sent: &SentMessage<MessageOf<R>>| match &sent.content {
            Content::Said(message) => self.rules.is_call(message),
            Content::Members | Content::Notice => false,
        };
        world
            .wire
            .retain(|sent| !is_call(sent) || deaf & (1 << sent.to) == 0);
        while let Some(at) = world.wire.iter().position(is_call) {
            self.deliver(world, at);
        }
    }

    fn deliver(&self, world: &mut World<R>, at: usize) {
        let sent = world.wire.remove(at);
        if !self.learns(world, &sent) {
            return;
        }
        let heard = match &sent.content {
            Content::Said(message) => Some((sent.from, Arc::clone(message), sent.incarnation)),
            Content::Members | Content::Notice => None,
        };
        let host = Host::clone(&world.nodes[sent.to].host);
        let input = self.opened(world, &sent);
        if let Input::Received {
            from, incarnation, ..
        } = &input
        {
            let admitted = host.known.admit(&name(sent.to), from, *incarnation);
            if admitted.is_err() {
                return; // rule 7 of the driver's contract
            }
        }
        self.step(world, sent.to, host, input, heard);
    }

    fn tick(&self, world: &mut World<R>, slow: Option<usize>) {
        world.now += 1;
        if slow.is_some() {
            world.left.slow -= 1;
        }
        for agent in (0..self.bounds.n).filter(|agent| Some(*agent) != slow) {
            world.nodes[agent].clock += 1;
            world.settle(agent, None);
        }
        if let Some(delay) = self.bounds.delay {
            let mut wire = std::mem::take(&mut world.wire);
            let may_live = !self.is_final(world);
            wire.retain(|sent| world.is_up(sent.to) || may_live && sent.age < delay);
            wire.iter_mut().for_each(|sent| sent.age += 1);
            world.wire = wire;
        }
    }

    /// Takes the last record from the disk. The messages that were sent before the record stay sent.
    fn unwrite(&self, world: &mut World<R>, agent: usize) {
        let mut host = Host::clone(&world.nodes[agent].host);
        let Some(before) = host.unwritten.take() else {
            return;
        };
        if let Some(lost) = std::mem::replace(&mut host.disk, before) {
            let kept = host.disk.as_ref();
            self.rules.forget(&mut world.ledger, agent, kept, &lost);
        }
        world.settle(agent, Some(host));
    }

    fn crash(&self, world: &mut World<R>, agent: usize) {
        world.left.crashes -= 1;
        let mut host = Host::clone(&world.nodes[agent].host);
        let ended = host.incarnation;
        (host.machine, host.unwritten) = (None, None);
        host.timers.clear();
        if self.bounds.crash == Crash::Forgetful {
            host.disk = None;
        }
        if self.bounds.crash == Crash::Lost {
            if let Some(lost) = host.disk.take() {
                self.rules.forget(&mut world.ledger, agent, None, &lost);
            }
            host.store = Some(StoreId::new(u64::MAX));
        }
        world.settle(agent, Some(host));
        if self.is_final(world) {
            world.wire.retain(|sent| sent.to != agent);
        }
        match self.bounds.crash {
            Crash::Told => self.report(world, agent, |m| m.down(&name(agent), ended)),
            Crash::Unseen | Crash::Forgetful | Crash::Lost => self.begin(world, agent),
            Crash::Noticed => {
                self.send_notices(world, agent, ended);
                self.begin(world, agent);
            }
        }
    }

    /// Sends a notice to each other host. The notices may arrive in any order.
    fn send_notices(&self, world: &mut World<R>, agent: usize, ended: Incarnation) {
        let others = (0..self.bounds.n).filter(|to| *to != agent);
        world.wire.extend(others.map(|to| SentMessage {
            from: agent,
            to,
            incarnation: ended,
            age: 0,
            is_copy: false,
            content: Content::Notice,
        }));
    }

    /// Updates what the receiver's host knows of the sender's incarnations. Returns whether its agent gets the message.
    fn learns(&self, world: &mut World<R>, sent: &SentMessage<MessageOf<R>>) -> bool {
        if !matches!(self.bounds.crash, Crash::Noticed | Crash::Lost) {
            return true;
        }
        let mut host = Host::clone(&world.nodes[sent.to].host);
        let mut known = Members::clone(&host.known);
        let id = name(sent.from);
        let present = known.get(&id).and_then(|member| member.incarnation);
        let is_news = match &sent.content {
            Content::Notice => known.down(&id, sent.incarnation),
            // A link names the incarnation of an agent before it carries the agent's first message.
            Content::Said(_) if present < Some(sent.incarnation) => {
                known.up(&id, sent.incarnation);
                known.set_store(&id, world.nodes[sent.from].host.store);
                host.known = Arc::new(known);
                let members = Input::Members(Arc::clone(&host.known));
                self.step(world, sent.to, host, members, None);
                return true;
            }
            Content::Said(_) | Content::Members => return true,
        };
        host.known = Arc::new(known);
        world.settle(sent.to, Some(host));
        is_news
    }

    /// Returns whether an agent that is down stays down: then no message is sent to it.
    fn is_final(&self, world: &World<R>) -> bool {
        let last = self
            .bounds
            .return_within
            .as_ref()
            .map(|within| *within.end());
        self.bounds.crash == Crash::Told && last.is_none_or(|last| last < world.now)
    }

    fn restart(&self, world: &mut World<R>, agent: usize, missed: u32) {
        let mut nth = 0;
        world.wire.retain(|sent| {
            let is_missed = sent.to == agent && missed & (1 << nth) != 0;
            nth += u32::from(sent.to == agent);
            !is_missed
        });
        let next = world.nodes[agent].host.incarnation.next();
        world.stirred = true;
        self.report(world, agent, |m| m.up(&name(agent), next));
        self.begin(world, agent);
    }

    /// Changes the members that the supervisors know, and sends the other agents an update about `agent`.
    fn report(
        &self,
        world: &mut World<R>,
        agent: usize,
        change: impl FnOnce(&mut Members) -> bool,
    ) {
        let mut members = Members::clone(&world.members);
        change(&mut members);
        world.change_members(members);
        let incarnation = world.nodes[agent].host.incarnation;
        let hears = |to: &usize| *to != agent && !(self.is_final(world) && world.is_dead(*to));
        let others: Vec<usize> = (0..self.bounds.n).filter(hears).collect();
        let others = others.into_iter();
        world.wire.extend(others.map(|to| SentMessage {
            from: agent,
            to,
            incarnation,
            age: 0,
            is_copy: false,
            content: Content::Members,
        }));
    }

    fn tell(&self, world: &mut World<R>, agent: usize, input: InputOf<R::Election>) {
        let host = Host::clone(&world.nodes[agent].host);
        self.step(world, agent, host, input, None);
    }
}
