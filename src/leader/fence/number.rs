//! A fence as one integer, for messages and columns.
//!
//! Decided here: how a fence maps to an `i64`, and which fences do not fit. Not here: which fence is admitted
//! (`gate.rs`).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agent::{Fence, LeaderGuard};

/// A leader's fence as one integer, as it is sent to the protected resource.
///
/// The integer equals the number of the fence, which is the leader's term, so the integers have the same order as the
/// fences. The range is 0 to `i64::MAX`, because a column of SQLite or PostgreSQL holds no larger number. 0 is below
/// the fence of any leader. A quorum election counts its terms from 2^40 times the epoch of its voters, so all fences
/// of the first 8,388,607 changes of the voters fit.
///
/// A number is made from a [`Fence`] or a [`LeaderGuard`], and never from an [`Epoch`](crate::agent::Epoch): the tokens
/// of an election that may have two leaders protect nothing. An integer from a message or a column (an `i64`, by serde
/// and by `TryFrom`) counts as the fence from which it was made.
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
    /// Returns the newest fence of this leadership. Call this again for each write: the fence grows when the leadership
    /// is renewed. To know before whether the election has fences, [check](crate::agent::Offers::check)
    /// [`Feature::Fence`](crate::agent::Feature::Fence) at the start.
    ///
    /// If the leader's work ends within a minute after this call failed, the log and the
    /// [diagnosis](crate::agent::Finding::WorkFails) show the error.
    ///
    /// # Errors
    /// [`NoFence::Unpromised`] if the election may have two leaders of one term; [`NoFence::Conditional`] if its voters
    /// have no disk, and the application has not accepted the condition of their fences; [`NoFence::TooLarge`] if no
    /// `i64` holds the fence.
    pub fn of(guard: &LeaderGuard) -> Result<Self, NoFence> {
        let without = || match guard.conditional_fence() {
            Some(_) => NoFence::Conditional,
            None => NoFence::Unpromised,
        };
        let number = guard.fence().ok_or_else(without);
        let number = number.and_then(|fence| Self::try_from(&fence));
        number.inspect_err(|refused| guard.note_refusal(refused))
    }

    /// Returns the integer, which is not negative: for a column or a parameter of a statement.
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

/// Reason why a fence cannot be written as a [`FenceNumber`].
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoFence {
    /// The election may have two leaders of one term, so its tokens are not fences.
    #[error(
        "this election promises no fence (the number by which late writes of a former leader are refused): start its agents with `.quorum([..])` and `.store(..)`, or with `.lease(..)`"
    )]
    Unpromised,
    /// The voters have no disk, so the token is a fence only under a condition.
    #[error(
        "this fence holds only if no voter's clock is set back, because the voters have no disk: give the voters stores (in a configuration: `store_file` in place of `diskless`), or accept the condition by `FenceNumber::try_from(&conditional_fence.accept())`"
    )]
    Conditional,
    /// No `i64` holds the fence: the voters were changed too often, or their epochs begin at too high a number.
    #[error(
        "the fence {number} does not fit into an i64, because the `epoch` of the voters is too high: set `epoch` to 0 with the first list of voters, and add 1 for each change; the highest `epoch` that fits is 8388607"
    )]
    TooLarge {
        /// The fence's number.
        number: u64,
    },
    /// A negative integer is not the number of a fence.
    #[error(
        "{number} is negative, so it is not a fence: check the database column, or the message, from which it was read"
    )]
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
