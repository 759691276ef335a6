//! An agent that was stalled itself does not trust its suspicions, but only once.

use super::*;

/// Delay that no message and no jitter explains, in milliseconds.
const LATE: u64 = D + J + 1;

/// Each row has an agent, its timer, the wait, the further wait after a sleep, and the role after a second sleep.
#[test]
fn an_agent_that_slept_waits_once_more_and_then_acts() {
    let asking = Kit::asking_voters().after(LOW, yields(1));
    for (mut me, timer, wait, again, acts) in [
        (Kit::following(), BullyTimer::Detect, L, L, Role::Leader),
        (asking, BullyTimer::Deadline, T, T, Role::Leader),
        (
            Kit::waiting(),
            BullyTimer::Victory,
            VICTORY,
            2 * D,
            Role::Candidate,
        ),
    ] {
        let before = (me.role(), me.leader());
        let once_more = me.later(wait + LATE).fire(timer);
        assert_eq!((me.role(), me.leader()), before);
        // Only a candidate asks once more.
        assert_eq!(once_more.speaks(), before.0 == Role::Candidate);
        let set = format!("set {timer:?} {again}");
        assert_eq!(once_more.lines().last(), Some(&set));
        me.later(again + LATE).fire(timer).whatever();
        assert_eq!(me.role(), acts);
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
