//! Rules of a proxy broken on purpose, to see that the tests of its machines find it.

/// A rule that is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyDefect {
    /// A message whose outcome is unknown is sent again.
    UnknownSentAgain,
    /// A refusal of a former run counts for the present one.
    StaleRefusalCounts,
    /// Messages of the own agent do not wait for those before them.
    OwnOvertake,
    /// A receiver takes what is behind a gap.
    GapsTaken,
    /// A receiver goes on with a run that it has refused.
    ClosedRunsGoOn,
    /// An incarnation counts as the same on each node.
    AnyNode,
}

impl ProxyDefect {
    #[cfg(test)]
    pub(super) const ALL: [Self; 6] = [
        Self::UnknownSentAgain,
        Self::StaleRefusalCounts,
        Self::OwnOvertake,
        Self::GapsTaken,
        Self::ClosedRunsGoOn,
        Self::AnyNode,
    ];
}
