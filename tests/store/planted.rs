//! Would these tests notice a store that breaks a rule? Needs the feature `planted`.

use actix_bully::planted::{Defect, VARIABLE};

#[path = "../common/planted.rs"]
mod again;

#[test]
fn a_stores_defects_are_found() {
    let cases = [
        (
            Defect::AnyGenerationSaves,
            "beginnings::who_began_before_the_latest_saves_nothing",
            "asked for in time, and too late",
        ),
        (
            Defect::DamagedIsFresh,
            "refusals::open_refuses_what_is_damaged_and_leaves_it_alone",
            "damaged: FileStore",
        ),
        (
            Defect::ForgottenWhenOpened,
            "records::a_store_is_fresh_until_the_first_save",
            "left: None",
        ),
        (
            Defect::FailureIsForgotten,
            "faults::a_save_that_failed_is_the_last",
            "failed for good",
        ),
    ];
    again::are_found("store", VARIABLE, &cases);
}
