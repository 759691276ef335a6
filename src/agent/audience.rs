//! Who hears of an agent's events, and whose work a hand-over waits for.
//!
//! Decided here: that `Acquired` and `Lost` alternate for every subscriber, whenever it came and
//! however the leadership ended, and that a hand-over waits for a *set* of subscribers: one word of
//! each, and no word of one that has stopped. A life that has ended, by whatever thread, says
//! nothing any more.
//!
//! Nothing is left out where a subscriber's mailbox is full: a message goes in beyond its capacity.
//! There are as many as leaderships change, and one that was left out would be wrong for as long as
//! the next leadership lasts.

use std::collections::{BTreeMap, BTreeSet};

use actix::{Recipient, WeakRecipient};

use crate::planted::{Defect, has};
use crate::protocol::{AgentId, Event, Incarnation, LostReason, Term};

use super::message::Notice;

/// The subscribers, and what they were told last.
#[derive(Debug, Default)]
pub(super) struct Audience {
    /// In the order in which they came.
    subscribers: BTreeMap<Number, Subscriber>,
    numbers: Number,
    /// Those whose work a hand-over waits for.
    busy: BTreeSet<Number>,
    /// How far the last look at them went.
    looked: Number,
    /// They were told that this agent leads, in this term.
    acquired: Option<Term>,
    /// The last life whose end they were told of.
    ended: Option<Incarnation>,
    is_watched: bool,
}

/// Tells the subscribers of one agent apart; never used twice.
pub(super) type Number = u64;

#[derive(Debug)]
struct Subscriber {
    to: WeakRecipient<Notice>,
    part: Part,
}

/// What a subscriber does while the agent leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It listens.
    Listens,
    /// It works, and says when that has ended.
    Works,
}

impl Audience {
    /// A number for somebody who is about to subscribe.
    pub(super) fn number(&mut self) -> Number {
        self.numbers += 1;
        self.numbers
    }

    pub(super) fn add(&mut self, number: Number, to: &Recipient<Notice>, part: Part) {
        let to = to.downgrade();
        self.subscribers.insert(number, Subscriber { to, part });
    }

    /// Tells everybody who is still there what that life of the agent says, unless it is over: an
    /// agent that hung when it was made to leave may still be in the middle of a step.
    pub(super) fn tell(&mut self, agent: &AgentId, by: Incarnation, event: &Event) {
        if self.ended < Some(by) {
            self.tell_all(agent, event);
        }
    }

    fn tell_all(&mut self, agent: &AgentId, event: &Event) {
        match (event, self.acquired) {
            (Event::Acquired { term } | Event::Renewed { term }, Some(_))
            | (Event::Acquired { term }, None) => self.acquired = Some(*term),
            (Event::Lost { .. }, Some(_)) => {
                self.acquired = None;
                self.busy.clear();
            }
            (Event::Draining { .. }, Some(_)) => self.wait_for_all(),
            // They were told already that it had run out.
            (Event::Lost { .. } | Event::Renewed { .. } | Event::Draining { .. }, None) => return,
            (Event::NewLeader(_) | Event::NoLeader { .. }, _) => {}
        }
        let busy = &mut self.busy;
        self.subscribers.retain(|number, subscriber| {
            let Some(to) = subscriber.to.upgrade() else {
                busy.remove(number);
                return false;
            };
            let (agent, event) = (agent.clone(), event.clone());
            // `try_send` would lose nothing either, because a recipient that has just been upgraded
            // has one place of its own in a full mailbox; but it would leave a handle there each time.
            to.do_send(Notice { agent, event });
            to.connected() || {
                busy.remove(number);
                false
            }
        });
    }

    /// The life has ended: says so to those who believe that it leads.
    pub(super) fn end(&mut self, agent: &AgentId, life: Incarnation) {
        self.ended = self.ended.max(Some(life));
        self.lose(agent, LostReason::Ended);
    }

    /// The leadership has ended without a word of the agent's machine.
    pub(super) fn lose(&mut self, agent: &AgentId, reason: LostReason) {
        if let Some(term) = self.acquired {
            self.tell_all(agent, &Event::Lost { term, reason });
        }
    }

    /// The agent leads, by a belief that had run out and holds again: says so to those who were
    /// told that it had.
    pub(super) fn regain(&mut self, agent: &AgentId, by: Incarnation, term: Term) {
        if self.acquired.is_none() {
            self.tell(agent, by, &Event::Acquired { term });
        }
    }

    /// The term in which they believe that it leads.
    pub(super) fn acquired(&self) -> Option<Term> {
        self.acquired
    }

    /// Whether somebody who believes in a leadership has nobody yet to watch its end; there will be
    /// until [`unwatched`](Self::unwatched).
    pub(super) fn needs_watch(&mut self) -> bool {
        let needs = self.acquired.is_some() && !self.subscribers.is_empty() && !self.is_watched;
        self.is_watched |= needs;
        needs
    }

    pub(super) fn unwatched(&mut self) {
        self.is_watched = false;
    }

    // ---- draining ---------------------------------------------------------------------------

    fn wait_for_all(&mut self) {
        let works =
            |(number, s): (&Number, &Subscriber)| (s.part == Part::Works).then_some(*number);
        self.busy = self.subscribers.iter().filter_map(works).collect();
        self.looked = 0;
    }

    /// A hand-over that has begun waits for this one as well.
    pub(super) fn wait_for(&mut self, number: Number) {
        self.busy.insert(number);
    }

    /// The work of this one has ended.
    pub(super) fn drained(&mut self, number: Number) {
        if has(Defect::FirstDrainsAll) {
            self.busy.clear();
        }
        self.busy.remove(&number);
    }

    /// Whether a hand-over waits for nobody.
    pub(super) fn is_drained(&self) -> bool {
        self.busy.is_empty()
    }

    /// Forgets those among the next few that have stopped without a word. Nobody tells of their
    /// end, so they have to be looked at; in one turn as many as cost less than a step may.
    pub(super) fn forget_stopped(&mut self) {
        let from = self.looked.saturating_add(1);
        let few: Vec<Number> = self.busy.range(from..).take(A_FEW).copied().collect();
        self.looked = if few.len() < A_FEW {
            0
        } else {
            few.last().copied().unwrap_or_default()
        };
        for number in few {
            if !self.is_there(number) {
                self.busy.remove(&number);
                self.subscribers.remove(&number);
            }
        }
    }

    /// The one that works, if it is the only one.
    pub(super) fn only_worker(&self) -> Workers {
        let works = self
            .subscribers
            .iter()
            .filter(|(_, s)| s.part == Part::Works);
        let mut there = works.filter(|(number, _)| self.is_there(**number));
        match (there.next(), there.next()) {
            (Some((number, _)), None) => Workers::One(*number),
            (Some(_), Some(_)) => Workers::Several,
            (None, _) => Workers::None,
        }
    }

    fn is_there(&self, number: Number) -> bool {
        let subscriber = self.subscribers.get(&number);
        let to = subscriber.and_then(|subscriber| subscriber.to.upgrade());
        to.is_some_and(|to| to.connected())
    }
}

/// How many subscribers work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workers {
    None,
    One(Number),
    Several,
}

/// How many subscribers are looked at in one turn.
const A_FEW: usize = 1_000;
