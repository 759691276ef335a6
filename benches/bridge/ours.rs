//! The message over two bridges: from a group's delivery on one side to an actor's mailbox on the other side.

use std::{sync::Arc, time::Duration};

use actix::{Actor, Context, Handler, clock::sleep};
use actix_bully::{
    Group,
    elections::AnyMessage,
    group::{Envelope, MembersChanged},
    protocol::{AgentId, Incarnation, MemberKind},
    remote::{BridgeCounts, BridgeHandle, Limits, Peer, RemoteBridge},
};
use bully_core::protocol::{Member, Requirements, Rules, To};
use tokio::sync::Notify;

use crate::{message::message, tally::Tally};

const NEAR: &str = "near";
const FAR: &str = "far";

fn id(name: &str) -> AgentId {
    AgentId::new(name).expect("a valid name")
}

/// A group and its bridge.
pub(crate) struct Host {
    group: Group,
    /// The group of agents whose leader receives messages by a proxy.
    pub(crate) led: Group,
    bridge: BridgeHandle,
}

/// Starts a host; the other host has the other name of `a` and `b`.
pub(crate) fn host(name: &str, peer: Option<&str>) -> Host {
    let group = Group::new("bench").expect("a valid name");
    let led = Group::new("led").expect("a valid name");
    let other = if name == "a" { "b" } else { "a" };
    let peer = peer.map_or_else(|| Peer::inbound(other), |at| Peer::new(other, at));
    // A benchmark sends many messages at once, and a busy machine must not count as a silent peer.
    let limits = Limits::builder()
        .rate(1 << 30)
        .burst(1 << 30)
        .queue(16 << 20)
        .mailbox(16 << 20)
        .silence(Duration::from_secs(60));
    let bridge = RemoteBridge::builder(name)
        .limits(limits.build().expect("within the ranges"))
        .listen("127.0.0.1:0")
        .peer(peer)
        .carry(&group)
        .carry(&led)
        .start()
        .expect("it starts");
    Host { group, led, bridge }
}

impl Host {
    pub(crate) fn address(&self) -> String {
        self.bridge.local_addr().expect("it listens").to_string()
    }

    fn join<A>(&self, name: &str, actor: impl FnOnce(Incarnation) -> A) -> Incarnation
    where
        A: Actor<Context = Context<A>> + Handler<Envelope<AnyMessage>> + Handler<MembersChanged>,
    {
        let incarnation = self
            .group
            .reserve(&id(name), Requirements::new(Rules::new("bench")));
        let incarnation = incarnation.expect("the name is free");
        let inbox = actor(incarnation).start();
        let changes = inbox.clone().recipient();
        let member = Member::up(id(name), MemberKind::Voter, Some(1.into()), incarnation);
        self.group.join(member, inbox.recipient(), changes);
        incarnation
    }

    async fn meets(&self, name: &str) {
        while self.group.members().get(&id(name)).is_none() {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// The receiving end.
struct Sink {
    group: Group,
    incarnation: Incarnation,
    tally: Arc<Tally>,
}

impl Actor for Sink {
    type Context = Context<Self>;

    // A message from another host is dropped if the mailbox is full, and the sender is thousands of messages ahead.
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_mailbox_capacity(1 << 16);
    }
}

impl Handler<MembersChanged> for Sink {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {}
}

impl Handler<Envelope<AnyMessage>> for Sink {
    type Result = ();
    fn handle(&mut self, message: Envelope<AnyMessage>, _: &mut Context<Self>) {
        if self.tally.note() {
            let to = To::One(message.from);
            self.group
                .deliver(&id(FAR), self.incarnation, &to, message.message);
        }
    }
}

/// Starts the receiving end, which dials the sending end.
pub(crate) fn serve(tally: Arc<Tally>, near: &str) -> Host {
    let host = host("b", Some(near));
    let group = host.group.clone();
    host.join(FAR, |incarnation| Sink {
        group,
        incarnation,
        tally,
    });
    host
}

/// The actor that receives the answers.
struct Ear(Arc<Notify>);

impl Actor for Ear {
    type Context = Context<Self>;
}

impl Handler<MembersChanged> for Ear {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {}
}

impl Handler<Envelope<AnyMessage>> for Ear {
    type Result = ();
    fn handle(&mut self, _: Envelope<AnyMessage>, _: &mut Context<Self>) {
        self.0.notify_one();
    }
}

/// The sending end.
pub(crate) struct Bridged {
    host: Host,
    incarnation: Incarnation,
    heard: Arc<Notify>,
    tally: Arc<Tally>,
}

impl Bridged {
    /// Joins, and waits until both ends know each other.
    pub(crate) async fn link(host: Host, tally: Arc<Tally>) -> Self {
        let heard = Arc::new(Notify::new());
        let ear = Arc::clone(&heard);
        let incarnation = host.join(NEAR, |_| Ear(ear));
        host.meets(FAR).await;
        let mut linked = Self {
            host,
            incarnation,
            heard,
            tally,
        };
        linked.echo(1).await;
        linked
    }

    /// Returns the counters of lost messages.
    pub(crate) fn counts(&self) -> BridgeCounts {
        self.host.bridge.counters()
    }

    /// Sends a number of messages; returns when all have arrived.
    pub(crate) async fn send(&mut self, window: usize, messages: usize) {
        let (from, to) = (id(NEAR), To::One(id(FAR)));
        let snapshot = self.host.group.snapshot(&from);
        let send = async |counters| {
            for counter in counters {
                snapshot.deliver(&from, self.incarnation, &to, message(counter));
            }
        };
        self.tally.backlog(window, messages, send).await;
    }

    /// Sends one message after the other; returns the time until each was answered.
    pub(crate) async fn echo(&mut self, rounds: usize) -> Vec<Duration> {
        let (from, to) = (id(NEAR), To::One(id(FAR)));
        let ask = async || {
            self.host
                .group
                .deliver(&from, self.incarnation, &to, message(1));
            self.heard.notified().await;
        };
        self.tally.round_trips(rounds, ask).await
    }
}
