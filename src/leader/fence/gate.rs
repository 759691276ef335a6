//! The gate: decides which fences are admitted.
//!
//! Decided here: a fence that is lower than an admitted fence is refused. Not here: the resource behind the gate.

use serde::{Deserialize, Serialize};

use super::FenceNumber;

/// Remembers the highest fence that it has admitted, and refuses lower fences.
///
/// One gate protects one resource, and all writes to the resource pass it. A gate in memory is lost when its owner
/// ends, and a new gate admits any first fence, even the fence of a former leader. If the resource outlives the gate,
/// store the gate with the resource by serde; or store only its highest fence, and let a new gate [admit](Self::admit)
/// it first.
///
/// ```
/// use actix_bully::leader::fence::{FenceNumber, FencingGate, NoFence, Stale};
/// # fn main() -> Result<(), NoFence> {
/// let (former, present) = (FenceNumber::try_from(1)?, FenceNumber::try_from(2)?);
/// let mut gate = FencingGate::default();
/// assert_eq!(gate.admit(former), Ok(()));
/// assert_eq!(gate.admit(present), Ok(()));
/// assert_eq!(gate.admit(present), Ok(())); // the same leader again
/// assert_eq!(gate.admit(former), Err(Stale { fence: former, highest: present }));
/// assert_eq!(gate.refused(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FencingGate {
    highest: Option<FenceNumber>,
    /// Number of refused fences. It is not stored with the gate, because each refusal was reported when it happened.
    #[serde(skip)]
    refused: u64,
}

impl FencingGate {
    /// Admits a fence, or a message with a fence, unless a higher fence was admitted before.
    ///
    /// # Errors
    /// [`Stale`], with the refused fence and the highest admitted fence. Only the gate's count of refusals changes.
    pub fn admit(&mut self, fence: impl Into<FenceNumber>) -> Result<(), Stale> {
        let fence = fence.into();
        if let Some(highest) = self.highest.filter(|highest| fence < *highest) {
            self.refused = self.refused.saturating_add(1);
            return Err(Stale { fence, highest });
        }
        self.highest = Some(fence);
        Ok(())
    }

    /// Returns the highest fence admitted so far.
    pub const fn highest(&self) -> Option<FenceNumber> {
        self.highest
    }

    /// Returns the number of fences that were refused since this gate was made, or was read from a store.
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

/// The refusal of a message from a former leader: a later leader's fence was admitted before.
///
/// The refusal is final. The sender does not lead any more: it must drop the work and not send it again.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error(
    "the fence {fence} is stale, because {highest} was admitted: a later leader writes here, so drop this work"
)]
pub struct Stale {
    /// The fence that was refused.
    pub fence: FenceNumber,
    /// The highest fence that was admitted.
    pub highest: FenceNumber,
}

debug_is_text!(Stale);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_that_was_stored_refuses_what_it_refused() {
        let fence = |number: i64| FenceNumber::try_from(number).unwrap();
        let mut gate = FencingGate::default();
        gate.admit(fence(2)).unwrap();
        let stored = serde_json::to_string(&gate).unwrap();
        let mut read: FencingGate = serde_json::from_str(&stored).unwrap();
        let stale = read.admit(fence(1)).unwrap_err().to_string();
        let says = "the fence 1 is stale, because 2 was admitted";
        assert!(stale.contains(says), "{stale}");
        assert!(read.admit(fence(2)).is_ok());
    }
}
