//! The page `examples/COMPARISON.md` shows the output of the program.
//!
//! Its blocks also contain a Raft: `.ci/run peers` compares them completely. This test compares the lines of our own
//! elections, in the cases that take little time.

use crate::comparison::{cases::Case, contenders::ALL, output::tables, printed};

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
fn the_overview_shows_every_case_and_every_election() {
    let [agreed, meanwhile] = <[_; 2]>::try_from(tables(block("--overview"))).unwrap();
    for table in [&agreed, &meanwhile] {
        let names = ALL.iter().map(|one| one.name).chain(["raft"]);
        assert_eq!(table[0][1..], names.collect::<Vec<_>>());
        let sources = ALL.iter().map(|one| one.source).chain(["raft 0.7"]);
        assert_eq!(table[1][1..], sources.collect::<Vec<_>>());
    }
    let cases = Case::ALL.map(|case| format!("{}: {}", case.name(), case.what()));
    let lines: Vec<_> = agreed[2..].iter().map(|line| line[0]).collect();
    assert_eq!(lines, cases);
    assert_eq!(
        meanwhile.len() - 2,
        Case::ALL.len() - 5,
        "the five cases without a lasting fault"
    );
}

/// Compares the columns of our elections, in the cases that take little time.
#[test]
fn the_overview_shows_the_measured_figures() {
    let shown = tables(block("--overview")).remove(0);
    let again = printed(&["--overview", "--case", "start", "--case", "crash"]);
    for line in &tables(&again)[0] {
        let shown = shown.iter().find(|shown| shown[0] == line[0]).unwrap();
        assert_eq!(shown[..line.len()], line[..]);
    }
}

#[test]
fn the_table_of_a_crash_shows_the_measured_figures() {
    let args = "--markdown --case crash --case flapping";
    let shown = block(args);
    let ours = |line: &&str| !line.starts_with("| raft ");
    let shown: Vec<&str> = shown.lines().filter(ours).collect();
    let again = printed(&args.split(' ').collect::<Vec<_>>());
    let again: Vec<&str> = again.lines().collect();
    assert_eq!(shown[1..], again[..], "after the empty line");
    assert_eq!(tables(block(args)).len(), 2);
}
