//! Who hears of an agent's events.
//!
//! Decided here: that `Acquired` and `Lost` alternate for every subscriber, whenever it came and
//! however the life ended.

use actix::{Recipient, WeakRecipient};

use crate::protocol::{AgentId, Event, LostReason, Term};

use super::message::Notice;

/// The subscribers, and what they were told last.
#[derive(Debug, Default)]
pub(super) struct Audience {
    list: Vec<Subscriber>,
    /// They were told that this agent leads, in this term.
    acquired: Option<Term>,
}

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
    pub(super) fn add(&mut self, to: &Recipient<Notice>, part: Part) {
        let to = to.downgrade();
        self.list.push(Subscriber { to, part });
    }

    /// Tells everybody who is still there.
    pub(super) fn tell(&mut self, agent: &AgentId, event: &Event) {
        match event {
            Event::Acquired { term } | Event::Renewed { term } => self.acquired = Some(*term),
            Event::Lost { .. } => self.acquired = None,
            Event::Draining { .. } | Event::NewLeader(_) | Event::NoLeader { .. } => {}
        }
        self.list.retain(|subscriber| {
            let Some(to) = subscriber.to.upgrade() else {
                return false;
            };
            let (agent, event) = (agent.clone(), event.clone());
            to.do_send(Notice { agent, event });
            to.connected()
        });
    }

    /// The life has ended: says so to those who believe that it leads.
    pub(super) fn end(&mut self, agent: &AgentId) {
        if let Some(term) = self.acquired {
            let reason = LostReason::Ended;
            self.tell(agent, &Event::Lost { term, reason });
        }
    }

    /// The term in which they believe that it leads.
    pub(super) fn acquired(&self) -> Option<Term> {
        self.acquired
    }

    /// How many of those who work are still there.
    pub(super) fn workers(&self) -> usize {
        let works = |s: &&Subscriber| s.part == Part::Works;
        let there = |s: &&Subscriber| s.to.upgrade().is_some_and(|to| to.connected());
        self.list.iter().filter(works).filter(there).count()
    }
}
