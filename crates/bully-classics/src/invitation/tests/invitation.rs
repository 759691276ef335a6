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

/// MID has the score 7: above ME, below HIGH.
const MID: &str = "mid";

#[test]
fn a_member_follows_its_coordinator_into_the_group_that_it_joins() {
    for me in [Kit::joining(), Kit::following()] {
        let mut me = me;
        let up = Member::up(id(MID), MemberKind::Voter, Some(7.into()), Incarnation(1));
        me.told(|m| m.join([up])).whatever();
        assert_eq!(
            me.hear(MID, invitation(20, MID, 7)),
            ["mid: declines 20.mid, knows 20"],
            "below its coordinator"
        );
        let passed_on = me.hear(HIGH, invitation(20, MID, 7));
        assert!(
            passed_on.lines().contains(&"mid: accepts 20.mid".into()),
            "{passed_on:?}"
        );
    }
}

#[test]
fn a_member_leaves_for_one_that_outranks_its_coordinator() {
    let mut me = Kit::free();
    let up = Member::up(id(MID), MemberKind::Voter, Some(7.into()), Incarnation(1));
    me.told(|m| m.join([up])).whatever();
    for (name, count, score) in [(MID, 20, 7), (HIGH, 30, 9)] {
        let said = me.hear(name, invitation(count, name, score));
        let accepts = format!("{name}: accepts {count}.{name}");
        assert!(said.lines().contains(&accepts), "{said:?}");
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
