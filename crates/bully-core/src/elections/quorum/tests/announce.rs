//! `Elected` and `Heartbeat`: a voter follows, promises and acknowledges.

use super::*;

/// A resignation of an earlier leadership arrives late, and hides nothing.
#[test]
fn a_resigned_leadership_is_not_followed_again() {
    let mut me = Kit::following().after(HIGH, resign(OLD, None));
    me.hear(LOW, resign(OLD - 1, None)).nothing_else_happened();
    me.hear(HIGH, heartbeat(OLD, 9)).nothing_else_happened();
    assert_eq!(me.view().leader, None);
    me.hear(HIGH, heartbeat(OLD + 1, 9))
        .wrote(OLD + 1, HIGH)
        .whatever();
}

/// Scenario 58: the leader then leads in a term above the term of the voter.
#[test]
fn a_voter_in_a_higher_term_refuses_its_leader_and_names_the_term() {
    let mut me = Kit::following();
    me.machine.core.voter.record.term = Term(9);
    me.hear(HIGH, heartbeat(OLD, 9))
        .sent(HIGH, nack_of(OLD, 9))
        .nothing_else_happened();
    me.hear(HIGH, elected(10, 9)).wrote(10, HIGH).whatever();
}

#[test]
fn the_end_of_a_leader_is_known_and_a_silent_one_by_its_last_heartbeat() {
    type Step = fn(&mut Kit) -> StepEffects;
    let mut me = Kit::following();
    me.later(H).hear(HIGH, heartbeat(OLD, 9)).whatever();
    let since = me.now;
    let rows: [(Step, LeaderEnd); 5] = [
        (
            |me| me.later(P).fire(BullyTimer::Election),
            LeaderEnd::Silent { since },
        ),
        (|me| me.ends(HIGH), LeaderEnd::Ended),
        (|me| me.hear(HIGH, resign(OLD, None)), LeaderEnd::Resigned),
        // The next leader is heard before the voter misses the present leader, and after.
        (
            |me| me.later(H).hear(LOW, elected(50, 1)),
            LeaderEnd::Replaced,
        ),
        (
            |me| me.later(4 * H).hear(LOW, elected(50, 1)),
            LeaderEnd::Silent { since },
        ),
    ];
    for (ends, known) in rows {
        let mut me = me.clone();
        ends(&mut me).whatever();
        assert_eq!(me.machine.last_end(), Some((&leader(HIGH, OLD), known)));
    }
    let mut own = Kit::leading();
    let since = own.view().valid_until;
    own.later(60_000).fire(BullyTimer::Lease).whatever();
    let (_, known) = own.machine.last_end().unwrap();
    assert_eq!(known, LeaderEnd::Silent { since });
}
