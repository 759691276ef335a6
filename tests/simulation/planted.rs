//! Rules broken on purpose: seeded histories find each, and by which invariant. Needs the feature
//! `planted`.
//!
//! ```text
//! cargo test --test simulation planted -- --nocapture
//! ```
//!
//! With `SEEDS=1000` (or another number) it counts in how many histories each is found, and by what;
//! with `DEFECT=Weaker` only for those whose name has that. Otherwise the first seeds are those that
//! `README.md` names. The quorum election's defects are those of `quorum/mutants.rs`; those of the
//! agent, the store and the bridge, in a copy of the tree (`tests/planted/defects.patch`).
#![expect(clippy::print_stdout, reason = "what was found is shown")]

use std::fmt::Debug;

use actix_bully::{
    elections::{ballot, bully, invitation, reorganization, ring},
    testkit::sim::chaos::{ChaosOptions, Fault, Scenario, chaos},
};
use actix_bully_oracles::{
    BallotScenario, BullyScenario, InvitationScenario, ReorganizationScenario, RingScenario,
};

/// A defect, and what is said of a violation that shows it.
type Case<D> = (D, &'static str);

fn read(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn size(seed: u64) -> usize {
    [1, 2, 3, 4, 5, 6, 7]
        .into_iter()
        .nth(usize::try_from(seed % 7).unwrap_or(0))
        .unwrap_or(3)
}

/// Looks for each defect in so many histories: in one of them it breaks what is said of it, though
/// something else may have been broken before.
fn finds<D: Debug + Copy, S: Scenario>(
    cases: &[Case<D>],
    most: u64,
    faults: &[Fault],
    scenario: impl Fn(u64, usize, D) -> S,
) -> Vec<u64> {
    let (many, only) = (read("SEEDS"), std::env::var("DEFECT").unwrap_or_default());
    let options = ChaosOptions {
        faults: faults.to_vec(),
        ..ChaosOptions::default()
    };
    let (mut missed, mut seeds) = (Vec::new(), Vec::new());
    for (defect, due) in cases {
        let name = format!("{defect:?}");
        if !name.contains(&only) {
            continue;
        }
        let mut first = None;
        let (mut shown, mut others) = (0, 0);
        for seed in 0..many.unwrap_or(most) {
            let n = size(seed);
            let report = chaos(seed, n, &options, &mut scenario(seed, n, *defect));
            let Some(violation) = report.violation else {
                continue;
            };
            if !violation.what.contains(due) {
                others += 1;
                continue;
            }
            shown += 1;
            first.get_or_insert((seed, violation.what));
            if many.is_none() {
                break;
            }
        }
        println!("{name}: by {due} {shown}, by others {others}; first {first:?}");
        match first {
            Some((seed, _)) => seeds.push(seed),
            None => missed.push(name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
    seeds
}

/// The rows of this election, in the order of its defects, name these seeds.
fn are_in_the_readme(election: &str, seeds: &[u64]) {
    if read("SEEDS").is_some() || std::env::var("DEFECT").is_ok() {
        return;
    }
    let rows = include_str!("../README.md").lines();
    let rows = rows.filter_map(|row| row.strip_prefix(&format!("| {election} | ")));
    let named: Vec<u64> = rows
        .filter_map(|row| row.split(" | ").nth(1)?.parse().ok())
        .collect();
    assert_eq!(named, seeds, "tests/README.md and what is found");
}

#[test]
fn a_bullys_defects_are_found() {
    use bully::Defect as D;
    let cases = [
        (D::StaleIsNews, "NewLeader in a lower term"),
        (D::SilenceUnnoticed, "no agreement"),
        (D::EndUnnoticed, "known to have ended"),
        (D::MeetsAndLeads, "no agreement"),
    ];
    // It takes a second process of a name: a unit test finds it.
    let of_one_process = D::ALL.iter().filter(|defect| **defect != D::DisownedLeads);
    assert!(of_one_process.copied().eq(cases.map(|(defect, _)| defect)));
    let seeds = finds(&cases, 200, &Fault::ALL, |_, _, defect| {
        BullyScenario::default().planted(defect)
    });
    are_in_the_readme("bully", &seeds);
}

#[test]
fn a_ballots_defects_are_found() {
    use ballot::Defect as D;
    let cases = [
        (D::VolatileNumber, "DiskFirst"),
        (D::NumberForgotten, "UniqueBallot"),
        (D::HalfIsAMajority, "MajorityHeard"),
        (D::BelievesAlone, "MajorityHeard"),
        (D::ElectsBelowMax, "RisingTrust"),
        (D::MaxNeverRaised, "DiskFirst"),
        (D::LeadsAgain, "RisingLeadership"),
    ];
    assert_eq!(cases.map(|(defect, _)| defect), D::ALL);
    let seeds = finds(&cases, 200, &Fault::ALL, |seed, n, defect| {
        let sound = BallotScenario::drawn(seed, n).expect("there are voters");
        sound.planted(defect)
    });
    are_in_the_readme("ballot", &seeds);
}

#[test]
fn a_rings_defects_are_found() {
    use ring::Defect as D;
    let cases = [
        (D::WritesToTheDead, "which it knows to be gone"),
        (D::WaitsForTheDead, "which it knows to be gone"),
        (D::WeakerCounts, "for the weaker"),
        (D::StaleIsNews, "NewLeader in a lower term"),
        (D::NeverProbes, "no agreement"),
    ];
    assert_eq!(cases.map(|(defect, _)| defect), D::ALL);
    let seeds = finds(&cases, 200, &Fault::ALL, |_, _, defect| {
        RingScenario::default().planted(defect)
    });
    are_in_the_readme("ring", &seeds);
}

/// The last one only shows where more goes wrong than the paper allows, and then GM1 is not checked.
#[test]
fn a_reorganizations_defects_are_found() {
    use reorganization::Defect as D;
    let cases = [
        (D::VolatileCount, "DiskFirst"),
        (D::Impatient, "GM1"),
        (D::IgnoredCallSucceeds, "GM1"),
        (D::AnyCoordinator, "GM1"),
        (D::AllIsWell, "no agreement"),
    ];
    assert_eq!(cases.map(|(defect, _)| defect), D::ALL);
    let (assumed, more) = cases.split_at(4);
    let drawn = |seed| ReorganizationScenario::drawn(seed).expect("the presets are sound");
    let allowed = &ReorganizationScenario::ALLOWED;
    let mut seeds = finds(assumed, 400, allowed, |seed, _, defect| {
        drawn(seed).as_assumed().planted(defect)
    });
    seeds.extend(finds(more, 400, &Fault::ALL, |seed, _, defect| {
        drawn(seed).planted(defect)
    }));
    are_in_the_readme("reorganization", &seeds);
}

#[test]
fn an_invitations_defects_are_found() {
    use invitation::Defect as D;
    let cases = [
        (D::VolatileNumber, "DiskFirst"),
        (D::NumberKept, "in its incarnations"),
        (D::JoinsOlder, "NewLeader in a lower term"),
        (D::TaskOfAnyGroup, "NewLeader in a lower term"),
    ];
    assert_eq!(cases.map(|(defect, _)| defect), D::ALL);
    let seeds = finds(&cases, 400, &Fault::ALL, |seed, _, defect| {
        let sound = InvitationScenario::drawn(seed).expect("the presets are sound");
        sound.planted(defect)
    });
    are_in_the_readme("invitation", &seeds);
}
