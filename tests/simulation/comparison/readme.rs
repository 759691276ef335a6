//! The page `examples/COMPARISON.md` shows the output of the program.
//!
//! Its blocks also contain a Raft, in the last column or in a line of its own. `.ci/run peers` compares the page and its
//! pictures completely. This test compares our own elections, in cases that take little time.

use crate::comparison::printed;

const PAGE: &str = include_str!("../../../examples/COMPARISON.md");

/// Returns the block that is printed with these arguments.
fn block(args: &str) -> &'static str {
    let begin = format!("<!-- compare: {args} -->\n");
    let (_, after) = PAGE
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {begin}"));
    let (block, _) = after.split_once("<!-- end of compare -->").unwrap();
    block
}

#[test]
fn the_overview_shows_the_measured_figures() {
    let shown = block("--overview");
    let args = "--overview --case start --case crash --case hand-over --case mute --case shattered";
    let again = printed(&args.split(' ').collect::<Vec<_>>());
    let rows = again.lines().filter(|line| line.starts_with("| "));
    assert_eq!(
        rows.count(),
        4 + 5 + 2,
        "the titles, each case, and each that lasts"
    );
    for line in again.lines() {
        let is_shown = shown.lines().any(|shown| shown.starts_with(line));
        assert!(is_shown, "not in the overview: {line}");
    }
}

#[test]
fn the_table_of_a_crash_shows_the_measured_figures() {
    let args = "--markdown --case crash --case flapping";
    let ours = |line: &&str| !line.starts_with("| raft ");
    let shown: Vec<&str> = block(args).lines().filter(ours).collect();
    let again = printed(&args.split(' ').collect::<Vec<_>>());
    let again: Vec<&str> = again.lines().collect();
    assert_eq!(shown[1..], again[..], "after the empty line");
}
