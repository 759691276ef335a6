//! Would these tests notice an agent that breaks a rule of the driver? Needs the feature `planted`.

use actix_bully::planted::{Defect, VARIABLE};

#[path = "../common/planted.rs"]
mod again;

#[test]
fn an_agents_defects_are_found() {
    let cases = [
        (
            Defect::EndedSteps,
            "leave::an_agent_that_hung_and_was_given_up_takes_no_step_when_it_wakes",
            "sent by an agent that was given up",
        ),
        (
            Defect::EndedSaves,
            "leave::an_agent_that_was_given_up_while_it_saved_sends_nothing_afterwards",
            "left: Some(1)",
        ),
        (
            Defect::RevokedLast,
            "leadership::a_gained_leadership_is_published_after_all_effects_and_a_lost_one_before",
            "resign to prompter, leads",
        ),
        (
            Defect::WorksAfterLease,
            "leases::nothing_of_the_work_is_polled_after_its_lease_not_even_after_a_suspend",
            "the timers have 10 s to go",
        ),
        (
            Defect::EndedIsHeard,
            "effects::messages_of_strangers_and_of_ended_incarnations_never_reach_the_machine",
            "left: [\"toy.1 peer says a former incarnation\"",
        ),
        (
            Defect::FirstDrainsAll,
            "draining::two_messages_of_one_subscriber_count_once",
            "the other one works",
        ),
        (
            Defect::SendsBeforeRecord,
            "records::what_follows_a_record_waits_until_it_is_durable_and_so_does_everything_else",
            "left: ([\"before\", \"after 1\"",
        ),
        (
            Defect::EndConfirmedEarly,
            "lead::an_end_is_confirmed_only_when_every_lead_future_is_dropped",
            "right: Suspect",
        ),
        (
            Defect::AnyGenerationSaves,
            "records::of_two_agents_with_one_store_the_later_one_has_it",
            "right: Ended",
        ),
        (
            Defect::HandedUnbounded,
            "leader::room::a_slow_leader_has_what_its_mailbox_takes_and_senders_are_refused",
            "0 were refused",
        ),
    ];
    again::are_found("agent", VARIABLE, &cases);
}
