//! `Resign`.

use super::*;

fn resign(successor: Option<&str>) -> Resign {
    Resign {
        election: election(7, HIGH),
        successor: successor.map(id),
    }
}

#[test]
fn the_successor_that_is_named_begins_at_once() {
    for mut me in [Kit::joining(), Kit::following()] {
        let said = me.hear(HIGH, resign(Some(ME)));
        assert_eq!(said.lines().last().unwrap(), "set Answer 200");
        assert_eq!(
            said.lines()[said.lines().len() - 2],
            "high low: halt 8.me score 5",
            "an agent that has resigned ranks below all"
        );
    }
}

#[test]
fn the_others_wait_for_their_slots() {
    let mut me = Kit::following();
    assert_eq!(
        me.hear(HIGH, resign(Some(LOW))),
        ["has no leader since term 7", "set Takeover 18"]
    );
    assert_eq!(
        me.later(18)
            .fire(ReorganizationTimer::Takeover)
            .lines()
            .last()
            .unwrap(),
        "set Answer 200"
    );
}

#[test]
fn only_ones_own_coordinator_is_meant() {
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        let election = election(8, HIGH);
        let successor = Some(id(ME));
        let said = me.hear(
            HIGH,
            Resign {
                election,
                successor,
            },
        );
        assert_eq!(said, NOTHING, "{state}");
        assert_eq!(me.machine.state, before, "{state}");
    }
}

#[test]
fn an_observer_has_no_leader_then() {
    let mut eye = Kit::observer();
    eye.hear(HIGH, ready(7, HIGH, 9)).whatever();
    assert_eq!(eye.hear(HIGH, resign(None)), ["has no leader since term 7"]);
}
