//! `Yield`: the early decision, and the end of a leadership. Also an `Ok` to a former incarnation.

use super::*;

#[test]
fn a_release_wins_even_when_a_follower_has_said_ok_before() {
    Kit::asking_voters()
        .after(LOW, ok(1))
        .hear(HIGH, releases(1, OLD))
        .led(OLD + 1)
        .nothing_else_happened();
}

/// The release answers an earlier round.
#[test]
fn a_late_release_counts_while_no_later_term_is_known() {
    let again = Kit::asking_leader().after(HIGH, yields(1));
    let mut me = again.clone();
    me.hear(LOW, releases(1, OLD - 1)).nothing_else_happened();
    let mut me = again;
    me.hear(LOW, releases(1, OLD))
        .led(OLD + 1)
        .nothing_else_happened();
}

#[test]
fn an_answer_to_a_round_of_a_former_incarnation_counts_for_nothing() {
    let incarnation = Incarnation(0);
    let round = Round {
        incarnation,
        ..round(1)
    };
    for mut me in [
        Kit::asking_voters(),
        Kit::asking_found(),
        Kit::asking_leader(),
    ] {
        let former = Ok { round, ..ok(1) };
        me.hear(HIGH, former).nothing_else_happened();
        assert_eq!(me.role(), Role::Candidate);
    }
}
