//! `Elected` and `Heartbeat`, which are handled alike.

use super::*;

/// Asserts that the agent asks `leader` to yield.
fn asks(effects: StepEffects, leader: &str, counter: u64, term: u64) {
    effects
        .sent(leader, ask(counter, 5, term))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
}

/// Returns both kinds of announcement.
fn both(term: u64, score: i32) -> [BullyMessage; 2] {
    [elected(term, score).into(), heartbeat(term, score).into()]
}

#[test]
fn the_asked_leader_below_decides_by_its_answer() {
    for mut me in [Kit::asking_found(), Kit::asking_voters()] {
        for message in both(OLD, 1) {
            me.hear(LOW, message).nothing_else_happened();
        }
        me.hear(LOW, answers(0, OLD, 1)).nothing_else_happened();
        assert_eq!(me.role(), Role::Candidate);
        me.hear(LOW, answers(1, OLD, 1))
            .followed(LOW, OLD)
            .nothing_else_happened();
    }
}

#[test]
fn a_candidate_follows_one_below_where_leaders_are_left_alone() {
    let mut me = Kit::voter(&never()).started();
    me.later(S).fire(BullyTimer::Campaign).whatever();
    me.hear(LOW, elected(OLD, 1))
        .followed(LOW, OLD)
        .nothing_else_happened();
}

#[test]
fn a_newer_leader_below_supersedes_and_is_asked_where_leaders_have_a_grace_period() {
    let seen = Kit::leading_by(&after_a_second())
        .hear(LOW, elected(MINE + 1, 1))
        .lost(MINE, LostReason::Superseded)
        .followed(LOW, MINE + 1);
    asks(seen, LOW, 2, MINE + 1);
}
