//! What the bridge costs beside a bare framed connection: small messages over loopback TCP, from one
//! thread to another.
//!
//! `cargo bench --bench bridge` in this folder. Both ways carry the same message, encoded and decoded
//! by the same functions, and hold the sender back in the same way. They are measured in turn; the
//! ratios are medians of pairs. CPU is that of the process, both ends together. Fails when a ratio
//! misses its aim.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "sockets live in real time; figures are for people"
)]

mod bare;
mod cost;
mod message;
mod ours;
mod tally;

use std::{
    process::ExitCode,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use actix::clock::timeout;
use actix_bully::remote::wire::encode_payload;
use bytes::BytesMut;

use bare::Bare;
use cost::{Cost, cost, median};
use message::message;
use ours::Bridged;
use tally::Tally;

/// Throughput of a backlog, as a share of the bare connection's.
const LEAST_THROUGHPUT: f64 = 0.8;
/// CPU for each message of a backlog, as a multiple of the bare connection's.
const MOST_CPU: f64 = 1.3;

/// A letter that is lost is waited for in vain.
const LONGEST: Duration = Duration::from_secs(120);

/// How much is sent.
struct Plan {
    pairs: usize,
    messages: usize,
    echoes: usize,
}

/// How many messages may be under way.
struct Row {
    name: &'static str,
    window: usize,
    has_aim: bool,
}

const ROWS: &[Row] = &[
    Row {
        name: "4,000 ahead",
        window: 4_000,
        has_aim: true,
    },
    Row {
        name: "96 ahead",
        window: 96,
        has_aim: false,
    },
];

fn main() -> ExitCode {
    let plan = if std::env::args().any(|arg| arg == "--test") {
        Plan {
            pairs: 1,
            messages: 8_000,
            echoes: 50,
        }
    } else {
        Plan {
            pairs: 15,
            messages: 200_000,
            echoes: 2_000,
        }
    };
    let tally = Arc::new(Tally::default());
    let far = Arc::clone(&tally);
    let (told, address) = mpsc::channel();
    actix_bully_benches::system().block_on(async {
        let near = ours::host("a", None);
        let at = near.address();
        thread::spawn(move || {
            actix_bully_benches::system().block_on(async {
                let bare = bare::serve(Arc::clone(&far)).await;
                let _bridge = ours::serve(far, &at);
                told.send(bare).expect("it waits for that");
                std::future::pending::<()>().await;
            });
        });
        let bare = address.recv().expect("it listens");
        let mut bare = Bare::dial(&bare, Arc::clone(&tally)).await;
        let mut bridge = Bridged::link(near, Arc::clone(&tally)).await;
        let measured = timeout(LONGEST, measure(&plan, &mut bare, &mut bridge)).await;
        measured.unwrap_or_else(|_| {
            let counts: Vec<_> = bridge.counts().iter().filter(|(_, n)| *n > 0).collect();
            println!("not done in {LONGEST:?}: letters were lost; {counts:?}");
            ExitCode::FAILURE
        })
    })
}

async fn measure(plan: &Plan, bare: &mut Bare, bridge: &mut Bridged) -> ExitCode {
    let mut bytes = BytesMut::new();
    encode_payload(&message(1), &mut bytes).expect("it can be encoded");
    let (pairs, messages) = (plan.pairs, plan.messages);
    println!(
        "{pairs} pairs of {messages} messages, payload {} bytes; bridge / bare",
        bytes.len()
    );
    println!(
        "{:<14} {:>10} {:>11} {:>8} {:>9} {:>11} {:>8}",
        "row", "bare ns", "bridge ns", "through", "bare cpu", "bridge cpu", "cpu"
    );
    let mut missed = false;
    for row in ROWS {
        let mut costs = Vec::new();
        for pair in 0..=plan.pairs {
            let one = cost(messages, bare.send(row.window, messages)).await;
            let other = cost(messages, bridge.send(row.window, messages)).await;
            if pair > 0 || plan.pairs == 1 {
                costs.push((one, other)); // the first pair fills caches
            }
        }
        missed |= line(row, &costs);
    }
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..plan.pairs {
        times[0].extend(bare.echo(plan.echoes).await);
        times[1].extend(bridge.echo(plan.echoes).await);
    }
    println!("\n{:<14} {:>10} {:>11}", "round trip", "p50 us", "p99 us");
    for (name, times) in ["bare", "bridge"].iter().zip(&mut times) {
        times.sort_unstable();
        let share = |percent: usize| {
            let at = (times.len() * percent / 100).min(times.len() - 1);
            times[at].as_secs_f64() * 1e6
        };
        println!("{name:<14} {:>10.1} {:>11.1}", share(50), share(99));
    }
    if plan.pairs == 1 {
        return ExitCode::SUCCESS; // one pair says nothing
    }
    if missed {
        println!(
            "\nmissed: a backlog's throughput is to be >= {LEAST_THROUGHPUT}, its cpu <= {MOST_CPU}"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Prints a row; says whether it misses its aim.
fn line(row: &Row, costs: &[(Cost, Cost)]) -> bool {
    let of = |value: fn(&(Cost, Cost)) -> f64| median(costs.iter().map(value).collect());
    let through = of(|(bare, ours)| bare.wall / ours.wall);
    let cpu = of(|(bare, ours)| ours.cpu / bare.cpu);
    println!(
        "{:<14} {:>10.0} {:>11.0} {through:>8.2} {:>9.0} {:>11.0} {cpu:>8.2}",
        row.name,
        of(|(bare, _)| bare.wall),
        of(|(_, ours)| ours.wall),
        of(|(bare, _)| bare.cpu),
        of(|(_, ours)| ours.cpu),
    );
    row.has_aim && (through < LEAST_THROUGHPUT || cpu > MOST_CPU)
}
