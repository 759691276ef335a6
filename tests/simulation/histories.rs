//! Elections under chaos: after all faults have healed, the right agent leads.
//!
//! A few hundred histories run with every `cargo test`; a failure prints the command that runs it again. Histories that
//! once failed are replayed for ever: `found/histories.txt`. Single rules are tested beside the machine.
#![expect(clippy::panic, reason = "a test prints the history that failed")]

use std::time::Duration;

use actix_bully::record::Recording;
use actix_bully_oracles::{BullyScenario, QuorumScenario, RingScenario};
use bully_core::{elections::bully::BullyConfig, record::What};
use bully_sim::{
    sim::chaos::{ChaosOptions, Coverage, Fault, HistoryReport, chaos},
    trace::Trace,
};
use clap::Parser;

use args::Args;
use history::{Plan, Preset, Protocol, size};

#[allow(dead_code, reason = "the example uses the other parts")]
#[path = "../../examples/simulate/args.rs"]
mod args;
#[allow(dead_code, reason = "the example uses the other parts")]
#[path = "../../examples/simulate/history.rs"]
mod history;

fn options() -> ChaosOptions {
    ChaosOptions {
        reproduce: String::from("FIRST={seed} SEEDS=1 cargo test --test simulation"),
        ..ChaosOptions::default()
    }
}

/// Returns `count` seeds from `first` on; `SEEDS=1 FIRST=7` selects other seeds.
fn seeds(first: u64, count: u64) -> std::ops::Range<u64> {
    let read = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = read("FIRST").unwrap_or(first);
    first..first + read("SEEDS").unwrap_or(count)
}

/// Returns the plan of a command line of the example.
fn plan(command: &str) -> Plan {
    let words = command.split_once(" -- ").map_or("", |(_, words)| words);
    let words = std::iter::once("simulate").chain(words.split(' '));
    let args = Args::try_parse_from(words).unwrap_or_else(|wrong| panic!("{command}: {wrong}"));
    args.plan(args.seed.unwrap_or(1))
}

#[test]
fn histories_that_once_failed_do_not_fail_again() {
    let found = include_str!("../found/histories.txt").lines();
    let found: Vec<&str> = found.filter(|line| line.starts_with("cargo ")).collect();
    assert!(!found.is_empty(), "the list is there");
    for command in found {
        let outcome = plan(command).run(Trace::off());
        match outcome.map(|outcome| outcome.report.violation) {
            Ok(None) => {}
            Ok(Some(violation)) => panic!("{violation}\n{command}"),
            Err(wrong) => panic!("{wrong}\n{command}"),
        }
    }
}

/// The command that a violation prints must reproduce the same history.
#[test]
fn the_printed_command_repeats_the_same_history() {
    let some = vec![Fault::OneWayCut, Fault::Crash];
    for (protocol, nodes, faults, timings) in [
        (Protocol::Bully, 1, Vec::new(), Preset::Drawn),
        (Protocol::Astra, 4, some, Preset::Drawn),
        (Protocol::Quorum, 100, Fault::ALL.to_vec(), Preset::Drawn),
        (Protocol::Quorum, 5, vec![Fault::Forgery], Preset::InProcess),
        (Protocol::Ballot, 5, Fault::ALL.to_vec(), Preset::Drawn),
        (
            Protocol::Reorganization,
            2,
            Fault::ALL.to_vec(),
            Preset::Drawn,
        ),
        (Protocol::Invitation, 3, Fault::ALL.to_vec(), Preset::Drawn),
    ] {
        let (seed, seconds) = (u64::MAX, 7);
        let bounded = protocol == Protocol::Astra;
        let made = Plan {
            protocol,
            seed,
            nodes,
            faults,
            seconds,
            timings,
            sentinels: false,
            bounded,
        };
        assert_eq!(plan(&made.to_string()), made);
    }
}

/// A history with a violation is saved as a recording in which the violation is marked.
#[test]
fn a_broken_promise_is_marked_in_the_recording() {
    let broken = |seed| {
        let plan = plan(&format!(
            "cargo -- --protocol quorum --nodes 4 --seed {seed}"
        ));
        let sound = QuorumScenario::drawn(seed, 4).unwrap().sound().clone();
        let mut half = sound.clone();
        (half.vote_quorum, half.lease_quorum) = (Some(2), Some(2));
        let mut scenario = QuorumScenario::unsound(half, sound);
        let outcome = plan.run_in(Trace::new(), &mut scenario);
        let violation = outcome.report.violation.clone()?;
        Some((plan.recording(&outcome), violation))
    };
    let (recording, violation) = (0..200)
        .find_map(broken)
        .expect("a history breaks the promise");
    let read = Recording::read(recording.to_jsonl().as_bytes()).unwrap();
    let marked = read.entries().iter().filter_map(|entry| {
        let What::Violation(text) = &entry.what else {
            return None;
        };
        Some((entry.at, text.clone()))
    });
    let found = (violation.at, violation.to_string());
    assert_eq!(marked.collect::<Vec<_>>(), [found]);
}

/// Among many histories of the bully, every other one keeps the delay bound. A single history keeps it only by an
/// option, so that the commands of histories that once failed keep their meaning.
#[test]
fn every_other_history_of_the_bully_keeps_its_delay_bound() {
    let args = |words: &str| Args::try_parse_from(words.split(' ')).unwrap();
    for (words, bounded) in [
        ("bully --seeds 0..4", [false, true]),
        ("astra --seeds 0..4", [false, true]),
        ("bully --seeds 0..4 --bounded", [true, true]),
        ("bully --seed 1", [false, false]),
        ("ring --seeds 0..4 --bounded", [false, false]),
    ] {
        let args = args(&format!("simulate --protocol {words}"));
        assert_eq!(
            [2, 3].map(|seed| args.plan(seed).bounded),
            bounded,
            "{words}"
        );
    }
    let mut faults = BullyScenario::BOUNDED.to_vec();
    faults.sort_unstable();
    assert_eq!(
        args("simulate --protocol bully --seeds 0..4 --bounded").faults(),
        faults
    );
}

/// Clap drops a requirement of an option if another option forbids the required one.
#[test]
fn an_option_of_many_histories_is_refused_for_a_single_one() {
    for option in ["--hash", "--threads 2"] {
        let words = format!("simulate --seed 7 {option}");
        assert!(Args::try_parse_from(words.split(' ')).is_err(), "{words}");
        let words = format!("simulate {option}");
        assert!(Args::try_parse_from(words.split(' ')).is_err(), "{words}");
    }
}

#[test]
fn quorum_histories_keep_every_invariant() {
    keeps_every_invariant("quorum", 40);
}

#[test]
fn histories_that_change_the_voters_keep_every_invariant() {
    keeps_every_invariant("voters", 100);
}

#[test]
fn histories_without_disks_keep_every_invariant() {
    keeps_every_invariant("diskless", 40);
}

#[test]
fn ballots_keep_every_invariant() {
    keeps_every_invariant("ballot", 40);
}

/// Every other history keeps the paper's assumptions.
#[test]
fn reorganizations_keep_their_promises() {
    keeps_every_invariant("reorganization", 100);
}

#[test]
fn groups_agree_and_merge() {
    keeps_every_invariant("invitation", 100);
}

fn keeps_every_invariant(protocol: &str, count: u64) {
    let mut settles = Duration::ZERO;
    for seed in seeds(4000, count) {
        let words = format!(" -- --protocol {protocol} --seconds 4 --seed {seed}");
        let plan = plan(&words);
        let run = plan.run(Trace::off());
        let outcome = run.unwrap_or_else(|wrong| panic!("{wrong}\n{plan}"));
        assert_eq!(outcome.report.violation, None, "{plan}");
        settles += outcome.report.settled_after;
    }
    assert!(!settles.is_zero(), "no agreement was awaited");
}

#[test]
fn rings_keep_their_promise() {
    let mut suppressed = 0;
    histories(seeds(6000, 60), |seed| {
        let mut scenario = RingScenario::default();
        let report = chaos(seed, size(seed), &options(), &mut scenario);
        suppressed += scenario.suppressed();
        report
    });
    assert!(suppressed > 60, "{suppressed}");
}

fn bully(seed: u64, config: &BullyConfig) -> HistoryReport {
    let mut scenario = BullyScenario::new(config.clone());
    chaos(seed, size(seed), &options(), &mut scenario)
}

/// Runs these seeds. Every history must end without a violation, and every kind of fault must have happened.
fn histories(seeds: std::ops::Range<u64>, mut play: impl FnMut(u64) -> HistoryReport) {
    let mut coverage = Coverage::default();
    for seed in seeds {
        let report = play(seed);
        if let Some(violation) = report.violation {
            panic!("{violation}");
        }
        coverage.add(&report.coverage);
    }
    let missing: Vec<Fault> = coverage
        .iter()
        .filter(|(fault, n)| fault.is_general() && *n == 0)
        .map(|(f, _)| f)
        .collect();
    let few = std::env::var("SEEDS").is_ok();
    assert!(few || missing.is_empty(), "never happened: {missing:?}");
}

#[test]
fn after_healing_the_highest_ranked_agent_leads() {
    histories(seeds(0, 400), |seed| bully(seed, &BullyConfig::default()));
}

/// Without a failure detector an agent follows a silent leader for ever, so such configurations are left out.
#[test]
fn after_healing_an_agent_leads_by_each_option() {
    let samples = BullyConfig::samples().into_iter();
    for config in samples.filter(|config| config.timings.detector().is_some()) {
        histories(seeds(2000, 60), |seed| bully(seed, &config));
    }
}

/// In a network that keeps its delay bound d, two agents lead for up to 2 d, as `promises` checks. A stricter limit
/// fails, so the check of the limit works.
#[test]
fn two_do_lead_for_half_a_message_delay() {
    let options = ChaosOptions {
        faults: BullyScenario::BOUNDED.to_vec(),
        contested_for: Some(BullyConfig::default().timings.delay_bound() / 2),
        ..options()
    };
    let broken = seeds(3000, 1000).find_map(|seed| {
        let report = chaos(seed, 5, &options, &mut BullyScenario::default());
        report.violation
    });
    let broken = broken.map(|violation| violation.what).unwrap_or_default();
    assert!(broken.contains(" lead since "), "{broken}");
}

#[test]
fn the_same_seed_gives_the_same_history_with_a_recording_and_without() {
    let run = |seed, trace| {
        let options = ChaosOptions {
            faults_for: Duration::from_secs(5),
            trace,
            ..options()
        };
        let report = chaos(seed, 5, &options, &mut BullyScenario::default());
        assert!(report.steps > 100, "{}", report.steps);
        let numbers = (report.steps, report.tally, report.ended);
        (report.trace.to_text(), numbers)
    };
    let recorded = |seed| run(seed, Trace::new().with_deliveries().with_repeated());
    for seed in 0..20 {
        assert_eq!(recorded(seed), recorded(seed), "seed {seed}");
        assert_eq!(recorded(seed).1, run(seed, Trace::off()).1, "seed {seed}");
    }
    assert_ne!(recorded(0).0, recorded(1).0);
}
