//! `Campaign`, `SetScore`, `StepDown`, `Drained`.

use super::*;

#[test]
fn a_campaign_is_a_group_of_ones_own() {
    for (state, mut me) in Kit::states() {
        let said = me.step(Input::Campaign);
        match state {
            "asking" | "merging" | "witness" | "observer" => assert_eq!(said, NOTHING, "{state}"),
            "leading" | "draining" => {
                assert_eq!(said, ["all: are you coordinator? of 5.me", "set Check 27"]);
            }
            _ => {
                assert!(
                    said.lines().iter().any(|line| line.starts_with("acquired")),
                    "{state}"
                );
                assert_eq!(me.role(), Role::Leader);
            }
        }
    }
}

#[test]
fn a_coordinators_new_score_is_told_by_the_check() {
    let mut me = Kit::leading();
    let told = ["all: are you coordinator? of 5.me", "set Check 27"];
    assert_eq!(me.set_score(2), told);
    assert_eq!(me.set_score(2), NOTHING, "nothing new");
}

#[test]
fn an_agent_that_is_free_or_merging_takes_a_slot_by_its_new_score() {
    for mut me in [Kit::free(), Kit::merging(), Kit::witness()] {
        assert_eq!(me.set_score(6).lines().last().unwrap(), "set Slot 54");
    }
    assert_eq!(Kit::free().set_score(None), NOTHING);
    assert_eq!(Kit::observer().set_score(6), NOTHING);
}

#[test]
fn a_member_forms_a_group_if_it_ranks_above_its_coordinator_now() {
    for mut me in [Kit::joining(), Kit::following()] {
        assert_eq!(me.set_score(8), NOTHING);
        assert!(
            me.set_score(10)
                .lines()
                .contains(&"acquired the leadership in term 8".into())
        );
    }
    assert_eq!(Kit::following().set_score(None), NOTHING);
}

#[test]
fn an_agent_that_cools_down_does_not_defer_to_a_silent_coordinator() {
    let under_high = || {
        let mut me = Kit::cooling_down();
        me.hear(HIGH, invitation(7, HIGH, 9)).whatever();
        me.hear(HIGH, ready(7, HIGH, 9)).whatever();
        me
    };
    let silent = |mut me: Kit| {
        me.later(250).fire(InvitationTimer::Watch).whatever();
        me.later(200).fire(InvitationTimer::Watch)
    };
    let said = silent(under_high());
    assert_eq!(
        said,
        ["has no leader since term 7", "set Slot 644"],
        "LOW is"
    );
    let mut me = under_high();
    me.ends(LOW).whatever();
    assert!(
        silent(me)
            .lines()
            .contains(&"acquired the leadership in term 8".into())
    );
}

#[test]
fn a_cool_down_ends_in_time_or_when_the_agent_is_told_to_campaign() {
    let mut me = Kit::cooling_down();
    assert_eq!(
        me.later(59_999).fire(InvitationTimer::Cooldown),
        ["set Cooldown 1"]
    );
    assert_eq!(me.later(1).fire(InvitationTimer::Cooldown), ["set Slot 54"]);
    assert_eq!(
        Kit::cooling_down().step(Input::SetScore(Some(5.into()))),
        ["set Slot 54"]
    );
    assert_eq!(
        Kit::cooling_down().step(Input::Campaign).lines()[0],
        "persist 6"
    );
}

#[test]
fn the_end_of_a_cool_down_moves_no_member_of_a_group() {
    let mut me = Kit::cooling_down();
    let ends = me.now;
    me.hear(HIGH, invitation(7, HIGH, 9)).whatever();
    me.hear(HIGH, ready(7, HIGH, 9)).whatever();
    assert_eq!(me.machine.status(), PaperStatus::Normal);
    me.now = ends;
    me.later(60_000);
    let lines = me.fire(InvitationTimer::Cooldown);
    assert!(
        !lines.lines().iter().any(|line| line.contains("Slot")),
        "{lines:?}"
    );
    assert_eq!(me.leader().as_deref(), Some(HIGH));
}
