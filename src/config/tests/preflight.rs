//! A preflight of a lease in a real folder. The tests of `bullyctl preflight` measure a voter and its peers.

use std::{fs, time::Duration};

use actix::System;

use crate::config::{
    Config,
    preflight::{
        PreflightFinding::Measured,
        PreflightPart::{Clock, Stall, StoreReads, StoreWrites},
    },
};

/// Time in which each part is measured a few times.
const SHORT: Duration = Duration::from_millis(50);

/// Timings for slow hosts. Every disk is fast enough for them.
const SLOW: &str = "[timings]\npreset = \"wan\"";

#[test]
fn a_lease_measures_its_store_and_leaves_its_lease_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "node = \"a\"\ngroup = \"jobs\"\n[lease]\nfolder = {:?}\n{SLOW}",
        folder.path()
    );
    let config = Config::from_toml(&text).unwrap();
    let found = System::new().block_on(config.preflight(SHORT)).unwrap();
    let parts: Vec<_> = found.checks.iter().map(|check| check.part).collect();
    assert_eq!(parts, [StoreReads, StoreWrites, Stall, Clock]);
    assert!(found.is_ok(), "{found:?}");
    let mut checks = found.checks.iter();
    assert!(checks.all(|check| matches!(check.found, Measured { .. })));
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "no key remains in the store");
}
