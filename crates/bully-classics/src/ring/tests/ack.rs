//! `HopAck` and the hop: `skip-the-silent`.

use super::*;

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
