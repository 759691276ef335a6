//! The rules of a group on a node; two nodes compare them to find out whether they agree.

use std::fmt;

use crate::protocol::{Electorate, Epochs, Requirements};

use crate::remote::wire::Opening;

/// The rules on which all members of a group have to agree. If the rules of two nodes differ, no message of the group
/// crosses between these nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupRules {
    /// The name of the rules; see [`Requirements::rules`].
    pub(crate) rules: String,
    /// The epoch: the number of the list of voters.
    pub(crate) epoch: u64,
    /// The voters and quorums; `None` for a group without a list of voters.
    pub(crate) voters: Option<Electorate>,
}

impl GroupRules {
    /// Returns whether messages cross between agents with these rules and agents that require `mine`: both have the
    /// same rules, or they are in different epochs of rules whose members learn of epochs.
    pub(crate) fn meet(&self, mine: &Requirements) -> bool {
        let ours = Self::from(mine);
        let is_other_epoch = mine.epochs != Epochs::Apart && self.epoch != ours.epoch;
        *self == ours || is_other_epoch && self.rules == ours.rules
    }

    /// Returns the rules that a peer announced.
    pub(crate) fn opened(opening: &Opening<'_>) -> Self {
        Self {
            rules: opening.rules.to_owned(),
            epoch: opening.epoch,
            voters: opening.voters,
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
    fn another_epoch_is_met_where_the_rules_learn_of_it() {
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
        let meet = |theirs: &Requirements| GroupRules::from(theirs).meet(&mine);
        assert!(meet(&mine));
        for epoch in [2, 4] {
            assert!(meet(&of(learned, epoch, four)), "epoch {epoch}");
        }
        assert!(!meet(&of(learned, 3, four)), "one epoch, two lists");
        let other = GroupRules {
            rules: "raffle".to_owned(),
            ..GroupRules::from(&of(learned, 4, four))
        };
        assert!(!other.meet(&mine));
        let apart = of(Epochs::Apart, 3, three);
        assert!(!GroupRules::from(&of(learned, 4, four)).meet(&apart));
    }
}
