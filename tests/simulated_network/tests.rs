//! That the histories are what they claim to be: the same for the same seed, and able to fail.

use std::{collections::BTreeSet, ops::Range, time::Duration};

use crate::{
    check,
    history::{Tale, play_with},
    many::{Sum, play, play_all, play_twice},
    plan::Plan,
    wire::Peaks,
};

#[test]
fn histories_keep_every_promise_and_meet_every_kind_of_host() {
    let sum = play_all(&(0..60), 2, play);
    assert_eq!(sum.histories, 60);
    let broken = |(seed, tale): &(u64, Tale)| (*seed, tale.broken.clone());
    assert_eq!(sum.broken.as_ref().map(broken), None);
    assert!(sum.slowest > Duration::ZERO);
    assert!(sum.peaks.dials > 0 && sum.peaks.streams > 0);
}

#[test]
fn the_same_seed_is_the_same_history_and_another_one_is_another() {
    let mut logs = BTreeSet::new();
    for seed in 100..108 {
        let tale = play_twice(seed);
        assert_eq!(tale.broken, None, "seed {seed}");
        assert!(tale.log.lines().count() > 20, "seed {seed}: {}", tale.log);
        logs.insert(tale.log);
    }
    assert_eq!(logs.len(), 8);
}

#[test]
fn too_many_dials_or_streams_break_a_history() {
    let peaks = |dials, streams| check::bounded(Peaks { dials, streams }, 3);
    assert_eq!(peaks(5, 5), Ok(()));
    assert!(peaks(100, 5).is_err_and(|why| why.contains("dials")));
    assert!(peaks(5, 100).is_err_and(|why| why.contains("streams")));
}

#[test]
fn what_never_happened_is_named() {
    let none = Sum::default().missing();
    assert!(none.contains(&"power-off met leader".to_owned()));
    assert!(none.contains(&"counted slow_peer".to_owned()));
}

/// The first seed whose history is broken, and what was.
fn first_broken(seeds: Range<u64>, change: fn(&mut Plan)) -> Option<(u64, String)> {
    let mut tales = seeds.map(|seed| (seed, play_with(seed, change)));
    tales.find_map(|(seed, tale)| tale.broken.map(|broken| (seed, broken)))
}

/// A lease by a clock of a third of the speed outlives the promises that it rests on.
#[test]
fn clocks_that_are_too_slow_are_found() {
    let (_, broken) = first_broken(0..500, |plan| {
        plan.is_quorum = true;
        plan.clocks = [30, 100, 30, 100, 30];
    })
    .unwrap();
    assert!(broken.contains("lead at the same time"), "{broken}");
}

/// A voter that forgets its vote votes twice.
#[test]
fn disks_that_forget_are_found() {
    let (seed, broken) = first_broken(0..2_000, |plan| {
        plan.is_quorum = true;
        plan.is_forgetful = true;
    })
    .unwrap();
    assert!(broken.contains("lead"), "seed {seed}: {broken}");
}
