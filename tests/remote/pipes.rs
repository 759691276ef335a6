//! Elections across hosts, and what broken links and hosts mean for them.

use actix::clock::{Instant, sleep};
use actix_bully::{
    protocol::Presence,
    remote::{BridgeEvent, transport::Pipes},
};

use super::kit::{Host, MS, id, node, play, told, until};

fn presence(host: &Host, agent: &str) -> Option<Presence> {
    host.group.members().get(&id(agent)).map(|m| m.presence)
}

async fn two(pipes: &Pipes) -> [Host; 2] {
    let mut a = Host::start(pipes, "a", &["b"]);
    let mut b = Host::start(pipes, "b", &["a"]);
    a.agent("a1", 1);
    b.agent("b1", 3);
    a.agent("a2", 2);
    until("all follow the best", || a.follows("b1") && b.follows("b1")).await;
    [a, b]
}

#[test]
fn agents_of_two_hosts_elect_the_most_important() {
    play(async {
        let pipes = Pipes::new();
        let [a, b] = two(&pipes).await;
        assert!(b.agents[0].is_leader());
        assert_eq!(a.group.members().len(), 3);
        assert_eq!(a.group.members().iter().count(), b.group.members().len());
        assert_eq!(pipes.connections("a", "b"), 1, "of two links one stays");
    });
}
