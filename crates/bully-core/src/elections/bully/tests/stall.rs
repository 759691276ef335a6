//! An agent that was stalled itself does not trust its suspicions, but only once.

use super::*;

/// Delay that no message and no jitter explains, in milliseconds.
const LATE: u64 = D + J + 1;

#[test]
fn a_follower_that_slept_watches_its_leader_once_more() {
    let mut me = Kit::following();
    me.later(L + LATE)
        .fire(BullyTimer::Detect)
        .set(BullyTimer::Detect, L)
        .nothing_else_happened();
    me.later(L + LATE)
        .fire(BullyTimer::Detect)
        .has_no_leader(OLD)
        .led(OLD + 1)
        .nothing_else_happened();
}

#[test]
fn a_leader_that_was_heard_in_between_may_be_suspected_anew() {
    let mut me = Kit::following();
    me.later(L + LATE).fire(BullyTimer::Detect).whatever();
    me.later(1).hear(HIGH, heartbeat(OLD, 9)).whatever();
    me.later(L + LATE)
        .fire(BullyTimer::Detect)
        .set(BullyTimer::Detect, L)
        .nothing_else_happened();
}

#[test]
fn a_candidate_that_slept_asks_every_voter_once_more() {
    let mut me = Kit::asking_voters().after(LOW, yields(1));
    me.later(T + LATE)
        .fire(BullyTimer::Deadline)
        .sent_to(&[HIGH, LOW], ask(2, 5, 0))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
    me.later(T + LATE)
        .fire(BullyTimer::Deadline)
        .led(1)
        .nothing_else_happened();
}

#[test]
fn an_agent_that_slept_while_it_waited_reads_its_mail_and_asks() {
    let mut me = Kit::waiting();
    me.later(VICTORY + LATE)
        .fire(BullyTimer::Victory)
        .set(BullyTimer::Victory, 2 * D)
        .nothing_else_happened();
    me.later(2 * D + LATE)
        .fire(BullyTimer::Victory)
        .sent_to(&[HIGH, LOW], ask(2, 5, 0))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

/// The agent's timer does not count a suspend of the host, and from now on the asker waits for this agent.
#[test]
fn an_agent_whose_wait_is_over_by_the_clock_acts_when_it_is_asked() {
    let mut me = Kit::waiting();
    me.later(VICTORY)
        .hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
}

#[test]
fn the_leadership_is_valid_for_as_long_as_others_wait() {
    let me = Kit::leading();
    let valid = me.now.after(Duration::from_millis(L));
    assert_eq!(me.view().valid_until, valid);
}
