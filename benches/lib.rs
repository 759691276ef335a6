//! What the measurements share.

use std::sync::Arc;

use actix_bully::{
    elections::bully::{Bully, BullyConfig},
    protocol::{
        AgentId, Birth, Effects, Election, Identity, Incarnation, Input, Member, MemberKind,
        Members, Time,
    },
};

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
