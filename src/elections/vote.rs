//! What a voter must never forget.

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, Term};

/// What a voter must not forget: its term, and whom it gave its vote in that term.
///
/// It is written as one, before anything that depends on it is said. A voter whose record shows
/// a term above zero may have supported a leader in an earlier life, so it abstains for one promise
/// P at the beginning of each life (S1). The default is the record of a store that was just
/// created. A store that was *lost* must not be replaced by a new one under the old name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// The highest term that this voter took part in.
    pub term: Term,
    /// Whom it voted for in that term, or follows in it.
    pub voted_for: Option<AgentId>,
}
