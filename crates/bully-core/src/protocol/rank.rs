//! Score and rank: the application gives the score, and the rank decides.
//!
//! Decided here: how two agents compare. A [`Rank`] ends with the name, so two agents never tie. (The published ASTRA
//! agent elected two leaders with equal scores.)

use std::fmt;

use serde::{Deserialize, Serialize};

use super::AgentId;

/// The application's measure of an agent: up to four integers, compared from left to right. The larger score wins.
///
/// A score is made from one integer or a tuple; missing parts on the right count as 0. "Priority first, then the lowest
/// lag" is `Score::from((priority, -lag_ms))`.
///
/// ```
/// # use bully_core::protocol::Score;
/// assert!(Score::from((2, -50)) > Score::from((1, -10)));
/// assert!(Score::from((2, -50)) > Score::from((2, -51)));
/// assert_eq!(Score::from(7).to_string(), "7");
/// assert_eq!(Score::from((2, -50)).to_string(), "(2, -50)");
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Score([i64; 4]);

impl Score {
    /// Returns the four parts, the most significant first.
    pub const fn parts(self) -> [i64; 4] {
        self.0
    }

    /// Returns whether this score exceeds `other` by at least `margin`.
    ///
    /// The first part in which the two scores differ decides. In this part, this score must be larger by at least the
    /// same part of the margin, and by at least 1. With a margin of `Score::default()`, any larger score is enough.
    ///
    /// ```
    /// # use bully_core::protocol::Score;
    /// let (leader, other) = (Score::from((1, -400)), Score::from((1, -100)));
    /// assert!(other.exceeds(leader, Score::default()));
    /// assert!(!other.exceeds(leader, Score::from((0, 500)))); // 300 ms fresher is not enough
    /// ```
    #[must_use]
    pub fn exceeds(self, other: Self, margin: Self) -> bool {
        self.0
            .into_iter()
            .zip(other.0)
            .zip(margin.0)
            .find(|((mine, theirs), _)| mine != theirs)
            .is_some_and(|((mine, theirs), margin)| {
                mine > theirs && mine.abs_diff(theirs) >= u64::try_from(margin).unwrap_or(0)
            })
    }
}

impl fmt::Display for Score {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.0;
        match (b, c, d) {
            (0, 0, 0) => write!(out, "{a}"),
            (_, 0, 0) => write!(out, "({a}, {b})"),
            (_, _, 0) => write!(out, "({a}, {b}, {c})"),
            _ => write!(out, "({a}, {b}, {c}, {d})"),
        }
    }
}

macro_rules! score_from {
    ($($integer:ty),*) => { $(
        impl From<$integer> for Score {
            fn from(a: $integer) -> Self {
                Self([i64::from(a), 0, 0, 0])
            }
        }
    )* };
}
score_from!(i8, i16, i32, i64, u8, u16, u32, bool);

impl<A: Into<i64>, B: Into<i64>> From<(A, B)> for Score {
    fn from((a, b): (A, B)) -> Self {
        Self([a.into(), b.into(), 0, 0])
    }
}

impl<A: Into<i64>, B: Into<i64>, C: Into<i64>> From<(A, B, C)> for Score {
    fn from((a, b, c): (A, B, C)) -> Self {
        Self([a.into(), b.into(), c.into(), 0])
    }
}

impl<A: Into<i64>, B: Into<i64>, C: Into<i64>, D: Into<i64>> From<(A, B, C, D)> for Score {
    fn from((a, b, c, d): (A, B, C, D)) -> Self {
        Self([a.into(), b.into(), c.into(), d.into()])
    }
}

/// The rank of an agent decides which of two agents leads: the score first, then the name; the larger wins.
///
/// The order is total: two agents with different names never have equal ranks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank {
    /// The score that the application gave to the agent.
    pub score: Score,
    /// The name of the agent, which decides between equal scores.
    pub id: AgentId,
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_are_decided_by_the_name() {
        let rank = |score: i32, id: &str| Rank {
            score: score.into(),
            id: AgentId::new(id).unwrap(),
        };
        assert!(rank(7, "b") > rank(7, "a"));
        assert!(rank(8, "a") > rank(7, "b"));
    }

    #[test]
    fn a_margin_counts_in_the_place_that_decides() {
        let margin = Score::from((1, 500));
        assert!(Score::from((2, -900)).exceeds(Score::from((1, 0)), margin));
        assert!(!Score::from((1, -400)).exceeds(Score::from((1, -800)), margin));
        assert!(Score::from((1, -300)).exceeds(Score::from((1, -800)), margin));
        assert!(
            !Score::from(1).exceeds(Score::from(1), Score::default()),
            "equal is not more"
        );
        assert!(Score::from(i64::MAX).exceeds(Score::from(i64::MIN), Score::from(i64::MAX)));
    }
}
