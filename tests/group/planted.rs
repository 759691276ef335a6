//! Would these tests notice a store or a group that breaks a rule? Needs the feature `planted`.

use actix_bully::planted::{Defect, VARIABLE};

#[path = "../common/planted.rs"]
mod again;

#[test]
fn the_defects_of_stores_and_groups_are_found() {
    let cases = [
        (
            Defect::AnyGenerationSaves,
            "store::beginnings::one_that_began_before_the_latest_saves_nothing",
            "asked for in time, and too late",
        ),
        (
            Defect::DamagedIsFresh,
            "store::refusals::open_refuses_what_is_damaged_and_leaves_it_alone",
            "damaged: FileStore",
        ),
        (
            Defect::ForgottenWhenOpened,
            "store::records::a_store_is_fresh_until_the_first_save",
            "left: None",
        ),
        (
            Defect::FailureIsForgotten,
            "store::faults::a_save_that_failed_is_the_last",
            "failed for good",
        ),
        (
            Defect::ReportOfAnyRoute,
            "basics::a_report_counts_only_for_the_route_it_names",
            "left: Members { list: Roster { list: []",
        ),
    ];
    again::are_found("group", VARIABLE, &cases);
}
