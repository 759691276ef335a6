//! The setup of a world: the place of the marks, the source of due times, and the broken rule.

use super::super::super::planner::Misfire;

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Setup {
    pub(in super::super) misfire: Misfire,
    pub(in super::super) marks: Marks,
    pub(in super::super) source: Source,
    pub(in super::super) flaw: Option<Flaw>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Marks {
    AtVoters,
    InStore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Source {
    Rule,
    /// A stream at each agent reports the same times, earlier or later than other streams.
    Stream,
}

/// A rule that the agents break, to show that the histories find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Flaw {
    /// An agent acknowledges a record that a restart loses.
    ForgetsRecord,
    /// A tick begins when only the leader knows it.
    WritesToTooFew,
    /// A new leader asks only one voter.
    ReadsTooFew,
    /// Agents accept every leader as the latest one.
    ObeysFormerLeaders,
    /// The beginning of a schedule says that the due times up to it are done.
    BeginsAsDone,
    /// A leader does not ask former voters.
    ForgetsFormerVoters,
    /// A new leader reads the store, but does not write its term.
    ReadsOnly,
    /// A tick begins before its mark is in the store.
    RunsFirst,
}

impl Setup {
    /// Returns a setup without a broken rule. The voters keep the marks, and the due times come from a rule.
    pub(in super::super) const fn of(misfire: Misfire) -> Self {
        Self {
            misfire,
            marks: Marks::AtVoters,
            source: Source::Rule,
            flaw: None,
        }
    }
}
