//! `Halt`: `obey-one-election`.

use super::*;

/// Name of a further voter with the score 7: it ranks above ME and below HIGH.
const MID: &str = "mid";

fn with_mid(mut me: Kit) -> Kit {
    let up = Member::up(id(MID), MemberKind::Voter, Some(7.into()), Incarnation(1));
    me.members.join([up]);
    me
}

#[test]
fn an_agent_that_may_still_hear_a_higher_agent_lets_lower_agents_wait() {
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
        "a later election of the same agent"
    );
    assert_eq!(
        me.later(200).fire(ReorganizationTimer::Answer).lines()[1],
        "mid2: halt ack 22.mid2"
    );
}
