//! The reactions of a follower to new records, and to gaps between its reads.

use super::*;

#[test]
fn each_renewal_begins_the_wait_anew_and_an_unchanged_record_does_not() {
    let mut me = Kit::following();
    me.later(READ)
        .sees(Some(held(HIGH, OLD, 3)))
        .set(BullyTimer::Detect, POLL)
        .waits(BullyTimer::Lease, PATIENCE)
        .nothing_else_happened();
    me.later(READ)
        .sees(Some(held(HIGH, OLD, 3)))
        .set(BullyTimer::Detect, POLL)
        .nothing_else_happened();
    me.unchanged(Some(&held(HIGH, OLD, 3)), PATIENCE - READ - 1);
    me.fire(BullyTimer::Lease)
        .waits(BullyTimer::Lease, 1)
        .nothing_else_happened();
    me.later(1)
        .fire(BullyTimer::Lease)
        .has_no_leader(OLD)
        .set(BullyTimer::Campaign, 0)
        .nothing_else_happened();
}

/// H / 2 is 30 ms. Two answers that take 30 ms leave no gap. An answer that takes longer does not delay the next read.
#[test]
fn the_next_read_is_a_poll_after_a_quick_answer_and_a_poll_after_the_question_of_a_slow_one() {
    let mut me = Kit::following();
    for (took, rest) in [(30, POLL), (31, POLL - 31)] {
        let asked = me.asks();
        me.later(took)
            .shown(Some(asked), holds(Some(held(HIGH, OLD, 2)), None))
            .whatever();
        assert_eq!(due(&me, BullyTimer::Detect), rest);
    }
}
