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

/// The store may have gone back to a backup, and may have lost a renewal of HIGH.
#[test]
fn a_gap_in_the_reads_begins_the_wait_anew() {
    let mut me = Kit::following();
    let gap = POLL + H;
    me.later(gap).sees(Some(held(HIGH, OLD, 2))).whatever();
    assert_eq!(due(&me, BullyTimer::Lease), PATIENCE - gap, "no gap yet");
    me.later(gap + 1).sees(Some(held(HIGH, OLD, 2))).whatever();
    assert_eq!(due(&me, BullyTimer::Lease), PATIENCE);
}

#[test]
fn a_lease_that_is_released_before_its_eyes_is_free_and_one_after_a_gap_is_not() {
    let mut me = Kit::following();
    let mut late = me.clone();
    me.later(READ)
        .sees(Some(released(OLD, None)))
        .set(BullyTimer::Detect, POLL)
        .has_no_leader(OLD)
        .next_slot(SLOT);
    late.later(POLL + H + 1)
        .sees(Some(released(OLD, None)))
        .set(BullyTimer::Detect, POLL)
        .has_no_leader(OLD)
        .next_slot(PATIENCE + SLOT);
}

/// A store that went back to a backup shows a leader of a lower term. Its token would be lower than a token that is
/// already in use.
#[test]
fn a_leader_of_a_lower_term_is_not_followed() {
    let mut me = Kit::following();
    let before = held(LOW, OLD - 1, 1);
    let effects = me.later(READ).sees(Some(before));
    let request = me.request();
    let word = ClaimRecord {
        score: None,
        ..claim(ME, request)
    };
    effects
        .set(BullyTimer::Detect, POLL)
        .has_no_leader(OLD)
        .waits(BullyTimer::Campaign, PATIENCE + SLOT)
        .asked(swap(request, None, Swapped::Claim(word)))
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
