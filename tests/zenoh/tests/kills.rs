//! Three processes that find each other by zenoh: the leader is killed or frozen, and comes back.
//!
//! `ZENOH_ROUNDS` sets the number of rounds; default 5.
#![expect(
    clippy::disallowed_methods,
    reason = "processes are watched in real time"
)]

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use actix_bully_zenoh_tests::{DEADLINE, endpoint};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const ALL: [&str; 3] = ["a", "b", "c"];

struct Processes {
    folder: TempDir,
    endpoints: [String; 3],
    running: BTreeMap<&'static str, (Child, ChildStdin)>,
    /// The leader of each process, as it last printed.
    follows: BTreeMap<&'static str, String>,
    said: Receiver<(u32, &'static str, String)>,
    say: Sender<(u32, &'static str, String)>,
}

impl Processes {
    fn start() -> Self {
        let (say, said) = channel();
        let mut processes = Self {
            folder: TempDir::new().expect("a folder"),
            endpoints: [endpoint(), endpoint(), endpoint()],
            running: BTreeMap::new(),
            follows: BTreeMap::new(),
            said,
            say,
        };
        for name in ALL {
            processes.begin(name);
        }
        processes
    }

    fn begin(&mut self, name: &'static str) {
        let folder: &Path = self.folder.path();
        let endpoint = |name: &str| {
            let at = ALL.iter().position(|other| *other == name);
            &self.endpoints[at.expect("one of them")]
        };
        let mut child = Command::new(env!("CARGO_BIN_EXE_host"))
            .arg(name)
            .arg(folder)
            .arg(endpoint(name))
            .args(
                ALL.iter()
                    .filter(|peer| **peer != name)
                    .map(|peer| endpoint(peer)),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (say, process) = (self.say.clone(), child.id());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some(leader) = line.strip_prefix("follows ") {
                    say.send((process, name, leader.to_owned())).ok();
                }
            }
        });
        self.running.insert(name, (child, input));
        self.follows.remove(name);
    }

    fn signal(&self, name: &str, signal: Signal) {
        let id = Pid::from_child(&self.running[name].0);
        kill_process(id, signal).expect("it runs");
    }

    fn kill(&mut self, name: &'static str) {
        let (mut child, _input) = self.running.remove(name).expect("it runs");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        self.follows.remove(name);
    }

    /// Waits until all processes of `who` follow one leader other than `former`.
    fn agree(&mut self, who: &[&str], former: Option<&str>) -> &'static str {
        let began = Instant::now();
        loop {
            let leaders: Vec<_> = who.iter().map(|name| self.follows.get(name)).collect();
            let first = leaders[0].cloned();
            let leader = first.and_then(|first| ALL.into_iter().find(|name| **name == first));
            if let Some(leader) = leader
                && Some(leader) != former
                && leaders
                    .iter()
                    .all(|other| other.is_some_and(|other| other == leader))
            {
                return leader;
            }
            let rest = DEADLINE.saturating_sub(began.elapsed());
            let (process, name, leader) = self.said.recv_timeout(rest).unwrap_or_else(|_| {
                panic!("{who:?} never follow one of them: {:?}", self.follows);
            });
            // Lines of a process that has ended may still arrive.
            if self
                .running
                .get(name)
                .is_some_and(|(child, _)| child.id() == process)
            {
                self.follows.insert(name, leader);
            }
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for (child, _) in self.running.values_mut() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

fn others(leader: &str) -> Vec<&'static str> {
    ALL.into_iter().filter(|name| *name != leader).collect()
}

fn rounds() -> usize {
    env::var("ZENOH_ROUNDS").map_or(5, |rounds| rounds.parse().expect("a number"))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn a_killed_leader_is_replaced_and_comes_back() {
    let mut processes = Processes::start();
    let mut times = Vec::new();
    for _ in 0..rounds() {
        let leader = processes.agree(&ALL, None);
        let began = Instant::now();
        processes.kill(leader);
        processes.agree(&others(leader), Some(leader));
        times.push(began.elapsed());
        processes.begin(leader);
    }
    processes.agree(&ALL, None);
    println!(
        "killed until both others follow another: {:?}",
        median(times)
    );
}

#[test]
fn a_frozen_leader_is_replaced_and_follows_when_it_thaws() {
    let mut processes = Processes::start();
    let mut times = Vec::new();
    for _ in 0..rounds().min(3) {
        let leader = processes.agree(&ALL, None);
        let began = Instant::now();
        processes.signal(leader, Signal::STOP);
        processes.agree(&others(leader), Some(leader));
        times.push(began.elapsed());
        processes.signal(leader, Signal::CONT);
        processes.agree(&ALL, None);
    }
    println!(
        "frozen until both others follow another: {:?}",
        median(times)
    );
}
