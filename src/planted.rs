//! Defects of the agent, the store and the bridge planted on purpose, to prove that the tests would
//! find them.
//!
//! Decided here: which of them this process has. A defect of an election is in the election's
//! configuration (`elections/*/defect.rs`). Those that are listed here concern an actor, its handles
//! on other threads, and saves on a thread for blocking work: nothing that all of these share is
//! configured. So the process as a whole has the defect that its environment names, and a test that
//! looks for a defect starts a process of its own: tests that run at the same time are undisturbed.
//!
//! Nothing here can be switched on in a build without the feature `planted`, which is never
//! enabled by default: without it each guard is a constant `false`.

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// Agent: an incarnation that was given up takes steps.
    EndedSteps,
    /// Agent: an incarnation that was given up while a record waited saves the record.
    EndedSaves,
    /// Agent: a leadership that a step ends is revoked after the step's effects, not before.
    RevokedLast,
    /// Agent: the work of `lead` is polled after the lease, until a timer says that it is over.
    WorksAfterLease,
    /// Agent: the machine is given messages of incarnations that have ended.
    EndedIsHeard,
    /// Agent: a hand-over waits for the first subscriber that is done, not for all of them.
    FirstDrainsAll,
    /// Agent: the messages of a step leave before its record is durable.
    SendsBeforeRecord,
    /// Agent: an end is confirmed while work of that incarnation still runs.
    EndConfirmedEarly,
    /// Agent: a list of voters that was decided stays unknown to the agent's group.
    ListNotPassed,

    /// Store: a record of any generation is saved.
    AnyGenerationSaves,
    /// Store: a damaged file is taken for the file of a node that never voted.
    DamagedIsFresh,
    /// Store: the record is forgotten when the file is opened.
    ForgottenWhenOpened,
    /// Store: a save whose outcome is unknown is taken for one that changed nothing.
    FailureIsForgotten,

    /// Bridge: a report about a member counts, whichever node sends it.
    ReportOfAnyRoute,
    /// Bridge: a report of a link still counts after another link took its place.
    ReplacedLinkCounts,
    /// Bridge: a group of another epoch is joined.
    AnyEpochJoined,
    /// Bridge: a repeated message that waits is replaced by one of another kind.
    KindsReplaced,
    /// Bridge: a peer's agent may say what its role does not allow.
    RoleNotAsked,
    /// Bridge: messages of a sender's former incarnation are passed on.
    FormerIsPassed,
    /// Bridge: any number of messages waits for a peer.
    QueueUnbounded,
    /// Bridge: the agents of a peer that cannot be reached are taken for ended.
    SilenceIsConfirmed,
    /// Bridge: one voter's word suffices for a term that is far ahead.
    OneVoterVouches,
    /// Bridge: a node that remembers its last incarnation begins the very next one.
    IncarnationsOverlap,
    /// Bridge: where terms go by the clock, one word suffices for any.
    ClockNotAsked,
    /// Bridge: a later process of a name is let in while the earlier one is linked.
    HeldNameIsGiven,
    /// Bridge: quiet links are not asked when the leader falls silent.
    SilenceUnprobed,
    /// Bridge: a quiet link is not asked when somebody wants a name that is held over it.
    HolderUnasked,
    /// Bridge: the bytes of a sentinel's notice are not compared with the digest.
    #[cfg(any(feature = "planted", feature = "sentinel"))]
    NoticeUnchecked,
    /// Bridge: a sentinel's notice ends the agents of every incarnation of its node.
    #[cfg(any(feature = "planted", feature = "sentinel"))]
    NoticeEndsAny,

    /// Bridge: a number is given again as soon as it is free.
    NumberGivenAtOnce,

    /// Proxy: an incarnation of an endpoint counts as the same on each node.
    AnyNode,
    /// Proxy: an actor is handed more than its mailbox takes.
    HandedUnbounded,
}

#[cfg(feature = "planted")]
impl Defect {
    /// All of them.
    pub const ALL: [Self; 32] = [
        Self::EndedSteps,
        Self::EndedSaves,
        Self::RevokedLast,
        Self::WorksAfterLease,
        Self::EndedIsHeard,
        Self::FirstDrainsAll,
        Self::SendsBeforeRecord,
        Self::EndConfirmedEarly,
        Self::ListNotPassed,
        Self::AnyGenerationSaves,
        Self::DamagedIsFresh,
        Self::ForgottenWhenOpened,
        Self::FailureIsForgotten,
        Self::ReportOfAnyRoute,
        Self::ReplacedLinkCounts,
        Self::AnyEpochJoined,
        Self::KindsReplaced,
        Self::RoleNotAsked,
        Self::FormerIsPassed,
        Self::QueueUnbounded,
        Self::SilenceIsConfirmed,
        Self::OneVoterVouches,
        Self::IncarnationsOverlap,
        Self::ClockNotAsked,
        Self::HeldNameIsGiven,
        Self::SilenceUnprobed,
        Self::HolderUnasked,
        Self::NoticeUnchecked,
        Self::NoticeEndsAny,
        Self::NumberGivenAtOnce,
        Self::AnyNode,
        Self::HandedUnbounded,
    ];
}

/// The variable of the environment that names the defect of a process.
#[cfg(feature = "planted")]
pub const VARIABLE: &str = "PLANTED";

/// Whether that rule is broken on purpose: never, but in tests of the tests.
#[cfg(feature = "planted")]
pub(crate) fn has(defect: Defect) -> bool {
    use std::{env, sync::OnceLock};

    static PLANTED: OnceLock<Option<Defect>> = OnceLock::new();
    let read = || {
        let name = env::var(VARIABLE).ok()?;
        let mut all = Defect::ALL.into_iter();
        all.find(|defect| format!("{defect:?}") == name)
    };
    *PLANTED.get_or_init(read) == Some(defect)
}

/// Whether that rule is broken on purpose: never, but in tests of the tests.
#[cfg(not(feature = "planted"))]
pub(crate) const fn has(_: Defect) -> bool {
    false
}

#[cfg(all(test, feature = "planted"))]
#[path = "../tests/common/planted.rs"]
mod again;

#[cfg(all(test, feature = "planted"))]
mod tests {
    use super::*;

    const CASES: &[(Defect, &str, &str)] = &[
        (
            Defect::ReplacedLinkCounts,
            "remote::tests::registry::changes_of_a_replaced_link_count_for_nothing",
            "presence: Down, incarnation: Some(Incarnation(9))",
        ),
        (
            Defect::KindsReplaced,
            "remote::carry::outbox::tests::kinds::a_repeated_message_stands_for_none_of_another_kind_in_a_ring",
            "once each, and none for another",
        ),
        (
            Defect::FormerIsPassed,
            "remote::tests::inbound::messages::a_message_of_a_former_incarnation_is_dropped",
            "right: Ok(Err(FormerIncarnation))",
        ),
        (
            Defect::QueueUnbounded,
            "remote::carry::outbox::tests::over_its_limit_a_queue_of_a_slow_peer_is_given_up_and_the_loss_is_counted",
            "20,000 messages are more than 1 MiB",
        ),
        (
            Defect::NumberGivenAtOnce,
            "remote::carry::announce::tests::a_number_rests_until_many_others_are_free_or_the_other_side_has_no_place_left",
            "has a number of its own",
        ),
        (
            Defect::OneVoterVouches,
            "remote::carry::terms::tests::a_voter_that_lies_is_believed_as_far_as_an_honest_one_goes",
            "right: Ok(false)",
        ),
        (
            Defect::OneVoterVouches,
            "remote::carry::epochs::tests::a_near_epoch_is_heard_and_a_far_one_only_if_a_quorum_of_voters_names_it",
            "one, however often",
        ),
        (
            Defect::IncarnationsOverlap,
            "remote::bridge::memory::tests::every_start_is_later_whatever_the_clock_shows",
            "than those of its agents",
        ),
        (
            Defect::ClockNotAsked,
            "remote::carry::guard::tests::voters_without_disks_go_by_the_clock",
            "right: Ok(false)",
        ),
        (
            Defect::HeldNameIsGiven,
            "remote::tests::handshake::a_later_process_of_a_name_waits_while_the_earlier_one_is_linked",
            "left: (None, None)",
        ),
        #[cfg(feature = "sentinel")]
        (
            Defect::NoticeUnchecked,
            "remote::sentinel::notices::tests::whatever_else_a_stranger_sends_is_refused_by_name_and_changes_nothing",
            "right: Err(WrongBytes)",
        ),
        #[cfg(feature = "sentinel")]
        (
            Defect::NoticeEndsAny,
            "remote::tests::registry::a_sentinel_ends_the_agents_of_exactly_the_incarnation_that_it_names",
            "named by the next one",
        ),
    ];

    #[test]
    fn defects_are_found_by_tests_of_the_parts() {
        again::are_found("lib", VARIABLE, CASES);
    }
}
