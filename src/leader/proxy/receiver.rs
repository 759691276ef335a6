//! Decides which messages of a run a leader takes: a state machine without an actor, a clock or random numbers.
//!
//! Decided here: the messages of a run are taken in their order, each once. If one message of a run is refused, the run
//! has ended for good: no later message of the run is ever taken, and the messages of the run that wait for the actor
//! are dropped. A message counts as delivered once the actor has it. So a message that was refused was never delivered,
//! and the sender may send it to another leader. Each node of a sender has a state of its own, since the incarnations
//! of two nodes have no order. Not here: whether this agent leads; the caller checks this at each message.

use std::collections::BTreeMap;

use crate::{
    group::NodeDigest,
    protocol::{AgentId, Incarnation},
};

use super::exchange::Life;

/// The receiving side of one proxy, for all senders.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    sessions: BTreeMap<(AgentId, NodeDigest), Session>,
    /// Whether the state of any sender was ever forgotten. If so, a sender without a state may have delivered messages
    /// before.
    has_forgotten: bool,
}

/// The state of one sender's run.
#[derive(Debug)]
pub(super) struct Session {
    incarnation: Incarnation,
    run: u64,
    /// Messages before this number were delivered; `None` if the number is unknown.
    next: Option<u64>,
    /// Number of messages of the run that have arrived and wait for the actor.
    waiting: u64,
    is_closed: bool,
}

/// Messages of a run that have arrived: from the number `first` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) from: Life,
    pub(super) run: u64,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// The decision about an arrival.
#[derive(Debug)]
pub(super) enum Judgement<'a> {
    /// The messages are taken, except the first `skip` messages, which were taken before. For each of the other
    /// messages, call [`Session::deliver`] or [`Session::wait`], or end the run with [`Session::close`].
    Take { session: &'a mut Session, skip: u64 },
    /// The run has ended; the messages before `next` were delivered.
    Refuse { next: Option<u64> },
    /// The arrival belongs to a former run.
    Ignore,
}

impl Receiver {
    /// Judges an arrival of a sender. A question about a run is an arrival without messages.
    pub(super) fn judge(&mut self, from: &AgentId, arrival: Arrival) -> Judgement<'_> {
        let Arrival {
            from: Life { node, incarnation },
            run,
            first,
            count,
        } = arrival;
        let has_forgotten = self.has_forgotten;
        let session = self
            .sessions
            .entry((from.clone(), node))
            .or_insert_with(|| Session {
                next: (first == 0 || !has_forgotten).then_some(0), // else an earlier delivery may be forgotten
                waiting: 0,
                // If `first` is not 0, the messages before it were lost on their way, so nothing of the run is taken.
                is_closed: first != 0,
                incarnation,
                run,
            });
        if (incarnation, run) < (session.incarnation, session.run) {
            return Judgement::Ignore;
        }
        if incarnation > session.incarnation {
            (session.incarnation, session.run) = (incarnation, run);
            (session.next, session.waiting, session.is_closed) = (Some(0), 0, false);
        } else if run > session.run {
            // No message of this run was taken yet, because this is the first arrival of the run.
            session.run = run;
            (session.next, session.waiting, session.is_closed) = (Some(0), 0, false);
        }
        if session.is_closed {
            return Judgement::Refuse { next: session.next };
        }
        let next = session.next.unwrap_or_default();
        let next = next.saturating_add(session.waiting);
        if first > next {
            let next = session.close();
            return Judgement::Refuse { next };
        }
        let skip = next.saturating_sub(first).min(count);
        Judgement::Take { session, skip }
    }

    /// Returns the run `run` of the sender `from`, if its waiting messages are still to be delivered.
    pub(super) fn open(&mut self, from: &AgentId, life: Life, run: u64) -> Option<&mut Session> {
        let session = self.sessions.get_mut(&(from.clone(), life.node))?;
        let is_same = session.incarnation == life.incarnation && session.run == run;
        (is_same && !session.is_closed).then_some(session)
    }

    /// Forgets senders that are not members on the node of their state, once there are many senders.
    pub(super) fn forget(&mut self, is_member: impl Fn(&AgentId, NodeDigest) -> bool) {
        if self.sessions.len() > MANY {
            self.has_forgotten = true;
            self.sessions.retain(|(id, node), _| is_member(id, *node));
        }
    }
}

impl Session {
    /// Notes that the next message is delivered.
    pub(super) fn deliver(&mut self) {
        self.next = self.next.map(|next| next.saturating_add(1));
    }

    /// Notes that the next message waits for the actor.
    pub(super) fn wait(&mut self) {
        self.waiting = self.waiting.saturating_add(1);
    }

    /// Notes that the first waiting message is delivered.
    pub(super) fn deliver_waiting(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
        self.deliver();
    }

    /// Takes no more messages of the run until [`resume`](Self::resume).
    pub(super) fn suspend(&mut self) {
        self.is_closed = true;
    }

    /// Ends [`suspend`](Self::suspend).
    pub(super) fn resume(&mut self) {
        self.is_closed = false;
    }

    /// Takes no more messages of the run, now or later; returns the number before which all messages were delivered.
    pub(super) fn close(&mut self) -> Option<u64> {
        (self.is_closed, self.waiting) = (true, 0);
        self.next
    }

    /// Returns the number before which all messages of the run were delivered; `None` if it is unknown.
    pub(super) fn next(&self) -> Option<u64> {
        self.next
    }
}

/// Number of sessions above which absent senders are forgotten, so that other hosts cannot make the map grow for ever.
const MANY: usize = 4_096;
