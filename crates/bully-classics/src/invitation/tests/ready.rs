//! `Ready`: `hand-out-task`.

use super::*;

#[test]
fn only_an_agent_that_joins_that_group_goes_to_work() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(HIGH, ready(7, HIGH, 9));
        match state {
            "joining" | "observer" => {
                assert_eq!(said, ["follows high in term 7", "set Watch 250"], "{state}");
                assert_eq!(
                    (me.machine.status(), me.role()),
                    (PaperStatus::Normal, Role::Follower)
                );
            }
            _ => assert_eq!(said, NOTHING, "{state}"),
        }
    }
    assert_eq!(Kit::following().machine.task(), Some(Task(70)));
    assert_eq!(
        Kit::joining().hear(HIGH, ready(8, HIGH, 9)),
        NOTHING,
        "another group"
    );
}

#[test]
fn an_observer_takes_the_word_of_the_latest_group() {
    let mut eye = Kit::observer();
    eye.hear(HIGH, ready(7, HIGH, 9)).whatever();
    assert_eq!(eye.hear(LOW, ready(6, LOW, 1)), NOTHING, "older");
    assert_eq!(
        eye.hear(LOW, are_you_coordinator(9, LOW, 1)),
        [
            "has no leader since term 7",
            "follows low in term 9",
            "set Watch 250"
        ]
    );
    assert_eq!(
        eye.later(250).fire(InvitationTimer::Watch),
        ["has no leader since term 9"],
        "it asks no member"
    );
    assert_eq!(
        eye.hear(HIGH, are_you_coordinator(7, HIGH, 9)),
        ["high: declines 7.high, knows 9"],
        "which count to exceed"
    );
}
