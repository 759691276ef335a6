//! Plays the scenarios of `leaders.txt`. A heading has the description of a scenario, the scores of its agents, and its
//! script. If a script begins with `+`, an agent leads before the script. `BLESS=1` writes the outcome in each
//! election, and the longest duration of the last step.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    time::Duration,
};

use super::{LED, Story, Subject, Variant, Visit, in_each, play};
use crate::support::golden::golden;

const REVIEWED: &str = include_str!("leaders.txt");
const FIVE: &str = "1 2 3 4 5";

struct Row {
    what: &'static str,
    scores: &'static str,
    script: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    let headings = REVIEWED.lines().filter(|line| !line.starts_with(' '));
    headings.map(|heading| {
        let [what, scores, script] = heading.splitn(3, " | ").collect::<Vec<_>>()[..] else {
            panic!("{heading}");
        };
        Row {
            what,
            scores,
            script,
        }
    })
}

impl Row {
    /// Returns true if the script loses or delays no message, and hangs no agent.
    fn is_in_time(&self) -> bool {
        let late = [
            "loss",
            "slow",
            "600ms",
            "27ms",
            "cut",
            "isolate",
            "partition",
            "hang",
            "leave",
        ];
        !late.iter().any(|word| self.script.contains(word))
    }
}

/// Rounds a duration up to a coarse bound, so that the text changes only if a duration changes much.
fn about(took: Duration) -> String {
    let bounds = [
        0, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000,
    ];
    let bound = bounds
        .into_iter()
        .find(|ms| took <= Duration::from_millis(*ms));
    bound.map_or_else(|| format!("{took:?}"), |ms| format!("{ms} ms"))
}

struct Rows;

impl Visit for Rows {
    type Outcome = Vec<Option<(String, String)>>;

    fn visit<E: Subject>(&self, variant: Variant) -> Self::Outcome {
        let asked = |row: &Row| E::COUNTS || !row.what.ends_with("(majorities)");
        rows()
            .map(|row| asked(&row).then(|| outcome::<E>(&row, variant)))
            .collect()
    }
}

fn outcome<E: Subject>(row: &Row, variant: Variant) -> (String, String) {
    let (mut outcomes, mut took) = (BTreeSet::new(), Duration::ZERO);
    for seed in 0..if variant.is_default() { 3 } else { 1 } {
        let mut world = variant.world::<E>(seed, row.scores, row.is_in_time());
        let story: Story = play(&mut world, &row.script.replacen('+', LED, 1));
        took = took.max(story.took);
        if row.what.starts_with("s12") && !E::IS_TOLD {
            let [before, after] = [0, 1].map(|step| story.terms[step].last());
            assert!(
                after.is_none() || before < after,
                "{}: {after:?} after {before:?}",
                variant.name
            );
        }
        let steps = story
            .steps
            .iter()
            .skip(usize::from(row.script.contains('+')));
        outcomes.insert(steps.cloned().collect::<Vec<_>>().join(" / "));
    }
    let outcomes: Vec<_> = outcomes.into_iter().collect();
    (outcomes.join(" or "), about(took))
}

/// Checks the time from the crash of a leader until all other agents follow the next leader.
struct FailOver;

impl Visit for FailOver {
    type Outcome = ();

    fn visit<E: Subject>(&self, variant: Variant) {
        if !variant.is_default() {
            return;
        }
        for scores in ["1 2 3", FIVE, "1 2 3 4 5 6 7 8 9"] {
            let names: Vec<_> = ('a'..)
                .zip(scores.split(' '))
                .map(|(name, _)| name)
                .collect();
            let [.., next, top] = names.as_slice() else {
                unreachable!()
            };
            for seed in 0..8 {
                // A multiple of three selects `Detection::Silent`, unless the election has no heartbeats.
                let mut world = variant.world::<E>(seed * 3, scores, true);
                play(
                    &mut world,
                    &format!("campaign {top}; settle; wait {}ms", seed * 7),
                );
                let story = play(&mut world, &format!("crash {top}; settle"));
                let bound = variant.failover::<E>(names.len());
                assert!(
                    story.took <= bound,
                    "{}, {scores}: {:?}",
                    variant.name,
                    story.took
                );
                assert!(
                    story.steps[0].ends_with(*next),
                    "{}, {scores}: {story:?}",
                    variant.name
                );
            }
        }
    }
}

#[test]
fn s07_a_fail_over_takes_no_longer_than_the_formula_says() {
    in_each(&FailOver);
}

#[test]
fn each_election_ends_as_it_was_reviewed() {
    let all = in_each(&Rows);
    let mut text = String::new();
    for (at, row) in rows().enumerate() {
        writeln!(text, "{} | {} | {}", row.what, row.scores, row.script).unwrap();
        let mut named = BTreeMap::<_, Vec<_>>::new();
        for (name, outcomes) in &all {
            if let Some((outcome, took)) = &outcomes[at] {
                named
                    .entry(outcome)
                    .or_default()
                    .push(format!("{name} ({took})"));
            }
        }
        for (outcome, names) in named {
            writeln!(text, "    {outcome}: {}", names.join("; ")).unwrap();
        }
    }
    golden("tests/elections/scenarios/leaders.txt", &text);
}
