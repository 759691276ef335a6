//! The rules of a quorum election that are broken on purpose, to prove that the tests would find it.

use super::QuorumConfig;
use crate::parts::defects;

#[cfg(any(test, feature = "planted"))]
impl Defect {
    /// Those that show only where the voters are changed while the group runs.
    pub const OF_A_CHANGE: &[Self] = &[
        Self::SealUnwritten,
        Self::AckAfterSeal,
        Self::SealUnreported,
        Self::ReportIgnored,
        Self::LowestSealAdopted,
        Self::InstalledEarly,
        Self::EpochUnwritten,
        Self::SealNeverVoid,
        Self::SealVoidAtItsTerm,
        Self::SealBeforeLost,
        Self::QuorumNotLeft,
        Self::ListUntold,
    ];

    /// Those that show only where a voter or the network is slow.
    pub const OF_SLOWNESS: &[Self] = &[
        Self::TermPerRound,
        Self::RoundsUndoubled,
        Self::SlowPreferred,
    ];

    /// Those that show only where a store is lost or goes back, or where two processes have one name.
    pub const OF_MEMORY: &[Self] = &[
        Self::BoundToTheName,
        Self::LateVotesAtOnce,
        Self::ExcusedByOne,
        Self::DeniedHeard,
        Self::AnyStore,
        Self::IncarnationUnrecorded,
        Self::OldCopyVotes,
        Self::AnnouncementForgotten,
    ];
}

impl QuorumConfig {
    /// Whether that lock of a term is missing, alone or with the others.
    pub(super) fn lacks(&self, lock: Defect) -> bool {
        self.has(lock) || self.has(Defect::TermUnlocked)
    }

    /// Whether that rule is missing by which a name is not one voter for ever, alone or with the others.
    pub(super) fn confuses(&self, rule: Defect) -> bool {
        self.has(rule) || self.has(Defect::OneNameOneVoter)
    }
}

defects! { QuorumConfig:
    /// `promise-outlasts-lease`: a promise is no longer than the lease.
    PromiseOfOneLease,
    /// `promise-outlasts-lease`: a promise is half as long as the lease.
    PromiseOfHalfALease,
    /// `abstain-after-restart`: a restarted voter does not abstain, though it forgot what it promised.
    NoQuarantine,
    /// `vote-against-no-promise`: a vote is given although another leader has a live promise.
    GrantIgnoresPromise,
    /// `persist-before-send`: the record is changed and never made durable.
    VolatileVote,
    /// `claim-beside-own-vote`: an agent counts a vote of its own that is never made durable.
    OwnVoteUnwritten,
    /// `one-vote-per-term`: a vote does not raise the voter's term.
    VoteKeepsTerm,
    /// `one-vote-per-term`: a voter votes twice in one term.
    VoteTwice,
    /// `lease-before-leading`: the leadership begins with the votes, not with the acknowledgements.
    BeliefWithoutAcks,
    /// `lease-from-send-time`: the lease counts from when the acknowledgement arrived.
    LeaseFromArrival,
    /// `lease-ends-by-clock`: the lease ends with a timer, not by the clock.
    BeliefByTimer,
    /// `lose-before-resign`: the leadership goes on after `Resign` was sent.
    BeliefAfterResign,
    /// `lead-in-given-term`: a term is given before it was voted for, and taken by whoever is named.
    GivenUnvoted,
    /// `prepare-before-drain`: a leader leads in the term that its successor has the votes for.
    GivenLed,
    /// `vote-ahead`: after a vote ahead any leader of an earlier term is followed, until there is another one.
    OldTermFollowed,
    /// `resignation-is-final`: `Resign` voids any holder's promise. Harmless while `Resign` names the term led.
    ResignVoidsAny,
    /// `resignation-is-final`: `Resign` of any incarnation voids the promise to the present one.
    ResignationOfAnyLife,
    /// `claim-for-a-reason`: an agent that is named claims the term after the next one, too, without consent.
    ClaimUnasked,
    /// `one-leader-per-term`: no voter says that another agent leads in that term, and no leader heeds that.
    SameTermUnanswered,
    /// `claim-for-a-reason`, `answer-the-asker` and `one-leader-per-term`, all at once: each of them keeps two agents from
    /// leading in one term where the other two are missing.
    TermUnlocked,
    /// `void-seal`: with the seal a voter forgets its vote in that term.
    VoteLostWithSeal,
    /// `answer-the-asker`: an answer counts for whichever incarnation hears it, and a vote for whichever agent.
    AnswersUnaddressed,
    /// Configuration: half of an even number of voters is taken for a majority.
    HalfIsAQuorum,
    /// `only-confirmed-end-voids`: the end of any former incarnation voids the promise to the present one.
    EndOfAnyLife,
    /// `told-end-is-exact`: the end of a later incarnation, which another process told, voids the promise to an earlier one.
    EndOfLaterLife,
    /// `only-confirmed-end-voids`: a suspicion voids a promise.
    GuessIsCertain,
    /// `bound-to-one-incarnation`: a promise and a vote are for a name, in whatever incarnation.
    BoundToTheName,
    /// `abstain-when-late`: a voter without a record votes at once, whatever elections there were.
    LateVotesAtOnce,
    /// `excused-by-all`: one voter that knows nothing of a voter excuses it.
    ExcusedByOne,
    /// `excused-by-all`: an incarnation is heard although a later one was told that it is unknown.
    DeniedHeard,
    /// `one-store-per-voter`: a voter is heard with any store.
    AnyStore,
    /// `bound-to-one-incarnation`, `abstain-when-late`, `one-store-per-voter`, `told-end-is-exact`, `older-than-remembered`, all
    /// at once: a second process or another store mostly does harm only where several of them are missing.
    OneNameOneVoter,
    /// `incarnation-before-word`: the record names no incarnation.
    IncarnationUnrecorded,
    /// `older-than-remembered`: an agent goes on with a record that others know to be old.
    OldCopyVotes,
    /// `remember-who-took-part`: only votes and acknowledgements are remembered, and no announcement.
    AnnouncementForgotten,
    /// `lease-within-promise`: a lease is as long as the leader's own timings say, whatever was promised.
    LeaseByOwnTimings,
    /// `record-longest-promise`: the record keeps no promise.
    PromiseUnrecorded,
    /// `record-longest-promise`: the record keeps a shorter promise before a quarantine of the longer one is over.
    PromiseLoweredEarly,
    /// `abstain-after-restart`: the quarantine is one promise of the present timings, whatever the record keeps.
    QuarantineOfOwnPromise,
    /// `seal-before-word`: a seal is not made durable.
    SealUnwritten,
    /// `no-support-after-seal`: a voter acknowledges a leader of the term that it has sealed.
    AckAfterSeal,
    /// `report-seal`: a vote does not report the seal of its voter.
    SealUnreported,
    /// `adopt-highest-seal`: a candidate leads although its votes report a seal.
    ReportIgnored,
    /// `adopt-highest-seal`: of several lists that were reported, a candidate takes that of the lowest term.
    LowestSealAdopted,
    /// `install-after-quorum`: a list counts as decided one seal too early.
    InstalledEarly,
    /// `epoch-before-word`: an epoch is entered without a durable record of its list.
    EpochUnwritten,
    /// `void-seal`: a seal is never void.
    SealNeverVoid,
    /// `void-seal`: a seal is void for a leader of its own term.
    SealVoidAtItsTerm,
    /// `lose-before-seal`: the leader seals, and its leadership has not ended.
    SealBeforeLost,
    /// `leave-a-quorum`: a change begins although too few voters of the next list are there.
    QuorumNotLeft,
    /// `same-term-again`, `late-vote-counts`: each round of a claim is for a higher term, and a late vote counts no more.
    TermPerRound,
    /// `longer-after-late-answer`: a round is never longer than E.
    RoundsUndoubled,
    /// `slow-waits`: a voter whose disk is slow takes over by its rank.
    SlowPreferred,
    /// `tell-after-restart`: an agent that had a list decided without itself does not tell it after a restart.
    ListUntold,
}
