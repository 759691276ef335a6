//! `StepDown`, `Drained` and `TimedOut(Drain)`: first the work ends, then the leadership, then the agent resigns.

use super::*;

fn draining(to: Option<&str>) -> Kit {
    let mut me = Kit::leading();
    me.step_down(to).whatever();
    me
}

#[test]
fn the_successor_is_up() {
    let mut me = Kit::leading();
    me.ends(HIGH).whatever();
    me.step_down(None).drained(8, Some(LOW)).whatever();
}

#[test]
fn an_agent_that_stepped_down_cools_down_while_another_one_is_eligible() {
    let mut me = draining(None);
    me.step(Input::Drained).whatever();
    assert!(!me.says().eligible);
    me.answered(LOW, idle());
    me.over().whatever();
    assert_eq!(me.machine.own(), None, "LOW takes a ballot");

    let mut cooled = me.clone();
    let until = cooled.machine.core.cooldown.unwrap();
    assert!(
        cooled.machine.core.competes(until),
        "at exactly this moment"
    );
    cooled.later(COOLDOWN);
    cooled.answered(LOW, idle());
    cooled.over().wrote(9, Some(ballot(8, ME))).whatever();

    let ineligible = Standing {
        eligible: false,
        ..idle()
    };
    me.answered(LOW, ineligible);
    me.over().wrote(9, Some(ballot(8, ME))).whatever();
}

#[test]
fn a_score_or_a_campaign_ends_the_cooldown() {
    for command in [Input::Campaign, Input::SetScore(Some(5.into()))] {
        let mut me = draining(None);
        me.step(Input::Drained).whatever();
        me.step(command).whatever();
        assert!(me.says().eligible);
    }
}

/// A leadership that is lost during the drain does not cancel the command to step down.
#[test]
fn a_leader_that_loses_the_leadership_while_it_drains_cools_down_too() {
    let mut me = Kit::leading();
    me.step_down(None).whatever();
    me.over().lost(8, LostReason::Isolated).whatever();
    for _ in 0..3 {
        me.answered(LOW, idle());
        me.over().whatever();
        assert_eq!(me.machine.own(), None);
    }
    me.later(COOLDOWN);
    me.answered(LOW, idle());
    me.over().whatever();
    assert!(me.machine.own().is_some(), "the cool-down is over");
}
