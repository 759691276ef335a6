//! `Leads` and `TimedOut(Silence)`: an observer follows whom it is told of, while it is told.

use super::*;

fn leads(n: u64, name: &str) -> Leads {
    Leads {
        ballot: ballot(n, name),
    }
}

#[test]
fn an_observer_follows_and_says_so_once() {
    let mut me = Kit::observer();
    me.hear(HIGH, leads(7, HIGH))
        .follows(HIGH, 7)
        .set(BallotTimer::Silence, 3 * CAP)
        .nothing_else_happened();
    me.hear(HIGH, leads(7, HIGH))
        .set(BallotTimer::Silence, 3 * CAP)
        .nothing_else_happened();
    me.hear(LOW, leads(8, LOW)).follows(LOW, 8).whatever();
    me.hear(HIGH, leads(7, HIGH)).nothing_else_happened();
}

#[test]
fn silence_ends_the_trust() {
    let mut me = Kit::observer();
    me.hear(HIGH, leads(7, HIGH)).whatever();
    me.fire(BallotTimer::Silence)
        .leaderless(7)
        .nothing_else_happened();
    me.hear(LOW, leads(6, LOW)).nothing_else_happened();
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
