//! The endpoint's work for a proxy: sends waiting messages, and takes arriving messages.
//!
//! Decided here: the agent's own leadership is checked for each message, right before the actor gets it. Not here:
//! which messages may be sent and taken; the sender's and the receiver's state machines decide that.

use actix::MailboxError;
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::{
    group::{AppMessage, Envelope},
    leader::messages::{Arrived, EndpointState, Inbox, InboxContext, decode},
    protocol::{AgentId, Presence, Term, Time},
};

use super::{
    LeaderMessage, ProxyError,
    exchange::{Answerer, Life, Next, Refusal, Settled, Target, may_answer},
    frame::{ANSWER, AskReply, REPLY, RUN, RunAnswer, RunHead, write_message},
    state::{Inner, ProxyState},
};

mod leader;

pub(crate) use leader::unregistered;

impl<M: LeaderMessage> Inbox for ProxyState<M> {
    fn receive(&self, here: &InboxContext<'_>, arrived: Arrived) {
        let envelope = &arrived.envelope;
        let body = &*envelope.message.body.0;
        let known = match envelope.message.kind {
            RUN => RunHead::read(body).map(|(head, messages)| {
                self.take(here, envelope, head, messages);
            }),
            ANSWER => RunAnswer::read(body).map(|answer| self.hear(here, envelope, answer)),
            REPLY => AskReply::read(body).map(|(to, ask, reply)| {
                if to == own_life(&self.endpoint) {
                    self.replied(&envelope.from, ask, reply);
                }
            }),
            _ => None,
        };
        if known.is_none() {
            here.state.note_unreadable();
        }
    }

    fn look(&self, here: &InboxContext<'_>) -> Option<Time> {
        let mut inner = self.lock();
        if inner.version != here.snapshot.version() {
            inner.version = here.snapshot.version();
            inner.see_ends(here);
        }
        let view = seen_leader(here);
        if !inner.sender.sees(view.as_ref()) {
            inner.last = None;
            inner.sender.see(here.now, view);
        }
        // If the actor has no room, the messages of this agent and the messages of other agents take turns.
        let is_own_turn = inner.is_own_turn;
        let mut had_room = is_own_turn || self.deliver_arrived(&mut inner, here);
        // If the actor of this process has no room, messages to this agent wait, but messages to another leader are
        // sent.
        while had_room || !inner.sender.wants(here.state.id()) {
            let (next, settled) = inner.sender.next(here.now, MOST, BATCH);
            inner.settle(&settled);
            match next {
                Some(next) => had_room &= self.send(&mut inner, here, &next),
                None => break,
            }
        }
        if is_own_turn && had_room {
            had_room = self.deliver_arrived(&mut inner, here);
        }
        inner.is_own_turn = !had_room && !is_own_turn;
        let due = self.acknowledge(&mut inner, here);
        self.note_direct(&inner);
        let wakes_at = inner.sender.wakes_at();
        if had_room {
            inner.retries.clear();
            return wakes_at.into_iter().chain(due).min();
        }
        // Tries again after a pause: only time or an answer makes room at the actor, and an answer wakes this inbox.
        let again = here.now.after(inner.retries.pause());
        Some(due.map_or(again, |due| due.min(again)))
    }

    fn end(&self) {
        Self::end(self);
    }
}

impl<M: LeaderMessage> ProxyState<M> {
    /// Sends a frame. Returns `false` if the frame is for the actor of this process, and the actor takes no more
    /// messages.
    fn send(&self, inner: &mut Inner<M>, here: &InboxContext<'_>, next: &Next) -> bool {
        let Next {
            to,
            run,
            first,
            count,
        } = next;
        let (run, first, count) = (*run, *first, *count);
        if to.id == *here.state.id() {
            return self.deliver_here(inner, here, to, run, first, count);
        }
        let size: usize = inner.sender.in_flight(count).map(|item| item.size).sum();
        let mut body = Vec::with_capacity(size.saturating_add(32));
        let head = RunHead {
            from: own_life(here.state),
            to: to.life,
            run,
            term: to.term,
            first,
        };
        head.write(&mut body);
        let Inner { sender, asks, .. } = inner;
        for item in sender.in_flight(count) {
            let mut ask = 0;
            if item.payload.is_ask {
                ask = item.id;
                if let Some(waiting) = asks.get_mut(&ask) {
                    waiting.to = Some((to.id.clone(), to.life));
                }
            }
            write_message(ask, &item.payload.bytes, &mut body);
        }
        here.send(&to.id, &self.name, RUN, &body);
        true
    }

    /// Delivers messages to this agent itself, which leads or has led. Like messages of other agents, these messages
    /// wait until earlier messages were delivered.
    fn deliver_here(
        &self,
        inner: &mut Inner<M>,
        here: &InboxContext<'_>,
        to: &Target,
        run: u64,
        first: u64,
        count: usize,
    ) -> bool {
        let messages: Vec<(u64, bool, Bytes)> = inner
            .sender
            .in_flight(count)
            .map(|item| (item.id, item.payload.is_ask, item.payload.bytes.clone()))
            .collect();
        let leads_in = here.agent.current().leading;
        let (mut next, mut refused) = (first, None);
        for (id, is_ask, bytes) in messages {
            let from = (&to.id, &*bytes);
            let given = self.give(here, (to.term, leads_in), from, |to, message| {
                let size = bytes.len();
                if is_ask {
                    let asked = self.intake.ask(to, message, size);
                    asked.map(|answered| inner.ask_here(id, answered)).is_ok()
                } else {
                    self.intake.hand(to, message, size).is_ok()
                }
            });
            match given {
                Ok(Some(())) => {}
                Ok(None) => inner.answer(id, Err(ProxyError::Malformed)),
                Err(why) => {
                    refused = Some(why);
                    break;
                }
            }
            next = next.saturating_add(1);
        }
        let from = Answerer {
            id: &to.id,
            life: to.life,
            run,
        };
        let settled = match refused {
            // A question about messages that were given to the actor of this process. The application's code panicked
            // meanwhile, so the number of delivered messages is unknown.
            None if count == 0 => inner
                .sender
                .refused(here.now, &from, None, Refusal::Gap, None),
            None => inner.sender.acknowledged(here.now, &from, next),
            Some(why) => {
                inner.last = Some(why);
                let next = Some(next);
                let settled = inner.sender.refused(here.now, &from, next, why, None);
                if why == Refusal::Busy {
                    // The inbox is woken when there is room, so no pause is needed.
                    inner.sender.resume(here.now);
                }
                settled
            }
        };
        inner.settle(&settled);
        refused != Some(Refusal::Busy)
    }

    /// Gives a message to the actor of this process, if this agent leads in `term` and `give` finds room. Returns
    /// `None` if the bytes are not a message.
    fn give(
        &self,
        here: &InboxContext<'_>,
        (term, leads_in): (Term, Option<Term>),
        (from, bytes): (&AgentId, &[u8]),
        give: impl FnOnce(&actix::Recipient<M>, M) -> bool,
    ) -> Result<Option<()>, Refusal> {
        if leads_in != Some(term) || !here.agent.is_leader() {
            return Err(Refusal::NotLeader);
        }
        let given = self.handling.with(bytes, |to, bytes| {
            let message = decode(bytes).inspect_err(|reason| {
                here.state.note_undecoded(&self.name, from, reason);
            });
            message.ok().map(|message| give(to, message))
        });
        match given.map_err(|(why, _)| why)? {
            Some(true) => Ok(Some(())),
            Some(false) => Err(Refusal::Busy),
            None => Ok(None),
        }
    }

    /// Handles a leader's answer about the progress of a run.
    fn hear(&self, here: &InboxContext<'_>, envelope: &Envelope<AppMessage>, answer: RunAnswer) {
        if answer.to != own_life(&self.endpoint) {
            return; // to a former endpoint of this name
        }
        let mut inner = self.lock();
        let from = Answerer {
            id: &envelope.from,
            life: answer.from,
            run: answer.run,
        };
        let settled = match (answer.refusal, answer.next) {
            (None, Some(next)) => inner.sender.acknowledged(here.now, &from, next),
            (None, None) => Settled::default(),
            (Some(why), next) => {
                inner.last = Some(why);
                let redirect = answer.leader.and_then(|(id, term)| target(here, id, term));
                inner.sender.refused(here.now, &from, next, why, redirect)
            }
        };
        inner.settle(&settled);
    }

    /// Handles an actor's answer to a message whose sender waits for the answer.
    fn replied(&self, from: &AgentId, ask: u64, reply: AskReply<'_>) {
        let mut inner = self.lock();
        let to = inner.asks.get(&ask).and_then(|ask| ask.to.as_ref());
        if may_answer(to, from) {
            let answer = match reply {
                AskReply::Answer(bytes) => decode(bytes).map_err(|_| ProxyError::Malformed),
                AskReply::Gone => Err(ProxyError::ReceiverGone),
                AskReply::Malformed => Err(ProxyError::Malformed),
                AskReply::TooLong => Err(ProxyError::AnswerTooLong),
            };
            inner.answer(ask, answer);
        }
    }
}

impl<M: LeaderMessage> Inner<M> {
    /// Notes that the actor of this process got a message whose sender waits for the answer, and passes the answer on
    /// when it comes.
    fn ask_here(&mut self, id: u64, answered: oneshot::Receiver<Result<M::Result, MailboxError>>) {
        if let Some(ask) = self.asks.remove(&id) {
            drop(actix::spawn(async move {
                let answer = answered.await.ok().and_then(Result::ok);
                let answer = answer.ok_or(ProxyError::ReceiverGone);
                ask.answer.send(answer).ok();
            }));
        }
    }

    fn answer(&mut self, ask: u64, answer: Result<M::Result, ProxyError>) {
        if let Some(ask) = self.asks.remove(&ask) {
            ask.answer.send(answer).ok(); // the caller may have given up
        }
    }

    /// Ends the wait for answers of endpoints that have ended.
    fn see_ends(&mut self, here: &InboxContext<'_>) {
        let settled = self.sender.see_ends(|id| endpoint(here, id));
        self.settle(&settled);
        let is_lost = |to: &Option<(AgentId, Life)>| {
            let to = to.as_ref();
            to.is_some_and(|(id, life)| endpoint(here, id) != Some(*life))
        };
        let lost = self.asks.iter().filter(|(_, ask)| is_lost(&ask.to));
        let lost: Vec<u64> = lost.map(|(id, _)| *id).collect();
        for id in lost {
            self.answer(id, Err(ProxyError::Unknown));
        }
    }
}

/// Returns the leader, as this agent sees it; `None` if no leader that takes messages is known.
fn seen_leader(here: &InboxContext<'_>) -> Option<Target> {
    let status = here.agent.current();
    let leader = status.leader?;
    let term = if leader.id == *here.state.id() {
        status.leading?
    } else {
        leader.term
    };
    target(here, leader.id, term)
}

fn target(here: &InboxContext<'_>, id: AgentId, term: Term) -> Option<Target> {
    let life = endpoint(here, &id)?;
    Some(Target { id, life, term })
}

/// Returns the endpoint of an agent, unless the end of the agent is confirmed.
fn endpoint(here: &InboxContext<'_>, id: &AgentId) -> Option<Life> {
    if id == here.state.id() {
        return Some(own_life(here.state));
    }
    let member = here.snapshot.members().get(id)?;
    let is_there = member.presence != Presence::Down;
    Some(Life {
        node: here.snapshot.node_of(id)?,
        incarnation: member.incarnation.filter(|_| is_there)?,
    })
}

/// Returns the identity of this agent's endpoint.
fn own_life(endpoint: &EndpointState) -> Life {
    Life {
        node: endpoint.node(),
        incarnation: endpoint.incarnation(),
    }
}

/// Largest number of messages in one frame.
const MOST: usize = 1_024;
/// Largest number of bytes in one frame, unless one message is longer. The leader's actor runs between two frames, so
/// it works while the next frame is on its way. This size fits into the smallest frame limit of a bridge.
const BATCH: usize = 2_000;
