//! The one actor that passes on all messages and all events of a cluster.
//!
//! Decided here: one mailbox takes the messages and events of all agents. An agent's messages, including those of its
//! application, and its events are recorded in the order in which it sent them. Two runs in which the agents send the
//! same messages have the same record.

use std::{fmt::Debug, sync::Arc};

use actix::{
    Actor, ActorContext, Addr, AsyncContext, Context, Handler, Message, Recipient, StreamHandler,
    clock::Instant,
};
use futures::StreamExt;

use super::{
    journal::{SharedJournal, open},
    parcel::Parcel,
};
use crate::{
    agent::{ElectionHandle, Lifecycle, Notice, Status},
    group::{AppMessage, Envelope, LocalWire},
    protocol::{AgentId, Election, PeerMessage},
    supervisor::{Deadline, Supervision},
};

/// See the [module's page](self).
pub(super) struct Hub<M: PeerMessage> {
    journal: SharedJournal<M>,
    deadline: Deadline,
}

impl<M: PeerMessage> Hub<M> {
    pub(super) fn begin(journal: &SharedJournal<M>) -> Addr<Self> {
        let journal = Arc::clone(journal);
        let deadline = Deadline::default();
        Self { journal, deadline }.start()
    }

    fn deliver(&self, ctx: &Context<Self>) {
        if let Some(after) = open(&self.journal).deliver()
            && let Some(at) = Instant::now().checked_add(after)
        {
            self.deadline.set_in(ctx, at);
        }
    }
}

impl<M: PeerMessage> Actor for Hub<M> {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        if std::thread::panicking() {
            return; // the agent could not be started: this event is only its end
        }
        self.deadline
            .run(ctx, |hub: &mut Self, ctx| hub.deliver(ctx));
    }
}

/// A message of the election that an agent sends.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Carry<M: PeerMessage>(pub(super) Parcel<M>);

impl<M: PeerMessage> Handler<Carry<M>> for Hub<M> {
    type Result = ();

    fn handle(&mut self, Carry(parcel): Carry<M>, ctx: &mut Context<Self>) {
        open(&self.journal).carry(parcel);
        self.deliver(ctx);
    }
}

/// A message of an application that an agent sends.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct CarryApplication(pub(super) Parcel<AppMessage>);

impl<M: PeerMessage> Handler<CarryApplication> for Hub<M> {
    type Result = ();

    fn handle(&mut self, CarryApplication(parcel): CarryApplication, ctx: &mut Context<Self>) {
        open(&self.journal).carry_application(parcel);
        self.deliver(ctx);
    }
}

impl<M: PeerMessage> Handler<Notice> for Hub<M> {
    type Result = ();

    fn handle(&mut self, Notice { agent, event }: Notice, _: &mut Context<Self>) {
        open(&self.journal).notice(&agent, &event);
    }
}

impl<M: PeerMessage> Handler<Supervision<AgentId>> for Hub<M> {
    type Result = ();

    fn handle(&mut self, update: Supervision<AgentId>, _: &mut Context<Self>) {
        open(&self.journal).supervision(update);
    }
}

/// Watches the roles of an agent.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct WatchRoles<E: Election>(pub(super) ElectionHandle<E>);

impl<E: Election> Handler<WatchRoles<E>> for Hub<E::Message> {
    type Result = ();

    fn handle(&mut self, WatchRoles(agent): WatchRoles<E>, ctx: &mut Context<Self>) {
        let id = agent.id().clone();
        ctx.add_stream(agent.changes().map(move |status| StateChange {
            agent: id.clone(),
            status,
        }));
    }
}

/// An agent's state has changed.
struct StateChange {
    agent: AgentId,
    status: Status,
}

impl<M: PeerMessage> StreamHandler<StateChange> for Hub<M> {
    fn handle(&mut self, StateChange { agent, status }: StateChange, _: &mut Context<Self>) {
        let runs = status.lifecycle == Lifecycle::Running;
        open(&self.journal).role(&agent, status.role, runs);
    }

    /// One agent has ended. The hub continues for the other agents.
    fn finished(&mut self, _: &mut Context<Self>) {}
}

/// The cluster has ended.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Close;

impl<M: PeerMessage> Handler<Close> for Hub<M> {
    type Result = ();

    fn handle(&mut self, Close: Close, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

/// Brings messages of the election or of applications to the hub instead of their receivers.
#[derive(Debug)]
pub(super) struct ToHub<T, C>(pub(super) Recipient<C>, pub(super) fn(Parcel<T>) -> C)
where
    T: PeerMessage,
    C: Debug + Message<Result = ()> + Send + 'static;

impl<T: PeerMessage, C: Debug + Message<Result = ()> + Send> LocalWire<T> for ToHub<T, C> {
    fn carry(&self, to: &AgentId, envelope: Envelope<T>, inbox: &Recipient<Envelope<T>>) {
        // do_send: the hub takes each message of a simulated network at once.
        self.0.do_send((self.1)(Parcel::new(to, envelope, inbox)));
    }
}
