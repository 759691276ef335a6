//! Three voters with sentinels in real processes: what the end of the leader's costs the others; in real time.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

mod common;

use std::{
    net::UdpSocket,
    thread,
    time::{Duration, Instant},
};

use actix_bully::remote::{
    NodeId, NodeIncarnation,
    sentinel::{EndNotice, NoticeSecret},
};
use common::{Folder, NEVER, Node, SOON, ports};
use rustix::process::{Signal, kill_process};

const NAMES: [&str; 3] = ["a", "b", "c"];

struct Three {
    nodes: Vec<Node>,
    ports: [u16; 3],
    folder: Folder,
}

impl Three {
    fn start() -> Self {
        Self::at(ports())
    }

    fn at(ports: [u16; 3]) -> Self {
        let mut three = Self {
            nodes: Vec::new(),
            ports,
            folder: Folder::new(),
        };
        for at in 0..3 {
            let node = three.spawn(at);
            three.nodes.push(node);
        }
        three
    }

    fn spawn(&self, at: usize) -> Node {
        let others = NAMES.into_iter().zip(self.ports);
        let peers: Vec<_> = others.filter(|(name, _)| *name != NAMES[at]).collect();
        Node::start(NAMES[at], &self.folder.0, self.ports[at], &peers)
    }

    /// Until all follow one leader; its place.
    fn agree(&mut self) -> usize {
        let heard = self.nodes.iter_mut().map(|node| node.leader_after("").1);
        let heard: Vec<_> = heard.collect();
        let leader = heard.last().unwrap().clone();
        for node in &mut self.nodes {
            node.linked(2);
        }
        NAMES.iter().position(|name| **name == leader).unwrap()
    }

    /// How long until both others follow one of them, after something happened to the leader.
    fn fails_over(&mut self, leader: usize, since: Instant) -> Duration {
        let others = self
            .nodes
            .iter_mut()
            .filter(|node| node.name != NAMES[leader]);
        let told: Vec<_> = others
            .map(|node| node.leader_after(NAMES[leader]))
            .collect();
        assert_eq!(told[0].1, told[1].1);
        told[0].0.max(told[1].0).duration_since(since)
    }
}

/// The lease of `lan` is 240 ms, and a promise 300 ms: nobody could be elected before without a notice.
#[test]
fn voters_wait_for_no_lease_of_a_leader_that_was_killed() {
    let mut took = Vec::new();
    for _ in 0..5 {
        let mut three = Three::start();
        let leader = three.agree();
        let since = Instant::now();
        three.nodes[leader].child.kill().unwrap();
        took.push(three.fails_over(leader, since));
        let next = (leader + 1) % 3;
        assert_eq!(three.nodes[next].count("notice_believed"), 1);
    }
    took.sort();
    println!("kill -9 until both others follow the next: {took:?}");
    assert!(took[2] < Duration::from_millis(120), "{took:?}");
}

#[test]
fn a_leader_that_is_stopped_keeps_its_lease() {
    let mut three = Three::start();
    let leader = three.agree();
    let since = Instant::now();
    three.nodes[leader].signal(Signal::STOP);
    let took = three.fails_over(leader, since);
    assert!(took > Duration::from_millis(150), "{took:?}");
    let next = (leader + 1) % 3;
    assert_eq!(three.nodes[next].count("notice_believed"), 0);
}

#[test]
fn a_notice_with_wrong_bytes_is_counted_and_the_leader_leads_on() {
    let mut three = Three::start();
    let leader = three.agree();
    let next = (leader + 1) % 3;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let forged = EndNotice {
        node: NodeId::new(NAMES[leader]).unwrap(),
        incarnation: NodeIncarnation(1),
        secret: NoticeSecret::of(1),
    };
    let to = ("127.0.0.1", three.ports[next]);
    socket.send_to(&forged.encode(), to).unwrap();
    socket.send_to(b"nonsense", to).unwrap();
    let began = Instant::now();
    while three.nodes[next].count("notice_malformed") == 0 {
        assert!(began.elapsed() < SOON);
    }
    assert_eq!(three.nodes[next].count("notice_other_incarnation"), 1);
    assert_eq!(three.nodes[next].next(NEVER), None, "nothing has changed");
}

#[test]
fn where_no_notice_comes_through_the_lease_decides_and_one_that_comes_too_late_changes_nothing() {
    let ports = ports();
    // As a firewall that closes the ports for UDP: other sockets have them, so that no node hears there.
    let closed = ports.map(|port| UdpSocket::bind(("127.0.0.1", port)).unwrap());
    let mut three = Three::at(ports);
    let leader = three.agree();
    let other = (leader + 1) % 3;
    let since = Instant::now();
    three.nodes[leader].child.kill().unwrap();
    let took = three.fails_over(leader, since);
    assert!(took > Duration::from_millis(150), "{took:?}");
    assert_eq!(three.nodes[other].count("notice_believed"), 0);

    let mut notice = [0; 512];
    closed[other].set_read_timeout(Some(SOON)).unwrap();
    let len = closed[other].recv(&mut notice).unwrap();
    drop(closed);
    three.nodes[leader].child.wait().unwrap();
    let back = three.spawn(leader);
    three.nodes[leader] = back;
    three.nodes[leader].leader_after("");
    three.nodes[other].linked(2);
    // The bridge tries once a second whether its port is free.
    let (socket, began) = (UdpSocket::bind("127.0.0.1:0").unwrap(), Instant::now());
    while three.nodes[other].count("notice_other_incarnation") == 0 {
        assert!(began.elapsed() < SOON);
        let to = ("127.0.0.1", three.ports[other]);
        socket.send_to(&notice[..len], to).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(three.nodes[other].count("notice_believed"), 0);
    assert_eq!(three.nodes[other].next(NEVER), None, "nothing has changed");
}

#[test]
fn a_sentinel_that_took_the_place_of_another_one_is_believed_by_the_peers() {
    let mut three = Three::start();
    let leader = three.agree();
    kill_process(three.nodes[leader].sentinel, Signal::KILL).unwrap();
    // A second until it is missed, and the links are made anew.
    thread::sleep(Duration::from_secs(4));
    let since = Instant::now();
    three.nodes[leader].child.kill().unwrap();
    three.fails_over(leader, since);
    for other in (0..3).filter(|other| *other != leader) {
        assert_eq!(three.nodes[other].count("notice_believed"), 1);
    }
}

#[test]
fn a_node_that_is_back_at_once_takes_part_in_its_next_incarnation() {
    let mut three = Three::start();
    let leader = three.agree();
    let since = Instant::now();
    three.nodes[leader].child.kill().unwrap();
    three.nodes[leader].child.wait().unwrap();
    let back = three.spawn(leader);
    three.nodes[leader] = back;
    three.fails_over(leader, since);
    let (_, leads) = three.nodes[leader].leader_after("");
    assert!(NAMES.contains(&leads.as_str()));
}
