//! The searches, and their outcomes. Each search is a row of `states.txt`: its name, its limits, the expected end and
//! the expected numbers of states.
//!
//! Decided here: how a search runs, when its outcome is as expected, and how a row is written anew. [`crate::limits`]
//! decides the meaning of the limits.

use std::{
    fs,
    hash::Hash,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use stateright::{Checker, CheckerBuilder, HasDiscoveries, Model};

use crate::{
    limits,
    rules::Rules,
    timed::{self, Lab, SOUND},
};

/// Largest number of states that a search generates; about one in seven of them is new. A change that makes a model
/// endless must not use up the machine's memory.
pub const MOST: usize = 60_000_000;

/// The group of searches that only the soak runs.
pub const SOAK: &str = "soak";

/// The group of searches that only a tree with planted defects can run.
pub const PLANTED: &str = "planted";

/// A search with its expected outcome.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name of the group that contains the case.
    pub group: &'static str,
    /// A short description of the search.
    pub name: &'static str,
    limits: &'static str,
    /// The expected end.
    pub end: &'static str,
    /// Number of different states, and length of the longest of the shortest paths; `None` until they are written.
    pub size: Option<(usize, usize)>,
}

/// Returns the groups of `states.txt`, each with its question.
pub fn groups() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILE.lines().filter_map(heading)
}

/// Returns all searches, in the order of the file.
///
/// # Panics
/// If a row does not have five cells.
pub fn cases() -> Vec<Case> {
    let mut group = "";
    let case = |line: &'static str| {
        if let Some((name, _)) = heading(line) {
            group = name;
            return None;
        }
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, limits, end, unique, depth] = cells[..] else {
            panic!("states.txt has no row like this: {line}");
        };
        Some(Case {
            group,
            name,
            limits,
            end,
            size: unique.parse().ok().zip(depth.parse().ok()),
        })
    };
    FILE.lines().filter_map(case).collect()
}

const FILE: &str = include_str!("states.txt");

fn heading(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('[')?.split_once("] ")
}

/// A search that has not run yet.
pub type Search = Box<dyn FnOnce() -> Outcome>;

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Number of different states.
    pub unique: usize,
    /// Length of the longest of the shortest paths to a state, in states.
    pub depth: usize,
    /// The end of the search: it `holds` if every state was seen, every invariant holds in each of them, and each
    /// expected sight occurs in some state; or the sight that occurs in none; or the invariant that breaks, first in the
    /// state that was found last; or it is `cut short`, since there are more states than [`MOST`].
    pub end: String,
    /// The shortest path to a broken invariant, a line for each step.
    pub trace: String,
}

impl Case {
    /// Returns the search of the case.
    ///
    /// # Panics
    /// If its limits name no election, or a limit that does not exist.
    pub fn search(&self) -> Search {
        limits::search(self.limits)
    }

    /// Returns the difference from the expected outcome, if there is one: the end, the numbers, or a step of the kept
    /// path. With `bless` it writes the numbers and the path anew instead.
    pub fn fault(&self, outcome: &Outcome, bless: bool) -> Option<String> {
        if outcome.end != self.end {
            return Some(format!("found: {}, expected: {}", outcome.end, self.end));
        }
        let found = (outcome.unique, outcome.depth);
        if self.size != Some(found) {
            if !bless {
                return Some(format!("found {found:?}, expected {:?}", self.size));
            }
            self.write(found);
        }
        let mut limits = self.limits.split(' ');
        let path =
            path("golden").join(limits.find_map(|limit| limit.strip_prefix(limits::GOLDEN))?);
        if bless {
            fs::write(&path, &outcome.trace).expect("golden/ can be written");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let is_other = kept.replace("\r\n", "\n") != outcome.trace;
        is_other.then(|| {
            format!(
                "the path is not the one in {}:\n{}",
                path.display(),
                outcome.trace
            )
        })
    }

    /// Writes the numbers of this row anew.
    fn write(&self, (unique, depth): (usize, usize)) {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let text = fs::read_to_string(path("states.txt")).expect("states.txt can be read");
        let row = format!("{} | {} | {} | ", self.name, self.limits, self.end);
        let lines = text.lines().map(|line| match line.starts_with(&row) {
            true => format!("{row}{unique} | {depth}\n"),
            false => format!("{line}\n"),
        });
        fs::write(path("states.txt"), lines.collect::<String>()).expect("it can be written");
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the search of a model.
pub(crate) fn timed<R: Rules>(lab: Lab<R>) -> Search {
    Box::new(move || {
        let checker = first_failure(lab.clone().checker());
        let found = checker.discovery(SOUND).map(|path| {
            let what = checker.model().rules.broken(path.last_state());
            (what.unwrap_or("nothing"), timed::trace(path))
        });
        let unseen = |sight: &&'static str| checker.discovery(sight).is_none();
        let mut sights = lab.rules.sights().iter().copied();
        let missed = sights.find(|sight| !lab.is_for_shortest && unseen(sight));
        let end = match (&found, missed) {
            (Some((what, _)), _) => format!("broken: {what}"),
            (None, _) if checker.state_count() >= MOST => String::from("cut short"),
            (None, Some(sight)) => format!("holds, but never: {sight}"),
            (None, None) => String::from("holds"),
        };
        Outcome {
            unique: checker.unique_state_count(),
            depth: checker.max_depth(),
            end,
            trace: found.map_or_else(String::new, |(_, trace)| trace),
        }
    })
}

/// Searches with one thread: then the first path found is a shortest one, and all numbers repeat.
fn first_failure<M>(checker: CheckerBuilder<M>) -> impl Checker<M>
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Hash + PartialEq + Send + Sync + 'static,
    M::Action: Clone + PartialEq,
{
    let checker = checker.threads(1).finish_when(HasDiscoveries::AnyFailures);
    checker.target_state_count(MOST).spawn_bfs().join()
}
