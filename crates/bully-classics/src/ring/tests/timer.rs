//! Timers and `SetScore`: `miss-a-silent-leader`, and challengers.

use super::*;

#[test]
fn a_leader_is_heard_by_the_ring_and_by_observers() {
    let mut kit = Kit::leading();
    for count in 1..4 {
        kit.later(H)
            .fire(RingTimer::Heartbeat)
            .set(RingTimer::Heartbeat, H)
            .sent_to(&[EYE], beat(ME, MINE, 5, count))
            .passed(Z, Lap::Coordinator, beat(ME, MINE, 5, count))
            .nothing_else_happened();
        kit.hear(Z, ack(Lap::Coordinator, MINE, ME, count, MINE))
            .nothing_else_happened();
        kit.hear(B, beat(ME, MINE, 5, count))
            .sent(B, ack(Lap::Coordinator, MINE, ME, count, MINE))
            .set(RingTimer::Silence, LOST)
            .nothing_else_happened();
    }
    kit.later(1)
        .fire(RingTimer::Heartbeat)
        .set(RingTimer::Heartbeat, H - 1)
        .nothing_else_happened();
}

/// A member that took the announcement knows the higher term, and takes no heartbeat of the lower one.
#[test]
fn a_leader_whose_new_announcement_is_lost_begins_again() {
    let kit = Kit::leading().after(B, nominate(MINE + 1, A, ME, &[A, B]));
    let mut kit = kit.acked(Z, Lap::Coordinator, MINE + 1, ME, 0);
    kit.later(TOKEN)
        .fire(RingTimer::Token)
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(MINE + 2, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Leader, "meanwhile");
}

#[test]
fn a_challenger_that_falls_back_gives_up() {
    let slow = RingConfig {
        challenge_after: Duration::from_secs(1),
        ..lan()
    };
    let mut kit = Kit::unborn(slow, MemberKind::Voter, Some(5))
        .started()
        .after(B, coordinator(B, OLD, 9));
    kit.set_score(50)
        .set(RingTimer::Slot, 1_000)
        .nothing_else_happened();
    kit.later(900).set_score(5).nothing_else_happened();
    assert_eq!(kit.machine.campaign, Campaign::Idle);
    kit.set_score(50)
        .set(RingTimer::Slot, 1_000)
        .nothing_else_happened();
    let outranked = kit.clone().after(B, beat(B, OLD, 60, 1));
    assert_eq!(outranked.machine.campaign, Campaign::Idle);
    kit.later(1_000).fire(RingTimer::Slot).whatever();
    assert_eq!(kit.role(), Role::Candidate);
}
