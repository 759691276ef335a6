//! The same over real sockets, on ports that the system chooses.

use std::time::{Duration, Instant};

use actix::{System, clock::sleep};
use actix_bully::remote::{BridgeHandle, NodeIncarnation, Peer, RemoteBridge};

use super::kit::{Host, MS};

/// Waits until it holds, in real time.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    #[expect(clippy::disallowed_methods, reason = "sockets know no virtual time")]
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        sleep(MS(2)).await;
    }
}

fn host(name: &str, incarnation: u64, peers: &[(&str, Option<&BridgeHandle>)]) -> Host {
    Host::with(|group| {
        let mut builder = RemoteBridge::builder(name)
            .incarnation(NodeIncarnation(incarnation))
            .listen("127.0.0.1:0")
            .carry(group);
        for (peer, bridge) in peers {
            let at = bridge.map(|bridge| bridge.local_addr().unwrap().to_string());
            builder = builder.peer(match at {
                Some(at) => Peer::new(peer, &at),
                None => Peer::inbound(peer),
            });
        }
        builder
    })
}

#[test]
fn agents_of_three_hosts_elect_over_tcp_and_go_on_without_the_leader() {
    System::new().block_on(async {
        let mut a = host("a", 1, &[("b", None), ("c", None)]);
        let mut b = host("b", 1, &[("a", Some(&a.bridge)), ("c", None)]);
        let known = [("a", Some(&a.bridge)), ("b", Some(&b.bridge))];
        let mut c = host("c", 1, &known);
        a.agent("a1", 1);
        b.agent("b1", 2);
        c.agent("c1", 3);
        let all = |leader: &str, hosts: &[&Host]| hosts.iter().all(|h| h.follows(leader));
        until("c1 leads", || all("c1", &[&a, &b, &c])).await;
        c.bridge.stop();
        until("b1 leads", || all("b1", &[&a, &b])).await;
    });
}
