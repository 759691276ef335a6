//! Messages, of whatever kind, from who is not there: no cell takes any notice of them.

use super::*;

/// One message of each kind; the answers are to the last round.
fn every_message(me: &Kit) -> [BullyMessage; 7] {
    let counter = me.bully.rounds;
    [
        elect(9).into(),
        ok(counter).into(),
        releases(counter, 20).into(),
        yields(counter).into(),
        elected(20, 9).into(),
        heartbeat(20, 9).into(),
        resign(20, Some(ME)).into(),
    ]
}

fn is_deaf_to(from: &str, life: u64, change: impl Fn(&mut Members)) {
    for (role, mut me) in Kit::roles() {
        me.told(&change).whatever();
        let before = me.bully.clone();
        for message in every_message(&me) {
            me.hear_life(from, life, message).nothing_else_happened();
        }
        assert_eq!(me.bully, before, "{role}");
    }
}

#[test]
fn a_stranger_is_not_heard() {
    is_deaf_to(STRANGER, 1, |_| ());
}

#[test]
fn its_own_name_is_not_heard() {
    is_deaf_to(ME, 1, |_| ());
    is_deaf_to(ME, 2, |_| ());
}

#[test]
fn a_life_that_has_ended_is_not_heard() {
    for name in [HIGH, LOW] {
        is_deaf_to(name, 1, |members| {
            members.down(&id(name), Incarnation(1));
        });
    }
}

#[test]
fn a_life_with_a_successor_is_not_heard() {
    for name in [HIGH, LOW] {
        is_deaf_to(name, 1, |members| {
            members.up(&id(name), Incarnation(2));
        });
    }
}

#[test]
fn who_has_left_is_not_heard() {
    for name in [HIGH, LOW] {
        is_deaf_to(name, 1, |members| {
            members.leave(&id(name));
        });
    }
}

#[test]
fn an_observer_is_neither_asked_nor_followed() {
    for (role, mut me) in Kit::roles() {
        let before = me.bully.state.clone();
        me.hear(EYE, elect(99)).nothing_else_happened();
        me.hear(EYE, elected(20, 99)).nothing_else_happened();
        me.hear(EYE, heartbeat(20, 99)).nothing_else_happened();
        assert_eq!(me.bully.state, before, "{role}");
    }
}
