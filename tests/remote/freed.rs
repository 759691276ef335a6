//! A bridge ends with the last agent that is drained. Its end is reported when its port is free. Only the application
//! gives up a peer.

use std::{net::TcpListener, time::Duration};

use actix::{System, clock::sleep};
use actix_bully::{
    agent::ElectionArbiter,
    operate::{Command, Operated, Order, Outcome, OutcomeVerdict},
    remote::{BridgeEvent, RemoteBridge},
    testkit::Inject,
};
use futures::StreamExt;

use super::kit::{Host, MS, are_linked, group, scene, until};

const SOON: Duration = Duration::from_secs(20);

/// The bridge runs on another thread than the caller of the drain, and the caller takes the port at once.
#[test]
fn a_port_is_free_when_a_drain_has_returned_and_when_the_end_is_told() {
    System::new().block_on(async {
        let elections = ElectionArbiter::new().unwrap();
        for is_drained in (0..200).map(|round| round % 2 == 0) {
            let (tell, told) = std::sync::mpsc::channel();
            elections.handle().spawn_fn(move || {
                let bridge = RemoteBridge::builder("a").listen("127.0.0.1:0");
                let bridge = bridge.carry(&group());
                tell.send(bridge.start()).unwrap();
            });
            let bridge = told.recv_timeout(SOON).unwrap().unwrap();
            let mut events = bridge.events();
            if is_drained {
                bridge.drain(SOON).await.unwrap();
            } else {
                bridge.stop();
                while events.next().await != Some(BridgeEvent::Ended) {}
            }
            let at = bridge.local_addr().unwrap();
            TcpListener::bind(at).expect("the port is free");
        }
    });
}

#[test]
fn the_last_agent_of_a_node_that_is_drained_ends_the_bridge_and_no_other_does() {
    scene(async |pipes, _| {
        let mut a = Host::start(pipes, "a", &["b"]);
        let b = Host::start(pipes, "b", &["a"]);
        let agents = ["a1", "a2"].map(|name| a.agent(name, 1));
        let node = Operated::new(&agents[0]).agent(&agents[1]);
        let node = node.bridge(&a.bridge);
        until("both are linked", || b.is_linked("a")).await;
        for (agent, is_linked) in agents.iter().zip([true, false]) {
            let mut drain = Order::new(Command::Drain);
            drain.agent = Some(agent.id().clone());
            let outcome = node.carry_out(drain).await;
            assert_eq!(outcome.verdict(), OutcomeVerdict::Done, "{outcome}");
            assert_eq!(b.is_linked("a"), is_linked, "{outcome}");
        }
    });
}

#[test]
fn a_node_whose_time_is_over_says_goodbye_all_the_same() {
    scene(async |pipes, _| {
        let mut a = Host::start(pipes, "a", &["b"]);
        let b = Host::start(pipes, "b", &["a"]);
        are_linked(&a, &b).await;
        let agent = a.agent("a1", 1);
        let node = Operated::new(&agent).bridge(&a.bridge);
        agent.addr().do_send(Inject::hang(sleep(SOON)));
        let goodbyes = || b.bridge.counters().get("goodbye").unwrap();
        let before = goodbyes();
        let drain = Order::new(Command::Drain).within(MS(50));
        assert_eq!(node.carry_out(drain).await, Outcome::Stopped);
        assert_eq!(goodbyes(), before + 1);
    });
}

/// A node without agents opens no group on the new link. Its old agent must still disappear.
#[test]
fn an_agent_that_left_while_its_node_was_cut_off_is_a_member_no_more() {
    scene(async |pipes, _| {
        let a = Host::start(pipes, "a", &["b"]);
        let mut b = Host::start(pipes, "b", &["a"]);
        let agent = b.agent("b1", 1);
        are_linked(&a, &b).await;
        let knows = || a.group.members().get(agent.id()).is_some();
        until("a knows the agent", knows).await;
        pipes.partition("a", "b");
        pipes.cut("a", "b");
        until("the link is lost", || !a.is_linked("b")).await;
        agent.leave(SOON).await.unwrap();
        assert!(knows(), "it may run on without a link");
        pipes.heal("a", "b");
        are_linked(&a, &b).await;
        until("it is gone", || !knows()).await;
    });
}
