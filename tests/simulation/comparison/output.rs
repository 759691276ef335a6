//! The output of the program: text, JSON, a picture and a page, of measures that are made up.
//!
//! The goldens are `printed.*` beside this file; Markdown is compared with the page of the comparison (`readme.rs`).

use std::{fs, time::Duration};

use clap::Parser;

use crate::{
    comparison::{
        args,
        cases::Case,
        contenders::ALL,
        printed,
        report::Row,
        run::{self, Args},
        watch::Measure,
    },
    golden::golden,
};

/// Returns a row for two elections in a case that is over at once, and in a case that lasts. With one of the three
/// seeds the first election did not agree.
fn rows() -> Vec<Row> {
    let measure = |seed: u32, agreed: bool| Measure {
        agreed: agreed.then(|| Duration::from_millis(700) * seed),
        highest: seed > 1,
        messages: f64::from(seed) * 3.4,
        bytes: f64::from(seed) * 120.0,
        rounds: seed + 1,
        leaders: usize::from(seed > 1) + 1,
        contested: Duration::from_millis(400) * (seed - 1),
        vacant: Duration::from_millis(2_500) * seed,
        elections: usize::from(seed > 2),
    };
    let mut rows = Vec::new();
    for case in [Case::Crash, Case::Shattered] {
        for (entrant, has_missed) in ALL.iter().zip([true, false]) {
            let measures = [1, 2, 3].map(|seed| measure(seed, seed < 3 || !has_missed));
            rows.push(Row::of(case, entrant, &measures));
        }
    }
    rows
}

#[test]
fn the_output_of_some_measures_is_as_reviewed() {
    let folder = tempfile::tempdir().unwrap();
    let beside = |kind: &str| format!("tests/simulation/comparison/printed.{kind}");
    for (option, kind) in [("--svg", "svg"), ("--page", "html")] {
        let file = folder.path().join(kind);
        let text = run::told(&args(&[option, file.to_str().unwrap()]), &rows()).unwrap();
        golden(&beside("txt"), &text);
        golden(&beside(kind), &fs::read_to_string(file).unwrap());
    }
    golden(
        &beside("json"),
        &run::told(&args(&["--json"]), &rows()).unwrap(),
    );
    let name = folder.path().to_str().unwrap();
    let wrong = run::told(&args(&["--svg", name]), &[]).unwrap_err();
    assert!(wrong.to_string().starts_with(name), "a folder: {wrong}");
}

#[test]
fn cases_and_elections_are_chosen_by_name() {
    let text = printed(&["--seeds", "1", "--case", "split", "--protocol", "ring"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(text.starts_with("split: ") && lines.len() == 2, "{text}");
    assert!(lines[1].starts_with("  ring "), "{text}");
    let args = Args::try_parse_from(["compare", "--protocol", "paxos"]).unwrap();
    let wrong = run::compare(&args, ALL).unwrap_err().to_string();
    assert!(ALL.iter().all(|one| wrong.contains(one.name)), "{wrong}");
    let wrong = Args::try_parse_from(["compare", "--case", "flood"]).unwrap_err();
    assert!(wrong.to_string().contains("shattered"), "{wrong}");
    assert!(Args::try_parse_from(["compare", "--json", "--overview"]).is_err());
}
