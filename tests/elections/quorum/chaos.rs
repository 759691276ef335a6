//! Seeded histories with all faults at once. The oracle checks every invariant after every step, and all agents agree
//! afterwards.

use actix_bully_oracles::QuorumScenario;
use bully_core::protocol::SettingError;
use bully_sim::{
    sim::chaos::{ChaosOptions, Coverage, Fault, Scenario as _, chaos},
    trace::{Happening, Trace, TraceEntry, What},
};
use std::time::Duration;

/// Returns the seeds of a test, `usual` of them. `SEEDS=20000 FIRST=7` selects other seeds.
pub(crate) fn seeds(usual: u64) -> std::ops::Range<u64> {
    let read = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = read("FIRST").unwrap_or(0);
    first..first + read("SEEDS").unwrap_or(usual)
}

/// Returns the number of voters of a history.
pub(crate) fn size(seed: u64) -> usize {
    [1, 2, 3, 3, 4, 5, 5, 7]
        .into_iter()
        .nth(usize::try_from(seed % 8).unwrap_or(0))
        .unwrap_or(3)
}

pub(crate) fn options(skew: u32) -> ChaosOptions {
    ChaosOptions {
        faults_for: Duration::from_secs(4),
        steady_for: Duration::from_secs(1),
        skew,
        reproduce: "FIRST={seed} SEEDS=1 cargo test --release --test quorum".into(),
        trace: match std::env::var("TRACE") {
            Ok(_) => Trace::new().with_deliveries().with_repeated().bounded(4000),
            Err(_) => Trace::off(),
        },
        ..ChaosOptions::default()
    }
}

#[test]
fn s82_chaos_breaks_nothing_and_ends_in_agreement() -> Result<(), SettingError> {
    let coverage = run(seeds(100), &Fault::ALL)?;
    let scenario = QuorumScenario::drawn(0, 3)?;
    let due = Fault::ALL.into_iter().filter(|f| !f.is_of_memory());
    for fault in due.filter(|f| scenario.takes(*f)) {
        assert!(coverage.of(fault) > 0, "no {fault} happened");
    }
    Ok(())
}

/// The faults are second processes of the same name, and stores that are lost or replaced. A history with all faults
/// rarely has them.
#[test]
fn faults_of_memory_break_nothing_and_end_in_agreement() -> Result<(), SettingError> {
    let memory = Fault::ALL.into_iter().filter(|f| f.is_of_memory());
    let beside = [
        Fault::Crash,
        Fault::Restart,
        Fault::Campaign,
        Fault::StepDown,
        Fault::LateTimers,
    ];
    let faults: Vec<_> = memory.clone().chain(beside).collect();
    let coverage = run(seeds(100), &faults)?;
    for fault in memory {
        assert!(coverage.of(fault) > 0, "no {fault} happened");
    }
    Ok(())
}

/// Returns the trace entries of some histories of five voters in which `fault` is the only fault, and the number of
/// times that it was counted.
fn alone(fault: Fault) -> Result<(Vec<TraceEntry>, u64), SettingError> {
    let (mut entries, mut count) = (Vec::new(), 0);
    for seed in 0..20 {
        let options = ChaosOptions {
            faults: vec![fault],
            trace: Trace::new(),
            ..options(50_000)
        };
        let report = chaos(seed, 5, &options, &mut QuorumScenario::drawn(seed, 5)?);
        entries.extend(report.trace.entries().cloned());
        count += report.coverage.of(fault);
    }
    Ok((entries, count))
}

#[test]
fn a_fault_has_the_effect_that_is_counted() -> Result<(), SettingError> {
    let (mut cuts, _) = alone(Fault::OneWayCut)?;
    cuts.retain(|entry| matches!(&entry.what, What::Mark(text) if text.starts_with("cut ")));
    let most = cuts.chunk_by(|one, other| one.at == other.at);
    assert_eq!(most.map(<[_]>::len).max(), Some(2), "at most half at once");
    let (mut ends, lost) = alone(Fault::LostStorage)?;
    let end = Happening::Crashed;
    ends.retain(|entry| matches!(&entry.what, What::Happened { what, .. } if *what == end));
    let ends = u64::try_from(ends.len());
    assert!(lost > 0 && ends == Ok(lost), "{lost}, {ends:?}");
    Ok(())
}

/// Runs a history for each seed, with the given faults.
fn run(seeds: std::ops::Range<u64>, faults: &[Fault]) -> Result<Coverage, SettingError> {
    let mut coverage = Coverage::default();
    let (mut elections, mut failures) = (0, Vec::new());
    for seed in seeds {
        let n = size(seed);
        let mut scenario = QuorumScenario::drawn(seed, n)?;
        let options = ChaosOptions {
            faults: faults.to_vec(),
            ..options(if seed % 2 == 0 { 50_000 } else { 110_000 })
        };
        let report = chaos(seed, n, &options, &mut scenario);
        coverage.add(&report.coverage);
        elections += scenario.elections();
        if report.violation.is_some() {
            failures.push(format!("{}n {n}: {report}", report.trace.to_text()));
        }
    }
    assert!(elections > 0, "nobody led");
    let first: Vec<_> = failures.iter().take(20).cloned().collect();
    assert!(
        failures.is_empty(),
        "{}: {}",
        failures.len(),
        first.join("\n")
    );
    Ok(coverage)
}
