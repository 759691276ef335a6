//! Defects of a record file planted on purpose, to prove that the tests would find them.
//!
//! Decided here: which of them this process has. Its environment names the defect, by the variable that the agent's
//! defects have too. A test that looks for a defect starts a process of its own. Without the feature `planted` each
//! guard is a constant `false`.

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// A write ends before its record is on the disk.
    RecordNotSynced,
    /// A write overwrites the slot of the newest record.
    NewestOverwritten,
    /// A record whose sync failed stays readable.
    FailedSyncStays,
    /// The record of another writer is not synced before the one before it is overwritten.
    NotConfirmed,
    /// The file is not compared with the one that has the name.
    NameNotCompared,
}

/// The variable of the environment that names the defect of a process.
#[cfg(feature = "planted")]
const VARIABLE: &str = "PLANTED";

/// Whether that rule is broken on purpose: never, but in tests of the tests.
#[cfg(feature = "planted")]
pub(crate) fn has(defect: Defect) -> bool {
    use std::{env, sync::OnceLock};

    static PLANTED: OnceLock<Option<String>> = OnceLock::new();
    let named = PLANTED.get_or_init(|| env::var(VARIABLE).ok());
    named
        .as_ref()
        .is_some_and(|name| *name == format!("{defect:?}"))
}

/// Whether that rule is broken on purpose: never, but in tests of the tests.
#[cfg(not(feature = "planted"))]
pub(crate) const fn has(_: Defect) -> bool {
    false
}

#[cfg(all(test, feature = "planted"))]
#[path = "../../../tests/common/planted.rs"]
mod again;

#[cfg(all(test, feature = "planted"))]
mod tests {
    use super::*;

    const CASES: &[(Defect, &str, &str)] = &[
        (
            Defect::RecordNotSynced,
            "record_file::tests::calls::a_record_is_synced_before_it_is_said_and_its_name_too",
            "Write, Held, Named]",
        ),
        (
            Defect::NewestOverwritten,
            "record_file::tests::crashes::after_any_call_failed_the_record_before_or_the_new_one_is_found",
            "whole and free",
        ),
        (
            Defect::FailedSyncStays,
            "record_file::tests::crashes::a_record_whose_sync_failed_is_voided_before_others_may_look",
            "left: [Held, Named, Write, SyncData]",
        ),
        (
            Defect::NotConfirmed,
            "record_file::tests::crashes::a_record_of_a_writer_that_was_killed_is_durable_before_the_one_before_it_is_overwritten",
            "is_err()",
        ),
        (
            Defect::NameNotCompared,
            "record_file::tests::named::a_record_is_not_said_once_its_name_led_elsewhere",
            "Replace before call 0: Ok(())",
        ),
    ];

    #[test]
    fn defects_are_found_by_tests_of_the_parts() {
        again::are_found("bully-register", VARIABLE, CASES);
    }
}
