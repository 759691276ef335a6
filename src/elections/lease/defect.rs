//! The rules of a lease that are broken on purpose, to prove that the tests would find it.

use super::LeaseConfig;
use crate::elections::shared::defects;

defects! { LeaseConfig:
    /// `nonce-of-one-attempt`: every attempt of one leadership has the same nonce.
    NonceReused,
    /// `lease-from-send-time`: the lease counts from when the answer arrived.
    LeaseFromArrival,
    /// `unknown-is-no-success`: an attempt whose outcome is unknown counts as applied.
    UnknownIsSuccess,
    /// `wait-for-the-unchanged`: a lease is over so long after the first sight of its term, renewed or not.
    ExpiryFromFirstSight,
    /// `a-gap-begins-anew`: what was seen before a gap in the reads still counts.
    GapIgnored,
    /// `a-gap-begins-anew`: a lease that is found released after a gap is taken at once.
    ReleaseBelieved,
    /// `term-above-all`: the term counts on from the record alone.
    TermFromTheRecord,
}
