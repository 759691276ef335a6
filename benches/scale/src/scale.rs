//! The limits of each way of electing: the cost of many processes on one machine.
//!
//! `cargo run --release --package actix-bully-scale --bin scale` (Linux; PostgreSQL's server for `postgres`): with the
//! timings `default`, a process for each agent. `-- --ways bridge,postgres`, `-- --processes 3,10,30` and `-- --seconds
//! 10` choose. The traffic is counted for the whole loopback: in a namespace of its own (`unshare --net`, then `ip link
//! set lo up`) there is no other traffic. With `--features zenoh` there are the ways `zenoh` and `zenoh-router`; with
//! `--no-default-features` no server is built, and `postgres` and `etcd` do not start.
//!
//! Read on: `participant.rs` is one of the processes, `group.rs` starts all of them, `costs.rs` reads their costs.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "processes live in real time, and a measurement is for a reader at a terminal"
)]

mod costs;
mod group;
#[path = "../../../tests/hosts/log.rs"]
#[expect(dead_code, reason = "other programs use more of it")]
mod log;
#[cfg(feature = "stores")]
mod stores;
#[cfg(not(feature = "stores"))]
#[path = "no_stores.rs"]
mod stores;
#[path = "../../../tests/hosts/wrong.rs"]
mod wrong;

use std::time::Duration;

use clap::Parser;

use group::{Group, Way};
use wrong::Wrong;

/// Measures the limits of each way of electing
#[derive(Debug, Parser)]
struct Args {
    /// Ways by which the processes know of each other
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Way::Bridge, Way::Postgres])]
    ways: Vec<Way>,
    /// Numbers of processes
    #[arg(long, value_delimiter = ',', default_values_t = [3, 10, 30, 100, 200])]
    processes: Vec<usize>,
    /// Seconds for which the idle processes are watched
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Number of times that the leader is killed
    #[arg(long, default_value_t = 5)]
    kills: usize,
}

fn main() -> Result<(), Wrong> {
    let args = Args::parse();
    println!(
        "{:<12} {:>9} {:>9} {:>15} {:>15} {:>12} {:>14} {:>10} {:>14}",
        "way",
        "processes",
        "start ms",
        "kill -9, p50 ms",
        "kill -9, max ms",
        "CPU, all, %",
        "memory, each",
        "kbytes/s",
        "store ops/s"
    );
    for way in &args.ways {
        for processes in &args.processes {
            println!("{}", measure(*way, *processes, &args)?);
        }
    }
    Ok(())
}

/// Measures a row of the table.
fn measure(way: Way, processes: usize, args: &Args) -> Result<String, Wrong> {
    let (mut group, started) = Group::start(way, processes)?;
    let idle = group.idle(Duration::from_secs(args.seconds))?;
    let mut took = Vec::with_capacity(args.kills);
    for _ in 0..args.kills {
        took.push(group.kill_leader()?);
    }
    took.sort_unstable();
    let ms = |time: Option<&Duration>| {
        time.map_or_else(
            || String::from("-"),
            |time| format!("{:.0}", time.as_secs_f64() * 1e3),
        )
    };
    Ok(format!(
        "{:<12} {processes:>9} {:>9} {:>15} {:>15} {:>12.1} {:>10.1} MiB {:>10} {:>14}",
        way.name(),
        ms(Some(&started)),
        ms(took.get(took.len() / 2)),
        ms(took.last()),
        idle.cpu_percent,
        idle.memory_mib,
        idle.kbytes
            .map_or_else(|| String::from("-"), |kbytes| format!("{kbytes:.1}")),
        idle.store_operations
            .map_or_else(|| String::from("-"), |number| format!("{number:.1}")),
    ))
}
