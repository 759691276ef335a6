//! The messages of voters while their list changes.

use serde::{Deserialize, Serialize};

use crate::protocol::{ChangeError, Changed, Decree, Incarnation, Term, VoterChange};

/// "I lead no longer: seal this epoch, and that list shall follow."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// The term that the sender was elected in.
    pub term: Term,
    /// The next list.
    pub next: Box<Decree>,
}

/// "I have sealed, durably."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    /// The term of the seal.
    pub term: Term,
    /// The incarnation that asked for it.
    pub incarnation: Incarnation,
}

/// "That list was decided."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The first term of its epoch: every election of it is above.
    pub term: Term,
    /// The list.
    pub decree: Box<Decree>,
}

/// "Change the voters": to the leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskChange {
    /// The leader's term.
    pub term: Term,
    /// The change.
    pub change: Box<VoterChange>,
    /// Not on the wire: set where this was heard from an agent that may only observe, which gets a refusal.
    #[serde(skip)]
    pub is_unentitled: bool,
}

/// "I am not a voter, and could be one: I follow you, in this epoch, and have a store."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enlist {
    /// The leader's term.
    pub term: Term,
}

/// "So it is", or why it is not: the leader's answer. A change that is begun is answered by [`Install`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeAnswer {
    /// The leader's term.
    pub term: Term,
    /// The change that was asked for.
    pub change: Box<VoterChange>,
    /// The outcome.
    pub outcome: Result<Changed, ChangeError>,
}
