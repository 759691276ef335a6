//! Three voters with sentinels in real processes. The tests check the failover after the end of the leader's process.
//! In real time.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::{SocketAddr, UdpSocket},
    path::Path,
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
    /// Additional variables of the nodes' environment.
    variables: Vec<(&'static str, String)>,
}

impl Three {
    fn start() -> Self {
        Self::at(ports())
    }

    fn at(ports: [u16; 3]) -> Self {
        Self::with(ports, Vec::new())
    }

    /// Starts three nodes, whose leader writes to `resource`.
    fn writing_to(resource: &UdpSocket) -> Self {
        let address = resource.local_addr().unwrap().to_string();
        Self::with(ports(), vec![("RESOURCE", address)])
    }

    fn with(ports: [u16; 3], variables: Vec<(&'static str, String)>) -> Self {
        let mut three = Self {
            nodes: Vec::new(),
            ports,
            folder: Folder::new(),
            variables,
        };
        for at in 0..3 {
            let node = three.spawn(at);
            three.nodes.push(node);
        }
        three
    }

    fn spawn(&self, at: usize) -> Node {
        self.spawn_in(at, &self.folder.0, self.ports[at])
    }

    fn spawn_in(&self, at: usize, folder: &Path, port: u16) -> Node {
        let others = NAMES.into_iter().zip(self.ports);
        let peers: Vec<_> = others.filter(|(name, _)| *name != NAMES[at]).collect();
        Node::start_with(NAMES[at], folder, port, &peers, &self.variables)
    }

    /// Starts a second process with the name of a node, in a folder of its own.
    fn twin(&self, at: usize) -> Node {
        let [port] = ports();
        self.spawn_in(at, &self.folder.0.join("twin"), port)
    }

    /// Copies the store of a node into the folder of its [`twin`](Self::twin).
    fn copy_store(&self, at: usize) {
        let to = self.folder.0.join("twin");
        fs::create_dir_all(&to).unwrap();
        let name = format!("{}.vote", NAMES[at]);
        copy(&self.folder.0.join(&name), &to.join(&name));
    }

    /// Waits until all nodes follow one leader. Returns its index.
    fn agree(&mut self) -> usize {
        let heard = self.nodes.iter_mut().map(|node| node.leader_after("").1);
        let heard: Vec<_> = heard.collect();
        let leader = heard.last().unwrap().clone();
        for node in &mut self.nodes {
            node.linked(2);
        }
        NAMES.iter().position(|name| **name == leader).unwrap()
    }

    /// Waits until both other nodes follow one of them. Returns the time since `since`.
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

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// Checks that no two leaders write at one time. The time in each row is before its writer's check that it led.
fn never_two(resource: &UdpSocket, within: Duration) {
    let mut spans: BTreeMap<(SocketAddr, String), (u64, u64)> = BTreeMap::new();
    let (began, mut row) = (Instant::now(), [0; 128]);
    while began.elapsed() < within {
        resource.set_read_timeout(Some(NEVER)).unwrap();
        let Ok((len, from)) = resource.recv_from(&mut row) else {
            continue;
        };
        let row = str::from_utf8(&row[..len]).unwrap();
        let [_, term, at] = *row.split(' ').collect::<Vec<_>>() else {
            panic!("{row}")
        };
        let at = at.parse().unwrap();
        let span = spans.entry((from, term.to_owned())).or_insert((at, at));
        *span = (span.0.min(at), span.1.max(at));
    }
    let all: Vec<_> = spans.iter().collect();
    for (at, ((one, _), first)) in all.iter().enumerate() {
        for ((other, _), second) in &all[at + 1..] {
            let are_apart = first.1 < second.0 || second.1 < first.0;
            assert!(one == other || are_apart, "two led at once: {spans:?}");
        }
    }
}

/// Returns the addresses that write within this time.
fn writers(resource: &UdpSocket, within: Duration) -> BTreeSet<SocketAddr> {
    let (began, mut row) = (Instant::now(), [0; 128]);
    let mut all = BTreeSet::new();
    while began.elapsed() < within {
        resource.set_read_timeout(Some(NEVER)).unwrap();
        all.extend(resource.recv_from(&mut row).map(|(_, from)| from));
    }
    all
}

/// A second process with the leader's name and a copy of its store is killed. Its sentinel reports the end of the
/// second process alone, so the promises to the first process still hold.
#[test]
fn the_end_of_a_second_process_of_the_leaders_name_frees_no_promise_to_the_first() {
    let mut believed = 0;
    for _ in 0..3 {
        let resource = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut three = Three::writing_to(&resource);
        let leader = three.agree();
        three.copy_store(leader);
        let mut twin = three.twin(leader);
        twin.linked(2);
        twin.child.kill().unwrap();
        never_two(&resource, Duration::from_secs(2));
        believed += three.nodes[(leader + 1) % 3].count("notice_believed");
    }
    assert!(believed > 0, "no sentinel was heard");
}

/// The host was set up anew while the former process still runs.
#[test]
fn a_second_process_with_a_new_store_never_leads_beside_the_first() {
    for _ in 0..3 {
        let resource = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut three = Three::writing_to(&resource);
        let leader = three.agree();
        let mut twin = three.twin(leader);
        twin.linked(2);
        never_two(&resource, Duration::from_secs(2));
    }
}

/// The rule `one-store-per-voter`, and the remedy that the refusal names.
#[test]
fn a_voter_with_a_new_store_takes_part_once_the_epoch_is_raised() {
    let mut three = Three::start();
    let leader = three.agree();
    let lost = (leader + 1) % 3;
    three.nodes[lost].child.kill().unwrap();
    three.nodes[lost].child.wait().unwrap();
    let store = three.folder.0.join(format!("{}.vote", NAMES[lost]));
    if store.is_dir() {
        fs::remove_dir_all(store).unwrap();
    } else {
        fs::remove_file(store).unwrap();
    }
    three.nodes[lost] = three.spawn(lost);
    three.nodes[lost].leader_after("");
    three.nodes[lost].linked(2);
    // The leader gets no acknowledgement of the voter with the new store, so it needs the other follower.
    three.nodes[(leader + 2) % 3].signal(Signal::STOP);
    three.nodes[leader].leads_no_more();

    three.variables.push(("EPOCH", "1".into()));
    for node in &mut three.nodes {
        node.child.kill().unwrap();
        node.child.wait().unwrap();
    }
    three.nodes = (0..3).map(|at| three.spawn(at)).collect();
    let leader = three.agree();
    let spare = (0..3).find(|at| *at != leader && *at != lost).unwrap();
    three.nodes[spare].signal(Signal::STOP);
    assert_eq!(three.nodes[leader].next(NEVER), None, "the leader leads on");
}

/// `later-process-leads`: the peers choose between two processes of one name, because the two have no majority for it.
#[test]
fn in_the_available_mode_the_earlier_process_of_a_name_gives_up() {
    let resource = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = resource.local_addr().unwrap().to_string();
    let variables = vec![("RESOURCE", address), ("AVAILABLE", String::new())];
    let mut three = Three::with(ports(), variables);
    let leader = three.agree();
    let mut twin = three.twin(leader);
    twin.linked(2);
    let began = Instant::now();
    while writers(&resource, NEVER).len() != 1 {
        assert!(began.elapsed() < SOON, "both lead");
    }
}

/// The lease of `lan` is 240 ms and a promise 300 ms. Without a notice no agent could be elected before their end.
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
fn without_a_notice_the_lease_decides_and_a_late_notice_changes_nothing() {
    let ports = ports();
    // A firewall that closes the ports for UDP: other sockets have the ports, so that no node receives a notice.
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
    // The bridge tries once a second whether its UDP port is free.
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
fn peers_believe_a_sentinel_that_replaced_another_one() {
    let mut three = Three::start();
    let leader = three.agree();
    kill_process(three.nodes[leader].sentinel, Signal::KILL).unwrap();
    // The node notices after a second that its sentinel is gone. Then the links are made anew.
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
