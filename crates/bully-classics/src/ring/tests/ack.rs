//! `HopAck` and the hop: `skip-the-silent`.

use super::*;

#[test]
fn only_the_receiver_of_a_message_can_acknowledge_it() {
    let mut kit = Kit::candidate();
    kit.hear(B, ack(Lap::Collect, 1, ME, 0, 0))
        .nothing_else_happened();
    kit.hear(Z, ack(Lap::Nominate, 1, ME, 0, 0))
        .nothing_else_happened();
    assert_eq!(kit.machine.awaited().collect::<Vec<_>>(), [&id(Z)]);
    // An acknowledgement of an earlier message shows that the member is up. The present message still has its full
    // time.
    kit.later(RESEND - 1)
        .hear(Z, ack(Lap::Collect, 0, ME, 0, 0))
        .nothing_else_happened();
    kit.later(1).fire(RingTimer::Hop(Lap::Collect)).whatever();
    assert_eq!(kit.suspects(), [""; 0]);
}

#[test]
fn an_acknowledgement_of_another_message_does_not_end_the_wait() {
    for other in [
        ack(Lap::Collect, 0, ME, 0, 0),
        ack(Lap::Collect, 2, ME, 0, 0),
        ack(Lap::Collect, 1, B, 0, 0),
        ack(Lap::Collect, 1, ME, 1, 0),
    ] {
        let mut kit = Kit::candidate();
        kit.hear(Z, other).nothing_else_happened();
        assert_eq!(kit.machine.awaited().collect::<Vec<_>>(), [&id(Z)]);
        kit.now = kit.now.after(lan().resend());
        kit.fire(RingTimer::Hop(Lap::Collect))
            .passed(Z, Lap::Collect, collect(1, (ME, 5), &[(ME, 5)]))
            .nothing_else_happened();
    }
}

#[test]
fn silence_is_answered_by_a_copy_and_then_by_the_next_member() {
    let mut kit = Kit::candidate();
    let token = collect(1, (ME, 5), &[(ME, 5)]);
    let (half, hop) = (lan().resend(), RingTimer::Hop(Lap::Collect));
    kit.now = kit.now.after(half);
    kit.fire(hop)
        .passed(Z, Lap::Collect, token.clone())
        .nothing_else_happened();
    kit.now = kit.now.after(half);
    kit.fire(hop)
        .set(RingTimer::Probe, PROBE)
        .passed(A, Lap::Collect, token.clone())
        .nothing_else_happened();
    assert_eq!(kit.suspects(), [Z]);
    // No member answers, so the message counts as returned to its origin.
    for _ in 0..4 {
        kit.now = kit.now.after(half);
        kit.fire(hop).whatever();
    }
    assert_eq!(kit.role(), Role::Leader);
    assert_eq!(kit.suspects(), [A, B, Z]);
}

#[test]
fn sent_once_the_hop_is_as_the_source_has_it() {
    let once = RingConfig {
        sends: 1,
        hop: Some(Duration::from_millis(HOP)),
        ..lan()
    };
    let mut kit = Kit::unborn(once, MemberKind::Voter, Some(5)).started();
    kit.later(S).fire(RingTimer::Slot).whatever();
    kit.later(HOP)
        .fire(RingTimer::Hop(Lap::Collect))
        .set(RingTimer::Probe, PROBE)
        .whatever();
    assert_eq!(kit.suspects(), [Z]);
}

#[test]
fn a_member_that_was_late_itself_asks_once_more() {
    let mut kit = Kit::candidate();
    kit.later(RESEND + 1)
        .fire(RingTimer::Hop(Lap::Collect))
        .whatever();
    kit.later(RESEND + D + 2)
        .fire(RingTimer::Hop(Lap::Collect))
        .passed(Z, Lap::Collect, collect(1, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
    assert_eq!(kit.suspects(), [""; 0]);
    kit.later(RESEND + D + 2)
        .fire(RingTimer::Hop(Lap::Collect))
        .whatever();
    assert_eq!(kit.suspects(), [Z], "once");
}

#[test]
fn an_agent_without_a_leader_waits_for_the_one_that_others_know() {
    let mut kit = Kit::candidate();
    kit.hear(Z, ack(Lap::Collect, 1, ME, 0, 6))
        .set(RingTimer::Slot, LOST)
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Follower, "its own election is too old");
    kit.later(LOST)
        .fire(RingTimer::Slot)
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(7, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
}
