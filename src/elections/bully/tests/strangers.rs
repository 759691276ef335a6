//! Messages of observers: no cell takes any notice of them. Those of agents that are no members, or of
//! incarnations that are over, do not reach a machine ([`Members::admit`]).

use super::*;

#[test]
fn an_observer_is_neither_asked_nor_followed() {
    for (role, mut me) in Kit::roles() {
        let before = me.machine.state.clone();
        me.hear(EYE, elect(99)).nothing_else_happened();
        me.hear(EYE, elected(20, 99)).nothing_else_happened();
        me.hear(EYE, heartbeat(20, 99)).nothing_else_happened();
        assert_eq!(me.machine.state, before, "{role}");
    }
}
