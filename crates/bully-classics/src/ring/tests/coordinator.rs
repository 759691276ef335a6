//! `Coordinator`: announcements and heartbeats (`lead-when-home`, `follow-the-newest`).

use super::*;

#[test]
fn an_older_announcement_is_stale() {
    let mut kit = Kit::following();
    for stale in [coordinator(Z, OLD - 1, 99), coordinator(Z, OLD, 3)] {
        let term = stale.term.0;
        kit.hear(A, stale)
            .sent(A, ack(Lap::Coordinator, term, Z, 0, OLD))
            .nothing_else_happened();
    }
    // Within one term, the leader with the higher rank is followed.
    kit.hear(A, coordinator(Z, OLD, 99))
        .sent(A, ack(Lap::Coordinator, OLD, Z, 0, OLD))
        .followed(Z, OLD)
        .passed(Z, Lap::Coordinator, coordinator(Z, OLD, 99))
        .nothing_else_happened();
}

#[test]
fn a_challenger_leaves_the_leader_alone_for_a_while() {
    let slow = RingConfig {
        challenge_after: Duration::from_secs(1),
        ..lan()
    };
    let mut kit = Kit::unborn(slow, MemberKind::Voter, Some(5)).started();
    kit.hear(B, coordinator(A, OLD, 1))
        .sent(B, ack(Lap::Coordinator, OLD, A, 0, 0))
        .followed(A, OLD)
        .passed(Z, Lap::Coordinator, coordinator(A, OLD, 1))
        .set(RingTimer::Slot, 1_000)
        .nothing_else_happened();
    let mut kit = kit.acked(Z, Lap::Coordinator, OLD, A, 0);
    // A heartbeat does not restart the wait of the challenger. A heartbeat of a leader that ranks above the challenger
    // ends it.
    kit.later(500).hear(B, beat(A, OLD, 1, 1)).whatever();
    let planned = kit.machine.campaign.clone();
    assert!(matches!(planned, Campaign::Scheduled { due, .. } if due == Time::from_millis(2_000)));
    kit.hear(B, beat(A, OLD, 7, 2)).whatever();
    assert_eq!(kit.machine.campaign, Campaign::Idle);
}

#[test]
fn a_former_incarnation_of_this_member_is_not_followed() {
    let mut kit = Kit::scheduled();
    let former = Coordinator {
        incarnation: Incarnation(0),
        ..coordinator(ME, OLD, 5)
    };
    kit.hear(B, former)
        .sent(B, ack(Lap::Coordinator, OLD, ME, 0, 0))
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(OLD + 1, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
}

#[test]
fn a_leader_that_is_known_to_be_down_is_not_followed() {
    let mut kit = Kit::scheduled();
    kit.ends(B).whatever();
    kit.hear(A, beat(B, OLD, 9, 1))
        .sent(A, ack(Lap::Coordinator, OLD, B, 1, 0))
        .nothing_else_happened();
    assert_eq!(kit.leader(), None);
}

#[test]
fn a_stronger_election_goes_on_behind_an_announcement() {
    let mut kit = Kit::waiting().after(B, collect(8, (A, 1), &[(A, 1), (B, 9)]));
    kit.hear(B, coordinator(B, 1, 9)).whatever();
    assert_eq!(kit.leader().as_deref(), Some(B));
    assert_eq!(
        kit.role(),
        Role::Waiting,
        "the agent waits for the later election"
    );
}

#[test]
fn the_terms_end_and_do_not_wrap() {
    let mut kit = Kit::scheduled().after(B, coordinator(B, u64::MAX, 9));
    kit.step(Input::Campaign).nothing_else_happened();
    kit.ends(B).has_no_leader(u64::MAX).whatever();
    assert_eq!(kit.role(), Role::Follower);
}

#[test]
fn an_observer_that_led_in_a_former_incarnation_begins_nothing() {
    let mut kit = Kit::observer();
    let former = Coordinator {
        incarnation: Incarnation(0),
        ..coordinator(ME, OLD, 5)
    };
    kit.hear(B, former).nothing_else_happened();
}
