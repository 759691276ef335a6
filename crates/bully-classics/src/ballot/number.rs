//! Ballots, their order, and the durable record of them.
//!
//! Decided here: the order, and the next number. Not here: which agent takes a ballot, and when
//! ([`machine`](super::machine)).
#![warn(clippy::arithmetic_side_effects)]

use std::fmt;

use serde::{Deserialize, Serialize};

use bully_core::protocol::{AgentId, Score, Term};

/// A ballot: a number, the score and the name of the candidate that campaigns with it. The larger ballot wins: the
/// number counts first, then the score that its holder had when it took the ballot, then the name. So no two holders
/// have equal ballots.
///
/// ```
/// # use bully_classics::ballot::BallotNumber;
/// let ballot = |n, score: i32, id: &str| BallotNumber {
///     n,
///     score: score.into(),
///     id: id.parse().unwrap(),
/// };
/// assert!(ballot(2, 1, "a") > ballot(1, 9, "z"));
/// assert!(ballot(2, 9, "a") > ballot(2, 1, "z"));
/// assert!(ballot(2, 9, "b") > ballot(2, 9, "a"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BallotNumber {
    /// The number. The first number is 1.
    pub n: u64,
    /// The holder's score when it took the ballot.
    pub score: Score,
    /// The name of the holder. Between equal numbers and scores it decides.
    pub id: AgentId,
}

impl BallotNumber {
    /// Returns the term of a leadership by this ballot, which is its number.
    pub const fn term(&self) -> Term {
        Term(self.n)
    }

    /// Returns whether the number of the ballot is valid: numbers begin at 1, and numbers above `LAST` are invalid.
    pub(super) const fn is_sound(&self) -> bool {
        1 <= self.n && self.n <= LAST
    }
}

impl fmt::Display for BallotNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}@{}", self.n, self.id, self.score)
    }
}

/// The record of a voter: the last number that it has used, and the highest elected ballot that it knows.
///
/// Both are durable before they are used. So no two incarnations of a voter take the same ballot, and a voter never
/// elects a lower ballot than before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BallotRecord {
    /// The number of the last ballot that this voter took; 0 before the first ballot.
    pub n: u64,
    /// bmax: the highest elected ballot that this voter knows; `None` if it knows no elected ballot.
    pub max: Option<BallotNumber>,
}

impl BallotRecord {
    /// Returns the number that is `ahead` above every known number; `None` if that number is too high.
    pub(super) fn next(&self, ahead: u64) -> Option<u64> {
        let known = self.max.as_ref().map_or(0, |max| max.n).max(self.n);
        known.checked_add(ahead).filter(|next| *next <= LAST)
    }
}

/// The highest valid number. If an agent accepted `u64::MAX`, there would be no number for the next ballot.
const LAST: u64 = u64::MAX - (1 << 32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_is_above_those_used_and_those_heard() {
        let id: AgentId = "a".parse().unwrap();
        let heard = |n| BallotNumber {
            n,
            score: 1.into(),
            id: id.clone(),
        };
        let record = |n, max| BallotRecord { n, max };
        assert_eq!(record(0, None).next(1), Some(1));
        assert_eq!(record(7, Some(heard(3))).next(1), Some(8));
        assert_eq!(record(2, Some(heard(3))).next(2), Some(5));
        assert_eq!(record(0, Some(heard(LAST))).next(1), None);
        assert!(heard(LAST).is_sound());
        assert!(!heard(LAST + 1).is_sound() && !heard(0).is_sound());
    }
}
