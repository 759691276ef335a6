//! Timers that come early, late, or for nothing; the others are beside what they end.

use super::*;

#[test]
fn a_coordinator_that_was_stalled_for_longer_than_others_wait_is_free_again() {
    let mut me = Kit::leading();
    assert_eq!(
        me.later(60 + 251).fire(InvitationTimer::Check),
        ["lost the leadership of term 5: stalled", "set Slot 54"]
    );
    let said = Kit::leading().later(60 + 250).fire(InvitationTimer::Check);
    assert_eq!(
        said,
        ["all: are you coordinator? of 5.me", "set Check 27"],
        "just in time"
    );
}

#[test]
fn a_leadership_holds_for_the_detection_time_without_another_step() {
    let me = Kit::leading();
    let until = me.now.after(Duration::from_millis(250));
    assert_eq!(me.machine.view(me.now).valid_until, until);
}

#[test]
fn people_learn_its_durations() {
    let longest = lan().worst_case_merge_with_losses();
    assert_eq!(longest, Duration::from_millis(27 + 200 + 9));
    assert!(InvitationElection::timings(&Arc::new(lan())).is_some());
}
