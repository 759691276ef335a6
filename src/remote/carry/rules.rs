//! The rules that a group follows on a node, by which two nodes find out whether they agree.

use std::fmt;

use crate::{
    planted::{Defect, has},
    protocol::{Electorate, Requirements},
};

use crate::remote::wire::{Opening, Versions};

/// What all members of a group have to agree on. Where two nodes differ, nothing crosses for that
/// group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GroupRules {
    /// The name of the rules; see [`Requirements::rules`].
    pub rules: String,
    /// Which choice of voters.
    pub epoch: u64,
    /// The voters and quorums, where there are any to choose.
    pub voters: Option<Electorate>,
}

impl GroupRules {
    /// Whether the other side names the same.
    pub(crate) fn are(&self, theirs: &Self) -> bool {
        self == theirs || has(Defect::AnyEpochJoined) && self.rules == theirs.rules
    }
}

impl GroupRules {
    /// Those that a peer names on a link of that version. In version 1 it names no voters: they are taken for those of the
    /// members here by the same rules, as release 0.1 takes ours for its own.
    pub(crate) fn opened(version: u16, opening: &Opening<'_>, mine: Option<&Requirements>) -> Self {
        let voters = if version == Versions::FIRST {
            mine.filter(|mine| mine.rules.name() == opening.rules)
                .and_then(|mine| mine.voters)
        } else {
            opening.voters
        };
        Self {
            rules: opening.rules.to_owned(),
            epoch: opening.epoch,
            voters,
        }
    }
}

impl From<&Requirements> for GroupRules {
    fn from(requirements: &Requirements) -> Self {
        Self {
            rules: requirements.rules.name().to_owned(),
            epoch: requirements.epoch,
            voters: requirements.voters,
        }
    }
}

impl fmt::Display for GroupRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules, epoch {}", self.rules, self.epoch)?;
        self.voters.map_or(Ok(()), |voters| write!(f, ", {voters}"))
    }
}
