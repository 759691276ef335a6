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
    time::{Duration, Instant},
};

use actix_bully_register_tests::{kubernetes::server::Cluster, processes::Processes};

/// The processes of a row of the table, and their command lines.
#[derive(Debug)]
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
            let mut all = start(kind, 3);
            let mut took: Vec<_> = (0..kind.rounds).map(|_| round(&mut all, signal)).collect();
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
            let mut all = start(kind, number);
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

/// Starts processes of one kind, and waits until they know each other.
fn start(kind: &Kind, number: usize) -> Processes {
    let named = |process| vec![format!("api-{process}")];
    let words = (0..number).map(|at| [kind.before.clone(), named(at), kind.after.clone()].concat());
    let mut all = Processes::run(words);
    all.listen(kind.settles);
    all
}

/// Ends the leader, and returns the milliseconds until another process leads. The former leader runs again afterwards.
fn round(all: &mut Processes, signal: &str) -> u128 {
    let leader = all.latest().unwrap_or_else(|| all.wait_for_leader(0));
    let begun = Instant::now();
    all.signal(leader.process, signal);
    let mut next = all.wait_for_leader(leader.token);
    while next.process == leader.process {
        next = all.wait_for_leader(leader.token);
    }
    let took = begun.elapsed().as_millis();
    if signal == "-STOP" {
        // The process learns that it has lost the leadership. A process of client-go ends then.
        all.signal(leader.process, "-CONT");
        all.listen(Duration::from_secs(1));
    }
    all.kill(leader.process);
    all.restart(leader.process);
    // The former leader takes part in the election again after this time.
    all.listen(Duration::from_secs(3));
    took
}
