//! Every search but the soak ends as expected: to the last state, and step by step where a way to
//! break something is kept as a text. `BLESS=1` rewrites those texts.

use std::{env, fs};

use actix_bully_heavy::{
    case::{Case, End, Outcome, grouped},
    suite::Group,
};

#[test]
fn without_synchrony_two_bullies_lead_and_votes_are_safe() {
    check(Group::WithoutTime);
}

#[test]
fn one_bully_leads_if_and_only_if_the_deadline_exceeds_two_delays() {
    check(Group::Threshold);
}

#[test]
fn the_quorum_election_keeps_its_invariants() {
    check(Group::Quorum);
}

#[test]
fn ends_that_sentinels_tell_save_the_wait_and_notices_that_tell_too_much_are_found() {
    check(Group::Sentinel);
}

#[test]
fn messages_that_arrive_late_and_twice_elect_nobody() {
    check(Group::Set);
}

#[test]
fn voters_without_a_disk_keep_theirs() {
    check(Group::Diskless);
}

#[test]
fn voters_that_change_keep_one_leader() {
    check(Group::Voters);
}

#[test]
fn a_lease_in_a_store_has_one_holder() {
    check(Group::Lease);
}

#[test]
fn the_other_elections_keep_their_promises() {
    check(Group::Others);
}

#[test]
fn the_invitation_agrees_within_each_group() {
    check(Group::Invitation);
}

#[test]
fn the_readme_says_what_is_found() {
    for case in Group::Threshold.cases() {
        let (unique, _) = case.size;
        let end = match case.end {
            End::Breaks(_, steps) => format!("two lead after {steps} steps"),
            _ => "at most one leads".into(),
        };
        is_in_readme(&case.name, &format!("| {end} | {unique} |"));
    }
    for group in [
        Group::Sentinel,
        Group::Set,
        Group::Memory,
        Group::Diskless,
        Group::Voters,
        Group::Lease,
        Group::Others,
        Group::Invitation,
        Group::Soak,
    ] {
        for case in group.cases() {
            let (unique, _) = case.size;
            is_in_readme(&case.name, &format!("| {} | {unique} |", case.end));
        }
    }
}

#[test]
fn both_readmes_say_the_sums() {
    let sum = |cases: &[Case]| grouped(cases.iter().map(|case| case.size.0).sum());
    let usual = Group::ALL.iter().filter(|group| **group != Group::Soak);
    let usual: Vec<Case> = usual.flat_map(|group| group.cases()).collect();
    let soak = Group::Soak.cases();
    let (usual_sum, soak_sum) = (sum(&usual), sum(&soak));
    let says = |path: &str, words: &str| {
        let text = fs::read_to_string(path).expect("it is there");
        let text: Vec<&str> = text.split_whitespace().collect();
        assert!(text.join(" ").contains(words), "{path} has to say: {words}");
    };
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    for (cases, sum) in [(&usual, &usual_sum), (&soak, &soak_sum)] {
        says(
            tests,
            &format!("{} searches, {sum} unique states", cases.len()),
        );
    }
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    says(
        readme,
        &format!("{usual_sum} states by `tests/heavy`, {soak_sum} more by `.ci/soak model`"),
    );
}

#[track_caller]
fn is_in_readme(name: &str, cells: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = fs::read_to_string(path).expect("tests/README.md");
    let row = readme
        .lines()
        .find(|line| line.starts_with(&format!("| {name} |")));
    let row = row.unwrap_or_else(|| panic!("no row for: {name}"));
    assert!(row.ends_with(cells), "{row}\ndoes not end with {cells}");
}

#[track_caller]
fn check(group: Group) {
    let faults: Vec<String> = group.cases().iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn fault(case: &Case) -> Option<String> {
    let outcome = case.run();
    let fault = case.fault(&outcome, env::var_os("BLESS").is_some())?;
    Some(format!("{}: {}\n{fault}", case.name, numbers(&outcome)))
}

fn numbers(outcome: &Outcome) -> String {
    format!(
        "{} unique, depth {}, {}",
        outcome.unique, outcome.depth, outcome.end
    )
}
