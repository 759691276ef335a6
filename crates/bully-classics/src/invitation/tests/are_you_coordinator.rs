//! `AreYouCoordinator`: `look-for-others`, and the sign that one's own coordinator is there.

use super::*;

#[test]
fn every_voter_says_where_it_stands() {
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        let said = me.hear(LOW, are_you_coordinator(2, LOW, 1));
        let standing = match state {
            "observer" => {
                assert_eq!(said, ["follows low in term 2", "set Watch 250"]);
                continue;
            }
            "free" | "cooling down" | "witness" => "free",
            "asking" => "coordinates 0",
            "merging" => "merging",
            "leading" | "draining" => "coordinates 1",
            "joining" => "joins 7.high",
            _ => "member of 7.high",
        };
        assert_eq!(
            said.lines(),
            [format!("low: {standing} (to 2.low)")],
            "{state}"
        );
        assert_eq!(me.machine.state, before, "{state}");
    }
}

#[test]
fn agents_that_are_down_are_not_brought() {
    let mut me = Kit::leading();
    assert_eq!(me.is_suspected(LOW), NOTHING);
    let said = me.hear(HIGH, are_you_coordinator(2, HIGH, 9));
    assert_eq!(said, ["high: coordinates 1 (to 2.high)"], "a suspicion");
    assert_eq!(me.ends(LOW), NOTHING);
    let said = me.hear(HIGH, are_you_coordinator(2, HIGH, 9));
    assert_eq!(said, ["high: coordinates 0 (to 2.high)"]);
    let said = me.hear(HIGH, invitation(8, HIGH, 9));
    assert!(
        !said.lines().iter().any(|s| s.starts_with("low: ")),
        "{said:?}"
    );
}

#[test]
fn a_member_hears_that_its_coordinator_is_there() {
    assert_eq!(
        Kit::following().hear(HIGH, are_you_coordinator(7, HIGH, 9)),
        ["set Watch 250", "high: member of 7.high (to 7.high)"]
    );
    assert_eq!(
        Kit::following().hear(HIGH, are_you_coordinator(8, HIGH, 9)),
        ["high: member of 7.high (to 8.high)"],
        "another group of the same agent"
    );
}

#[test]
fn an_agent_that_outranks_its_coordinator_by_now_forms_a_group_of_its_own() {
    let said = Kit::following().hear(HIGH, are_you_coordinator(7, HIGH, 3));
    assert_eq!(
        said,
        [
            "has no leader since term 7",
            "persist 8",
            "set Check 60",
            "acquired the leadership in term 8",
            "all: are you coordinator? of 8.me",
            "set Check 27",
            "high: coordinates 0 (to 7.high)"
        ]
    );
}
