//! A group whose members write down the hints and messages that they get, and links that write down their messages.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::{Actor, Addr, Context, Handler, clock};
use actix_bully::{
    Group,
    elections::AnyMessage,
    group::{Envelope, Holder, MembersChanged, Remote, RemoteLink, Update},
    protocol::{AgentId, Incarnation, MemberKind, Presence, Score, Term},
};
use bully_core::{
    elections::bully::Resign,
    protocol::{Member, NotifyOrder, Requirements, Rules},
};

use crate::common;

pub(crate) const FIRST: Incarnation = Incarnation(1);

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

pub(crate) fn play(test: impl Future<Output = ()>) {
    common::virtual_system().block_on(test);
}

/// Returns an arbitrary message.
pub(crate) fn resign() -> AnyMessage {
    let (term, successor, given) = (Term(1), None, None);
    let resign = Resign {
        term,
        successor,
        given,
    };
    resign.into()
}

/// Returns requirements with the order of a bully: the highest in rank learns of a change first.
pub(crate) fn requirements() -> Requirements {
    Requirements {
        notify: NotifyOrder::HighestRankFirst,
        ..Requirements::new(Rules::new("test"))
    }
}

/// A member that writes down its hints of changes and its messages. It looks at the group after each hint.
pub(crate) struct Peer {
    name: String,
    group: Group,
    order: Arc<Mutex<Vec<String>>>,
}

impl Actor for Peer {
    type Context = Context<Self>;
}

impl Handler<MembersChanged> for Peer {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {
        self.order.lock().unwrap().push(self.name.clone());
        drop(self.group.snapshot(&id(&self.name)));
    }
}

impl Handler<Envelope<AnyMessage>> for Peer {
    type Result = ();
    fn handle(&mut self, _: Envelope<AnyMessage>, _: &mut Context<Self>) {
        self.order.lock().unwrap().push(format!("({})", self.name));
    }
}

pub(crate) struct Scene {
    pub(crate) group: Group,
    pub(crate) requirements: Requirements,
    order: Arc<Mutex<Vec<String>>>,
    peers: Vec<(String, Addr<Peer>)>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            group: Group::new("g").unwrap(),
            requirements: requirements(),
            order: Arc::default(),
            peers: Vec::new(),
        }
    }

    pub(crate) fn of<const N: usize>(members: [(&str, Option<i32>); N]) -> Self {
        let mut scene = Self::new();
        for (name, score) in members {
            scene.join(name, score);
        }
        scene
    }

    /// Adds a member, which looks at the group after each hint of a change.
    pub(crate) fn join(&mut self, name: &str, score: Option<i32>) -> Incarnation {
        let peer = Peer {
            name: name.to_owned(),
            group: self.group.clone(),
            order: Arc::clone(&self.order),
        };
        let addr = peer.start();
        let requirements = self.requirements.clone();
        let incarnation = self.group.reserve(&id(name), requirements).unwrap();
        let (inbox, changes) = (addr.clone().recipient(), addr.clone().recipient());
        let member = Member {
            score: score.map(Score::from),
            ..up_in(name, incarnation.0)
        };
        assert!(self.group.join(member, inbox, changes));
        self.peers.push((name.to_owned(), addr));
        incarnation
    }

    pub(crate) fn look(&self, names: &[&str]) {
        for name in names {
            drop(self.group.snapshot(&id(name)));
        }
    }

    /// Returns the member of this name as the group knows it.
    pub(crate) fn known(&self, name: &str) -> Member {
        self.group.members().get(&id(name)).unwrap().clone()
    }

    pub(crate) fn ranks(&self) -> Vec<String> {
        let members = self.group.members();
        members.by_rank().map(|m| m.id.to_string()).collect()
    }

    /// Returns the members that got a hint of a change since the last call, in order.
    pub(crate) async fn told(&self) -> String {
        let mut heard = self.heard().await;
        heard.retain(|entry| !entry.starts_with('('));
        heard.concat()
    }

    /// Returns the members that got a hint of a change since the last call, and in brackets the members that got a
    /// message.
    pub(crate) async fn heard(&self) -> Vec<String> {
        clock::sleep(Duration::from_millis(1)).await;
        std::mem::take(&mut *self.order.lock().unwrap())
    }

    /// Returns each member with the number of messages that it got since the last call.
    pub(crate) async fn messages(&self) -> String {
        let heard = self.heard().await;
        let line = |(name, _): &(String, Addr<Peer>)| {
            let message = format!("({name})");
            let count = heard.iter().filter(|entry| **entry == message).count();
            format!("{name}{count} ")
        };
        self.peers.iter().map(line).collect()
    }

    /// Adds another host with a link that is up, and returns its link and the list of the link's messages.
    pub(crate) fn host(&self, node: &str) -> (Remote<AnyMessage>, Arc<Cable>) {
        let cable = Arc::new(Cable::default());
        let remote = self.group.remote(node, Arc::<Cable>::clone(&cable));
        remote.set_up(true);
        (remote, cable)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Cable(Mutex<Vec<String>>);

impl Cable {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl RemoteLink<AnyMessage> for Cable {
    fn carry(&self, to: &[AgentId], envelope: Envelope<AnyMessage>) {
        let line = format!("{} to {to:?}: {}", envelope.from, envelope.message);
        self.0.lock().unwrap().push(line);
    }

    fn lost(&self, id: &AgentId, to: &Holder) {
        self.0.lock().unwrap().push(format!("{id} lost to {to}"));
    }

    fn verify(&self) {
        self.0.lock().unwrap().push("is it there?".to_owned());
    }
}

/// Returns a member that is up in this incarnation, as its host knows it.
pub(crate) fn up_in(name: &str, incarnation: u64) -> Member {
    Member::up(id(name), MemberKind::Voter, None, Incarnation(incarnation))
}

/// Returns the same member after the end of this incarnation.
pub(crate) fn ended_in(name: &str, incarnation: u64) -> Member {
    Member {
        presence: Presence::Down,
        ended: Some(Incarnation(incarnation)),
        ..up_in(name, incarnation)
    }
}

/// Returns a host's report about a member that is up.
pub(crate) fn up(name: &str, incarnation: u64) -> [Update; 1] {
    [Update::Known(up_in(name, incarnation))]
}

pub(crate) fn ended(name: &str, incarnation: u64) -> [Update; 1] {
    [Update::Known(ended_in(name, incarnation))]
}
