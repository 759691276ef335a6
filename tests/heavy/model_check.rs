//! The searches with few states end as expected, with the expected number of states. Where a path to a broken invariant
//! is kept as a text, each of its steps is as expected. `BLESS=1` rewrites these texts, and the numbers in
//! `states.txt`.

use std::{collections::BTreeSet, env};

use actix_bully_heavy::case::{Case, PLANTED, SOAK, cases};

/// A search with more states takes too long for a debug build; the program `models` runs all.
const FEW: usize = 400_000;

#[test]
fn every_small_search_ends_as_expected() {
    check(|case| case.group != PLANTED && case.size.is_none_or(|(unique, _)| unique <= FEW));
}

#[test]
fn every_row_of_the_file_of_states_is_a_search_of_its_own() {
    let cases = cases();
    for case in cases.iter().filter(|case| case.group != PLANTED) {
        drop(case.search());
    }
    let names: BTreeSet<_> = cases.iter().map(|case| (case.group, case.name)).collect();
    assert_eq!(names.len(), cases.len(), "states.txt has a row twice");
}

#[test]
fn the_readme_says_how_many_million_states() {
    let millions = |is_soak: bool| {
        let cases = cases().into_iter();
        let cases = cases.filter(|case| case.group != PLANTED && (case.group == SOAK) == is_soak);
        let states: usize = cases.filter_map(|case| Some(case.size?.0)).sum();
        states / 1_000_000
    };
    let (usual, soak) = (millions(false), millions(true));
    let words = format!("{usual} million states by `tests/heavy`, {soak} million more by");
    let readme = include_str!("../../README.md").split_whitespace();
    let readme = readme.collect::<Vec<_>>().join(" ");
    assert!(readme.contains(&words), "README.md has to say: {words}");
}

fn check(is_meant: fn(&Case) -> bool) {
    let mut cases = cases();
    cases.retain(is_meant);
    let faults: Vec<String> = cases.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn fault(case: &Case) -> Option<String> {
    let outcome = case.search()();
    let fault = case.fault(&outcome, env::var_os("BLESS").is_some())?;
    Some(format!("{}: {fault}", case.name))
}
