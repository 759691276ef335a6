//! A voter whose disk is slow: `slow-waits`.

use super::*;

/// Returns the agent after writes that each took longer than a round.
fn slow(mut me: Kit) -> Kit {
    write(&mut me, 5, E + 1);
    me
}

fn write(me: &mut Kit, times: usize, millis: u64) {
    for _ in 0..times {
        me.machine.note_write(Duration::from_millis(millis));
    }
}

fn is_slow(me: &Kit) -> bool {
    me.machine.prospects().slow_writes.is_some()
}

/// Returns whether the agent asks LOW, a leader of a lower rank, to give way after the grace period.
fn asks_to_take_over(me: &mut Kit) -> bool {
    let mut asks = false;
    for _ in 0..=AFTER / H {
        let effects = me.later(H).hear(LOW, heartbeat(OLD, 1));
        let said = effects.messages();
        asks |= said.iter().any(|m| matches!(m, QuorumMessage::Elect(_)));
    }
    asks
}

pub(super) fn a_slow_voter_asks_no_leader_to_give_way(config: QuorumConfig) -> bool {
    let me = Kit::known(config, Some(5));
    let mut me = slow(me.after(LOW, heartbeat(OLD, 1)));
    !asks_to_take_over(&mut me)
}

#[test]
fn the_median_of_ten_writes_counts_and_one_in_time_counts_as_none() {
    let mut me = Kit::following();
    write(&mut me, 4, 9 * E);
    write(&mut me, 20, E);
    assert_eq!(me.machine.core.writes, None);
    write(&mut me, 4, 9 * E);
    assert!(!is_slow(&me));
    write(&mut me, 1, 2 * E);
    let median = Duration::from_millis(2 * E);
    assert_eq!(me.machine.prospects().slow_writes, Some(median));
    write(&mut me, 6, E);
    assert!(!is_slow(&me));
}

#[test]
fn an_agent_that_would_take_over_or_is_slow_measures_its_disk() {
    let probes = |me: &Kit| me.machine.prospects().probes;
    assert!(!probes(&Kit::following()), "its leader ranks above it");
    assert!(probes(&Kit::following_low()));
    assert!(probes(&slow(Kit::following())) && probes(&slow(Kit::leading())));
    assert!(!probes(&Kit::leading()) && !probes(&Kit::vacant()));
}

#[test]
fn a_slow_voter_waits_as_long_as_all_together_and_says_that_it_is_slow() {
    let mut me = slow(Kit::following_low());
    let said = Ack {
        slow: true,
        ..ack(OLD, SAID, 5)
    };
    me.hear(LOW, heartbeat(OLD, 1))
        .set(BullyTimer::Election, P)
        .sent(LOW, said)
        .nothing_else_happened();
    me.later(P)
        .fire(BullyTimer::Election)
        .has_no_leader(OLD)
        .set(BullyTimer::Election, 4 * S) // HIGH ranks above it, and there are three voters
        .nothing_else_happened();
}
