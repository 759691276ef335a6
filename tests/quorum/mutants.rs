//! Rules broken on purpose: each defect must be found. Needs the feature `planted`.

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
        for seed in seeds(300) {
            let n = size(seed);
            let mut scenario = QuorumScenario::planted(seed, n, defect)?;
            let report = chaos(seed, n, &options(110_000), &mut scenario);
            if let Some(violation) = report.violation {
                first.get_or_insert(seed);
                let name = violation.what.split(':').next().unwrap_or_default();
                *found.entry(name.chars().take(20).collect()).or_default() += 1;
            }
        }
        println!("{defect:?}: first {first:?}, {found:?}");
        if first.is_none() {
            missed.push(defect);
        }
    }
    assert_eq!(missed, []);
    Ok(())
}
