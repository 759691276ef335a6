//! Timers: `restart-lost-election`, `miss-a-silent-leader`, and an agent that was stalled itself.

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
