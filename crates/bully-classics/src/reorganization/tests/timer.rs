//! Timers: silences, checks and waits that are over.

use super::*;

#[test]
fn a_silence_of_those_above_is_their_death() {
    let mut me = Kit::asking();
    assert_eq!(
        me.later(200).fire(ReorganizationTimer::Answer),
        ["low: halt 4.me score 5", "set Answer 200"]
    );
}

#[test]
fn a_silence_of_an_agent_that_was_halted_begins_another_election() {
    for mut me in [Kit::reorganizing(), Kit::readying()] {
        assert_eq!(
            me.later(200).fire(ReorganizationTimer::Answer),
            ["persist 5", "high: are you there? 5.me", "set Answer 200"]
        );
        assert_eq!(me.machine.status(), PaperStatus::Election);
    }
}

#[test]
fn a_coordinator_checks_all_again_and_again() {
    let mut me = Kit::leading();
    for _ in 0..3 {
        assert_eq!(
            me.later(60).fire(ReorganizationTimer::Check),
            ["set Check 60", "all: are you normal? 4.me"]
        );
    }
}

#[test]
fn a_coordinator_that_was_stalled_for_longer_than_others_wait_starts_again() {
    let mut me = Kit::leading();
    assert_eq!(
        me.later(60 + 251).fire(ReorganizationTimer::Check),
        [
            "lost the leadership of term 4: stalled",
            "persist 5",
            "high: are you there? 5.me",
            "set Answer 200"
        ]
    );
    let mut me = Kit::leading();
    assert_eq!(
        me.later(60 + 250)
            .fire(ReorganizationTimer::Check)
            .lines()
            .len(),
        2,
        "just in time"
    );
}

#[test]
fn a_silent_coordinator_is_asked_and_then_given_up() {
    let mut me = Kit::following();
    assert_eq!(
        me.later(250).fire(ReorganizationTimer::Watch),
        ["high: are you there? 7.high", "set Watch 200"]
    );
    assert_eq!(me.machine.status(), PaperStatus::Normal);
    assert_eq!(
        me.later(200).fire(ReorganizationTimer::Watch).lines()[0],
        "has no leader since term 7"
    );
    assert_eq!(me.role(), Role::Candidate);
}

#[test]
fn a_leadership_holds_for_the_detection_time_without_another_step() {
    let me = Kit::leading();
    let until = me.now.after(Duration::from_millis(250));
    assert_eq!(me.machine.view(me.now).valid_until, until);
}

/// A delay, the detection and a jitter until the silence is noticed; a deadline for its answer, and an election.
#[test]
fn a_silent_coordinator_is_replaced_within_the_stated_time() {
    let config = lan();
    let (timings, detection) = (&config.timings, config.detector().detection);
    let noticed = timings.delay_bound() + detection + timings.jitter();
    let election = 2 * timings.deadline() + 4 * timings.delay_bound();
    assert_eq!(config.worst_case_election_with_losses(), election);
    let failover = noticed + timings.deadline() + election;
    assert_eq!(config.worst_case_failover(), failover);
}
