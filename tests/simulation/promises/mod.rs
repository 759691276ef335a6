//! The promises of the page of the elections and of the README are checked here.
//!
//! Each cell of the page's table has a property that the simulator checks: an impossible event does not happen, and a
//! possible event does. `reviewed.txt` has the texts, so no promise changes without a look at its property.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a promise that does not hold fails the test"
)]

mod kit;
mod leaders;
mod lease;
mod partition;

use crate::golden;
use kit::Mode;

const COLUMNS: [&str; 5] = [
    "available (default)",
    "ASTRA rules",
    "quorum, diskless",
    "quorum",
    "a lease in a store",
];

/// A row of the page, and the property of each column.
type Promise = (&'static str, [fn(); COLUMNS.len()]);

/// The rows of the page that promise a number of leaders.
const PROMISES: [Promise; 6] = [
    (
        "leaders at once, messages within the delay bound",
        [
            leaders::available_within_the_delay_bound,
            leaders::astra_within_the_delay_bound,
            leaders::diskless_within_the_delay_bound,
            leaders::quorum_within_the_delay_bound,
            lease::within_the_delay_bound,
        ],
    ),
    (
        "leaders at once, any network, any pause",
        [
            leaders::available_on_any_network,
            leaders::astra_on_any_network,
            leaders::diskless_on_any_network,
            leaders::quorum_on_any_network,
            lease::on_any_network,
        ],
    ),
    (
        "under a partition",
        [
            partition::each_side_has_a_leader,
            partition::each_side_that_asks_has_a_leader,
            || partition::only_the_majority_has_a_leader(Mode::Diskless),
            || partition::only_the_majority_has_a_leader(Mode::Quorum),
            lease::only_the_side_of_the_store_has_a_leader,
        ],
    ),
    (
        "after it has healed",
        [
            partition::available_heals_within_the_formula,
            partition::astra_heals_at_the_next_election,
            || partition::heals_within_the_formula(Mode::Diskless),
            || partition::heals_within_the_formula(Mode::Quorum),
            lease::heals_within_the_formula,
        ],
    ),
    (
        "two leaders in one term",
        [
            leaders::available_shares_a_term,
            leaders::astra_shares_a_term,
            leaders::diskless_shares_no_term_while_a_majority_remembers,
            leaders::quorum_shares_no_term,
            lease::shares_no_term_while_the_store_remembers,
        ],
    ),
    (
        "a leader that hangs",
        [
            leaders::available_ends_with_its_steps,
            leaders::astra_does_not_notice_that_it_hangs,
            || leaders::ends_with_its_lease(|seed| Mode::Diskless.led(seed, 5)),
            || leaders::ends_with_its_lease(|seed| Mode::Quorum.led(seed, 5)),
            || leaders::ends_with_its_lease(|seed| lease::led(seed, 5)),
        ],
    ),
];

/// The rows that do not promise a number of leaders.
const WORDS: [&str; 3] = ["who leads", "token", "needs"];

/// Returns the rows of a table of promises as they are written.
fn table(page: &'static str, begin: &str) -> &'static str {
    let (_, after) = page.split_once(begin).unwrap();
    after.split_once("<!-- end of promises -->").unwrap().0
}

/// Returns the first cell of each row below the title.
fn rows(table: &str) -> Vec<&str> {
    let lines = table.lines().filter(|line| !line.starts_with("| |"));
    let cells = lines.filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    cells.map(|(name, _)| name).collect()
}

/// A changed text of a promise needs a look at its property.
#[test]
fn the_texts_of_the_promises_are_as_reviewed() {
    let page = include_str!("../../../src/elections/promises.md");
    let begin = "<!-- promises: checked by tests/simulation/promises -->";
    let page = table(page, begin);
    let readme = include_str!("../../../README.md");
    let begin = "<!-- promises in short words: checked by tests/simulation/promises -->";
    let readme = table(readme, begin);
    let columns = COLUMNS.join(" | ");
    assert!(page.contains(&format!("| {columns} |")), "{columns}");
    let names = PROMISES.iter().map(|(name, _)| *name);
    let mut names: Vec<&str> = names.chain(WORDS).collect();
    let mut found = rows(page);
    names.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, names, "each row of the page once");
    let reviewed = "tests/simulation/promises/reviewed.txt";
    golden::golden(reviewed, &format!("{page}\n{readme}"));
}

/// Checks the properties of one row.
fn kept(row: &str) {
    let (_, properties) = PROMISES.iter().find(|(name, _)| *name == row).unwrap();
    for (column, property) in COLUMNS.iter().zip(properties) {
        println!("{column}");
        property();
    }
}

#[test]
fn within_the_delay_bound() {
    kept("leaders at once, messages within the delay bound");
}

#[test]
fn on_any_network() {
    kept("leaders at once, any network, any pause");
}

#[test]
fn under_a_partition() {
    kept("under a partition");
}

#[test]
fn after_it_has_healed() {
    kept("after it has healed");
}

#[test]
fn a_leader_that_hangs() {
    kept("a leader that hangs");
}

#[test]
fn two_leaders_in_one_term() {
    kept("two leaders in one term");
}
