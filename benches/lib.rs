//! What the measurements share.

use std::{cell::Cell, rc::Rc, sync::Arc};

use actix::{Actor, Context, Handler, Message, Recipient};
use actix_bully::{
    elections::bully::{Bully, BullyConfig},
    protocol::{
        AgentId, Birth, Effects, Election, Identity, Incarnation, Input, Member, MemberKind,
        Members, Time,
    },
};
use tokio::task::yield_now;

/// The name of the k-th agent; its score is k.
///
/// # Panics
/// Never: the name is valid.
pub fn name(k: u32) -> AgentId {
    AgentId::new(&format!("agent-{k}")).expect("a valid name")
}

/// A closed group of agents 1 to n, all up.
pub fn group(n: u32) -> Arc<Members> {
    let mut members = Members::new(true);
    let up = |k| Member::up(name(k), MemberKind::Voter, Some(k.into()), Incarnation(1));
    members.join((1..=n).map(up));
    Arc::new(members)
}

/// The k-th agent of that group, started at time zero, and what it said.
pub fn started(k: u32, members: &Arc<Members>) -> (Bully, Effects<Bully>) {
    let identity = Identity {
        id: name(k),
        incarnation: Incarnation(1),
        kind: MemberKind::Voter,
        score: Some(k.into()),
        birth: Birth::Started,
    };
    let mut bully = Bully::new(identity, &Arc::new(BullyConfig::default()), None);
    let mut out = Effects::new();
    bully.handle(Time::ZERO, Input::Start(Arc::clone(members)), &mut out);
    (bully, out)
}

/// Bare actix actors that count what they hear: what an election is held against.
#[derive(Debug)]
pub struct Peers {
    inboxes: Vec<Recipient<Hear>>,
    heard: Rc<Cell<usize>>,
}

impl Peers {
    /// n of them.
    pub fn start(n: u32) -> Self {
        let heard = Rc::new(Cell::new(0));
        let inboxes = (0..n)
            .map(|_| Peer(Rc::clone(&heard)).start().recipient())
            .collect();
        Self { inboxes, heard }
    }

    /// One of them tells all; ends when the last one has heard.
    pub async fn broadcast(&self) {
        self.heard.set(0);
        for inbox in &self.inboxes {
            inbox.do_send(Hear);
        }
        while self.heard.get() < self.inboxes.len() {
            yield_now().await;
        }
    }
}

/// What a peer hears.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Hear;

struct Peer(Rc<Cell<usize>>);

impl Actor for Peer {
    type Context = Context<Self>;
}

impl Handler<Hear> for Peer {
    type Result = ();
    fn handle(&mut self, _: Hear, _: &mut Context<Self>) {
        self.0.set(self.0.get() + 1);
    }
}
