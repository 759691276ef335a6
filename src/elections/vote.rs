//! What a voter must never forget.

use serde::{Deserialize, Serialize};

use crate::{
    elections::message::{Micros, Reserved},
    protocol::{AgentId, Term},
};

/// What a voter must not forget: its term, whom it gave its vote in that term, and for how long it
/// may have promised to support no other agent.
///
/// It is written as one, before anything that depends on it is said. A voter whose record shows
/// a term above zero may have supported a leader in an earlier incarnation, so it abstains at the
/// beginning of each: for its promise P, or the longest that it kept here, whichever is longer
/// (`abstain-after-restart` of the quorum election). The default is the record of a store that was
/// just created. A store that was *lost* must not be replaced by a new one under the old name.
///
/// A record that was written before version 0.2 names no promise: such a voter abstains for its P.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// The highest term that this voter took part in.
    pub term: Term,
    /// Whom it voted for in that term, or follows in it.
    pub voted_for: Option<AgentId>,
    /// No promise that it gave and that may still hold is longer. Rounded up.
    #[serde(default)]
    pub promise: Micros,
    /// Reserved: `None`.
    #[serde(default)]
    pub prepared: Option<Reserved>,
    /// Reserved: `None`.
    #[serde(default)]
    pub voters: Option<Reserved>,
}
