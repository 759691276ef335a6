//! The length of a failover between real processes on loopback: the time until every survivor knows the next leader.
//!
//! `cargo bench --bench processes` in this folder; `-- --rounds 200` for the figures of a release, `--only told` for
//! one kind of end, `--only fast` for the rows of one preset. `--etcd` measures ends beside those of etcd, in turn, if
//! its programs are installed (`beside.rs`). With `--bursts 50` and `--calm 600` (seconds) it counts instead the
//! elections that quorums of each preset hold although no process has ended. Stores are in `TMPDIR`; `/dev/shm` is in
//! memory.
//!
//! Three processes of the node example. The bench fails when a row exceeds its formula three times: the formula does
//! not cover a machine that gives a process no core for a second, and a busy machine does so now and then.
#![expect(
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "nodes are counted from 0 to n, and live in real time"
)]

mod beside;
#[path = "../tests/hosts/check.rs"]
#[allow(dead_code, reason = "a bench runs no tests")]
mod check;
#[path = "../tests/hosts/cluster.rs"]
#[expect(dead_code, reason = "other programs use more faults")]
mod cluster;
mod etcd;
#[path = "../tests/hosts/log.rs"]
mod log;
#[path = "../tests/hosts/loopback.rs"]
mod loopback;
mod node;
#[path = "../tests/support/ports.rs"]
mod ports;
mod spread;
mod stalls;
#[path = "../tests/hosts/wrong.rs"]
mod wrong;

use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use actix_bully::{
    clock::{BootClock, Clock},
    protocol::Timings,
};

use tempfile::TempDir;

use cluster::{Cluster, SOON, Setting, name};
use log::Line;
use loopback::Loopback;
use wrong::Wrong;

const NODES: usize = 3;

/// The way in which a leader ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// `kill -9`: its connections are closed.
    Killed,
    /// Its agent panics; the process goes on and reports it.
    Panics,
    /// SIGSTOP: its peers receive nothing from it, and no connection is refused.
    Silent,
    /// SIGTERM: it hands over.
    HandsOver,
    /// `kill -9` beside a sentinel, with the votes in memory.
    Told,
    /// Like `Told`, with the votes on the disk.
    ToldOnDisk,
}

struct Row {
    end: End,
    quorum: bool,
    timings: &'static str,
    /// Divisor of the number of rounds, for slow rows.
    part: usize,
}

const ROWS: &[Row] = &[
    row(End::Killed, false, "default", 1),
    row(End::Killed, true, "lan", 1),
    row(End::Told, true, "lan", 1),
    row(End::ToldOnDisk, true, "lan", 1),
    row(End::Killed, true, "fast", 1),
    row(End::Panics, false, "default", 10),
    row(End::Panics, true, "lan", 10),
    row(End::HandsOver, false, "default", 1),
    row(End::HandsOver, true, "lan", 1),
    row(End::Silent, false, "default", 5),
    row(End::Silent, true, "default", 5),
    row(End::Silent, true, "lan", 5),
    row(End::Silent, true, "fast", 5),
];

const fn row(end: End, quorum: bool, timings: &'static str, part: usize) -> Row {
    Row {
        end,
        quorum,
        timings,
        part,
    }
}

fn main() -> Result<(), Wrong> {
    let arguments: Vec<String> = env::args().collect();
    let after = |flag| arguments.iter().skip_while(move |one| *one != flag).nth(1);
    let rounds = match after("--rounds").and_then(|rounds| rounds.parse().ok()) {
        Some(rounds) => rounds,
        None if arguments.iter().any(|one| one == "--test") => 1,
        None => 20,
    };
    let only = after("--only");
    let is_asked = |row: &&Row| only.is_none_or(|only| only == row.timings || only == row.name());
    let number = |flag| after(flag).and_then(|count| count.parse().ok());
    let node = node::program()?;
    let stalls = (number("--bursts"), number("--calm"));
    if stalls != (None, None) {
        let quorums = ["default", "lan", "fast", "wan"].map(|it| row(End::Silent, true, it, 1));
        for row in quorums.iter().filter(is_asked) {
            if let Some(rounds) = stalls.0 {
                row.bursts(&node, rounds)?;
            }
            if let Some(seconds) = stalls.1 {
                let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
                row.calm(&node, Duration::from_secs(seconds))?;
            }
        }
        return Ok(());
    }
    if arguments.iter().any(|one| one == "--etcd") {
        return beside::compare(&node, rounds, |row| is_asked(&row));
    }
    print_head();
    let mut late = 0;
    for row in ROWS.iter().filter(is_asked) {
        let rounds = (rounds / row.part).max(1);
        late += usize::from(!row.is_within(&node, rounds)?);
    }
    match late {
        0 => Ok(()),
        _ => Err(Wrong(format!("{late} rows exceed their formula"))),
    }
}

fn print_head() {
    println!(
        "{:<11} {:<9} {:<11} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "end", "timings", "mode", "rounds", "p50 ms", "p90 ms", "p99 ms", "most ms", "bound ms"
    );
}

/// Most measurements of a row until it is within its formula.
const ATTEMPTS: usize = 3;

impl Row {
    /// Measures and prints the row, again while it is late. Returns whether it was within its formula in the last
    /// attempt.
    fn is_within(&self, node: &Path, rounds: usize) -> Result<bool, Wrong> {
        for _ in 0..ATTEMPTS {
            let bound = self.bound();
            let mode = if self.quorum { "quorum" } else { "available" };
            let took = measure(node, self, rounds)?.print(self.name(), self.timings, mode, bound);
            // One of a hundred may be late, on a machine that gives a process no core for a while.
            let late = took.len() / if self.is_told() { 100 } else { usize::MAX };
            let last = took.iter().rev().nth(late);
            if bound.is_none_or(|bound| last <= Some(&bound)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the formula of a silent end, which is an upper bound for every end. With a sentinel and votes in memory,
    /// returns the limit for all but the slowest of a hundred.
    fn bound(&self) -> Option<Duration> {
        if self.end == End::Told {
            return Some(Duration::from_millis(50));
        }
        let timings = match self.timings {
            "lan" => Timings::lan(),
            "fast" => Timings::fast(),
            _ => Timings::default(),
        };
        match (self.end, self.quorum) {
            (End::HandsOver | End::Told, _) => None,
            (_, true) => Some(timings.worst_case_quorum_failover(0)),
            (_, false) => timings.worst_case_failover(0),
        }
    }

    const fn name(&self) -> &'static str {
        match self.end {
            End::Killed => "kill -9",
            End::Panics => "panic",
            End::Silent => "silence",
            End::HandsOver => "hand-over",
            End::Told => "told",
            End::ToldOnDisk => "told (disk)",
        }
    }
}

/// The times of one end of a leader.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// From the end until all survivors know the next leader.
    known: Duration,
    /// Of a hand-over: from the end of the leader's work until the next leader's work begins.
    alone: Option<Duration>,
}

/// The times of all rounds.
#[derive(Default)]
struct Took {
    known: Vec<Duration>,
    alone: Vec<Duration>,
}

impl Took {
    fn add(&mut self, gap: Gap) {
        self.known.push(gap.known);
        self.alone.extend(gap.alone);
    }

    /// Prints the times. Returns the sorted times until all survivors knew the next leader.
    fn print(
        mut self,
        end: &str,
        timings: &str,
        mode: &str,
        bound: Option<Duration>,
    ) -> Vec<Duration> {
        println!("{}", line(end, timings, mode, &mut self.known, bound));
        if !self.alone.is_empty() {
            println!(
                "{}",
                line("· no leader", timings, mode, &mut self.alone, None)
            );
        }
        self.known
    }
}

fn line(
    end: &str,
    timings: &str,
    mode: &str,
    took: &mut [Duration],
    bound: Option<Duration>,
) -> String {
    took.sort_unstable();
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    let percentile = |share: usize| {
        let place = (took.len() * share).div_ceil(100).max(1) - 1;
        took.get(place).map_or_else(String::new, |time| ms(*time))
    };
    format!(
        "{end:<11} {timings:<9} {mode:<11} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8}",
        took.len(),
        percentile(50),
        percentile(90),
        percentile(99),
        percentile(100),
        bound.map_or_else(|| String::from("-"), ms)
    )
}

/// Measures a number of ends of leaders, one after the other.
fn measure(node: &Path, row: &Row, rounds: usize) -> Result<Took, Wrong> {
    let secret = TempDir::new()?;
    let mut cluster = row.cluster(node, &secret)?;
    let mut took = Took::default();
    for _ in 0..rounds {
        took.add(row.end_leader(&mut cluster)?);
    }
    cluster.verdict()?;
    Ok(took)
}

impl Row {
    fn cluster(&self, node: &Path, secret: &TempDir) -> Result<Cluster<Loopback>, Wrong> {
        let setting = Setting {
            hosts: NODES,
            quorum: self.quorum,
            diskless: false,
            timings: self.timings,
            // No node takes over from a live leader, so that each end of a leader is measured alone.
            preempt: 3_600_000,
        };
        let place = Loopback::new(NODES);
        if !self.is_told() {
            return Cluster::start(node, place, setting);
        }
        let file = secret.path().join("secret");
        fs::write(&file, "")?;
        fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        fs::write(&file, "thirty-two bytes that all nodes know")?;
        let file = file.display().to_string();
        let more = ["--sentinel", "--secret-file", &file].map(str::to_owned);
        Cluster::start_with(node, place, setting, &self.folder(), &more)
    }

    /// Ends the leader once, and waits until all nodes follow one leader again.
    fn end_leader(&self, cluster: &mut Cluster<Loopback>) -> Result<Gap, Wrong> {
        let clock = BootClock::new().map_err(|wrong| Wrong(wrong.to_string()))?;
        let leader = settled(cluster, self)?;
        let before = cluster.mark();
        let survivors = cluster.others(leader);
        let began = clock.now().as_nanos() / 1_000;
        match self.end {
            End::Killed | End::Told | End::ToldOnDisk => cluster.kill(leader)?,
            End::Panics => cluster.tell(leader, "panic")?,
            End::Silent => cluster.freeze(leader)?,
            End::HandsOver => cluster.ask_to_stop(leader)?,
        }
        let told = cluster.log.wait(SOON, |lines| {
            let since = lines.get(before..)?;
            let first = |host: &usize| first_told(since, *host, leader);
            survivors.iter().map(first).collect::<Option<Vec<u64>>>()
        });
        let told = told.ok_or_else(|| not_told(cluster, leader, before))?;
        let last = told.into_iter().max().unwrap_or(began);
        let known = Duration::from_micros(last.saturating_sub(began));
        let mut alone = None;
        match self.end {
            End::Killed | End::Told | End::ToldOnDisk => cluster.restart(leader)?,
            End::Panics => {}
            End::Silent => cluster.thaw(leader)?,
            End::HandsOver => {
                alone = without_leader(cluster, leader, before);
                cluster.stop(leader)?;
                cluster.restart(leader)?;
            }
        }
        settled(cluster, self)?;
        // Waits until the restarted voter supports a leader again.
        cluster.log.wait(self.pause(), |_| None::<()>);
        Ok(Gap { known, alone })
    }
}

/// Returns a leader from which no node takes over. In the available mode an agent of a higher rank would take over, and
/// end the leadership before this bench does.
fn settled(cluster: &mut Cluster<Loopback>, row: &Row) -> Result<usize, Wrong> {
    if row.quorum {
        cluster.agree()
    } else {
        cluster.highest_leads()
    }
}

/// Returns the error with the lines of all nodes since the end of the leader.
fn not_told(cluster: &Cluster<Loopback>, leader: usize, since: usize) -> Wrong {
    let lines = cluster.since(since);
    let said = lines.iter().filter(|line| line.event != "works");
    let said: Vec<_> = said.map(|line| format!("{line:?}")).collect();
    let leader = name(leader);
    Wrong(format!(
        "not all nodes learned the leader after {leader}:\n{}",
        said.join("\n")
    ))
}

impl Row {
    /// Returns whether a sentinel reports the end.
    fn is_told(&self) -> bool {
        matches!(self.end, End::Told | End::ToldOnDisk)
    }

    /// Returns the folder of the votes.
    fn folder(&self) -> PathBuf {
        let memory = Path::new("/dev/shm");
        if self.end == End::Told && memory.is_dir() {
            memory.to_path_buf()
        } else {
            env::temp_dir()
        }
    }

    fn pause(&self) -> Duration {
        // Time until the sentinel of the restarted node knows its receivers.
        if self.is_told() {
            return Duration::from_millis(1_500);
        }
        match (self.quorum, self.timings) {
            (true, "fast") => Duration::from_millis(200),
            (true, "lan") => Duration::from_millis(500),
            (true, _) => Duration::from_millis(1_200),
            (false, _) => Duration::from_millis(100),
        }
    }
}

/// Returns the time from the end of a leader's work until the next leader's work began.
fn without_leader(cluster: &Cluster<Loopback>, leader: usize, since: usize) -> Option<Duration> {
    let (released, leads) = cluster.log.wait(SOON, |lines| {
        let since = lines.get(since..)?;
        let released = since
            .iter()
            .find(|l| l.host == leader && l.event == "released")?;
        let leads = since
            .iter()
            .find(|l| l.host != leader && l.event == "leads")?;
        Some((released.t, leads.t))
    })?;
    Some(Duration::from_micros(leads.saturating_sub(released)))
}

/// Returns the time at which a node learned of a leader other than `former`.
fn first_told(lines: &[Line], host: usize, former: usize) -> Option<u64> {
    let told = lines.iter().find(|line| {
        line.host == host
            && line.event == "leader"
            && line.leader().is_some_and(|leader| leader != name(former))
    })?;
    Some(told.t)
}
