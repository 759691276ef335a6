//! Hosts of two subnets that only a router joins, and a router that goes away.

use actix_bully::remote::BridgeEvent;
use actix_bully_zenoh::ZenohOptions;
use actix_bully_zenoh_tests::{Host, Raw, endpoint, event, play, until};

const ALL: [&str; 3] = ["a", "b", "c"];

fn agree(hosts: &[Host]) -> bool {
    let leader = hosts[0].leader();
    leader.is_some() && hosts.iter().all(|host| host.leader() == leader)
}

#[test]
fn clients_elect_through_a_router_that_comes_goes_and_comes_back() {
    play(async {
        let at = endpoint();
        let client = || ZenohOptions::client().connect(&at);
        let hosts: Vec<_> = ALL
            .iter()
            .map(|name| Host::start(name, &ALL, client()))
            .collect();
        until("all look for each other", || {
            hosts.iter().all(|host| host.bridge.traffic().dials > 0)
        })
        .await;
        assert_eq!(hosts[0].leader(), None, "no router so far");
        let router = Raw::router(&at);
        until("all follow one", || agree(&hosts)).await;
        let mut events = hosts[0].bridge.events();
        drop(router);
        until("no link is left", || {
            ALL.iter().zip(&hosts).all(|(name, host)| {
                ALL.iter()
                    .filter(|peer| *peer != name)
                    .all(|peer| !host.is_linked_with(peer))
            })
        })
        .await;
        until("no agent leads without a quorum", || {
            hosts.iter().all(|host| host.leader().is_none())
        })
        .await;
        // A client that is cut off learns nothing of the others, so it suspects no host to have ended.
        let away = event(&mut events, |event| match event {
            BridgeEvent::PeerUnreachable { .. } => Some(true),
            BridgeEvent::PeerLost { .. } => Some(false),
            _ => None,
        });
        assert!(away.await);
        let router = Raw::router(&at);
        until("all follow one again", || agree(&hosts)).await;
        drop(router);
    });
}

/// Each subnet has a router of its own, and the two routers are linked. No host reaches a host of the other subnet.
#[test]
fn two_subnets_elect_through_their_routers() {
    play(async {
        let (near, far) = (endpoint(), endpoint());
        let first = Raw::router(&near);
        let second = Raw::router_behind(&far, &near);
        let hosts: Vec<_> = ALL
            .iter()
            .map(|name| {
                let at = if *name == "a" { &near } else { &far };
                Host::start(name, &ALL, ZenohOptions::client().connect(at))
            })
            .collect();
        until("all follow one", || agree(&hosts)).await;
        until("all are linked", || {
            hosts[0].is_linked_with("b")
                && hosts[0].is_linked_with("c")
                && hosts[1].is_linked_with("c")
        })
        .await;
        drop((second, first));
    });
}
