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

    fn fence(number: i64) -> FenceNumber {
        FenceNumber::try_from(number).unwrap()
    }

    /// There are two or more leaders, and their messages overtake each other in every way.
    #[test]
    fn the_fences_admitted_never_decrease_in_any_order_of_messages() {
        let mut refused = 0;
        for seed in 0..2_000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut gate = FencingGate::default();
            let mut admitted = Vec::new();
            for _ in 0..random.usize(1..60) {
                // The fences belong to a few leaders, of several epochs of voters.
                let fence = fence(random.i64(0..3) << 40 | random.i64(1..6));
                let highest = admitted.last().copied();
                match gate.admit(fence) {
                    Ok(()) => admitted.push(fence),
                    Err(stale) => {
                        assert_eq!((stale.fence, Some(stale.highest)), (fence, highest));
                        refused += 1;
                    }
                }
                // The gate refuses only lower fences.
                assert_eq!(gate.highest(), highest.max(Some(fence)), "seed {seed}");
            }
            assert!(admitted.is_sorted(), "seed {seed}: {admitted:?}");
        }
        assert!(refused > 10_000, "{refused}");
    }

    #[test]
    fn a_gate_that_was_stored_refuses_what_it_refused() {
        let mut gate = FencingGate::default();
        gate.admit(fence(2)).unwrap();
        let stored = serde_json::to_string(&gate).unwrap();
        let mut read: FencingGate = serde_json::from_str(&stored).unwrap();
        assert!(read.admit(fence(1)).is_err());
        assert!(read.admit(fence(2)).is_ok());
    }

    #[test]
    fn an_error_names_both_fences() {
        let mut gate = FencingGate::default();
        gate.admit(fence(2)).unwrap();
        let stale = gate.admit(fence(1)).unwrap_err();
        let text = stale.to_string();
        assert!(
            text.contains("the fence 1 is stale, because 2 was admitted"),
            "{text}"
        );
    }
}
