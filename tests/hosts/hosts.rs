//! Real processes on hosts of their own, and all faults that can happen to them.
//!
//! ```text
//! $ cargo build --release --example node
//! $ cargo run --release --manifest-path tests/hosts/Cargo.toml -- --node target/release/examples/node
//! ```
//!
//! It needs root, and the Debian packages iproute2 and nftables. `--list` prints the names of the scenarios, `--few`
//! runs the scenarios that every change has to pass, and names run the named ones. `--operations SECONDS` draws faults
//! by a seed.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "shows what it does, counts hosts from 0 to n, and runs in real time"
)]

mod check;
mod cluster;
mod log;
mod net;
mod operations;
mod scenarios;
mod wrong;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;

use scenarios::Scenario;
use wrong::Wrong;

/// Plays faults on real processes of the node example, each on a host of its own.
#[derive(Debug, Parser)]
struct Order {
    /// The program of the nodes.
    #[arg(long, default_value = "target/release/examples/node")]
    node: PathBuf,
    /// Plays the scenarios that every change has to pass.
    #[arg(long)]
    few: bool,
    /// Draws faults for so many seconds.
    #[arg(long, value_name = "SECONDS")]
    operations: Option<u64>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prints the names of the scenarios.
    #[arg(long)]
    list: bool,
    /// The scenarios to play; without a name and without `--operations`, all of them.
    #[arg(value_parser = scenarios::named)]
    scenarios: Vec<&'static Scenario>,
}

fn main() -> ExitCode {
    let mut order = Order::parse();
    if order.few || order.scenarios.is_empty() && order.operations.is_none() {
        let chosen = scenarios::ALL.iter();
        let chosen = chosen.filter(|one| one.is_first() || !order.few);
        order.scenarios.extend(chosen);
    }
    carry_out(&order)
}

fn carry_out(order: &Order) -> ExitCode {
    if order.list {
        for scenario in scenarios::ALL {
            println!("{:32} {}", scenario.name, scenario.what);
        }
        return ExitCode::SUCCESS;
    }
    if let Some(why) = net::missing() {
        println!("skipped: no network namespaces here: {why}");
        return ExitCode::SUCCESS;
    }
    let (mut passed, mut failed) = (0, 0);
    let mut tell = |name: &str, began: Instant, outcome: Result<String, Wrong>| {
        let took = began.elapsed().as_secs_f64();
        match outcome {
            Ok(remark) => {
                passed += 1;
                println!("ok      {name:32} {took:5.1} s  {remark}");
            }
            Err(wrong) => {
                failed += 1;
                println!("FAILED  {name:32} {took:5.1} s  {wrong}");
            }
        }
    };
    for scenario in &order.scenarios {
        let began = Instant::now();
        tell(scenario.name, began, scenario.run(&order.node));
    }
    let seed = order.seed;
    if let Some(seconds) = order.operations {
        let began = Instant::now();
        let outcome = operations::run(&order.node, seconds, seed);
        tell(&format!("operations, seed {seed}"), began, outcome);
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
