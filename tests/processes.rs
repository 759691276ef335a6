//! Real processes of the node example on loopback: killed, stopped, frozen, restarted.
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
#[expect(dead_code, reason = "other programs do more to their nodes")]
mod cluster;
#[path = "hosts/scenarios/incarnations.rs"]
#[expect(
    dead_code,
    reason = "the others take longer, and are played on hosts of their own"
)]
mod incarnations;
#[path = "hosts/log.rs"]
mod log;
#[path = "hosts/loopback.rs"]
mod loopback;

use std::{
    env, fmt,
    io::{self, Write},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use cluster::{Cluster, Setting};
use loopback::Loopback;

/// What did not work, or what does not hold.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl From<io::Error> for Wrong {
    fn from(wrong: io::Error) -> Self {
        Self(wrong.to_string())
    }
}

type Story = fn(&mut Cluster<Loopback>) -> Result<(), Wrong>;

/// Three nodes in the quorum mode; in the end all agree, and there never were two leaders.
fn play(story: Story) -> Result<(), Wrong> {
    let setting = Setting {
        hosts: 3,
        quorum: true,
        timings: "default",
        preempt: 1_000,
    };
    let mut cluster = Cluster::start(&node(), Loopback::new(3)?, setting)?;
    story(&mut cluster)?;
    cluster.agree()?;
    cluster.verdict()
}

/// The example lies beside the tests: it is built with them.
fn node() -> PathBuf {
    let mut path = env::current_exe().unwrap_or_default();
    path.pop();
    path.pop();
    path.join("examples").join("node")
}

#[test]
fn a_leader_that_is_killed_is_replaced_and_comes_back_with_its_store() -> Result<(), Wrong> {
    play(incarnations::killed)
}

#[test]
fn a_follower_that_is_killed_costs_nobody_anything() -> Result<(), Wrong> {
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

/// How a process ends, unless it goes on for a minute.
fn ends(child: &mut Child) -> Result<ExitStatus, Wrong> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    Err(Wrong(String::from("it goes on")))
}

/// Six panics are one more than the supervisor forgives.
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
fn a_refused_init_leaves_no_file_and_says_what_caused_it() -> Result<(), Wrong> {
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
        assert!(!fresh.exists(), "the folder was made for it");
        assert!(!folder.path().join("d.vote").exists(), "{why}");
    }
    Ok(())
}
