//! Messages of observers. Those of agents that are no members, or of incarnations that are over, do not
//! reach a machine ([`Members::admit`]).

use super::*;

#[test]
fn an_observer_that_led_in_a_former_incarnation_begins_nothing() {
    let mut kit = Kit::observer();
    let former = Coordinator {
        incarnation: Incarnation(0),
        ..coordinator(ME, OLD, 5)
    };
    kit.hear(B, former).nothing_else_happened();
}

#[test]
fn a_leader_that_is_no_voter_is_not_followed() {
    for name in [EYE, STRANGER] {
        let mut kit = Kit::following();
        kit.hear(B, coordinator(name, 99, 9))
            .sent(B, ack(Lap::Coordinator, 99, name, 0, OLD))
            .nothing_else_happened();
        assert_eq!(kit.leader().as_deref(), Some(B));
    }
}
