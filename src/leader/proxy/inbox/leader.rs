//! What an agent does with the messages of other agents' proxies, and what it answers them.
//!
//! Decided here: when a leader says how far it has come: at once to a question, after some messages, and after a
//! while. Not here: whether a message is taken; that is for the [`Receiver`](super::super::receiver::Receiver) and
//! the agent's leadership.

use std::{sync::Arc, time::Duration};

use crate::{
    group::{AppMessage, Envelope, Snapshot},
    leader::messages::{EndpointState, InboxContext, encode},
    protocol::Time,
};

use super::super::{
    LeaderMessage,
    exchange::{Life, Refusal},
    frame::{ANSWER, AskReply, REPLY, RUN, RunAnswer, RunHead, RunMessages},
    receiver::{Arrival, Judgement},
    state::{Inner, ProxyState},
};

/// What a leader has delivered, and has not said so yet.
#[derive(Clone, Copy, Debug)]
pub(in crate::leader::proxy) struct Unacknowledged {
    from: Life,
    to: Life,
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
        if !is_meant(&head, here.state, here.snapshot) {
            return;
        }
        let leads_in = here.agent.current().leading;
        let mut inner = self.lock();
        let snapshot = here.snapshot;
        inner
            .receiver
            .forget(|id, node| snapshot.node_of(id) == Some(node));
        let count = messages.len();
        let arrival = Arrival {
            from: head.from,
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
                            self.ask_for(envelope, (head.from, ask), to.clone().send(message));
                        }
                    });
                    match given {
                        Ok(Some(())) => {}
                        Ok(None) if ask == 0 => {}
                        Ok(None) => {
                            let reply = AskReply::Malformed.write(head.from, ask);
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
                self.answer(here, envelope, head, None, Some(next));
            }
            Ok(next) => inner.note_unacknowledged(here.now, envelope, head, next, count),
            Err((next, why)) => {
                inner.unacknowledged.remove(&envelope.from);
                self.answer(here, envelope, head, Some(why), next);
            }
        }
    }

    /// The actor has a message whose sender waits for the answer.
    fn ask_for(
        &self,
        envelope: &Envelope<AppMessage>,
        (life, ask): (Life, u64),
        request: actix::dev::RecipientRequest<M>,
    ) {
        let (endpoint, name) = (Arc::clone(&self.endpoint), self.name.clone());
        let (to, longest) = (envelope.from.clone(), self.longest);
        drop(actix::spawn(async move {
            let reply = match request.await.map(|answer| encode(&answer, longest)) {
                Ok(Ok(bytes)) => AskReply::Answer(&bytes).write(life, ask),
                Ok(Err(_)) => AskReply::TooLong.write(life, ask),
                Err(_) => AskReply::Gone.write(life, ask),
            };
            let message = AppMessage::new(name, REPLY, &reply);
            endpoint.send(&to, message).ok(); // else its sender is told that nothing is known
        }));
    }

    fn answer(
        &self,
        here: &InboxContext<'_>,
        envelope: &Envelope<AppMessage>,
        head: RunHead,
        refusal: Option<Refusal>,
        next: Option<u64>,
    ) {
        let sees = (refusal == Some(Refusal::NotLeader))
            .then(|| here.agent.current().leader)
            .flatten();
        let answer = RunAnswer {
            from: head.to,
            to: head.from,
            run: head.run,
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
                from,
                to: life,
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
                from,
                to: life,
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
        head: RunHead,
        next: u64,
        count: u64,
    ) {
        let noted = self
            .unacknowledged
            .entry(envelope.from.clone())
            .or_insert_with(|| Unacknowledged {
                from: head.to,
                to: head.from,
                run: head.run,
                next,
                messages: 0,
                due: now.after(ACKNOWLEDGE_AFTER),
            });
        (noted.from, noted.to) = (head.to, head.from);
        (noted.run, noted.next) = (head.run, next);
        noted.messages = noted.messages.saturating_add(count);
    }
}

/// What is sent to an agent without a proxy of that name: that nothing there takes it.
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
    let answer = RunAnswer {
        from: head.to,
        to: head.from,
        run: head.run,
        refusal: Some(Refusal::Unregistered),
        next: Some(0),
        leader: None,
    };
    let message = AppMessage::new(name.clone(), ANSWER, &answer.write());
    state.send(&envelope.from, message).ok()
}

/// Whether a run was sent to this endpoint, and not to a former one of this name, here or on another node: only the
/// one that it was sent to can know what became of it.
fn is_meant(head: &RunHead, state: &EndpointState, snapshot: &Snapshot<AppMessage>) -> bool {
    // By the name under which this node is known now: that is where the sender saw the endpoint.
    let here = Life {
        node: snapshot.node(),
        incarnation: state.incarnation(),
    };
    head.to == here
}

/// After so many messages a leader says how far it has come.
const ACKNOWLEDGE: u64 = 64;
/// And after so long.
const ACKNOWLEDGE_AFTER: Duration = Duration::from_millis(10);
