//! A system that kills a node with a sentinel: systemd kills a unit, or the kernel runs out of memory. In real time.
//!
//! Each trial needs root, and `systemd` as the first process of a pid namespace, or a control group of its own. So the
//! trials are run by hand: `.ci/soak trials`.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

mod common;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Node, SOON, folder, ports};
use tempfile::TempDir;

/// The last node is the unit's, and ranks highest.
const NAMES: [&str; 3] = ["a", "b", "z"];

/// A systemd with one unit: the node `z`.
struct Systemd {
    child: Child,
    folder: TempDir,
}

/// Commands of the first process in the new namespaces. Only this systemd sees the units.
const FIRST: &str = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && \
    cp \"$0\"/z.service \"$0\"/trial.target /run/systemd/system && \
    exec env -i container=trial PATH=\"$PATH\" /lib/systemd/systemd --system --unit=trial.target \
    --log-target=console --show-status=no";

impl Systemd {
    fn start(folder: TempDir, node: &str, kill_mode: &str) -> Self {
        let path = folder.path().display();
        let unit = format!(
            "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart={node}\nStandardOutput=append:{path}/out\n\
             StandardError=append:{path}/err\nRestart=always\nRestartSec=0\nKillMode={kill_mode}\n"
        );
        fs::write(folder.path().join("z.service"), unit).unwrap();
        let target = "[Unit]\nDefaultDependencies=no\nRequires=z.service\n";
        fs::write(folder.path().join("trial.target"), target).unwrap();
        let child = Command::new("unshare")
            .args(["--pid", "--fork", "--kill-child", "--mount", "--mount-proc"])
            .args(["--cgroup", "sh", "-c", FIRST])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, folder }
    }

    /// Returns the id of its first process.
    fn first(&self) -> String {
        let id = self.child.id();
        let list = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        list.trim().to_owned()
    }

    fn systemctl(&self, words: &[&str]) -> String {
        let done = Command::new("nsenter")
            .args(["-t", &self.first(), "-p", "-m", "systemctl"])
            .args(words)
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    }

    /// Returns how often the node of the unit was restarted.
    fn restarts(&self) -> String {
        let shown = self.systemctl(&["show", "-p", "NRestarts", "z.service"]);
        shown.trim().trim_start_matches("NRestarts=").to_owned()
    }

    /// Returns the output of the node.
    fn printed(&self) -> String {
        fs::read_to_string(self.folder.path().join("out")).unwrap_or_default()
    }
}

impl Drop for Systemd {
    fn drop(&mut self) {
        // The end of its first process ends the whole namespace.
        drop(Command::new("kill").args(["-KILL", &self.first()]).status());
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The time from the command until both other nodes follow the next leader, and the number of nodes that believed a
/// notice.
type Outcome = (Duration, usize);

/// Starts two nodes beside the unit's node, waits until it leads, and kills it by the command `kill`.
fn with_unit(kill_mode: &str, kill: &[&str]) -> Outcome {
    let (folder, ports) = (folder(), ports::<3>());
    let votes = folder.path().to_owned();
    let program = env!("CARGO_BIN_EXE_actix-bully-sentinel-tests");
    let mut line = format!("{program} z {} {}", votes.display(), ports[2]);
    for (name, port) in NAMES.iter().zip(ports).take(2) {
        write!(line, " {name}={port}").unwrap();
    }
    let unit = Systemd::start(folder, &line, kill_mode);
    let mut others = [0, 1].map(|at| start(at, ports, &votes));
    let began = Instant::now();
    for node in &mut others {
        node.linked(2);
    }
    while !unit.printed().lines().any(|line| line == "leader z") {
        assert!(
            began.elapsed() < 4 * SOON,
            "z never leads: {}",
            unit.printed()
        );
        thread::sleep(Duration::from_millis(20));
    }
    let since = Instant::now();
    unit.systemctl(kill);
    let told = others.each_mut().map(led_by_another);
    let took = told.into_iter().max().unwrap().duration_since(since);
    let believed = others.each_mut().map(|node| node.count("notice_believed"));
    let began = Instant::now();
    while unit.restarts() != "1" {
        assert!(began.elapsed() < SOON, "systemd does not restart the node");
        thread::sleep(Duration::from_millis(20));
    }
    (took, believed.iter().filter(|count| **count > 0).count())
}

fn start(at: usize, ports: [u16; 3], votes: &Path) -> Node {
    let others = NAMES.into_iter().zip(ports);
    let peers: Vec<_> = others.filter(|(name, _)| *name != NAMES[at]).collect();
    Node::start_with(NAMES[at], votes, ports[at], &peers, &[])
}

/// Waits until this node follows `a` or `b` after `z`. Returns the time. The node printed only `z` before.
fn led_by_another(node: &mut Node) -> Instant {
    node.leader_after("z").0
}

/// Kills the main process alone, as a crash does.
const MAIN: &[&str] = &["kill", "--kill-whom=main", "-s", "KILL", "z.service"];
const ALL: &[&str] = &["kill", "--kill-whom=all", "-s", "KILL", "z.service"];

const ROUNDS: usize = 5;

/// With the mode `mixed`, systemd kills the rest of the unit as soon as it hears of the end, at the same moment at which
/// the sentinel does. If the whole unit is killed, the lease decides.
#[test]
#[ignore = "needs root and systemd: `.ci/soak trials`"]
fn a_sentinel_reports_the_killed_main_process_of_a_unit_in_each_mode_that_spares_the_sentinel() {
    for (kill_mode, kill, is_spared) in [
        ("control-group", MAIN, true),
        ("process", MAIN, true),
        ("mixed", MAIN, false),
        ("control-group", ALL, false),
    ] {
        let outcomes: Vec<_> = (0..ROUNDS).map(|_| with_unit(kill_mode, kill)).collect();
        println!(
            "KillMode={kill_mode}, systemctl {}: {outcomes:?}",
            kill.join(" ")
        );
        let mut believed = outcomes.iter().map(|(_, believed)| *believed);
        assert!(
            !is_spared || believed.all(|nodes| nodes == 2),
            "{kill_mode}"
        );
    }
}

/// A control group of version 1 or 2 with a limit of memory.
struct Bounded(PathBuf);

impl Bounded {
    fn new(bytes: u64) -> Self {
        let (base, limit) = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ]
        .into_iter()
        .find(|(base, _)| Path::new(base).join("cgroup.procs").exists())
        .expect("control groups");
        let path = Path::new(base).join(format!("bully-trial-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::write(path.join(limit), bytes.to_string()).expect("control of memory");
        Self(path)
    }

    fn holds(&self, process: u32) {
        fs::write(self.0.join("cgroup.procs"), process.to_string()).unwrap();
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        let began = Instant::now();
        // The processes end a moment after they are killed.
        while fs::remove_dir(&self.0).is_err() && began.elapsed() < SOON {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
#[ignore = "needs root and control of memory: `.ci/soak trials`"]
fn a_sentinel_reports_a_node_that_is_killed_for_its_memory() {
    for _ in 0..ROUNDS {
        let (folder, ports) = (folder(), ports::<3>());
        let mut nodes = [0, 1, 2].map(|at| start(at, ports, folder.path()));
        let leader = nodes.each_mut().map(|node| node.leader_after("").1);
        let leader = NAMES.iter().position(|name| leader[2] == *name).unwrap();
        for node in &mut nodes {
            node.linked(2);
        }
        let bounded = Bounded::new(256 << 20);
        let node = &mut nodes[leader];
        bounded.holds(node.child.id());
        bounded.holds(u32::try_from(node.sentinel.as_raw_pid()).unwrap());
        node.say("eat");
        node.child.wait().unwrap();
        let since = Instant::now();
        let others = nodes.iter_mut().filter(|node| node.name != NAMES[leader]);
        let others: Vec<_> = others.collect();
        let told = others.into_iter().map(|node| {
            let (at, _) = node.leader_after(NAMES[leader]);
            (
                at.saturating_duration_since(since),
                node.count("notice_believed"),
            )
        });
        let told: Vec<_> = told.collect();
        println!("from the end of a killed process until each other follows the next: {told:?}");
        for (took, believed) in told {
            assert!(
                took < Duration::from_millis(120) && believed == 1,
                "{took:?}"
            );
        }
    }
}
