//! One search of one model, its expected outcome, and its outcome.
//!
//! Decided here: how a search runs, and when its outcome is as expected. The searches are in [`crate::suite`], their
//! numbers of states in `states.txt` ([`crate::states`]).

use std::{fmt, fs, hash::Hash, path::Path};

use stateright::{Checker, CheckerBuilder, HasDiscoveries, Model};

use crate::{
    rules::Rules,
    states,
    timed::{self, Aim, Lab, SOUND},
};

/// Largest number of states that a search generates; about one in seven of them is new. A change that makes a model
/// endless must not use up the machine's memory.
pub const MOST: usize = 60_000_000;

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Number of different states.
    pub unique: usize,
    /// Length of the longest of the shortest paths to a state, in states.
    pub depth: usize,
    /// The end of the search.
    pub end: End,
    /// The shortest path to a broken invariant, a line for each step.
    pub trace: String,
}

/// The end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every state was seen; every invariant holds in each of them, and each expected sight occurs in some state.
    Holds,
    /// Every state was seen, and this sight occurs in none: the model shows less than its name promises.
    Vacuous(&'static str),
    /// This invariant breaks, first in the state that was found last.
    Breaks(&'static str),
    /// The search was stopped: there are more states than [`MOST`].
    Cut,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.pad("holds"),
            Self::Vacuous(what) => f.pad(&format!("holds, but never: {what}")),
            Self::Breaks(what) => f.pad(&format!("broken: {what}")),
            Self::Cut => f.pad("cut short"),
        }
    }
}

/// A search with its expected outcome.
pub struct Case {
    /// A short description of the search.
    pub name: String,
    /// The name of the group that contains the case.
    pub group: &'static str,
    /// Number of different states, and length of the longest of the shortest paths; `None` if `states.txt` has no row.
    pub size: Option<(usize, usize)>,
    /// The expected end.
    pub end: End,
    /// The file in `golden/` that holds the shortest path to the broken invariant.
    pub golden: Option<&'static str>,
    run: Box<dyn Fn() -> Outcome + Send + Sync>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Case {
    /// Returns a case that is expected to hold.
    pub fn holds(name: &str, search: Search) -> Self {
        Self::new(name, End::Holds, search)
    }

    /// Returns a case that holds, and in which the sight `what` is expected in no state.
    pub fn never(name: &str, what: &'static str, search: Search) -> Self {
        Self::new(name, End::Vacuous(what), search)
    }

    /// Returns a case in which the invariant `what` is expected to break.
    pub fn breaks(name: &str, what: &'static str, search: Search) -> Self {
        Self::new(name, End::Breaks(what), search)
    }

    fn new(name: &str, end: End, search: Search) -> Self {
        Self {
            name: name.into(),
            group: "",
            size: None,
            end,
            golden: None,
            run: search.0,
        }
    }

    /// Keeps the path to the broken invariant in the file `golden`.
    #[must_use]
    pub fn kept_as(self, golden: &'static str) -> Self {
        Self {
            golden: Some(golden),
            ..self
        }
    }

    pub fn run(&self) -> Outcome {
        (self.run)()
    }

    /// Returns the difference from the expected outcome, if there is one: the end, the numbers, or a step of the kept
    /// path. With `bless` it writes the numbers and the path anew instead.
    pub fn fault(&self, outcome: &Outcome, bless: bool) -> Option<String> {
        if outcome.end != self.end {
            return Some(format!("expected: {}", self.end));
        }
        let found = (outcome.unique, outcome.depth);
        if self.size != Some(found) {
            if !bless {
                return Some(match self.size {
                    Some((unique, depth)) => format!("expected {unique} unique, depth {depth}"),
                    None => format!("no row in [{}] of states.txt", self.group),
                });
            }
            states::write(self, found);
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("golden")
            .join(self.golden?);
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
}

/// A search that has not run yet.
pub struct Search(Box<dyn Fn() -> Outcome + Send + Sync>);

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Search")
    }
}

/// Returns the search of a model with time.
pub fn timed<R: Rules>(lab: Lab<R>) -> Search {
    Search(Box::new(move || {
        let checker = first_failure(lab.clone().checker());
        let found = checker.discovery(SOUND).map(|path| {
            let what = checker.model().rules.broken(path.last_state());
            (what, timed::trace(path))
        });
        let unseen = |sight: &&'static str| checker.discovery(sight).is_none();
        let missed = match checker.model().aim {
            Aim::Everything => lab.rules.sights().iter().copied().find(unseen),
            Aim::Shortest => None,
        };
        outcome(&checker, found, missed)
    }))
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

fn outcome<M: Model>(
    checker: &impl Checker<M>,
    found: Option<(Option<&'static str>, String)>,
    missed: Option<&'static str>,
) -> Outcome
where
    M::State: Hash,
{
    let (end, trace) = match found {
        Some((what, trace)) => (End::Breaks(what.unwrap_or("nothing")), trace),
        None if checker.state_count() >= MOST => (End::Cut, String::new()),
        None => (missed.map_or(End::Holds, End::Vacuous), String::new()),
    };
    Outcome {
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        end,
        trace,
    }
}

/// Formats a number with a space between its thousands.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
