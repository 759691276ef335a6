//! `AreYouNormal` and its answers: `check-all-normal`, `answer-truthfully`.

use super::*;

#[test]
fn only_an_agent_that_works_by_that_election_says_yes() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(HIGH, are_you_normal(7, HIGH, 9));
        match state {
            "following" => assert_eq!(said, ["set Watch 250", "high: normal 7.high"]),
            "observer" => assert_eq!(said, ["follows high in term 7", "set Watch 250"]),
            _ => assert_eq!(said, ["high: not normal 7.high"], "{state}"),
        }
    }
}

#[test]
fn an_agent_that_works_under_another_one_says_no() {
    let mut me = Kit::following();
    assert_eq!(
        me.hear(LOW, are_you_normal(9, LOW, 1)),
        ["low: not normal 9.low"]
    );
    assert_eq!(
        me.hear(HIGH, are_you_normal(8, HIGH, 9)),
        ["high: not normal 8.high"]
    );
    assert_eq!(me.machine.status(), PaperStatus::Normal);
}

#[test]
fn an_agent_that_outranks_its_coordinator_by_now_holds_an_election() {
    let mut me = Kit::following();
    assert_eq!(
        me.hear(HIGH, are_you_normal(7, HIGH, 3)),
        [
            "has no leader since term 7",
            "persist 8",
            "high low: halt 8.me score 5",
            "set Answer 200"
        ]
    );
}

#[test]
fn the_no_of_an_observer_is_one_too() {
    let said = Kit::leading().hear(EYE, not_normal(4, ME, 6));
    assert_eq!(said.lines()[1], "persist 7", "which count to exceed");
}

#[test]
fn a_no_to_an_earlier_check_counts_for_nothing() {
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        assert_eq!(me.hear(LOW, not_normal(3, ME, 3)), NOTHING, "{state}");
        assert_eq!(me.machine.state, before, "{state}");
    }
}

#[test]
fn an_agent_that_steps_down_anyway_does_not_reorganize() {
    let mut me = Kit::draining();
    assert_eq!(me.hear(LOW, not_normal(4, ME, 4)), NOTHING);
}
