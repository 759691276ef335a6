//! `beside-client-go RIVAL [ROUNDS [NAME]]`: holds a Lease of the real API server by three processes of this crate,
//! and by three processes of client-go's `leaderelection`, in turn in one run.
//!
//! RIVAL is the program of `tests/registers/client-go`, built by `go build`. The API server is that of `.ci/soak
//! kubernetes`. Each round ends the leader by SIGTERM, `kill -9` or SIGSTOP, and measures the time until another
//! process leads. Then the program measures the requests for Leases that the API server answers per second at rest,
//! with 3, 30 and 100 processes of each kind. With NAME, only the kinds run whose names contain it.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes"
)]

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use actix_bully_register_tests::kubernetes::server::Cluster;

/// The processes of a row of the table, and their command lines.
#[derive(Clone, Debug)]
struct Kind {
    name: &'static str,
    /// The parts of the command line before and after the name of the process.
    before: Vec<String>,
    after: Vec<String>,
    /// Time until all processes have begun and know each other.
    settles: Duration,
    rounds: usize,
}

/// Most rounds of a kind whose lease is as long as that of Kubernetes, since its fail-overs take long.
const LONG: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let rival = words.next().ok_or("name the program of client-go")?;
    let rounds = words.next().map_or(Ok(20), |word| word.parse())?;
    let named = words.next().unwrap_or_default();
    let cluster = Cluster::start().ok_or("run `.ci/soak kubernetes` first")?;
    let file = cluster.kubeconfig("admin-token", &cluster.address(0));
    let file = file.display().to_string();
    let holder = env::current_exe()?.with_file_name("holder");
    let ours = |name, timings: &str| Kind {
        name,
        before: vec![
            "env".to_owned(),
            format!("REGISTER_TIMINGS={timings}"),
            holder.display().to_string(),
        ],
        after: vec![format!("kubernetes:{file}")],
        settles: Duration::from_secs(35),
        rounds,
    };
    let theirs = |name, release: &str, times: [&str; 3], rounds| {
        let mut after = vec![release.to_owned()];
        after.extend(times.map(str::to_owned));
        Kind {
            name,
            before: vec![rival.clone(), file.clone()],
            after,
            settles: Duration::from_secs(5),
            rounds,
        }
    };
    let usual = ["15000", "10000", "2000"];
    let as_wan = ["4000", "2700", "1000"];
    let mut kinds = vec![
        ours("this crate, wan", "wan"),
        ours("this crate, default", "default"),
        theirs("client-go, usual, keeps", "keep", usual, rounds.min(LONG)),
        theirs(
            "client-go, usual, releases",
            "release",
            usual,
            rounds.min(LONG),
        ),
        theirs("client-go, as wan, keeps", "keep", as_wan, rounds),
        theirs("client-go, as wan, releases", "release", as_wan, rounds),
    ];
    kinds.retain(|kind| kind.name.contains(&named));
    without_leader(&kinds);
    at_rest(&kinds, &cluster);
    Ok(())
}

fn without_leader(kinds: &[Kind]) {
    println!(
        "ms without a leader: median, 90 %, most\n{:<28} {:>22} {:>22} {:>22}",
        "", "SIGTERM", "kill -9", "SIGSTOP"
    );
    for kind in kinds {
        let cells = ["-TERM", "-KILL", "-STOP"].map(|signal| {
            let mut all = Replicas::start(kind, 3);
            all.listen(kind.settles);
            let mut took: Vec<_> = (0..kind.rounds).map(|_| all.round(signal)).collect();
            took.sort_unstable();
            let at = |part: usize| {
                took.get((took.len() * part / 100).min(took.len() - 1))
                    .copied()
            };
            format!(
                "{:>6} {:>6} {:>6}",
                at(50).unwrap_or(0),
                at(90).unwrap_or(0),
                at(100).unwrap_or(0)
            )
        });
        println!(
            "{:<28} {:>22} {:>22} {:>22}",
            kind.name, cells[0], cells[1], cells[2]
        );
    }
}

fn at_rest(kinds: &[Kind], cluster: &Cluster) {
    println!("requests a second at rest{:>12} {:>8} {:>8}", 3, 30, 100);
    for kind in kinds {
        let cells = [3, 30, 100].map(|number| {
            let mut all = Replicas::start(kind, number);
            all.listen(kind.settles);
            let before = cluster.operations().unwrap_or(0);
            let begun = Instant::now();
            all.listen(Duration::from_secs(30));
            let requests = cluster.operations().unwrap_or(0) - before;
            format!(
                "{:.1}",
                f64::from(i32::try_from(requests).unwrap_or(0)) / begun.elapsed().as_secs_f64()
            )
        });
        println!(
            "{:<28} {:>8} {:>8} {:>8}",
            kind.name, cells[0], cells[1], cells[2]
        );
    }
}

/// Processes of one kind.
struct Replicas {
    kind: Kind,
    running: Vec<Child>,
    says: Sender<usize>,
    leads: Receiver<usize>,
    leader: Option<usize>,
}

impl Replicas {
    fn start(kind: &Kind, number: usize) -> Self {
        let (says, leads) = channel();
        let mut all = Self {
            kind: kind.clone(),
            running: Vec::new(),
            says,
            leads,
            leader: None,
        };
        for process in 0..number {
            let child = all.spawn(process);
            all.running.push(child);
        }
        all
    }

    fn spawn(&self, process: usize) -> Child {
        let mut words = self.kind.before.clone();
        words.push(format!("api-{process}"));
        words.extend(self.kind.after.clone());
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it can be started");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let says = self.says.clone();
        thread::spawn(move || {
            let leads = lines
                .map_while(Result::ok)
                .filter(|line| line.starts_with("leads"));
            leads.for_each(|_| {
                says.send(process).ok();
            });
        });
        child
    }

    fn listen(&mut self, span: Duration) {
        let begun = Instant::now();
        while let Some(left) = span.checked_sub(begun.elapsed()) {
            if let Ok(process) = self.leads.recv_timeout(left) {
                self.leader = Some(process);
            }
        }
    }

    /// Ends the leader, and returns the milliseconds until another process leads. The former leader runs again
    /// afterwards.
    fn round(&mut self, signal: &str) -> u128 {
        let leader = loop {
            self.listen(Duration::from_millis(200));
            if let Some(leader) = self.leader {
                break leader;
            }
        };
        let process = self.running[leader].id().to_string();
        let begun = Instant::now();
        Command::new("kill")
            .args([signal, &process])
            .status()
            .expect("it can be signalled");
        let took = loop {
            match self.leads.recv_timeout(Duration::from_secs(60)) {
                Ok(next) if next != leader => {
                    self.leader = Some(next);
                    break begun.elapsed().as_millis();
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{}: nobody leads after {signal}", self.kind.name)
                }
            }
        };
        if signal == "-STOP" {
            // The process learns that it has lost the leadership. A process of client-go ends then.
            Command::new("kill")
                .args(["-CONT", &process])
                .status()
                .expect("it goes on");
            self.listen(Duration::from_secs(1));
        }
        self.running[leader].kill().ok();
        self.running[leader].wait().ok();
        self.running[leader] = self.spawn(leader);
        // The former leader takes part in the election again after this time.
        self.listen(Duration::from_secs(3));
        took
    }
}

impl Drop for Replicas {
    fn drop(&mut self) {
        for child in &mut self.running {
            child.kill().ok();
            child.wait().ok();
        }
    }
}
