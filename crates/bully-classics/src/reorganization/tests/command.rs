//! `Campaign`, `SetScore`, `StepDown`, `Drained`.

use super::*;

#[test]
fn a_campaign_is_an_election_unless_one_is_held() {
    for (state, mut me) in Kit::states() {
        let said = me.step(Input::Campaign);
        match state {
            "asking" | "halting" | "reorganizing" | "readying" | "witness" | "observer" => {
                assert_eq!(said, NOTHING, "{state}");
            }
            "leading" | "draining" => assert_eq!(said, ["all: are you normal? 4.me"]),
            _ => {
                assert!(
                    said.lines()
                        .iter()
                        .any(|line| line.contains("are you there?")),
                    "{state}"
                );
                assert_eq!(me.role(), Role::Candidate);
            }
        }
    }
}

#[test]
fn a_coordinators_new_score_is_told_by_the_check() {
    let mut me = Kit::leading();
    assert_eq!(me.set_score(2), ["all: are you normal? 4.me"]);
    assert_eq!(me.set_score(2), NOTHING, "nothing new");
}

#[test]
fn an_agent_that_waits_holds_an_election_with_a_higher_score() {
    for mut me in [Kit::deferring(), Kit::halted(), Kit::pausing()] {
        assert_eq!(me.set_score(4), NOTHING);
        assert_eq!(me.set_score(6).lines().last().unwrap(), "set Answer 200");
    }
}

#[test]
fn a_member_holds_an_election_if_it_ranks_above_its_coordinator_now() {
    for mut me in [Kit::joining(), Kit::following()] {
        assert_eq!(me.set_score(8), NOTHING);
        assert!(
            me.set_score(10)
                .lines()
                .contains(&"high low: halt 8.me score 10".into())
        );
    }
}

#[test]
fn a_cool_down_ends_in_time_or_when_the_agent_is_told_to_campaign() {
    let mut me = Kit::cooling_down();
    assert_eq!(
        me.later(59_999).fire(ReorganizationTimer::Cooldown),
        ["set Cooldown 1"]
    );
    assert_eq!(
        me.later(1)
            .fire(ReorganizationTimer::Cooldown)
            .lines()
            .last()
            .unwrap(),
        "set Answer 200"
    );
    for command in [Input::Campaign, Input::SetScore(Some(5.into()))] {
        assert_eq!(
            Kit::cooling_down().step(command).lines().last().unwrap(),
            "set Answer 200"
        );
    }
}

#[test]
fn an_agent_that_cools_down_holds_an_election_in_the_last_slot() {
    let mut me = Kit::cooling_down();
    assert_eq!(
        me.later(661).fire(ReorganizationTimer::Takeover),
        ["set Takeover 1"]
    );
    assert!(me.machine.core.cooldown.has_begun());
    assert_eq!(
        me.later(1).fire(ReorganizationTimer::Takeover),
        ["persist 5", "high: are you there? 5.me", "set Answer 200"]
    );
    assert!(
        !me.machine.core.cooldown.has_begun(),
        "it has let all others go first"
    );
    let mut me = Kit::cooling_down();
    me.set_score(None).whatever();
    assert_eq!(me.later(662).fire(ReorganizationTimer::Takeover), NOTHING);
}

/// ME cools down, and works under HIGH.
fn cooling_down_under_high() -> Kit {
    let mut me = Kit::cooling_down();
    me.hear(HIGH, halt(7, HIGH, 9)).whatever();
    me.hear(HIGH, new_coordinator(7, HIGH)).whatever();
    me.hear(HIGH, ready(7, HIGH, 9)).whatever();
    assert_eq!(me.machine.status(), PaperStatus::Normal);
    me
}

#[test]
fn an_agent_that_cools_down_does_not_defer_to_a_silent_coordinator() {
    let mut me = cooling_down_under_high();
    me.later(250).fire(ReorganizationTimer::Watch).whatever();
    let said = me.later(200).fire(ReorganizationTimer::Watch);
    assert_eq!(
        said,
        ["has no leader since term 7", "set Takeover 662"],
        "LOW is"
    );
    let mut me = cooling_down_under_high();
    me.ends(LOW).whatever();
    me.later(250).fire(ReorganizationTimer::Watch).whatever();
    let said = me.later(200).fire(ReorganizationTimer::Watch);
    assert_eq!(said.lines().last().unwrap(), "set Answer 200", "{said:?}");
}
