//! Rules broken on purpose: each defect must be found. Needs the feature `planted`.
//!
//! With `SEEDS=1000` (or another number) it counts in how many histories, and by which invariant;
//! with `DEFECT=Vote` only for those whose name has that. Otherwise what is found first is what
//! `../../README.md` names.

use std::collections::BTreeMap;

use actix_bully::{
    elections::quorum::{Defect, QuorumConfig, QuorumError, diskless},
    protocol::Term,
    testkit::sim::{World, chaos::chaos},
};
use actix_bully_oracles::{QuorumScenario, Watched};

use crate::quorum::{
    chaos::{options, seeds, size},
    diskless::{a_year_ahead, forgotten_vote},
    incarnations::{cut_leader_with_drift, forgetful},
    kit::{Group, ms},
};

#[test]
fn every_planted_defect_is_found() -> Result<(), QuorumError> {
    let (mut missed, mut rows) = (Vec::new(), Vec::new());
    let only = std::env::var("DEFECT").unwrap_or_default();
    // No voter is changed in these histories, no store is lost, and each name has one process.
    let all = Defect::ALL.iter().copied();
    let all = all.filter(|defect| !Defect::OF_A_CHANGE.contains(defect));
    let all = all.filter(|defect| !Defect::OF_MEMORY.contains(defect));
    let all = all.filter(|defect| !Defect::OF_SLOWNESS.contains(defect)); // they break no promise
    for defect in all.filter(|defect| format!("{defect:?}").contains(&only)) {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        let mut first = None;
        // Some are rare: a report has to be late for an incarnation that led again; an acknowledgement, for
        // a lease that nothing else renews; a name has to have a second process beside other trouble.
        let is_rare = matches!(
            defect,
            Defect::EndOfAnyLife | Defect::LeaseFromArrival | Defect::OneNameOneVoter
        );
        let seeds = seeds(if is_rare { 1_000 } else { 400 });
        let many = std::env::var("SEEDS").is_ok();
        for seed in seeds {
            let n = size(seed);
            let mut scenario = QuorumScenario::planted(seed, n, defect)?;
            let report = chaos(seed, n, &options(110_000), &mut scenario);
            if let Some(violation) = report.violation {
                first.get_or_insert(seed);
                let name = violation.what.split(':').next().unwrap_or_default();
                *found.entry(beginning(name)).or_default() += 1;
                if !many {
                    break;
                }
            }
        }
        println!("{defect:?}: first {first:?}, {found:?}");
        match (first, found.keys().next()) {
            (Some(seed), Some(name)) => {
                rows.push(format!("| {seed} | {} |", name.trim_end_matches(" within")));
            }
            _ => missed.push(defect),
        }
    }
    // Hard to reach: the model checker finds them, and a unit test does always. The second one takes a second process of a
    // name.
    let hard = [
        Defect::OldTermFollowed,
        Defect::EndOfLaterLife,
        // No history has a copy of long ago: scenes of the machine do.
        Defect::ResignationOfAnyLife,
        Defect::ClaimUnasked,
        Defect::AnswersUnaddressed,
        Defect::SameTermUnanswered,
        Defect::TermUnlocked,
        Defect::VoteLostWithSeal,
    ];
    missed.retain(|defect| !hard.contains(defect));
    assert_eq!(missed, []);
    if std::env::var("SEEDS").is_err() && only.is_empty() {
        let readme = include_str!("../../README.md");
        for row in rows {
            assert!(readme.contains(&row), "tests/README.md names no {row}");
        }
    }
    Ok(())
}

/// Its first words: what follows names agents and times.
fn beginning(name: &str) -> String {
    let words = name.split_inclusive(' ');
    let lengths = words.scan(0, |length, word| {
        *length += word.len();
        Some((*length, word))
    });
    let first = lengths.take_while(|(length, _)| *length <= 21);
    first
        .map(|(_, word)| word)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// What each breaks is shown beside the machine; this list is the readers' way to it.
#[test]
fn the_defects_that_only_scenes_find_are_named_with_them() {
    let readme = include_str!("../../README.md");
    let scenes = include_str!("../../../crates/bully-core/src/elections/quorum/tests/planted.rs");
    let all = [Defect::OF_A_CHANGE, Defect::OF_MEMORY, Defect::OF_SLOWNESS];
    for defect in all.concat() {
        let name = format!("| `{defect:?}` | `");
        let row = readme.lines().find(|line| line.contains(&name));
        let row = row.unwrap_or_else(|| panic!("tests/README.md names no {defect:?}"));
        let scene = row.rsplit('`').nth(1).unwrap();
        let (_, rest) = scenes.split_once(&format!("Defect::{defect:?},")).unwrap();
        assert!(rest.trim_start().starts_with(scene), "{defect:?}: {scene}");
    }
}

/// The others of a change need one schedule among many: directed scenes find them.
#[test]
fn planted_defects_of_a_change_of_voters_are_found() -> Result<(), QuorumError> {
    for (defect, due) in [
        (Defect::SealUnwritten, "DiskFirst"),
        (Defect::InstalledEarly, "SealedFirst"),
        (Defect::SealBeforeLost, "view and events differ"),
    ] {
        let mut found = None;
        for seed in seeds(200) {
            let n = usize::try_from(seed % 6).unwrap_or(0) + 2;
            let mut scenario = QuorumScenario::planted_changing(seed, n, defect)?;
            let report = chaos(seed, n, &options(110_000), &mut scenario);
            let what = report.violation.map(|violation| violation.what);
            if what.is_some_and(|what| what.contains(due)) {
                found = Some(seed);
                break;
            }
        }
        println!("{defect:?}: by {due}, first {found:?}");
        assert!(found.is_some(), "{defect:?} was not found");
    }
    Ok(())
}

fn breaks(world: &World<Watched>) -> Option<&str> {
    world.violation()?.what.split(' ').next()
}

/// Without the rules that tell two processes of a name apart, and two stores, each history of `stores.rs` has two leaders.
#[test]
fn names_and_stores_that_are_not_told_apart_make_two_leaders() {
    use crate::quorum::stores::{ALL, led};
    for (name, play) in ALL {
        let mut net = led(|config| QuorumConfig {
            defect: Some(Defect::OneNameOneVoter),
            ..config
        });
        play(&mut net);
        let broken = breaks(&net.world);
        let is_two = matches!(broken, Some("OneBeliever:" | "LeaderPerTerm:"));
        assert!(is_two, "{name}: {broken:?}");
    }
}

/// The sharp edge is a vote against a forgotten promise.
#[test]
fn s59_without_quarantine_the_old_leader_has_a_rival() {
    let group = Group {
        planted: |config| QuorumConfig {
            defect: Some(Defect::NoQuarantine),
            ..config
        },
        ..Group::of(3)
    };
    let mut net = forgetful(&group, 1);
    net.world.run_for(ms(500));
    assert_eq!(breaks(&net.world), Some("PromiseKept:"));
}

#[test]
fn s61_a_promise_no_longer_than_the_lease_is_not_safe() {
    for seed in 0..100 {
        let group = Group {
            planted: |config| QuorumConfig {
                defect: Some(Defect::PromiseOfOneLease),
                ..config
            },
            ..Group::of(3)
        };
        let mut net = cut_leader_with_drift(group, seed);
        net.world.run_for(ms(500));
        assert_eq!(breaks(&net.world), Some("PromiseKept:"), "seed {seed}");
    }
}

/// The rules of voters without disks. What histories do not find, because clocks that agree make up for it or
/// because it takes a message of long ago, directed ones and the unit tests of its rule find always.
#[test]
fn planted_defects_of_voters_without_disks_are_found() -> Result<(), QuorumError> {
    use diskless::Defect::{BoundToNobody, CountedTerms, ShortAbstention};
    for (defect, invariant) in [
        (CountedTerms, "LeaderPerTerm"),
        (ShortAbstention, "PromiseKept"),
        (BoundToNobody, "PromiseKept"),
    ] {
        let mut found = None;
        for seed in seeds(100) {
            let n = size(seed);
            let mut scenario = QuorumScenario::planted_diskless(seed, n, defect)?;
            let skew = QuorumScenario::diskless_skew(seed);
            let report = chaos(seed, n, &options(skew), &mut scenario);
            if let Some(violation) = report.violation {
                found = Some((seed, violation.what));
                break;
            }
        }
        println!("{defect:?}: {found:?}");
        assert!(
            found.is_some_and(|(_, what)| what.starts_with(invariant)),
            "{defect:?}"
        );
    }
    Ok(())
}

/// A voter that forgot its vote meets one that never knew of it.
#[test]
fn a_voter_that_asks_too_few_lets_the_terms_fall() {
    use diskless::Defect::{NoRecovery, SilenceIsAnAnswer};
    for defect in [None, Some(NoRecovery), Some(SilenceIsAnAnswer)] {
        let mut net = forgotten_vote(defect);
        net.world.run_for(ms(2_000));
        let broken = net.world.violation().map(|v| v.what.as_str());
        match defect {
            None => assert_eq!((broken, net.believers()), (None, vec![])),
            Some(_) => assert!(broken.is_some_and(|what| what.starts_with("TokenMonotone"))),
        }
    }
}

#[test]
fn where_every_term_is_taken_a_wrong_clock_wins() {
    for (defect, leads) in [(None, false), (Some(diskless::Defect::AnyTerm), true)] {
        let mut net = a_year_ahead(defect);
        net.world.run_for(ms(3_000));
        let year = Term(90_000_000_000 + 300 * 86_400_000);
        let ahead = net.believers().iter().any(|id| {
            let term = net.world.view(id).and_then(|view| view.leading);
            term > Some(year)
        });
        assert_eq!(ahead, leads, "{defect:?}");
    }
}
