//! A group with clocks: a model of our own, in which time passes in ticks.
//!
//! Decided here: what may happen next. What a machine makes of it is the machine's business
//! ([`Rules`] says which one plays,
//! and what may never be); how a step is carried out is in `act.rs`.
//!
//! ```text
//!   Deliver  a message arrives, in any order         Tick      every clock moves on, or all but one
//!   Lose     it never does (asynchronous only)       Crash    an incarnation ends; the disk stays
//!   Fire     a timer that is due                     Restart  the next incarnation begins
//!   Campaign, SetScore, StepDown, ChangeVoters: what a user asks
//!   Doubt    an agent is suspected for nothing        Forge    a notice of an agent that goes on
//!   Repeat   a message arrives, and stays           Recall   one of before the search arrives once more
//! ```
//!
//! **A network that is a set.** Without synchrony a message arrives at any later moment, at any incarnation of its
//! receiver. At most [`Budget::repeats`] arrived messages do so once more. That is decided when a message
//! first arrives: the copy takes no room on the wire, and may never come.
//!
//! **Synchrony** ([`Bounds::delay`]): no time passes while a message has been on its way for the
//! longest delay, or a timer is due. Nothing waits for a message to an agent that is down: whether it arrived
//! before the next incarnation begins is decided then. Without it, messages wait for ever or are lost, and timers are as
//! late as they like.

mod act;
mod trace;
mod world;

use std::{ops::RangeInclusive, sync::Arc};

use bully_core::protocol::{Input, InputOf, Time};
use stateright::{Model, Property};

pub use trace::trace;
pub use world::{Budget, World};

use crate::{
    relative::at,
    rules::{MessageOf, Rules, name},
};
use world::Content;

type MessageInFlight<R> = world::SentMessage<MessageOf<R>>;

/// How far a model goes.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// How many agents.
    pub n: usize,
    /// Synchrony: the longest delay in ticks; `None` for none.
    pub delay: Option<u8>,
    /// How time passes.
    pub clocks: Clocks,
    /// Whether a message may overtake an earlier one of the same sender to the same receiver.
    pub order: Order,
    /// The most that may be on its way at once; what does not fit is lost.
    pub wire: usize,
    /// Whether a message that fits may be lost as well; otherwise it may wait for ever.
    pub loss: bool,
    /// So many ticks pass in good order before the search begins: every message arrives at once, and every timer
    /// fires when it is due.
    pub prologue: u16,
    /// A first hand-over between the prologue and the search, in good order but for this. Its messages may
    /// arrive once more during the search.
    pub handed_over: Option<HandOver>,
    /// The last tick, if there is one.
    pub horizon: Option<u16>,
    /// What may be done to the group.
    pub budget: Budget,
    /// The agent that a leader names when it is asked to step down; `None` for none.
    pub successor: Option<usize>,
    /// What a crash is.
    pub crash: Crash,
    /// What a host makes of a sentinel's notice.
    pub notices: Notices,
    /// The only agent that may crash; `None` for any.
    pub mortal: Option<usize>,
    /// When: at which ticks.
    pub crash_within: RangeInclusive<u16>,
    /// At which ticks the next incarnation may begin after a crash that is [told](Crash::Told); `None` for
    /// never.
    pub return_within: Option<RangeInclusive<u16>>,
}

/// How time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// In ticks, for all at once, as a rule.
    Tick,
    /// For each alone, and only to the next tick at which a timer that fires is due: any timer may
    /// fire as soon as it is set. For rules in which no agent reads what another's clock shows.
    Jump,
}

/// In which order messages arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In any.
    Any,
    /// Those of one sender to one receiver in the order in which they were sent.
    Fifo,
}

/// How the hand-over goes that comes before the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// As it should.
    Prepared,
    /// The messages to prepare it are lost.
    Unprepared,
}

/// What a crash is, and which agents hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The supervisors tell the others, which may hear of it late; the next incarnation may begin, or not.
    Told,
    /// No agent hears of it, and the next incarnation begins at once.
    Unseen,
    /// The same, and what was durable is gone: no driver may do that.
    Forgetful,
    /// The next incarnation begins at once, and the others hear that the former one has certainly ended.
    Reported,
    /// The next incarnation begins at once, and a sentinel tells each other host of the end of the former one: soon,
    /// late, when the next one was heard long since, or never.
    Noticed,
    /// The next incarnation begins at once with an empty store of another id. Each other host learns that with the
    /// first message of it.
    Lost,
}

/// Which ends a host takes from a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notices {
    /// That of the incarnation that the notice names, if its bytes are right.
    Checked,
    /// Wrong: that of whichever incarnation it knows.
    OfAnyIncarnation,
    /// Wrong: whatever it is told, also of a process that still runs.
    Unchecked,
}

impl Bounds {
    /// So many agents to which nothing is done, with no bound on anything.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            delay: None,
            clocks: Clocks::Tick,
            order: Order::Any,
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
                forgeries: 0,
                repeats: 0,
                scores: Vec::new(),
                changes: Vec::new(),
            },
            successor: None,
            crash: Crash::Told,
            notices: Notices::Checked,
            mortal: None,
            crash_within: 0..=u16::MAX,
            return_within: Some(0..=u16::MAX),
        }
    }
}

/// A model: rules and bounds.
#[derive(Clone, Debug)]
pub struct Lab<R> {
    /// Which election is played.
    pub rules: R,
    /// How far.
    pub bounds: Bounds,
    /// Whether the search ends with the first world in which an invariant does not hold.
    pub aim: Aim,
}

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// All worlds.
    Everything,
    /// The shortest way to break an invariant.
    Shortest,
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The message at this position arrives.
    Deliver(usize),
    /// It arrives, and may do so once more at any later moment, in whichever incarnation of its receiver.
    Repeat(usize),
    /// The message at this position of the past, before the search began, arrives once more.
    Recall(usize),
    /// It never does.
    Lose(usize),
    /// The timer at this position of that node is due.
    Fire(usize, usize),
    /// The same of a timer at which questions are asked; to these, a bit each, they never arrive.
    Call(usize, usize, u32),
    /// Time passes; one clock may miss it.
    Tick(Option<usize>),
    /// An incarnation ends.
    Crash(usize),
    /// The same while its last record is being written, which is lost.
    CrashWriting(usize),
    /// The next one begins; these of the messages to it, a bit each, have arrived before.
    Restart(usize, u32),
    /// A user asks for an election.
    Campaign(usize),
    /// A user asks that this leader hands over, which has no work to end.
    StepDown(usize),
    /// The score at this position of the budget is set.
    SetScore(usize),
    /// All are told that this one may be gone. It is not.
    Doubt(usize),
    /// All are told by forged notices, or by a sentinel that is wrong, that this one has ended. It has not.
    Forge(usize),
    /// A user asks this leader, which has no work to end, for the change at this position of the budget.
    ChangeVoters(usize, usize),
}

/// No invariant is broken.
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
                let may_fire = armed.from <= now || self.bounds.clocks == Clocks::Jump;
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
        // A message that changes nothing is as good as none, and leaves one repetition more.
        (!is_repeated || !next.does_as(world)).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let sound: Property<Self> =
            Property::always(SOUND, |lab, world| lab.rules.broken(world).is_none());
        let mut properties = vec![sound];
        if self.aim == Aim::Everything {
            let sights = self.rules.sights();
            let shown = [
                shown::<R, 0>,
                shown::<R, 1>,
                shown::<R, 2>,
                shown::<R, 3>,
                shown::<R, 4>,
            ];
            assert!(sights.len() <= shown.len(), "no room for so many sights");
            let named = sights.iter().zip(shown);
            properties.extend(named.map(|(name, shown)| Property::sometimes(name, shown)));
        }
        properties
    }

    fn within_boundary(&self, world: &World<R>) -> bool {
        self.rules.is_within(&world.ledger)
    }
}

/// The checker takes functions, which know nothing but what they are given.
fn shown<R: Rules, const SIGHT: usize>(lab: &Lab<R>, world: &World<R>) -> bool {
    lab.rules.shows(SIGHT, world)
}

impl<R: Rules> Lab<R> {
    /// Whether a message is behind another one. An update about an incarnation arrives before its messages do,
    /// whatever the order; and of two that are equal, which comes first makes no difference.
    fn waits<'a>(
        &self,
        sent: &MessageInFlight<R>,
        earlier: impl IntoIterator<Item = &'a MessageInFlight<R>>,
    ) -> bool {
        let ahead = |earlier: &MessageInFlight<R>| {
            let same_way = (earlier.from, earlier.to) == (sent.from, sent.to);
            let is_update = earlier.content == Content::Members && self.bounds.crash == Crash::Told;
            same_way && (is_update || self.bounds.order == Order::Fifo) || earlier == sent
        };
        earlier.into_iter().any(ahead)
    }

    /// Which messages may have arrived while an agent was down that now begins its next incarnation: all sets
    /// of them that leave no message behind which another one waits.
    fn add_restarts(&self, world: &World<R>, agent: usize, actions: &mut Vec<Action>) {
        let sent = || world.wire.iter().filter(|sent| sent.to == agent);
        let count = sent().count();
        assert!(count < 32, "no room for so many messages to the dead");
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

    /// Time passes unless synchrony forbids it.
    fn add_ticks(&self, world: &World<R>, actions: &mut Vec<Action>) {
        let is_over = self.bounds.horizon.is_some_and(|last| world.now >= last);
        if is_over || self.bounds.clocks == Clocks::Jump {
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

    /// What users, crashes and supervisors may do.
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
            if world.left.forgeries > 0 {
                actions.push(Action::Forge(agent));
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

    /// What `agent` is told when a message arrives.
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

    /// The clock of `agent`.
    fn clock(&self, world: &World<R>, agent: usize) -> Time {
        world.clock(agent)
    }
}
