//! How an agent handles the messages of other agents' proxies, and answers them.
//!
//! Decided here: when a leader reports how many messages it has delivered (at once after a question, after some
//! messages, and after some time), and that messages wait in order of arrival while the actor has no room. Not here:
//! whether a message is taken; the [`Receiver`](super::super::receiver::Receiver) and the agent's leadership decide
//! this.

use std::{sync::Arc, time::Duration};

use actix::MailboxError;
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::{
    group::{AppMessage, Envelope, Snapshot},
    leader::messages::{EndpointState, InboxContext, encode},
    protocol::{AgentId, Term, Time},
};

use super::super::{
    LeaderMessage,
    arrived::ArrivedMessage,
    exchange::{Life, Refusal},
    frame::{ANSWER, AskReply, REPLY, RUN, RunAnswer, RunHead, RunMessages},
    receiver::{Arrival, Judgement, Session},
    state::{Inner, ProxyState, Unacknowledged},
};

impl<M: LeaderMessage> ProxyState<M> {
    /// Handles a frame of another agent's proxy: messages, or a question about the outcome of a run.
    pub(super) fn take(
        &self,
        here: &InboxContext<'_>,
        envelope: &Envelope<AppMessage>,
        head: RunHead,
        messages: RunMessages<'_>,
    ) {
        if !is_meant(&head, here.state, here.snapshot) {
            return;
        }
        let leads_in = here.agent.current().leading;
        let mut inner = self.lock();
        let snapshot = here.snapshot;
        inner
            .receiver
            .forget(|id, node| snapshot.node_of(id) == Some(node));
        let arrival = Arrival {
            from: head.from,
            run: head.run,
            first: head.first,
            count: messages.len(),
        };
        let skip = match inner.receiver.judge(&envelope.from, arrival) {
            Judgement::Ignore => return,
            Judgement::Refuse { next } => {
                return self.refuse(&mut inner, here, &envelope.from, head, next, Refusal::Gap);
            }
            Judgement::Take { session, skip } => {
                if arrival.count == 0 {
                    let next = session.next();
                    inner.unacknowledged.remove(&envelope.from);
                    return self.answer(here, &envelope.from, head, None, next);
                }
                usize::try_from(skip).unwrap_or(usize::MAX)
            }
        };
        let mut delivered: u64 = 0;
        for (ask, bytes) in messages.skip(skip) {
            if inner.arrived.is_empty() {
                let given = self.give_to(here, &envelope.from, (head, leads_in), ask, bytes);
                let Some(session) = inner.receiver.open(&envelope.from, head.from, head.run) else {
                    return;
                };
                match given {
                    Ok(()) => {
                        session.deliver();
                        delivered = delivered.saturating_add(1);
                        continue;
                    }
                    Err(Refusal::Busy) => {}
                    Err(why) => {
                        let next = session.close();
                        return self.refuse(&mut inner, here, &envelope.from, head, next, why);
                    }
                }
            }
            if !self.keep(&mut inner, here, envelope, head, (ask, bytes)) {
                return;
            }
        }
        let session = inner.receiver.open(&envelope.from, head.from, head.run);
        let Some(next) = session.map(|session| session.next().unwrap_or_default()) else {
            return;
        };
        if delivered > 0 || inner.arrived.is_empty() {
            inner.note_unacknowledged(here.now, &envelope.from, head, next, delivered.max(1));
        }
    }

    /// Keeps a message in the queue until the actor has room. Returns `false` if the queue has no room either; the
    /// message's run is then refused.
    fn keep(
        &self,
        inner: &mut Inner<M>,
        here: &InboxContext<'_>,
        envelope: &Envelope<AppMessage>,
        head: RunHead,
        (ask, bytes): (u64, &[u8]),
    ) -> bool {
        // An empty queue takes any message: a limit below the size of one message would refuse it for ever.
        while !inner.arrived.is_empty() && !inner.arrived.has_room(bytes.len(), &self.bounds) {
            let Some((from, largest)) = inner.arrived.largest() else {
                break;
            };
            let is_same = from == envelope.from;
            let session = inner.receiver.open(&from, largest.from, largest.run);
            match session.map(Session::close) {
                Some(next) => self.refuse(inner, here, &from, largest, next, Refusal::Busy),
                None => inner.arrived.drop_of(&from),
            }
            if is_same {
                return false;
            }
        }
        let Some(session) = inner.receiver.open(&envelope.from, head.from, head.run) else {
            return false;
        };
        session.wait();
        inner.arrived.push(ArrivedMessage {
            from: envelope.from.clone(),
            head,
            ask,
            bytes: Bytes::copy_from_slice(bytes),
        });
        true
    }

    /// Gives the waiting messages to the actor; returns whether it took all of them.
    pub(super) fn deliver_arrived(&self, inner: &mut Inner<M>, here: &InboxContext<'_>) -> bool {
        let leads_in = here.agent.current().leading;
        while let Some(message) = inner.arrived.pop() {
            let ArrivedMessage { from, head, .. } = &message;
            let Some(session) = inner.receiver.open(from, head.from, head.run) else {
                continue;
            };
            // `give_to` runs code of the application. If the code panics at a message, the message is not tried again,
            // and its run has ended.
            session.suspend();
            let given = self.give_to(here, from, (*head, leads_in), message.ask, &message.bytes);
            session.resume();
            match given {
                Ok(()) => {
                    session.deliver_waiting();
                    let next = session.next().unwrap_or_default();
                    inner.note_unacknowledged(here.now, from, *head, next, 1);
                }
                Err(Refusal::Busy) => {
                    inner.arrived.put_back(message);
                    return false;
                }
                Err(why) => {
                    let next = session.close();
                    self.refuse(inner, here, from, *head, next, why);
                }
            }
        }
        true
    }

    /// Gives another agent's message to the actor.
    fn give_to(
        &self,
        here: &InboxContext<'_>,
        from: &AgentId,
        (head, leads_in): (RunHead, Option<Term>),
        ask: u64,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let given = self.give(here, (head.term, leads_in), (from, bytes), |to, message| {
            if ask == 0 {
                return self.intake.hand(to, message, bytes.len()).is_ok();
            }
            let asked = self.intake.ask(to, message, bytes.len());
            asked
                .map(|answered| self.ask_for(from, (head.from, ask), answered))
                .is_ok()
        });
        if given?.is_none() && ask != 0 {
            let reply = AskReply::Malformed.write(head.from, ask);
            here.send(from, &self.name, REPLY, &reply);
        }
        Ok(())
    }

    /// Refuses the rest of a run, including its messages that wait for the actor.
    fn refuse(
        &self,
        inner: &mut Inner<M>,
        here: &InboxContext<'_>,
        to: &AgentId,
        head: RunHead,
        next: Option<u64>,
        why: Refusal,
    ) {
        inner.arrived.drop_of(to);
        inner.unacknowledged.remove(to);
        self.answer(here, to, head, Some(why), next);
    }

    /// Gives the actor a message whose sender waits for the answer.
    fn ask_for(
        &self,
        from: &AgentId,
        (life, ask): (Life, u64),
        answered: oneshot::Receiver<Result<M::Result, MailboxError>>,
    ) {
        let (endpoint, name) = (Arc::clone(&self.endpoint), self.name.clone());
        let (to, longest) = (from.clone(), self.longest);
        drop(actix::spawn(async move {
            let answer = answered.await.ok().and_then(Result::ok);
            let reply = match answer.map(|answer| encode(&answer, longest)) {
                Some(Ok(bytes)) => AskReply::Answer(&bytes).write(life, ask),
                Some(Err(_)) => AskReply::TooLong.write(life, ask),
                None => AskReply::Gone.write(life, ask),
            };
            let message = AppMessage::new(name, REPLY, &reply);
            endpoint.send(&to, message).ok(); // if this fails, the sender is told that the outcome is unknown
        }));
    }

    fn answer(
        &self,
        here: &InboxContext<'_>,
        to: &AgentId,
        head: RunHead,
        refusal: Option<Refusal>,
        next: Option<u64>,
    ) {
        let mut answer = RunAnswer::about(&head, refusal, next);
        if refusal == Some(Refusal::NotLeader) {
            let leader = here.agent.current().leader;
            answer.leader = leader.map(|leader| (leader.id, leader.term));
        }
        here.send(to, &self.name, ANSWER, &answer.write());
    }

    /// Sends the acknowledgements that are due. Returns the time at which the next acknowledgement is due.
    pub(super) fn acknowledge(
        &self,
        inner: &mut Inner<M>,
        here: &InboxContext<'_>,
    ) -> Option<Time> {
        let mut next = None;
        inner.unacknowledged.retain(|to, unacknowledged| {
            let Unacknowledged { due, messages, .. } = *unacknowledged;
            if here.now < due && messages < ACKNOWLEDGE {
                next = Some(next.map_or(due, |known: Time| known.min(due)));
                return true;
            }
            let delivered = Some(unacknowledged.next);
            self.answer(here, to, unacknowledged.head, None, delivered);
            false
        });
        next
    }
}

impl<M: LeaderMessage> Inner<M> {
    fn note_unacknowledged(
        &mut self,
        now: Time,
        from: &AgentId,
        head: RunHead,
        next: u64,
        count: u64,
    ) {
        let noted = self
            .unacknowledged
            .entry(from.clone())
            .or_insert_with(|| Unacknowledged {
                head,
                next,
                messages: 0,
                due: now.after(ACKNOWLEDGE_AFTER),
            });
        (noted.head, noted.next) = (head, next);
        noted.messages = noted.messages.saturating_add(count);
    }
}

/// Answers another agent's proxy if this agent has no proxy with its name: no actor here takes the message.
pub(crate) fn unregistered(
    state: &EndpointState,
    snapshot: &Snapshot<AppMessage>,
    envelope: &Envelope<AppMessage>,
) -> Option<()> {
    let AppMessage { name, kind, body } = &envelope.message;
    let (head, _) = RunHead::read(&body.0).filter(|_| *kind == RUN)?;
    if !is_meant(&head, state, snapshot) {
        return Some(());
    }
    let answer = RunAnswer::about(&head, Some(Refusal::Unregistered), Some(0));
    let message = AppMessage::new(name.clone(), ANSWER, &answer.write());
    state.send(&envelope.from, message).ok()
}

/// Returns whether a run was sent to this endpoint, and not to a former endpoint of this agent, on this or another
/// node.
/// Only the endpoint to which a run was sent knows the outcome of the run.
fn is_meant(head: &RunHead, state: &EndpointState, snapshot: &Snapshot<AppMessage>) -> bool {
    // Uses the name under which this node is known now: the sender saw the endpoint under that name.
    let here = Life {
        node: snapshot.node(),
        incarnation: state.incarnation(),
    };
    head.to == here
}

/// Number of deliveries after which a leader acknowledges them, even before [`ACKNOWLEDGE_AFTER`] has passed. Chosen:
/// a sixteenth of a sender's default buffer, so that senders rarely wait, and answers are few.
const ACKNOWLEDGE: u64 = 64;
/// Time after a delivery until the leader acknowledges it, even if fewer than [`ACKNOWLEDGE`] messages were delivered.
/// Chosen: far below the time after which a sender asks (200 ms).
const ACKNOWLEDGE_AFTER: Duration = Duration::from_millis(10);
