//! Rules broken on purpose: each defect must be found. Needs the feature `planted`.
//!
//! With `SEEDS=1000` (or more) it counts in how many histories, and by which invariant.

use std::collections::BTreeMap;

use actix_bully::{
    elections::quorum::{Defect, QuorumError},
    sim::{QuorumScenario, chaos::chaos},
};

use crate::chaos::{options, seeds, size};

#[test]
fn every_planted_defect_is_found() -> Result<(), QuorumError> {
    let mut missed = Vec::new();
    for defect in Defect::ALL {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        let mut first = None;
        let seeds = seeds(400);
        let many = seeds.end - seeds.start > 400;
        for seed in seeds {
            let n = size(seed);
            let mut scenario = QuorumScenario::planted(seed, n, defect)?;
            let report = chaos(seed, n, &options(110_000), &mut scenario);
            if let Some(violation) = report.violation {
                first.get_or_insert(seed);
                let name = violation.what.split(':').next().unwrap_or_default();
                *found.entry(name.chars().take(20).collect()).or_default() += 1;
                if !many {
                    break;
                }
            }
        }
        println!("{defect:?}: first {first:?}, {found:?}");
        if first.is_none() {
            missed.push(defect);
        }
    }
    // Harmless while a resignation names the term that was led; a unit test finds it.
    assert_eq!(missed, [Defect::ResignVoidsAny]);
    Ok(())
}
