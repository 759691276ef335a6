//! Letters that nobody sent, to agents `agent-1`, `agent-2` and so on.

use actix_bully::{
    cluster::Cluster,
    protocol::{AgentId, Election, Incarnation, To},
};

use crate::{MS, leads, wait};

pub(crate) fn id(number: u32) -> AgentId {
    AgentId::new(&format!("agent-{number}")).unwrap()
}

/// A letter that the agent never wrote, in its present life.
pub(crate) fn forge<E: Election>(
    cluster: &Cluster<E>,
    from: u32,
    to: u32,
    message: impl Into<E::Message>,
) {
    let (from, to) = (id(from), To::One(id(to)));
    let members = cluster.group().members();
    let life = members.get(&from).and_then(|member| member.incarnation);
    cluster
        .group()
        .deliver(&from, life.unwrap(), &to, message.into());
}

/// How many messages of a kind were handled.
pub(crate) fn heard<E: Election>(cluster: &Cluster<E>, kind: &str) -> u64 {
    cluster.trace().count_of(kind).delivered
}

/// Scenario 27: of five agents the fourth is in its second life. What a stranger says, or its former
/// life, or anybody to a stranger, changes nothing and is counted.
pub(crate) async fn are_dropped<E: Election>(
    cluster: &Cluster<E>,
    leader: &str,
    message: impl Fn() -> E::Message,
) {
    let (before, counted) = (cluster.status(), cluster.group().counters());
    let stranger = AgentId::new("stranger").unwrap();
    let group = cluster.group();
    group.deliver(&stranger, Incarnation(1), &To::All, message());
    group.deliver(&id(4), Incarnation(1), &To::All, message());
    let nobody = To::One(AgentId::new("nobody").unwrap());
    group.deliver(&id(4), Incarnation(2), &nobody, message());

    wait(MS(100)).await;
    leads(cluster, leader).await;
    assert_eq!(cluster.status(), before);
    let now = cluster.group().counters();
    assert_eq!(now.strangers - counted.strangers, 5);
    assert_eq!(now.stale - counted.stale, 4);
}
