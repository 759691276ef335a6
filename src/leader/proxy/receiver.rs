//! Which messages of a run a leader takes: a machine without actor, clock or chance.
//!
//! Decided here: that the messages of a run are taken in their order, each once, and that a run of which one message
//! was refused is over for good: none of it is taken later, whatever has changed by then; nor is what waits of it for the
//! actor. A message counts as delivered once the actor has it. So the sender may send
//! what was refused to another leader. What is known of a sender on one node says nothing of one on another node, since
//! their incarnations have no order. Not here: whether this agent leads; the caller asks at each message.

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
    /// Whether a sender was ever forgotten: one that is not known may have been met before.
    has_forgotten: bool,
}

/// What was taken of one sender.
#[derive(Debug)]
pub(super) struct Session {
    incarnation: Incarnation,
    run: u64,
    /// Those before this number were delivered; `None` if that is not known.
    next: Option<u64>,
    /// Number of further messages that have come, and wait for the actor.
    waiting: u64,
    is_closed: bool,
}

/// Messages of a run that have come: from the number `first` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) from: Life,
    pub(super) run: u64,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// What becomes of an arrival.
#[derive(Debug)]
pub(super) enum Judgement<'a> {
    /// It is taken, but for its first `skip` messages, which were taken before: deliver one after the other, with
    /// [`Session::deliver`] for each, or have it [wait](Session::wait), or [`Session::close`] it.
    Take { session: &'a mut Session, skip: u64 },
    /// The run is over; those before `next` were delivered.
    Refuse { next: Option<u64> },
    /// It is of a former run.
    Ignore,
}

impl Receiver {
    /// Judges what has come from a sender. A question about a run is an arrival without messages.
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
                next: (first == 0 || !has_forgotten).then_some(0),
                waiting: 0,
                // What stood before it was lost on its way.
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
            // Nothing of it was taken yet, or this would not be the first that is heard of it.
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

    /// The run of that sender, if what waits of it is still to be delivered.
    pub(super) fn open(&mut self, from: &AgentId, life: Life, run: u64) -> Option<&mut Session> {
        let session = self.sessions.get_mut(&(from.clone(), life.node))?;
        let is_same = session.incarnation == life.incarnation && session.run == run;
        (is_same && !session.is_closed).then_some(session)
    }

    /// Forgets senders that are no members on that node, once there are many of them.
    pub(super) fn forget(&mut self, is_member: impl Fn(&AgentId, NodeDigest) -> bool) {
        if self.sessions.len() > MANY {
            self.has_forgotten = true;
            self.sessions.retain(|(id, node), _| is_member(id, *node));
        }
    }
}

impl Session {
    /// The next message is delivered.
    pub(super) fn deliver(&mut self) {
        self.next = self.next.map(|next| next.saturating_add(1));
    }

    /// The next message waits for the actor.
    pub(super) fn wait(&mut self) {
        self.waiting = self.waiting.saturating_add(1);
    }

    /// The first waiting message is delivered.
    pub(super) fn deliver_waiting(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
        self.deliver();
    }

    /// No more of the run is taken until it [goes on](Self::resume).
    pub(super) fn suspend(&mut self) {
        self.is_closed = true;
    }

    /// See [`suspend`](Self::suspend).
    pub(super) fn resume(&mut self) {
        self.is_closed = false;
    }

    /// No more of the run is taken, now or later; says up to which number it was.
    pub(super) fn close(&mut self) -> Option<u64> {
        (self.is_closed, self.waiting) = (true, 0);
        self.next
    }

    /// Up to which number the run was delivered.
    pub(super) fn next(&self) -> Option<u64> {
        self.next
    }
}

/// Sessions of so many senders are kept in any case.
const MANY: usize = 4_096;
