//! `Invitation`: `join-from-above`.

use super::*;

#[test]
fn an_agent_that_is_invited_from_above_joins() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(HIGH, invitation(8, HIGH, 9));
        let joined = ["persist 8", "high: accepts 8.high", "set Watch 500"];
        match state {
            "observer" => assert_eq!(said, NOTHING),
            "merging" => assert_eq!(said, ["high: declines 8.high, knows 8"]),
            "asking" => {
                assert_eq!(said.lines()[0], "lost the leadership of term 4: outranked");
                assert_eq!(said.lines()[1..], joined);
            }
            "leading" | "draining" => assert_eq!(
                said,
                [
                    "lost the leadership of term 5: outranked",
                    "persist 8",
                    "high: accepts 8.high",
                    "low: invitation to 8.high score 9",
                    "set Watch 500"
                ]
            ),
            "following" => {
                assert_eq!(said.lines()[0], "has no leader since term 7");
                assert_eq!(said.lines()[1..], joined);
            }
            _ => assert_eq!(said, joined, "{state}"),
        }
        if !["observer", "merging"].contains(&state) {
            assert_eq!(me.machine.status(), PaperStatus::Reorganization, "{state}");
            assert_eq!(me.machine.coordinator(), Some(&id(HIGH)), "{state}");
        }
    }
}

#[test]
fn an_older_number_is_declined_with_the_count_to_exceed() {
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        let said = me.hear(HIGH, invitation(3, HIGH, 9));
        if state != "observer" {
            assert_eq!(said.lines().len(), 1, "{state}: {said:?}");
            assert!(
                said.lines()[0].starts_with("high: declines 3.high, knows "),
                "{state}"
            );
        }
        assert_eq!(me.machine.state, before, "{state}");
    }
}

#[test]
fn an_agent_that_ranks_above_declines() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(LOW, invitation(20, LOW, 1));
        match state {
            "observer" => assert_eq!(said, NOTHING),
            "cooling down" | "witness" => {
                assert!(said.lines().contains(&"low: accepts 20.low".into()));
            }
            _ => assert_eq!(said, ["low: declines 20.low, knows 20"], "{state}"),
        }
    }
}

#[test]
fn the_same_invitation_is_accepted_again() {
    for mut me in [Kit::joining(), Kit::following()] {
        let before = me.machine.state.clone();
        assert_eq!(
            me.hear(HIGH, invitation(7, HIGH, 9)),
            ["high: accepts 7.high"]
        );
        assert_eq!(me.machine.state, before);
    }
}

#[test]
fn no_agent_is_invited_by_itself_a_stranger_or_an_observer() {
    let mut me = Kit::free();
    assert_eq!(me.hear(HIGH, invitation(20, ME, 5)), NOTHING);
    assert_eq!(me.hear(HIGH, invitation(20, "stranger", 99)), NOTHING);
    assert_eq!(me.hear(HIGH, invitation(20, EYE, 99)), NOTHING);
    assert_eq!(me.hear(HIGH, invitation(u64::MAX, HIGH, 9)), NOTHING);
}
