//! Records of others that a reader sees, the ends that free a lease, and figures that follow from the parameters.

use super::*;

#[test]
fn a_record_of_another_group_or_program_is_never_overwritten() {
    let foreign = |lease| Answer::Holds {
        lease: cell(lease, |record| &record.nonce),
        claim: cell(Ok(None), |record: &ClaimRecord| &record.nonce),
    };
    let mut elsewhere = held(HIGH, 3, 1);
    elsewhere.name.group = id("other");
    for content in [Err(RecordError::Kind), Ok(Some(elsewhere))] {
        let mut me = Kit::starting();
        for _ in 0..20 {
            let request = Some(me.later(READ).asks());
            me.shown(request, foreign(content.clone()))
                .set(BullyTimer::Detect, POLL)
                .nothing_else_happened();
        }
    }
}

#[test]
fn a_suspicion_changes_nothing_and_an_absence_frees_nothing() {
    let mut me = Kit::following();
    assert_eq!(me.is_suspected(HIGH), NOTHING);
    me.leaves(HIGH).whatever();
    assert_eq!(due(&me, BullyTimer::Campaign), PATIENCE);
    me.later(READ).sees(Some(held(HIGH, OLD, 3))).whatever();
    assert_eq!(me.leader().as_deref(), Some(HIGH), "HIGH still renews");
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

/// Defaults of `lan` in milliseconds: H 60, d 9, J 10, S 18, D 240.
#[test]
fn the_longest_failover_counts_the_reads_the_wait_and_the_slots() {
    let longest = |ahead| config().worst_case_failover(ahead).as_millis();
    assert_eq!(longest(0), u128::from(2 * POLL + PATIENCE - 1 + J + 6 * D));
    assert_eq!(longest(2) - longest(0), u128::from(2 * SLOT));
    assert_eq!(longest(99), longest(8));
}

#[test]
fn the_wall_clock_is_counted_from_2024() {
    let began = 1_704_067_200_000;
    let config = Lease::on_host(Arc::new(config()), began + 7);
    assert_eq!(config.wall_at_zero, Some(7));
}
