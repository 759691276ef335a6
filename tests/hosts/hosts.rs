//! Real processes on hosts of their own, and all faults that can happen to them.
//!
//! ```text
//! $ cargo build --release --example node
//! $ cargo run --release --manifest-path tests/hosts/Cargo.toml -- --node target/release/examples/node
//! ```
//!
//! It needs root, and the Debian packages iproute2 and nftables. `--list` prints the names of the scenarios, `--few`
//! runs the scenarios that every change has to pass, and names run the named ones. `--nemesis SECONDS` draws faults by
//! a seed; `--operations SECONDS` also draws commands of operators.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "shows what it does, counts hosts from 0 to n, and runs in real time"
)]

mod check;
mod cluster;
mod log;
mod nemesis;
mod net;
mod operations;
mod scenarios;
mod voters;
mod wrong;

use std::{env, path::PathBuf, process::ExitCode, time::Instant};

use scenarios::Scenario;
use wrong::Wrong;

fn main() -> ExitCode {
    match ordered() {
        Ok(order) => carry_out(&order),
        Err(wrong) => {
            println!("hosts: {wrong}");
            ExitCode::from(2)
        }
    }
}

/// The work that the command line asks for.
struct Order {
    node: PathBuf,
    scenarios: Vec<&'static Scenario>,
    nemesis: Option<u64>,
    operations: Option<u64>,
    seed: u64,
    list: bool,
}

fn ordered() -> Result<Order, Wrong> {
    let mut order = Order {
        node: PathBuf::from("target/release/examples/node"),
        scenarios: Vec::new(),
        nemesis: None,
        operations: None,
        seed: 1,
        list: false,
    };
    let mut few = false;
    let mut arguments = env::args().skip(1);
    let number = |text: Option<String>| {
        let text = text.and_then(|text| text.parse().ok());
        text.ok_or_else(|| {
            Wrong(String::from(
                "give a number after --nemesis, --operations and --seed",
            ))
        })
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--node" => order.node = arguments.next().unwrap_or_default().into(),
            "--few" => few = true,
            "--list" => order.list = true,
            "--seed" => order.seed = number(arguments.next())?,
            "--nemesis" => order.nemesis = Some(number(arguments.next())?),
            "--operations" => order.operations = Some(number(arguments.next())?),
            name => order.scenarios.push(
                scenarios::ALL
                    .iter()
                    .find(|scenario| scenario.name == name)
                    .ok_or_else(|| Wrong(format!("there is no {name}: see --list")))?,
            ),
        }
    }
    let drawn = order.nemesis.or(order.operations);
    if few || order.scenarios.is_empty() && drawn.is_none() {
        let chosen = scenarios::ALL.iter().filter(|one| one.first || !few);
        order.scenarios.extend(chosen);
    }
    Ok(order)
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
    if let Some(seconds) = order.nemesis {
        let began = Instant::now();
        let outcome = nemesis::run(&order.node, seconds, seed);
        tell(&format!("nemesis, seed {seed}"), began, outcome);
    }
    if let Some(seconds) = order.operations {
        let began = Instant::now();
        let outcome = operations::run(&order.node, seconds, seed);
        tell(&format!("operations, seed {seed}"), began, outcome);
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
