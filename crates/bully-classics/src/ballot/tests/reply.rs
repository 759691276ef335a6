//! `HeartbeatReply`: an answer counts in its own round, once for each voter. Also the cool-down after a hand-over.

use super::*;

fn reply(counter: u64, standing: Standing) -> HeartbeatReply {
    HeartbeatReply {
        round: round(counter),
        standing,
    }
}

#[test]
fn s23_a_stale_answer_does_not_move_a_standing_leader() {
    let mut me = Kit::leading();
    let now = me.round();
    for (incarnation, counter) in [(0, now), (2, now), (1, 1), (1, now + 1)] {
        let mut stale = reply(counter, standing(9, LOW));
        stale.round.incarnation = Incarnation(incarnation);
        me.hear(LOW, stale).nothing_else_happened();
    }
    me.answered(HIGH, idle());
    assert!(me.over().events().is_empty());
    assert_eq!(me.view().leading, Some(Term(8)));
}

/// Scenario 42, with one machine.
#[test]
fn late_answers_lengthen_a_round_once_and_to_the_cap() {
    let mut me = Kit::following();
    for expected in [80, 120, 120] {
        me.answered(HIGH, leading(7, HIGH));
        me.hear(LOW, reply(me.round() - 1, idle()))
            .nothing_else_happened();
        me.hear(LOW, reply(me.round() - 1, idle()))
            .nothing_else_happened();
        me.over().whatever();
        assert_eq!(me.machine.round_takes(), Duration::from_millis(expected));
    }
    for _ in 0..16 {
        me.answered(HIGH, leading(7, HIGH));
        me.answered(LOW, idle());
        me.over().whatever();
    }
    assert_eq!(
        me.machine.round_takes(),
        Duration::from_millis(ROUND),
        "the round is short again"
    );
}

#[test]
fn an_answer_that_was_counted_already_is_not_late() {
    let mut me = Kit::following();
    me.answered(LOW, idle());
    me.answered(LOW, idle()); // a copy in the same round
    me.answered(HIGH, leading(7, HIGH));
    let last = me.round();
    me.over().whatever();
    me.hear(LOW, reply(last, idle())).nothing_else_happened();
    me.over().whatever();
    assert_eq!(
        me.machine.round_takes(),
        Duration::from_millis(ROUND),
        "the late answer is a copy"
    );
}

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
