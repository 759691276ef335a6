//! The same ends of leaders in etcd, if its programs are installed: a store whose Raft group also elects leaders.
//!
//! Decided here: when a member of etcd knows its leader. Its log shows that; the time of a line is the time at which it
//! is read. Not here: the number of rounds, and the output of the times (`beside.rs`, `processes.rs`).

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Instant,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::{Gap, NODES, Wrong, cluster::SOON, ports::free_port};

/// The way in which the leader ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Killed,
    /// SIGTERM: the leader transfers its leadership before it stops.
    Terminated,
    /// An operator asks the leader to transfer its leadership; measured from the beginning of the transfer.
    Moved,
}

/// Heartbeat and election time-out like the preset `lan`, in milliseconds.
const HEARTBEAT: &str = "20";
const ELECTION: &str = "200";

/// A line of a member's log, with the time at which it was read.
struct Said {
    at: Instant,
    member: usize,
    text: String,
}

pub(super) struct Group {
    members: Vec<Child>,
    /// The number of each member in the logs.
    numbers: [String; NODES],
    peers: Vec<String>,
    clients: Vec<String>,
    folder: TempDir,
    /// The present leader.
    leads: usize,
    said: Receiver<Said>,
    says: Sender<Said>,
}

impl Drop for Group {
    fn drop(&mut self) {
        for member in &mut self.members {
            // The member may have ended by itself.
            let _ = member.kill();
            let _ = member.wait();
        }
    }
}

impl End {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Killed => "etcd kill",
            Self::Terminated => "etcd TERM",
            Self::Moved => "etcd move",
        }
    }
}

/// The times of the steps of an election.
#[derive(Default)]
struct Times {
    /// The old leader begins to hand over, and takes no more work.
    begun: Option<Instant>,
    /// The next leader leads.
    became: Option<Instant>,
    /// The last surviving member knows the leader.
    known: Option<Instant>,
}

impl Group {
    pub(super) fn start() -> Result<Self, Wrong> {
        let (says, said) = mpsc::channel();
        let mut group = Self {
            members: Vec::new(),
            numbers: Default::default(),
            peers: addresses(),
            clients: addresses(),
            folder: TempDir::new()?,
            leads: 0,
            said,
            says,
        };
        for member in 0..NODES {
            let process = group.spawn(member, "new")?;
            group.members.push(process);
        }
        group.leads = group.leader(None)?.0;
        Ok(group)
    }

    /// Ends the leader once. Restarts a member that ended, and waits until it follows.
    pub(super) fn end_leader(&mut self, end: End) -> Result<Gap, Wrong> {
        // The leadership may have moved meanwhile: a restarted member may hold an election.
        while let Ok(Said { member, text, .. }) = self.said.try_recv() {
            let Some((number, leader)) = elected(&text) else {
                continue;
            };
            self.numbers[member] = number;
            if let Some(leads) = self.numbers.iter().position(|number| *number == leader) {
                self.leads = leads;
            }
        }
        let leader = self.leads;
        let asked = Instant::now();
        match end {
            End::Killed => self.members[leader].kill()?,
            End::Terminated => signal(&self.members[leader])?,
            End::Moved => self.move_from(leader)?,
        }
        let (next, times) = self.leader(Some(leader))?;
        let known = times.known.ok_or_else(|| Wrong("no member leads".into()))?;
        let began = match end {
            End::Killed | End::Terminated => asked,
            End::Moved => times.begun.unwrap_or(asked),
        };
        if end != End::Moved {
            self.members[leader].wait()?;
            self.members[leader] = self.spawn(leader, "existing")?;
        }
        self.leads = next;
        let alone = times.begun.zip(times.became);
        Ok(Gap {
            known: known.saturating_duration_since(began),
            alone: alone.map(|(begun, became)| became.saturating_duration_since(begun)),
        })
    }

    fn spawn(&self, member: usize, state: &str) -> Result<Child, Wrong> {
        let name = |member: usize| format!("n{member}");
        let all = self.peers.iter().enumerate();
        let all = all.map(|(member, peer)| format!("{}=http://{peer}", name(member)));
        let all: Vec<_> = all.collect();
        let mut command = Command::new("etcd");
        command.args(["--name", &name(member)]);
        command.arg("--data-dir");
        command.arg(self.folder.path().join(name(member)));
        for (flag, address) in [
            ("--listen-peer-urls", &self.peers[member]),
            ("--initial-advertise-peer-urls", &self.peers[member]),
            ("--listen-client-urls", &self.clients[member]),
            ("--advertise-client-urls", &self.clients[member]),
        ] {
            command.arg(flag).arg(format!("http://{address}"));
        }
        command.args(["--initial-cluster", &all.join(",")]);
        command.args(["--initial-cluster-state", state]);
        command.args(["--heartbeat-interval", HEARTBEAT]);
        command.args(["--election-timeout", ELECTION]);
        command.args(["--logger", "zap", "--log-outputs", "stderr"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let none = |wrong| {
            format!(
                "etcd cannot be started ({wrong}): it is in Debian's etcd-server, and etcdctl in etcd-client"
            )
        };
        let mut process = command.spawn().map_err(|wrong| Wrong(none(wrong)))?;
        if let Some(output) = process.stderr.take() {
            follow(member, output, self.says.clone());
        }
        Ok(process)
    }

    /// Waits until all other members know a leader other than `former`. Returns the leader and the times.
    fn leader(&mut self, former: Option<usize>) -> Result<(usize, Times), Wrong> {
        let until = Instant::now() + SOON;
        let mut times = Times::default();
        let mut knows = [const { None::<(String, Instant)> }; NODES];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(Said { at, member, text }) = self.said.recv_timeout(left) else {
                return Err(Wrong(String::from("etcd has no leader in time")));
            };
            if text.contains("starts to transfer leadership") {
                times.begun = Some(at);
            } else if text.contains("became leader at term") {
                times.became = Some(at);
            }
            let Some((number, leader)) = elected(&text) else {
                continue;
            };
            self.numbers[member] = number;
            knows[member] = Some((leader.clone(), at));
            let others = (0..NODES).filter(|member| former != Some(*member));
            let known: Option<Vec<_>> = others.map(|other| knows[other].as_ref()).collect();
            let next = self.numbers.iter().position(|number| *number == leader);
            if let (Some(known), Some(next)) = (known, next)
                && former != Some(next)
                && known.iter().all(|(theirs, _)| *theirs == leader)
            {
                times.known = Some(at);
                return Ok((next, times));
            }
        }
    }

    /// Asks the leader to transfer its leadership to the next member.
    fn move_from(&self, leader: usize) -> Result<(), Wrong> {
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3");
        command.args(["--endpoints", &self.clients[leader], "move-leader"]);
        command.arg(&self.numbers[(leader + 1) % NODES]);
        command.stdout(Stdio::null());
        if command.status()?.success() {
            Ok(())
        } else {
            Err(Wrong(String::from("etcd did not move its leader")))
        }
    }
}

/// Returns the member that reports a leader, and that leader: `... raft.node: A elected leader B at term 2`, or
/// `... A changed leader from C to B at term 3`.
fn elected(text: &str) -> Option<(String, String)> {
    let (_, rest) = text.split_once("raft.node: ")?;
    let (number, rest) = rest.split_once(' ')?;
    let leader = match rest.strip_prefix("elected leader ") {
        Some(rest) => rest,
        None => {
            rest.strip_prefix("changed leader from ")?
                .split_once(" to ")?
                .1
        }
    };
    let (leader, _) = leader.split_once(' ')?;
    Some((number.to_owned(), leader.to_owned()))
}

/// Reads the log of a member until it ends.
fn follow(member: usize, output: impl Read + Send + 'static, says: Sender<Said>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let at = Instant::now();
            let line: Option<Value> = serde_json::from_str(&line).ok();
            let text = line.and_then(|line| Some(line.get("msg")?.as_str()?.to_owned()));
            let said = text.map(|text| Said { at, member, text });
            if said.is_some_and(|said| says.send(said).is_err()) {
                return;
            }
        }
    });
}

/// Sends the signal by a system call, as for our nodes.
fn signal(process: &Child) -> Result<(), Wrong> {
    kill_process(Pid::from_child(process), Signal::TERM).map_err(|wrong| Wrong(wrong.to_string()))
}

/// Returns free ports: etcd cannot use a port that the kernel chooses.
fn addresses() -> Vec<String> {
    (0..NODES)
        .map(|_| format!("127.0.0.1:{}", free_port()))
        .collect()
}
