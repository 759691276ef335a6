//! How a world is: where marks are, where due times come from, and which rule is not kept.

use super::super::super::planner::Misfire;

/// How a world is.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Setup {
    pub(in super::super) misfire: Misfire,
    pub(in super::super) marks: Marks,
    pub(in super::super) source: Source,
    pub(in super::super) flaw: Option<Flaw>,
}

/// Where the marks of the schedule are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Marks {
    AtVoters,
    InStore,
}

/// Where due times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Source {
    Rule,
    /// Each agent is told the same times, sooner or later than others.
    Stream,
}

/// A rule that is not kept, to see that these histories find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Flaw {
    /// An agent acknowledges what a restart forgets.
    ForgetsRecord,
    /// A tick begins when the leader alone knows of it.
    WritesToTooFew,
    /// A new leader asks one voter.
    ReadsTooFew,
    /// Agents take each leader for the latest.
    ObeysFormerLeaders,
    /// A leader asks nothing of former voters.
    ForgetsFormerVoters,
    /// A new leader reads the store, and does not write its term.
    ReadsOnly,
    /// A tick begins before its mark is in the store.
    RunsFirst,
}

impl Setup {
    /// Nothing is broken, and the voters keep the marks of a rule.
    pub(in super::super) const fn of(misfire: Misfire) -> Self {
        Self {
            misfire,
            marks: Marks::AtVoters,
            source: Source::Rule,
            flaw: None,
        }
    }
}
