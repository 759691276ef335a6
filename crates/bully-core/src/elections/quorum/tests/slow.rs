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
