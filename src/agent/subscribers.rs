//! The subscribers of an agent. They receive its events, and a hand-over waits for their work.
//!
//! Decided here: `Acquired` and `Lost` alternate for every subscriber, whenever it subscribed and however the
//! leadership ended. A hand-over waits for a *set* of draining subscribers: for one message of each subscriber, and for
//! no message of a subscriber that has stopped. An incarnation that has ended, by any thread, sends no more events.
//!
//! Every event is delivered: if a subscriber's mailbox is full, the event goes in beyond its capacity. Events are few,
//! because each event reports a change of a leadership. A subscriber that missed an event would be wrong for as long as
//! the next leadership lasts.

use std::collections::{BTreeMap, BTreeSet};

use actix::{Recipient, WeakRecipient};

use crate::protocol::{AgentId, Event, Incarnation, LostReason, Term};

use super::message::Notice;

/// The subscribers, and the last events that they got.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    /// The subscribers, in the order in which they subscribed.
    all: BTreeMap<SubscriberId, Subscriber>,
    last_id: SubscriberId,
    /// The subscribers whose work a hand-over waits for.
    working: BTreeSet<SubscriberId>,
    /// The id at which the previous scan for stopped subscribers ended. The next scan begins after this id.
    scanned_to: SubscriberId,
    /// The term of the last `Acquired` that the subscribers got; `None` after a `Lost`.
    acquired: Option<Term>,
    /// The last incarnation whose end was reported to the subscribers.
    ended: Option<Incarnation>,
    /// Whether a task waits for the end of the leadership.
    has_expiry_task: bool,
    /// The leader in the last log line; `None` if that line reported the end of a leader.
    logged: Option<AgentId>,
}

/// Identifies one subscriber of an agent, in the order of the subscriptions. An id is never used twice.
pub(super) type SubscriberId = u64;

#[derive(Debug)]
struct Subscriber {
    to: WeakRecipient<Notice>,
    kind: SubscriberKind,
}

/// Role of a subscriber while the agent leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubscriberKind {
    /// The subscriber only listens.
    Listening,
    /// The subscriber works, and sends a message when its work has ended.
    Draining,
}

impl Subscribers {
    /// Returns an id for a recipient that is about to subscribe.
    pub(super) fn next_id(&mut self) -> SubscriberId {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn add(&mut self, id: SubscriberId, to: &Recipient<Notice>, kind: SubscriberKind) {
        // A weak reference, so that a subscription keeps no actor alive.
        let to = to.downgrade();
        self.all.insert(id, Subscriber { to, kind });
    }

    /// Sends an event of the incarnation `by` to every subscriber, and returns `true`. If that incarnation has ended,
    /// sends nothing and returns `false`: an agent that hung when it was made to leave may still be in a step.
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
            // The subscribers already received `Lost`, when the leadership ran out.
            (Event::Lost { .. } | Event::Renewed { .. } | Event::Draining { .. }, None) => {
                return false;
            }
            // `_`: a later `bully-core` may have more variants; `tests/layering` reports the variants that are missing
            // here.
            (Event::NewLeader(_) | Event::NoLeader { .. } | Event::Voters(_) | _, _) => {}
        }
        let working = &mut self.working;
        self.all.retain(|id, subscriber| {
            let Some(to) = subscriber.to.upgrade() else {
                working.remove(id);
                return false;
            };
            let (agent, event) = (agent.clone(), event.clone());
            // do_send: may exceed the mailbox's bound by a few messages for each leadership; a subscriber must hear of
            // a loss. `try_send` would not lose the event either, since each handle has one slot of its own in a full
            // mailbox, but each call would leave such a handle there.
            to.do_send(Notice { agent, event });
            to.connected() || {
                working.remove(id);
                false
            }
        });
        true
    }

    /// Returns whether this event reports another leader than the last log line, or the end of the known leader.
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

    /// Ends an incarnation. If the subscribers got an `Acquired` and no `Lost` since, they get a `Lost`, which is
    /// returned.
    pub(super) fn end(&mut self, agent: &AgentId, incarnation: Incarnation) -> Option<Event> {
        self.ended = self.ended.max(Some(incarnation));
        self.lose(agent, LostReason::Ended)
    }

    /// Ends a leadership without an event of the agent's machine. Returns the event that the subscribers got.
    pub(super) fn lose(&mut self, agent: &AgentId, reason: LostReason) -> Option<Event> {
        let term = self.acquired?;
        let event = Event::Lost { term, reason };
        self.tell_all(agent, &event).then_some(event)
    }

    /// Sends `Acquired` to the subscribers if the agent leads again, and the subscribers got a `Lost` when its
    /// leadership had run out. Returns the event.
    pub(super) fn regain(&mut self, agent: &AgentId, by: Incarnation, term: Term) -> Option<Event> {
        if self.acquired.is_some() {
            return None;
        }
        let event = Event::Acquired { term };
        self.tell(agent, by, &event).then_some(event)
    }

    /// Returns the term of the last `Acquired` that the subscribers got; `None` after a `Lost`.
    pub(super) fn acquired(&self) -> Option<Term> {
        self.acquired
    }

    /// Returns whether the caller has to start a task that waits for the end of the leadership: there are subscribers,
    /// they got an `Acquired`, and no such task exists until [`expiry_task_ended`](Self::expiry_task_ended).
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

    /// Makes a hand-over that has begun wait for the subscriber `id` as well.
    pub(super) fn wait_for(&mut self, id: SubscriberId) {
        self.working.insert(id);
    }

    /// Notes that the work of the subscriber `id` has ended.
    pub(super) fn drained(&mut self, id: SubscriberId) {
        self.working.remove(&id);
    }

    /// Returns whether a hand-over waits for no subscriber.
    pub(super) fn is_drained(&self) -> bool {
        self.working.is_empty()
    }

    /// Checks the next few working subscribers, and forgets the ones that have stopped. No message reports the stop of
    /// a subscriber, so the agent scans. Each scan checks a limited number, so that it takes no longer than a step
    /// should take.
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

    /// Returns the draining subscriber if there is exactly one.
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

/// Number of draining subscribers, as far as callers need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnlyDraining {
    None,
    One(SubscriberId),
    Several,
}

/// Largest number of subscribers that one scan checks.
const A_FEW: usize = 1_000;
