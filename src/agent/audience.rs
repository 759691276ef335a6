//! Who hears of an agent's events.
//!
//! Decided here: that `Acquired` and `Lost` alternate for every subscriber, whenever it came and
//! however the life ended. A life that has ended, by whatever thread, says nothing any more.

use actix::{Recipient, WeakRecipient};

use crate::protocol::{AgentId, Event, Incarnation, LostReason, Term};

use super::message::Notice;

/// The subscribers, and what they were told last.
#[derive(Debug, Default)]
pub(super) struct Audience {
    list: Vec<Subscriber>,
    /// They were told that this agent leads, in this term.
    acquired: Option<Term>,
    /// The last life whose end they were told of.
    ended: Option<Incarnation>,
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

    /// Tells everybody who is still there what that life of the agent says, unless it is over: an
    /// agent that hung when it was made to leave may still be in the middle of a step.
    pub(super) fn tell(&mut self, agent: &AgentId, by: Incarnation, event: &Event) {
        if self.ended < Some(by) {
            self.tell_all(agent, event);
        }
    }

    fn tell_all(&mut self, agent: &AgentId, event: &Event) {
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
    pub(super) fn end(&mut self, agent: &AgentId, life: Incarnation) {
        self.ended = self.ended.max(Some(life));
        if let Some(term) = self.acquired {
            let reason = LostReason::Ended;
            self.tell_all(agent, &Event::Lost { term, reason });
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
