//! The promises of an election, and its needs from its members and their group.
//!
//! Decided here: the questions that callers of an election may ask, so that no caller infers an answer from a name or
//! from another answer. A bridge asks how many agents may lead at once before it warns of two leaders. The builder asks
//! the same question before it gives out fences, and asks which store and clock a participant needs. A group asks which
//! properties its members share, and which member to notify first.

use std::{fmt, sync::Arc, time::Duration};

use super::{AgentId, Decree, Electorate, MemberKind, Term};

/// The promises of an election, and its needs from one participant and from its group.
///
/// ```
/// use bully_core::protocol::{Leaders, Requirements, Rules, Storage};
/// let requirements = Requirements {
///     leaders: Leaders::PerSide,
///     storage: Storage::Record,
///     ..Requirements::new(Rules::new("lottery"))
/// };
/// assert!(!requirements.relies_on_votes()); // so its tokens are no fences
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirements {
    /// The rules. All members of a group follow the same rules.
    pub rules: Rules,
    /// Number of agents that may lead at once.
    pub leaders: Leaders,
    /// Storage that this participant needs.
    pub storage: Storage,
    /// Properties that this participant's clock needs.
    pub clock: ClockKind,
    /// Order in which a group notifies its members of a change.
    pub notify: NotifyOrder,
    /// Longest time for which a promise of this participant binds it, by the slowest clock that is allowed; zero if it
    /// makes no promises. For this time after the end of a participant, an earlier process of its name must not take
    /// part in its place, because the earlier process does not know the promise.
    pub promise: Duration,
    /// Number of the configured list of voters; 0 for an election without such a list.
    pub epoch: u64,
    /// Whether members of different epochs hear each other; the same for all members with these rules.
    pub epochs: Epochs,
    /// The voters and quorums; `None` for an election without a list of voters. All members of an epoch have the same
    /// voters and quorums.
    pub voters: Option<Electorate>,
    /// The names of the voters; `None` if they are not known. A refusal names the differences by them, but only
    /// [`voters`](Self::voters) is compared.
    pub names: Option<Arc<[AgentId]>>,
}

impl Requirements {
    /// Makes the requirements of an election that promises nothing and needs nothing. An election replaces the fields
    /// in which it differs.
    pub const fn new(rules: Rules) -> Self {
        Self {
            rules,
            leaders: Leaders::Unpromised,
            storage: Storage::Nothing,
            clock: ClockKind::Any,
            notify: NotifyOrder::AllAtOnce,
            promise: Duration::ZERO,
            epoch: 0,
            epochs: Epochs::Apart,
            voters: None,
            names: None,
        }
    }

    /// Returns the same requirements for the epoch and the voters of the list `decree`.
    #[must_use]
    pub fn after(&self, decree: &Decree) -> Self {
        let names: Vec<AgentId> = decree.names().cloned().collect();
        let majority = names.len() / 2 + 1;
        let count = |n: Option<u32>| n.and_then(|n| usize::try_from(n).ok()).unwrap_or(majority);
        let (vote_quorum, lease_quorum) = (count(decree.vote_quorum), count(decree.lease_quorum));
        Self {
            epoch: decree.epoch,
            voters: Some(Electorate::new(&names, vote_quorum, lease_quorum)),
            names: Some(names.into()),
            ..self.clone()
        }
    }

    /// Returns whether two participants have the same rules, epoch and voters. Their storage and clocks may differ.
    pub fn are_like(&self, other: &Self) -> bool {
        let shared = |of: &Self| (of.rules, of.epoch, of.voters);
        shared(self) == shared(other)
    }

    /// Returns whether two participants can be in one group: they agree on its rules, epoch and voters, or they are in
    /// different epochs and by their rules the members of the earlier epoch learn of the later epoch. Two lists of
    /// voters in one epoch are always refused.
    pub fn may_meet(&self, other: &Self) -> bool {
        let learn = self.epochs != Epochs::Apart && other.epochs != Epochs::Apart;
        let is_other_epoch = self.rules == other.rules && self.epoch != other.epoch;
        self.are_like(other) || learn && is_other_epoch
    }

    /// Returns whether other hosts rely on this participant's record as a vote: at most one agent leads in each term,
    /// but only as long as no voter forgets its vote, even when its process ends.
    pub fn relies_on_votes(&self) -> bool {
        matches!(
            (self.leaders, self.storage),
            (Leaders::PerTerm, Storage::Record)
        )
    }
}

/// Whether members of different epochs hear each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Epochs {
    /// They never hear each other: a group refuses members of different epochs.
    Apart,
    /// They always hear each other: a member of an earlier epoch learns of the later epoch from the members that are in
    /// it.
    Learned {
        /// Number of lower bits of a term that count the elections of one epoch. The bits above them are the epoch.
        term_bits: u32,
    },
}

impl Epochs {
    /// Returns the epoch of a term, if terms contain the epoch.
    pub fn of(self, term: Term) -> Option<u64> {
        match self {
            Self::Apart => None,
            Self::Learned { term_bits } => Some(term.0.checked_shr(term_bits).unwrap_or(0)),
        }
    }
}

/// The name of an election's rules. Hosts exchange the name. If two hosts have different names for a group, no message
/// of the group crosses between them. So the name never changes while the rules stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rules(&'static str);

impl Rules {
    /// Makes rules with this name, which must have at most 256 bytes.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Number of agents of a group that an election lets lead at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaders {
    /// At most one agent in each term, with any fault of the network and the clocks: the term is a fencing token.
    PerTerm,
    /// At most one agent at any instant. Also at most one agent in each term, with increasing terms, while a majority
    /// of the voters keeps its memory, or while no wall clock was ahead of a clock that is used later.
    PerInstant,
    /// Eventually one agent on each side of a partition. Two agents may lead while the partition lasts, perhaps in one
    /// term.
    PerSide,
    /// No promise: at any moment several agents may lead, perhaps in one term.
    Unpromised,
}

/// Storage that a participant needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// The participant needs no storage. If it has a store, the store is not read.
    Nothing,
    /// The participant needs no storage, and a store is refused: a user who sets a store relies on a record that these
    /// rules do not keep.
    Refused,
    /// A record that survives a crash.
    Record,
}

impl Storage {
    /// Returns [`Storage::Record`] for a voter. An observer needs no storage, because no member relies on its messages.
    pub fn of_voters(kind: MemberKind) -> Self {
        match kind {
            MemberKind::Voter => Self::Record,
            MemberKind::Observer => Self::Nothing,
        }
    }
}

/// Properties that a participant's clock needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockKind {
    /// The clock is monotonic. It may stop while its host is suspended.
    Any,
    /// The clock counts the time for which its host is suspended, because a lease depends on it.
    CountsSuspend,
}

/// The order in which a group notifies its members of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotifyOrder {
    /// All members in the same turn of the arbiter: for elections that need the consent of several members. A voter
    /// that does not yet know of its leader's end still supports this leader, and refuses other candidates.
    AllAtOnce,
    /// First the member of the highest rank that is up, and the other members one turn later: for elections whose
    /// highest-ranked survivor announces itself without a question. When a leader has ended, the other members receive
    /// the announcement of its successor before they learn of the end, and ask nothing. So an election among the
    /// members of one process needs fewer messages.
    HighestRankFirst,
}

/// The reason why a participant cannot be a member by its configuration.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MembershipError {
    /// The agent is a voter, but the list of voters does not contain it.
    #[error(
        "{id} is not in its list of voters: start it as an observer, or add it to the list of every member (if the group has run before, stop all voters for that, and raise `epoch` by 1)"
    )]
    NotListed {
        /// The name of the agent.
        id: AgentId,
    },
    /// The agent is an observer, but the list of voters contains it.
    #[error(
        "{id} is an observer and in the list of voters: start it as a voter, or take it off the list of every member (if the group has run before, stop all voters for that, and raise `epoch` by 1)"
    )]
    ListedObserver {
        /// The name of the agent.
        id: AgentId,
    },
    /// The voter took part in a later epoch, by its record.
    #[error(
        "{id} has taken part with the list of voters of epoch {found}, and its configuration has the older epoch {epoch}: give it the voters and the `epoch` of the other members, {found} or higher"
    )]
    LaterEpoch {
        /// The name of the voter.
        id: AgentId,
        /// The epoch in the voter's record.
        found: u64,
        /// The epoch of the configuration.
        epoch: u64,
    },
    /// The parameters of the election do not fit together.
    #[error("{0}")]
    Config(String),
}

debug_is_text!(MembershipError);

impl MembershipError {
    /// Makes the error from the failed check of a configuration.
    pub fn config(error: impl fmt::Display) -> Self {
        Self::Config(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(epochs: Epochs, epoch: u64, names: &[&str]) -> Requirements {
        let names: Vec<_> = names
            .iter()
            .map(|name| AgentId::new(name).unwrap())
            .collect();
        Requirements {
            epoch,
            epochs,
            voters: Some(Electorate::new(&names, 2, 2)),
            ..Requirements::new(Rules::new("lottery"))
        }
    }

    #[test]
    fn epochs_meet_where_both_learn_of_them_and_one_epoch_has_one_list() {
        let (three, four) = (&["a", "b", "c"], &["a", "b", "c", "d"]);
        let learned = Epochs::Learned { term_bits: 40 };
        let mine = of(learned, 1, three);
        assert!(mine.may_meet(&mine) && mine.may_meet(&of(learned, 1, &["c", "a", "b"])));
        assert!(mine.may_meet(&of(learned, 2, four)) && of(learned, 2, four).may_meet(&mine));
        assert!(
            !mine.may_meet(&of(learned, 1, four)),
            "one epoch, two lists"
        );
        assert!(!mine.may_meet(&of(Epochs::Apart, 2, four)));
        assert!(!of(Epochs::Apart, 1, three).may_meet(&of(Epochs::Apart, 2, three)));
        let other = Requirements {
            rules: Rules::new("raffle"),
            ..of(learned, 2, four)
        };
        assert!(!mine.may_meet(&other));
    }

    #[test]
    fn a_term_says_its_epoch_where_epochs_are_learned() {
        let learned = Epochs::Learned { term_bits: 40 };
        let epochs = [0, 7, 1 << 40, 5 << 40 | 3, u64::MAX].map(|term| learned.of(Term(term)));
        assert_eq!(epochs, [0, 0, 1, 5, (1 << 24) - 1].map(Some));
        assert_eq!(Epochs::Apart.of(Term(5 << 40)), None);
        let odd = Epochs::Learned { term_bits: 64 };
        assert_eq!(odd.of(Term(u64::MAX)), Some(0));
    }
}
