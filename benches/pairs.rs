//! Checks whether a commit made failovers and restarts slower: measures clusters of two node programs, in turn.
//!
//! `cargo bench --bench pairs -- --before NODE` in this folder, where `NODE` is the node example of an earlier commit;
//! `--rounds 200` for the figures of a release, `--only births` for one row. Three processes on loopback, a quorum with
//! the preset `lan`; stores are in `TMPDIR`. For each row it prints the medians, and the median of the ratios now :
//! before with the interval that holds it in 95 of 100 runs. The bench fails when an interval begins at 1.05 or more.
//! Without `--before` both programs are the present one.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "nodes live in real time"
)]

#[path = "../tests/hosts/check.rs"]
#[allow(dead_code, reason = "a bench runs no tests")]
mod check;
#[path = "../tests/hosts/cluster.rs"]
#[expect(dead_code, reason = "other programs use more faults")]
mod cluster;
#[path = "../tests/hosts/log.rs"]
mod log;
#[path = "../tests/hosts/loopback.rs"]
mod loopback;
mod node;
#[path = "../tests/support/ports.rs"]
mod ports;
mod spread;
#[path = "../tests/hosts/wrong.rs"]
mod wrong;

use std::{
    env,
    path::Path,
    time::{Duration, Instant},
};

use cluster::{Cluster, SOON, Setting};
use loopback::Loopback;
use spread::Spread;
use wrong::Wrong;

const NODES: usize = 3;

/// Lowest beginning of an interval that counts as slower.
const SLOWER: f64 = 1.05;

/// Time until a restarted voter supports a leader again.
const PAUSE: Duration = Duration::from_millis(500);

/// A disturbance of a cluster; it lasts until all nodes follow one leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// All nodes are started, with new stores.
    Births,
    /// A follower is killed and started again.
    Follower,
    /// The leader is killed and started again.
    Leader,
    /// Each node in turn is asked to stop, and started again.
    Rolling,
    /// The leader's agent panics, and its next incarnation panics at once.
    Panics,
}

const COURSES: [(Course, &str); 5] = [
    (Course::Births, "births"),
    (Course::Follower, "follower"),
    (Course::Leader, "leader"),
    (Course::Rolling, "rolling"),
    (Course::Panics, "panics"),
];

fn main() -> Result<(), Wrong> {
    let arguments: Vec<String> = env::args().collect();
    let after = |flag| arguments.iter().skip_while(move |one| *one != flag).nth(1);
    let is_test = arguments.iter().any(|one| one == "--test");
    let rounds = after("--rounds").and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(if is_test { 1 } else { 20 });
    let only = after("--only");
    let now = node::program()?;
    let before = after("--before").map_or_else(|| now.clone(), Into::into);
    println!(
        "{:<9} {:>6} {:>9} {:>9}  {:>5}  95 % interval",
        "course", "pairs", "before ms", "now ms", "ratio"
    );
    let mut slower = Vec::new();
    for (course, name) in COURSES {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let pairs = course.pairs(&before, &now, rounds)?;
        let [was, is] = [|pair: &(f64, f64)| pair.0, |pair: &(f64, f64)| pair.1]
            .map(|side| Spread::of(pairs.iter().map(side).collect()).median);
        let ratio = Spread::of(pairs.iter().map(|(before, now)| now / before).collect());
        println!(
            "{name:<9} {:>6} {was:>9.1} {is:>9.1}  {:>5.2}  {:.2} to {:.2}",
            pairs.len(),
            ratio.median,
            ratio.from,
            ratio.to
        );
        // A few pairs prove nothing.
        if ratio.from >= SLOWER && rounds >= 20 {
            slower.push(name);
        }
    }
    if slower.is_empty() {
        Ok(())
    } else {
        Err(Wrong(format!("slower than before: {}", slower.join(", "))))
    }
}

impl Course {
    /// Returns the times with each program, in milliseconds; the two programs take turns.
    fn pairs(self, before: &Path, now: &Path, rounds: usize) -> Result<Vec<(f64, f64)>, Wrong> {
        if self == Self::Births {
            let born = |program: &Path| {
                let began = Instant::now();
                begin(program).map(|_| began.elapsed())
            };
            return in_turn(rounds, |_| born(before), |_| born(now));
        }
        let (mut was, mut is) = (begin(before)?, begin(now)?);
        let pairs = in_turn(
            rounds,
            |round| self.take(&mut was, round),
            |round| self.take(&mut is, round),
        )?;
        was.verdict()?;
        is.verdict()?;
        Ok(pairs)
    }

    /// Disturbs a cluster once. Returns the time until all nodes follow one leader.
    fn take(self, cluster: &mut Cluster<Loopback>, round: usize) -> Result<Duration, Wrong> {
        let leader = cluster.agree()?;
        let began = Instant::now();
        match self {
            Self::Births => {}
            Self::Follower => {
                let follower = (leader + 1) % NODES;
                cluster.kill(follower)?;
                cluster.restart(follower)?;
            }
            Self::Leader => {
                cluster.kill(leader)?;
                cluster.restart(leader)?;
            }
            Self::Rolling => {
                for host in cluster.all() {
                    cluster.stop(host)?;
                    cluster.restart(host)?;
                    cluster.agree()?;
                }
            }
            Self::Panics => {
                let since = cluster.mark();
                cluster.tell(leader, "panic")?;
                let says = |line: &log::Line| line.host == leader && line.event != "works";
                let ended = cluster.log.wait(SOON, |lines| {
                    lines.get(since..)?.iter().any(says).then_some(())
                });
                ended.ok_or_else(|| Wrong(String::from("the leader does not end")))?;
                cluster.tell(leader, "panic")?; // for its next incarnation
            }
        }
        cluster.agree()?;
        let took = began.elapsed();
        // The pause varies, so that the rounds meet the leader at different moments between two heartbeats.
        let phase = Duration::from_millis(u64::try_from(round % 50).unwrap_or(0));
        cluster.log.wait(PAUSE + phase, |_| None::<()>);
        Ok(took)
    }
}

/// Runs both functions `rounds` times; they take turns in going first.
fn in_turn(
    rounds: usize,
    mut before: impl FnMut(usize) -> Result<Duration, Wrong>,
    mut now: impl FnMut(usize) -> Result<Duration, Wrong>,
) -> Result<Vec<(f64, f64)>, Wrong> {
    let mut pairs = Vec::new();
    for round in 0..rounds {
        let (was, is) = if round % 2 == 0 {
            let was = before(round)?;
            (was, now(round)?)
        } else {
            let is = now(round)?;
            (before(round)?, is)
        };
        pairs.push((was.as_secs_f64() * 1e3, is.as_secs_f64() * 1e3));
    }
    Ok(pairs)
}

/// Starts a cluster of a program, whose nodes follow a leader. No node takes over from a live leader.
fn begin(program: &Path) -> Result<Cluster<Loopback>, Wrong> {
    let setting = Setting {
        hosts: NODES,
        quorum: true,
        diskless: false,
        timings: "lan",
        preempt: 3_600_000,
    };
    Cluster::start(program, Loopback::new(NODES), setting)
}
