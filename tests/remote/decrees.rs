//! Peers that lists of voters name, beside peers that an operator names. The tests show which of the two decides, and
//! that any order of the two does no harm.

use std::thread;

use actix::clock::sleep;
use actix_bully::{
    protocol::AgentId,
    remote::{LinkStatus, NodeId, Peer},
};

use super::kit::{Host, MS, address, id, node, scene, until};

fn contact(host: &str) -> (AgentId, NodeId, Option<String>) {
    (id(&format!("{host}1")), node(host), Some(address(host)))
}

fn peers(host: &Host) -> Vec<String> {
    let peers = host.bridge.peers();
    peers.iter().map(|peer| peer.node.to_string()).collect()
}

#[test]
fn lists_of_two_groups_that_come_at_once_leave_the_peers_that_the_last_ones_name() {
    scene(async |pipes, _| {
        let a = Host::start(pipes, "a", &[]);
        let _b = Host::start(pipes, "b", &["a"]);
        for round in 0..2 {
            let bridge = &a.bridge;
            thread::scope(|threads| {
                for group in ["g", "h"] {
                    threads.spawn(move || {
                        for epoch in 0..2_000 {
                            let is_named = epoch % 2 == 1 - round;
                            let voters = if is_named {
                                vec![contact("b")]
                            } else {
                                Vec::new()
                            };
                            bridge.decree_peers(group, round * 2_000 + epoch, &voters);
                        }
                    });
                }
            });
            if round == 0 {
                until("linked", || a.is_linked("b")).await;
            } else {
                assert_eq!(peers(&a), [""; 0]);
            }
        }
        sleep(MS(1_000)).await;
        assert_eq!(pipes.connections("a", "b"), 0);
    });
}

#[test]
fn an_operator_may_configure_a_peer_that_a_list_named_and_the_link_stays() {
    scene(async |pipes, _| {
        let a = Host::start(pipes, "a", &[]);
        let _b = Host::start(pipes, "b", &["a"]);
        a.bridge.decree_peers("g", 1, &[contact("b")]);
        until("linked", || a.is_linked("b")).await;
        sleep(MS(500)).await; // until of two links one is left
        let link = || a.bridge.peers()[0].link;
        let before = link();
        a.bridge.add_peer(Peer::new("b", &address("b"))).unwrap();
        sleep(MS(1_000)).await;
        assert!(matches!(before, LinkStatus::Linked { .. }));
        assert_eq!(link(), before);
        // The peer belongs to the operator now, so no list removes it.
        a.bridge.decree_peers("g", 2, &[]);
        assert_eq!(peers(&a), ["b"]);
    });
}
