//! What an agent does with the messages of other agents' proxies, and what it answers them.
//!
//! Decided here: when a leader says how far it has come: at once to a question, after some messages, and after a
//! while. Not here: whether a message is taken; that is for the [`Receiver`](super::super::receiver::Receiver) and
//! the agent's leadership.

use std::{sync::Arc, time::Duration};

use crate::{
    group::{AppMessage, Envelope},
    leader::messages::{EndpointState, InboxContext, encode},
    protocol::{Incarnation, Time},
};

use super::super::{
    LeaderMessage,
    exchange::Refusal,
    frame::{ANSWER, AskReply, REPLY, RUN, RunAnswer, RunHead, RunMessages},
    receiver::{Arrival, Judgement},
    state::{Inner, ProxyState},
};

/// What a leader has delivered, and has not said so yet.
#[derive(Clone, Copy, Debug)]
pub(in crate::leader::proxy) struct Unacknowledged {
    incarnation: Incarnation,
    run: u64,
    next: u64,
    messages: u64,
    due: Time,
}

impl<M: LeaderMessage> ProxyState<M> {
    /// Messages of another agent's proxy, or its question.
    pub(super) fn take(
        &self,
        here: &InboxContext<'_>,
        envelope: &Envelope<AppMessage>,
        head: RunHead,
        messages: RunMessages<'_>,
    ) {
        if head.to != self.endpoint.incarnation() {
            return; // for a former endpoint of this name
        }
        let leads_in = here.agent.current().leading;
        let mut inner = self.lock();
        let members = here.snapshot.members();
        inner.receiver.forget(|id| members.get(id).is_some());
        let count = messages.len();
        let arrival = Arrival {
            incarnation: envelope.incarnation,
            run: head.run,
            first: head.first,
            count,
        };
        let refused = match inner.receiver.judge(&envelope.from, arrival) {
            Judgement::Ignore => return,
            Judgement::Refuse { next } => Err((next, Refusal::Gap)),
            Judgement::Take { session, skip } => {
                let mut taken = Ok(session.next().unwrap_or_default());
                let skip = usize::try_from(skip).unwrap_or(usize::MAX);
                for (ask, bytes) in messages.skip(skip) {
                    let given = self.give(here, (head.term, leads_in), bytes, |to, message| {
                        if ask == 0 {
                            to.do_send(message);
                        } else {
                            self.ask_for(envelope, ask, to.clone().send(message));
                        }
                    });
                    match given {
                        Ok(Some(())) => {}
                        Ok(None) if ask == 0 => {}
                        Ok(None) => {
                            let reply = AskReply::Malformed.write(envelope.incarnation, ask);
                            here.send(&envelope.from, &self.name, REPLY, &reply);
                        }
                        Err(why) => {
                            taken = Err((session.close(), why));
                            break;
                        }
                    }
                    session.deliver();
                    taken = Ok(session.next().unwrap_or_default());
                }
                taken
            }
        };
        match refused {
            Ok(next) if count == 0 => {
                inner.unacknowledged.remove(&envelope.from);
                self.answer(here, envelope, head.run, None, Some(next));
            }
            Ok(next) => inner.note_unacknowledged(here.now, envelope, head.run, next, count),
            Err((next, why)) => {
                inner.unacknowledged.remove(&envelope.from);
                self.answer(here, envelope, head.run, Some(why), next);
            }
        }
    }

    /// The actor has a message whose sender waits for the answer.
    fn ask_for(
        &self,
        envelope: &Envelope<AppMessage>,
        ask: u64,
        request: actix::dev::RecipientRequest<M>,
    ) {
        let (endpoint, name) = (Arc::clone(&self.endpoint), self.name.clone());
        let (to, incarnation, longest) =
            (envelope.from.clone(), envelope.incarnation, self.longest);
        drop(actix::spawn(async move {
            let reply = match request.await.map(|answer| encode(&answer, longest)) {
                Ok(Ok(bytes)) => AskReply::Answer(&bytes).write(incarnation, ask),
                Ok(Err(_)) => AskReply::TooLong.write(incarnation, ask),
                Err(_) => AskReply::Gone.write(incarnation, ask),
            };
            let message = AppMessage::new(name, REPLY, &reply);
            endpoint.send(&to, message).ok(); // else its sender is told that nothing is known
        }));
    }

    fn answer(
        &self,
        here: &InboxContext<'_>,
        envelope: &Envelope<AppMessage>,
        run: u64,
        refusal: Option<Refusal>,
        next: Option<u64>,
    ) {
        let sees = (refusal == Some(Refusal::NotLeader))
            .then(|| here.agent.current().leader)
            .flatten();
        let answer = RunAnswer {
            to: envelope.incarnation,
            run,
            refusal,
            next,
            leader: sees.map(|leader| (leader.id, leader.term)),
        };
        here.send(&envelope.from, &self.name, ANSWER, &answer.write());
    }

    /// Says how far runs have come, where it is time for that; says when it is the next time.
    pub(super) fn acknowledge(
        &self,
        inner: &mut Inner<M>,
        here: &InboxContext<'_>,
    ) -> Option<Time> {
        let mut next = None;
        inner.unacknowledged.retain(|to, unacknowledged| {
            let Unacknowledged {
                incarnation,
                run,
                next: delivered,
                messages,
                due,
            } = *unacknowledged;
            if here.now < due && messages < ACKNOWLEDGE {
                next = Some(next.map_or(due, |known: Time| known.min(due)));
                return true;
            }
            let answer = RunAnswer {
                to: incarnation,
                run,
                refusal: None,
                next: Some(delivered),
                leader: None,
            };
            here.send(to, &self.name, ANSWER, &answer.write());
            false
        });
        next
    }
}

impl<M: LeaderMessage> Inner<M> {
    fn note_unacknowledged(
        &mut self,
        now: Time,
        envelope: &Envelope<AppMessage>,
        run: u64,
        next: u64,
        count: u64,
    ) {
        let Envelope {
            from, incarnation, ..
        } = envelope;
        let noted = self
            .unacknowledged
            .entry(from.clone())
            .or_insert_with(|| Unacknowledged {
                incarnation: *incarnation,
                run,
                next,
                messages: 0,
                due: now.after(ACKNOWLEDGE_AFTER),
            });
        (noted.incarnation, noted.run, noted.next) = (*incarnation, run, next);
        noted.messages = noted.messages.saturating_add(count);
    }
}

/// What is sent to an agent without a proxy of that name: that nothing there takes it.
pub(crate) fn unregistered(state: &EndpointState, envelope: &Envelope<AppMessage>) -> Option<()> {
    let AppMessage { name, kind, body } = &envelope.message;
    let (head, _) = RunHead::read(&body.0).filter(|_| *kind == RUN)?;
    let answer = RunAnswer {
        to: envelope.incarnation,
        run: head.run,
        refusal: Some(Refusal::Unregistered),
        next: (head.to == state.incarnation()).then_some(0),
        leader: None,
    };
    let message = AppMessage::new(name.clone(), ANSWER, &answer.write());
    state.send(&envelope.from, message).ok()
}

/// After so many messages a leader says how far it has come.
const ACKNOWLEDGE: u64 = 64;
/// And after so long.
const ACKNOWLEDGE_AFTER: Duration = Duration::from_millis(10);
