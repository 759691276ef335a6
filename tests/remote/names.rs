//! Two hosts want the same name: one host gets it, and the other is refused. `tests/simulated_network` tests agents
//! that move.

use actix::clock::sleep;
use actix_bully::{
    agent::{BullyAgent, BullyHandle, Finding, StartError},
    group::{Holder, JoinError},
    protocol::{Presence, Timings},
    remote::{BridgeEvent, NodeIncarnation, transport::Pipes},
    testkit::Inject,
};

use super::kit::{Host, MS, all_follow, are_linked, builder, id, node, play, scene, told, until};

fn host(pipes: &Pipes, name: &str, peers: &[&str], incarnation: u64) -> Host {
    Host::with(|group| {
        let incarnation = NodeIncarnation(incarnation);
        builder(pipes, name, peers)
            .incarnation(incarnation)
            .carry(group)
    })
}

fn start_again(host: &Host, name: &str) -> Result<BullyHandle, StartError> {
    BullyAgent::builder(name)
        .score(9)
        .timings(Timings::lan())
        .join(&host.group)
        .start()
}

#[test]
fn a_name_that_an_agent_of_a_linked_host_has_is_taken() {
    play(async {
        for incarnations in [[1_000, 2_000], [2_000, 1_000]] {
            let pipes = Pipes::new();
            let mut a = host(&pipes, "a", &["b"], incarnations[0]);
            let mut b = host(&pipes, "b", &["a"], incarnations[1]);
            a.agent("y", 1);
            let x = b.agent("x", 5);
            all_follow(&[&a, &b], "x").await;
            let refused = start_again(&a, "x");
            let held_there = |reason: &StartError| matches!(reason, StartError::Join(JoinError::Taken { holder: Holder::Node(node), .. }) if &**node == "b");
            assert!(refused.as_ref().is_err_and(held_there), "{refused:?}");
            sleep(MS(1_000)).await;
            assert!(x.is_leader() && a.follows("x"), "nothing has changed");

            // The name is free once its agent has certainly ended.
            x.addr().do_send(Inject::Stop);
            until("its end is known", || {
                let member = a.group.members();
                member.get(&id("x")).unwrap().presence == Presence::Down
            })
            .await;
            let mut events = a.bridge.events();
            a.agents.push(start_again(&a, "x").unwrap());
            let takes = |event: &BridgeEvent| matches!(event, BridgeEvent::NameTakenOver { node: n, agent, by: Holder::Here, .. } if *n == node("b") && *agent == id("x"));
            assert!(told(&mut events).iter().any(takes));
            until("the next x leads", || a.follows("x")).await;
        }
    });
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
