//! What is promised of schedules beside a real election, under every fault of the simulator.

use std::time::Duration;

use bully_sim::sim::chaos::{Coverage, name};

use super::{
    super::{due::DueTimes, planner::Misfire},
    app::Clerk,
    office::{Book, Flaw, Office, Plan, Source},
};
use crate::{
    elections::quorum::QuorumBully,
    leader::tests::{Story, each_fault_happened},
    protocol::Timings,
};

const SEEDS: u64 = 40;

const LATE: Misfire = Misfire::Late {
    within: Duration::from_secs(5),
};

/// The messages after which a fault hurts.
const KINDS: [&str; 3] = ["schedule read", "schedule write", "schedule held"];

/// Plays one history; what was counted, and the broken promise if one was.
fn play(plan: Plan, seed: u64, coverage: &mut Coverage) -> Result<Book, String> {
    let agents = [3, 5][usize::from(seed.is_multiple_of(3))];
    let timings =
        [Timings::in_process(), Timings::lan()][usize::from(seed.is_multiple_of(4))].clone();
    let office = Office::new(plan, (0..agents).filter_map(name));
    let story = Story::<QuorumBully, Clerk>::new(agents, timings, office.clone(), &KINDS);
    let report = story.play(seed);
    coverage.add(&report.coverage);
    match report.violation {
        Some(violation) => Err(violation.to_string()),
        None => Ok(std::mem::take(&mut *office.book())),
    }
}

const fn by_rule(misfire: Misfire) -> Plan {
    Plan {
        misfire,
        source: Source::Rule,
        flaw: None,
    }
}

/// Plays histories by a rule and by streams.
fn histories(misfire: Misfire) -> Vec<Book> {
    let mut coverage = Coverage::default();
    let books = (0..SEEDS).map(|seed| {
        let plan = Plan {
            source: [Source::Rule, Source::Stream][usize::from(seed.is_multiple_of(2))],
            ..by_rule(misfire)
        };
        play(plan, seed, &mut coverage).unwrap()
    });
    let books: Vec<_> = books.collect();
    each_fault_happened(&coverage, false);
    books
}

fn begun(books: &[Book]) -> usize {
    books.iter().map(|book| book.begun.len()).sum()
}

#[test]
fn with_skip_no_tick_begins_twice_under_any_fault() {
    let books = histories(Misfire::Skip);
    assert!(begun(&books) > 600, "{}", begun(&books));
    assert!(books.iter().any(|book| book.misordered > 0));
}

#[test]
fn with_late_no_tick_begins_twice_under_any_fault_and_some_begin_late() {
    let books = histories(LATE);
    assert!(begun(&books) > 150, "{}", begun(&books));
    let late: u32 = books.iter().map(|book| book.late).sum();
    assert!(late > 10, "{late}");
}

#[test]
fn with_at_least_once_every_tick_ends_well_under_any_fault() {
    let books = histories(Misfire::AtLeastOnce);
    let every = by_rule(Misfire::AtLeastOnce).every();
    for (seed, book) in books.iter().enumerate() {
        let (Some(origin), Some(last)) = (book.origin, book.done.last()) else {
            continue;
        };
        let mut time = origin;
        while let Some(due) = every.next_after(time).filter(|due| due <= last) {
            assert!(book.done.contains(&due), "seed {seed}: {due} was left out");
            time = due;
        }
    }
    let repeated: u32 = books.iter().map(|book| book.repeated).sum();
    assert!(begun(&books) > 250, "{}", begun(&books));
    assert!(repeated > 100, "{repeated}");
}

#[test]
fn a_rule_of_schedules_that_is_broken_is_found() {
    for flaw in [
        Flaw::ForgetsRecord,
        Flaw::WritesToTooFew,
        Flaw::ReadsTooFew,
        Flaw::ObeysFormerLeaders,
    ] {
        let plan = Plan {
            flaw: Some(flaw),
            ..by_rule(LATE)
        };
        let mut coverage = Coverage::default();
        let found = (0..400).find_map(|seed| play(plan, seed, &mut coverage).err());
        let found = found.unwrap_or_default();
        assert!(found.contains("begins twice"), "{flaw:?}: {found:?}");
    }
}
