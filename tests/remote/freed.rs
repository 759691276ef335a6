//! The end of a bridge is told when its port is free, and a peer is given up by nobody but its application.

use std::{net::TcpListener, time::Duration};

use actix::{System, clock::sleep};
use actix_bully::{
    agent::ElectionArbiter,
    remote::{BridgeEvent, LinkStatus, Peer, RemoteBridge, transport::Pipes},
};
use futures::StreamExt;

use super::kit::{MS, address, builder, group, play, until};

const SOON: Duration = Duration::from_secs(20);

/// The bridge runs on another thread than the one that drains it, which takes the port at once.
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

/// Where the name of b leads for now, a process of the name a listens.
#[test]
fn a_peer_whose_address_led_to_this_node_once_is_dialled_again() {
    play(async {
        let pipes = Pipes::new();
        let at_b = |name: &str, host: &str| {
            let bridge = builder(&pipes, name, &[]).transport(pipes.host(host));
            bridge.listen(&address("b"))
        };
        let old = at_b("a", "old").carry(&group()).start().unwrap();
        let a = builder(&pipes, "a", &["b"])
            .carry(&group())
            .start()
            .unwrap();
        sleep(MS(1_000)).await;
        old.drain(MS(1_000)).await.unwrap();
        let inbound = at_b("b", "b").peer(Peer::inbound("a"));
        let b = inbound.carry(&group()).start().unwrap();
        let is_linked = || matches!(a.peers()[0].link, LinkStatus::Linked { .. });
        until("a dials b", is_linked).await;
        b.stop();
    });
}
