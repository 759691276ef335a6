//! `Resign`.

use super::*;

fn resign(count: u64, successor: Option<&str>) -> Resign {
    Resign {
        group: election(count, HIGH),
        successor: successor.map(id),
    }
}

#[test]
fn the_others_wait_for_their_slots() {
    let mut me = Kit::following();
    me.told(|m| m.set_score(&id(LOW), Some(6.into())))
        .whatever();
    assert_eq!(
        me.hear(HIGH, resign(7, None)),
        ["has no leader since term 7", "set Slot 54"],
        "after LOW, and not after HIGH"
    );
}

#[test]
fn only_ones_own_group_is_meant() {
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        assert_eq!(me.hear(HIGH, resign(8, Some(ME))), NOTHING, "{state}");
        assert_eq!(me.machine.state, before, "{state}");
    }
    let mut eye = Kit::observer();
    eye.hear(HIGH, ready(7, HIGH, 9)).whatever();
    assert_eq!(
        eye.hear(HIGH, resign(7, None)),
        ["has no leader since term 7"]
    );
}
