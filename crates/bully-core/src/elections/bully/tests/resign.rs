//! `Resign`: the leader says that it leads no longer.

use super::*;

#[test]
fn announcements_of_the_term_that_was_resigned_are_void() {
    for me in [
        Kit::following(),
        Kit::asking_leader(),
        Kit::with_slot(),
        Kit::asking_voters(),
        Kit::waiting(),
    ] {
        let seen = Term(OLD + 1);
        me.after(HIGH, resign(OLD, Some(LOW)))
            .hear(HIGH, heartbeat(OLD, 9))
            .sent(HIGH, Behind { seen })
            .nothing_else_happened();
    }
}

/// The cool-down has ended by the clock, but its timer has not fired yet.
#[test]
fn a_successor_cools_down_no_more() {
    let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
    me.later(60_000)
        .hear(LOW, resign(MINE + 1, Some(ME)))
        .whatever();
    assert_eq!(me.role(), Role::Leader);
    assert!(!me.machine.core.cooldown.has_begun());
}

#[test]
fn an_agent_that_cools_down_succeeds_in_the_last_slot_only() {
    for successor in [None, Some(ME), Some(HIGH)] {
        let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
        me.hear(LOW, resign(MINE + 1, successor))
            .has_no_leader(MINE + 1)
            .set(BullyTimer::Campaign, 9 * S) // 8 steps for the cool-down, and 1 for HIGH
            .nothing_else_happened();
    }
}

#[test]
fn the_end_of_a_leader_is_known_and_a_silent_one_by_its_last_heartbeat() {
    type Step = fn(&mut Kit) -> StepEffects;
    let mut me = Kit::following();
    me.later(H).hear(HIGH, heartbeat(OLD, 9)).whatever();
    let since = me.now;
    let rows: [(Step, LeaderEnd); 4] = [
        (
            |me| me.later(L).fire(BullyTimer::Detect),
            LeaderEnd::Silent { since },
        ),
        (|me| me.is_suspected(HIGH), LeaderEnd::Silent { since }),
        (|me| me.ends(HIGH), LeaderEnd::Ended),
        (|me| me.hear(HIGH, resign(OLD, None)), LeaderEnd::Resigned),
    ];
    for (ends, known) in rows {
        let mut me = me.clone();
        ends(&mut me).whatever();
        assert_eq!(me.machine.last_end(), Some((&leader(HIGH, OLD), known)));
    }
}
