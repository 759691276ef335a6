//! The rules of voters without a disk that are broken on purpose, to prove that the tests would find it.

use super::Diskless;
use crate::parts::defects;

defects! { Diskless:
    /// `term-by-the-clock`: terms are only counted.
    CountedTerms,
    /// `no-term-ahead`: every term that is heard is taken.
    AnyTerm,
    /// `abstain-without-memory`: an incarnation abstains for half a promise.
    ShortAbstention,
    /// `recover-by-a-quorum`: an incarnation that has abstained asks nobody.
    NoRecovery,
    /// `recover-by-the-clock`: a quorum that answered is enough, though others may remember.
    SilenceIsAnAnswer,
    /// `ask-after-the-claims`: an incarnation asks as soon as it begins.
    EarlyAnswers,
    /// `votes-expire`: a vote counts whenever it arrives.
    LateVotes,
    /// `bound-to-one-life`: a voter follows whoever announces itself in a higher term.
    BoundToNobody,
    /// `raise-above-observers`: an observer that has followed a higher term ignores a leader, and says nothing.
    SilentObserver,
}
