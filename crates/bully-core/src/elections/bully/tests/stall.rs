//! An agent that was stalled itself does not trust its suspicions, but only once.

use super::*;

/// Delay that no message and no jitter explains, in milliseconds.
const LATE: u64 = D + J + 1;

/// Each row has an agent, its timer, the wait, and the further wait after a sleep.
#[test]
fn an_agent_that_slept_waits_once_more_and_then_acts() {
    let voters_again = || ask(2, 5, 0);
    let follower = (Kit::following(), BullyTimer::Detect, L, L);
    let candidate = (
        Kit::asking_voters().after(LOW, yields(1)),
        BullyTimer::Deadline,
        T,
        T,
    );
    let waiting = (Kit::waiting(), BullyTimer::Victory, VICTORY, 2 * D);
    for (mut me, timer, wait, again) in [follower, candidate, waiting] {
        let (role, leader) = (me.role(), me.leader());
        let once_more = me.later(wait + LATE).fire(timer);
        let once_more = if role == Role::Candidate {
            once_more.sent_to(&[HIGH, LOW], voters_again())
        } else {
            once_more
        };
        once_more.set(timer, again).nothing_else_happened();
        assert_eq!((me.role(), me.leader()), (role, leader));
        let acts = me.later(again + LATE).fire(timer);
        if role == Role::Waiting {
            acts.sent_to(&[HIGH, LOW], voters_again()).whatever();
        } else {
            assert_eq!(me.role(), Role::Leader, "it was {role}");
        }
    }
}

#[test]
fn a_leader_that_was_heard_in_between_may_be_suspected_anew() {
    let mut me = Kit::following();
    me.later(L + LATE).fire(BullyTimer::Detect).whatever();
    me.later(1).hear(HIGH, heartbeat(OLD, 9)).whatever();
    me.later(L + LATE).fire(BullyTimer::Detect).whatever();
    assert_eq!(me.leader().as_deref(), Some(HIGH));
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
