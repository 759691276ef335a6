//! The bully under chaos: after everything has gone wrong and is healed, one leader, the right one.
//!
//! A few hundred histories, so that every `cargo test` runs them; a failure prints the line that
//! runs it again. Not here: single rules; those are beside the machine.
#![expect(clippy::panic, reason = "a test says what it found")]

use std::time::Duration;

use actix_bully::{
    elections::bully::{BullyConfig, Preemption},
    protocol::Timings,
    sim::{
        BullyScenario,
        chaos::{ChaosOptions, Coverage, Fault, Report, chaos},
    },
    trace::Trace,
};

fn options() -> ChaosOptions {
    ChaosOptions {
        reproduce: String::from("cargo run --example simulate -- --seed {seed} --n {n}"),
        ..ChaosOptions::default()
    }
}

fn history(seed: u64, config: &BullyConfig) -> Report {
    let n = [1, 2, 3, 5, 7]
        .into_iter()
        .cycle()
        .nth(usize::try_from(seed % 5).unwrap_or(0));
    let mut scenario = BullyScenario::new(config.clone());
    chaos(seed, n.unwrap_or(5), &options(), &mut scenario)
}

/// Runs these seeds; every history must end well, and every kind of fault must have happened.
fn histories(seeds: std::ops::Range<u64>, config: &BullyConfig) {
    let mut coverage = Coverage::default();
    for seed in seeds {
        let report = history(seed, config);
        if let Some(violation) = report.violation {
            panic!("{violation}");
        }
        coverage.add(&report.coverage);
    }
    let missing: Vec<Fault> = coverage
        .iter()
        .filter(|(_, n)| *n == 0)
        .map(|(f, _)| f)
        .collect();
    assert_eq!(missing, [], "never happened");
}

#[test]
fn after_healing_the_highest_ranked_agent_leads() {
    histories(0..400, &BullyConfig::default());
}

#[test]
fn after_healing_the_highest_ranked_agent_leads_in_a_fast_network() {
    let timings = Timings::lan();
    let config = BullyConfig {
        timings,
        ..BullyConfig::default()
    };
    histories(1000..1100, &config);
}

#[test]
fn after_healing_somebody_leads_where_nobody_is_bullied() {
    for preemption in [
        Preemption::Never,
        Preemption::After(Duration::from_millis(500)),
    ] {
        let config = BullyConfig {
            preemption,
            ..BullyConfig::default()
        };
        histories(2000..2060, &config);
    }
}

/// Crashes, restarts and duels in a network that keeps its delay bound d: two lead for at most 2 d.
#[test]
fn two_lead_for_two_message_delays_at_most() {
    let config = BullyConfig::default();
    let bound = config.timings.delay_bound();
    let options = ChaosOptions {
        faults: vec![
            Fault::Crash,
            Fault::Restart,
            Fault::Campaign,
            Fault::StepDown,
            Fault::Duplication,
            Fault::Reordering,
        ],
        ..options()
    };
    let mut contested = Duration::ZERO;
    for seed in 3000..3100 {
        let mut scenario = BullyScenario::new(config.clone()).contested_for(bound * 2);
        let report = chaos(seed, 5, &options, &mut scenario);
        if let Some(violation) = report.violation {
            panic!("{violation}");
        }
        contested = contested.max(report.contested.longest);
    }
    assert!(
        contested > Duration::ZERO,
        "two never led at once: nothing was tried"
    );
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let run = |seed| {
        let options = ChaosOptions {
            faults_for: Duration::from_secs(5),
            trace: Trace::new().with_deliveries().with_repeated(),
            ..options()
        };
        let report = chaos(seed, 5, &options, &mut BullyScenario::default());
        (report.trace.to_text(), report.steps, report.tally)
    };
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
    assert_ne!(run(0).0, run(1).0);
}

#[test]
fn recording_does_not_change_the_history() {
    let run = |trace| {
        let options = ChaosOptions { trace, ..options() };
        let report = chaos(11, 5, &options, &mut BullyScenario::default());
        (report.steps, report.tally, report.ended)
    };
    assert_eq!(run(Trace::off()), run(Trace::new().with_deliveries()));
}
