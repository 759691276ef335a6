//! The cost of the bridge beside actix-telepathy: the same small messages from one actor to another over loopback TCP,
//! from one thread to another.
//!
//! `cargo run --release --features telepathy --bin bridge` in this folder. Both are measured in turn; the figures are
//! medians of pairs. CPU is the time of the process, with both ends. Each way has its own encoding; both hold the
//! sender back in the same way.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "sockets live in real time; figures are for people"
)]

#[path = "../../bridge/cost.rs"]
mod cost;
#[path = "../../bridge/message.rs"]
mod message;
#[path = "../../bridge/ours.rs"]
#[expect(dead_code, reason = "this program measures no round trips")]
mod ours;
#[path = "../../bridge/tally.rs"]
mod tally;
mod telepathy;

use std::{
    sync::{Arc, mpsc},
    thread,
};

use actix_rt::System;

use cost::{Cost, cost, median};
use ours::Bridged;
use tally::Tally;
use telepathy::Telepathy;

const PAIRS: usize = 9;
const MESSAGES: usize = 20_000;
const WINDOW: usize = 4_000;

fn main() {
    let tally = Arc::new(Tally::default());
    let far = Arc::clone(&tally);
    let (told, address) = mpsc::channel();
    System::new().block_on(async {
        let near = ours::host("a", None);
        let at = near.address();
        thread::spawn(move || {
            System::new().block_on(async {
                let _bridge = ours::serve(Arc::clone(&far), &at);
                told.send(telepathy::serve(far)).expect("it waits for that");
                std::future::pending::<()>().await;
            });
        });
        let at = address.recv().expect("it listens");
        let mut bridge = Bridged::link(near, Arc::clone(&tally)).await;
        let telepathy = Telepathy::link(at, tally).await;
        let mut costs = Vec::new();
        for _ in 0..PAIRS {
            let other = cost(MESSAGES, telepathy.send(WINDOW, MESSAGES)).await;
            let ours = cost(MESSAGES, bridge.send(WINDOW, MESSAGES)).await;
            costs.push((other, ours));
        }
        print(&costs);
    });
}

fn print(costs: &[(Cost, Cost)]) {
    let of = |value: fn(&(Cost, Cost)) -> f64| median(costs.iter().map(value).collect());
    println!("{PAIRS} pairs of {MESSAGES} messages, {WINDOW} ahead");
    println!("{:<16} {:>12} {:>12}", "", "ns a message", "cpu ns");
    let line = |name, wall, cpu| println!("{name:<16} {wall:>12.0} {cpu:>12.0}");
    line("actix-telepathy", of(|c| c.0.wall), of(|c| c.0.cpu));
    line("actix-bully", of(|c| c.1.wall), of(|c| c.1.cpu));
    println!(
        "the bridge has {:.1} times the throughput, for {:.2} of the cpu",
        of(|c| c.0.wall / c.1.wall),
        of(|c| c.1.cpu / c.0.cpu)
    );
}
