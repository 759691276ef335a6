//! `HeartbeatReply`: an answer counts in its own round, once for each voter. Late answers lengthen the rounds.

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
