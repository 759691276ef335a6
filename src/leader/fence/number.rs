//! A fence as one integer, as messages carry it and columns hold it.
//!
//! Decided here: how a fence maps to an `i64`, and what does not fit. Not here: which fence is admitted
//! (`gate.rs`).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agent::{Fence, LeaderGuard};

/// A leader's fence as one integer, as it travels to what it protects.
///
/// It is the fence's number, the leader's term, unchanged: nothing is lost, and the order is the same. The range is
/// 0 to `i64::MAX`, since a column of SQLite or PostgreSQL holds no more; 0 is below the fence of any
/// leader. A quorum election counts its terms from 2^40 times the epoch of its voters, so that all fences of
/// the first 8,388,607 changes of the voters fit.
///
/// A number is made from a [`Fence`] or a [`LeaderGuard`], and never from an
/// [`Epoch`](crate::agent::Epoch): the tokens of an election that may have two leaders protect nothing. What crossed a
/// wire or lay in a column (an `i64`, by serde and by `TryFrom`) is taken for the fence that it was.
///
/// ```
/// use actix_bully::leader::fence::FenceNumber;
/// let column: i64 = 7;
/// let fence = FenceNumber::try_from(column)?;
/// assert_eq!(fence.get(), 7);
/// assert!(FenceNumber::try_from(-1).is_err());
/// # Ok::<(), actix_bully::leader::fence::NoFence>(())
/// ```
///
/// ```compile_fail,E0277
/// use actix_bully::{agent::Epoch, leader::fence::FenceNumber};
/// fn send_along(epoch: &Epoch) -> FenceNumber {
///     FenceNumber::try_from(epoch).unwrap() // no fence
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct FenceNumber(i64);

impl FenceNumber {
    /// The newest fence of this leadership. Ask for each write anew: it grows when the leadership is renewed.
    ///
    /// # Errors
    /// [`NoFence::Unpromised`] where the election may have two leaders of one term; [`NoFence::Conditional`] where its
    /// voters have no disk, and nobody said that this will do; [`NoFence::TooLarge`] where no
    /// `i64` holds the fence.
    pub fn of(guard: &LeaderGuard) -> Result<Self, NoFence> {
        let without = || match guard.conditional_fence() {
            Some(_) => NoFence::Conditional,
            None => NoFence::Unpromised,
        };
        Self::try_from(&guard.fence().ok_or_else(without)?)
    }

    /// The integer, not negative: for a column or a parameter of a statement.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl TryFrom<&Fence> for FenceNumber {
    type Error = NoFence;
    fn try_from(fence: &Fence) -> Result<Self, NoFence> {
        Self::checked(fence.number())
    }
}

impl TryFrom<i64> for FenceNumber {
    type Error = NoFence;
    fn try_from(number: i64) -> Result<Self, NoFence> {
        if number < 0 {
            return Err(NoFence::Negative { number });
        }
        Ok(Self(number))
    }
}

impl FenceNumber {
    fn checked(number: u64) -> Result<Self, NoFence> {
        i64::try_from(number)
            .map(Self)
            .map_err(|_| NoFence::TooLarge { number })
    }
}

impl From<FenceNumber> for i64 {
    fn from(fence: FenceNumber) -> Self {
        fence.0
    }
}

impl fmt::Display for FenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why there is no number of a fence.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoFence {
    /// The election may have two leaders of one term, so that its tokens are no fences.
    #[error("this election promises no fence: start its agents with `.quorum(..)` and a store")]
    Unpromised,
    /// The voters have no disk, so that the token is a fence under a condition.
    #[error(
        "voters without a disk promise a fence only while their clocks are not set back: give the voters stores, or accept that by `FenceNumber::try_from(&conditional_fence.accept())`"
    )]
    Conditional,
    /// No `i64` holds the fence: the voters were changed too often, or count their epochs from too high a number.
    #[error(
        "the fence {number} does not fit into an i64: count the epochs of the voters from 0, up to 8388607"
    )]
    TooLarge {
        /// The fence's number.
        number: u64,
    },
    /// A negative integer is the number of no fence.
    #[error("{number} is negative, which no fence is: check what the column or message holds")]
    Negative {
        /// The integer.
        number: i64,
    },
}

debug_is_text!(NoFence);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_that_a_column_holds_fits_and_the_next_does_not() {
        let most = i64::MAX.unsigned_abs();
        assert_eq!(
            FenceNumber::checked(most).map(FenceNumber::get),
            Ok(i64::MAX)
        );
        let number = most + 1;
        assert_eq!(
            FenceNumber::checked(number),
            Err(NoFence::TooLarge { number })
        );
    }

    #[test]
    fn on_a_wire_it_is_a_plain_integer_and_no_negative_one() {
        let fence = FenceNumber::try_from(7).unwrap();
        assert_eq!(serde_json::to_string(&fence).unwrap(), "7");
        assert_eq!(serde_json::from_str::<FenceNumber>("7").unwrap(), fence);
        for refused in ["-1", "9223372036854775808", "\"7\"", "7.0", "null"] {
            assert!(
                serde_json::from_str::<FenceNumber>(refused).is_err(),
                "{refused}"
            );
        }
    }
}
