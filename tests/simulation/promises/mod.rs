//! The promises of the page of the elections and of the README are checked here.
//!
//! Each cell of the page's table stands beside a property that the simulator checks: an impossible event does not
//! happen, and a possible event does. The texts must be equal, cell by cell, so no promise changes without its test.
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

use kit::Mode;

const COLUMNS: [&str; 5] = [
    "available (default)",
    "ASTRA rules",
    "quorum, diskless",
    "quorum",
    "a lease in a store",
];

/// The text of one cell of the page, and the property that checks it.
struct Promise {
    text: &'static str,
    property: fn(),
}

const fn promise(text: &'static str, property: fn()) -> Promise {
    Promise { text, property }
}

/// The rows with a property for each column.
const PROMISES: [(&str, [Promise; 5]); 6] = [
    (
        "leaders at once, messages within the delay bound",
        [
            promise(
                "one; two for at most two delays after a start, a crash, a recovery, a hand-over or a change of score, and until all know of a newcomer",
                leaders::available_within_the_delay_bound,
            ),
            promise(
                "one while deadline > 2 × delay, no agent pauses, and messages of agents whose scores change arrive in order; two until all know of a newcomer",
                leaders::astra_within_the_delay_bound,
            ),
            promise("one", leaders::diskless_within_the_delay_bound),
            promise("one", leaders::quorum_within_the_delay_bound),
            promise("one", lease::within_the_delay_bound),
        ],
    ),
    (
        "leaders at once, any network, any pause",
        [
            promise(
                "one per connected side, and two while they have not met",
                leaders::available_on_any_network,
            ),
            promise(
                "one per connected side, and two while they have not met",
                leaders::astra_on_any_network,
            ),
            promise(
                "one, while clock rates err by less than 11 %, hosts prove who they are and a name has one process",
                leaders::diskless_on_any_network,
            ),
            promise(
                "one, while clock rates err by less than 11 % and hosts prove who they are (TLS or a secret)",
                leaders::quorum_on_any_network,
            ),
            promise(
                "one, while clock rates err by less than 11 % and the store's compare-and-swap is linearizable",
                lease::on_any_network,
            ),
        ],
    ),
    (
        "under a partition",
        [
            promise("each side has a leader", partition::each_side_has_a_leader),
            promise(
                "each side that asks has a leader",
                partition::each_side_that_asks_has_a_leader,
            ),
            promise(
                "the side with a majority has a leader, the others none",
                || partition::only_the_majority_has_a_leader(Mode::Diskless),
            ),
            promise(
                "the side with a majority has a leader, the others none",
                || partition::only_the_majority_has_a_leader(Mode::Quorum),
            ),
            promise(
                "the agents that reach the store have a leader, the others none",
                lease::only_the_side_of_the_store_has_a_leader,
            ),
        ],
    ),
    (
        "after it has healed",
        [
            promise(
                "one leader within the printed formula",
                partition::available_heals_within_the_formula,
            ),
            promise(
                "one leader once the highest holds an election",
                partition::astra_heals_at_the_next_election,
            ),
            promise(
                "one leader within the printed formula, if none restarted meanwhile",
                || partition::heals_within_the_formula(Mode::Diskless),
            ),
            promise("one leader within the printed formula", || {
                partition::heals_within_the_formula(Mode::Quorum);
            }),
            promise(
                "one leader within the printed formula",
                lease::heals_within_the_formula,
            ),
        ],
    ),
    (
        "two leaders in one term",
        [
            promise("possible", leaders::available_shares_a_term),
            promise("possible", leaders::astra_shares_a_term),
            promise(
                "never while a majority of the voters keeps its memory, or no clock was ahead of one used later",
                leaders::diskless_shares_no_term_while_a_majority_remembers,
            ),
            promise("never", leaders::quorum_shares_no_term),
            promise(
                "never while the store keeps its record, or no clock was ahead of one used later",
                lease::shares_no_term_while_the_store_remembers,
            ),
        ],
    ),
    (
        "a leader that hangs",
        [
            promise(
                "says no after its detection time without a step (0.9 s)",
                leaders::available_ends_with_its_steps,
            ),
            promise(
                "says yes until it runs again: it hears nothing while all is well, so silence tells nothing",
                leaders::astra_does_not_notice_that_it_hangs,
            ),
            promise("says no when its lease ends (0.72 s)", || {
                leaders::ends_with_its_lease(Mode::Diskless);
            }),
            promise("says no when its lease ends (0.72 s)", || {
                leaders::ends_with_its_lease(Mode::Quorum);
            }),
            promise(
                "says no when its lease ends (0.72 s)",
                lease::ends_with_its_lease,
            ),
        ],
    ),
];

/// The rows that do not promise a number of leaders: only their texts are compared.
const WORDS: [(&str, [&str; 5]); 3] = [
    (
        "who leads",
        [
            "the highest in rank that can be reached",
            "the highest in rank that can be reached",
            "the highest in rank that a majority can reach; a healthy leader is left in place for 10 s",
            "the highest in rank that a majority can reach; a healthy leader is left in place for 10 s",
            "the highest in rank of those that wait for the lease; a healthy leader is left in place for 10 s",
        ],
    ),
    (
        "token",
        [
            "an epoch: tells an old announcement from a new one",
            "none: terms order nothing",
            "a fence (`ConditionalFence`) while a majority of the voters keeps its memory, or no clock was ahead of one used later",
            "a fence: safe to compare at a database",
            "a fence while the store keeps its record, or no clock was ahead of one used later",
        ],
    ),
    (
        "needs",
        [
            "deadline > 2 × delay bound",
            "deadline > 2 × delay bound, and an agent that is told to campaign",
            "a majority of voters, a wait at each start (1.2 s), wall clocks within 10 s of each other, a clock that counts a suspended host",
            "a majority of voters, a store for the vote, a clock that counts a suspended host",
            "a store with compare-and-swap that every agent reaches, a clock that counts a suspended host",
        ],
    ),
];

/// The short rows of the README, and the row of the page for which each stands.
const SHORT: [(&str, [&str; 3], &str); 6] = [
    (
        "leads",
        [
            "the highest in rank that can be reached",
            "the same as with stores",
            "the highest in rank that a majority can reach",
        ],
        "who leads",
    ),
    (
        "at once",
        [
            "one; two for a moment when something changes",
            "one, while also a name has one process",
            "one, while clock rates err by less than 11 %",
        ],
        "leaders at once, messages within the delay bound",
    ),
    (
        "under a partition",
        [
            "one on each side",
            "one where the majority is",
            "one where the majority is",
        ],
        "under a partition",
    ),
    (
        "a leader that hangs",
        [
            "says no after 0.9 s",
            "says no after 0.72 s",
            "says no after 0.72 s",
        ],
        "a leader that hangs",
    ),
    (
        "its token",
        [
            "an epoch: tells old from new",
            "a fence while clocks are not set back",
            "a fence: a database may compare it",
        ],
        "token",
    ),
    (
        "needs",
        [
            "nothing",
            "a majority of voters, 1.2 s at each start, TLS or a secret",
            "a majority of voters, a store, TLS or a secret",
        ],
        "needs",
    ),
];

/// Returns the rows of a table of promises, cell by cell, with the title first.
fn table(page: &'static str, begin: &str) -> Vec<Vec<&'static str>> {
    let (_, after) = page.split_once(begin).unwrap();
    let (table, _) = after.split_once("<!-- end of promises -->").unwrap();
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    let cells = |line: &'static str| {
        let inside = line.strip_prefix('|')?.strip_suffix('|')?;
        Some(inside.split('|').map(str::trim).collect())
    };
    lines
        .map(|line| cells(line).unwrap_or_else(|| panic!("no row: {line}")))
        .collect()
}

#[test]
fn the_readme_has_the_promises_in_short_words() {
    let page = include_str!("../../../README.md");
    let begin = "<!-- promises in short words: checked by tests/simulation/promises -->";
    let mut table = table(page, begin);
    assert_eq!(
        table.remove(0),
        [
            "",
            "available (default)",
            "quorum, no disk (`diskless`)",
            "quorum (`voters`)"
        ]
    );
    table.remove(0);
    let expected = SHORT
        .map(|(name, [available, diskless, quorum], _)| vec![name, available, diskless, quorum]);
    assert_eq!(table, expected);
    for (_, _, row) in SHORT {
        let promised = PROMISES.iter().any(|(name, _)| *name == row);
        assert!(
            promised || WORDS.iter().any(|(name, _)| *name == row),
            "{row}"
        );
    }
}

#[test]
fn the_page_has_the_checked_promises() {
    let page = include_str!("../../../src/elections/promises.md");
    let begin = "<!-- promises: checked by tests/simulation/promises -->";
    let mut table = table(page, begin);
    let rule = table.remove(1);
    assert_eq!(rule, ["---"; 6]);
    let title = table.remove(0);
    assert_eq!(title[1..], COLUMNS);
    for row in &table {
        let held = PROMISES.iter().find(|(name, _)| *name == row[0]);
        let held = held.map(|(_, cells)| cells.each_ref().map(|cell| cell.text));
        let words = WORDS.iter().find(|(name, _)| *name == row[0]);
        let expected = held.or_else(|| words.map(|(_, texts)| *texts));
        let expected = expected.unwrap_or_else(|| panic!("nothing checks the row `{}`", row[0]));
        assert_eq!(row[1..], expected, "the row `{}`", row[0]);
    }
    let names = PROMISES.iter().map(|(name, _)| *name);
    let mut names: Vec<&str> = names.chain(WORDS.iter().map(|(name, _)| *name)).collect();
    let mut rows: Vec<&str> = table.iter().map(|row| row[0]).collect();
    names.sort_unstable();
    rows.sort_unstable();
    assert_eq!(rows, names, "the test has each row of the page once");
}

/// Checks the properties of one row.
fn kept(row: &str) {
    let promises = PROMISES.iter().find(|(name, _)| *name == row).unwrap();
    for (column, promise) in COLUMNS.iter().zip(&promises.1) {
        println!("{column}: {}", promise.text);
        (promise.property)();
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
