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
fn a_word_of_a_suspect_or_its_next_incarnation_ends_the_suspicion() {
    let ends: [fn(&mut Kit) -> StepEffects; 4] = [
        |kit| kit.hear(Z, answer(OLD, None)),
        |kit| kit.hear(Z, answer(OLD, Some((B, OLD)))),
        |kit| kit.hear(B, collect(OLD + 1, (Z, 3), &[(Z, 3), (A, 1), (B, 9)])),
        |kit| kit.begins(Z, 2),
    ];
    for ends in ends {
        let mut kit = suspecting(Kit::following());
        ends(&mut kit).whatever();
        assert_eq!(kit.suspects(), [""; 0]);
        let merges = matches!(kit.machine.campaign, Campaign::Scheduled { .. });
        assert!(!merges, "no other group was found");
        let probes = kit.later(PROBE).fire(RingTimer::Probe);
        assert!(!probes.speaks(), "it is asked no more");
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
