//! A group with clocks: a model of our own, in which time passes in ticks.
//!
//! Decided here: the actions that may come next. The machine decides its own behaviour ([`Rules`] names the machine and
//! its invariants), and `act.rs` how a step is carried out.
//!
//! ```text
//!   Deliver  a message arrives, in any order         Tick      every clock moves on, or all but one
//!   Lose     a message never arrives (not synchronous) Crash    an incarnation ends; the disk stays
//!   Fire     a timer that is due                     Restart  the next incarnation begins
//!   Campaign, SetScore, StepDown, ChangeVoters: commands of a user
//!   Doubt    an agent is suspected for nothing        Recall   a message of before the search arrives again
//!   Repeat   a message arrives, and stays
//! ```
//!
//! **A network that is a set.** Without synchrony a message arrives at any later moment, at any incarnation of its
//! receiver. At most [`Budget::repeats`] of the messages that have arrived may arrive once more. The model decides this
//! when a message first arrives: the copy takes no room on the wire, and may never arrive.
//!
//! **Synchrony** ([`Bounds::delay`]): no time passes while a message has been on its way for the longest delay, or a
//! timer is due. A message to an agent that is down does not hold time up: when the next incarnation begins, the model
//! decides whether the message arrived before. Without synchrony, messages wait for ever or are lost, and timers may be
//! late without a bound.

mod act;
mod trace;
mod world;

use std::{ops::RangeInclusive, sync::Arc};

use bully_core::protocol::{Input, InputOf};
use stateright::{Model, Property};

pub use trace::trace;
pub use world::{Budget, World};

use crate::{
    relative::at,
    rules::{MessageOf, Rules, name},
};
use world::Content;

type MessageInFlight<R> = world::SentMessage<MessageOf<R>>;

/// The limits of a model.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Number of agents.
    pub n: usize,
    /// Synchrony: the longest delay in ticks; `None` without synchrony.
    pub delay: Option<u8>,
    /// Whether time passes for each clock alone, and only to the next tick at which a timer that fires is due: any timer
    /// may fire as soon as it is set. For rules in which no agent reads a time of another agent's clock. Otherwise time
    /// passes in ticks, for all clocks at once; one clock may miss a tick if the budget allows it.
    pub jumps: bool,
    /// Whether the messages of one sender to one receiver arrive in the order of sending; otherwise in any order.
    pub is_ordered: bool,
    /// Largest number of messages on their way; a message beyond it is lost.
    pub wire: usize,
    /// Whether a message that has room may be lost as well; otherwise it may wait for ever.
    pub loss: bool,
    /// Number of ticks before the search begins, without faults: every message arrives at once, and every timer fires
    /// when it is due.
    pub prologue: u16,
    /// A hand-over between the prologue and the search, without faults other than this setting names. Its messages may
    /// arrive once more during the search.
    pub handed_over: Option<HandOver>,
    /// The last tick; `None` without a last tick.
    pub horizon: Option<u16>,
    /// The commands and faults that may happen.
    pub budget: Budget,
    /// The agent that a leader names when it is asked to step down; `None` for none.
    pub successor: Option<usize>,
    /// The kind of a crash.
    pub crash: Crash,
    /// The only agent that may crash; `None` for any.
    pub mortal: Option<usize>,
    /// Ticks in which a crash may happen.
    pub crash_within: RangeInclusive<u16>,
    /// Ticks in which the next incarnation may begin after a crash of the kind [`Told`](Crash::Told); `None` for never.
    pub return_within: Option<RangeInclusive<u16>>,
}

/// The way of the hand-over before the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// Every message arrives.
    Prepared,
    /// The messages to prepare it are lost.
    Unprepared,
}

/// The kind of a crash, and the agents that hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The supervisors report the crash to the other agents, perhaps late. The next incarnation may begin or not.
    Told,
    /// No agent hears of the crash, and the next incarnation begins at once.
    Unseen,
    /// Like `Unseen`, but the durable record is gone. No real driver may do this.
    Forgetful,
    /// The next incarnation begins at once, and a sentinel sends each other host a notice of the former one's end. It
    /// arrives soon, late (after a message of the next incarnation), or never.
    Noticed,
    /// The next incarnation begins at once, with an empty store that has another id. Each other host learns of the
    /// store with the first message of the incarnation.
    Lost,
}

impl Bounds {
    /// Returns the limits for `n` agents without commands or faults, and with no bound on anything.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            delay: None,
            jumps: false,
            is_ordered: false,
            wire: usize::MAX,
            loss: false,
            prologue: 0,
            handed_over: None,
            horizon: None,
            budget: Budget {
                campaigners: vec![true; n],
                campaigns: 0,
                slow: 0,
                crashes: 0,
                resigns: 0,
                doubts: 0,
                repeats: 0,
                scores: Vec::new(),
                changes: Vec::new(),
            },
            successor: None,
            crash: Crash::Told,
            mortal: None,
            crash_within: 0..=u16::MAX,
            return_within: Some(0..=u16::MAX),
        }
    }
}

/// A model: rules and bounds.
#[derive(Clone, Debug)]
pub struct Lab<R> {
    /// The election that is played.
    pub rules: R,
    /// The limits.
    pub bounds: Bounds,
    /// Whether the search only has to find the shortest path to a broken invariant, and not to see all worlds.
    pub is_for_shortest: bool,
}

/// One action of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The message at this position of the wire arrives.
    Deliver(usize),
    /// The message at this position arrives, and may arrive once more at any later moment, at any incarnation of its
    /// receiver.
    Repeat(usize),
    /// The message at this position of `past`, from before the search, arrives once more.
    Recall(usize),
    /// The message at this position never arrives.
    Lose(usize),
    /// The timer at the second position of this agent fires.
    Fire(usize, usize),
    /// A timer that makes a call fires. The questions and answers of the call never reach the agents in the last field,
    /// a bit each.
    Call(usize, usize, u32),
    /// A tick passes; the clock of this agent may miss it.
    Tick(Option<usize>),
    /// The incarnation of this agent ends.
    Crash(usize),
    /// The incarnation of this agent ends while its last record is being written; the record is lost.
    CrashWriting(usize),
    /// The next incarnation of this agent begins. The messages to it in the last field, a bit each, have arrived
    /// before.
    Restart(usize, u32),
    /// A user asks for an election.
    Campaign(usize),
    /// A user asks this leader to hand over. The leader has no work to end.
    StepDown(usize),
    /// The score at this position of the budget is set.
    SetScore(usize),
    /// The supervisors suspect this agent, and tell all others. The agent still runs.
    Doubt(usize),
    /// A user asks this leader for the change at this position of the budget. The leader has no work to end.
    ChangeVoters(usize, usize),
}

/// The name of the property that no invariant is broken.
pub const SOUND: &str = "sound";

impl<R: Rules> Model for Lab<R> {
    type State = World<R>;
    type Action = Action;

    fn init_states(&self) -> Vec<World<R>> {
        let mut world = World::new(&self.rules, &self.bounds);
        for agent in 0..self.bounds.n {
            self.begin(&mut world, agent);
        }
        self.play_prologue(&mut world);
        vec![world]
    }

    fn actions(&self, world: &World<R>, actions: &mut Vec<Action>) {
        for (position, sent) in world.wire.iter().enumerate() {
            if world.is_up(sent.to) && !self.waits(sent, &world.wire[..position]) {
                actions.push(Action::Deliver(position));
                if self.bounds.loss {
                    actions.push(Action::Lose(position));
                }
                if world.left.repeats > 0 && !sent.is_copy {
                    actions.push(Action::Repeat(position));
                }
            }
        }
        if world.left.repeats > 0 {
            actions.extend((0..world.past.len()).map(Action::Recall));
        }
        for (agent, slot) in world.nodes.iter().enumerate() {
            let now = at(slot.clock);
            for (position, armed) in slot.host.timers.iter().enumerate() {
                let may_fire = armed.from <= now || self.bounds.jumps;
                if may_fire && self.rules.makes_calls(armed.timer) {
                    let deaf = (0..1u32 << self.bounds.n).filter(|deaf| deaf & (1 << agent) == 0);
                    actions.extend(deaf.map(|deaf| Action::Call(agent, position, deaf)));
                } else if may_fire {
                    actions.push(Action::Fire(agent, position));
                }
            }
        }
        self.add_ticks(world, actions);
        self.add_deeds(world, actions);
    }

    fn next_state(&self, world: &World<R>, action: Action) -> Option<World<R>> {
        let mut next = world.clone();
        self.act(&mut next, &action);
        let is_repeated = matches!(action, Action::Recall(_));
        // A repetition that changes nothing is left out: it would only use up the budget.
        (!is_repeated || !next.does_as(world)).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let sound: Property<Self> =
            Property::always(SOUND, |lab, world| lab.rules.broken(world).is_none());
        let mut properties = vec![sound];
        if !self.is_for_shortest {
            let sights = self.rules.sights();
            let shown = [shown::<R, 0>, shown::<R, 1>, shown::<R, 2>, shown::<R, 3>];
            assert!(sights.len() <= shown.len(), "too many sights");
            let named = sights.iter().zip(shown);
            properties.extend(named.map(|(name, shown)| Property::sometimes(name, shown)));
        }
        properties
    }

    fn within_boundary(&self, world: &World<R>) -> bool {
        self.rules.is_within(&world.ledger)
    }
}

/// The checker takes functions without state, so the index of the sight is a parameter of the type.
fn shown<R: Rules, const SIGHT: usize>(lab: &Lab<R>, world: &World<R>) -> bool {
    lab.rules.shows(SIGHT, world)
}

impl<R: Rules> Lab<R> {
    /// Returns whether a message has to wait for an earlier one. An update about an incarnation always arrives before
    /// the messages of this incarnation. Of two equal messages the order makes no difference.
    fn waits<'a>(
        &self,
        sent: &MessageInFlight<R>,
        earlier: impl IntoIterator<Item = &'a MessageInFlight<R>>,
    ) -> bool {
        let ahead = |earlier: &MessageInFlight<R>| {
            let same_way = (earlier.from, earlier.to) == (sent.from, sent.to);
            let is_update = earlier.content == Content::Members && self.bounds.crash == Crash::Told;
            same_way && (is_update || self.bounds.is_ordered) || earlier == sent
        };
        earlier.into_iter().any(ahead)
    }

    /// Adds the restarts of `agent`, one for each set of messages that may have arrived while it was down. A set is
    /// left out if a message of it would have to wait for one that has not arrived.
    fn add_restarts(&self, world: &World<R>, agent: usize, actions: &mut Vec<Action>) {
        let sent = || world.wire.iter().filter(|sent| sent.to == agent);
        let count = sent().count();
        assert!(count < 32, "at most 31 messages to an agent that is down");
        for missed in 0..1u32 << count {
            let is_missed = |nth: usize| missed & (1 << nth) != 0;
            let left = |until| {
                sent()
                    .take(until)
                    .enumerate()
                    .filter(|(nth, _)| !is_missed(*nth))
            };
            let overtakes =
                |(nth, sent)| is_missed(nth) && self.waits(sent, left(nth).map(|(_, sent)| sent));
            if !sent().enumerate().any(overtakes) {
                actions.push(Action::Restart(agent, missed));
            }
        }
    }

    /// Adds a tick, unless synchrony forbids it.
    fn add_ticks(&self, world: &World<R>, actions: &mut Vec<Action>) {
        let is_over = self.bounds.horizon.is_some_and(|last| world.now >= last);
        if is_over || self.bounds.jumps {
            return;
        }
        if let Some(delay) = self.bounds.delay {
            let overdue = |slot: &world::Slot<R::Election>| {
                let now = at(slot.clock);
                slot.host.timers.iter().any(|armed| armed.to <= now)
            };
            let is_overdue = |sent: &MessageInFlight<R>| sent.age >= delay && world.is_up(sent.to);
            if world.wire.iter().any(is_overdue) || world.nodes.iter().any(overdue) {
                return;
            }
        }
        actions.push(Action::Tick(None));
        if world.left.slow > 0 {
            actions.extend((0..self.bounds.n).map(|agent| Action::Tick(Some(agent))));
        }
    }

    /// Adds the commands of users, and the faults.
    fn add_deeds(&self, world: &World<R>, actions: &mut Vec<Action>) {
        let is_deadly = self.bounds.crash_within.contains(&world.now);
        for agent in 0..self.bounds.n {
            if !world.is_up(agent) {
                let within = self.bounds.return_within.as_ref();
                if within.is_some_and(|within| within.contains(&world.now)) {
                    self.add_restarts(world, agent, actions);
                }
                continue;
            }
            let is_mortal = self.bounds.mortal.is_none_or(|mortal| mortal == agent);
            if world.left.crashes > 0 && is_mortal && is_deadly {
                actions.push(Action::Crash(agent));
                if world.nodes[agent].host.unwritten.is_some() {
                    actions.push(Action::CrashWriting(agent));
                }
            }
            if world.left.campaigns > 0 && world.left.campaigners[agent] {
                actions.push(Action::Campaign(agent));
            }
            if world.left.doubts > 0 {
                actions.push(Action::Doubt(agent));
            }
            if world.left.resigns > 0 && world.believers().any(|(leader, _)| leader == agent) {
                actions.push(Action::StepDown(agent));
            }
            if world.believers().any(|(leader, _)| leader == agent) {
                let changes = 0..world.left.changes.len();
                actions.extend(changes.map(|change| Action::ChangeVoters(agent, change)));
            }
        }
        for (position, (agent, _)) in world.left.scores.iter().enumerate() {
            if world.is_up(*agent) {
                actions.push(Action::SetScore(position));
            }
        }
    }

    /// Returns the input of the receiver when a message arrives.
    fn opened(&self, world: &World<R>, sent: &MessageInFlight<R>) -> InputOf<R::Election> {
        match &sent.content {
            Content::Members => Input::Members(Arc::clone(&world.members)),
            Content::Notice => Input::Members(Arc::clone(&world.nodes[sent.to].host.known)),
            Content::Said(message) => Input::Received {
                from: name(sent.from),
                incarnation: sent.incarnation,
                message: (**message).clone(),
            },
        }
    }
}
