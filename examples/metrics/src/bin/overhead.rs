//! The cost of metrics: the processor time of three agents with a recorder of Prometheus, and without a recorder, in
//! pairs.
//!
//! ```text
//! cargo run --release -p metrics-page --bin overhead
//! ```
//!
//! Each run is five minutes of virtual time with heartbeats only; the thread's own processor time is counted. The ratio
//! is the median of the pairs. More than 3 % is a failure, unless there is an argument `--test`, with which each run
//! lasts a second.
use std::{env, error::Error, process::ExitCode, time::Duration};

use actix_bully::{
    Group,
    agent::BullyAgent,
    protocol::Timings,
    store::MemoryStore,
    testkit::{VirtualClock, virtual_system},
};
use metrics_exporter_prometheus::PrometheusBuilder;
use rustix::time::{ClockId, clock_gettime};

const NAMES: [&str; 3] = ["a", "b", "c"];
const PAIRS: usize = 15;
const MOST: f64 = 1.03;

fn main() -> ExitCode {
    let is_test = env::args().any(|argument| argument == "--test");
    let span = Duration::from_secs(if is_test { 1 } else { 300 });
    println!("three agents, {span:?} of heartbeats; median of {PAIRS} pairs");
    println!(
        "{:<10} {:>11} {:>11} {:>7}",
        "mode", "without ms", "with ms", "ratio"
    );
    let mut worst = 0.0_f64;
    for (mode, quorum) in [("available", false), ("quorum", true)] {
        let pairs: Result<Vec<_>, _> = (0..PAIRS).map(|turn| pair(turn, quorum, span)).collect();
        let mut pairs = match pairs {
            Ok(pairs) => pairs,
            Err(wrong) => {
                eprintln!("overhead: {wrong}");
                return ExitCode::FAILURE;
            }
        };
        pairs.sort_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)));
        let (without, with) = pairs[PAIRS / 2];
        println!(
            "{mode:<10} {without:>11.2} {with:>11.2} {:>7.3}",
            with / without
        );
        worst = worst.max(with / without);
    }
    if worst > MOST && !is_test {
        eprintln!("overhead: more than {MOST}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Returns the milliseconds without and with a recorder; the order of the two runs alternates.
fn pair(turn: usize, quorum: bool, span: Duration) -> Result<(f64, f64), Box<dyn Error>> {
    let recorder = PrometheusBuilder::new().build_recorder();
    let measured = || metrics::with_local_recorder(&recorder, || run(quorum, span));
    Ok(if turn.is_multiple_of(2) {
        (run(quorum, span)?, measured()?)
    } else {
        let with = measured()?;
        (run(quorum, span)?, with)
    })
}

/// Returns the processor time of one run of a group.
fn run(quorum: bool, span: Duration) -> Result<f64, Box<dyn Error>> {
    let system = virtual_system();
    let begin = thread_time();
    system.block_on(async {
        let group = Group::new("jobs")?;
        for name in NAMES {
            let agent = BullyAgent::builder(name)
                .timings(Timings::lan())
                .join(&group);
            if quorum {
                let agent = agent.quorum(NAMES).store(MemoryStore::new());
                agent.clock(VirtualClock::new()).start()?;
            } else {
                agent.start()?;
            }
        }
        actix_rt::time::sleep(span).await;
        Ok::<_, Box<dyn Error>>(())
    })?;
    Ok(thread_time() - begin)
}

/// Returns the milliseconds of processor time that this thread has used.
fn thread_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default().as_secs_f64() * 1_000.0
}
