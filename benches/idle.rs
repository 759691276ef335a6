//! The cost of idle groups: packets, bytes and processor time, by number of hosts.
//!
//! `cargo bench --bench idle` in this folder: a process of the node example for each host, all voters of one quorum
//! with the timings `default`. They use the loopback of a network namespace of their own, so that no other traffic is
//! counted. `-- --beside PATH` also measures a node example of another release in the same run; `-- --hosts 3,5` and
//! `-- --seconds 20` set the numbers. Linux, with namespaces for users (`unshare -rn`).
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "nodes live in real time"
)]

#[path = "scale/src/costs.rs"]
#[expect(dead_code, reason = "this bench does not measure memory")]
mod costs;
#[path = "../tests/hosts/log.rs"]
#[expect(dead_code, reason = "other programs use more of it")]
mod log;
mod node;
#[path = "../tests/hosts/wrong.rs"]
mod wrong;

use std::{
    env, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use log::Log;
use wrong::Wrong;

/// Variable that is set for the process inside of the namespace.
const INSIDE: &str = "BULLY_IDLE_INSIDE";
/// Longest time until all agree.
const SOON: Duration = Duration::from_secs(60);
/// Time from the agreement until the work of the election is over.
const SETTLE: Duration = Duration::from_secs(5);

fn main() -> Result<(), Wrong> {
    let arguments: Vec<String> = env::args().collect();
    let is_test = arguments.iter().any(|one| one == "--test");
    if env::var_os(INSIDE).is_none() {
        let node = node::program()?;
        let this = env::current_exe()?;
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--net", "--"]);
        let wrong = unshare
            .arg(this)
            .args(arguments.iter().skip(1))
            .env(INSIDE, node)
            .exec();
        return Err(Wrong(format!("no namespace of its own: {wrong}")));
    }
    let up = Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .status()?;
    if !up.success() {
        return Err(Wrong(String::from("the loopback cannot be set up")));
    }
    let after = |flag| arguments.iter().skip_while(move |one| *one != flag).nth(1);
    let default = if is_test { "3" } else { "3,5,10,30" };
    let hosts = after("--hosts").map_or(default, String::as_str);
    let seconds = after("--seconds").and_then(|seconds| seconds.parse().ok());
    let span = Duration::from_secs(seconds.unwrap_or(if is_test { 3 } else { 20 }));
    let ours = PathBuf::from(env::var_os(INSIDE).unwrap_or_default());
    let beside = after("--beside").map(PathBuf::from);
    println!(
        "{:<7} {:>5} {:>10} {:>10} {:>12} {:>14}",
        "release", "hosts", "packets/s", "kbytes/s", "CPU, all, %", "CPU, a host, %"
    );
    for hosts in hosts.split(',') {
        let hosts = hosts
            .parse()
            .map_err(|_| Wrong(format!("{hosts} is not a number of hosts")))?;
        if let Some(beside) = &beside {
            println!("{}", measure(beside, hosts, span)?.line("beside", hosts));
        }
        println!("{}", measure(&ours, hosts, span)?.line("this", hosts));
    }
    Ok(())
}

/// The cost of one group in one second.
struct Cost {
    packets: f64,
    bytes: f64,
    /// Seconds of a core.
    work: f64,
}

impl Cost {
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "a few hosts"
    )]
    fn line(&self, release: &str, hosts: usize) -> String {
        format!(
            "{release:<7} {hosts:>5} {:>10.1} {:>10.2} {:>12.2} {:>14.3}",
            self.packets,
            self.bytes / 1e3,
            self.work * 100.0,
            self.work * 100.0 / hosts as f64,
        )
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "less than 2^52 of anything"
)]
fn measure(program: &Path, hosts: usize, span: Duration) -> Result<Cost, Wrong> {
    let group = Group::start(program, hosts)?;
    sleep(SETTLE);
    let (began, first) = (Instant::now(), group.read()?);
    sleep(span);
    let (took, last) = (began.elapsed().as_secs_f64(), group.read()?);
    let of = |before: u64, after: u64| after.saturating_sub(before) as f64 / took;
    Ok(Cost {
        packets: of(first.packets, last.packets),
        bytes: of(first.bytes, last.bytes),
        work: of(first.nanos, last.nanos) / 1e9,
    })
}

/// The counters at one moment.
struct Reading {
    packets: u64,
    bytes: u64,
    /// Processor time of all processes, on any core.
    nanos: u64,
}

/// Nodes that run until the value is dropped.
struct Group {
    nodes: Vec<Child>,
    _folder: TempDir,
}

impl Group {
    /// Starts a node for each host, and waits until all know one leader.
    fn start(program: &Path, hosts: usize) -> Result<Self, Wrong> {
        let (folder, log) = (TempDir::new()?, Log::default());
        let name = |host: usize| format!("h{host:02}");
        let address = |host: usize| format!("127.0.0.1:{}", 7_400 + host);
        let voters: Vec<String> = (0..hosts).map(name).collect();
        let mut nodes = Vec::with_capacity(hosts);
        for host in 0..hosts {
            let mut command = Command::new(program);
            command.args(["--name", &name(host), "--listen", &address(host)]);
            command.args(["--quorum", &voters.join(","), "--init", "--json"]);
            command.args(["--score", &host.to_string(), "--dangerous-plaintext"]);
            command.arg("--store").arg(folder.path().join(name(host)));
            // If many nodes start, the highest-ranked node is not always the first leader, and would take over during
            // the measurement.
            command.args(["--preempt-after", "3600000"]);
            for peer in (0..hosts).filter(|peer| *peer != host) {
                command.args(["--peer", &format!("{}={}", name(peer), address(peer))]);
            }
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            let mut node = command.stderr(Stdio::null()).spawn()?;
            if let Some(output) = node.stdout.take() {
                log.follow(host, 1, Duration::ZERO, output);
            }
            nodes.push(node);
        }
        let group = Self {
            nodes,
            _folder: folder,
        };
        let agreed = log.wait(SOON, |lines| {
            let last = |host| {
                let mut of_it = lines.iter().rev().filter(|line| line.host == host);
                of_it.find_map(|line| line.leader().map(str::to_owned))
            };
            let leaders: Option<Vec<String>> = (0..hosts).map(last).collect();
            let leaders = leaders?;
            leaders.windows(2).all(|two| two[0] == two[1]).then_some(())
        });
        agreed.ok_or_else(|| Wrong(format!("{hosts} hosts do not agree")))?;
        Ok(group)
    }

    fn read(&self) -> Result<Reading, Wrong> {
        let nanos = self.nodes.iter().map(|node| costs::work(node.id()));
        let nanos = nanos.sum::<io::Result<u64>>()?;
        let (bytes, packets) = costs::sent()?;
        Ok(Reading {
            packets,
            bytes,
            nanos,
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            // A node may have ended already.
            drop(node.kill());
            drop(node.wait());
        }
    }
}
