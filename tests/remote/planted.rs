//! Would these tests notice a bridge that breaks a rule? Needs the feature `planted`.

use actix_bully::planted::{Defect, VARIABLE};

#[path = "../common/planted.rs"]
mod again;

#[test]
fn a_bridges_defects_are_found_between_hosts() {
    let cases = [
        (
            Defect::AnyEpochJoined,
            "epochs::one_epoch_with_two_lists_is_refused_until_one_of_them_is_told_of_the_next",
            "one epoch has one list",
        ),
        (
            Defect::OneVoterVouches,
            "epochs::an_absurd_epoch_is_heard_only_if_a_quorum_names_it",
            "never: one word is refused",
        ),
        (
            Defect::KindsReplaced,
            "elections::a_ring_of_two_hosts_acknowledges_every_heartbeat",
            "beat_ack",
        ),
        (
            Defect::QueueUnbounded,
            "load::a_full_queue_closes_the_link_and_its_messages_are_counted",
            "1 MiB is not that much",
        ),
        (
            Defect::OneVoterVouches,
            "ages::the_word_of_one_voter_takes_no_group_to_the_end_of_its_terms",
            "one word sufficed",
        ),
        (
            Defect::ClockNotAsked,
            "diskless::a_term_of_a_host_whose_clock_is_an_hour_ahead_passes_no_bridge",
            "never: a and b refuse the term of c's clock",
        ),
        (
            Defect::HeldNameIsGiven,
            "diskless::a_later_process_of_a_name_takes_no_part_while_the_earlier_one_lives_and_says_why",
            "!twin.is_linked",
        ),
        (
            Defect::SilenceUnprobed,
            "quiet::a_broken_link_between_followers_is_found_as_soon_as_the_leader_falls_silent",
            "the link was not asked",
        ),
        (
            Defect::HolderUnasked,
            "quiet::a_name_on_a_host_that_is_gone_is_free_soon_after_somebody_asks_for_it",
            "its holder was not asked",
        ),
        (
            Defect::AnyNode,
            "proxy::a_message_that_a_leader_has_handled_is_not_sent_to_it_again_when_it_has_moved",
            "each was handled once",
        ),
    ];
    again::are_found("remote", VARIABLE, &cases);
}
