//! The speed of seeded histories with all faults on, 20 s of each: histories in a second and core, trace off.
//!
//! `cargo bench --bench simulation` in this folder. On a busy machine, compare within one run only: the row above the
//! histories measures the generator of their random numbers on the same core.
#![expect(
    clippy::disallowed_methods,
    reason = "the speed is measured in real time"
)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use actix_bully_oracles::{AstraScenario, BullyScenario, QuorumScenario};
use bully_sim::{
    faults::SplitMix64,
    sim::chaos::{ChaosOptions, HistoryReport, chaos},
};

const N: usize = 5;

fn main() {
    let quick = std::env::args().any(|arg| arg == "--test");
    let span = Duration::from_millis(if quick { 50 } else { 5_000 });
    println!("{:.0} M random numbers/s", numbers(span) / 1e6);
    println!();
    println!(
        "{:>8}  {:>9}  {:>10}  {:>9}  {:>13}  {:>10}",
        "n = 5", "histories", "seeds/s", "us each", "messages/s", "x real time"
    );
    let options = ChaosOptions::default();
    row("bully", span, |seed| {
        chaos(seed, N, &options, &mut BullyScenario::default())
    });
    row("astra", span, |seed| {
        chaos(seed, N, &options, &mut AstraScenario::default())
    });
    row("quorum", span, |seed| {
        let mut scenario = QuorumScenario::drawn(seed, N).expect("there are voters");
        chaos(seed, N, &options, &mut scenario)
    });
}

fn row(name: &str, span: Duration, history: impl Fn(u64) -> HistoryReport) {
    let (mut seeds, mut messages, mut nanos) = (0u64, 0u64, 0u64);
    let start = Instant::now();
    while start.elapsed() < span {
        let report = history(seeds);
        assert_eq!(report.violation, None);
        seeds += 1;
        messages += report.tally.sent;
        nanos += report.ended.as_nanos();
    }
    let took = start.elapsed().as_secs_f64();
    let rate = seeds as f64 / took;
    println!(
        "{name:>8}  {seeds:>9}  {rate:>10.0}  {:>9.0}  {:>13.0}  {:>10.0}",
        1e6 / rate,
        messages as f64 / took,
        nanos as f64 / 1e9 / took,
    );
}

fn numbers(span: Duration) -> f64 {
    let mut random = SplitMix64::new(1);
    let (mut count, start) = (0u64, Instant::now());
    while start.elapsed() < span / 10 {
        for _ in 0..1_000 {
            black_box(random.next_u64());
        }
        count += 1_000;
    }
    count as f64 / start.elapsed().as_secs_f64()
}
