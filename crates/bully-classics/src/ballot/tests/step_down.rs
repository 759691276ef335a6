//! `StepDown`, `Drained` and `TimedOut(Drain)`: first the work ends, then the leadership, then the agent resigns.

use super::*;

fn draining(to: Option<&str>) -> Kit {
    let mut me = Kit::leading();
    me.step_down(to).whatever();
    me
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
