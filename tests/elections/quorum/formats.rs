//! Voters whose stores are kept as release 0.1 reads them.

use actix_bully::{
    elections::quorum::QuorumError,
    testkit::{sim::chaos::chaos, trace::Trace},
};
use actix_bully_oracles::{Kept, QuorumScenario};

use super::chaos::{options, seeds, size};

#[test]
fn no_voter_notices_in_which_format_its_record_is_kept() -> Result<(), QuorumError> {
    for seed in seeds(60) {
        let n = size(seed);
        let mut played = Vec::new();
        for kept in [Kept::Whole, Kept::FirstFormat] {
            let mut options = options(110_000);
            options.trace = Trace::digesting();
            let mut scenario = QuorumScenario::drawn(seed, n)?.kept(kept);
            let report = chaos(seed, n, &options, &mut scenario);
            assert!(report.violation.is_none(), "n {n}: {report}");
            played.push(report.trace.digest().unwrap());
        }
        assert_eq!(played[0], played[1], "seed {seed}");
    }
    Ok(())
}

/// The planted defect: a shorter promise forgets a longer one.
#[test]
fn without_what_stands_beside_the_file_a_promise_is_forgotten() -> Result<(), QuorumError> {
    let mut found = None;
    for seed in seeds(400) {
        let n = size(seed);
        let mut scenario = QuorumScenario::drawn(seed, n)?.kept(Kept::FirstFormatAlone);
        let report = chaos(seed, n, &options(110_000), &mut scenario);
        if let Some(violation) = report.violation {
            found = Some((seed, violation.what));
            break;
        }
    }
    let (_, what) = found.expect("one of these histories shows it");
    // Whichever comes first: the record lacks the promise, or another agent is promised the same time.
    let names = [
        "DiskFirst",
        "OneBeliever",
        "LeaseBacked",
        "PromiseKept",
        "NoRivalElected",
    ];
    assert!(names.iter().any(|name| what.contains(name)), "{what}");
    Ok(())
}
