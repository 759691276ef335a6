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
fn an_observer_that_led_in_a_former_incarnation_begins_nothing() {
    let mut kit = Kit::observer();
    let former = Coordinator {
        incarnation: Incarnation(0),
        ..coordinator(ME, OLD, 5)
    };
    kit.hear(B, former).nothing_else_happened();
}
