//! Processes of a node with a sentinel, and their output.
#![allow(dead_code, reason = "each test binary uses a part")]

#[path = "../../../support/ports.rs"]
mod ports;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use ports::free_port;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Longest time for an expected event. Most take milliseconds.
pub const SOON: Duration = Duration::from_secs(10);
/// Time for which a test waits for an event that must not happen.
pub const NEVER: Duration = Duration::from_millis(500);

/// Returns a folder that is removed at the end. It is in memory if possible.
pub fn folder() -> TempDir {
    let made = tempfile::tempdir_in("/dev/shm");
    made.unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Returns ports that are free for TCP and for UDP.
pub fn ports<const N: usize>() -> [u16; N] {
    [(); N].map(|()| free_port())
}

/// The process of a node.
pub struct Node {
    pub child: Child,
    pub name: &'static str,
    lines: Receiver<(Instant, String)>,
    pub sentinel: Pid,
}

impl Node {
    /// Starts a node with additional variables of its environment; the page of the program describes them.
    pub fn start_with(
        name: &'static str,
        folder: &Path,
        port: u16,
        peers: &[(&'static str, u16)],
        variables: &[(&str, String)],
    ) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_actix-bully-sentinel-tests"))
            .envs(variables.iter().cloned())
            .arg(name)
            .arg(folder)
            .arg(port.to_string())
            .args(peers.iter().map(|(peer, port)| format!("{peer}={port}")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                drop(tell.send((Instant::now(), line)));
            }
        });
        let mut node = Self {
            child,
            name,
            lines,
            sentinel: Pid::INIT,
        };
        let line = node.next(SOON).expect("a sentinel").1;
        let pid = line.strip_prefix("sentinel ").unwrap().parse().unwrap();
        node.sentinel = Pid::from_raw(pid).unwrap();
        node.ready();
        node
    }

    /// Waits until its sentinel catches the signals. The sentinel does so before it waits for the node's end.
    pub fn ready(&self) {
        let began = Instant::now();
        // SIGTERM is number 15. The sentinel catches it after the others.
        while self.caught() & (1 << 14) == 0 {
            assert!(began.elapsed() < SOON);
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn caught(&self) -> u64 {
        let status = self.status();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        u64::from_str_radix(caught.unwrap().trim(), 16).unwrap()
    }

    /// Returns the kernel's status of its sentinel.
    pub fn status(&self) -> String {
        fs::read_to_string(format!("/proc/{}/status", self.sentinel.as_raw_pid())).unwrap()
    }

    /// Returns the next line that it prints, and the time.
    pub fn next(&mut self, within: Duration) -> Option<(Instant, String)> {
        self.lines.recv_timeout(within).ok()
    }

    /// Waits until it prints a leader other than `former`. Returns the time and the leader.
    pub fn leader_after(&mut self, former: &str) -> (Instant, String) {
        loop {
            let (at, line) = self.next(SOON).expect("a leader");
            match line.strip_prefix("leader ") {
                Some(leader) if leader != former && leader != "-" => {
                    return (at, leader.to_owned());
                }
                _ => {}
            }
        }
    }

    /// Returns the value of a counter of its bridge.
    pub fn count(&mut self, what: &str) -> u64 {
        let counts = self.ask();
        let after = counts.split_once(&format!("\"{what}\", "));
        let number = after.and_then(|(_, rest)| rest.split_once(')'));
        number.map_or(0, |(number, _)| number.parse().unwrap())
    }

    /// Waits until its bridge has `links` links.
    pub fn linked(&mut self, links: usize) {
        let began = Instant::now();
        while !self.ask().ends_with(&format!(" links {links}")) {
            assert!(began.elapsed() < SOON, "{} is not linked", self.name);
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the line about its bridge.
    fn ask(&mut self) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "counts").unwrap();
        loop {
            let (_, line) = self.next(SOON).expect("counts");
            if let Some(counts) = line.strip_prefix("counts ") {
                return counts.to_owned();
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Returns the children of its process: its sentinels.
    pub fn children(&self) -> Vec<Pid> {
        let id = self.child.id();
        // Any thread may have started the child.
        let tasks = fs::read_dir(format!("/proc/{id}/task")).unwrap();
        tasks
            .filter_map(Result::ok)
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .flat_map(|list| {
                list.split_whitespace()
                    .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// The names of three nodes.
pub const NAMES: [&str; 3] = ["a", "b", "c"];

/// Three nodes, each of which has the others as peers.
pub struct Three {
    pub nodes: Vec<Node>,
    pub ports: [u16; 3],
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Three {
    /// Starts nodes at these ports, with additional variables of their environment.
    pub fn with(ports: [u16; 3], variables: &[(&'static str, String)]) -> Self {
        let mut three = Self {
            nodes: Vec::new(),
            ports,
            folder: folder(),
            variables: variables.to_vec(),
        };
        three.nodes = (0..3).map(|at| three.spawn(at)).collect();
        three
    }

    pub fn spawn(&self, at: usize) -> Node {
        let others = NAMES.into_iter().zip(self.ports);
        let peers: Vec<_> = others.filter(|(name, _)| *name != NAMES[at]).collect();
        let port = self.ports[at];
        Node::start_with(NAMES[at], self.folder.path(), port, &peers, &self.variables)
    }

    /// Waits until all nodes are linked and follow one leader. Returns its index.
    pub fn agree(&mut self) -> usize {
        let heard = self.nodes.iter_mut();
        let leader = heard.map(|node| node.leader_after("").1).last();
        let leader = leader.unwrap();
        for node in &mut self.nodes {
            node.linked(2);
        }
        NAMES.iter().position(|name| **name == leader).unwrap()
    }

    /// Waits until both nodes other than `former` follow one of them. Returns the time at which the later of the two
    /// printed it.
    pub fn fails_over(&mut self, former: usize) -> Instant {
        let others = self.nodes.iter_mut();
        let others = others.filter(|node| node.name != NAMES[former]);
        let told: Vec<_> = others
            .map(|node| node.leader_after(NAMES[former]))
            .collect();
        assert_eq!(told[0].1, told[1].1, "two nodes follow different leaders");
        told[0].0.max(told[1].0)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
