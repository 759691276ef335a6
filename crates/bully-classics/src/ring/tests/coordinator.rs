//! `Coordinator`: announcements and heartbeats, `lead-when-home`, `follow-the-newest`.

use super::*;

#[test]
fn an_announcement_is_followed_and_passed_on_once() {
    let mut kit = Kit::waiting();
    kit.hear(B, coordinator(B, 1, 9))
        .sent(B, ack(Lap::Coordinator, 1, B, 0, 0))
        .followed(B, 1)
        .passed(Z, Lap::Coordinator, coordinator(B, 1, 9))
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Follower, "the election is over");
    kit.hear(B, coordinator(B, 1, 9)) // a copy
        .sent(B, ack(Lap::Coordinator, 1, B, 0, 1))
        .nothing_else_happened();
}

#[test]
fn an_older_announcement_is_stale() {
    let mut kit = Kit::following();
    for stale in [coordinator(Z, OLD - 1, 99), coordinator(Z, OLD, 3)] {
        let term = stale.term.0;
        kit.hear(A, stale)
            .sent(A, ack(Lap::Coordinator, term, Z, 0, OLD))
            .nothing_else_happened();
    }
    // In one term the higher in rank is right.
    kit.hear(A, coordinator(Z, OLD, 99))
        .sent(A, ack(Lap::Coordinator, OLD, Z, 0, OLD))
        .followed(Z, OLD)
        .passed(Z, Lap::Coordinator, coordinator(Z, OLD, 99))
        .nothing_else_happened();
}

#[test]
fn the_winner_leads_when_its_announcement_comes_home() {
    let mut kit = Kit::announced();
    assert_eq!(kit.role(), Role::Candidate);
    kit.hear(B, coordinator(ME, MINE, 5))
        .sent(B, ack(Lap::Coordinator, MINE, ME, 0, MINE))
        .set(RingTimer::Heartbeat, H)
        .set(RingTimer::Silence, LOST)
        .acquired(MINE)
        .sent_to(&[EYE], coordinator(ME, MINE, 5))
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Leader);
}

#[test]
fn a_leader_yields_to_a_newer_announcement() {
    let mut kit = Kit::leading();
    kit.hear(A, coordinator(B, MINE + 1, 9))
        .sent(A, ack(Lap::Coordinator, MINE + 1, B, 0, MINE))
        .lost(MINE, LostReason::Superseded)
        .followed(B, MINE + 1)
        .passed(Z, Lap::Coordinator, coordinator(B, MINE + 1, 9))
        .nothing_else_happened();
    let mut kit = Kit::leading();
    kit.hear(A, coordinator(B, MINE, 9)).whatever(); // the same term, a higher rank
    assert_eq!(kit.leader().as_deref(), Some(B));
    let mut kit = Kit::leading();
    kit.hear(A, coordinator(Z, MINE, 3)) // the same term, a lower rank
        .sent(A, ack(Lap::Coordinator, MINE, Z, 0, MINE))
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
    // A heartbeat does not begin the time anew; one of a better leader ends it.
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
fn an_observer_tells_an_old_leader_the_newest_term() {
    let mut kit = Kit::observer().after(B, coordinator(B, OLD, 9));
    kit.hear(Z, beat(Z, OLD - 1, 3, 1))
        .sent(Z, ack(Lap::Coordinator, OLD - 1, Z, 1, OLD))
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
        "for the outcome of the later one"
    );
}
