//! A sentinel beside a real process that is killed, stopped, or ends by itself; in real time.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::UdpSocket,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use actix_bully::remote::{
    NodeId, NodeIncarnation,
    sentinel::{Notices, Secret},
};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// A notice that does not come within this does not come: it takes about a millisecond.
const SOON: Duration = Duration::from_secs(5);
/// For so long a notice that must not come is waited for.
const NEVER: Duration = Duration::from_millis(500);

struct Node {
    child: Child,
    out: BufReader<ChildStdout>,
    sentinel: Pid,
    peer: UdpSocket,
}

impl Node {
    fn start() -> Self {
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_actix-bully-sentinel-tests"))
            .arg(peer.local_addr().unwrap().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut node = Self {
            child,
            out,
            sentinel: Pid::INIT,
            peer,
        };
        node.sentinel = Pid::from_raw(node.line().parse().unwrap()).unwrap();
        node.ready();
        node
    }

    /// Until its sentinel ignores the signals, which it does before it waits.
    fn ready(&self) {
        let path = format!("/proc/{}/status", self.sentinel.as_raw_pid());
        let began = Instant::now();
        loop {
            let status = fs::read_to_string(&path).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
            // SIGTERM is number 15, and the later of the two.
            if caught & (1 << 14) != 0 {
                return;
            }
            assert!(began.elapsed() < SOON, "{status}");
            std::thread::yield_now();
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn say(&mut self, what: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{what}").unwrap();
        self.line()
    }

    fn heard(&self, within: Duration) -> Option<Vec<u8>> {
        let mut bytes = [0; 512];
        self.peer.set_read_timeout(Some(within)).unwrap();
        let len = self.peer.recv(&mut bytes).ok()?;
        Some(bytes[..len].to_vec())
    }

    fn kilobytes(&self, what: &str) -> u32 {
        let path = format!("/proc/{}/status", self.sentinel.as_raw_pid());
        let status = fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(what));
        let number = line.unwrap().split_whitespace().next().unwrap();
        number.parse().unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn is_believed(datagram: &[u8]) -> bool {
    let node = NodeId::new("host-a").unwrap();
    let mut notices = Notices::default();
    notices.note(&node, NodeIncarnation(7), Secret::of(3).digest());
    notices.hear(datagram) == Ok((node, NodeIncarnation(7)))
}

#[test]
fn a_node_that_is_killed_is_told_of_at_once_and_its_notice_is_believed() {
    let mut took = Vec::new();
    for _ in 0..20 {
        let mut node = Node::start();
        let since = Instant::now();
        node.child.kill().unwrap();
        let datagram = node.heard(SOON).unwrap();
        took.push(since.elapsed());
        assert!(is_believed(&datagram));
    }
    took.sort();
    println!(
        "kill -9 until the notice: {:?}, most {:?}",
        took[10], took[19]
    );
}

#[test]
fn a_node_that_is_stopped_is_not_told_of_until_it_ends() {
    let mut node = Node::start();
    let pid = Pid::from_child(&node.child);
    kill_process(pid, Signal::STOP).unwrap();
    assert_eq!(node.heard(NEVER), None);
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(node.say(""), "alive");
    node.child.kill().unwrap();
    assert!(is_believed(&node.heard(SOON).unwrap()));
}

#[test]
fn a_sentinel_that_is_asked_to_end_stays_for_as_long_as_its_node() {
    let mut node = Node::start();
    for signal in [Signal::INT, Signal::TERM] {
        kill_process(node.sentinel, signal).unwrap();
    }
    assert_eq!(node.say(""), "alive");
    node.child.kill().unwrap();
    assert!(is_believed(&node.heard(SOON).unwrap()));
}

#[test]
fn a_sentinel_that_is_killed_is_missed_and_says_nothing() {
    let mut node = Node::start();
    kill_process(node.sentinel, Signal::KILL).unwrap();
    let began = Instant::now();
    while node.say("") == "alive" {
        assert!(began.elapsed() < SOON);
    }
    node.child.kill().unwrap();
    assert_eq!(node.heard(NEVER), None);
}

#[test]
fn a_sentinel_that_is_dismissed_says_nothing_and_is_gone() {
    let mut node = Node::start();
    assert_eq!(node.say("dismiss"), "dead");
    assert!(test_kill_process(node.sentinel).is_err());
    node.child.kill().unwrap();
    assert_eq!(node.heard(NEVER), None);
}

#[test]
fn a_sentinel_has_one_thread_and_little_memory() {
    let node = Node::start();
    assert_eq!(node.kilobytes("Threads:"), 1);
    let (all, own) = (node.kilobytes("VmRSS:"), node.kilobytes("RssAnon:"));
    println!("a sentinel's memory: {all} KiB, of which its own {own} KiB");
    // What is not its own are pages of the program's file, which the node has in memory as well.
    assert!(own <= 2048, "{own} KiB");
}

#[test]
fn the_argument_of_a_sentinel_typed_by_hand_ends_at_once() {
    let status = Command::new(env!("CARGO_BIN_EXE_actix-bully-sentinel-tests"))
        .arg("--actix-bully-sentinel")
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
