//! One search of one model, what is expected of it, and what it showed.
//!
//! Decided here: how a search runs and when it is as expected; which there are is in
//! [`crate::suite`], their numbers in `states.txt` ([`crate::states`]).

use std::{fmt, fs, hash::Hash, path::Path};

use stateright::{Checker, CheckerBuilder, HasDiscoveries, Model};

use crate::{
    rules::Rules,
    states,
    timed::{self, Aim, Lab, SOUND},
};

/// No search generates more states than this, of which about one in seven is new: a change that makes
/// a model endless must not take the machine's memory with it.
pub const MOST: usize = 60_000_000;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How many different states.
    pub unique: usize,
    /// The longest of the shortest ways to a state, in states.
    pub depth: usize,
    /// How the search ended.
    pub end: End,
    /// The shortest way to break an invariant, a line for each step.
    pub trace: String,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All states were seen, every invariant holds in each, and what has to happen somewhere does.
    Holds,
    /// All states were seen, and this never happened: the model shows less than it says.
    Vacuous(&'static str),
    /// This invariant breaks, first in the state that was found last.
    Breaks(&'static str),
    /// There are too many states.
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

/// A search that has to end as expected.
pub struct Case {
    /// What is searched, in a few words.
    pub name: String,
    /// The group that asks it.
    pub group: &'static str,
    /// How many different states, and the longest of the shortest ways to one of them, if `states.txt` says it.
    pub size: Option<(usize, usize)>,
    /// How it ends.
    pub end: End,
    /// The file in `golden/` that holds the shortest way.
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
    /// A case that is expected to hold.
    pub fn holds(name: &str, search: Search) -> Self {
        Self::new(name, End::Holds, search)
    }

    /// A case that holds, and in which this never happens, as it is to show.
    pub fn never(name: &str, what: &'static str, search: Search) -> Self {
        Self::new(name, End::Vacuous(what), search)
    }

    /// A case in which this invariant breaks.
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

    /// The same, and the way is kept as a text.
    #[must_use]
    pub fn kept_as(self, golden: &'static str) -> Self {
        Self {
            golden: Some(golden),
            ..self
        }
    }

    /// Searches.
    pub fn run(&self) -> Outcome {
        (self.run)()
    }

    /// What is not as expected, if anything: the end, the numbers, or a step of the kept way.
    /// With `bless` numbers and way are written anew.
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
        is_other.then(|| format!("not the way kept in {}:\n{}", path.display(), outcome.trace))
    }
}

/// How to search; nothing has been searched yet.
pub struct Search(Box<dyn Fn() -> Outcome + Send + Sync>);

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Search")
    }
}

/// A model with time.
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

/// One thread: then the first way found is a shortest one, and all numbers repeat.
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

/// A number with its thousands apart.
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
