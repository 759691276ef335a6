//! The parts of a group that need no runtime; `tests/group/` has the tests with a runtime.

mod carriers;
mod deliver;
mod epochs;
mod report;

use std::sync::Mutex;

use actix::{Actor, AsyncContext, Context, Handler};

use crate::{
    elections::AnyMessage,
    group::{Envelope, Group, MembersChanged, RemoteLink},
    protocol::{AgentId, Incarnation, Member, MemberKind, Requirements, Rules},
};

const FIRST: Incarnation = Incarnation(1);

/// A member that never runs. Messages to it stay in its mailbox.
struct IdlePeer;

impl Actor for IdlePeer {
    type Context = Context<Self>;
}

impl Handler<MembersChanged> for IdlePeer {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {}
}

impl Handler<Envelope<AnyMessage>> for IdlePeer {
    type Result = ();
    fn handle(&mut self, _: Envelope<AnyMessage>, _: &mut Context<Self>) {}
}

/// A link that writes down the receivers of each message.
#[derive(Debug, Default)]
struct Cable(Mutex<Vec<String>>);

impl RemoteLink<AnyMessage> for Cable {
    fn carry(&self, to: &[AgentId], _: Envelope<AnyMessage>) {
        self.0.lock().unwrap().push(format!("{to:?}"));
    }
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

/// Returns a group with one member of this process, and the member's mailbox.
fn group_of(name: &str) -> (Group<AnyMessage>, Context<IdlePeer>) {
    let group = Group::new("g").unwrap();
    let incarnation = group.reserve(&id(name), Requirements::new(Rules::new("test")));
    assert_eq!(incarnation.unwrap(), FIRST);
    let peer = Context::<IdlePeer>::new();
    let (inbox, changes) = (peer.address().recipient(), peer.address().recipient());
    let member = Member::up(id(name), MemberKind::Voter, None, FIRST);
    assert!(group.join(member, inbox, changes));
    (group, peer)
}
