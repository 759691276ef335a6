//! The durable record of a voter.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

pub use crate::elections::message::change::SealRecord;
use crate::{
    elections::message::{Candidate, Micros},
    protocol::{AgentId, Decree, Incarnation, StoreId, Term},
};

/// The record of a voter: its term, its vote in that term, and the length of the longest promise (to support no other
/// agent) that it may have given.
///
/// The record is written as a whole, before any message that depends on it is sent. A voter whose record has a term
/// above zero may have supported a leader in an earlier incarnation. So the voter abstains at the beginning of each
/// incarnation: for its promise P (the time for which a voter supports no other agent after an acknowledgement), or for
/// the longest promise in this record, whichever is longer (rule `abstain-after-restart` of the quorum election). The
/// default is the record of a store that was just created. A store that was *lost* must not be replaced by a new store
/// under the old name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// The highest term in which this voter took part.
    pub term: Term,
    /// The candidate that got this voter's vote in the term `term`, or that the voter follows in the term.
    pub voted_for: Option<Candidate>,
    /// Upper limit of the length of the voter's promises that may still hold. Rounded up.
    pub promise: Micros,
    /// The last incarnation of this voter that took part. The number is made durable before the first vote or
    /// acknowledgement of the incarnation.
    pub incarnation: Option<Incarnation>,
    /// The voter's memory of the other voters of its epoch.
    pub others: BTreeMap<AgentId, Heard>,
    /// The durable data of a change of the voters; `None` if no change has begun while the group ran.
    pub voters: Option<Box<VotersRecord>>,
}

/// A voter's memory of another voter in its epoch. After a start, the other voter asks for this memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heard {
    /// The store with which the other voter takes part, if its host reports it.
    pub store: Option<StoreId>,
    /// The last incarnation from which a vote or an acknowledgement has arrived.
    pub incarnation: Option<Incarnation>,
    /// The highest term of the votes and acknowledgements from this incarnation.
    pub term: Term,
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.incarnation {
            Some(incarnation) => write!(f, "incarnation {incarnation} in term {}", self.term),
            None => f.write_str("nothing"),
        }
    }
}

/// The part of a voter's record about a change of the voters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VotersRecord {
    /// The list of this epoch, if the voters of the epoch before decided it.
    pub installed: Option<Decree>,
    /// The seal of this epoch that the voter has taken.
    pub seal: Option<SealRecord>,
    /// Whether this agent still sends the list to others after a restart: it collected the seals that decided the list,
    /// is not in the list, and has heard of no leader that the list elected.
    pub tells: bool,
}

impl Candidate {
    /// Returns this incarnation of this agent as a candidate.
    pub(in crate::elections) fn new(id: &AgentId, incarnation: Incarnation) -> Self {
        Self {
            id: id.clone(),
            incarnation,
        }
    }
}

impl Vote {
    /// Returns whether the next record differs from this record in more than the memory of the other voters. The memory
    /// of other voters may be written later.
    pub(in crate::elections) fn is_changed_by(&self, next: &Self) -> bool {
        self.term != next.term
            || self.voted_for != next.voted_for
            || self.promise != next.promise
            || self.incarnation != next.incarnation
            || self.voters != next.voters
    }

    /// Returns the list that was decided for the epoch of this record; `None` without a decided list.
    pub fn installed(&self) -> Option<&Decree> {
        self.voters
            .as_ref()
            .and_then(|voters| voters.installed.as_ref())
    }

    /// Returns the seal of the epoch of this record; `None` without a seal.
    pub fn seal(&self) -> Option<&SealRecord> {
        self.voters.as_ref().and_then(|voters| voters.seal.as_ref())
    }
}
