//! A lease in etcd beside other ways on it, in one run: the rule of client-go (`rule.rs`), and `etcdctl`.
//!
//! `cargo build --release --package actix-bully-scale`, then `target/release/beside` (Debian's packages etcd-server and
//! etcd-client): three processes compete, and one of them works. *Kill -9*: the time from the end of this process until
//! the next one works. *Hand-over*: the time from the signal that asks it to end until the next one works. `--rounds
//! 20` sets the number of rounds; slow rows get a part of it. `--only lease-lan,rule-lan` chooses rows.
//!
//! Rows with comparable durations have the same name after the hyphen: a candidate of the rule waits (`LeaseDuration`)
//! as long as the promise of the preset, and the other two durations have the proportions of Kubernetes' defaults, 15,
//! 10 and 2 s. The rule releases the record on a hand-over (`ReleaseOnCancel`, which is off by default). The session of
//! `etcdctl elect` lasts 60 s; `etcdctl lock` has the shortest session that this etcd grants. The etcdctl of etcd 3.4
//! reacts only to SIGINT; the other programs get SIGTERM.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "processes live in real time, and a measurement is for a reader at a terminal"
)]

#[path = "../../../tests/hosts/wrong.rs"]
mod wrong;

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use actix_bully::register::EtcdRegister;
use actix_bully_register_tests::etcd::Etcd;
use clap::Parser;
use rustix::process::{Pid, Signal, kill_process};

use wrong::Wrong;

/// Compares a lease in etcd with other ways on it
#[derive(Debug, Parser)]
struct Args {
    /// Number of ends of the working process, for each way
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Names of the rows
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// The kind of the three processes.
struct Row {
    name: &'static str,
    what: Program,
    /// Time after which every candidate knows the working process.
    settle: Duration,
    /// Divisor of the number of rounds, for slow rows.
    part: usize,
}

#[derive(Clone, Copy)]
enum Program {
    /// `contender`, with these arguments.
    Ours(&'static [&'static str]),
    /// `etcdctl`, with these arguments.
    Ctl(&'static [&'static str]),
}

const ROWS: &[Row] = &[
    row("lease-lan", Program::Ours(&["lease", "lan"]), 1_000, 1),
    row(
        "rule-lan",
        Program::Ours(&["rule", "300", "200", "40"]),
        1_000,
        1,
    ),
    row(
        "lease-default",
        Program::Ours(&["lease", "default"]),
        2_000,
        1,
    ),
    row(
        "rule-default",
        Program::Ours(&["rule", "900", "600", "120"]),
        2_000,
        1,
    ),
    row(
        "lock",
        Program::Ctl(&["lock", "--ttl", "1", "beside"]),
        1_500,
        1,
    ),
    row(
        "rule-15-10-2",
        Program::Ours(&["rule", "15000", "10000", "2000"]),
        6_000,
        4,
    ),
    row("elect", Program::Ctl(&["elect", "beside"]), 1_500, 10),
];

const fn row(name: &'static str, what: Program, settle: u64, part: usize) -> Row {
    Row {
        name,
        what,
        settle: Duration::from_millis(settle),
        part,
    }
}

const PROCESSES: usize = 3;
/// Longest time until the next process works.
const SOON: Duration = Duration::from_secs(150);
/// The intervals of benches/etcd.rs: with them etcd grants a session of a second.
const QUICK: &[&str] = &["--heartbeat-interval", "20", "--election-timeout", "200"];

fn main() -> Result<(), Wrong> {
    let args = Args::parse();
    println!(
        "{:<14} {:<10} {:>6} {:>8} {:>8} {:>8}",
        "row", "end", "rounds", "p50 ms", "p90 ms", "most ms"
    );
    let is_asked = |row: &&Row| args.only.is_empty() || args.only.iter().any(|it| it == row.name);
    for row in ROWS.iter().filter(is_asked) {
        let rounds = args.rounds.div_ceil(row.part);
        let etcd = Etcd::with(QUICK);
        etcd.wait_until_it_works(&EtcdRegister::builder([etcd.endpoint()]));
        let mut group = Group::start(row, etcd.endpoint().to_owned())?;
        for end in [End::Killed, End::HandsOver] {
            let took = (0..rounds).map(|_| group.end_of_worker(end));
            let mut took = took.collect::<Result<Vec<_>, _>>()?;
            took.sort_unstable();
            let ms = |percent: usize| {
                let place = (took.len() * percent).div_ceil(100).max(1) - 1;
                took.get(place)
                    .map_or_else(String::new, |it| format!("{:.1}", it.as_secs_f64() * 1e3))
            };
            println!(
                "{:<14} {:<10} {rounds:>6} {:>8} {:>8} {:>8}",
                row.name,
                end.name(),
                ms(50),
                ms(90),
                ms(100)
            );
        }
    }
    Ok(())
}

/// The way in which the working process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Killed,
    HandsOver,
}

impl End {
    const fn name(self) -> &'static str {
        match self {
            Self::Killed => "kill -9",
            Self::HandsOver => "hand-over",
        }
    }
}

/// A process that works, and the time at which it printed so.
type Works = (usize, Instant);

/// Three processes, which run until the value is dropped.
struct Group<'a> {
    row: &'a Row,
    endpoint: String,
    running: Vec<Child>,
    worker: usize,
    says: Sender<Works>,
    said: Receiver<Works>,
}

impl<'a> Group<'a> {
    fn start(row: &'a Row, endpoint: String) -> Result<Self, Wrong> {
        let (says, said) = channel();
        let mut group = Self {
            row,
            endpoint,
            running: Vec::new(),
            worker: 0,
            says,
            said,
        };
        for process in 0..PROCESSES {
            let child = group.spawn(process)?;
            group.running.push(child);
        }
        group.worker = group.next()?.0;
        Ok(group)
    }

    fn spawn(&self, process: usize) -> Result<Child, Wrong> {
        let name = format!("p{process}");
        let mut command = match self.row.what {
            Program::Ours(words) => {
                let mut command = Command::new(env::current_exe()?.with_file_name("contender"));
                command.args([&name, &self.endpoint]).args(words);
                command
            }
            Program::Ctl(words) => {
                let mut command = Command::new("etcdctl");
                command.env("ETCDCTL_API", "3");
                command.args(["--endpoints", &self.endpoint]).args(words);
                if words.first() == Some(&"elect") {
                    command.arg(&name); // its proposal
                }
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take();
        let output = output.ok_or_else(|| Wrong("it has no output".into()))?;
        let says = self.says.clone();
        thread::spawn(move || {
            // The first line shows that the process works, whatever its text is. The other lines are read because a
            // full or closed pipe would stop the process.
            for (number, _) in BufReader::new(output)
                .lines()
                .map_while(Result::ok)
                .enumerate()
            {
                if number == 0 {
                    says.send((process, Instant::now())).ok();
                }
            }
        });
        Ok(child)
    }

    fn next(&self) -> Result<Works, Wrong> {
        let none = |_| Wrong(format!("{}: no process works in time", self.row.name));
        self.said.recv_timeout(SOON).map_err(none)
    }

    /// Returns the time until the next process worked.
    fn end_of_worker(&mut self, end: End) -> Result<Duration, Wrong> {
        sleep(self.row.settle);
        let worker = self.worker;
        let began = Instant::now();
        match (end, self.row.what) {
            (End::Killed, _) => self.running[worker].kill()?,
            (End::HandsOver, Program::Ours(_)) => signal(&self.running[worker], Signal::TERM)?,
            (End::HandsOver, Program::Ctl(_)) => signal(&self.running[worker], Signal::INT)?,
        }
        let (next, at) = self.next()?;
        self.running[worker].wait()?;
        self.running[worker] = self.spawn(worker)?;
        self.worker = next;
        Ok(at.duration_since(began))
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        for child in &mut self.running {
            // A process may have ended already.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn signal(process: &Child, signal: Signal) -> Result<(), Wrong> {
    kill_process(Pid::from_child(process), signal).map_err(|wrong| Wrong(wrong.to_string()))
}
