//! Real processes of the examples `node` and `configured` on loopback: killed, stopped, frozen, restarted.
//!
//! The same stories run on hosts of their own, with partitions, in `tests/hosts`.
#![expect(
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "nodes are counted from 0 to n, and live in real time"
)]

#[path = "hosts/check.rs"]
mod check;
#[path = "hosts/cluster.rs"]
#[expect(dead_code, reason = "other programs use more faults")]
mod cluster;
#[path = "hosts/scenarios/incarnations.rs"]
mod incarnations;
#[path = "hosts/log.rs"]
mod log;
#[path = "hosts/loopback.rs"]
mod loopback;
#[path = "support/ports.rs"]
mod ports;
#[path = "hosts/wrong.rs"]
mod wrong;

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use actix_bully::protocol::Timings;

use cluster::{Cluster, Setting};
use loopback::Loopback;
use wrong::Wrong;

type Story = fn(&mut Cluster<Loopback>) -> Result<(), Wrong>;

/// Plays a story with three nodes in the quorum mode. In the end all agree, and there never were two leaders.
fn play(story: Story) -> Result<(), Wrong> {
    let setting = Setting {
        hosts: 3,
        quorum: true,
        diskless: false,
        timings: "default",
        preempt: 1_000,
    };
    let mut cluster = Cluster::start(&node(), Loopback::new(3), setting)?;
    story(&mut cluster)?;
    cluster.agree()?;
    cluster.verdict()
}

/// Returns the path of the example `node`. It is built together with the tests, into a folder beside them.
fn node() -> PathBuf {
    example("node")
}

fn example(name: &str) -> PathBuf {
    let mut path = env::current_exe().unwrap_or_default();
    path.pop();
    path.pop();
    path.join("examples").join(name)
}

#[test]
fn a_leader_that_is_killed_is_replaced_and_comes_back_with_its_store() -> Result<(), Wrong> {
    play(incarnations::killed)
}

#[test]
fn a_follower_that_is_killed_disturbs_no_other_node() -> Result<(), Wrong> {
    play(incarnations::follower_killed)
}

#[test]
fn when_all_are_killed_the_next_term_is_above_every_earlier_one() -> Result<(), Wrong> {
    play(incarnations::all_killed)
}

#[test]
fn a_leader_that_stands_still_does_not_lead_when_it_goes_on() -> Result<(), Wrong> {
    play(incarnations::frozen)
}

#[test]
fn a_leader_that_is_asked_to_stop_hands_over_first() -> Result<(), Wrong> {
    play(incarnations::hand_over)
}

#[test]
fn a_node_that_lost_its_store_does_not_vote() -> Result<(), Wrong> {
    play(incarnations::store_lost)
}

/// Waits for the end of a process, for at most a minute.
fn ends(child: &mut Child) -> Result<ExitStatus, Wrong> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    Err(Wrong(String::from(
        "the process did not end within a minute",
    )))
}

/// The supervisor forgives five panics; the test causes six.
#[test]
fn a_node_whose_agent_has_ended_for_good_ends_and_says_so() -> Result<(), Wrong> {
    let mut child = Command::new(node())
        .args(["--name", "a", "--commands"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut commands = child
        .stdin
        .take()
        .ok_or_else(|| Wrong(String::from("no input")))?;
    commands.write_all("panic\n".repeat(6).as_bytes())?;
    let status = ends(&mut child)?;
    drop(commands);
    let Output { stdout, stderr, .. } = child.wait_with_output()?;
    let (said, why) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert_eq!(status.code(), Some(2), "{said}{why}");
    assert!(said.contains("the agent has ended for good"), "{said}");
    assert!(why.contains("node: the agent has ended for good"), "{why}");
    Ok(())
}

#[test]
fn a_refused_init_leaves_no_file_and_names_its_cause() -> Result<(), Wrong> {
    let folder = tempfile::tempdir()?;
    let fresh = folder.path().join("node-d");
    for store in [fresh.as_path(), folder.path()] {
        let output = Command::new(node())
            .args(["--name", "d", "--quorum", "a,b,c", "--init", "--store"])
            .arg(store)
            .output()?;
        let why = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{why}");
        let (_, cause) = why.split_once("refuses the agent: ").unwrap_or_default();
        assert!(!cause.trim().is_empty(), "{why}");
        assert!(!fresh.exists(), "the refused start left its folder");
        assert!(!folder.path().join("d.vote").exists(), "{why}");
    }
    Ok(())
}

/// A process of the example `configured`, and its output.
struct Configured {
    process: Child,
    lines: Receiver<String>,
}

impl Configured {
    /// Starts one of three nodes with the same file and different environments.
    fn start(trio: &Trio, at: usize, votes: Votes) -> Result<Self, Wrong> {
        let mut command = Command::new(example("configured"));
        command
            .arg(&trio.file)
            .env("JOBS_NODE", NAMES[at])
            .env("JOBS_LISTEN", &trio.addresses[at]);
        match votes {
            Votes::Stored => command
                .env("JOBS_QUORUM_STORE_FILE", trio.folder.path().join(NAMES[at]))
                .env("JOBS_QUORUM_STORE", "open-or-create"),
            Votes::Forgotten => command.env("JOBS_QUORUM_DISKLESS", "true"),
        };
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let said = process
            .stdout
            .take()
            .ok_or_else(|| Wrong(String::from("no output")))?;
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { process, lines })
    }

    /// Waits for a line that contains `what`. Returns the line.
    fn says(&self, what: &str) -> Result<String, Wrong> {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.map_err(|_| Wrong(format!("no line contains {what:?}")))?;
            if line.contains(what) {
                return Ok(line);
            }
        }
    }

    fn signal(&self, signal: &str) -> Result<(), Wrong> {
        let pid = self.process.id().to_string();
        let done = Command::new("kill").args(["-s", signal, &pid]).status()?;
        done.success()
            .then_some(())
            .ok_or_else(|| Wrong(format!("no {signal}")))
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The place of a vote after its process ends.
#[derive(Clone, Copy)]
enum Votes {
    Stored,
    Forgotten,
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// The file of three nodes, and their addresses.
struct Trio {
    folder: tempfile::TempDir,
    file: PathBuf,
    addresses: Vec<String>,
}

fn trio() -> Result<Trio, Wrong> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.toml");
    let names = NAMES;
    let place = Loopback::new(names.len());
    let addresses: Vec<_> = (0..names.len())
        .map(|host| cluster::Place::address(&place, host))
        .collect();
    let mut text =
        String::from("group = \"jobs\"\npreemption = \"never\"\npeers_name_all = true\n");
    text += "[quorum]\nvoters = [\"a\", \"b\", \"c\"]\n";
    for (name, address) in names.iter().zip(&addresses) {
        for line in [
            "[[peers]]",
            &format!("node = \"{name}\""),
            &format!("address = \"{address}\""),
        ] {
            text.extend([line, "\n"]);
        }
    }
    std::fs::write(&file, text)?;
    Ok(Trio {
        folder,
        file,
        addresses,
    })
}

/// Starts a trio by configuration, and asks its leader to end by `signal`. Checks that it hands over and ends well.
fn ends_well_by(signal: &str) -> Result<(), Wrong> {
    let (trio, names) = (trio()?, NAMES);
    let start = |at: usize| Configured::start(&trio, at, Votes::Stored);
    let mut nodes = [start(0)?, start(1)?, start(2)?];
    let first = nodes[0].says(" leads in term ")?;
    let at = names.iter().position(|name| first.starts_with(name));
    let leader = at.ok_or_else(|| Wrong(first.clone()))?;
    for (_, node) in nodes
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != 0 && *at != leader)
    {
        node.says(&first)?;
    }
    let asked = Instant::now();
    nodes[leader].signal(signal)?;
    let other = &nodes[(leader + 1) % names.len()];
    let next = other.says(" leads in term ")?;
    let took = asked.elapsed();
    assert!(!next.starts_with(names[leader]), "{first}, then {next}");
    let status = ends(&mut nodes[leader].process)?;
    assert_eq!(status.code(), Some(0), "{status}");
    nodes[leader].says("has left")?;
    // Without a hand-over the next election would take longer than this.
    let silent = Timings::default().worst_case_quorum_failover(2);
    assert!(took < silent, "{took:?} of {silent:?}");
    Ok(())
}

/// Only the clock of the host remains of a process.
#[test]
fn voters_without_a_disk_that_are_all_killed_elect_in_a_later_term() -> Result<(), Wrong> {
    let trio = trio()?;
    let mut before = 0;
    for _ in 0..3 {
        let began = Instant::now();
        let start = |at: usize| Configured::start(&trio, at, Votes::Forgotten);
        let nodes = [start(0)?, start(1)?, start(2)?];
        let first = nodes[0].says(" leads in term ")?;
        for node in &nodes[1..] {
            node.says(&first)?;
        }
        let t = Timings::default();
        let abstains = Timings::least_promise(t.promise() + t.round());
        assert!(began.elapsed() >= abstains, "{:?}", began.elapsed());
        let (_, term) = first.rsplit_once(' ').unwrap_or_default();
        let term: u64 = term.parse().map_err(|_| Wrong(first.clone()))?;
        assert!(term > before, "{term} after {before}");
        before = term;
        drop(nodes); // kills all of them by SIGKILL
    }
    Ok(())
}

/// A process that is killed leaves a complete file of the group's past.
#[test]
fn a_thousand_leaderships_outlive_a_kill_within_their_bound() -> Result<(), Wrong> {
    let trio = trio()?;
    let file = trio.folder.path().join("history-jobs@a.jsonl");
    let mut before = Vec::from("{\"history\":1,\"group\":\"jobs\"}\n");
    for term in 1..=1_200 {
        writeln!(
            before,
            "{{\"leadership\":{{\"leader\":\"a\",\"term\":\"{term}\",\"from_unix_ms\":{term},\"without_ms\":1,\
             \"until_unix_ms\":{term},\"end\":\"gone\",\"seen_by\":\"a\"}}}}"
        )?;
    }
    std::fs::write(&file, before)?;
    for _ in 0..2 {
        let start = |at: usize| Configured::start(&trio, at, Votes::Stored);
        let nodes = [start(0)?, start(1)?, start(2)?];
        let first = nodes[0].says(" leads in term ")?;
        let (leader, term) = first.split_once(" leads in term ").unwrap_or_default();
        let row = format!("{{\"leadership\":{{\"leader\":\"{leader}\",\"term\":\"{term}\",");
        let until = Instant::now() + Duration::from_secs(60);
        while !std::fs::read_to_string(&file)?.contains(&row) {
            assert!(Instant::now() < until, "{first} is never in the file");
            thread::sleep(Duration::from_millis(20));
        }
        drop(nodes); // kills all of them by SIGKILL
        let kept = std::fs::read_to_string(&file)?;
        let rows = kept.lines().filter(|line| line.contains("\"leadership\""));
        assert_eq!(rows.count(), 1_000, "the oldest leadership was dropped");
        assert!(
            kept.ends_with('\n') && kept.len() < 256 << 10,
            "{}",
            kept.len()
        );
    }
    Ok(())
}

#[test]
fn a_configured_leader_that_gets_sigterm_hands_over_and_ends_well() -> Result<(), Wrong> {
    ends_well_by("TERM")
}

#[test]
fn a_configured_leader_that_gets_ctrl_c_hands_over_and_ends_well() -> Result<(), Wrong> {
    ends_well_by("INT")
}

#[test]
fn a_wrong_configuration_ends_a_program_with_the_key() -> Result<(), Wrong> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("jobs.toml");
    std::fs::write(
        &file,
        "node = \"a\"\ngroup = \"g\"\n[[peers]]\nnode = \"b\"\n",
    )?;
    let output = Command::new(example("configured")).arg(&file).output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{why}");
    assert!(
        why.starts_with("configured: `peers[0].address` is missing: "),
        "{why}"
    );
    Ok(())
}
