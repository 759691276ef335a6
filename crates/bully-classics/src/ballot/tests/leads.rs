//! `Leads`, `Nack` and `TimedOut(Silence)`: an observer follows the leader that it is told of, while it is told,
//! and says so when it has followed a higher ballot.

use super::*;

fn leads(n: u64, name: &str) -> Leads {
    Leads {
        ballot: ballot(n, name),
    }
}

fn nack(n: u64, name: &str) -> Nack {
    Nack {
        max: ballot(n, name),
    }
}

#[test]
fn an_observer_follows_and_says_so_once() {
    let mut me = Kit::observer();
    me.hear(HIGH, leads(7, HIGH))
        .new_leader(HIGH, 7)
        .set(BallotTimer::Silence, 3 * CAP)
        .nothing_else_happened();
    me.hear(HIGH, leads(7, HIGH))
        .set(BallotTimer::Silence, 3 * CAP)
        .nothing_else_happened();
    me.hear(LOW, leads(8, LOW)).new_leader(LOW, 8).whatever();
    me.hear(HIGH, leads(7, HIGH))
        .sent(HIGH, nack(8, LOW))
        .nothing_else_happened();
}

/// Its record was lost; the observer is the last to know the higher ballot of its former incarnation.
#[test]
fn a_leader_whose_former_incarnation_led_by_more_is_told() {
    let mut me = Kit::observer();
    me.hear(HIGH, leads(7, HIGH)).whatever();
    me.begins(HIGH, 2).has_no_leader(7).nothing_else_happened();
    me.hear_incarnation(HIGH, 2, leads(3, HIGH))
        .sent(HIGH, nack(7, HIGH))
        .nothing_else_happened();
    me.hear(HIGH, leads(7, HIGH)).nothing_else_happened();
    me.hear_incarnation(HIGH, 2, leads(8, HIGH)).whatever();
    assert_eq!(me.machine.trusted(), Some(&ballot(8, HIGH)));
}

#[test]
fn silence_ends_the_trust() {
    let mut me = Kit::observer();
    me.hear(HIGH, leads(7, HIGH)).whatever();
    me.fire(BallotTimer::Silence)
        .has_no_leader(7)
        .nothing_else_happened();
    me.hear(LOW, leads(6, LOW))
        .sent(LOW, nack(7, HIGH))
        .nothing_else_happened();
}

#[test]
fn only_an_observer_says_nack_and_only_of_what_can_be() {
    for (_, mut me) in Kit::states() {
        for from in [HIGH, "stranger", ME] {
            me.hear(from, nack(99, HIGH)).nothing_else_happened();
        }
        for n in [0, u64::MAX] {
            me.hear(EYE, nack(n, HIGH)).nothing_else_happened();
        }
        me.hear(EYE, nack(99, EYE)).nothing_else_happened();
    }
    let mut observer = Kit::observer();
    observer.hear(EYE, nack(99, HIGH)).nothing_else_happened();
}

#[test]
fn nonsense_is_not_followed() {
    let mut me = Kit::observer();
    me.hear(LOW, leads(7, HIGH)).nothing_else_happened();
    me.hear(EYE, leads(7, EYE)).nothing_else_happened();
    me.hear(HIGH, leads(0, HIGH)).nothing_else_happened();
    me.hear(HIGH, leads(u64::MAX, HIGH)).nothing_else_happened();
}

#[test]
fn a_voter_asks_for_itself() {
    for (name, mut me) in Kit::states() {
        if name != "observer" {
            me.hear(HIGH, leads(99, HIGH)).nothing_else_happened();
            me.fire(BallotTimer::Silence).nothing_else_happened();
        }
    }
}
