//! `StepDown`, `Drained` and `TimedOut(Drain)`: the work ends, then the leadership, then it is said.

use super::*;

fn draining(to: Option<&str>) -> Kit {
    let mut me = Kit::leading();
    me.step(Input::StepDown { to: to.map(id) }).whatever();
    me
}

#[test]
fn a_leader_drains_and_resigns() {
    let mut me = Kit::leading();
    let to = Some(id(LOW));
    me.step(Input::StepDown { to: to.clone() })
        .notified(Event::Draining {
            term: Term(8),
            to: to.clone(),
        })
        .set(BallotTimer::Drain, DRAIN)
        .nothing_else_happened();
    assert_eq!(me.view().leading, Some(Term(8)));
    me.step(Input::StepDown { to: None })
        .nothing_else_happened();
    let resign = Resign {
        ballot: ballot(8, ME),
        successor: to,
    };
    me.step(Input::Drained)
        .lost(8, LostReason::Resigned)
        .next(&Effect::Send {
            to: To::All,
            message: resign.into(),
        })
        .nothing_else_happened();
    me.step(Input::Drained).nothing_else_happened();
}

#[test]
fn work_that_takes_too_long_does_not_hold_the_leadership() {
    let mut me = draining(None);
    me.fire(BallotTimer::Drain)
        .lost(8, LostReason::Resigned)
        .whatever();
}

#[test]
fn the_successor_is_the_best_voter_that_is_up_unless_one_is_asked_for() {
    for (wanted, gone, successor) in [
        (None, None, Some(HIGH)),
        (None, Some(HIGH), Some(LOW)),
        (Some(LOW), None, Some(LOW)),
        (Some(EYE), None, Some(HIGH)),
        (Some(ME), None, Some(HIGH)),
    ] {
        let mut me = Kit::leading();
        if let Some(gone) = gone {
            me.told(|members| members.down(&id(gone), Incarnation(1)))
                .whatever();
        }
        let to = successor.map(id);
        me.step(Input::StepDown { to: wanted.map(id) })
            .notified(Event::Draining { term: Term(8), to })
            .whatever();
    }
}

#[test]
fn a_successor_that_ends_while_the_work_does_is_not_named() {
    let mut me = draining(Some(LOW));
    me.told(|members| members.down(&id(LOW), Incarnation(1)))
        .whatever();
    let resign = Resign {
        ballot: ballot(8, ME),
        successor: Some(id(HIGH)),
    };
    me.step(Input::Drained)
        .lost(8, LostReason::Resigned)
        .next(&Effect::Send {
            to: To::All,
            message: resign.into(),
        })
        .nothing_else_happened();
}

#[test]
fn an_agent_that_stepped_down_cools_down_while_another_one_is_eligible() {
    let mut me = draining(None);
    me.step(Input::Drained).whatever();
    assert!(!me.says().eligible);
    me.answered(LOW, idle());
    me.over().whatever();
    assert_eq!(me.machine.own(), None, "low takes one");

    let mut cooled = me.clone();
    let until = cooled.machine.core.cooldown.unwrap();
    assert!(
        cooled.machine.core.is_eligible(until),
        "from that very moment on"
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

#[test]
fn no_other_agent_drains() {
    for (name, mut me) in Kit::states() {
        if name != "leading" {
            me.step(Input::StepDown { to: None })
                .nothing_else_happened();
            me.step(Input::Drained).nothing_else_happened();
            me.fire(BallotTimer::Drain).nothing_else_happened();
        }
    }
    let mut me = Kit::leading();
    me.step(Input::Drained).nothing_else_happened();
}

#[test]
fn a_leader_that_is_cut_off_while_it_drains_has_lost_already() {
    let mut me = draining(None);
    me.over().lost(8, LostReason::Isolated).whatever();
    me.step(Input::Drained).nothing_else_happened();
}

/// It was told to go; a leadership that is lost while the work ends is no reason to come back.
#[test]
fn a_leader_that_loses_the_leadership_while_it_drains_cools_down_too() {
    let mut me = Kit::leading();
    me.step(Input::StepDown { to: None }).whatever();
    me.over().lost(8, LostReason::Isolated).whatever();
    for _ in 0..3 {
        me.answered(LOW, idle());
        me.over().whatever();
        assert_eq!(me.machine.own(), None);
    }
    me.later(COOLDOWN);
    me.answered(LOW, idle());
    me.over().whatever();
    assert!(me.machine.own().is_some(), "it has cooled");
}
