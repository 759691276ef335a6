//! `HeartbeatReply`: counts in its own round, once per voter; late ones lengthen rounds.

use super::*;

fn reply(counter: u64, standing: Standing) -> HeartbeatReply {
    HeartbeatReply {
        round: round(counter),
        standing,
    }
}

/// As written the answers are a set of pairs, and this would be a majority of three.
#[test]
fn a_voter_that_answers_twice_with_two_ballots_counts_once() {
    let mut me = Kit::fresh();
    let five = ["a", "b", "c", LOW, ME].map(id);
    let config = valid(BallotConfig::new(five));
    me.machine = Ballot::new(me.machine.core.me.identity(), &Arc::new(config), None);
    let mut me = me.started();
    me.answered(LOW, standing(1, LOW));
    me.answered(LOW, standing(2, LOW));
    me.over().whatever();
    assert!(!me.machine.is_connected());
}

#[test]
fn an_answer_to_another_incarnation_or_a_round_to_come_counts_for_nothing() {
    let mut me = Kit::following();
    let mut other = reply(me.round(), standing(9, LOW));
    other.round.incarnation = Incarnation(2);
    me.hear(LOW, other).nothing_else_happened();
    me.hear(LOW, reply(99, standing(9, LOW)))
        .nothing_else_happened();
    me.over().has_no_leader(7).whatever();
    assert!(!me.machine.is_connected());
}

/// Scenario 42, at one machine.
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
        "and back"
    );
}

#[test]
fn an_answer_that_was_counted_already_is_not_late() {
    let mut me = Kit::following();
    me.answered(LOW, idle());
    me.answered(HIGH, leading(7, HIGH));
    let last = me.round();
    me.over().whatever();
    me.hear(LOW, reply(last, idle())).nothing_else_happened();
    me.over().whatever();
    assert_eq!(
        me.machine.round_takes(),
        Duration::from_millis(ROUND),
        "a copy"
    );
}

#[test]
fn an_answer_of_an_earlier_incarnation_does_not_replace_that_of_a_later_one() {
    let mut me = Kit::following();
    let now = me.round();
    me.hear_incarnation(LOW, 2, reply(now, idle()))
        .nothing_else_happened();
    me.hear_incarnation(LOW, 1, reply(now, standing(9, LOW)))
        .nothing_else_happened();
    me.answered(HIGH, leading(7, HIGH));
    assert!(me.over().events().is_empty());
}
