//! Defects planted on purpose, to prove that the tests would find them.
//!
//! Nothing here can be switched on in a build without the feature `planted`, which is never
//! enabled by default: without it each guard is a constant `false`.

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// C1: a promise is no longer than the lease.
    PromiseOfOneLease,
    /// C1: a promise is half as long as the lease.
    PromiseOfHalfALease,
    /// S1: a restarted voter does not abstain, though it forgot what it promised.
    NoQuarantine,
    /// C2: a vote is given although another leader has a live promise.
    GrantIgnoresPromise,
    /// C2, A2: the record is changed and never made durable.
    VolatileVote,
    /// C2: a vote does not raise the voter's term.
    VoteKeepsTerm,
    /// C2: a voter votes twice in one term.
    VoteTwice,
    /// A1: belief begins with the votes, not with the acknowledgements.
    BeliefWithoutAcks,
    /// A3: the lease counts from when the acknowledgement arrived.
    LeaseFromArrival,
    /// A6: belief ends with a timer, not by the clock.
    BeliefByTimer,
    /// R1: belief goes on after `Resign` was sent.
    BeliefAfterResign,
    /// R2: `Resign` voids any holder's promise. Harmless while `Resign` names the term led.
    ResignVoidsAny,
    /// Configuration: half of an even number of voters is taken for a majority.
    HalfIsAQuorum,
    /// F1: the end of any former life voids the promise to the present one.
    EndOfAnyLife,
    /// F2: a guess voids a promise.
    GuessIsCertain,
    /// L1: a lease is as long as the leader's own timings say, whatever was promised.
    LeaseByOwnTimings,
    /// L2: the record keeps no promise.
    PromiseUnrecorded,
    /// L2: the record keeps a shorter promise before a quarantine of the longer one is over.
    PromiseLoweredEarly,
    /// S1: the quarantine is one promise of the present timings, whatever the record keeps.
    QuarantineOfOwnPromise,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::PromiseOfOneLease,
        Self::PromiseOfHalfALease,
        Self::NoQuarantine,
        Self::GrantIgnoresPromise,
        Self::VolatileVote,
        Self::VoteKeepsTerm,
        Self::VoteTwice,
        Self::BeliefWithoutAcks,
        Self::LeaseFromArrival,
        Self::BeliefByTimer,
        Self::BeliefAfterResign,
        Self::ResignVoidsAny,
        Self::HalfIsAQuorum,
        Self::EndOfAnyLife,
        Self::GuessIsCertain,
        Self::LeaseByOwnTimings,
        Self::PromiseUnrecorded,
        Self::PromiseLoweredEarly,
        Self::QuarantineOfOwnPromise,
    ];
}
