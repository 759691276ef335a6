//! The rules that a group follows on a node, by which two nodes find out whether they agree.

use std::fmt;

use crate::{
    planted::{Defect, has},
    protocol::{Electorate, Epochs, Requirements},
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
    /// Whether agents that name these hear, on a link of that version, those that require `mine`: they name the same, or
    /// another epoch of rules that learn of epochs. Version 1 cannot tell of one.
    pub(crate) fn meet(&self, version: u16, mine: &Requirements) -> bool {
        let ours = Self::from(mine);
        let learns = mine.epochs != Epochs::Apart && version != Versions::FIRST;
        let is_other_epoch = learns && self.epoch != ours.epoch;
        *self == ours || (is_other_epoch || has(Defect::AnyEpochJoined)) && self.rules == ours.rules
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{AgentId, Rules};

    #[test]
    fn another_epoch_is_met_where_the_rules_learn_of_it_and_the_link_can_tell() {
        let of = |epochs, epoch, names: &[&str]| {
            let names: Vec<_> = names.iter().map(|n| AgentId::new(n).unwrap()).collect();
            Requirements {
                epoch,
                epochs,
                voters: Some(Electorate::new(&names, 2, 2)),
                ..Requirements::new(Rules::new("lottery"))
            }
        };
        let learned = Epochs::Learned { term_bits: 40 };
        let (three, four) = (&["a", "b", "c"], &["a", "b", "c", "d"]);
        let mine = of(learned, 3, three);
        let (first, ours) = (Versions::FIRST, Versions::OURS.max);
        let meet = |theirs: &Requirements| {
            let theirs = GroupRules::from(theirs);
            [first, ours].map(|version| theirs.meet(version, &mine))
        };
        assert_eq!(meet(&mine), [true, true]);
        for epoch in [2, 4] {
            assert_eq!(meet(&of(learned, epoch, four)), [false, true]);
        }
        assert_eq!(
            meet(&of(learned, 3, four)),
            [false, false],
            "one epoch, two lists"
        );
        let other = GroupRules {
            rules: "raffle".to_owned(),
            ..GroupRules::from(&of(learned, 4, four))
        };
        assert!(!other.meet(ours, &mine));
        let apart = of(Epochs::Apart, 3, three);
        assert!(!GroupRules::from(&of(learned, 4, four)).meet(ours, &apart));
    }
}
