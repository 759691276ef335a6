//! Every search but the soak ends as expected, with the expected number of states. Where a path to a broken invariant
//! is kept as a text, each of its steps is as expected. `BLESS=1` rewrites these texts, and the numbers in
//! `states.txt`.

use std::env;

use actix_bully_heavy::{
    case::{Case, Outcome},
    states,
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
fn notices_of_sentinels_save_the_wait_and_notices_that_report_too_much_are_found() {
    check(Group::Sentinel);
}

#[test]
fn late_and_repeated_messages_elect_no_second_leader() {
    check(Group::Set);
}

#[test]
fn voters_without_a_disk_keep_the_invariants() {
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
fn every_search_has_a_row_in_the_file_of_states() {
    let row = |case: Case| (case.group.to_owned(), case.name, case.end.to_string());
    let searches = Group::ALL.iter().flat_map(|group| group.cases()).map(row);
    let searches: Vec<_> = searches.collect();
    let is_searched = |group: &str| Group::ALL.iter().any(|one| one.name() == group);
    let rows = states::rows().into_iter();
    let rows = rows.filter(|row| is_searched(&row.group));
    let rows: Vec<_> = rows.map(|row| (row.group, row.name, row.end)).collect();
    let lacks = searches.iter().find(|search| !rows.contains(search));
    assert_eq!(lacks, None, "the search has no row: run it with BLESS=1");
    let extra = rows.iter().find(|row| !searches.contains(row));
    assert_eq!(extra, None, "states.txt has a row without a search");
    assert_eq!(rows.len(), searches.len(), "states.txt has a row twice");
}

#[test]
fn the_readme_says_how_many_million_states() {
    let millions = |is_soak: bool| {
        let rows = states::rows()
            .into_iter()
            .filter(|row| row.group != "planted" && (row.group == Group::Soak.name()) == is_soak);
        rows.map(|row| row.size.0).sum::<usize>() / 1_000_000
    };
    let (usual, soak) = (millions(false), millions(true));
    let words = format!("{usual} million states by `tests/heavy`, {soak} million more by");
    let readme = include_str!("../../README.md").split_whitespace();
    let readme = readme.collect::<Vec<_>>().join(" ");
    assert!(readme.contains(&words), "README.md has to say: {words}");
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
