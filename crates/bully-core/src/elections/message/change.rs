//! The messages of voters while their list changes.

use serde::{Deserialize, Serialize};

use crate::protocol::{ChangeError, Changed, Decree, Incarnation, Term, VoterChange};

/// "I no longer lead: seal this epoch, and this list shall follow."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// The term in which the sender was elected.
    pub term: Term,
    /// The next list of voters.
    pub next: Box<Decree>,
}

/// "I have sealed this epoch, durably."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    /// The term of the [`Seal`] that this answers.
    pub term: Term,
    /// The incarnation that asked for the seal.
    pub incarnation: Incarnation,
}

/// "This list of voters was decided."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The first term of the new epoch: every election of the epoch has a higher term.
    pub term: Term,
    /// The decided list.
    pub decree: Box<Decree>,
}

/// "Change the voters": a request to the leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskChange {
    /// The leader's term.
    pub term: Term,
    /// The requested change of the voters.
    pub change: Box<VoterChange>,
    /// Not on the wire: the bridge sets it if the sender may only observe, and the leader then refuses the request.
    #[serde(skip)]
    pub is_unentitled: bool,
}

/// "I follow you in this epoch and am not a voter, but I have a store and could become one."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enlist {
    /// The leader's term.
    pub term: Term,
}

/// The leader's answer to an [`AskChange`]: that the list already has the change, or the reason why the leader refuses
/// it. If the leader begins the change, the answer is the later [`Install`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeAnswer {
    /// The leader's term.
    pub term: Term,
    /// The requested change, as in the [`AskChange`].
    pub change: Box<VoterChange>,
    /// The outcome of the request: the present voters, or the reason for the refusal.
    pub outcome: Result<Changed, ChangeError>,
}

/// A voter's statement that it supports no leader of this epoch up to this term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealRecord {
    /// The term of the agent that asked for the seal.
    pub term: Term,
    /// The list of voters that shall follow.
    pub next: Decree,
}
