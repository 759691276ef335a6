//! `AreYouThere` and `There`: `miss-a-silent-coordinator`.

use super::*;

fn are_you_there(count: u64, name: &str) -> AreYouThere {
    AreYouThere {
        group: election(count, name),
    }
}

#[test]
fn a_coordinator_knows_its_members() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(LOW, are_you_there(5, ME));
        match state {
            "observer" => assert_eq!(said, NOTHING),
            "leading" | "draining" | "merging" => assert_eq!(said, ["low: there, in 5.me"]),
            _ => assert_eq!(said, ["low: not in 5.me"], "{state}"),
        }
        if state != "observer" {
            assert_eq!(
                me.hear(HIGH, are_you_there(9, ME)),
                ["high: not in 9.me"],
                "{state}"
            );
        }
    }
    let mut me = Kit::leading();
    assert_eq!(
        me.hear(HIGH, are_you_there(5, ME)),
        ["high: not in 5.me"],
        "not in Up"
    );
    let mut me = Kit::merging();
    assert_eq!(
        me.hear(LOW, are_you_there(4, ME)),
        ["low: there, in 4.me"],
        "the old group"
    );
}

fn asks() -> Kit {
    let mut me = Kit::following();
    assert_eq!(
        me.later(250).fire(InvitationTimer::Watch),
        ["high: are you there? in 7.high", "set Watch 200"]
    );
    me
}

#[test]
fn a_member_still_watches_and_another_agent_waits_for_its_slot() {
    assert_eq!(asks().hear(HIGH, there(7, HIGH, true)), ["set Watch 250"]);
    let said = asks().hear(HIGH, there(7, HIGH, false));
    assert_eq!(said.lines()[0], "has no leader since term 7");
    assert_eq!(said.lines()[1], "persist 8", "HIGH is gone: ME goes first");
    assert_eq!(
        asks().later(200).fire(InvitationTimer::Watch).lines()[..2],
        said.lines()[..2],
        "silence"
    );
}

#[test]
fn an_answer_that_was_not_asked_for_counts_for_nothing() {
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        assert_eq!(me.hear(HIGH, there(7, HIGH, false)), NOTHING, "{state}");
        assert_eq!(me.machine.state, before, "{state}");
    }
    assert_eq!(asks().hear(HIGH, there(6, HIGH, false)), NOTHING);
    assert_eq!(asks().hear(LOW, there(7, HIGH, false)), NOTHING);
}
