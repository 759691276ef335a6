//! `Probe` and `Answer`: `probe-the-skipped`.

use super::*;

/// Returns `kit` after it has begun to skip `z`.
fn suspecting(mut kit: Kit) -> Kit {
    kit.hear(B, beat(B, OLD, 9, 7)).whatever();
    for _ in 0..2 {
        kit.later(RESEND + 1)
            .fire(RingTimer::Hop(Lap::Coordinator))
            .whatever();
    }
    assert_eq!(kit.suspects(), [Z]);
    kit.acked(A, Lap::Coordinator, OLD, B, 7)
}

#[test]
fn an_answer_ends_the_suspicion() {
    for leader in [None, Some((B, OLD))] {
        let mut kit = suspecting(Kit::following());
        kit.hear(Z, answer(OLD, leader)).nothing_else_happened();
        assert_eq!(kit.suspects(), [""; 0]);
        kit.later(PROBE)
            .fire(RingTimer::Probe)
            .nothing_else_happened();
    }
}

#[test]
fn an_agent_that_follows_another_leader_starts_a_merging_election() {
    for (known, theirs) in [(OLD, (Z, OLD)), (1, (Z, 1)), (OLD + 5, (Z, OLD + 5))] {
        let mut kit = suspecting(Kit::following());
        let term = known.max(OLD) + 1;
        kit.hear(Z, answer(known, Some(theirs)))
            .set(RingTimer::Slot, 2 * D) // the other answers have come too
            .nothing_else_happened();
        kit.later(2 * D)
            .fire(RingTimer::Slot)
            .set(RingTimer::Token, TOKEN)
            .passed(Z, Lap::Collect, collect(term, (ME, 5), &[(ME, 5)]))
            .nothing_else_happened();
        kit.hear(Z, answer(known, Some(theirs)))
            .nothing_else_happened(); // one answer is enough
    }
}
