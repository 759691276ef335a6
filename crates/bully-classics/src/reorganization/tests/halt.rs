//! `Halt`: `obey-one-election`.

use super::*;

#[test]
fn an_agent_that_is_halted_from_above_stops_and_remembers_the_count() {
    for (state, mut me) in Kit::states() {
        let halted = me.hear(HIGH, halt(8, HIGH, 9));
        let ack = "high: halt ack 8.high";
        let expected = match state {
            "observer" => Vec::new(),
            "leading" | "draining" => vec![
                "lost the leadership of term 4: outranked",
                "persist 8",
                ack,
                "set Takeover 500",
            ],
            "following" => vec![
                "has no leader since term 7",
                "persist 8",
                ack,
                "set Takeover 500",
            ],
            _ => vec!["persist 8", ack, "set Takeover 500"],
        };
        assert_eq!(halted.lines(), expected, "{state}");
        if state != "observer" {
            assert_eq!(me.machine.status(), PaperStatus::Election, "{state}");
        }
    }
}

#[test]
fn an_agent_that_ranks_below_is_refused_and_learns_of_it() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(LOW, halt(20, LOW, 1));
        let nack = "low: halt nack 20.low, knows 20";
        match state {
            "observer" => assert_eq!(said, NOTHING),
            "cooling down" | "witness" => {
                assert!(said.lines().contains(&"low: halt ack 20.low".into()));
            }
            "asking" | "halting" | "reorganizing" | "readying" => {
                assert_eq!(said, [nack], "{state}");
            }
            _ => {
                assert_eq!(said.lines()[0], nack, "{state}");
                assert!(
                    said.lines().contains(&"high: are you there? 21.me".into()),
                    "{state}: {said:?}"
                );
            }
        }
    }
}

#[test]
fn the_same_halt_is_acknowledged_again() {
    let mut me = Kit::halted();
    let before = me.machine.clone();
    assert_eq!(me.hear(HIGH, halt(7, HIGH, 9)), ["high: halt ack 7.high"]);
    assert_eq!(me.machine.state, before.state);
}

#[test]
fn a_late_copy_does_not_stop_an_agent_that_works_by_that_election() {
    for mut me in [Kit::joining(), Kit::following()] {
        let before = me.machine.state.clone();
        assert_eq!(
            me.hear(HIGH, halt(7, HIGH, 9)),
            ["high: halt nack 7.high, knows 7"]
        );
        assert_eq!(me.machine.state, before);
    }
}

/// MID has the score 7: above ME, below HIGH.
const MID: &str = "mid";

fn with_mid(mut me: Kit) -> Kit {
    let up = Member::up(id(MID), MemberKind::Voter, Some(7.into()), Incarnation(1));
    me.members.join([up]);
    me
}

#[test]
fn an_agent_that_obeys_one_above_refuses_all_below_that_one() {
    for mut me in [with_mid(Kit::deferring()), with_mid(Kit::halted())] {
        me.told(|_| ()).whatever();
        assert_eq!(
            me.hear(MID, halt(20, MID, 7)),
            ["mid: halt nack 20.mid, knows 20"]
        );
        assert_eq!(me.role(), Role::Waiting);
    }
}

#[test]
fn an_agent_that_may_still_hear_of_one_above_lets_those_below_wait() {
    let asking = || {
        let mut me = with_mid(Kit::began(MemberKind::Voter, Some(5)));
        assert_eq!(me.start().lines()[1], "high mid: are you there? 4.me");
        assert_eq!(me.hear(MID, halt(20, MID, 7)), NOTHING);
        me
    };
    let obeyed = ["persist 20", "mid: halt ack 20.mid", "set Takeover 500"];
    assert_eq!(
        asking().later(200).fire(ReorganizationTimer::Answer),
        obeyed,
        "HIGH is dead"
    );
    assert_eq!(
        asking().hear(HIGH, there(Some(6))),
        obeyed,
        "HIGH ranks below MID"
    );
    let mut me = asking();
    let nack = "mid: halt nack 20.mid, knows 20";
    me.hear(MID, there(Some(7))).whatever();
    assert_eq!(
        me.hear(HIGH, there(Some(9))),
        [nack, "set Takeover 500"],
        "HIGH is there"
    );
    let said = asking().hear(HIGH, halt(20, HIGH, 9));
    assert_eq!(said.lines()[1], "high: halt ack 20.high");
}

#[test]
fn of_the_halters_that_wait_the_highest_is_obeyed() {
    let mut me = with_mid(Kit::began(MemberKind::Voter, Some(5)));
    me.members.join([Member::up(
        id("mid2"),
        MemberKind::Voter,
        Some(8.into()),
        Incarnation(1),
    )]);
    me.start().whatever();
    me.hear(MID, halt(20, MID, 7)).whatever();
    let refused = me.hear("mid2", halt(20, "mid2", 8));
    assert_eq!(refused, ["mid: halt nack 20.mid, knows 20"]);
    assert_eq!(
        me.hear(MID, halt(21, MID, 7)),
        ["mid: halt nack 21.mid, knows 21"]
    );
    assert_eq!(
        me.hear("mid2", halt(22, "mid2", 8)),
        NOTHING,
        "a later one of its own"
    );
    assert_eq!(
        me.later(200).fire(ReorganizationTimer::Answer).lines()[1],
        "mid2: halt ack 22.mid2"
    );
}

#[test]
fn no_agent_speaks_in_the_name_of_another_ones_election() {
    let mut me = Kit::asking();
    assert_eq!(me.hear(HIGH, halt(8, LOW, 9)), NOTHING);
    assert_eq!(me.hear("stranger", halt(8, "stranger", 9)), NOTHING);
    assert_eq!(
        me.hear(EYE, halt(8, EYE, 99)),
        NOTHING,
        "an observer leads no agent"
    );
    assert_eq!(
        me.hear(HIGH, halt(u64::MAX, HIGH, 9)),
        NOTHING,
        "a count beyond reach"
    );
}
