//! A sentinel beside a real process that is killed, stopped, or ends by itself. In real time.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

mod common;

use std::{
    net::UdpSocket,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use actix_bully::remote::sentinel::EndNotice;
use common::{NEVER, Node, SOON, folder, ports};
use rustix::process::{Signal, kill_process, test_kill_process};
use tempfile::TempDir;

/// A node whose only peer is a socket that receives its notices.
struct Alone {
    node: Node,
    peer: UdpSocket,
    _folder: TempDir,
}

impl Alone {
    fn start_with(variables: &[(&str, String)]) -> Self {
        let folder = folder();
        let [port] = ports();
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = peer.local_addr().unwrap().port();
        let node = Node::start_with("a", folder.path(), port, &[("b", at)], variables);
        // After this time the bridge has sent its first orders to the sentinel.
        thread::sleep(Duration::from_millis(300));
        Self {
            node,
            peer,
            _folder: folder,
        }
    }

    fn heard(&self, within: Duration) -> Option<EndNotice> {
        let mut bytes = [0; 512];
        self.peer.set_read_timeout(Some(within)).unwrap();
        let len = self.peer.recv(&mut bytes).ok()?;
        EndNotice::decode(&bytes[..len])
    }
}

#[test]
fn a_stopped_node_is_not_reported_until_it_ends() {
    let mut alone = Alone::start_with(&[]);
    alone.node.signal(Signal::STOP);
    assert_eq!(alone.heard(NEVER), None);
    alone.node.signal(Signal::CONT);
    assert_eq!(alone.heard(NEVER), None);
    alone.node.child.kill().unwrap();
    let notice = alone.heard(SOON).expect("a notice");
    assert_eq!(notice.node.as_str(), "a");
}

#[test]
fn a_sentinel_that_is_asked_to_end_stays_for_as_long_as_its_node() {
    let mut alone = Alone::start_with(&[]);
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        kill_process(alone.node.sentinel, signal).unwrap();
    }
    assert_eq!(alone.heard(NEVER), None);
    assert_eq!(alone.node.children(), [alone.node.sentinel]);
    alone.node.child.kill().unwrap();
    assert!(alone.heard(SOON).is_some());
}

#[test]
fn a_killed_sentinel_sends_no_notice_and_is_replaced_by_one_with_other_bytes() {
    // Where another part of the program has read its end, its number may belong to another process afterwards.
    for variables in [vec![], vec![("REAPS", "1".to_owned())]] {
        is_replaced(Alone::start_with(&variables));
    }
}

fn is_replaced(mut alone: Alone) {
    let former = alone.node.sentinel;
    kill_process(former, Signal::KILL).unwrap();
    let began = Instant::now();
    let next = loop {
        assert!(began.elapsed() < SOON);
        let children = alone.node.children();
        match children.as_slice() {
            [one] if *one != former => break *one,
            _ => thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(alone.heard(Duration::from_millis(1)), None);
    assert!(
        test_kill_process(former).is_err(),
        "the former sentinel is no zombie"
    );
    alone.node.sentinel = next;
    alone.node.ready();
    thread::sleep(Duration::from_millis(300));
    alone.node.child.kill().unwrap();
    assert!(alone.heard(SOON).is_some());
}

#[test]
fn a_sentinel_has_one_thread_and_little_memory() {
    let alone = Alone::start_with(&[]);
    let status = alone.node.status();
    let number = |what: &str| -> u32 {
        let line = status.lines().find_map(|line| line.strip_prefix(what));
        let number = line.unwrap().split_whitespace().next().unwrap();
        number.parse().unwrap()
    };
    assert_eq!(number("Threads:"), 1);
    let (all, own) = (number("VmRSS:"), number("RssAnon:"));
    println!("a sentinel's memory: {all} KiB, of which its own {own} KiB");
    // The rest are pages of the program's file, which the node has in memory as well.
    assert!(own <= 2048, "{own} KiB");
}

#[test]
fn a_program_that_is_marked_as_a_sentinel_by_hand_ends_at_once() {
    let status = Command::new(env!("CARGO_BIN_EXE_actix-bully-sentinel-tests"))
        .env("ACTIX_BULLY_SENTINEL", "1")
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
