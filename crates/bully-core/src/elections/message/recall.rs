//! The questions of a voter that has started, with a disk and without, and the answers.

use serde::{Deserialize, Serialize};

use crate::elections::vote::Heard;
use crate::protocol::{Incarnation, Round, Term};

/// "I have started with a record: what do you remember of me?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// The highest term that the sender has seen.
    pub seen: Term,
}

/// The answer to a [`Recall`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Recalled {
    /// The incarnation that asked.
    pub incarnation: Incarnation,
    /// The highest term that the sender has seen.
    pub seen: Term,
    /// The facts that the sender remembers about other incarnations of the asker in this epoch.
    pub heard: Heard,
}

/// "I have started without a memory: which term do you know?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Recover {
    /// The asker's round; an answer repeats it.
    pub round: Round,
    /// The highest term that the asker has followed since it started.
    pub seen: Term,
}

/// The answer to a [`Recover`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Recovered {
    /// The round that this answers.
    pub round: Round,
    /// The highest term in which the sender took part, as far as it knows.
    pub term: Term,
    /// Whether the sender itself has started without a memory, and its own recovery has not ended yet.
    pub recovering: bool,
    /// The term by the sender's wall clock.
    pub clock: Term,
}
