//! The subscribers of an agent, which hear of its events, and whose work a hand-over waits for.
//!
//! Decided here: that `Acquired` and `Lost` alternate for every subscriber, whenever it came and
//! however the leadership ended, and that a hand-over waits for a *set* of draining subscribers: one
//! message of each, and no message of one that has stopped. An incarnation that has ended, by
//! whatever thread, tells nothing any more.
//!
//! Nothing is left out where a subscriber's mailbox is full: an event goes in beyond its capacity.
//! There are as many events as leaderships change, and a subscriber that missed one would be wrong
//! for as long as the next leadership lasts.

use std::collections::{BTreeMap, BTreeSet};

use actix::{Recipient, WeakRecipient};

use crate::protocol::{AgentId, Event, Incarnation, LostReason, Term};

use super::message::Notice;

/// The subscribers, and what they were told last.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    /// In the order in which they subscribed.
    all: BTreeMap<SubscriberId, Subscriber>,
    last_id: SubscriberId,
    /// Those whose work a hand-over waits for.
    working: BTreeSet<SubscriberId>,
    /// Up to here the working ones were last looked at.
    scanned_to: SubscriberId,
    /// The term in which they were told that this agent leads.
    acquired: Option<Term>,
    /// The last incarnation whose end they were told of.
    ended: Option<Incarnation>,
    /// A task waits for the end of the leadership.
    has_expiry_task: bool,
    /// The leader that the log named last.
    logged: Option<AgentId>,
}

/// Tells the subscribers of one agent apart; never used twice.
pub(super) type SubscriberId = u64;

#[derive(Debug)]
struct Subscriber {
    to: WeakRecipient<Notice>,
    kind: SubscriberKind,
}

/// What a subscriber does while the agent leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubscriberKind {
    /// It listens only.
    Listening,
    /// It works, and says when that work has ended.
    Draining,
}

impl Subscribers {
    /// An id for a recipient that is about to subscribe.
    pub(super) fn next_id(&mut self) -> SubscriberId {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn add(&mut self, id: SubscriberId, to: &Recipient<Notice>, kind: SubscriberKind) {
        // Weak, so that a subscription keeps no actor alive.
        let to = to.downgrade();
        self.all.insert(id, Subscriber { to, kind });
    }

    /// Tells every subscriber an event of that incarnation, unless it has ended: an
    /// agent that hung when it was made to leave may still be in the middle of a step. Says whether
    /// they were told.
    pub(super) fn tell(&mut self, agent: &AgentId, by: Incarnation, event: &Event) -> bool {
        self.ended < Some(by) && self.tell_all(agent, event)
    }

    fn tell_all(&mut self, agent: &AgentId, event: &Event) -> bool {
        match (event, self.acquired) {
            (Event::Acquired { term } | Event::Renewed { term }, Some(_))
            | (Event::Acquired { term }, None) => self.acquired = Some(*term),
            (Event::Lost { .. }, Some(_)) => {
                self.acquired = None;
                self.working.clear();
            }
            (Event::Draining { .. }, Some(_)) => self.wait_for_all(),
            // The subscribers were told already that the leadership had run out.
            (Event::Lost { .. } | Event::Renewed { .. } | Event::Draining { .. }, None) => {
                return false;
            }
            // A later core may have more variants: `tests/layering` finds the variants that this list lacks.
            (Event::NewLeader(_) | Event::NoLeader { .. } | Event::Voters(_) | _, _) => {}
        }
        let working = &mut self.working;
        self.all.retain(|id, subscriber| {
            let Some(to) = subscriber.to.upgrade() else {
                working.remove(id);
                return false;
            };
            let (agent, event) = (agent.clone(), event.clone());
            // `try_send` would lose nothing either, because a recipient that has just been upgraded
            // has one slot of its own in a full mailbox; but it would leave a handle there each time.
            // do_send: as many as leaderships begin and end, and a subscriber must hear of a loss.
            to.do_send(Notice { agent, event });
            to.connected() || {
                working.remove(id);
                false
            }
        });
        true
    }

    /// Whether this event says that another agent leads than the log named last, or none any more.
    pub(super) fn is_change(&mut self, event: &Event) -> bool {
        let now = match event {
            Event::NewLeader(leader) => Some(&leader.id),
            Event::NoLeader { .. } => None,
            Event::Acquired { .. }
            | Event::Renewed { .. }
            | Event::Draining { .. }
            | Event::Lost { .. }
            | Event::Voters(_)
            | _ => return false,
        };
        let is_change = now != self.logged.as_ref();
        if is_change {
            self.logged = now.cloned();
        }
        is_change
    }

    /// The incarnation has ended: tells subscribers that take it for the leader.
    /// Returns what they were told.
    pub(super) fn end(&mut self, agent: &AgentId, incarnation: Incarnation) -> Option<Event> {
        self.ended = self.ended.max(Some(incarnation));
        self.lose(agent, LostReason::Ended)
    }

    /// The leadership has ended without an event of the agent's machine. Returns what they were told.
    pub(super) fn lose(&mut self, agent: &AgentId, reason: LostReason) -> Option<Event> {
        let term = self.acquired?;
        let event = Event::Lost { term, reason };
        self.tell_all(agent, &event).then_some(event)
    }

    /// The agent leads: a leadership that had run out may hold again, and the subscribers were told
    /// that it had. Returns what they were told.
    pub(super) fn regain(&mut self, agent: &AgentId, by: Incarnation, term: Term) -> Option<Event> {
        if self.acquired.is_some() {
            return None;
        }
        let event = Event::Acquired { term };
        self.tell(agent, by, &event).then_some(event)
    }

    /// The term in which the subscribers were told that the agent leads.
    pub(super) fn acquired(&self) -> Option<Term> {
        self.acquired
    }

    /// Whether the caller has to start a task that waits for the end of the leadership: there are
    /// subscribers that were told of one, and there is no such task until
    /// [`expiry_task_ended`](Self::expiry_task_ended).
    pub(super) fn needs_expiry_task(&mut self) -> bool {
        let needs = self.acquired.is_some() && !self.all.is_empty() && !self.has_expiry_task;
        self.has_expiry_task |= needs;
        needs
    }

    pub(super) fn expiry_task_ended(&mut self) {
        self.has_expiry_task = false;
    }

    // ---- draining ---------------------------------------------------------------------------

    fn wait_for_all(&mut self) {
        self.working = self.draining().collect();
        self.scanned_to = 0;
    }

    /// A hand-over that has begun waits for this one as well.
    pub(super) fn wait_for(&mut self, id: SubscriberId) {
        self.working.insert(id);
    }

    /// The work of this one has ended.
    pub(super) fn drained(&mut self, id: SubscriberId) {
        self.working.remove(&id);
    }

    /// Whether a hand-over waits for no subscriber.
    pub(super) fn is_drained(&self) -> bool {
        self.working.is_empty()
    }

    /// Forgets those among the next few that have stopped without a message. Their end is told by
    /// nothing, so they have to be looked at; in one turn as many as cost less than a step may.
    pub(super) fn forget_stopped(&mut self) {
        let from = self.scanned_to.saturating_add(1);
        let few: Vec<SubscriberId> = self.working.range(from..).take(A_FEW).copied().collect();
        self.scanned_to = if few.len() < A_FEW {
            0
        } else {
            few.last().copied().unwrap_or_default()
        };
        for id in few {
            if !self.is_connected(id) {
                self.working.remove(&id);
                self.all.remove(&id);
            }
        }
    }

    /// The draining subscriber, if it is the only one.
    pub(super) fn only_draining(&self) -> OnlyDraining {
        let mut connected = self.draining().filter(|id| self.is_connected(*id));
        match (connected.next(), connected.next()) {
            (Some(id), None) => OnlyDraining::One(id),
            (Some(_), Some(_)) => OnlyDraining::Several,
            (None, _) => OnlyDraining::None,
        }
    }

    fn draining(&self) -> impl Iterator<Item = SubscriberId> {
        let all = self.all.iter();
        let draining = all.filter(|(_, s)| s.kind == SubscriberKind::Draining);
        draining.map(|(id, _)| *id)
    }

    fn is_connected(&self, id: SubscriberId) -> bool {
        let subscriber = self.all.get(&id);
        let to = subscriber.and_then(|subscriber| subscriber.to.upgrade());
        to.is_some_and(|to| to.connected())
    }
}

/// How many draining subscribers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnlyDraining {
    None,
    One(SubscriberId),
    Several,
}

/// How many subscribers are looked at in one turn.
const A_FEW: usize = 1_000;
