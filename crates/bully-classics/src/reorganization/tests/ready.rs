//! `Ready`: `work-for-own-coordinator`.

use super::*;

#[test]
fn only_an_agent_that_has_joined_goes_to_work() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(HIGH, ready(7, HIGH, 9));
        match state {
            "joining" => {
                assert_eq!(
                    said,
                    [
                        "follows high in term 7",
                        "set Watch 250",
                        "high: ready ack 7.high"
                    ]
                );
                assert_eq!(me.machine.task(), Some(Task(70)));
                assert_eq!(me.role(), Role::Follower);
            }
            "following" => assert_eq!(said, ["high: ready ack 7.high"], "again"),
            "observer" => assert_eq!(said, ["follows high in term 7", "set Watch 250"]),
            _ => {
                assert_eq!(said.lines().len(), 1, "{state}: {said:?}");
                assert!(
                    said.lines()[0].starts_with("high: ready nack 7.high"),
                    "{state}"
                );
            }
        }
    }
}

#[test]
fn another_election_is_not_meant() {
    let mut me = Kit::joining();
    assert_eq!(
        me.hear(HIGH, ready(8, HIGH, 9)),
        ["high: ready nack 8.high, knows 7"]
    );
    assert_eq!(me.machine.status(), PaperStatus::Reorganization);
}

#[test]
fn an_observer_takes_the_word_of_the_latest_coordinator() {
    let mut eye = Kit::observer();
    eye.hear(HIGH, ready(7, HIGH, 9)).whatever();
    assert_eq!(eye.hear(LOW, ready(6, LOW, 1)), NOTHING, "older");
    assert_eq!(
        eye.hear(HIGH, ready(7, HIGH, 9)),
        ["set Watch 250"],
        "the same"
    );
    assert_eq!(
        eye.hear(LOW, are_you_normal(9, LOW, 1)),
        [
            "has no leader since term 7",
            "follows low in term 9",
            "set Watch 250"
        ]
    );
    assert_eq!(
        eye.later(250).fire(ReorganizationTimer::Watch),
        ["has no leader since term 9"],
        "it asks no member"
    );
    assert_eq!(
        eye.hear(LOW, are_you_normal(8, LOW, 1)),
        ["low: not normal 8.low"],
        "which count to exceed"
    );
}
