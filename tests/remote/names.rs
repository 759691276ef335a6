//! Two agents on two hosts have the same name. `quiet` tests a name that is free again, and `tests/simulated_network`
//! agents that move.

use actix::clock::sleep;
use actix_bully::{
    agent::{BullyHandle, Finding},
    remote::{BridgeEvent, NodeIncarnation, transport::Pipes},
};

use super::kit::{Host, MS, are_linked, builder, id, node, scene, told, until};

fn host(pipes: &Pipes, name: &str, peers: &[&str], incarnation: u64) -> Host {
    Host::with(|group| {
        let incarnation = NodeIncarnation(incarnation);
        builder(pipes, name, peers)
            .incarnation(incarnation)
            .carry(group)
    })
}

#[test]
fn two_of_one_name_are_told_and_the_second_is_not_heard() {
    scene(async |pipes, _| {
        let (mut a, mut b) = (
            host(pipes, "a", &["b"], 1_000),
            host(pipes, "b", &["a"], 2_000),
        );
        a.agent("y", 1);
        b.agent("z", 1);
        pipes.partition("a", "b");
        until("both are alone", || !a.is_linked("b") && !b.is_linked("a")).await;
        let (mine, theirs) = (a.agent("x", 5), b.agent("x", 9));
        until("each leads its side", || {
            mine.is_leader() && theirs.is_leader()
        })
        .await;
        let (mut at_a, mut at_b) = (a.bridge.events(), b.bridge.events());
        pipes.heal("a", "b");
        are_linked(&a, &b).await;
        sleep(MS(3_000)).await;
        for (events, peer) in [(&mut at_a, "b"), (&mut at_b, "a")] {
            let is_taken = |event: &BridgeEvent| matches!(event, BridgeEvent::NameTaken { node: n, agent, .. } if *n == node(peer) && *agent == id("x"));
            assert!(told(events).iter().any(is_taken));
        }
        for (agent, peer) in [(&mine, "b"), (&theirs, "a")] {
            let diagnosis = agent.diagnosis();
            let is_twice = |finding: &Finding| matches!(finding, Finding::AgentNameTwice { node, agent } if node == peer && *agent == id("x"));
            assert!(diagnosis.findings.iter().any(is_twice), "{diagnosis}");
        }
        assert!(a.bridge.counters().get("refused_name") > Some(0));
        let held_here = |host: &Host, agent: &BullyHandle| {
            let members = host.group.members();
            members.get(&id("x")).unwrap().incarnation == Some(agent.current().incarnation)
        };
        assert!(held_here(&a, &mine) && held_here(&b, &theirs));

        // The end of one agent must not count for the other agent, which has the name alone now.
        theirs.leave(MS(2_000)).await.unwrap();
        until("all follow the one that is left", || {
            mine.is_leader()
                && a.follows("x")
                && b.agents[0].leader().is_some_and(|l| l.id == id("x"))
        })
        .await;
    });
}
