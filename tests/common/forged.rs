//! Forged messages to the agents `agent-1` to `agent-5` of a cluster: scenario 27.
#![expect(clippy::unwrap_used, reason = "in the helpers of tests")]

use std::time::Duration;

use actix_bully::{
    protocol::{AgentId, Incarnation},
    testkit::cluster::{AgentStatus, Cluster},
};
use bully_core::protocol::{Election, To};

pub(crate) fn id(number: u32) -> AgentId {
    AgentId::new(&format!("agent-{number}")).unwrap()
}

/// Returns the status of each agent, without the rest of a lease, which changes with time.
pub(crate) fn beliefs<E: Election>(cluster: &Cluster<E>) -> Vec<AgentStatus> {
    let status = cluster.status();
    let mut agents = status.agents().to_vec();
    for agent in &mut agents {
        agent.lease_left = None;
    }
    agents
}

/// Restarts agent 4, and sends the message three times: from a stranger, from agent 4's former incarnation, and from
/// its present incarnation to an agent that does not exist. Checks that nothing changes, and that each message is
/// counted.
pub(crate) async fn are_dropped<E: Election>(
    cluster: &mut Cluster<E>,
    message: impl Fn() -> E::Message,
) {
    cluster.settle().await.unwrap();
    cluster.crash("4").await.unwrap();
    cluster.settle().await.unwrap();
    cluster.restart("4").unwrap();
    cluster.settle().await.unwrap();
    actix::clock::sleep(Duration::from_secs(1)).await;
    let (before, counted) = (beliefs(cluster), cluster.group().counters());

    let stranger = AgentId::new("stranger").unwrap();
    let group = cluster.group();
    group.deliver(&stranger, Incarnation(1), &To::All, message());
    group.deliver(&id(4), Incarnation(1), &To::All, message());
    let absent = To::One(AgentId::new("absent").unwrap());
    group.deliver(&id(4), Incarnation(2), &absent, message());

    actix::clock::sleep(Duration::from_millis(100)).await;
    cluster.settle().await.unwrap();
    assert_eq!(beliefs(cluster), before);
    let now = cluster.group().counters();
    assert_eq!(now.strangers - counted.strangers, 5);
    assert_eq!(now.stale - counted.stale, 4);
}
