//! The rules of a lease that are broken on purpose, to prove that the tests would find it.

use super::LeaseConfig;
use crate::parts::defects;

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
    /// `a-gap-begins-anew`: an attempt that was applied after a gap counts.
    LateAttemptBelieved,
    /// `wait-for-the-unchanged`: the wait begins when the read was sent that first showed the record.
    WaitFromSending,
    /// `gap-from-sending`: a gap begins when an answer arrived.
    GapFromArrival,
    /// `gap-from-sending`: a gap ends when the next read was sent.
    GapToSending,
    /// `gap-from-sending`: twice the time of an answer is allowed, however much that is.
    GapWithoutLimit,
    /// `gap-from-sending`: no more is allowed for a store that answers slowly.
    AnswersNotMeasured,
    /// `gap-from-sending`: an answer that is told unasked counts as read when it arrives.
    AgeIgnored,
    /// `gap-from-sending`: a longer gap does not prolong the wait.
    WaitNotLonger,
    /// `unbroken-chain`: what is read counts, whatever was told before.
    ChainIgnored,
    /// `renews-when-answered`: the lease is renewed every H, also while the answer to the last renewal is awaited.
    AnswersAwaitedNot,
    /// `slow-waits`: an agent whose way to the store is slow claims the lease, and takes it, by its rank.
    SlowPreferred,
    /// `longest-lease-seen`: the wait is for the lease that the record says, or for one's own where there is none.
    LeaseForgotten,
    /// `longest-lease-seen`: a record of an earlier term that shows a lease released is believed.
    EarlierBelieved,
    /// `no-second-chance`: an attempt that cannot be applied any more counts when a store that went back applies it.
    SecondChance,
    /// `term-above-all`: the term counts on from the record alone.
    TermFromTheRecord,
}
