//! The cost of many schedules of one leader while none is due: processor time, descriptors and memory.
//!
//! `cargo bench --bench schedules` in this folder: one agent whose lease and marks are in memory, with 10,000 schedules
//! that are due once a day. `-- --schedules 1000`, `-- --seconds 30` and `-- --files` (lease and marks in a folder)
//! change this. The bench fails if the schedules need more than a tenth of a core, or a descriptor each. Linux.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a lease lives in real time"
)]

#[path = "scale/src/costs.rs"]
#[expect(dead_code, reason = "this bench does not measure packets")]
mod costs;

use std::{
    env, fs,
    sync::Arc,
    time::{Duration, Instant},
};

use actix::clock::{sleep, timeout};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    leader::schedule::{ScheduleHandle, ScheduleState},
    register::{FileRegister, MemoryRegister, Register},
};

const DAY: Duration = Duration::from_secs(24 * 3_600);
/// Longest time until the agent leads, and until it has stored all marks.
const SOON: Duration = Duration::from_secs(600);
/// Largest part of a core that schedules may need while none is due, in percent.
const MOST: f64 = 10.0;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().collect();
    let has = |flag: &str| arguments.iter().any(|one| one == flag);
    let after = |flag: &str| {
        let value = arguments.iter().skip_while(|one| *one != flag).nth(1);
        value.and_then(|value| value.parse::<u32>().ok())
    };
    let is_test = has("--test");
    let schedules = after("--schedules").unwrap_or(if is_test { 100 } else { 10_000 });
    let seconds = after("--seconds").unwrap_or(if is_test { 1 } else { 20 });
    let folder = tempfile::tempdir()?;
    let register: Arc<dyn Register> = if has("--files") {
        Arc::new(FileRegister::open(folder.path())?)
    } else {
        Arc::new(MemoryRegister::new())
    };
    println!(
        "{:>9} {:>12} {:>15} {:>12} {:>12}",
        "schedules", "all wait, ms", "CPU, a core, %", "descriptors", "memory, KiB"
    );
    actix::System::new().block_on(measure(register, schedules, seconds))
}

async fn measure(register: Arc<dyn Register>, schedules: u32, seconds: u32) -> Result<(), Failure> {
    let agent = BullyAgent::builder("bench").lease(register);
    let agent = agent.join(&Group::new("bench")?).start()?;
    agent.wait_for_leader(SOON).await?;
    let span = Duration::from_secs(seconds.into());
    line(0, Duration::ZERO, &Cost::over(span).await?);
    let begun = Instant::now();
    let handles = start(&agent, schedules)?;
    let all_wait = async {
        let waits = |one: &ScheduleHandle| one.status().state == ScheduleState::Waiting;
        while !handles.iter().all(waits) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, all_wait).await?;
    let taken = begun.elapsed();
    let cost = Cost::over(span).await?;
    line(schedules, taken, &cost);
    if cost.percent > MOST {
        return Err(format!("more than {MOST} % of a core").into());
    }
    if cost.descriptors > 100 {
        return Err("schedules have descriptors".into());
    }
    Ok(())
}

fn start(agent: &BullyHandle, schedules: u32) -> Result<Vec<ScheduleHandle>, Failure> {
    let start = |number| {
        let daily = agent.every(&format!("schedule-{number}"), DAY);
        Ok(daily.start(|_| async {})?)
    };
    (0..schedules).map(start).collect()
}

/// The cost of the process while it is idle.
struct Cost {
    percent: f64,
    descriptors: usize,
    /// In KiB.
    memory: u64,
}

impl Cost {
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "less than 2^52 ns"
    )]
    async fn over(span: Duration) -> Result<Self, Failure> {
        // Work that has begun ends within this time.
        sleep(Duration::from_secs(1)).await;
        let process = std::process::id();
        let (begun, before) = (Instant::now(), costs::work(process)?);
        sleep(span).await;
        let work = costs::work(process)?.saturating_sub(before);
        Ok(Self {
            percent: work as f64 / begun.elapsed().as_nanos() as f64 * 100.0,
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            memory: costs::memory(process)?,
        })
    }
}

fn line(schedules: u32, taken: Duration, cost: &Cost) {
    let Cost {
        percent,
        descriptors,
        memory,
    } = cost;
    println!(
        "{schedules:>9} {:>12} {percent:>15.2} {descriptors:>12} {memory:>12}",
        taken.as_millis()
    );
}
