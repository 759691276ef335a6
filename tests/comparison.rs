//! The comparison of the elections shows what each of them promises.

#![expect(clippy::panic, reason = "a test fails by a panic")]

#[path = "../examples/compare/cases.rs"]
#[expect(dead_code, reason = "only the program prints what each is")]
mod cases;
#[path = "../examples/compare/contenders.rs"]
#[expect(dead_code, reason = "only the program prints what each promises")]
mod contenders;
#[path = "../examples/compare/meter.rs"]
mod meter;
#[path = "../examples/compare/watch.rs"]
mod watch;

use cases::Case;
use contenders::{ALL, Entrant};
use watch::Measure;

const SEEDS: u64 = 3;

fn entrant(name: &str) -> &'static Entrant {
    let found = ALL.iter().find(|entrant| entrant.name == name);
    found.unwrap_or_else(|| panic!("{name} takes part"))
}

fn measures(name: &str, case: Case) -> Vec<Measure> {
    (0..SEEDS)
        .map(|seed| (entrant(name).run)(case, seed))
        .collect()
}

#[test]
fn in_the_end_all_agree_whatever_happened() {
    for entrant in ALL {
        for case in Case::ALL {
            for seed in 0..SEEDS {
                let agreed = (entrant.run)(case, seed).agreed;
                assert!(
                    agreed.is_some(),
                    "{} after {}, seed {seed}",
                    entrant.name,
                    case.name()
                );
            }
        }
    }
}

#[test]
fn the_quorum_election_never_has_two_leaders() {
    for case in Case::ALL {
        let most = measures("quorum", case).iter().map(|m| m.leaders).max();
        assert!(most <= Some(1), "{}: {most:?}", case.name());
    }
}

#[test]
fn the_available_election_leads_on_every_side() {
    let sides = measures("bully", Case::Shattered);
    assert!(
        sides.iter().all(|measure| measure.leaders >= 3),
        "{sides:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    for entrant in ALL {
        let first = (entrant.run)(Case::Random, 7);
        assert_eq!((entrant.run)(Case::Random, 7), first, "{}", entrant.name);
    }
}
